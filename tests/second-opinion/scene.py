#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Precision and recall of the background model on a scene with known ground truth. Prints TAP.

usage: scene.py SEGMENT

The scene is generated from one seed. The background is a textured wall, a fifth of which moves like
leaves in the wind, lit by a flickering lamp. Twelve objects move at different speeds; half of them
are brighter than the background and half darker. Camera noise is added. The ground truth is the set
of the objects' pixels.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import tap  # noqa: E402

try:
    import cv2
    import numpy
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)

from masks import Foreground, Score  # noqa: E402

PROGRAM = sys.argv[1]
WIDTH, HEIGHT, N_FRAMES, FIRST_JUDGED = 640, 360, 400, 100
NOISE = 5.0        # standard deviation, luma steps
FLICKER = 0.015    # of the brightness
WAVE = 3.0         # amplitude, pixels
N_OBJECTS = 12


def smooth_noise(random, scale, low, high):
    coarse = random.random((HEIGHT // scale + 2, WIDTH // scale + 2)).astype(numpy.float32)
    fine = cv2.resize(coarse, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    return low + (high - low) * numpy.clip(fine, 0, 1)


class Scene:
    """Generates frames with their ground truth, the same for the same seed."""

    def __init__(self, seed=1):
        self.random = random = numpy.random.default_rng(seed)
        self.wall = smooth_noise(random, 6, 90, 150)
        self.leaves = smooth_noise(random, 4, 70, 170)
        self.in_leaves = numpy.zeros((HEIGHT, WIDTH), bool)
        self.in_leaves[:, :WIDTH // 5] = True
        self.columns, self.rows = numpy.meshgrid(numpy.arange(WIDTH, dtype=numpy.float32),
                                                 numpy.arange(HEIGHT, dtype=numpy.float32))
        self.objects = [
            {"size": random.integers(12, 45, 2), "at": random.random(2) * (WIDTH, HEIGHT),
             "speed": random.uniform(1.5, 5) * numpy.array([numpy.cos(angle), numpy.sin(angle)]),
             "offset": 60 if i % 2 else -60, "round": i % 3 == 0}
            for i, angle in enumerate(random.uniform(0, 2 * numpy.pi, N_OBJECTS))]

    def frame(self, number):
        """The frame's luma and the mask of the objects' pixels."""
        sway = WAVE * numpy.sin(2 * numpy.pi * number / 23 + self.rows / 15).astype(numpy.float32)
        waving = cv2.remap(self.leaves, self.columns + sway, self.rows, cv2.INTER_LINEAR,
                           borderMode=cv2.BORDER_REFLECT)
        luma = numpy.where(self.in_leaves, waving, self.wall)
        truth = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
        for thing in self.objects:
            x, y = (thing["at"] + number * thing["speed"]) % (WIDTH, HEIGHT)
            shape = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
            centre, half = (int(x), int(y)), tuple(int(v) // 2 for v in thing["size"])
            if thing["round"]:
                cv2.ellipse(shape, centre, half, 0, 0, 360, 255, -1)
            else:
                cv2.rectangle(shape, (centre[0] - half[0], centre[1] - half[1]),
                              (centre[0] + half[0], centre[1] + half[1]), 255, -1)
            luma = numpy.where(shape > 0, self.wall + thing["offset"], luma)
            truth |= shape
        luma = luma * (1 + FLICKER * numpy.sin(2 * numpy.pi * number / 7.3))
        luma = luma + self.random.normal(0, NOISE, luma.shape)
        return numpy.clip(numpy.rint(luma), 0, 255).astype(numpy.uint8), truth


def judge():
    """Scores of each way to denoise, ours and OpenCV's."""
    kinds = ("none", "median-3", "median-5", "opening-3", "opening-5")
    foregrounds = {kind: Foreground(PROGRAM, "mog2", (HEIGHT, WIDTH), denoise=kind)
                  for kind in kinds}
    ours, theirs = {kind: Score() for kind in kinds}, {kind: Score() for kind in kinds}
    mog2 = cv2.createBackgroundSubtractorMOG2(500, 16, False)
    scene = Scene()
    for number in range(N_FRAMES):
        luma, truth = scene.frame(number)
        raw = mog2.apply(luma)
        for kind, foreground in foregrounds.items():
            mask = foreground.mask(luma)
            if number < FIRST_JUDGED:
                continue
            ours[kind].add(mask, truth)
            name, _, size = kind.partition("-")
            other = raw
            if name == "median":
                other = cv2.medianBlur(raw, int(size))
            elif name == "opening":
                window = numpy.ones((int(size), int(size)), numpy.uint8)
                other = cv2.morphologyEx(raw, cv2.MORPH_OPEN, window)
            theirs[kind].add(other, truth)
    for foreground in foregrounds.values():
        foreground.__exit__()
    return ours, theirs


def test_precision_and_recall():
    """moving objects are found before a waving, flickering, noisy background"""
    ours, theirs = judge()
    for kind, score in ours.items():
        other = theirs[kind]
        print(f"# denoise {kind}: precision {score.precision:.4f}, recall {score.recall:.4f}; "
              f"OpenCV's {other.precision:.4f}, {other.recall:.4f}")
        if abs(score.precision - other.precision) > 0.01 or abs(score.recall - other.recall) > 0.01:
            raise AssertionError(f"{kind}: not as good as OpenCV's, or better")
    best = ours["median-5"]
    if best.precision < 0.95 or best.recall < 0.9:
        raise AssertionError("too much is missed or mistaken")
    if ours["none"].precision > best.precision:
        raise AssertionError("denoising does not help, so the scene shows nothing")


sys.exit(tap.run(test_precision_and_recall))
