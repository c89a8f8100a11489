# SPDX-License-Identifier: LGPL-2.1-or-later
"""What watches a clip. Each function returns {"motion": [[begin, end], …], "tracks": [[[time, x, y, width, height], …], …]},
in seconds of the clip. A motion ends with its last frame, not when it is reported as ended; pauses of less than QUIET
seconds do not end it."""
import json
import os
import pathlib
import subprocess
import tempfile
import time

import cv2
import numpy

QUIET = 5.0  # ccl.quiet-time
MIN_AREA = 200  # ccl-watch's ccl.min-area
MIN_FRAMES = 3  # ccl.min-frames
MODELS = {"MOG2": cv2.createBackgroundSubtractorMOG2, "KNN": cv2.createBackgroundSubtractorKNN}


def watch(program, video, settings=()):
    """ccl-watch at its defaults, on the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder) / "lines"
        result = subprocess.run([program, "-d", "cpu", *(f"--set={setting}" for setting in settings), "-o", str(lines),
                                 f"cam={video}"], stderr=subprocess.PIPE, text=True, check=False)
        if not lines.exists():
            raise RuntimeError(f"ccl-watch {video}: {result.stderr}")
        rows = [json.loads(line) for line in lines.read_text().splitlines()]
    motion, tracks, moved, last = [], {}, [], 0.0
    for row in rows:
        t = row.get("running_time", 0) / 1e9
        last = max(last, t)
        if row.get("event") == "motion-begin":
            motion.append([t, None])
        elif row.get("event") == "motion-end" and motion:
            motion[-1][1] = t
        elif row.get("event") in ("moved", "covered", "infrared", "scene-change"):
            moved.append([t, row["event"]])
        for component in row.get("components", ()):
            if component.get("state") == "confirmed" and "id" in component:
                tracks.setdefault(component["id"], []).append(
                    [t, *(component[key] for key in ("x", "y", "width", "height"))])
    for interval in motion:
        is_cut = interval[1] is None or interval[1] >= last - 0.05
        interval[1] = last if is_cut else max(interval[0], interval[1] - QUIET)
    return {"motion": motion, "tracks": list(tracks.values()), "said": moved}


def model(name, video):
    """A model of OpenCV at its defaults with a 5×5 median. Motion: a component of at least MIN_AREA pixels in
    MIN_FRAMES consecutive frames."""
    subtractor, tracker, moments, row = MODELS[name](), GreedyTracker(), [], 0
    for t, image in read(video):
        mask = cv2.medianBlur(numpy.where(subtractor.apply(image) == 255, 255, 0).astype(numpy.uint8), 5)
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
        boxes = [stat[:4].tolist() for stat in stats[1:] if stat[4] >= MIN_AREA]
        tracker.add(t, boxes)
        row = row + 1 if boxes else 0
        if row >= MIN_FRAMES:
            moments.append(t)
    return {"motion": join(moments), "tracks": tracker.confirmed()}


def read(video):
    capture = cv2.VideoCapture(str(video))
    first = None
    while (result := capture.read())[0]:
        t = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        first = t if first is None else first
        yield t - first, result[1]


def join(moments):
    """Intervals of moments that are less than QUIET seconds apart."""
    intervals = []
    for t in moments:
        if intervals and t - intervals[-1][1] < QUIET:
            intervals[-1][1] = t
        else:
            intervals.append([t, t])
    return intervals


class GreedyTracker:
    """Gives each box to the track whose last box it covers best, at least a tenth, or whose middle lies within one
    size of it; the best pairs first. Three frames in a row confirm a track, and a second without a box ends it."""

    def __init__(self):
        self.open, self.ended = [], []

    def add(self, t, boxes):
        pairs = sorted(((closeness(track["boxes"][-1][1:], box), i, j) for i, track in enumerate(self.open)
                        for j, box in enumerate(boxes)), reverse=True)
        used, given = set(), set()
        for value, i, j in pairs:
            if value > 0 and i not in used and j not in given:
                used.add(i)
                given.add(j)
                track = self.open[i]
                track["row"] = track["row"] + 1
                track["is_confirmed"] |= track["row"] >= MIN_FRAMES
                track["boxes"].append([t, *boxes[j]])
        for i, track in enumerate(self.open):
            if i not in used:
                track["row"] = 0
        still = [track for track in self.open if t - track["boxes"][-1][0] <= 1.0]
        self.ended += [track for track in self.open if t - track["boxes"][-1][0] > 1.0]
        self.open = still + [{"row": 1, "is_confirmed": False, "boxes": [[t, *box]]}
                             for j, box in enumerate(boxes) if j not in given]

    def confirmed(self):
        return [track["boxes"][MIN_FRAMES - 1:] for track in self.ended + self.open if track["is_confirmed"]]


def closeness(a, b):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(0, width) * max(0, height)
    overlap = shared / (a[2] * a[3] + b[2] * b[3] - shared)
    if overlap >= 0.1:
        return 1 + overlap
    way = numpy.hypot(a[0] + a[2] / 2 - b[0] - b[2] / 2, a[1] + a[3] / 2 - b[1] - b[3] / 2)
    return max(0.0, 1 - way / max(a[2], a[3], b[2], b[3]))


MOTION = """
netcam_url file://{video}
width {width}
height {height}
framerate {rate}
event_gap {quiet:.0f}
picture_output off
movie_output off
webcontrol_port 0
stream_port 0
target_dir {folder}
on_event_start echo begin $(date +%s.%N) >> {folder}/events
on_motion_detected echo motion $(date +%s.%N) >> {folder}/events
on_event_end echo end $(date +%s.%N) >> {folder}/events
"""


def motion(video, kind, seconds):
    """Debian's program `motion` at its defaults. It plays a file as fast as it was recorded. It says nothing of places, so
    it has no tracks."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = pathlib.Path(folder) / "motion.conf"
        configuration.write_text(MOTION.format(video=video, width=kind.size[0], height=kind.size[1], rate=kind.rate, quiet=QUIET,
                                               folder=folder))
        began = time.time()
        subprocess.run(["timeout", str(round(seconds + 20)), "motion", "-n", "-c", str(configuration)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        events = pathlib.Path(folder) / "events"
        rows = [line.split() for line in events.read_text().splitlines()] if events.exists() else []
    intervals = []
    for what, moment in rows:
        t = min(max(0.0, float(moment) - began - 1.0), seconds)
        if what == "begin":
            intervals.append([t, t])
        elif intervals and what == "motion":
            intervals[-1][1] = max(intervals[-1][1], t)
    return {"motion": intervals, "tracks": []}
