#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distances of ccl-label tile by tile, against scipy and calculation by hand.

usage: test-label-distances.py CCL-LABEL
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import tifffile
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(3902)
NO_DISTANCE = {np.dtype(np.uint32): 2**32 - 1, np.dtype(np.uint64): 2**64 - 1}


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)


def succeed(*arguments):
    result = run(*arguments)
    assert result.returncode == 0 and not result.stderr, (arguments, result.stderr)
    return result.stdout


def squares(mask):
    """The squared distances to the background, which there must be."""
    return np.round(ndimage.distance_transform_edt(mask)**2)


def masks(n, most_2d=40, most_3d=11):
    """Random masks with background, of frames and volumes, sparse and dense."""
    for i in range(n):
        ndim = 2 + i % 2
        shape = random.integers(1, most_2d if ndim == 2 else most_3d, ndim)
        mask = random.random(shape) < random.choice([0.3, 0.6, 0.9, 0.99])
        mask.flat[random.integers(mask.size)] = False
        yield mask


def distances():
    """squared distances of frames and volumes are scipy's, whatever the tiles"""
    for i, mask in enumerate(masks(40)):
        np.save("i.npy", mask)
        more = ["-c", [[8, 26], [4, 6]][i % 3 == 0][mask.ndim - 2]]
        for tile in 1, 2, int(random.integers(1, 9)), 1000:
            succeed("i.npy", "--distances", "d.npy", "--tile", tile, *more)
            squared = np.load("d.npy")
            tap.equal((squared.dtype, squared.shape), (np.dtype(np.uint32), mask.shape))
            np.testing.assert_array_equal(squared, squares(mask))


def beside_others():
    """filters, holes that are filled, inversion, a table and a label map go together with them"""
    for mask in masks(8):
        np.save("i.npy", mask)
        more = ["-c", 8 if mask.ndim == 2 else 26]
        whole = ndimage.binary_fill_holes(mask, ndimage.generate_binary_structure(mask.ndim, 1))
        if not whole.all():
            succeed("i.npy", "--distances", "d.npy", "--fill-holes", 0, "--tile", 2, "-o", "l.npy", "--min-area", 4, *more)
            np.testing.assert_array_equal(np.load("d.npy"), squares(whole))
        if mask.any():
            succeed("i.npy", "--distances", "d.npy", "--invert", "--tile", 3, "--keep-largest", 2, "-t", "t.csv", *more)
            np.testing.assert_array_equal(np.load("d.npy"), squares(~mask))
    mask = np.pad(random.random((30, 20)) < 0.6, 1)
    for dtype in "u2", "f4", "i4":
        np.save("i.npy", np.where(mask, 7, 3).astype(dtype))
        succeed("i.npy", "--threshold", 5, "--distances", "d.tif", "--compress", "deflate", "--tile", 4)
        np.testing.assert_array_equal(tifffile.imread("d.tif"), squares(mask))
        os.unlink("d.tif")
    succeed("i.npy", "--threshold", 5, "--distances", "d.raw")
    np.testing.assert_array_equal(np.fromfile("d.raw", np.uint32).reshape(mask.shape), squares(mask))


def no_background():
    """without any background there is no distance, in one tile and in many"""
    for shape in (1, 1), (1, 7), (7, 1), (5, 6), (3, 4, 5):
        np.save("i.npy", np.ones(shape, np.uint8))
        for tile in 1, 2, 100:
            succeed("i.npy", "--distances", "d.npy", "--tile", tile)
            assert (np.load("d.npy") == 2**32 - 1).all()
            succeed("i.npy", "--distances", "d.npy", "--invert", "--tile", tile)
            assert (np.load("d.npy") == 0).all()


def long_sides():
    """sides of 2¹⁶ and 2¹⁶ + 1: words of 64 bits where squares may exceed 32"""
    for shape, dtype in ((1, 2**16), np.uint32), ((1, 2**16 + 1), np.uint64), ((2**16 + 1, 2), np.uint64), \
                        ((2, 2, 2**16 + 1), np.uint64):
        mask = np.ones(shape, np.uint8)
        mask.flat[0] = 0
        np.save("i.npy", mask)
        succeed("i.npy", "--distances", "d.npy", "--tile", max(1, shape[0] // 3))
        squared = np.load("d.npy")
        tap.equal(squared.dtype, np.dtype(dtype))
        np.testing.assert_array_equal(squared, sum(axis.astype(np.uint64)**2 for axis in np.indices(shape)))
        np.save("i.npy", np.ones(shape, np.uint8))
        succeed("i.npy", "--distances", "d.npy", "--tile", max(1, shape[0] // 3))
        assert (np.load("d.npy") == NO_DISTANCE[squared.dtype]).all()


def full_disk():
    """where a file cannot grow, one line says so and nothing is left"""
    np.save("i.npy", np.ones((300, 300), np.uint8))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    for more in ["--distances", "d.npy", "--tile", 1], ["--distances", "d.tif"]:
        result = run("i.npy", *more, preexec_fn=limit)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, result
        tap.equal(sorted(os.listdir()), ["i.npy"])


def interrupted():
    """after SIGINT and SIGTERM no temporary file is left, of five outputs"""
    np.save("i.npy", random.integers(0, 2, (1, 3000, 3000)).astype(np.uint8)[0])
    for number in signal.SIGINT, signal.SIGTERM:
        program = subprocess.Popen([PROGRAM, "i.npy", "--tile", "1", "--distances", "d.npy", "-o", "l.npy", "-t", "t.csv", "--contours",
                                    "c.json", "--adjacency", "a.csv"], stderr=subprocess.DEVNULL)
        while not any("l.npy." in name for name in os.listdir()) and program.poll() is None:
            time.sleep(0.002)
        program.send_signal(number)
        tap.equal(program.wait(20), -number)
        tap.equal(sorted(os.listdir()), ["i.npy"])


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
status = 0
with tempfile.TemporaryDirectory(dir=shared) as folder:
    os.chdir(folder)
    status = tap.run(full_disk, interrupted, distances, beside_others, no_background, long_sides)
    os.chdir("/")
sys.exit(status)
