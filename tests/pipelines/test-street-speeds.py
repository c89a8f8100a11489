#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Speeds of people on the street video, whose camera was calibrated by those who recorded it. Prints TAP."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import tap  # noqa: E402

VIDEO = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
# Pixels and metres by the published calibration of PETS 2009, view 1.
GROUND = ("60,200 -5.91,6.34; 700,160 5.97,-8.71; 380,320 -11.11,-7.99; "
          "700,560 -16.88,-16.00; 60,560 -20.59,-9.37; 240,240 -7.45,-1.67")


def tracks():
    """The tracks of all frames, with position and speed."""
    if not os.path.exists(VIDEO):
        raise tap.Skip("opencv-doc is not installed")
    lines = subprocess.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={VIDEO}", "!", "decodebin", "!", "videoconvert", "!",
         "video/x-raw,format=NV12", "!", "ccl", "foreground=codebook", "denoise=median-5x5", "min-area=550", "!",
         "ccltrack", f"ground={GROUND}", "!", "ccljson", "!", "fdsink"],
        check=True, stdout=subprocess.PIPE, timeout=200, text=True).stdout.splitlines()
    return [track for line in lines for track in json.loads(line).get("components", [])]


def people_walk():
    """people walk 1 to 2 m/s where the video has 10 frames per second"""
    found = tracks()
    assert len(found) > 3000, len(found)
    known = [track for track in found if "position" in track]
    assert len(known) > 0.95 * len(found), (len(known), len(found))
    walking = [track["speed"] / 3.6 for track in known if track["speed"] > 3]
    low, middle, high = (statistics.quantiles(walking, n=10)[i] for i in (0, 4, 8))
    assert 0.9 < low and 1.3 < middle < 1.7 and high < 2.3, (low, middle, high)


sys.exit(tap.run(people_walk))
