#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GeoTIFF: pixels without data, world coordinates in GeoJSON and tables, and label maps that keep the place. tifffile writes and
reads the files, shapely measures the polygons, and expectations are calculated from the tags by numpy.

usage: test-label-geo.py CCL-LABEL
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tifffile
from scipy import ndimage
from shapely import geometry

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(390)
SCALE, TIE, MATRIX, KEYS, DOUBLES, TEXTS, NO_DATA = 33550, 33922, 34264, 34735, 34736, 34737, 42113
UTM = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
DEGREES = (1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 2, 2048, 0, 1, 4326)  # of the middle of pixels
NORTH_UP = [(SCALE, 12, 3, (10.0, 20.0, 0.0)), (TIE, 12, 6, (2.0, 1.0, 0.0, 500020.0, 4649990.0, 0.0))]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def write(path, image, tags, no_data=None, **settings):
    tags = [*tags, *([(NO_DATA, 2, 0, no_data)] if no_data is not None else [])]
    tifffile.imwrite(path, image, extratags=[(*tag, True) for tag in tags], metadata=None, **settings)


def label(*arguments):
    result = run(*arguments, "-o", "l.npy")
    assert result.returncode == 0, (arguments, result.stderr)
    return np.load("l.npy")


def expected(mask):
    return ndimage.label(mask, np.ones((3, 3)))[0]


def no_data():
    """NODATA is background, inverted or not, with filters, Otsu's threshold and values"""
    for kind, missing in ("u1", 255), ("u2", 65535), ("i2", -9999), ("f4", -9999), ("f4", "nan"), ("f8", 1e30), ("f4", 0.1):
        image = random.integers(0, 5, (40, 50)).astype(kind)
        gone = random.random(image.shape) < 0.3
        image[gone] = float(missing) if kind[0] == "f" else missing
        for settings in {}, {"compression": "zlib", "rowsperstrip": 4}:
            write("n.tif", image, NORTH_UP, str(missing), **settings)
            present = np.where(gone, 0, image)
            for arguments in [], ["--tile", 3]:
                assert (label("n.tif", "--threshold", 2, *arguments) == expected(present > 2)).all()
                assert (label("n.tif", "--threshold", 2, "--invert", *arguments) == expected((present <= 2) & ~gone)).all()
            whole = label("n.tif", "--values")
            assert ((whole > 0) == (present != 0)).all()
            assert all((whole[part > 0] > 0).all() for part in [np.isclose(present, 3)])
    image = np.full((30, 30), 10, np.uint8)
    image[5:9, 5:9], image[20:24, 3:30] = 60, 250
    write("o.tif", image, NORTH_UP, "250")
    assert (label("o.tif", "--foreground", "otsu") == expected(image == 60)).all()
    write("o.tif", image, NORTH_UP, "no number")
    assert (label("o.tif", "--threshold", 100) == expected(image > 100)).all()


def masks():
    """a picture with an overview and a mask of its own is one page"""
    image = random.integers(0, 2, (32, 48)).astype(np.uint8)
    with tifffile.TiffWriter("m.tif") as file:
        file.write(image, metadata=None, extratags=[(*tag, True) for tag in NORTH_UP])
        file.write(image[::2, ::2], subfiletype=1, metadata=None)
        file.write(image > 0, subfiletype=4, metadata=None)
    assert (label("m.tif") == expected(image)).all()


def affine_of(tags):
    """x and y of the corner of a pixel, calculated from the tags."""
    values = {tag: value for tag, _, _, value in tags}
    half = 0.5 if values.get(KEYS) == DEGREES else 0

    def world(column, row):
        column, row = column - half, row - half
        if MATRIX in values:
            m = np.reshape(values[MATRIX], (4, 4))
            return tuple((m @ [column, row, 0, 1])[:2])
        i, j, _, x, y, _ = values[TIE]
        return x + (column - i) * values[SCALE][0], y - (row - j) * values[SCALE][1]
    return world


def keys(numbers):
    return KEYS, 3, len(numbers), numbers


ROTATED = [(MATRIX, 12, 16, (3.0, 1.0, 0.0, 100.0, 0.5, 4.0, 0.0, -20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))]
PLACES = [([*NORTH_UP, keys(UTM)], 32633), ([*NORTH_UP, keys(DEGREES)], 4326), (ROTATED, None)]


def polygons():
    """GeoJSON in world coordinates: areas, boxes, orientation and the name of the system"""
    for tags, code in PLACES:
        image = (random.random((25, 31)) < 0.4).astype(np.uint8)
        write("p.tif", image, tags)
        result = run("p.tif", "--contours", "p.geojson", "-t", "t.npy")
        assert result.returncode == 0, result.stderr
        found, world = json.load(open("p.geojson")), affine_of(tags)
        assert found.get("crs", {}).get("properties", {}).get("name") == (code and f"urn:ogc:def:crs:EPSG::{code}")
        origin, right, below = (np.array(world(*corner)) for corner in ((0, 0), (1, 0), (0, 1)))
        pixel = abs(np.cross(right - origin, below - origin))
        labels = expected(image)
        for feature in found["features"]:
            shape = geometry.shape(feature["geometry"])
            np.testing.assert_allclose(shape.area, feature["properties"]["area"] * pixel, rtol=1e-9)
            mask = labels == feature["properties"]["label"]
            rows, columns = np.nonzero(mask)
            corners = np.array([world(c + dc, r + dr) for c, r in zip(columns, rows) for dc in (0, 1) for dr in (0, 1)])
            np.testing.assert_allclose(shape.bounds, [*corners.min(0), *corners.max(0)], rtol=1e-12)
            for polygon in getattr(shape, "geoms", [shape]):
                assert polygon.exterior.is_ccw and not any(hole.is_ccw for hole in polygon.interiors)


