# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file(): distances, splits and polygons tile by tile, as of the whole picture, scipy, shapely and by hand."""
import json
import os
import signal
import subprocess
import sys

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from test_objects import STRUCTURE, structure  # noqa: E402

CASES = st.builds(lambda connectivity, seed, share, tile: (connectivity, blobs(connectivity, seed, share), tile),
                  st.sampled_from(sorted(STRUCTURE)), st.integers(0, 2**32), st.floats(0.2, 1), st.integers(0, 7))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def blobs(connectivity, seed, share):
    """Soft noise, some of it without any background."""
    random = np.random.default_rng(seed)
    ndim = STRUCTURE[connectivity][0]
    noise = ndimage.gaussian_filter(random.random(random.integers(1, 50 if ndim == 2 else 14, ndim)), random.choice([0, 1, 1.5]))
    return noise <= np.quantile(noise, share)


def split(mask, radius, connectivity):
    """The objects of the components of the whole mask."""
    components, _ = cudaccl.label(mask, connectivity, ndim=mask.ndim)
    return cudaccl.split_touching(components, radius, connectivity, ndim=mask.ndim)


def squares(mask):
    if mask.all():
        return np.full(mask.shape, 2**32 - 1)
    return np.round(ndimage.distance_transform_edt(mask)**2)


@given(CASES, st.integers(1, 6))
def test_split_and_distances(case, radius):
    connectivity, mask, tile = case
    want, n = split(mask, radius, connectivity)
    labels, distances = np.zeros(mask.shape, np.uint32), np.zeros(mask.shape, np.uint64)
    found = cudaccl.label_file(mask, labels, "t.npy", ndim=mask.ndim, connectivity=connectivity, tile=tile, split=radius,
                               distances=distances)
    assert found == n and (labels == want).all()
    assert np.load("t.npy")["area"].tolist() == np.bincount(want.ravel(), minlength=n + 1)[1:].tolist()
    assert (distances == squares(mask)).all()
    roots = cudaccl.distance(mask, ndim=mask.ndim)
    assert (np.where(distances == 2**32 - 1, np.inf, np.sqrt(distances)) == roots).all()


@given(CASES, st.integers(0, 12), st.integers(0, 3), st.booleans())
def test_filters_of_objects(case, least, k, clear_border):
    connectivity, mask, tile = case
    want, n = split(mask, 3, connectivity)
    areas = np.bincount(want.ravel(), minlength=n + 1)
    stays = (areas >= least) & (np.arange(n + 1) > 0)
    if clear_border:
        edge = np.ones(mask.shape, bool)
        edge[(slice(1, -1),) * mask.ndim] = False
        stays[want[edge]] = False
    if k:
        largest = sorted(np.flatnonzero(stays), key=lambda label: (-areas[label], label))[:k]
        stays = np.isin(np.arange(n + 1), largest)
    labels = np.zeros(mask.shape, np.uint32)
    cudaccl.label_file(mask, labels, ndim=mask.ndim, connectivity=connectivity, tile=tile, split=3, min_area=least, keep_largest=k,
                       clear_border=clear_border)
    assert (labels == np.where(stays, np.cumsum(stays), 0)[want]).all()


@given(CASES)
def test_columns_of_objects(case):
    connectivity, mask, tile = case
    names = ["label", "area", "bbox", "centroid", "euler_number", *["perimeter", "n_holes"] * (mask.ndim == 2), "intensity_mean"]
    values = np.random.default_rng(4).integers(0, 255, mask.shape).astype(np.uint8)
    labels, n = split(mask, 2, connectivity)
    cudaccl.label_file(mask, None, "t.npy", ndim=mask.ndim, connectivity=connectivity, tile=tile, split=2, properties=names,
                       intensity_image=values)
    want = cudaccl.regionprops_table(labels, values, names, connectivity=connectivity)
    table = np.load("t.npy")
    for name in table.dtype.names:
        np.testing.assert_array_equal(table[name], want[name], name)


