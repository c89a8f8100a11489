#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What of a picture ccl-label labels: its holes label by label, objects that touch no border, the largest ones, a page, a
channel; against scipy, scikit-image and numpy.

usage: test-label-objects.py CCL-LABEL [--gpu]

With --gpu, only what runs on one, such as a simulated one.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tifffile
from scipy import ndimage, sparse
from scipy.sparse import csgraph
from skimage import measure, segmentation

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(39)
RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
CONNECTIVITIES = {2: [4, 8], 3: [6, 18, 26]}
OF_HOLES = {4: 8, 8: 4, 6: 26, 18: 6, 26: 6}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def refused(*arguments, word):
    result = run(*arguments)
    assert result.returncode == 1 and word in result.stderr and result.stderr.count("\n") == 1, (arguments, result.stderr)


def labels_of(path, *arguments):
    result = run(path, "-o", "l.npy", "-t", "t.npy", *arguments)
    assert result.returncode == 0, (arguments, result.stderr)
    labels, table = np.load("l.npy").astype(np.int64), np.load("t.npy")
    assert result.stdout == f"{len(table)} components\n"
    tap.equal(table["label"].tolist(), list(range(1, labels.max(initial=0) + 1)))
    tap.equal(table["area"].tolist(), np.bincount(labels.ravel())[1:].tolist())
    return labels, table


def structure(connectivity, ndim):
    return ndimage.generate_binary_structure(ndim, RANK[connectivity])


def components(image, connectivity):
    return ndimage.label(image, structure(connectivity, image.ndim))[0].astype(np.int64)


def renumbered(labels, stays):
    """The labels that stay, numbered anew in their order. stays: for the labels 0, 1, …"""
    stays[0] = False
    return np.where(stays, np.cumsum(stays), 0)[labels]


def pictures():
    """Noise of both kinds, connectivities and arguments for tiles."""
    for i in range(14):
        ndim = 2 + i % 2
        shape = random.integers(1, 30 if ndim == 2 else 12, ndim)
        image = (random.random(shape) < (0.45 if ndim == 2 else 0.25)).astype(np.uint8)
        np.save("i.npy", image)
        for connectivity in CONNECTIVITIES[ndim]:
            yield image, connectivity, ["-c", connectivity, "--tile", 1 + i % 4]


def border():
    """--clear-border, tile by tile: scikit-image's clear_border()"""
    for image, connectivity, arguments in pictures():
        whole = components(image, connectivity)
        inside = segmentation.clear_border(whole)
        expected = renumbered(whole, np.isin(np.arange(whole.max() + 1), inside))
        least = int(random.integers(0, 4))
        areas = np.bincount(expected.ravel())
        expected = renumbered(expected, areas >= least)
        labels, _ = labels_of("i.npy", "--clear-border", "--min-area", least, *arguments)
        np.testing.assert_array_equal(labels, expected)


def border_of_values():
    """--clear-border of a picture that is labelled as a whole, and after holes are filled"""
    for _ in range(6):
        image = random.integers(0, 3, (17, 23)).repeat(2, 0).repeat(2, 1).astype(np.uint8)
        np.save("i.npy", image)
        whole, _ = labels_of("i.npy", "--values")
        labels, _ = labels_of("i.npy", "--values", "--clear-border")
        inside = segmentation.clear_border(whole)
        np.testing.assert_array_equal(labels, renumbered(whole, np.isin(np.arange(whole.max() + 1), inside)))
    ring = np.zeros((9, 9), np.uint8)
    ring[2:7, 2:7] = 1
    ring[4, 4] = 0
    np.save("i.npy", ring)
    _, table = labels_of("i.npy", "--clear-border", "--fill-holes", 0)
    tap.equal(table["area"].tolist(), [25])


