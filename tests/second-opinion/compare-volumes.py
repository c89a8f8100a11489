#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares labels and tables of volumes with scipy.ndimage. Prints TAP.

usage: compare-volumes.py LABEL_VOLUME

Noise and structured volumes with 6, 18 and 26 neighbours. Labels, boxes and numbers of voxels must
equal those of scipy and numpy; centroids must agree to 1e-12.
"""
import subprocess
import sys

try:
    import numpy
    from scipy import ndimage
except ImportError as missing:
    print(f"1..0 # SKIP Python module not installed: {missing.name}")
    sys.exit(0)

STRUCTURE = {6: 1, 18: 2, 26: 3}
ROW = numpy.dtype([(name, "<u4") for name in ("label", "voxels", "x", "y", "z", "width", "height", "depth")]
                  + [(name, "<f8") for name in ("cx", "cy", "cz")])


def sponge(order):
    """A Menger sponge."""
    volume = numpy.ones((1, 1, 1), bool)
    for _ in range(order):
        middle = sum((numpy.indices((3, 3, 3)) == 1).astype(int))
        volume = numpy.kron(volume, middle < 2)
    return volume


def volumes():
    """Yields names and volumes, indexed z, y, x."""
    random = numpy.random.RandomState(1)
    for density in (5, 15, 25, 35, 50, 80):
        yield f"noise of {density} %", random.rand(31, 37, 67) < density / 100
    for density in (10, 30, 60):
        coarse = random.rand(11, 12, 13) < density / 100
        yield f"noise of {density} % in cubes of 4", numpy.kron(coarse, numpy.ones((4, 4, 4), bool))
    z, y, x = numpy.indices((45, 50, 130)) / 6
    gyroid = numpy.sin(x) * numpy.cos(y) + numpy.sin(y) * numpy.cos(z) + numpy.sin(z) * numpy.cos(x)
    yield "gyroid", gyroid > 0.3
    yield "beads of a gyroid", abs(gyroid) > 1.42
    yield "shells", numpy.sin(numpy.hypot(numpy.hypot(x - 9, y - 4), z - 4) * 7) > 0.5
    yield "sponge", sponge(4)
    yield "inside of a sponge", ~sponge(3)
    blobs = ndimage.gaussian_filter(random.rand(40, 60, 129), 2)
    yield "blobs", blobs > 0.51
    yield "one slice", random.rand(1, 70, 65) < 0.5
    yield "one row a slice", random.rand(70, 1, 65) < 0.5
    yield "one column", random.rand(70, 65, 1) < 0.5


def label(program, volume, connectivity):
    depth, height, width = volume.shape
    result = subprocess.run([program, *map(str, (connectivity, width, height, depth))], check=True,
                            input=volume.astype(numpy.uint8).tobytes(), stdout=subprocess.PIPE).stdout
    count = int(numpy.frombuffer(result, "<u4", 1)[0])
    labels = numpy.frombuffer(result, "<u4", volume.size, 4).reshape(volume.shape)
    return labels, numpy.frombuffer(result, ROW, count, 4 + 4 * volume.size)


def scipy_table(labels, count):
    table = numpy.zeros(count, ROW)
    table["label"] = numpy.arange(1, count + 1)
    table["voxels"] = numpy.bincount(labels.ravel(), minlength=count + 1)[1:]
    for row, box in zip(table, ndimage.find_objects(labels)):
        for side, name, size in zip(box, "zyx", ("depth", "height", "width")):
            row[name], row[size] = side.start, side.stop - side.start
    centres = numpy.array(ndimage.center_of_mass(labels > 0, labels, table["label"])).reshape(count, 3)
    table["cz"], table["cy"], table["cx"] = centres.T
    return table


def difference(ours, theirs):
    if len(ours) != len(theirs):
        return f"{len(ours)} components, scipy has {len(theirs)}"
    for name in ROW.names:
        close = (numpy.isclose(ours[name], theirs[name], rtol=1e-12, atol=1e-12)
                 if name.startswith("c") else ours[name] == theirs[name])
        if not close.all():
            row = int(numpy.argmin(close))
            return f"row {row}: {name} is {ours[name][row]!r}, not {theirs[name][row]!r}"
    return None


def main():
    number = 0
    for name, volume in volumes():
        for connectivity, rank in STRUCTURE.items():
            number += 1
            expected, count = ndimage.label(volume, ndimage.generate_binary_structure(3, rank))
            labels, table = label(sys.argv[1], volume, connectivity)
            wrong = (difference(table, scipy_table(expected, count)) if numpy.array_equal(labels, expected)
                     else f"{int((labels != expected).sum())} voxels differ from scipy's labels")
            title = f"{number} {name}, {connectivity}-connected, {count} components"
            print(f"not ok {title}\n# {wrong}" if wrong else f"ok {title}", flush=True)
    print(f"1..{number}")


main()
