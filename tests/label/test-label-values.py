#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-label --values, --fill-holes and --remove-small against scipy.

usage: test-label-values.py CCL-LABEL [--gpu]

With --gpu, only what runs on one, such as a simulated one, and there.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
GPU = ["--gpu"] if "--gpu" in sys.argv else []
random = np.random.default_rng(28)
RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
OF_HOLES = {4: 8, 8: 4, 6: 26, 18: 6, 26: 6}
CONNECTIVITIES = {2: [4, 8], 3: [6, 18, 26]}


def structure(connectivity, ndim):
    return ndimage.generate_binary_structure(ndim, RANK[connectivity])


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def labels_of(image, *arguments):
    """The label map, the areas of the table and the number of components."""
    np.save("i.npy", image)
    result = run("i.npy", "-o", "l.npy", "-t", "t.npy", *arguments)
    assert result.returncode == 0, result.stderr
    table = np.load("t.npy")
    assert result.stdout == f"{len(table)} components\n"
    return np.load("l.npy"), table


def numbered(labels):
    """The same components, numbered by their first pixels."""
    old, first = np.unique(labels[labels > 0], return_index=True)
    new = np.zeros(int(labels.max(initial=0)) + 1, int)
    new[old[np.argsort(first)]] = np.arange(1, len(old) + 1)
    return new[labels]


def components_of_values(image, connectivity):
    """scipy's components of the mask of each value but 0."""
    whole, n = np.zeros(image.shape, int), 0
    for value in np.unique(image[image != 0]):
        part, count = ndimage.label(image == value, structure(connectivity, image.ndim))
        whole[part > 0] = part[part > 0] + n
        n += count
    return numbered(whole)


def without_small(labels, least, most):
    areas = np.bincount(labels.ravel())
    stays = (areas >= least) & (areas <= (most or areas.max()))
    return numbered(np.where(stays[labels], labels, 0))


def check_table(labels, table):
    """The areas, boxes and centroids of the table against numpy."""
    np.testing.assert_array_equal(table["label"], np.arange(1, labels.max(initial=0) + 1))
    np.testing.assert_array_equal(table["area"], np.bincount(labels.ravel())[1:])
    for row, box in zip(table, ndimage.find_objects(labels)):
        names = ["z", "y", "x"][-labels.ndim:], ["depth", "height", "width"][-labels.ndim:]
        assert [row[name] for name in names[0]] == [side.start for side in box]
        assert [row[name] for name in names[1]] == [side.stop - side.start for side in box]
        centre = [row[name] for name in ["cz", "cy", "cx"][-labels.ndim:]]
        np.testing.assert_allclose(centre, np.argwhere(labels == row["label"]).mean(0), rtol=1e-12)


def values():
    """many values: images and volumes of every type, with an area filter"""
    for kind in ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"] * 2:
        ndim = int(random.integers(2, 4))
        blocks = random.integers(-2 if kind[0] != "u" else 0, 4, random.integers(1, 8, ndim)).astype(kind)
        image = np.kron(blocks, np.ones([random.integers(1, 4)] * ndim, kind)).astype(kind)
        connectivity = int(random.choice(CONNECTIVITIES[ndim]))
        least, most = int(random.integers(0, 9)), int(random.choice([0, 40]))
        labels, table = labels_of(image, "--values", "-c", connectivity, "--min-area", least, "--max-area", most,
                                  "--tile", int(random.integers(0, 9)))
        np.testing.assert_array_equal(labels, without_small(components_of_values(image, connectivity), least, most))
        check_table(labels, table)