def tables():
    """the column centroid_world is the mean of the middles of pixels, and one of pictures with a place"""
    for tags, _ in PLACES:
        image = (random.random((25, 31)) < 0.3).astype(np.uint8)
        write("p.tif", image, tags)
        result = run("p.tif", "-t", "t.npy", "--columns", "label,centroid_world")
        assert result.returncode == 0, result.stderr
        labels, world = expected(image), affine_of(tags)
        for row in np.load("t.npy"):
            middles = [world(c + 0.5, r + 0.5) for r, c in np.argwhere(labels == row["label"])]
            np.testing.assert_allclose([row["centroid_world-0"], row["centroid_world-1"]], np.mean(middles, 0), rtol=1e-12)
    np.save("a.npy", image)
    result = run("a.npy", "-t", "t.npy", "--columns", "centroid_world")
    assert result.returncode == 1 and "needs a GeoTIFF" in result.stderr


def label_maps():
    """a label map as TIFF has the tags of the picture, whatever the strips, the compression and the command"""
    texts, doubles = (TEXTS, 2, 0, "WGS 84 / UTM zone 33N|"), (DOUBLES, 12, 2, (6378137.0, 298.257223563))
    for tags in [[*NORTH_UP, keys(UTM), doubles, texts], ROTATED, [keys(UTM[:4] + UTM[4:8])], NORTH_UP]:
        for shape, settings in ((7, 9), []), ((900, 300), []), ((900, 300), ["--compress", "deflate"]):
            image = (random.random(shape) < 0.4).astype(np.uint8)
            write("p.tif", image, tags)
            for more in [], ["--page", 1], ["--values"]:
                result = run("p.tif", "-o", "l.tif", *settings, *more)
                assert result.returncode == 0, result.stderr
                with tifffile.TiffFile("p.tif") as before, tifffile.TiffFile("l.tif") as after:
                    for tag, *_ in tags:
                        tap.equal(after.pages[0].tags[tag].value, before.pages[0].tags[tag].value, str(tag))
                    assert (after.pages[0].asarray() == expected(image)).all()


def lying_tags():
    """tags without a meaning make no place, and break nothing"""
    image = np.ones((3, 4), np.uint8)
    for tags in ([(SCALE, 12, 1, 5.0)], [(SCALE, 12, 3, (0.0, 0.0, 0.0)), NORTH_UP[1]], [(SCALE, 3, 3, (1, 1, 1)), NORTH_UP[1]],
                 [(SCALE, 12, 3, (np.nan, 1.0, 0.0)), NORTH_UP[1]], [(KEYS, 3, 3, (1, 1, 0))], [(KEYS, 3, 5, (1, 1, 0, 99, 3072))],
                 [(MATRIX, 12, 3, (1.0, 2.0, 3.0))]):
        write("w.tif", image, tags)
        result = run("w.tif", "-o", "l.tif", "--contours", "w.geojson")
        assert result.returncode == 0, result.stderr
        assert json.load(open("w.geojson"))["features"][0]["geometry"]["coordinates"][0][0] in ([0, 0], [0, 3], [4, 0], [4, 3])
        assert run("w.tif", "-t", "t.npy", "--columns", "centroid_world").returncode == 1


def beside_rasterio():
    """masks, transforms, systems and polygons beside those that rasterio (GDAL) reads and draws"""
    try:
        import rasterio
        from rasterio import features
    except ImportError:
        raise tap.Skip("Python module not installed: rasterio") from None
    for tags, code in PLACES:
        image = random.integers(0, 4, (25, 31)).astype(np.uint8)
        write("r.tif", image, tags, "3")
        result = run("r.tif", "-o", "l.tif", "--contours", "r.geojson", "-c", 4)
        assert result.returncode == 0, result.stderr
        with rasterio.open("r.tif") as given, rasterio.open("l.tif") as labels:
            present, map = given.read_masks(1) > 0, labels.read(1)
            assert labels.transform == given.transform and labels.crs == given.crs
            assert code is None or given.crs.to_epsg() == code
            assert (map == ndimage.label((image > 0) & present)[0]).all()
            collection = json.load(open("r.geojson"))
            shapes = [(feature["geometry"], feature["properties"]["label"]) for feature in collection["features"]]
            drawn = features.rasterize(shapes, map.shape, transform=given.transform, dtype="int32")
            assert (drawn == map).all()
            for polygon, label in features.shapes(map.astype(np.int32), map > 0, 4, given.transform):
                own = geometry.shape(next(shape for shape, number in shapes if number == label))
                assert own.symmetric_difference(geometry.shape(polygon)).area <= 1e-9 * own.area


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = tap.run(no_data, masks, polygons, tables, label_maps, lying_tags, beside_rasterio)
    os.chdir("/")
sys.exit(status)
