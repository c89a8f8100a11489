#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the contours of an element, as ccljson writes them, with OpenCV's. Prints TAP.

usage: compare-contours.py ELEMENT

Random masks of several densities, one frame each. With attach-contours=pixels the points and their order must be
those of findContours() with RETR_CCOMP and CHAIN_APPROX_NONE; with cracks, polygons filled by the even-odd rule must
give the mask. Small components are removed, so the contours are those of the label map.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)

WIDTH, HEIGHT, MIN_AREA = 52, 37, 3


def masks():
    random = numpy.random.default_rng(11)
    for density in (0.05, 0.3, 0.5, 0.6, 0.8, 0.97):
        yield numpy.where(random.random((HEIGHT, WIDTH)) < density, 255, 0).astype(numpy.uint8)
    rings = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    for size in range(16, 0, -2):  # one in the other
        cv2.rectangle(rings, (20 - size, 18 - size), (20 + size, 18 + size), 255 * (size // 2 % 2), -1)
    yield rings


def filtered(mask):
    """The mask without its small components."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return numpy.where((labels > 0) & (stats[labels, cv2.CC_STAT_AREA] >= MIN_AREA), 255, 0).astype(numpy.uint8)


def frames(element, properties, pictures):
    """The lines of JSON of these pictures."""
    with tempfile.TemporaryDirectory() as folder:
        raw, out = os.path.join(folder, "frames"), os.path.join(folder, "lines")
        with open(raw, "wb") as file:
            for picture in pictures:
                file.write(picture.tobytes())
        subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={raw}", f"blocksize={WIDTH * HEIGHT}", "!",
                        "rawvideoparse", "format=gray8", f"width={WIDTH}", f"height={HEIGHT}", "!", element,
                        f"min-area={MIN_AREA}", *properties, "!", "ccljson", "!", "filesink", f"location={out}"],
                       check=True, timeout=120)
        with open(out, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def from_least(points):
    """The closed polygon, begun at the same place whatever its start was: its least rotation."""
    points = [tuple(point) for point in points]
    return min(points[i:] + points[:i] for i in range(len(points)) if points[i] == min(points))


def polygons(frame):
    return [(contour["hole"], contour["points"]) for component in frame["components"]
            for contour in component["contours"]]


def same_points_as_opencv(element, pictures):
    for picture, frame in zip(pictures, frames(element, ["attach-contours=pixels"], pictures), strict=True):
        theirs, hierarchy = cv2.findContours(filtered(picture), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
        expected = [(bool(parent >= 0), from_least(points[:, 0].tolist()))
                    for points, (_, _, _, parent) in zip(theirs, hierarchy[0], strict=True)]
        got = [(hole, from_least(points)) for hole, points in polygons(frame)]
        assert sorted(got) == sorted(expected), f"{len(got)} contours, OpenCV has {len(expected)}"


def cracks_surround_the_pixels(element, pictures):
    properties = ["attach-contours=cracks", "contour-tolerance=0"]
    for picture, frame in zip(pictures, frames(element, properties, pictures), strict=True):
        inside = numpy.zeros((HEIGHT, WIDTH + 1), bool)
        for _, points in polygons(frame):
            for (x, y), (_, other) in zip(points, points[1:] + points[:1], strict=True):
                inside[min(y, other):max(y, other), x] ^= True  # the edges that a row crosses
        assert numpy.array_equal(numpy.logical_xor.accumulate(inside, axis=1)[:, :WIDTH], filtered(picture) > 0)


def nested_components_name_the_outer_one(element, pictures):
    components = frames(element, ["attach-contours=pixels", "contour-tolerance=1.5"], pictures[-1:])[0]["components"]
    assert [c["contours"][0].get("inside") for c in components] == [None, 1, 2, 3], components
    assert all(len(contour["points"]) == 4 for c in components for contour in c["contours"]), "no rectangles"


def main():
    element = sys.argv[1]
    pictures = list(masks())
    tests = (same_points_as_opencv, cracks_surround_the_pixels, nested_components_name_the_outer_one)
    for number, test in enumerate(tests, 1):
        try:
            test(element, pictures)
            print(f"ok {number} {test.__name__}", flush=True)
        except AssertionError as error:
            print(f"not ok {number} {test.__name__}\n# {error}", flush=True)
    print(f"1..{len(tests)}")


main()