def largest():
    """--keep-largest, tile by tile and as a whole, with columns and ties"""
    for image, connectivity, arguments in pictures():
        whole = components(image, connectivity)
        areas = np.bincount(whole.ravel())
        for k in 1, 3, 1000:
            stays = np.zeros(len(areas), bool)
            stays[1 + np.argsort(-areas[1:], kind="stable")[:k]] = True
            expected = renumbered(whole, stays)
            labels, _ = labels_of("i.npy", "--keep-largest", k, *arguments)
            np.testing.assert_array_equal(labels, expected)
            filled = with_filled_holes(whole, connectivity, 0)
            of_filled = np.bincount(filled.ravel())
            stays = np.zeros(len(of_filled), bool)
            stays[1 + np.argsort(-of_filled[1:], kind="stable")[:k]] = True
            labels, _ = labels_of("i.npy", "--keep-largest", k, *arguments, "--fill-label-holes", 0)
            np.testing.assert_array_equal(labels, renumbered(filled, stays))
            _, table = labels_of("i.npy", "--keep-largest", k, *arguments)
            tap.equal(table["x"].tolist(), [box[-1].start for box in ndimage.find_objects(expected)])
    np.save("i.npy", random.integers(0, 2, (40, 60)).astype(np.uint8))
    np.save("values.npy", random.integers(0, 255, (40, 60, 3)).astype(np.uint8))
    for more in ["--tile", 5], ["--split", 2]:
        run("i.npy", "-c", 4, "-t", "all.npy", "--columns", "label,area,n_holes,intensity_mean", "--intensity", "values.npy", *more)
        rows = np.load("all.npy")
        best = np.sort(np.argsort(-rows["area"], kind="stable")[:7])
        result = run("i.npy", "-c", 4, "-t", "some.npy", "--columns", "label,area,n_holes,intensity_mean", "--intensity",
                     "values.npy", "--keep-largest", 7, *more)
        assert result.stdout == "7 components\n", result
        found = np.load("some.npy")
        tap.equal(found["label"].tolist(), list(range(1, 8)))
        for name in rows.dtype.names[1:]:
            tap.equal(found[name].tolist(), rows[name][best].tolist(), name)


def shells(ndim):
    """Shells around each other, torn by noise."""
    shape = random.integers(3, 30 if ndim == 2 else 13, ndim)
    image = np.zeros(shape, np.uint8)
    place = np.stack(np.indices(shape), -1)
    for _ in range(random.integers(1, 5)):
        middle, radius = random.random(ndim) * shape, random.random() * max(shape) / 2 + 1
        distance = np.abs(place - middle).max(-1) if random.random() < 0.5 else np.linalg.norm(place - middle, axis=-1)
        image |= (distance % random.integers(3, 6) < 1.5) & (distance < radius)
    return image & (random.random(shape) < random.choice([0.97, 1]))


def with_filled_holes(labels, connectivity, max_area):
    """Each label by itself, those with greater boxes first."""
    found = labels.copy()
    boxes = ndimage.find_objects(labels)
    for i in sorted(range(len(boxes)), key=lambda i: (-np.prod([side.stop - side.start for side in boxes[i]]), i)):
        outside = np.pad(labels != i + 1, 1, constant_values=True)
        parts = ndimage.label(outside, structure(OF_HOLES[connectivity], labels.ndim))[0]
        areas = np.bincount(parts.ravel())
        holes = (parts > 0) & (parts != parts.flat[0]) & (areas[parts] <= (max_area or labels.size))
        found[holes[(slice(1, -1),) * labels.ndim] & (labels == 0)] = i + 1
    return found


