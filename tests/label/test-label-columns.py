#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The columns of ccl-label's tables against scikit-image and numpy, and their bits whatever the tiles.

usage: test-label-columns.py CCL-LABEL
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tifffile
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402

try:
    from skimage import io, measure
except ImportError:
    print("1..0 # SKIP Python module not installed: skimage")
    sys.exit(0)

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(27)
RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
BOTH = ["label", "bbox", "area", "centroid", "extent", "equivalent_diameter_area", "inertia_tensor",
        "inertia_tensor_eigvals", "axis_major_length", "axis_minor_length", "euler_number"]
FRAMES = BOTH + ["eccentricity", "orientation", "perimeter"]
VALUES = ["intensity_min", "intensity_max", "intensity_mean", "centroid_weighted"]
OURS = ["first_pixel", "touches_border", "num_pixels", "area_bbox", "intensity_std"]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def table(image, values, names, *arguments, name="t.npy"):
    np.save("i.npy", image)
    np.save("v.npy", values)
    with_values = ["--intensity", "v.npy"] if any(n in VALUES or n == "intensity_std" for n in names) else []
    result = run("i.npy", "-t", name, "--columns", ",".join(names), *with_values, *arguments)
    assert result.returncode == 0, result.stderr
    return np.load(name) if name.endswith("npy") else open(name).read()


def random_case(ndim):
    """A mask with components of all sizes, and a second plane in which some of them are black."""
    shape = random.integers(1, 30 if ndim == 2 else 9, ndim)
    image = random.random(shape) < random.random()
    if random.random() < 0.3:
        image = ndimage.binary_closing(image)
    kind = [np.uint8, np.uint16][random.integers(2)]
    values = random.integers(0, np.iinfo(kind).max, shape, kind, endpoint=True) * (random.random() < 0.8)
    return image.astype(np.uint8), values.astype(kind)


def close(ours, theirs, what):
    # Eigenvalues that are 0 come out as roundings of other ones, and axes as their roots.
    is_root = "axis" in what or "ecc" in what
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=2e-6 if is_root else 1e-9, err_msg=what)


def check_values(found, labels, values):
    """What scikit-image does not have, by numpy."""
    ndim = labels.ndim
    for row in found:
        places = np.argwhere(labels == row["label"])
        inside = values[labels == row["label"]].astype(float)
        tap.equal([row[f"first_pixel-{i}"] for i in range(ndim)], list(places[0]), "first pixel")
        borders = [places[:, i].min() == 0 for i in range(ndim)]
        borders += [places[:, i].max() == labels.shape[i] - 1 for i in range(ndim)]
        tap.equal([bool(row[f"touches_border-{i}"]) for i in range(2 * ndim)], borders, "borders")
        tap.equal(row["num_pixels"], len(places), "pixels")
        tap.equal(row["area_bbox"], np.prod(np.ptp(places, axis=0) + 1), "area of the box")
        close(row["intensity_std"], inside.std(), "intensity_std")


def compare(ndim, connectivity, names):
    image, values = random_case(ndim)
    labels, n = ndimage.label(image, ndimage.generate_binary_structure(ndim, RANK[connectivity]))
    found = table(image, values, names + VALUES + OURS, "-c", connectivity,
                  "--tile", random.integers(1, 6))
    tap.equal(len(found), n, "rows")
    check_values(found, labels, values)
    if n == 0:
        return
    theirs = measure.regionprops_table(labels, values, properties=[
        name for name in [*names, *VALUES] if ndim == 2 or "axis" not in name])
    for name, column in theirs.items():
        if name == "orientation":
            compare_orientation(found, column)
        else:
            close(found[name], column, name)
    if ndim == 3:  # its axes are not defined where rounding makes the root of a negative number
        great, middle, small = [theirs[f"inertia_tensor_eigvals-{i}"] for i in range(3)]
        close(found["axis_major_length"], np.sqrt(10 * np.maximum(0, great + middle - small)), "axis_major_length")
        close(found["axis_minor_length"], np.sqrt(10 * np.maximum(0, middle + small - great)), "axis_minor_length")


def compare_orientation(found, theirs):
    """Both ends of an axis are the same; releases differ where both variances are the same."""
    is_defined = np.abs(found["inertia_tensor-0-0"] - found["inertia_tensor-1-1"]) > 1e-9
    for function in (np.sin, np.cos):
        close(function(2 * found["orientation"][is_defined]), function(2 * theirs[is_defined]), "orientation")


