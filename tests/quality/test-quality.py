#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The masks of three drawn scenes are about as good as the best of OpenCV's, or better, and identities of
people who cross are better than SORT's. Prints TAP.

usage: test-quality.py MAKE-MASKS
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import tap  # noqa: E402

try:
    import cv2
    import numpy

    import crossings
    import identity
    import quality
    import sequences
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)
except ValueError as missing:  # of gi.require_version
    print(f"1..0 # SKIP {missing}")
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


def test_measures():
    """MOTA and IDF1 of a small example"""
    box, other, nowhere = (0, 0, 10, 10), (50, 0, 10, 10), (200, 0, 10, 10)
    truth = [{"a": box, "b": other}] * 4
    tracks = [{1: box, 2: other}, {1: box}, {1: other, 3: box}, {1: other, 3: box, 4: nowhere}]
    score = identity.score(truth, tracks)  # 1 of 8 is missed, 1 false box, a and b change their tracks
    assert score["switches"] == 2 and score["recall"] == 7 / 8 and score["precision"] == 7 / 8
    assert score["mota"] == 1 - 4 / 8
    assert score["idf1"] == 2 * 4 / 16, score  # a with 1 or 3 in two frames, b with 2 or 1 in two
    near = (1, 0, 10, 10)  # two objects that had track 1 one after the other, and one track in the end
    score = identity.score([{"a": box}, {"b": near}, {"a": box, "b": near}], [{1: box}, {1: near}, {1: box}])
    assert score["recall"] == 3 / 4 and score["precision"] == 1 and score["switches"] == 0
    assert identity.score(truth, truth)["idf1"] == 1 and identity.score(truth, [{}] * 4)["mota"] == 0


def test_defaults():
    """The masks are made with the elements' defaults"""
    defaults = quality.element_defaults()
    assert set(defaults) == {name.replace("-", "_") for name in quality.MODEL_PROPERTIES}
    assert defaults["shadows"] == 2 and defaults["light"] == 1, defaults


def test_sequence():
    """frames, pixels and values that do not count are left out of a sequence's score"""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "input").mkdir(), (folder / "groundtruth").mkdir()
        for number in range(1, 6):
            image = numpy.zeros((37, 51, 3), numpy.uint8)
            image[10:20, 10:20] = 255
            truth = numpy.zeros((37, 51), numpy.uint8)
            truth[10:20, 10:15] = 255  # half of the square; the lower half of the rest does not count
            truth[15:20, 15:20] = 170
            truth[0:2, 0:5] = 255  # missed
            truth[30:35, 30:35] = 255  # missed, outside the region
            if number in (1, 5):  # frames that do not count
                image[:] = 255
            cv2.imwrite(str(folder / f"input/in{number:06}.png"), image)
            cv2.imwrite(str(folder / f"groundtruth/gt{number:06}.png"), truth)
        region = numpy.full((37, 51), 255, numpy.uint8)
        region[25:] = 0
        cv2.imwrite(str(folder / "ROI.bmp"), region)
        (folder / "temporalROI.txt").write_text("2 4")
        row = sequences.judge(folder / "input", folder / "groundtruth", "ccl threshold=128", "ccl", {})["ccl"]
    found, mistaken, missed = 50, 25, 10  # of each of the frames 2, 3 and 4
    assert row["precision"] == found / (found + mistaken), row
    assert row["recall"] == found / (found + missed), row
    assert row["f"] == 2 * found / (2 * found + mistaken + missed), row


def test_crossing():
    """identities of people who cross, beside SORT's"""
    row = crossings.judge(1, n_frames=250, first=60)
    for line in [crossings.HEAD, *crossings.text("seed 1", row).splitlines()]:
        print(f"# {line}")
    for method in ("ccltrack", "without the mask"):
        assert row[method]["mota"] > 0.8 and row[method]["idf1"] > 0.85
        # In a few seconds MOTA depends on the first frames of the masks, which both have.
        assert row[method]["mota"] > row["SORT"]["mota"] - 0.02 and row[method]["idf1"] > row["SORT"]["idf1"]


sys.exit(tap.run(test_baseline, test_shadows, test_lamp, test_measures, test_defaults, test_sequence, test_crossing))
