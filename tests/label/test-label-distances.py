#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distances and splits of ccl-label tile by tile, against scipy, their definition and calculation by hand.

usage: test-label-distances.py CCL-LABEL
"""
import heapq
import itertools
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


RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def steps_of(connectivity, ndim):
    """The steps to the neighbours, those that share a side first, each kind in raster order."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=ndim) if any(step)]
    return sorted((step for step in steps if np.abs(step).sum() <= RANK[connectivity]), key=lambda step: np.abs(step).sum())


def near(place, radius, shape):
    return tuple(slice(max(0, x - radius), min(length, x + radius + 1)) for x, length in zip(place, shape))


def peaks_of(components, squared, radius):
    """The objects of <cudaccl/distance.h>, at their peaks."""
    peaks = np.zeros(components.shape, bool)
    for place in np.argwhere(components):
        window, place = near(place, radius, components.shape), tuple(place)
        peaks[place] = squared[window][components[window] == components[place]].max() == squared[place]
    objects, n = np.zeros(components.shape, np.int64), 0
    for first in map(tuple, np.argwhere(peaks)):
        if objects[first]:
            continue
        n, waiting = n + 1, [first]
        objects[first] = n
        while waiting:
            place = waiting.pop()
            window = near(place, radius, components.shape)
            for other in np.argwhere(peaks[window] & (components[window] == components[place]) & (objects[window] == 0)):
                other = tuple(int(x) + part.start for x, part in zip(other, window))
                objects[other] = n
                waiting.append(other)
    return objects


def flooded(components, squared, objects, connectivity):
    """The objects after their flood; ties as <cudaccl/distance.h> says."""
    objects, age = objects.copy(), itertools.count()
    waiting = [(-int(squared[place]), next(age), place) for place in map(tuple, np.argwhere(objects))]
    heapq.heapify(waiting)
    while waiting:
        height, _, place = heapq.heappop(waiting)
        for step in steps_of(connectivity, components.ndim):
            other = tuple(int(a) + b for a, b in zip(place, step))
            if not all(0 <= x < length for x, length in zip(other, components.shape)):
                continue
            if components[other] == components[place] and not objects[other]:
                objects[other] = objects[place]
                heapq.heappush(waiting, (max(height, -int(squared[other])), next(age), other))
    return objects


def split_by_definition(mask, connectivity, radius):
    components, _ = ndimage.label(mask, ndimage.generate_binary_structure(mask.ndim, RANK[connectivity]))
    squared = squares(mask) if not mask.all() else np.full(mask.shape, 2**32 - 1)
    return flooded(components, squared, peaks_of(components, squared, radius), connectivity)


def blobs(i):
    """Discs and balls that touch, or noise, or everything."""
    ndim = 2 + i % 2
    shape = random.integers(1, 32 if ndim == 2 else 11, ndim)
    if i % 5 == 0:
        return random.random(shape) < random.choice([0.5, 0.8, 1])
    place = np.stack(np.indices(shape), -1)
    mask = np.zeros(shape, bool)
    for _ in range(random.integers(1, 9)):
        mask |= np.linalg.norm(place - random.random(ndim) * shape, axis=-1) < random.random() * 7
    return mask


def split():
    """objects are those of the definition, in numbers and pixels, whatever the tiles and the memory"""
    for i in range(36):
        mask = blobs(i)
        np.save("i.npy", mask)
        connectivity = [[4, 8], [6, 18, 26]][mask.ndim - 2][i % (mask.ndim)]
        radius = int(random.integers(1, 6))
        want = split_by_definition(mask, connectivity, radius)
        for tile in 1, int(random.integers(2, 9)), 1000:
            result = succeed("i.npy", "--split", radius, "-c", connectivity, "--tile", tile, "-o", "l.npy", "-t", "t.npy")
            np.testing.assert_array_equal(np.load("l.npy"), want)
            tap.equal(result, f"{want.max()} components\n")
            table = np.load("t.npy")
            tap.equal(table["area"].tolist(), np.bincount(want.ravel(), minlength=1)[1:].tolist())
            tap.equal(table["y"].tolist(), [box[-2].start for box in ndimage.find_objects(want)])