def frames():
    """frames with 8 neighbours have scikit-image's columns, in tiles of any size"""
    for _ in range(60):
        compare(2, 8, FRAMES)


def volumes():
    """volumes with 26 neighbours have scikit-image's columns, in tiles of any size"""
    for _ in range(40):
        compare(3, 26, BOTH)


def other_neighbours():
    """frames with 4, volumes with 6 and 18 neighbours have scikit-image's columns, in tiles of any size"""
    for connectivity in [4, 6, 18] * 16:
        compare(2 if connectivity == 4 else 3, connectivity, FRAMES if connectivity == 4 else BOTH)


def orientations():
    """what lies is turned by π/2, what stands by 0, as in scikit-image, in tiles and with spacing"""
    image = np.zeros((40, 40), np.uint8)
    image[3, 2:30] = image[5:30, 7] = image[35:38, 5:33] = image[8:33, 20:23] = 1
    values = np.zeros_like(image)
    for more in [], ["--tile", 6], ["--spacing", 2], ["--spacing", "0.3,0.7", "--tile", 9]:
        found = table(image, values, ["orientation", "intensity_max"], *more)
        tap.equal(found["orientation"].tolist(), [np.pi / 2, 0, 0, np.pi / 2])
        assert not np.signbit(found["orientation"]).any()
    labels = measure.label(image)
    theirs = measure.regionprops_table(labels, properties=["orientation"])["orientation"]
    tap.equal(theirs.tolist(), found["orientation"].tolist())


def cracks_holes_and_surfaces():
    """crack lengths, holes and surfaces are those that numpy counts"""
    for connectivity in [4, 8, 6, 26] * 8:
        ndim = 2 if connectivity in (4, 8) else 3
        image, values = random_case(ndim)
        labels, _ = ndimage.label(image, ndimage.generate_binary_structure(ndim, RANK[connectivity]))
        name = "crack_length" if ndim == 2 else "surface_area"
        names = ["label", name] + (["n_holes"] if ndim == 2 else [])
        for row in table(image, values, names, "-c", connectivity, "--tile", random.integers(1, 6)):
            mask = np.pad(labels == row["label"], 1)
            tap.equal(row[name], sum(int((np.diff(mask.astype(int), axis=i) != 0).sum()) for i in range(ndim)), name)
            if ndim == 2:  # background touches at corners where the foreground does not
                around = ndimage.label(~mask, ndimage.generate_binary_structure(2, 2 if connectivity == 4 else 1))[1]
                tap.equal(row["n_holes"], around - 1, "holes")


def same_bits():
    """tables have the same bytes whatever the tiles, in all formats"""
    for connectivity, names in [(8, FRAMES), (4, [*FRAMES, "crack_length", "n_holes"]), (26, BOTH),
                                (6, [*BOTH, "surface_area"]), (18, BOTH)]:
        image, values = random_case(2 if connectivity in (4, 8) else 3)
        for suffix in ["npy", "csv", "ndjson"]:
            results = []
            for tile in [1, 2, 3, 1000]:
                table(image, values, names + VALUES, "-c", connectivity, "--tile", tile, name=f"t.{suffix}")
                results.append(open(f"t.{suffix}", "rb").read())
            tap.equal(len(set(results)), 1, f"{connectivity} neighbours, different .{suffix} files:")


def colours():
    """each colour of --intensity has its columns, which are scikit-image's, in tiles of any size"""
    for i in range(24):
        image, _ = random_case(2)
        kind = [np.uint8, np.uint16][i % 2]
        colour = random.integers(0, np.iinfo(kind).max, (*image.shape, 3), kind, endpoint=True)
        np.save("i.npy", image)
        if i % 4 == 0:  # opacity is no colour
            io.imsave("v.png", np.dstack([colour, colour[..., 0]]), check_contrast=False)
        else:
            with open("v.png", "wb") as file:  # the first bytes tell the format
                file.write(b"P6 %d %d %d\n" % (*image.shape[::-1], np.iinfo(kind).max) + colour.astype(f">u{kind().itemsize}").tobytes())
        names = ["label", "area", "perimeter", *VALUES, "intensity_std", "euler_number"]
        arguments = ["i.npy", "-c", 8, "-t", "t.npy", "--columns", ",".join(names), "--intensity", "v.png"]
        result = run(*arguments, *[["--tile", random.integers(1, 6)], ["--distances", "d.npy"]][i % 3 == 0])
        assert result.returncode == 0, result.stderr
        found = np.load("t.npy")
        labels, n = ndimage.label(image, np.ones((3, 3)))
        tap.equal(len(found), n, "rows")
        if n == 0:
            continue
        theirs = measure.regionprops_table(labels, colour, properties=["label", "area", "perimeter", *VALUES[:3], "euler_number"])
        ours = {f"intensity_std-{c}" for c in range(3)} | {f"centroid_weighted-{i}-{c}" for i in range(2) for c in range(3)}
        tap.equal(set(found.dtype.names) - set(theirs), ours, "names beside scikit-image's:")
        for name, column in theirs.items():
            close(found[name], column, name)
        for channel in range(3):  # not every release has these
            values = colour[..., channel].astype(float)
            inside = [labels == label for label in range(1, n + 1)]
            close(found[f"intensity_std-{channel}"], [values[mask].std() for mask in inside], "intensity_std")
            for axis in range(2):
                with np.errstate(invalid="ignore"):
                    centroids = [(values[m] * np.nonzero(m)[axis]).sum() / values[m].sum() for m in inside]
                close(found[f"centroid_weighted-{axis}-{channel}"], centroids, "centroid_weighted")
        key = "centroid_weighted-1-2"
        run(*arguments, "--largest", 2, "--sort-by", key)
        assert np.load("t.npy").tobytes() == found[np.argsort(-found[key], kind="stable")[:2]].tobytes()


