# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks of videos with published boxes: what the elements find at their defaults.

The truth is a text of the MOT challenge: a line a box with frame (from 1), identity, left, top, width, height and
what else, separated by commas or spaces. As in the demo, components of less than 1/800 of the frame are noise.
"""
import collections
import json
import subprocess
import tempfile

import cv2

import identity

HEAD = f"{'tracks':40}{'MOTA .5':>9}{'MOTA .3':>9}{'IDF1':>9}{'switches':>9}"


def read_truth(path):
    """The boxes of each frame by identity."""
    frames = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for line in file:
            frame, name, *box = map(float, line.replace(",", " ").split()[:6])
            frames[int(frame) - 1][int(name)] = tuple(box)
    return frames


def track(video):
    """The same of ccltrack."""
    capture = cv2.VideoCapture(str(video))
    n_pixels = capture.get(cv2.CAP_PROP_FRAME_WIDTH) * capture.get(cv2.CAP_PROP_FRAME_HEIGHT)
    with tempfile.NamedTemporaryFile() as lines:
        subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!", "videoconvert", "!",
                        "ccl", "foreground=codebook", f"min-area={int(n_pixels / 800)}", "!", "ccltrack", "!", "ccljson",
                        "!", "filesink", f"location={lines.name}"], check=True)
        rows = [json.loads(line) for line in lines]
    return [{c["id"]: (c["x"], c["y"], c["width"], c["height"]) for c in row["components"]}
            for row in rows if "frame" in row]


def judge(video, truth):
    """A line of figures."""
    tracks, frames = track(video), read_truth(truth)
    strict, loose = (identity.score([frames[i] for i in range(len(tracks))], tracks, least) for least in (0.5, 0.3))
    return (f"{str(video)[-39:]:40}{strict['mota']:9.3f}{loose['mota']:9.3f}{strict['idf1']:9.3f}"
            f"{strict['switches']:9}")