def label_holes():
    """--fill-label-holes: scipy's components of all but each label, tile by tile; and of each value"""
    n_nested = 0
    for i in range(20):
        ndim = 2 + i % 2
        image = shells(ndim)
        np.save("i.npy", image)
        np.save("v.npy", (random.random(image.shape) * 100).astype(np.uint8))
        for connectivity in CONNECTIVITIES[ndim]:
            max_area = random.choice([0, 0, 1, 9])
            expected = with_filled_holes(components(image, connectivity), connectivity, max_area)
            n_nested += expected.max(initial=0) > 1 and bool((expected > 0).sum() > image.sum())
            labels, table = labels_of("i.npy", "-c", connectivity, "--fill-label-holes", max_area, "--tile", random.integers(1, 7))
            np.testing.assert_array_equal(labels, expected)
            tap.equal(table["x"].tolist(), [box[-1].start for box in ndimage.find_objects(expected)])
            # Filters and columns are those of what is filled, and the same as of the whole picture.
            areas = np.bincount(expected.ravel())
            stays = (areas >= 5) & (areas <= 60)
            more = ["-c", connectivity, "--fill-label-holes", max_area, "--min-area", 5, "--max-area", 60, "--intensity", "v.npy"]
            columns = ("label,area,bbox,centroid,first_pixel,touches_border,intensity_mean,intensity_max_position,inertia_tensor,"
                       "euler_number," + ("perimeter,crack_length,n_holes" if ndim == 2 else "surface_area"))
            tables = []
            for others in [], ["--tile", random.integers(1, 5), "--bits", 64]:
                result = run("i.npy", "-o", "l.npy", "-t", "t.npy", "--columns", columns, *more, *others)
                assert result.returncode == 0, result
                np.testing.assert_array_equal(np.load("l.npy"), renumbered(expected, stays))
                tables.append(np.load("t.npy"))
            for name in tables[1].dtype.names:
                np.testing.assert_array_equal(tables[0][name], tables[1][name], name)
    assert n_nested > 5, n_nested
    nested = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 0, 2, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1]], np.uint8)
    np.save("i.npy", nested)
    labels, table = labels_of("i.npy", "--values", "--fill-label-holes", 0)
    tap.equal(table["area"].tolist(), [24, 1])
    tap.equal(labels[2, 2], 2)
    _, table = labels_of("i.npy", "--values", "--fill-label-holes", 8)
    tap.equal(table["area"].tolist(), [16, 1])


def label_holes_of_large_pictures():
    """--fill-label-holes of a mask whose map is read in several pieces: scipy's components of the background inside"""
    image = ndimage.gaussian_filter(np.random.default_rng(5).random((1500, 900)), 3) > 0.5
    np.save("i.npy", image)
    outside, _ = ndimage.label(~np.pad(image, 1))
    labels, _ = labels_of("i.npy", "--fill-label-holes", 0, "--tile", 97)
    np.testing.assert_array_equal(labels > 0, (outside != 1)[1:-1, 1:-1])
    first = components(image, 8)
    np.testing.assert_array_equal(labels[image], first[image])


def pages():
    """--page: of TIFF files, of which pages differ in size, of arrays and of several files"""
    first, second, third = (random.integers(0, 2, shape).astype(np.uint8) for shape in ((9, 12), (5, 7), (9, 12)))
    with tifffile.TiffWriter("p.tif") as file:
        for page in first, second, third:
            file.write(page, contiguous=False, metadata=None)
    np.save("v.npy", np.stack([first, third, first]))
    np.save("a.npy", first), np.save("b.npy", third)
    for inputs, page, image in ((["p.tif"], 1, first), (["p.tif"], 2, second), (["p.tif"], 3, third), (["v.npy"], 2, third),
                                (["a.npy", "b.npy"], 2, third), (["a.npy"], 1, first)):
        result = run(*inputs, "--page", page, "-o", "l.npy")
        assert result.returncode == 0, result.stderr
        np.testing.assert_array_equal(np.load("l.npy"), components(image, 8))
    for name, n in ("p.tif", 3), ("v.npy", 3), ("a.npy", 1):
        refused(name, "--page", n + 1, word=f"no page {n + 1} of {n}")
    refused("p.tif", "--page", 0, word="--page cannot be '0'")
    hyper = random.integers(0, 2, (2, 3, 8, 9)).astype(np.uint8)  # times, slices: not one volume
    tifffile.imwrite("h.tif", hyper, imagej=True, metadata={"axes": "TZYX"})
    refused("h.tif", "-c", 26, word="save one volume")
    result = run("h.tif", "--page", 5, "-o", "l.npy")
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(np.load("l.npy"), components(hyper[1, 1], 8))


def channels():
    """--channel: of pictures and of arrays with colours"""
    colours = (random.integers(0, 2, (11, 13, 3)) * 255).astype(np.uint8)
    tifffile.imwrite("c.tif", colours, photometric="rgb")
    np.save("c.npy", colours)
    for name in "c.tif", "c.npy":
        for i in range(3):
            labels, _ = labels_of(name, "--channel", i + 1)
            np.testing.assert_array_equal(labels, components(colours[..., i], 8))
            labels, _ = labels_of(name, "--channel", i + 1, "--values")
            np.testing.assert_array_equal(labels > 0, colours[..., i] > 0)
    np.save("a.npy", colours[..., 0])
    refused("a.npy", "--channel", 2, word="no channel 2 of 1")
    refused("c.tif", "--channel", 4, word="--channel cannot be '4'")


