# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file() of pictures with many values, and the labels that touch: what the functions for whole pictures find, whatever the
tiles, and scipy."""
import os

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from test_objects import STRUCTURE, structure  # noqa: E402

TYPES = "bool u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 >u2 >f8".split()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def picture(connectivity, seed, kind, n_values):
    random = np.random.default_rng(seed)
    ndim = STRUCTURE[connectivity][0]
    shape = random.integers(1, 18 if ndim == 2 else 8, ndim)
    least = -2 if np.dtype(kind).kind in "if" else 0
    image = random.integers(least, least + n_values, shape)
    return (image % 2 if kind == "bool" else image).astype(kind)


PICTURES = st.builds(lambda connectivity, *rest: (connectivity, picture(connectivity, *rest)), st.sampled_from(sorted(STRUCTURE)),
                     st.integers(0, 2**32), st.sampled_from(TYPES), st.integers(1, 6))


def labelled(image, **options):
    """The label map, the table and the pairs that touch."""
    labels = np.zeros(image.shape, np.uint32)
    n = cudaccl.label_file(image, labels, "table.npy", adjacency="pairs.npy", values=True, ndim=image.ndim, **options)
    table = np.load("table.npy")
    assert n == len(table)
    return labels, table, np.load("pairs.npy")


@given(PICTURES, st.integers(0, 20), st.sampled_from([0, 0, 1, -1, 2.5, None]), st.sampled_from([0, 0, 1, 1.5]))
def test_the_components_are_those_of_the_whole_picture(case, tile, background, tolerance):
    connectivity, image = case
    want, n, values = cudaccl.label_values(image, connectivity, background=background, ndim=image.ndim, return_values=True,
                                           tolerance=tolerance)
    names = ["label", "area", "bbox", "centroid", "inertia_tensor", "first_pixel", "euler_number",
             *(["perimeter", "crack_length", "n_holes"] if image.ndim == 2 else ["surface_area"])]
    labels, table, pairs = labelled(image, connectivity=connectivity, tile=tile, background=background, tolerance=tolerance,
                                    properties=[*names, "value"])
    np.testing.assert_array_equal(labels, want)
    for name, column in cudaccl.regionprops_table(want, names, connectivity=connectivity).items():
        np.testing.assert_array_equal(table[name], column, name)
    assert table["value"].dtype == image.dtype.newbyteorder("=")
    np.testing.assert_array_equal(table["value"], values)
    ends, contact = cudaccl.adjacency(want, connectivity, ndim=image.ndim)
    np.testing.assert_array_equal(pairs["label"], ends[:, 0])
    np.testing.assert_array_equal(pairs["neighbour"], ends[:, 1])
    np.testing.assert_array_equal(pairs["contact"], contact)


@given(PICTURES, st.integers(1, 9), st.sampled_from([0, 1, 4]), st.integers(0, 3), st.booleans(), st.integers(0, 3))
def test_holes_and_what_stays(case, tile, max_area, k, clear_border, min_area):
    connectivity, image = case
    filled = cudaccl.fill_label_holes(cudaccl.label_values(image, connectivity, ndim=image.ndim)[0], max_area, connectivity)
    stays = np.bincount(filled.ravel()) >= max(min_area, 1)
    if clear_border:
        inner = (slice(1, -1),) * image.ndim
        edge = np.ones(image.shape, bool)
        edge[inner] = False
        stays[np.unique(filled[edge])] = False
    stays[0] = False
    areas = np.bincount(filled.ravel())
    if k:
        stays = np.isin(np.arange(len(areas)), sorted(np.flatnonzero(stays), key=lambda label: (-areas[label], label))[:k])
    want = np.where(stays, np.cumsum(stays), 0)[filled]
    labels, table, _ = labelled(image, connectivity=connectivity, tile=tile, fill_label_holes=max_area, keep_largest=k,
                                clear_border=clear_border, min_area=min_area, properties=["area", "value"])
    np.testing.assert_array_equal(labels, want)
    np.testing.assert_array_equal(table["area"], areas[stays])
    unfilled = cudaccl.label_values(image, connectivity, ndim=image.ndim, return_values=True)
    np.testing.assert_array_equal(table["value"], unfilled[2][np.flatnonzero(stays) - 1])


@given(PICTURES, st.integers(1, 9), st.integers(0, 2**32))
def test_each_value_has_the_components_that_scipy_finds(case, tile, seed):
    connectivity, image = case
    region = np.random.default_rng(seed).random(image.shape) < 0.8
    labels, table, _ = labelled(image, connectivity=connectivity, tile=tile, roi_mask=region, background=None,
                                properties=["value"])
    assert ((labels > 0) == region).all()
    for value in np.unique(image[region]):
        mask = (image == value) & region
        want, n = ndimage.label(mask, structure(connectivity))
        pairs = set(zip(labels[mask].tolist(), want[mask].tolist()))
        assert len(pairs) == n == (table["value"] == value).sum()


@given(st.integers(1, 12), st.sampled_from([4, 8]))
def test_masks_have_no_labels_that_touch(tile, connectivity):
    mask = np.random.default_rng(tile).random((20, 30)) < 0.5
    cudaccl.label_file(mask, adjacency="pairs.npy", connectivity=connectivity, tile=tile)
    pairs = np.load("pairs.npy")
    want, contact = cudaccl.adjacency(cudaccl.label(mask, connectivity)[0], connectivity)
    np.testing.assert_array_equal(pairs["label"], want[:, 0])
    assert not pairs["contact"].any() and not contact.any()


def test_many_values_and_extreme_shapes():
    """A row and a column of 65,537 values, one pixel, objects through all tiles."""
    for shape in ((1, 65537), (65537, 1)):
        image = np.arange(65537, dtype=np.uint32).reshape(shape)
        labels, table, pairs = labelled(image, tile=1000, properties=["value"])
        assert table["value"].tolist() == list(range(1, 65537)) and (labels == image).all() and len(pairs) == 65535
    stripes = np.tile(np.arange(5, dtype=np.uint16), (50, 1))
    for tile in 1, 7, 500:
        labels, table, pairs = labelled(stripes, tile=tile)
        assert (labels == stripes).all() and table["height"].tolist() == [50] * 4 and pairs["contact"].tolist() == [50] * 3
    labels, table, pairs = labelled(np.full((1, 1), np.nan), tile=3, properties=["value"])
    assert labels.tolist() == [[0]] and not len(table) and not len(pairs)
    labels, table, _ = labelled(np.ma.masked_equal(np.array([[5, 5, 7], [7, 5, 5]], np.uint8), 7), tile=1)
    assert labels.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert cudaccl.label_file(np.zeros((4, 4), np.uint8), values=True) == 0


def test_colours_of_files_are_values():
    image_module = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(3)
    indices = random.integers(0, 4, (9, 11)).astype(np.uint8)
    palette = image_module.fromarray(indices, "P")
    palette.putpalette([10, 10, 10, 10, 10, 10, 200, 0, 0, 0, 200, 0])  # two entries have one colour
    palette.save("palette.png")
    labels = np.zeros(indices.shape, np.uint32)
    cudaccl.label_file("palette.png", labels, values=True, tile=2)
    np.testing.assert_array_equal(labels, cudaccl.label_values(indices)[0])
    colours = random.integers(0, 2, (9, 11, 3)).astype(np.uint8) * 90
    image_module.fromarray(colours).save("colours.png")
    cudaccl.label_file("colours.png", labels, values=True, tile=4)
    np.testing.assert_array_equal(labels, cudaccl.label_values(image_module.open("colours.png"))[0])


def test_pixels_without_data_are_background():
    tifffile = pytest.importorskip("tifffile")
    image = np.random.default_rng(4).integers(0, 4, (12, 9)).astype(np.int16)
    tifffile.imwrite("raster.tif", image, extratags=[(42113, "s", 0, "3", True)])
    for background, tolerance in (0, 0), (None, 0), (0, 1), (None, 1):
        labels = np.zeros(image.shape, np.uint32)
        cudaccl.label_file("raster.tif", labels, values=True, tile=2, background=background, tolerance=tolerance)
        shown = image.astype(float)
        shown[image == 3] = 0 if background == 0 else np.nan
        want = cudaccl.label_values(shown, background=background, tolerance=tolerance)[0]
        np.testing.assert_array_equal(labels, want)


def test_zarr_arrays():
    zarr = pytest.importorskip("zarr")
    image = np.random.default_rng(5).integers(0, 3, (7, 20, 30)).astype(np.uint16)
    array = zarr.open_array("image.zarr", mode="w", shape=image.shape, chunks=(3, 8, 8), dtype="u2")
    array[:] = image
    cudaccl.label_file("image.zarr", "labels.zarr", values=True, connectivity=6, tile=2)
    want = cudaccl.label_values(image, 6)[0]
    np.testing.assert_array_equal(zarr.open_array("labels.zarr", mode="r")[:], want)


@pytest.mark.parametrize("options, message", [
    (dict(values=True, threshold=1), "as they are"), (dict(values=True, invert=True), "as they are"),
    (dict(values=True, fill_holes=0), "as they are"), (dict(values=True, periodic=0), "as they are"),
    (dict(background=3), "values=True"), (dict(tolerance=3), "values=True"), (dict(values=True, tolerance=-1), "tolerance"),
    (dict(values=True, background=np.nan), "background"), (dict(properties=["value"]), "value"),
    (dict(adjacency="pairs.csv"), "npy"), (dict(adjacency="table.npy"), "own"), (dict(values=True, device="cuda", tolerance=1), "CPU"),
])
def test_what_does_not_go_together(options, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        cudaccl.label_file(np.ones((4, 4), np.uint8), "labels.npy", "table.npy", **options)
    assert not os.listdir()


@pytest.mark.parametrize("option", [dict(), dict(fill_label_holes=0), dict(keep_largest=1)])
def test_errors_in_between_leave_nothing(option):
    """An error of the picture in the middle."""

    class Picture:
        shape, dtype = (10, 10), np.dtype(np.uint8)

        def __getitem__(self, layers):
            if layers.stop > 5:
                raise RuntimeError("the disk is gone")
            return np.ones((layers.stop - layers.start, 10), np.uint8)

    with pytest.raises(RuntimeError, match="the disk is gone"):
        cudaccl.label_file(Picture(), "labels.npy", "table.npy", adjacency="pairs.npy", values=True, tile=2, **option)
    assert not os.listdir()