def real_intensities():
    """intensities of any type, with NaN left out on request, have numpy's measures, in NumPy files and TIFF, whatever the tiles"""
    for i, kind in enumerate([np.int8, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64] * 2):
        image, _ = random_case(2 + i % 2)
        values = random.normal(50, 20, image.shape).astype(kind)
        ignores = i >= 8
        if values.dtype.kind == "f":
            values[random.random(image.shape) < 0.2] = np.nan
        if i % 3 or values.itemsize > 4 or image.ndim == 3:
            np.save("v.npy", values)
        else:
            tifffile.imwrite("v.npy", values)  # the first bytes tell the format
        np.save("i.npy", image)
        names = ["label", *VALUES, "intensity_std"]
        result = run("i.npy", "-t", "t.npy", "--columns", ",".join(names), "--intensity", "v.npy", "-c", 8 if image.ndim == 2 else 26,
                     *[["--tile", random.integers(1, 6)], ["--distances", "d.npy"]][i % 4 == 0], *["--ignore-nan"] * ignores)
        assert result.returncode == 0, result.stderr
        labels, n = ndimage.label(image, np.ones((3,) * image.ndim))
        found = np.load("t.npy")
        tap.equal(len(found), n, "rows")
        for row in found:
            places = np.argwhere(labels == row["label"])
            inside = values[labels == row["label"]].astype(float)
            if ignores:
                places, inside = places[~np.isnan(inside)], inside[~np.isnan(inside)]
            want = [np.nan] * 4
            if len(inside):
                want = [inside.min(), inside.max(), inside.mean(), inside.std()]
            ours = [row[f"intensity_{name}"] for name in ("min", "max", "mean", "std")]
            np.testing.assert_allclose(ours, want, rtol=1e-9, atol=1e-9)
            for axis in range(image.ndim):
                with np.errstate(invalid="ignore", divide="ignore"):
                    want = (inside * places[:, axis]).sum() / inside.sum() if len(inside) else np.nan
                np.testing.assert_allclose(row[f"centroid_weighted-{axis}"], want, rtol=1e-9, atol=1e-9)