def split_beside_others():
    """filters of objects, holes that are filled, 64 bits, and columns of objects in several parts"""
    noise = ndimage.gaussian_filter(random.random((110, 90)), 1.2)
    mask = noise > np.quantile(noise, 0.3)
    np.save("i.npy", mask)
    whole = np.bincount(split_by_definition(mask, 8, 3).ravel())
    names = "label,area,n_holes,euler_number,perimeter"
    succeed("i.npy", "--split", 3, "--tile", 11, "-t", "all.npy", "-o", "all-l.npy", "--columns", names)
    table, labels = np.load("all.npy"), np.load("all-l.npy")
    tap.equal(table["area"].tolist(), whole[1:].tolist())
    for row in table:
        padded = np.pad(labels == row["label"], 1)
        tap.equal(row["n_holes"], ndimage.label(~padded)[1] - 1)
    assert table["n_holes"].max() > 0
    parts = [ndimage.label(labels == i, np.ones((3, 3)))[1] for i in table["label"]]
    tap.equal((np.array(parts) - table["euler_number"]).tolist(), table["n_holes"].tolist())
    succeed("i.npy", "--split", 3, "--tile", 11, "-o", "l.npy", "--min-area", 60, "--bits", 64, "--distances", "d.npy")
    stays = (whole >= 60) & (np.arange(len(whole)) > 0)
    few = np.load("l.npy")
    tap.equal(few.dtype, np.dtype(np.uint64))
    np.testing.assert_array_equal(few, np.where(stays, np.cumsum(stays), 0)[labels])
    np.testing.assert_array_equal(np.load("d.npy"), squares(mask))
    filled = ndimage.binary_fill_holes(mask)
    succeed("i.npy", "--split", 4, "--tile", 7, "-o", "l.npy", "--fill-holes", 0)
    np.testing.assert_array_equal(np.load("l.npy"), split_by_definition(filled, 8, 4))
    for k in 1, 5:
        succeed("i.npy", "--split", 3, "--tile", 11, "-t", "t.npy", "--keep-largest", k, "--columns", names)
        best = np.sort(np.argsort(-table["area"], kind="stable")[:k])
        for name in table.dtype.names[1:]:
            tap.equal(np.load("t.npy")[name].tolist(), table[name][best].tolist())