def adjacency():
    """--adjacency tile by tile, of values, of objects that are split; CSV and NDJSON"""
    for ndim, shape in (2, (31, 40)), (3, (7, 12, 9)):
        image = random.integers(0, 5, shape).astype(np.uint8)
        np.save("i.npy", image)
        for arguments in ["--values"], ["--split", 1], ["--tile", 5], ["--values", "--keep-largest", 9]:
            labels, _ = labels_of("i.npy", "-c", CONNECTIVITIES[ndim][-1], "--adjacency", "a.csv", *arguments)
            counts = {}
            for axis in range(ndim):
                a, b = np.moveaxis(labels, axis, 0)[:-1], np.moveaxis(labels, axis, 0)[1:]
                for pair in zip(a[(a != b) & (a > 0) & (b > 0)].tolist(), b[(a != b) & (a > 0) & (b > 0)].tolist()):
                    counts[tuple(sorted(pair))] = counts.get(tuple(sorted(pair)), 0) + 1
            lines = open("a.csv").read().splitlines()
            tap.equal(lines, ["label,neighbour,contact", *(f"{a},{b},{n}" for (a, b), n in sorted(counts.items()))])
            assert counts or arguments != ["--values"]
            assert not counts or arguments[0] != "--tile"  # components of a mask do not touch
    result = run("i.npy", "--values", "-c", 6, "--adjacency", "a.ndjson")
    assert result.returncode == 0, result
    rows = [json.loads(line) for line in open("a.ndjson")]
    assert rows and all(list(row) == ["label", "neighbour", "contact"] for row in rows)
    refused("i.npy", "--values", "--adjacency", "a.npy", word="ends in .csv or .ndjson")
    refused("i.npy", "--values", "--adjacency", "i.npy", word="i.npy")


def on_a_torus(mask, axes, connectivity):
    """Components of a graph of pixels, numbered by their first pixels."""
    numbers = np.arange(mask.size).reshape(mask.shape)
    edges = [(0, 0)]
    for step in np.argwhere(structure(connectivity, mask.ndim)) - 1:
        there, is_there = np.roll(numbers, -step, range(mask.ndim)), mask & np.roll(mask, -step, range(mask.ndim))
        for axis, d in enumerate(step):
            if d and axis not in axes:
                np.moveaxis(is_there, axis, 0)[-1 if d > 0 else 0] = False
        edges += zip(numbers[is_there].tolist(), there[is_there].tolist())
    a, b = np.array(edges).T
    _, found = csgraph.connected_components(sparse.coo_matrix((np.ones(len(a)), (a, b)), (mask.size, mask.size)), False)
    _, places = np.unique(found[numbers[mask]], return_index=True)
    order = found[numbers[mask]][np.sort(places)]
    of_components = np.zeros(found.max(initial=0) + 1, int)
    of_components[order] = np.arange(1, len(order) + 1)
    return np.where(mask, of_components[found[numbers]], 0)