def medians():
    """medians and quantiles are numpy's of the pixels of each component: of all types, colours, volumes, values and largest components"""
    shares = [0.1, 1 / 3, 1]
    for i, kind in enumerate(["uint8", "uint16", "int16", "float32", "float64"] * 3):
        image, _ = random_case(2 + i % 2)
        colours = i % 2 == 0  # frames
        values = random.normal(50, 20, image.shape + (3,) * colours).astype(kind)
        if values.dtype.kind == "f":
            values[random.random(values.shape) < 0.1] = np.nan
        np.save("v.npy", values)
        np.save("i.npy", image)
        ignores, structure = i >= 10, np.ones((3,) * image.ndim)
        labels, n = ndimage.label(image, structure)
        how = [["--tile", 2], ["--distances", "d.npy"], ["--keep-largest", 2], ["--values"]][i % 4]
        result = run("i.npy", "-o", "l.npy", "-t", "t.npy", "--columns", "label,area,intensity_median,intensity_quantile", "--intensity", "v.npy",
                     "--quantiles", ",".join(map(repr, shares)), "-c", 8 if image.ndim == 2 else 26, *how, *["--ignore-nan"] * ignores)
        assert result.returncode == 0, result.stderr
        found, labels = np.load("t.npy"), np.load("l.npy")
        tap.equal(len(found), labels.max(), "rows")
        columns = [f"intensity_median{end}" for end in (["-0", "-1", "-2"] if colours else [""])]
        columns += [f"intensity_quantile-{share}{end}" for share in ("0.1", "0.3333333333333333", "1") for end in (["-0", "-1", "-2"] if colours else [""])]
        tap.equal(list(found.dtype.names), ["label", "area", *columns], "columns")
        for row in found:
            inside = values[labels == row["label"]].astype(float).reshape(int(row["area"]), -1)
            for channel in range(inside.shape[1]):
                of_channel = inside[:, channel]
                of_channel = of_channel[~np.isnan(of_channel)] if ignores else of_channel
                want = [np.nan] * 4 if not len(of_channel) else [np.median(of_channel), *np.quantile(of_channel, shares)]
                ours = [row[name] for name in columns[channel::inside.shape[1]]]
                np.testing.assert_allclose(ours, want, rtol=1e-14, err_msg=f"{kind} {how}")
    np.save("v.npy", np.arange(image.size, dtype=np.uint16).reshape(image.shape))
    run("i.npy", "-t", "t.csv", "--columns", "intensity_median,intensity_quantile", "--intensity", "v.npy", "--quantiles", "0.5",
        "--sort-by", "intensity_quantile-0.5", "--largest", 2)
    rows = [line.split(",") for line in open("t.csv").read().split()]
    tap.equal(rows[0], ["intensity_median", "intensity_quantile-0.5"], "names")
    middles = [np.median(np.flatnonzero(ndimage.label(image, structure)[0] == label)) for label in range(1, n + 1)]
    tap.equal([[float(number) for number in row] for row in rows[1:]], [[middle] * 2 for middle in sorted(middles)[::-1][:2]], "rows")


def whole_pictures():
    """pictures of many values, split objects and distances have scikit-image's columns of their label map"""
    for i in range(24):
        ndim = 2 + i % 2
        image, values = random_case(ndim)
        image = image * random.integers(1, 3, image.shape, np.uint8)
        names = FRAMES if ndim == 2 else BOTH
        mode = [["--values"], ["--split", 2], ["--distances", "d.npy"]][i % 3]
        holes = ["n_holes"] if ndim == 2 else []
        found = table(image, values, names + VALUES + OURS + holes, "-c", 8 if ndim == 2 else 26, *mode,
                      "--min-area", i % 5, "-o", "l.npy")
        labels = np.load("l.npy").astype(int)
        tap.equal(len(found), labels.max(initial=0), "rows")
        check_values(found, labels, values)
        for row in found if holes else []:  # an object may be in several parts
            tap.equal(row["n_holes"], ndimage.label(~np.pad(labels == row["label"], 1))[1] - 1, "holes")
        if labels.any():
            theirs = measure.regionprops_table(labels, values, properties=[
                name for name in [*names, *VALUES] if name != "orientation" and (ndim == 2 or "axis" not in name)])
            for name, column in theirs.items():
                close(found[name], column, f"{mode}: {name}")


def columns_of_the_usual_table():
    """columns that need no measures are those of the usual table"""
    image, values = random_case(2)
    found = table(image, values, ["label", "area", "centroid", "bbox", "touches_border"])
    run("i.npy", "-t", "u.npy")
    usual = np.load("u.npy")
    assert (found["area"] == usual["area"]).all() and (found["centroid-1"] == usual["cx"]).all()
    assert (found["bbox-3"] == usual["x"] + usual["width"]).all()
    assert (found["touches_border-3"] == (found["bbox-3"] == image.shape[1])).all()


def formats():
    """CSV and JSON have the numbers of the array, and null for the centroid of a black component"""
    image, values = np.eye(5, 7, dtype=np.uint8), np.zeros((5, 7), np.uint8)
    names = ["label", "bbox", "centroid_weighted", "perimeter"]
    array = table(image, values, names)
    rows = list(csv.DictReader(table(image, values, names, name="t.csv").splitlines()))
    objects = [json.loads(line) for line in table(image, values, names, name="t.ndjson").splitlines()]
    tap.equal(list(rows[0]), list(array.dtype.names), "names")
    tap.equal(list(objects[0]), list(array.dtype.names), "keys")
    tap.equal(rows[0]["centroid_weighted-0"], "nan", "CSV")
    tap.equal(objects[0]["centroid_weighted-1"], None, "JSON")
    tap.equal([float(rows[0][f"bbox-{i}"]) for i in range(4)], [0.0, 0.0, 5.0, 5.0], "box")
    tap.equal(objects[0]["perimeter"], float(array["perimeter"][0]), "perimeter")
    values = values.astype(np.float32)
    values[2, 2] = np.inf
    tap.equal(json.loads(table(image, values, ["intensity_max"], name="t.ndjson")), {"intensity_max": None}, "infinity")