def test_fill_holes_first():
    mask = np.ones((9, 30), np.uint8)
    mask[4, ::7] = 0
    distances = np.zeros(mask.shape, np.uint32)
    assert cudaccl.label_file(mask, distances=distances, fill_holes=0, tile=2, split=3) >= 1
    filled = ndimage.binary_fill_holes(mask)
    assert (distances == squares(filled)).all()


def test_files(tmp_path):
    mask = blobs(8, 5, 0.7)
    cudaccl.label_file(mask, "l.npy", distances="d.npy", polygons="p.geojson", tile=3)
    assert (np.load("d.npy") == squares(mask)).all() and np.load("d.npy").dtype == np.uint32
    long = np.ones((1, 2**16 + 1), bool)
    long[0, 0] = False
    cudaccl.label_file(long, distances="long.npy")
    assert np.load("long.npy").dtype == np.uint64 and np.load("long.npy")[0, -1] == 2**32
    assert sorted(os.listdir()) == ["d.npy", "l.npy", "long.npy", "p.geojson"]


def polygons_of(mask, **options):
    features = []
    cudaccl.label_file(mask, polygons=features.append, **options)
    return features


@given(CASES)
def test_polygons(case):
    geometry = pytest.importorskip("shapely.geometry")
    connectivity, mask, tile = case
    if mask.ndim == 3:
        return
    labels = np.zeros(mask.shape, np.uint32)
    features = []
    n = cudaccl.label_file(mask, labels, connectivity=connectivity, tile=tile, min_area=2, polygons=features.append)
    assert [feature["id"] for feature in features] == list(range(1, n + 1))
    for feature in features:
        shape = geometry.shape(feature["geometry"])
        assert shape.is_valid and shape.area == feature["properties"]["area"] == (labels == feature["id"]).sum()
        rows, columns = np.nonzero(labels == feature["id"])
        assert shape.contains(geometry.Point(columns[0] + 0.5, rows[0] + 0.5))


def test_polygons_of_a_geotiff():
    """As ccl-label's: tests/label/test-label-geo.py compares those with rasterio's rule."""
    tifffile = pytest.importorskip("tifffile")
    mask = blobs(8, 11, 0.5)
    # ModelPixelScale, ModelTiepoint; GeoKeyDirectory: ProjectedCSTypeGeoKey 32633
    tags = [(33550, "d", 3, (10.0, 20.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 500.0, 9000.0, 0.0), True),
            (34735, "H", 8, (1, 1, 0, 1, 3072, 0, 1, 32633), True)]
    tifffile.imwrite("geo.tif", mask.astype(np.uint8), extratags=tags)
    n = cudaccl.label_file("geo.tif", polygons="p.geojson")
    with open("p.geojson") as file:
        found = json.load(file)
    assert found["crs"]["properties"]["name"] == "urn:ogc:def:crs:EPSG::32633"
    plain = polygons_of(mask)
    assert len(found["features"]) == len(plain) == n > 1
    for here, there in zip(found["features"], plain):
        assert here["geometry"]["type"] == there["geometry"]["type"] and here["properties"] == there["properties"]
        is_many = here["geometry"]["type"] == "MultiPolygon"
        pairs = zip(*[part["coordinates"] if is_many else [part["coordinates"]] for part in (here["geometry"], there["geometry"])])
        for rings, corners in pairs:
            for ring, corner in zip(rings, corners):
                assert ring == [[500 + 10 * x, 9000 - 20 * y] for x, y in corner[::-1]]


@pytest.mark.parametrize("options, message", [
    ({"split": 256}, "255"), ({"split": 3, "values": True}, "values"), ({"split": 3, "periodic": (0,)}, "together"),
    ({"distances": "d.npy", "periodic": (0,)}, "together"), ({"distances": "d.txt"}, "npy"), ({"polygons": "p.json"}, "geojson"),
    ({"labels": "d.npy", "distances": "d.npy"}, "one file"), ({"distances": np.zeros((9, 9), np.uint16)}, "distance"),
    ({"distances": np.zeros((9, 8), np.uint32)}, "shape")])
