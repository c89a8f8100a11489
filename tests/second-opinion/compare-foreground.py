#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the foreground masks of the CPU with OpenCV's. Prints TAP.

usage: compare-foreground.py MAKE_MASKS
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

from masks import Foreground  # noqa: E402

PROGRAM = sys.argv[1]
PICTURES = pathlib.Path("/usr/share/doc/opencv-doc/examples/data")
MIN_AREA = 64


def opencv_denoise(mask, kind):
    name, _, size = kind.partition("-")
    if name == "median":
        return cv2.medianBlur(mask, int(size))
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, numpy.ones((int(size), int(size)), numpy.uint8))


def test_denoise():
    """median filters and openings equal OpenCV's"""
    random = numpy.random.default_rng(1)
    for kind in ("median-3", "median-5", "opening-3", "opening-5"):
        for width, height in ((1, 1), (5, 1), (1, 7), (63, 9), (64, 10), (65, 4), (200, 111)):
            with Foreground(PROGRAM, "threshold", (height, width), denoise=kind) as foreground:
                for density in (0.2, 0.5, 0.7, 0.9, 0.97):
                    frame = numpy.where(random.random((height, width)) < density, 255, 0)
                    frame = frame.astype(numpy.uint8)
                    got, want = foreground.mask(frame), opencv_denoise(frame, kind)
                    if not numpy.array_equal(got, want):
                        raise AssertionError(f"{kind} of {width}×{height}, density {density}: "
                                             f"{int((got != want).sum())} pixels differ")


def test_otsu():
    """Otsu's threshold equals OpenCV's on photographs"""
    paths = sorted(PICTURES.glob("*.jpg"))
    if not paths:
        raise tap.Skip("opencv-doc is not installed")
    for path in paths:
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        _, want = cv2.threshold(picture, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
        with Foreground(PROGRAM, "otsu", picture.shape) as foreground:
            got = foreground.mask(picture)
        if not numpy.array_equal(got, want):
            raise AssertionError(f"{path.name}: {int((got != want).sum())} pixels differ")
    print(f"# {len(paths)} photographs")


def count_components(mask):
    _, _, statistics, _ = cv2.connectedComponentsWithStats(mask)
    return int((statistics[1:, cv2.CC_STAT_AREA] >= MIN_AREA).sum())


def compare_with_mog2(n_frames, **options):
    """Runs both on the street video of opencv-doc; returns overlaps and pairs of component counts.
    wide: the steps of 16 bits that make one of 8; 0: luma of 8 bits."""
    video = cv2.VideoCapture(str(PICTURES / "vtest.avi"))
    shape = int(video.get(cv2.CAP_PROP_FRAME_HEIGHT)), int(video.get(cv2.CAP_PROP_FRAME_WIDTH))
    if not video.isOpened():
        raise tap.Skip("opencv-doc is not installed")
    mog2 = cv2.createBackgroundSubtractorMOG2(
        options.get("history", 500), options.get("var_threshold", 16), False)
    mog2.setNMixtures(options.get("mixtures", 5))
    if options.get("wide"):  # OpenCV's variances are in units of the values
        mog2.setVarInit(15 * 256**2)
        mog2.setVarMin(4 * 256**2)
        mog2.setVarMax(75 * 256**2)
    overlaps, counts = [], []
    with Foreground(PROGRAM, "mog2", shape, **options) as foreground:
        number = 0
        while number < n_frames:
            there_is_one, frame = video.read()
            if not there_is_one:
                raise AssertionError(f"{number} frames instead of {n_frames}")
            if options.get("wide"):
                luma = numpy.rint(frame @ [0.114, 0.587, 0.299] * options["wide"]).astype(numpy.uint16)
            else:
                luma = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
            ours = foreground.mask(luma)
            theirs = mog2.apply(luma, learningRate=options.get("learning_rate", -1))
            if number >= 100:
                either = int(numpy.count_nonzero(ours | theirs))
                both = int(numpy.count_nonzero(ours & theirs))
                overlaps.append(both / either if either else 1)
                counts.append([count_components(opencv_denoise(mask, "median-5"))
                               for mask in (ours, theirs)])
            number += 1
    return numpy.array(overlaps), numpy.array(counts)


def check_against_mog2(n_frames, **options):
    overlaps, counts = compare_with_mog2(n_frames, **options)
    difference = numpy.abs(counts[:, 0] - counts[:, 1]).mean() / counts[:, 1].mean()
    print(f"# frames 100…{n_frames - 1}: intersection over union {overlaps.mean():.5f} on average, at least "
          f"{overlaps.min():.5f}; components {counts[:, 0].mean():.3f}, OpenCV's "
          f"{counts[:, 1].mean():.3f}, counts differ by {100 * difference:.2f} %")
    if overlaps.mean() < 0.95:
        raise AssertionError("masks overlap too little")
    if difference > 0.05:
        raise AssertionError("component counts differ too much")


def test_background():
    """the background model of a real video is close to MOG2's"""
    check_against_mog2(795)


def test_background_with_other_parameters():
    """the background model of a real video is close to MOG2's with other parameters"""
    check_against_mog2(300, history=120, var_threshold=30, mixtures=3)


def test_background_of_16_bits():
    """the background model of a video of 16 bits is close to MOG2's"""
    check_against_mog2(200, wide=256)
    check_against_mog2(200, wide=16, var_threshold=0.1)


sys.exit(tap.run(test_denoise, test_otsu, test_background, test_background_with_other_parameters,
                 test_background_of_16_bits))
