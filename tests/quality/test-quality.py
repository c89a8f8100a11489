#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The masks of three drawn scenes are about as good as the best of OpenCV's, or better. Prints TAP.

usage: test-quality.py MAKE-MASKS
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import tap  # noqa: E402

try:
    import quality
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)
except AttributeError:
    print("1..0 # SKIP this OpenCV has no module bgsegm")
    sys.exit(0)

METHODS = ["MOG2", "KNN", "GSOC"]  # the other three take more time than they add


def check(name, n_frames, least):
    row = quality.judge(sys.argv[1], name, 1, METHODS, n_frames, first=60)
    print(f"# {quality.row_text(name, row, METHODS)}")
    if row[quality.PRODUCT]["f"] < least:
        raise AssertionError(f"{name}: the F-measure is less than {least}")
    if row[quality.PRODUCT]["f"] < row[quality.best_other(row)]["f"] - 0.02:
        raise AssertionError(f"{name}: more than 0.02 below OpenCV's best")


def test_baseline():
    """people and cars in constant light"""
    check("baseline", 110, 0.9)


def test_shadows():
    """cast shadows"""
    check("shadows", 110, 0.83)


def test_lamp():
    """a lamp is switched on"""
    check("lamp", 175, 0.83)


sys.exit(tap.run(test_baseline, test_shadows, test_lamp))