def test_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cudaccl.label_file(np.ones((9, 9), bool), **options)
    assert not os.listdir()


def test_refused_volumes_and_types():
    with pytest.raises(ValueError, match="volumes"):
        cudaccl.label_file(np.ones((3, 4, 5), bool), ndim=3, polygons="p.geojson")
    with pytest.raises(TypeError, match="polygons"):
        cudaccl.label_file(np.ones((3, 4), bool), polygons=3)
    shared = np.zeros((9, 9), np.uint32)
    with pytest.raises(ValueError, match="same memory"):
        cudaccl.label_file(np.ones((9, 9), bool), shared, distances=shared)


def test_memory_that_does_not_hold_a_component():
    mask = np.random.default_rng(6).random((300, 300)) < 0.95
    n = cudaccl.label_file(mask, "l.npy", split=5, tile=10, memory=2**20)
    want, n_whole = split(mask, 5, 8)
    assert n == n_whole and (np.load("l.npy") == want).all()


@given(CASES, st.integers(1, 4), st.sampled_from([0, 0, 2]))
def test_holes_of_objects(case, radius, k):
    connectivity, mask, tile = case
    names = ["label", "area", "bbox", "euler_number", *["perimeter", "n_holes"] * (mask.ndim == 2)]
    objects, _ = split(mask, radius, connectivity)
    whole = cudaccl.fill_label_holes(objects, 0, connectivity, ndim=mask.ndim)
    whole = cudaccl.keep_largest(whole, k, ndim=mask.ndim) if k else whole
    labels = np.zeros(mask.shape, np.uint32)
    cudaccl.label_file(mask, labels, "t.npy", ndim=mask.ndim, connectivity=connectivity, tile=tile, split=radius, fill_label_holes=0,
                       keep_largest=k, properties=names)
    numbers = np.unique(whole[whole > 0])
    assert (labels == np.searchsorted(np.r_[0, numbers], whole)).all()
    table, want = np.load("t.npy"), cudaccl.regionprops_table(labels, None, names, connectivity=connectivity)
    for name in table.dtype.names:
        np.testing.assert_array_equal(table[name], want[name], name)


@given(CASES, st.booleans())
def test_distances_of_values(case, fills):
    connectivity, mask, tile = case
    image = mask.astype(np.uint8) + (np.indices(mask.shape)[-1] // 4 % 3).astype(np.uint8)
    components, _ = cudaccl.label_values(image, connectivity, ndim=mask.ndim)
    squared, labels = np.zeros(mask.shape, np.uint64), np.zeros(mask.shape, np.uint32)
    cudaccl.label_file(image, labels, "t.npy", ndim=mask.ndim, connectivity=connectivity, tile=tile, values=True, distances=squared,
                       fill_label_holes=0 if fills else None, properties=["label", "value"])
    roots = cudaccl.distance(components, ndim=mask.ndim)
    assert (np.where(squared == 2**32 - 1, np.inf, np.sqrt(squared)) == roots).all()
    whole = cudaccl.fill_label_holes(components, 0, connectivity, ndim=mask.ndim) if fills else components
    assert (labels == whole).all()


def test_errors_of_functions():
    def fail(feature):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        cudaccl.label_file(np.eye(5, dtype=bool), "l.npy", polygons=fail)
    assert not os.listdir()


def test_interrupted(tmp_path):
    """Ctrl-C ends a split and leaves nothing."""
    program = ("import cudaccl, numpy as np, sys\nprint(flush=True)\n"
               "cudaccl.label_file(np.random.default_rng(1).random((3000, 3000)) < 0.9, 'l.npy', distances='d.npy', split=9)\n")
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.readline()
    while not os.listdir() and child.poll() is None:
        pass
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors
    assert not os.listdir()