def orders():
    """rows in the order of a column, and the greatest ones"""
    for i in range(12):
        image, values = random_case(2 + i % 2)
        names = ["label", "area", "bbox", "intensity_mean", "centroid_weighted"]
        neighbours = ["-c", [8, 26][i % 2]]  # a short last side could be one of colours
        whole = table(image, values, names, *neighbours)
        key = [None, "area", "bbox-1", "intensity_mean", "centroid_weighted-0"][i % 5]
        numbers = whole[key or "area"].astype(float)
        first = np.argsort(numbers, kind="stable")  # NaN comes last
        largest = int(random.integers(0, len(whole) + 3))
        arguments = ["--sort-by", key] if key else []
        if largest:
            arguments += ["--largest", largest]
            first = np.argsort(-numbers, kind="stable")[:largest]
        if not arguments:
            continue
        found = table(image, values, names, *neighbours, *arguments)
        assert found.tobytes() == whole[first].tobytes(), (key, largest)
    image = (random.random((40, 50)) < 0.4).astype(np.uint8)
    np.save("i.npy", image)
    result = run("i.npy", "-t", "t.csv", "--largest", 3)
    areas = np.bincount(ndimage.label(image, np.ones((3, 3)))[0].ravel())[1:]
    rows = open("t.csv").read().splitlines()
    assert result.stdout == f"{len(areas)} components\n" and len(rows) == 4
    assert [int(row.split(",")[1]) for row in rows[1:]] == sorted(areas)[::-1][:3]


def refused():
    """columns that do not exist or do not fit the picture are refused with a line that names them"""
    np.save("i.npy", np.ones((4, 5), np.uint8))
    np.save("n.npy", np.ones((4, 6), np.uint8))
    np.save("f.npy", np.ones((4, 5), np.float32))
    for arguments, word in [
            (["--columns", "label"], "--table"),
            (["-t", "r.csv", "--columns", "label,volume"], "'volume'"),
            (["--largest", "3"], "--table"),
            (["-t", "r.csv", "--largest", "0"], "--largest"),
            (["-t", "r.csv", "--columns", "label,bbox", "--sort-by", "bbox"], "--sort-by"),
            (["-t", "r.csv", "--columns", ""], "''"),
            (["-t", "r.csv", "--columns", "label,area,label"], "twice"),
            (["-t", "r.csv", "--columns", "surface_area"], "volumes"),
            (["-t", "r.csv", "--columns", "intensity_max"], "--intensity"),
            (["-t", "r.csv", "--columns", "area", "--intensity", "i.npy"], "--intensity"),
            (["-t", "r.csv", "--columns", "intensity_max", "--intensity", "n.npy"], "n.npy"),
            (["-t", "r.csv", "--columns", "area", "--ignore-nan"], "--ignore-nan"),
            (["-t", "r.csv", "--columns", "intensity_median"], "--intensity"),
            (["-t", "r.csv", "--columns", "intensity_quantile", "--intensity", "i.npy"], "--quantiles"),
            (["-t", "r.csv", "--columns", "intensity_median", "--intensity", "i.npy", "--quantiles", "0.5"], "--quantiles"),
            *((["-t", "r.csv", "--columns", "intensity_quantile", "--intensity", "i.npy", "--quantiles", wrong], "quantiles")
              for wrong in ("1.1", "-0.1", "nan", "0.5,", "", "x", ",".join(["0.5"] * 9))),
            (["-t", "f.npy", "--columns", "intensity_max", "--intensity", "f.npy"], "f.npy")]:
        result = run("i.npy", *arguments)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, (arguments, result.stderr)
        assert word in result.stderr, (word, result.stderr)
    assert not os.path.exists("r.csv")


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
with tempfile.TemporaryDirectory(dir=shared) as folder:
    os.chdir(folder)
    status = tap.run(frames, volumes, other_neighbours, orientations, cracks_holes_and_surfaces, same_bits,
                     columns_of_the_usual_table, colours, real_intensities, medians, whole_pictures, formats, orders, refused)
    os.chdir("/")
sys.exit(status)