def split_across_tiles():
    """a component through all tiles is split, also one that the memory does not hold"""
    mask = np.zeros((900, 700), np.uint8)
    for y in range(20, 880, 35):
        for x in range(20, 680, 35):
            mask[y - 18:y + 19, x - 18:x + 19] |= np.add.outer(np.arange(-18, 19)**2, np.arange(-18, 19)**2) < 18**2
    tap.equal(ndimage.label(mask)[1], 1)
    np.save("i.npy", mask)
    succeed("i.npy", "--split", 9, "-o", "whole.npy")
    succeed("i.npy", "--split", 9, "-o", "tiles.npy", "--tile", 13)
    np.testing.assert_array_equal(np.load("whole.npy"), np.load("tiles.npy"))
    tap.equal(int(np.load("whole.npy").max()), len(range(20, 880, 35)) * len(range(20, 680, 35)))
    for tile in [], ["--tile", 13]:
        succeed("i.npy", "--split", 9, "-o", "file.npy", "--memory", "1MiB", *tile)
        np.testing.assert_array_equal(np.load("whole.npy"), np.load("file.npy"))
    before = sorted(os.listdir())
    size = 6_000_000  # the window has 12 bytes for each of 630,000 pixels, the map 4
    result = run("i.npy", "--split", 9, "-o", "l.npy", "--memory", "1MiB",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert result.returncode == 1 and result.stderr.count("\n") == 1 and "File too large" in result.stderr, result
    tap.equal(sorted(os.listdir()), before)


def partition(labels):
    """The labels numbered anew by their first pixels."""
    labels = labels.ravel()
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    return np.where(labels, first[places] + 1, 0)


def long_pictures():
    """the squared diagonal of a picture may have more than 32 bits, and that of a component not"""
    for shape in (3, 70_000), (70_000, 3), (2, 2, 70_000), (2, 70_000, 2), (70_000, 2, 2):
        mask = random.random(shape) < 0.7
        along = shape.index(70_000)
        np.moveaxis(mask, along, 0)[35_000] = False
        halves = [mask.take(part, along) for part in (range(35_001), range(35_000, 70_000))]
        more = ["--split", 2, "-c", 4 if mask.ndim == 2 else 6]
        np.save("i.npy", mask)
        succeed("i.npy", "-o", "l.npy", *more)
        labels, begin = np.moveaxis(np.load("l.npy"), along, 0), 0
        for half in halves:
            np.save("i.npy", half)
            succeed("i.npy", "-o", "half.npy", *more)
            np.testing.assert_array_equal(partition(np.moveaxis(np.load("half.npy"), along, 0)),
                                          partition(labels[begin:begin + 35_001]))
            begin = 35_000
    np.save("i.npy", np.ones((1, 70_000), np.uint8))
    result = run("i.npy", "--split", 2)
    assert result.returncode == 1 and result.stderr.count("\n") == 1 and "box" in result.stderr, result


def of_values():
    """distances of values are scipy's of each component, whatever the tiles, before holes are filled and small ones removed"""
    for mask in masks(24, 24, 9):
        image = random.integers(0, 4, mask.shape).astype(np.uint16)
        if random.random() < 0.7:
            image = image.repeat(3, 0).repeat(4, 1)
        np.save("i.npy", image)
        more = ["--values", "-c", [8, 26][mask.ndim - 2] if random.random() < 0.5 else [4, 6][mask.ndim - 2]]
        succeed("i.npy", "-o", "l.npy", *more)
        labels = np.load("l.npy")
        want = sum((squares(labels == i) for i in range(1, labels.max() + 1) if not (labels == i).all()), np.zeros(image.shape))
        want[(labels == labels.flat[0]).all() and labels > 0] = 2**32 - 1
        for tile in 1, int(random.integers(2, 7)), 1000:
            others = [[], ["--fill-label-holes", 0, "-t", "t.csv", "--columns", "value"], ["--min-area", 5, "--keep-largest", 2]][tile % 3]
            succeed("i.npy", "--distances", "d.npy", "--tile", tile, *more, *others)
            np.testing.assert_array_equal(np.load("d.npy"), want)
    image = np.ones((1, 2**16 + 1), np.uint8)
    image[0, :3] = 2
    np.save("i.npy", image)
    succeed("i.npy", "--values", "--distances", "d.npy")
    tap.equal(np.load("d.npy").dtype, np.dtype(np.uint64))
    np.testing.assert_array_equal(np.load("d.npy"), [[9, 4, 1, *(i * i for i in range(1, 2**16 - 1))]])


def filled_by_definition(labels, connectivity):
    """The holes of each label, those with greater boxes first; scipy's components of all but the label."""
    structure = ndimage.generate_binary_structure(labels.ndim, {4: 2, 8: 1, 6: 3, 18: 1, 26: 1}[connectivity])
    boxes = ndimage.find_objects(labels)
    sizes = [int(np.prod([side.stop - side.start for side in box])) for box in boxes]
    filled = labels.copy()
    for size, label in sorted(zip(sizes, range(1, len(boxes) + 1)), reverse=True):
        holes = ndimage.binary_fill_holes(labels == label, structure)
        filled[holes & (labels == 0)] = label
    return filled


def filled_objects():
    """holes of objects are filled after the split, and then their parts are counted, whatever the tiles"""
    for i in range(30):
        mask = blobs(i) if i % 3 else ndimage.gaussian_filter(random.random((30, 30)), 1) > 0.48
        np.save("i.npy", mask)
        connectivity = [[4, 8], [6, 18, 26]][mask.ndim - 2][i % mask.ndim]
        radius = int(random.integers(1, 6))
        want = filled_by_definition(split_by_definition(mask, connectivity, radius), connectivity)
        more = ["--columns", "label,area,n_holes"] if mask.ndim == 2 else []
        for tile in 1, int(random.integers(2, 9)), 1000:
            succeed("i.npy", "--split", radius, "--fill-label-holes", 0, "-c", connectivity, "--tile", tile, "-o", "l.npy", "-t", "t.npy",
                    "--distances", "d.npy", *more)
            np.testing.assert_array_equal(np.load("l.npy"), want)
            if not mask.all():
                np.testing.assert_array_equal(np.load("d.npy"), squares(mask))
            table = np.load("t.npy")
            tap.equal(table["area"].tolist(), np.bincount(want.ravel(), minlength=1)[1:].tolist())
            for row in table if more else []:
                outside = ndimage.label(~np.pad(want == row["label"], 1), np.ones((3, 3)) if connectivity == 4 else None)[1]
                tap.equal(row["n_holes"], outside - 1)


def full_disk():
    """where a file cannot grow, one line says so and nothing is left"""
    np.save("i.npy", np.ones((300, 300), np.uint8))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    for more in ["--distances", "d.npy", "--tile", 1], ["--distances", "d.tif"], ["--split", 3, "--tile", 9], \
                ["--values", "--distances", "d.npy", "--tile", 1], ["--split", 3, "--fill-label-holes", 0, "--tile", 9], \
                ["--split", 3, "--memory", "1MiB"]:
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
    status = tap.run(full_disk, interrupted, distances, beside_others, no_background, long_sides, split, split_beside_others, split_across_tiles,
                     long_pictures, of_values, filled_objects)
    os.chdir("/")
sys.exit(status)