def periodic():
    """--periodic beside the components of a graph on a torus"""
    for connectivity, shape in (4, (9, 14)), (8, (9, 14)), (6, (5, 4, 7)), (18, (5, 4, 7)), (26, (5, 4, 7)):
        for letters in ["x", "y", "yx", *(["z", "xz", "xyz"] if len(shape) == 3 else [])]:
            mask = random.random(shape) < random.choice([0.2, 0.4])
            np.save("i.npy", mask.astype(np.uint8))
            axes = [len(shape) - 1 - "xyz".index(letter) for letter in letters]
            expected, tables = on_a_torus(mask, axes, connectivity), []
            for tile in 1, 3:
                labels, table = labels_of("i.npy", "-c", connectivity, "--periodic", letters, "--tile", tile)
                np.testing.assert_array_equal(labels, expected)
                tables.append(table.tobytes())
            assert len(set(tables)) == 1
            result = run("i.npy", "-c", connectivity, "--periodic", letters, "-t", "c.npy", "--columns", "label,num_pixels,bbox,centroid", "--spacing", 2)
            assert result.returncode == 0, result
            columns, names = np.load("c.npy"), [("z", "depth", "cz"), ("y", "height", "cy"), ("x", "width", "cx")][-len(shape):]
            tap.equal(columns["num_pixels"].tolist(), table["area"].tolist())
            for axis, (start, side, centroid) in enumerate(names):
                tap.equal(columns[f"bbox-{axis}"].tolist(), table[start].tolist())
                tap.equal(columns[f"bbox-{axis + len(names)}"].tolist(), (table[start] + table[side]).tolist())
                np.testing.assert_array_equal(columns[f"centroid-{axis}"], 2 * table[centroid])
            stays = np.bincount(expected.ravel()) >= 3
            labels, _ = labels_of("i.npy", "-c", connectivity, "--periodic", letters, "--min-area", 3, "--tile", 2)
            np.testing.assert_array_equal(labels, renumbered(expected, stays))
    np.save("i.npy", np.array([[1, 0, 0, 0, 1, 1]], np.uint8))
    _, table = labels_of("i.npy", "--periodic", "x")
    tap.equal(table[["area", "x", "width", "y", "height"]].tolist(), [(3, 4, 3, 0, 1)])
    assert abs(table["cx"][0] - 5) < 1e-9
    refused("i.npy", "--periodic", "xz", word="no axis z")
    refused("i.npy", "--periodic", "xx", word="--periodic cannot be 'xx'")
    refused("i.npy", "--periodic", "x", "--values", word="for masks")
    refused("i.npy", "--periodic", "x", "--clear-border", word="--periodic goes without")
    for column in "touches_border", "first_pixel", "perimeter":
        refused("i.npy", "--periodic", "x", "-t", "t.npy", "--columns", f"label,{column}", word=f"the column '{column}' do not go together")


def on_a_gpu():
    """holes of labels and periodic borders, tile by tile, with labels of a GPU; holes of values that a GPU fills"""
    for connectivity in 4, 8, 6, 18, 26:
        ndim = 2 if connectivity in CONNECTIVITIES[2] else 3
        image = shells(ndim)
        np.save("i.npy", image)
        options = ["--gpu", "-c", connectivity, "--tile", random.integers(1, 5)]
        found = components(image, connectivity)
        labels, _ = labels_of("i.npy", *options, "--fill-label-holes", 0)
        np.testing.assert_array_equal(labels, with_filled_holes(found, connectivity, 0))
        np.save("v.npy", (found % 3 + image).astype(np.uint16))
        for max_area in 0, 3:
            labels, table = labels_of("v.npy", "--values", "--gpu", "-c", connectivity, "--fill-label-holes", max_area)
            np.testing.assert_array_equal(labels, with_filled_holes(found, connectivity, max_area))
            tap.equal(table["area"].tolist(), np.bincount(labels.ravel())[1:].tolist())
        labels, _ = labels_of("i.npy", *options, "--periodic", "xy")
        np.testing.assert_array_equal(labels, on_a_torus(image > 0, [ndim - 1, ndim - 2], connectivity))
    np.save("b.npy", np.ones((4, 5), np.uint8))
    for threshold in -5, 256:  # of pictures that are labelled as a whole, too
        refused("b.npy", "--gpu", "--split", 3, "-o", "l.npy", "--threshold", threshold, word=f"must be 0…255, not {threshold}\n")