def no_numbers():
    """pixels that are not a number are background, with another background and a tolerance, too"""
    for i in range(6):
        image = random.integers(0, 3, (9, 40)).astype(["f4", "f8"][i % 2])
        image[random.random(image.shape) < 0.2] = np.nan
        for options, background in ([GPU, 0],) if GPU else ([[], 0], [["--background", 2], 2], [["--value-tolerance", 0.5], 0]):
            labels, _ = labels_of(image, "--values", "-c", 4, "--tile", [1, 4, 9][i // 2], *options)
            shown = np.where(np.isnan(image) | (image == background), 0, image + 1)
            np.testing.assert_array_equal(labels, components_of_values(shown, 4))
    if not GPU:  # nor are integers of 64 bits rounded
        labels, _ = labels_of(np.array([[2**53, 0, 2**53 + 1, 0, 2**53 + 2]]), "--values", "--background", 2**53 + 1)
        assert labels.tolist() == [[1, 2, 0, 3, 4]]


def tiles():
    """the bytes of all outputs are those of one tile, whatever the tiles: values, tolerance, holes, columns, a volume"""
    columns = "label,value,area,bbox,centroid,first_pixel,touches_border,inertia_tensor,intensity_mean,intensity_max_position,euler_number"
    for i in range(16):
        ndim = 2 + i % 2
        kind = random.choice(["u1", "i2", "u2", "i4", "u8", "f4", "f8"])
        image = random.integers(0, 3 + 4 * (i % 3), random.integers(1, 14, ndim)).astype(kind)
        np.save("i.npy", image)
        np.save("v.npy", random.integers(0, 999, image.shape).astype(np.uint16))
        options = ["--values", "-c", random.choice(CONNECTIVITIES[ndim]), "--intensity", "v.npy", "--columns",
                   columns + (",perimeter,crack_length" if ndim == 2 else ",surface_area")]
        options += [[], ["--value-tolerance", 1], ["--background", 2], ["--fill-label-holes", 0], ["--fill-label-holes", 2, "--min-area", 2],
                    ["--keep-largest", 3, "--clear-border"]][i % 6]
        found = []
        for tile in 1, int(random.integers(2, 6)), 1000:
            result = run("i.npy", *options, "--tile", tile, "-o", "l.npy", "-t", "t.npy", "--adjacency", "a.csv")
            assert result.returncode == 0, result.stderr
            found.append([open(name, "rb").read() for name in ("l.npy", "t.npy", "a.csv")])
        assert found[0] == found[1] == found[2], (i, kind, options)
        labels, table = np.load("l.npy"), np.load("t.npy")
        first = [image.ravel()[np.flatnonzero(labels.ravel() == label)[0]] for label in table["label"]]
        if "--fill-label-holes" not in options:
            np.testing.assert_array_equal(table["value"], first)
    with open("i.raw", "wb") as file:
        file.write(np.arange(65537, dtype=np.uint32).tobytes())
    for tile in 1, 300:  # each pixel is a component
        result = run("i.raw", "--values", "--size", "1x65537", "--type", "uint32", "--tile", tile, "-t", "t.csv", "--columns", "label,value",
                     "--sort-by", "value", "--largest", 2)
        assert result.stdout == "65536 components\n", result
        tap.equal(open("t.csv").read(), "label,value\n65536,65536\n65535,65535\n")


def spiral():
    """a spiral of two values, whose parts meet in other tiles, and an object through all tiles"""
    size = 61
    image = np.zeros((size, size), np.uint16)
    y, x, dy, dx = 0, -1, 0, 1
    for length in [size] + [side for side in range(size - 1, 0, -2) for _ in (0, 1)]:
        for _ in range(length):
            y, x = y + dy, x + dx
            image[y, x] = 9
        dy, dx = dx, -dy
    image[image == 0] = 65535
    for tile in 1, 2, 7, 61, 100:
        labels, table = labels_of(image, "--values", "-c", 4, "--tile", tile)
        np.testing.assert_array_equal(labels, components_of_values(image, 4))
        tap.equal(len(table), 2)


def on_a_gpu():
    """many values on a GPU"""
    for kind in ["u1", "i2", "u4", "i8", "f4", "f8"]:
        ndim = int(random.integers(2, 4))
        image = random.integers(0, 3, random.integers(1, 20, ndim)).astype(kind)
        connectivity = int(random.choice(CONNECTIVITIES[ndim]))
        labels, table = labels_of(image, "--values", "--gpu", "-c", connectivity, "--min-area", 2, "--tile", int(random.integers(0, 6)))
        np.testing.assert_array_equal(labels, without_small(components_of_values(image, connectivity), 2, 0))
        check_table(labels, table)


def other_formats():
    """many values of a PNM file, to a raw map and chosen columns"""
    image = np.kron(random.integers(0, 4, (5, 6)), np.ones((2, 3))).astype(np.uint8)
    open("i.pgm", "wb").write(b"P5 18 10 255\n" + image.tobytes())
    result = run("i.pgm", "--values", "-o", "l.raw", "-t", "t.csv", "--columns", "label,num_pixels")
    assert result.returncode == 0, result.stderr
    expected = components_of_values(image, 8)
    np.testing.assert_array_equal(np.fromfile("l.raw", np.uint32).reshape(image.shape), expected)
    rows = np.loadtxt("t.csv", int, delimiter=",", skiprows=1, ndmin=2)
    np.testing.assert_array_equal(rows[:, 1], np.bincount(expected.ravel())[1:])


def filled(mask, connectivity, most):
    """The mask with holes of at most that many pixels filled, by scipy's labels of the background."""
    background, n = ndimage.label(~mask, structure(OF_HOLES[connectivity], mask.ndim))
    is_hole = np.ones(n + 1, bool)
    is_hole[0] = False
    for axis in range(mask.ndim):
        for side in (0, -1):
            is_hole[np.unique(np.take(background, side, axis))] = False
    if most:
        is_hole &= np.bincount(background.ravel(), minlength=n + 1) <= most
    return mask | is_hole[background]


def holes():
    """holes of frames and volumes, tile by tile, inverted or not, and then small components"""
    for i in range(30):
        ndim = int(random.integers(2, 4))
        mask = random.random(random.integers(1, 30 if ndim == 2 else 12, ndim)) < (0.55 if ndim == 2 else 0.8)
        connectivity = int(random.choice(CONNECTIVITIES[ndim]))
        most, least = int(random.choice([0, 1, 3, 10])), int(random.integers(0, 6))
        arguments = ["-c", connectivity, "--fill-holes", most, "--tile", int(random.integers(1, 8))]
        if i % 3 == 0:
            arguments += ["--roi-mask", "roi.npy"]
            np.save("roi.npy", np.ones(mask.shape, np.uint8))
        image = np.where(mask, 7, 3).astype(np.uint8)
        arguments += ["--threshold", 5]
        if i % 2:
            arguments, image = [*arguments, "--invert"], 10 - image
        labels, table = labels_of(image, *arguments, "--remove-small", least)
        expected, _ = ndimage.label(filled(mask, connectivity, most), structure(connectivity, ndim))
        np.testing.assert_array_equal(labels, without_small(expected, least, 0))
        check_table(labels, table)


def all_holes():
    """holes of any area, of 16 bits, with a column that needs rows around a tile"""
    mask = random.random((60, 50)) < 0.6
    np.save("i.npy", mask.astype(np.uint16))
    result = run("i.npy", "--fill-holes", 0, "-t", "t.npy", "--columns", "label,euler_number", "--tile", 7)
    assert result.returncode == 0, result.stderr
    whole = ndimage.binary_fill_holes(mask, structure(4, 2))
    table = np.load("t.npy")
    assert len(table) == ndimage.label(whole, np.ones((3, 3)))[1]
    assert (table["euler_number"] == 1).all()


def split():
    """touching discs are split: each has one object, with an area filter for them"""
    centres = [(y, x) for y in (10, 27, 44) for x in range(10, 90, 17)]
    y, x = np.mgrid[:55, :100]
    mask = np.zeros(y.shape, bool)
    for centre in centres:
        mask |= (y - centre[0])**2 + (x - centre[1])**2 < 10**2
    assert ndimage.label(mask)[1] == 1
    labels, table = labels_of(np.where(mask, 9, 4).astype(np.uint16), "--threshold", 6, "--split", 5, "-c", 4, *GPU)
    assert sorted(labels[centre] for centre in centres) == list(range(1, len(centres) + 1))
    np.testing.assert_array_equal(labels > 0, mask)
    check_table(labels, table)
    for centre in centres:  # inside a third of the way to the next disc, nothing else is nearer
        near = (y - centre[0])**2 + (x - centre[1])**2 < 5**2
        assert (labels[near] == labels[centre]).all()
    few, _ = labels_of(255 * mask.astype(np.uint8), "--split", 5, "-c", 4, "--min-area", int(np.median(table["area"])), *GPU)
    assert 0 < few.max() < len(centres)
    ball = sum((a - 8)**2 for a in np.mgrid[:17, :17, :17]) < 64
    labels, _ = labels_of(np.concatenate([ball[:, :, :-2], ball[:, :, 2:]], 2).astype(np.uint8), "-c", 6, "--split", 4, *GPU)
    assert labels.max() == 2 and labels[8, 8, 5] == 1 and labels[8, 8, 24] == 2


def distances():
    """squared distances of masks and of many values, beside a label map"""
    for ndim in (2, 3):
        mask = ndimage.gaussian_filter(random.random([20] * ndim), 1) > 0.45
        labels, _ = labels_of(mask.astype(np.uint8), "--distances", "d.npy", "--min-area", 5, *GPU)
        squared = np.load("d.npy")
        assert squared.dtype == np.uint32
        np.testing.assert_array_equal(np.sqrt(squared), ndimage.distance_transform_edt(mask))
        expected, _ = ndimage.label(mask, np.ones([3] * ndim))
        np.testing.assert_array_equal(labels, without_small(expected, 5, 0))
    image = np.kron(random.integers(0, 3, (4, 5)), np.ones((3, 4))).astype(np.uint16)
    labels, _ = labels_of(image, "--values", "--distances", "d.npy", *GPU)
    expected = sum(ndimage.distance_transform_edt(labels == label)**2 for label in range(1, labels.max() + 1))
    np.testing.assert_array_equal(np.load("d.npy"), np.round(expected))


def refused():
    """options that do not go together are refused"""
    np.save("i.npy", np.ones((3, 4), np.uint8))
    for arguments, message in [
            (["--values", "--threshold", 3], "as they are"), (["--values", "--invert"], "as they are"),
            (["--values", "--fill-holes", 3], "together"), (["--distances", "i.npy"], "i.npy"),
            (["--values", "--distances", "d.npy", "--tile", 2, "--gpu"], "as a whole"),
            (["--values", "--distances", "d.npy", "-t", "t.npy", "--columns", "value", "--gpu"], "'value'"),
            (["-t", "t.npy", "--columns", "value"], "--values"),
            (["--values", "--split", 3], "--split"), (["--split", 0], "--split"), (["--split", 2, "--fill-holes", 2, "--fill-label-holes", 1], "together"),
            (["--fill-holes", -1], "fill-holes"),
            (["--values", "-c", 26], "neighbours")]:
        result = run("i.npy", *arguments)
        assert result.returncode == 1 and message in result.stderr, (arguments, result.stderr)
    assert sorted(os.listdir()) == ["i.npy"]


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
with tempfile.TemporaryDirectory(dir=shared) as folder:
    os.chdir(folder)
    status = tap.run(on_a_gpu, no_numbers, distances, split) if GPU else tap.run(refused, distances, split, values, no_numbers, tiles, spiral,
                                                                               other_formats, holes, all_holes)
    os.chdir("/")
sys.exit(status)
