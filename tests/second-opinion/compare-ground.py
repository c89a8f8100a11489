#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares positions on the ground with OpenCV's homographies. Prints TAP.

usage: compare-ground.py MAP_GROUND

Four points: getPerspectiveTransform(). More points with errors: findHomography() from the ground to
the picture, which minimises distances in the picture, too.
"""
import subprocess
import sys

try:
    import cv2
    import numpy
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)

MOST_PIXELS = 0.02  # OpenCV's own error: its arguments have single precision, and its fit ends early
RANDOM = numpy.random.default_rng(1)


def camera():
    """A random camera above a ground: a matrix from metres to pixels."""
    tilt, roll = RANDOM.uniform(0.05, 1.2), RANDOM.uniform(-0.2, 0.2)
    height, focal = RANDOM.uniform(2, 30), RANDOM.uniform(600, 2000)
    turn = numpy.array([[numpy.cos(roll), -numpy.sin(roll), 0], [numpy.sin(roll), numpy.cos(roll), 0], [0, 0, 1]])
    # Columns: the ground's x axis, its y axis, and its origin below the camera, seen by the camera.
    look = numpy.array([[1, 0, 0], [0, -numpy.sin(tilt), height * numpy.cos(tilt)],
                        [0, numpy.cos(tilt), height * numpy.sin(tilt)]])
    return numpy.array([[focal, 0, 960], [0, focal, 540], [0, 0, 1]]) @ turn @ look


def project(matrix, points):
    homogeneous = numpy.c_[points, numpy.ones(len(points))] @ matrix.T
    return homogeneous[:, :2] / homogeneous[:, 2:], homogeneous[:, 2]


def map_ground(program, picture, ground, pixels):
    text = "\n".join([str(len(picture))] + [" ".join(map(repr, map(float, row))) for row in numpy.c_[picture, ground]]
                     + [" ".join(map(repr, map(float, row))) for row in pixels])
    lines = subprocess.run([program], input=text, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [None if line == "none" else tuple(map(float, line.split())) for line in lines]


def compare(program, picture, ground, matrix):
    """Compares positions of a grid of pixels with those by OpenCV's matrix from the ground to the picture."""
    pixels = numpy.array([(x, y) for x in range(-100, 2101, 275) for y in range(-400, 1101, 150)], float)
    distance = project(numpy.linalg.inv(matrix), pixels)[1]
    side = numpy.sign(project(numpy.linalg.inv(matrix), picture[:1])[1][0])
    for pixel, ours, w in zip(pixels, map_ground(program, picture, ground, pixels), distance * side):
        if (ours is None) != (w <= 0):
            return f"pixel {pixel}: {ours}, distance from the horizon {w}"
        if ours and numpy.hypot(*(project(matrix, numpy.array([ours]))[0][0] - pixel)) > MOST_PIXELS:
            return f"pixel {pixel}: {ours}, OpenCV has it at {project(matrix, numpy.array([ours]))[0][0]}"
    return None


def four_points(program):
    matrix = camera()
    ground = numpy.array([[-5, 8], [6, 9], [7, 30], [-4, 26]]) + RANDOM.uniform(-2, 2, (4, 2))
    picture = project(matrix, ground)[0]
    # OpenCV takes single precision.
    picture, ground = picture.astype(numpy.float32), ground.astype(numpy.float32)
    return compare(program, picture, ground, cv2.getPerspectiveTransform(ground, picture))


def more_points(program):
    matrix = camera()
    ground = numpy.array([(x, y) for x in (-6, -2, 3, 7) for y in (7, 12, 20, 35)], float)
    picture = project(matrix, ground)[0] + RANDOM.normal(0, 1, ground.shape)
    fitted, _ = cv2.findHomography(ground, picture, 0)
    return compare(program, picture, ground, fitted)


def main():
    cases = [(f"{name} {i + 1}", case) for name, case in (("four points", four_points), ("more points", more_points))
             for i in range(10)]
    print(f"1..{len(cases)}")
    for title, case in cases:
        wrong = case(sys.argv[1])
        print(f"not ok {title}\n# {wrong}" if wrong else f"ok {title}", flush=True)


if __name__ == "__main__":
    main()