def spacing():
    """--spacing: numpy's moments of places, as scikit-image defines the properties"""
    names = "area,area_bbox,extent,equivalent_diameter_area,centroid,inertia_tensor,inertia_tensor_eigvals,axis_major_length"
    for shape, sides, more in ((30, 40), (0.5, 2), ",axis_minor_length,eccentricity"), ((30, 40), (0.3,), ",perimeter"), ((9, 12, 10), (2.5, 0.7, 0.8), ""):
        mask = random.random(shape) < 0.4
        np.save("i.npy", mask.astype(np.uint8))
        result = run("i.npy", "-o", "l.npy", "-t", "t.npy", "--columns", names + more, "--spacing", ",".join(map(str, sides)))
        assert result.returncode == 0, result
        table, labels = np.load("t.npy"), np.load("l.npy")
        sides = np.broadcast_to(sides, len(shape))
        for label, row in enumerate(table, 1):
            pixels = np.argwhere(labels == label)
            places, volume = pixels * sides, np.prod(sides)
            box = np.prod(np.ptp(pixels, 0) + 1) * volume
            covariance = (places - places.mean(0)).T @ (places - places.mean(0)) / len(places)
            tensor = np.trace(covariance) * np.eye(len(shape)) - covariance
            values = np.linalg.eigvalsh(tensor)[::-1]
            radii = np.sqrt(np.clip(np.linalg.eigvalsh(covariance)[::-1], 0, None) * (4 if len(shape) == 2 else 5))
            area = len(pixels) * volume
            expected = [area, box, area / box, (2 * len(shape) * area / np.pi)**(1 / len(shape)), *places.mean(0), *tensor.ravel(), *values, 2 * radii[0]]
            if more == ",perimeter":
                expected.append(measure.perimeter(labels == label) * sides[0])
            elif more:
                expected += [2 * radii[1], np.sqrt(1 - radii[1]**2 / radii[0]**2) if radii[0] else 0]
            np.testing.assert_allclose(list(row), expected, 1e-6, 1e-6)
    refused("i.npy", "-t", "t.npy", "--columns", "surface_area", "--spacing", "1,1,2", word="equal sides")
    refused("i.npy", "-t", "t.npy", "--columns", "area", "--spacing", "1,2", word="--spacing has 2 numbers, and the picture 3 axes")
    refused("i.npy", "-t", "t.npy", "--spacing", "2", word="--spacing is for --columns")
    refused("i.npy", "-t", "t.npy", "--columns", "area", "--spacing", "1,0,1", word="--spacing cannot be")


def values_within_a_tolerance():
    """--value-tolerance and --background of all types, beside a graph of pixels"""
    for dtype in "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split():
        image = random.integers(-3 if dtype[0] in "if" else 0, 6, (11, 13)).astype(dtype)
        np.save("i.npy", image)
        for tolerance, background in (0, 3), (1, 0), (1, 2):
            labels, _ = labels_of("i.npy", "-c", 4, "--values", "--value-tolerance", tolerance, "--background", background,
                                  "--tile", random.integers(0, 6))
            real, edges = image.astype(float), [(0, 0)]
            numbers = np.arange(image.size).reshape(image.shape)
            for axis in 0, 1:
                pairs = [(np.moveaxis(array, axis, 0)[:-1], np.moveaxis(array, axis, 0)[1:]) for array in (real, numbers)]
                (a, b), (first, second) = pairs
                joined = (abs(a - b) <= tolerance) & (a != background) & (b != background)
                edges += zip(first[joined].tolist(), second[joined].tolist())
            a, b = np.array(edges).T
            _, found = csgraph.connected_components(sparse.coo_matrix((np.ones(len(a)), (a, b)), (image.size,) * 2), False)
            assert ((labels == 0) == (real == background)).all()
            pairs = {(x, y) for x, y in zip(labels.ravel().tolist(), found.tolist()) if x}
            assert len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs}), (dtype, tolerance, background)
    refused("i.npy", "--value-tolerance", 1, word="for --values")
    refused("i.npy", "--values", "--background", "nan", word="--background cannot be 'nan'")


def combinations():
    """options that do not go together are refused in one line"""
    np.save("i.npy", np.ones((3, 4), np.uint8))
    refused("i.npy", "--periodic", "x", "--fill-holes", 0, word="do not go together")
    refused("i.npy", "--fill-label-holes", 0, "--fill-holes", 0, word="do not go together")
    refused("i.npy", "--keep-largest", 0, word="--keep-largest cannot be '0'")
    os.makedirs("z.zarr", exist_ok=True)
    open("z.zarr/.zarray", "w").close()
    refused("z.zarr", word="a Zarr array, which label_file() of the Python package reads")
    labels, table = labels_of("i.npy", "--clear-border")
    assert not labels.any() and not len(table)
    labels, table = labels_of("i.npy", "--clear-border", "--keep-largest", 2)
    assert not labels.any() and not len(table)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = tap.run(on_a_gpu) if "--gpu" in sys.argv else tap.run(
        border, border_of_values, largest, label_holes, label_holes_of_large_pictures, pages, channels, adjacency, periodic, spacing,
        values_within_a_tolerance, combinations)
    os.chdir("/")
sys.exit(status)
