# SPDX-License-Identifier: LGPL-2.1-or-later
"""What OpenCV's background models, with a plain tracker, see of a clip."""
import pathlib
import sys

import cv2
import numpy

from rule import MIN_AREA, MIN_FRAMES, join

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "second-opinion"))
from masks import Score  # noqa: E402

MODELS = {"MOG2": cv2.createBackgroundSubtractorMOG2, "KNN": cv2.createBackgroundSubtractorKNN}


def see(name, video, truth=None):
    """A model of OpenCV at its defaults with a 5×5 median. Motion: a component of at least MIN_AREA pixels in
    MIN_FRAMES consecutive frames. `truth`: true masks, which give "f" too."""
    cv2.setNumThreads(1)
    score = Score()
    subtractor, tracker, moments, row = MODELS[name](), GreedyTracker(), [], 0
    for number, (t, image) in enumerate(read(video)):
        mask = cv2.medianBlur(numpy.where(subtractor.apply(image) == 255, 255, 0).astype(numpy.uint8), 5)
        if truth is not None:
            score.add(mask > 0, truth[number])
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
        boxes = [stat[:4].tolist() for stat in stats[1:] if stat[4] >= MIN_AREA]
        tracker.add(t, boxes)
        row = row + 1 if boxes else 0
        if row >= MIN_FRAMES:
            moments.append(t)
    return {"motion": join(moments), "tracks": tracker.confirmed(),
            "f": score.f_measure if truth is not None else None}


def read(video):
    capture = cv2.VideoCapture(str(video))
    first = None
    while (result := capture.read())[0]:
        t = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        first = t if first is None else first
        yield t - first, result[1]


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
