# SPDX-License-Identifier: LGPL-2.1-or-later
"""SORT, a tracker to compare with.

A. Bewley, Z. Ge, L. Ott, F. Ramos, B. Upcroft, "Simple online and realtime tracking", ICIP 2016. The
state of a track is the centre of its box, its area, its aspect ratio, and the velocities of the first
three. Variances, and the rule from when on a track is shown, are those of the authors' program.
"""
import numpy
from identity import overlaps
from scipy.optimize import linear_sum_assignment

LEAST_OVERLAP = 0.3
MIN_HITS = 3
MOTION = numpy.eye(7) + numpy.diag([1, 1, 1], 4)[:7, :7]
MEASURED = numpy.eye(4, 7)
MOTION_NOISE = numpy.diag([1, 1, 1, 1, 0.01, 0.01, 0.0001])
MEASUREMENT_NOISE = numpy.diag([1.0, 1, 10, 10])
FIRST_COVARIANCE = numpy.diag([10.0, 10, 10, 10, 10000, 10000, 10000])


class Track:
    def __init__(self, identity, box):
        self.identity = identity
        self.state = numpy.concatenate([self.measurement(box), numpy.zeros(3)])
        self.covariance = FIRST_COVARIANCE
        self.hits = self.missed = 0

    @staticmethod
    def measurement(box):
        x, y, width, height = box
        return numpy.array([x + width / 2, y + height / 2, width * height, width / height])

    def box(self):
        x, y, area, ratio = self.state[:4]
        width = numpy.sqrt(max(area * ratio, 1e-6))
        height = max(area, 1e-6) / width
        return x - width / 2, y - height / 2, width, height

    def predict(self):
        if self.state[2] + self.state[6] <= 0:  # the area would vanish
            self.state[6] = 0
        self.state = MOTION @ self.state
        self.covariance = MOTION @ self.covariance @ MOTION.T + MOTION_NOISE
        self.hits = self.hits if self.missed == 0 else 0
        self.missed += 1

    def correct(self, box):
        residual = self.measurement(box) - MEASURED @ self.state
        spread = MEASURED @ self.covariance @ MEASURED.T + MEASUREMENT_NOISE
        gain = self.covariance @ MEASURED.T @ numpy.linalg.inv(spread)
        self.state = self.state + gain @ residual
        self.covariance = (numpy.eye(7) - gain @ MEASURED) @ self.covariance
        self.hits += 1
        self.missed = 0


def assign(boxes, tracks):
    """Pairs (box, track) of least total distance, each with enough overlap."""
    shared = overlaps(boxes, [track.box() for track in tracks])
    return [(i, j) for i, j in zip(*linear_sum_assignment(-shared)) if shared[i, j] >= LEAST_OVERLAP]


def track(frames, max_age=1):
    """Tracks lists of boxes (x, y, width, height), one list a frame. Returns a dict from identities
    to boxes for each frame. A track ends when it was not found for more than max_age frames."""
    tracks, result, n_identities = [], [], 0
    for number, boxes in enumerate(frames, 1):
        for item in tracks:
            item.predict()
        found = set()
        for i, j in assign(boxes, tracks):
            tracks[j].correct(boxes[i])
            found.add(i)
        for i in sorted(set(range(len(boxes))) - found):
            n_identities += 1
            tracks.append(Track(n_identities, boxes[i]))
        result.append({item.identity: item.box() for item in tracks
                       if item.missed == 0 and (item.hits >= MIN_HITS or number <= MIN_HITS)})
        tracks = [item for item in tracks if item.missed <= max_age]
    return result
