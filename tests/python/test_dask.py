# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of cudaccl.dask against scipy.ndimage, of the whole picture."""
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="Python module not installed: dask")
ndimage = pytest.importorskip("scipy.ndimage", reason="Python module not installed: scipy")

from dask import core as dask_core  # noqa: E402

import cudaccl  # noqa: E402
import cudaccl.dask  # noqa: E402

REACH = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def random_chunks(random, shape):
    """Sizes of 0 and 1 among them."""
    cuts = [np.sort(random.integers(0, length + 1, random.integers(0, 7 - len(shape)))) for length in shape]
    return tuple(tuple(np.diff([0, *cut, length]).tolist()) for cut, length in zip(cuts, shape))


def picture(random, ndim):
    shape = random.integers(1, 60 if ndim == 2 else 18, ndim)
    return (random.random(shape) < random.choice([0.3, 0.5, 0.6])).astype(np.uint8)


def reference(mask, connectivity):
    return ndimage.label(mask, ndimage.generate_binary_structure(mask.ndim, REACH[connectivity]))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_labels_are_those_of_scipy_whatever_the_chunks(connectivity, seed):
    random = np.random.default_rng([connectivity, seed])
    image = picture(random, 2 if connectivity in (4, 8) else 3)
    labels, n = cudaccl.dask.label(da.from_array(image, random_chunks(random, image.shape)), connectivity)
    expected, count = reference(image, connectivity)
    found = labels.compute(scheduler="threads" if seed % 2 else "synchronous")
    assert found.dtype == labels.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    assert n.compute(scheduler="synchronous") == count


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_labels_of_values_are_those_of_the_whole_picture(connectivity, seed):
    random = np.random.default_rng([connectivity, seed, 1])
    ndim = 2 if connectivity in (4, 8) else 3
    image = random.integers(-1, 3, random.integers(1, 40 if ndim == 2 else 14, ndim)).astype(random.choice(["i1", "i2", "f4"]))
    if image.dtype == np.float32:
        image[random.random(image.shape) < 0.1] = np.nan
    background, tolerance = [0, None, 2][seed % 3], [0, 1, 1.5][seed // 3 % 3]
    labels, n = cudaccl.dask.label_values(da.from_array(image, random_chunks(random, image.shape)), connectivity,
                                          background=background, tolerance=tolerance)
    expected, count = cudaccl.label_values(image, connectivity, ndim=ndim, background=background, tolerance=tolerance)
    np.testing.assert_array_equal(labels.compute(scheduler="synchronous"), expected)
    assert n.compute(scheduler="synchronous") == count


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ndim", [2, 3])
def test_medians_whatever_the_chunks(ndim, seed):
    """Those of regionprops_table(), which numpy.quantile() checks, bit for bit."""
    random = np.random.default_rng([ndim, seed, 6])
    labels = picture(random, ndim).astype(np.int64) * [1, 10**9][seed % 2]
    values = random.normal(9, 30, labels.shape).astype(["uint8", "float32", "int16", "float64"][seed % 4])
    if values.dtype.kind == "f":
        values[random.random(labels.shape) < 0.02] = [np.nan, -0.0][seed % 2]
    names, shares = ["label", "intensity_median", "intensity_quantile", "area"], [0.05, 0.9]
    found = cudaccl.dask.regionprops_table(da.from_array(labels, random_chunks(random, labels.shape)), names,
                                           da.from_array(values, 7), quantiles=shares).compute(scheduler="synchronous")
    expected = cudaccl.regionprops_table(labels, names, values, quantiles=shares)
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert (found[name].view(np.int64) == column.view(np.int64)).all(), name


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ndim", [2, 3])
def test_holes_are_those_of_scipy(ndim, seed):
    random = np.random.default_rng([ndim, seed, 2])
    mask = picture(random, ndim) > 0
    filled = cudaccl.dask.fill_holes(da.from_array(mask, random_chunks(random, mask.shape)))
    assert filled.dtype == bool
    np.testing.assert_array_equal(filled.compute(scheduler="synchronous"), ndimage.binary_fill_holes(mask))


@pytest.mark.parametrize("seed", range(10))
def test_holes_up_to_an_area_are_those_of_one_mask(seed):
    random = np.random.default_rng([seed, 3])
    mask, connectivity = picture(random, 2), [4, 8][seed % 2]
    filled = cudaccl.dask.fill_holes(da.from_array(mask, random_chunks(random, mask.shape)), 2, connectivity, value=7)
    expected = cudaccl.fill_holes(mask.copy(), 2, connectivity, value=7)
    np.testing.assert_array_equal(filled.compute(scheduler="synchronous"), expected)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ndim", [2, 3])
def test_small_components_are_removed(ndim, seed):
    random = np.random.default_rng([ndim, seed, 4])
    mask, connectivity = picture(random, ndim) * np.uint8(9), [[4, 8], [6, 26]][ndim - 2][seed % 2]
    labels, n = reference(mask, connectivity)
    expected = np.where(np.bincount(labels.ravel())[labels] >= 5, mask, 0)
    kept = cudaccl.dask.remove_small(da.from_array(mask, random_chunks(random, mask.shape)), 5, connectivity)
    assert kept.dtype == np.uint8
    np.testing.assert_array_equal(kept.compute(scheduler="synchronous"), expected)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_holes_of_labels_are_those_of_scipy_whatever_the_chunks(connectivity, seed):
    from test_objects import filled_by_scipy

    random = np.random.default_rng([connectivity, seed, 5])
    ndim, block = (2, 3) if connectivity in (4, 8) else (3, 2)
    shape = random.integers(1, 30 if ndim == 2 else 11, ndim)
    values = np.array([0, 9, 1, 300, 70000, 2])[random.integers(0, random.integers(2, 7), shape // block + 1)]
    for axis in range(ndim):
        values = values.repeat(block, axis)
    labels = values[tuple(map(slice, shape))] * (random.random(shape) < random.choice([0.8, 1]))
    if seed % 3 == 0:  # shells around each other
        labels = (abs(np.stack(np.indices(shape), -1) - shape // 2).max(-1) % 4 + 1) * (random.random(shape) < 0.97)
    labels = labels.astype(random.choice(["i4", "u4", "i8", "u8"]))
    max_area = int(random.choice([0, 0, 1, 9]))
    found = cudaccl.dask.fill_label_holes(da.from_array(labels, random_chunks(random, labels.shape)), max_area, connectivity)
    assert found.dtype == labels.dtype
    computed = found.compute(scheduler="threads" if seed % 2 else "synchronous")
    assert computed.dtype == labels.dtype
    np.testing.assert_array_equal(computed, filled_by_scipy(labels, connectivity, max_area))


@pytest.mark.parametrize("ndim", [2, 3])
def test_holes_of_masks_have_the_label_around_them(ndim):
    random = np.random.default_rng([ndim, 6])
    mask = picture(random, ndim) > 0
    found = cudaccl.dask.fill_label_holes(da.from_array(mask, random_chunks(random, mask.shape)))
    np.testing.assert_array_equal(found.compute(), cudaccl.fill_label_holes(mask, ndim=ndim))
    empty = cudaccl.dask.fill_label_holes(da.zeros((0, 3), dtype=np.uint8, chunks=2))
    assert empty.compute().shape == (0, 3)
    with pytest.raises(ValueError, match="must not be negative"):
        cudaccl.dask.fill_label_holes(da.full((3, 3), -1, chunks=2)).compute()
    with pytest.raises(TypeError, match="label map of integers"):
        cudaccl.dask.fill_label_holes(da.ones((3, 3), chunks=2))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_borders_touch_whatever_the_chunks(connectivity, seed):
    from test_periodic import flooded

    random = np.random.default_rng([connectivity, seed, 7])
    ndim = 2 if connectivity in (4, 8) else 3
    mask = random.random(random.integers(1, 16 if ndim == 2 else 7, ndim)) < random.choice([0.2, 0.4])
    axes = [axis for axis in range(ndim) if random.random() < 0.6]
    labels, n = cudaccl.dask.label_periodic(da.from_array(mask, random_chunks(random, mask.shape)), axes, connectivity)
    expected, count = flooded(mask, axes, connectivity)
    np.testing.assert_array_equal(labels.compute(scheduler="threads" if seed % 2 else "synchronous"), expected)
    assert n.compute(scheduler="synchronous") == count
    with pytest.raises(ValueError, match="axes"):
        cudaccl.dask.label_periodic(da.from_array(mask), ndim)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_boxes_and_centroids_of_borders_that_touch(connectivity, seed):
    random = np.random.default_rng([connectivity, seed, 11])
    ndim = 2 if connectivity in (4, 8) else 3
    mask = random.random(random.integers(1, 40 if ndim == 2 else 12, ndim)) < random.choice([0.1, 0.3, 0.5])
    axes = [axis for axis in range(ndim) if random.random() < 0.7]
    whole, table = cudaccl.label_periodic(mask, axes, connectivity)
    chunks = random_chunks(random, mask.shape)
    names = ["label", "num_pixels", "bbox", "centroid", "extent"]
    given = da.from_array(mask if seed % 3 == 0 else whole, chunks)
    found = cudaccl.dask.regionprops_table(given, names, connectivity=connectivity, periodic=axes).compute(scheduler="synchronous")
    assert found["label"].tolist() == table["label"].tolist() and found["num_pixels"].tolist() == table["area"].tolist()
    for axis, (start, side) in enumerate([("z", "depth"), ("y", "height"), ("x", "width")][-ndim:]):
        np.testing.assert_array_equal(found[f"bbox-{axis}"], table[start])
        np.testing.assert_array_equal(found[f"bbox-{axis + ndim}"], table[start].astype(int) + table[side])
        np.testing.assert_array_equal(found[f"centroid-{axis}"], table[f"centroid_{start}"])  # the same bits


def test_labels_in_parts_have_the_shortest_box():
    labels = np.zeros((3, 12), np.int64)
    labels[0, [0, 1, 5, 10]] = 7  # the widest gap is from 5 to 10, of equal ones the first
    labels[2, [0, 4, 8]] = 2**40
    found = cudaccl.dask.regionprops_table(da.from_array(labels, (2, 3)), ["label", "bbox", "centroid"], periodic=[1]).compute()
    assert found["label"].tolist() == [7, 2**40]
    assert found["bbox-1"].tolist() == [10, 4] and found["bbox-3"].tolist() == [18, 13]
    assert found["bbox-0"].tolist() == [0, 2] and found["centroid-0"].tolist() == [0, 2]
    expected = np.angle(np.exp(2j * np.pi * np.array([0, 1, 5, 10]) / 12).sum()) * 12 / (2 * np.pi) % 12
    assert found["centroid-1"][0] == pytest.approx(expected) and np.isnan(found["centroid-1"][1])
    for name in "slice", "perimeter", "inertia_tensor", "intensity_mean", "touches_border":
        with pytest.raises(ValueError, match="do not go together"):
            cudaccl.dask.regionprops_table(da.from_array(labels), ["label", name], periodic=0)


@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_one_chunk_is_read_once(connectivity):
    ndim = 2 if connectivity in (4, 8) else 3
    mask = np.random.default_rng(connectivity).random((9, 14, 11)[:ndim]) < 0.4
    n_reads = []

    def read(block):
        n_reads.append(block.shape)
        return block

    array = da.from_array(mask, -1).map_blocks(read, dtype=bool, meta=np.empty((0,) * ndim, bool))
    halves = da.from_array(mask, 5)
    functions = [lambda a: cudaccl.dask.label(a, connectivity), lambda a: cudaccl.dask.label_periodic(a, (0, 1), connectivity),
                 lambda a: cudaccl.dask.label_values(a, connectivity), lambda a: (cudaccl.dask.fill_holes(a, 0, connectivity),),
                 lambda a: (cudaccl.dask.fill_label_holes(a, 0, connectivity),), lambda a: (cudaccl.dask.remove_small(a, 3, connectivity),),
                 lambda a: (cudaccl.dask.clear_border(a, connectivity),), lambda a: (cudaccl.dask.keep_largest(a, 2, connectivity),)]
    for function in functions:
        n_reads.clear()
        found = da.compute(*function(array), scheduler="synchronous")
        assert n_reads == [mask.shape]
        for one, expected in zip(found, da.compute(*function(halves), scheduler="synchronous")):
            np.testing.assert_array_equal(one, expected)
            assert np.asarray(one).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_components_that_stay_are_those_of_scipy(connectivity, seed):
    random = np.random.default_rng([connectivity, seed, 8])
    mask = picture(random, 2 if connectivity in (4, 8) else 3)
    array, (labels, n) = da.from_array(mask, random_chunks(random, mask.shape)), reference(mask, connectivity)
    inner = [i + 1 for i, box in enumerate(ndimage.find_objects(labels))
             if all(side.start > 0 and side.stop < length for side, length in zip(box, mask.shape))]
    np.testing.assert_array_equal(cudaccl.dask.clear_border(array, connectivity).compute(scheduler="synchronous"),
                                  np.isin(labels, inner))
    for k in 0, 1, 4, 1000:
        largest = 1 + np.argsort(-np.bincount(labels.ravel())[1:], kind="stable")[:k]
        found = cudaccl.dask.keep_largest(array, k, connectivity).compute(scheduler="synchronous")
        np.testing.assert_array_equal(found, np.isin(labels, largest))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ndim", [2, 3])
def test_labels_that_stay_are_those_of_numpy(ndim, seed):
    random = np.random.default_rng([ndim, seed, 13])
    labels = np.array([0, 0, 5, 2, 70000, 9, 1])[random.integers(0, 7, random.integers(1, 9, ndim))].repeat(2, 0).repeat(3, 1)
    labels = np.pad(labels, random.integers(0, 2)).astype(random.choice(["i4", "u4", "i8"]))
    given = da.from_array(labels, random_chunks(random, labels.shape))
    edge = np.ones(labels.shape, bool)
    edge[(slice(1, -1),) * ndim] = False
    found = cudaccl.dask.clear_border(given).compute(scheduler="synchronous")
    assert found.dtype == labels.dtype and (found == np.where(np.isin(labels, labels[edge]), 0, labels)).all()
    values, counts = np.unique(labels[labels > 0], return_counts=True)
    for k in 0, 1, 3:
        stays = [value for _, value in sorted(zip(-counts, values))[:k]]
        found = cudaccl.dask.keep_largest(given, k).compute(scheduler="synchronous")
        assert found.dtype == labels.dtype and (found == np.where(np.isin(labels, stays), labels, 0)).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_contacts_are_those_of_the_whole_map(connectivity, seed):
    random = np.random.default_rng([connectivity, seed, 9])
    ndim = 2 if connectivity in (4, 8) else 3
    labels = np.array([0, 9, 1, 2**40, 70000, 2])[random.integers(0, 6, random.integers(1, 25 if ndim == 2 else 9, ndim))]
    array = da.from_array(labels, random_chunks(random, labels.shape))
    pairs, contact = cudaccl.dask.adjacency(array, connectivity).compute(scheduler="threads" if seed % 2 else "synchronous")
    expected = cudaccl.adjacency(labels, connectivity, ndim=ndim)
    np.testing.assert_array_equal(pairs, expected[0])
    np.testing.assert_array_equal(contact, expected[1])
    counted = {}  # sides, by numpy
    for axis in range(ndim):
        a, b = np.moveaxis(labels, axis, 0)[:-1], np.moveaxis(labels, axis, 0)[1:]
        for pair in np.sort(np.stack([a, b], -1)[(a != b) & (a > 0) & (b > 0)], axis=-1).tolist():
            counted[tuple(pair)] = counted.get(tuple(pair), 0) + 1
    assert {tuple(pair): n for pair, n in zip(pairs.tolist(), contact.tolist()) if n} == counted
    with pytest.raises(TypeError, match="label map"):
        cudaccl.dask.adjacency(array.astype(float))


# Of these, last digits depend on the chunks.
IN_DOUBLES = ("moments_central", "moments_normalized", "moments_hu")
OF_REALS = ("intensity_mean", "intensity_std", "centroid_weighted")


@pytest.mark.parametrize("dtype", ["u1", ">i4", "f4", "?", "f2"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ndim", [2, 3])
def test_all_columns_are_those_of_the_whole_picture(ndim, seed, dtype):
    from cudaccl._regionprops import MEASURED_ON_GPU, OF_TABLES

    random = np.random.default_rng([ndim, seed, ord(dtype[-1])])
    mask, connectivity = picture(random, ndim), [[4, 8], [6, 26]][ndim - 2][seed % 2]
    mask = np.pad(mask, 1)[(slice([12, 6][ndim - 2]),) * ndim] if seed == 3 else mask
    blocks = random.integers(0, 9, [length // 3 + 1 for length in mask.shape]).repeat(3, 0).repeat(3, 1).repeat(3, -1)
    labels = [mask > 0, reference(mask, connectivity)[0] * 3, blocks[tuple(map(slice, mask.shape))].astype("u8") * 10**12, mask][seed]
    values = np.maximum(random.normal(size=(*mask.shape, *[2] * (seed % 2))) * 30, -99 if dtype != "u1" else 0).astype(dtype)
    if values.dtype.kind == "f":
        values[random.random(values.shape) < 0.1] = np.nan
    names, others = [*OF_TABLES, *MEASURED_ON_GPU[ndim]], dict(connectivity=connectivity, quantiles=[0.3], ignore_nan=seed > 1)
    chunks = 1 if seed == 3 else random_chunks(random, mask.shape)
    found = cudaccl.dask.regionprops_table(da.from_array(labels, chunks), names, da.from_array(values, random_chunks(random, values.shape)),
                                           **others).compute(scheduler="synchronous")
    expected = cudaccl.regionprops_table(labels, names, values, **others)
    assert list(found) == list(expected) and len(found["label"])
    for name, column in expected.items():
        assert found[name].dtype == column.dtype, name
        if name.startswith(IN_DOUBLES) or (name.startswith(OF_REALS) and dtype not in ("u1", "?")):
            scale = float(max(mask.shape))**sum(map(int, name.split("-")[1:])) if name.startswith("moments_central") else 1
            np.testing.assert_allclose(found[name], column, 1e-6, 1e-9 * scale, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], column, name)


def test_rows_are_sorted_and_in_units_as_those_of_the_whole_picture():
    labels = np.random.default_rng(3).integers(0, 9, (20, 30))
    names, others = ["label", "area", "perimeter", "feret_max"], dict(spacing=0.5, sort_by="perimeter", largest=4)
    found = cudaccl.dask.regionprops_table(da.from_array(labels, (7, 9)), names, **others).compute(scheduler="synchronous")
    for name, column in cudaccl.regionprops_table(labels, names, **others).items():
        np.testing.assert_array_equal(found[name], column, name)


def test_columns_are_those_of_scikit_image():
    measure = pytest.importorskip("skimage.measure", reason="Python module not installed: skimage")
    labels = reference(ndimage.zoom(np.random.default_rng(4).random((12, 15)), 4, order=1) > 0.6, 8)[0]
    names = ["label", "perimeter", "perimeter_crofton", "euler_number", "area_convex", "solidity", "feret_diameter_max", "moments_central",
             "moments_hu"]
    found = cudaccl.dask.regionprops_table(da.from_array(labels, (9, 11)), names).compute(scheduler="synchronous")
    expected = measure.regionprops_table(labels, properties=names)
    assert len(found["label"]) > 3 and list(found) == list(expected)
    for name, column in expected.items():
        np.testing.assert_allclose(found[name], column, 1e-9, 1e-6, err_msg=name)


def test_tasks_depend_on_chunks_around_by_their_sides_alone():
    """No chunk waits in memory for another one, and there are as many tasks for each chunk of a large picture as of a small one."""
    counts = []
    for side in 40, 80:
        labels = da.zeros((side, side), chunks=10, dtype=np.int32)
        table = cudaccl.dask.regionprops_table(labels, ["perimeter", "n_holes", "solidity", "moments_hu", "intensity_median"], labels)
        graph = {**table.dask, **cudaccl.dask.adjacency(labels).dask}
        for task in (task for key, task in graph.items() if key not in labels.dask and isinstance(task, tuple)):
            assert len(set(map(str, labels.dask)) & set(map(str, dask_core.get_dependencies(graph, task=task)))) <= 1
            assert len(dask_core.get_dependencies(graph, task=task)) <= 9 or "table_of" in str(task) or "count_parts" in str(task)
        counts.append(len(graph) / (side / 10)**2)
    assert counts[1] < 1.02 * counts[0] < 32


def test_orientation_is_that_of_the_whole_picture():
    y, x = np.mgrid[:60, :90]
    mask = ((x - 40) * 0.8 + (y - 30) * 0.6)**2 / 900 + ((y - 30) * 0.8 - (x - 40) * 0.6)**2 / 100 < 1
    found = cudaccl.dask.regionprops_table(da.from_array(mask, (13, 17)), "orientation").compute(scheduler="synchronous")
    expected = cudaccl.regionprops_table(mask, "orientation")
    np.testing.assert_array_equal(found["orientation"], expected["orientation"])


def test_values_that_are_no_numbers_are_those_of_the_whole_picture():
    labels = np.repeat([[1, 2, 3, 0]], 8, 0)
    values = np.arange(32.0).reshape(8, 4)
    values[6, 0], values[1, 1] = np.nan, np.inf
    names = ["intensity_mean", "intensity_min", "intensity_max", "intensity_std"]
    found = cudaccl.dask.regionprops_table(da.from_array(labels, 3), names, da.from_array(values, 4)).compute()
    for name, column in cudaccl.regionprops_table(labels, names, intensity_image=values).items():
        np.testing.assert_allclose(found[name], column, err_msg=name)


def test_columns_that_there_are_not_are_refused():
    labels = da.zeros((4, 4), dtype=np.int32)
    for wrong, message in ((dict(properties="perimetre"), "there is no property 'perimetre'"),
                           (dict(properties="perimeter", spacing=(1, 2)), "needs pixels with equal sides"),
                           (dict(properties="area", sort_by="label"), "no column 'label' to sort by"),
                           (dict(properties="intensity_mean", intensity_image=da.zeros((4, 4, 0))), "has 0 channels")):
        with pytest.raises(ValueError, match=message):
            cudaccl.dask.regionprops_table(labels, **wrong)
    with pytest.raises(ValueError, match="need an intensity_image"):
        cudaccl.dask.regionprops_table(labels, "intensity_mean")
    with pytest.raises(ValueError, match="the intensity image has the shape"):
        cudaccl.dask.regionprops_table(labels, "intensity_mean", da.zeros((4, 5)))
    with pytest.raises(ValueError, match="3 dimensions have no property"):
        cudaccl.dask.regionprops_table(da.zeros((4, 4, 4), dtype=int), "orientation")
    assert len(cudaccl.dask.regionprops_table(labels, "area").compute()["area"]) == 0
    assert len(cudaccl.dask.regionprops_table(labels[:0], "area").compute()["area"]) == 0


def test_thresholds_and_inversion_are_those_of_label():
    image = np.random.default_rng(5).normal(size=(40, 50))
    chunks = da.from_array(image, (7, 11))
    np.testing.assert_array_equal(cudaccl.dask.label(chunks, 4, 0.5)[0], cudaccl.label(image, 4, threshold=0.5)[0])
    np.testing.assert_array_equal(cudaccl.dask.label(chunks, 4, 0.5, invert=True)[0],
                                  cudaccl.label(image, 4, threshold=0.5, invert=True)[0])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 4, 4)])
def test_nothing_is_found_in_arrays_without_pixels(shape):
    labels = da.zeros(shape, dtype=np.uint8, chunks=2)
    _, n = cudaccl.dask.label_periodic(labels, 0)
    assert n.compute() == 0 and n.compute().dtype == np.int64
    pairs, contact = cudaccl.dask.adjacency(labels).compute()
    assert pairs.shape == (0, 2) and not len(contact)
    for empty in labels, da.zeros((4, 5, 6)[:len(shape)], dtype=int, chunks=3):
        for periodic in (), (0, 1):
            table = cudaccl.dask.regionprops_table(empty, ["label", "bbox", "centroid"], periodic=periodic).compute()
            assert len(table) == 1 + 3 * len(shape) and not any(map(len, table.values()))


@pytest.mark.parametrize("chunks", [2, 4])
def test_chunks_that_are_not_what_their_array_says_are_an_error(chunks):
    array = da.ones((4, 4), chunks=chunks).map_blocks(lambda block: block[:1], meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"a chunk has the shape \(1, \d\), but its array says"):
        cudaccl.dask.label(array)[0].compute(scheduler="synchronous")


def test_masked_pixels_are_background_and_no_intensities():
    labels = da.from_array(np.ma.masked_array(np.arange(100).reshape(10, 10), np.eye(10, dtype=bool)), 4)
    assert len(cudaccl.dask.regionprops_table(labels, "label").compute()["label"]) == 90
    for name in "intensity_mean", "intensity_median":
        with pytest.raises(TypeError, match="has no values where it is masked"):
            cudaccl.dask.regionprops_table(da.ones((10, 10), dtype=int, chunks=4), name, labels).compute()


def test_chunks_of_unknown_sizes_are_refused():
    array = da.from_array(np.eye(4), 2)
    array = array[array[:, 0] > 0]
    for function in cudaccl.dask.label, cudaccl.dask.adjacency, cudaccl.label_file:
        with pytest.raises(ValueError, match="the sizes of chunks are not known"):
            function(array)


def test_arrays_without_pixels_have_no_components():
    labels, n = cudaccl.dask.label(da.zeros((0, 5), dtype=np.uint8))
    assert labels.compute().shape == (0, 5) and n.compute() == 0


def test_labels_have_as_many_bits_as_components_need():
    def dtypes(*shape):
        array = da.zeros(shape, dtype=np.uint8, chunks=2**15)
        return [str(function(array)[0].dtype) for function in (cudaccl.dask.label, cudaccl.dask.label_values)]

    assert dtypes(2**15, 2**16 - 1) == ["int32", "int32"]
    assert dtypes(2**15, 2**16) == ["int32", "int64"]
    assert dtypes(2**16, 2**16) == ["int64", "int64"]


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="an array of Dask is needed, not ndarray"):
        cudaccl.dask.label(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="2 or 3 dimensions"):
        cudaccl.dask.label(da.zeros(3))
    with pytest.raises(TypeError, match="not complex128"):
        cudaccl.dask.label(da.zeros((3, 3), dtype=complex))
    with pytest.raises(ValueError, match="the connectivity of 2 dimensions is"):
        cudaccl.dask.label(da.zeros((3, 3)), 26)
    with pytest.raises(TypeError, match="threshold"):
        cudaccl.dask.label(da.zeros((3, 3)), threshold=float("nan"))
    for image, threshold, labels in (([2**53 + 2, 2**53 + 1, 0], 2**53 + 1, [1, 0, 0]), ([3, 0, 3], 10**400, [0, 0, 0]),
                                     ([3, 0, 3], np.int64(2), [1, 0, 2])):
        found, _ = cudaccl.dask.label(da.from_array(np.array([image]), (1, 2)), threshold=threshold)
        np.testing.assert_array_equal(found, [labels])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        array = da.zeros((4, 3))
        cudaccl.dask.label(array[array[:, 0] > 0])
    with pytest.raises(TypeError, match="must be of uint8 or bool, not float64"):
        cudaccl.dask.fill_holes(da.zeros((3, 3)))


def test_nothing_is_read_before_it_is_asked_for_and_then_twice():
    reads = []

    def read(block_info=None):
        reads.append(block_info[None]["chunk-location"])
        return np.ones((4, 4), np.uint8)

    array = da.map_blocks(read, chunks=((4, 4), (4, 4)), dtype=np.uint8, meta=np.empty((0, 0), np.uint8))
    labels, n = cudaccl.dask.label(array)
    assert reads == []
    assert n.compute(scheduler="synchronous") == 1 and len(reads) == 4
    labels.compute(scheduler="synchronous")
    assert len(reads) == 12
    assert sorted(reads[4:8]) == sorted(reads[8:])  # once more when all were read


def test_chunks_that_change_between_two_readings_are_an_error():
    random = np.random.default_rng(8)
    array = da.zeros((40, 40), chunks=20).map_blocks(lambda block: random.random(block.shape), dtype=float)
    with pytest.raises(RuntimeError, match="other pixels when it is read"):
        cudaccl.dask.label(array, threshold=0.5)[0].compute(scheduler="synchronous")
    labels, n = cudaccl.dask.label(array.persist(scheduler="synchronous"), threshold=0.5)
    assert labels.max().compute(scheduler="synchronous") == n.compute(scheduler="synchronous")


def test_a_worker_gets_the_numbers_of_its_chunk_alone():
    import dask

    labels, _ = cudaccl.dask.label(da.zeros((8, 8), chunks=4, dtype=np.uint8))
    graph = dict(dask.optimize(labels)[0].__dask_graph__())
    takers = [key for key in graph if isinstance(key, tuple) and "second-pass" in str(key[0])]
    assert len(takers) == 4
    for key in takers:
        assert "-table-" not in str(dask.core.get_dependencies(graph, key))


def test_the_package_does_not_need_dask():
    program = ("import sys; sys.modules['dask'] = sys.modules['dask.array'] = None\n"
               "import cudaccl\n"
               "try:\n    import cudaccl.dask\nexcept ImportError as error:\n    print(error)\n")
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "cudaccl.dask needs Dask: install python3-dask, or dask[array] with pip\n"


def read_until_killed(block, folder=None, wait_after=0, block_info=None):
    """A chunk. The reader that follows so many others in a folder waits until there is a file "killed"."""
    folder = pathlib.Path(folder)
    name = "-".join(map(str, block_info[0]["chunk-location"]))
    (folder / f"{name}-{time.monotonic_ns()}").touch()
    deadline = time.monotonic() + 20
    while len(list(folder.iterdir())) > wait_after and not (folder / "killed").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    return block


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    distributed = pytest.importorskip("distributed", reason="Python module not installed: distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL,
                                  local_directory=str(tmp_path_factory.mktemp("workers"))) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_processes_find_the_same_labels(cluster):
    """20 random chunkings of images and volumes."""
    random = np.random.default_rng(6)
    for i in range(20):
        shape, neighbours = ((20, 30, 25), (6, 18, 26)[i % 3]) if i % 4 == 3 else ((120, 200), (4, 8)[i % 2])
        image = (random.random(shape) < (0.3 if len(shape) == 3 else 0.6)).astype(np.uint8)
        chunks = random_chunks(random, shape)
        labels, n = cudaccl.dask.label(da.from_array(image, chunks), neighbours)
        found, count = cluster.gather(cluster.compute([labels, n]))
        expected, expected_count = reference(image, neighbours)
        np.testing.assert_array_equal(found, expected, err_msg=str(chunks))
        assert count == expected_count, chunks


def test_the_labels_are_right_when_a_worker_is_killed(cluster, tmp_path):
    """While chunks are read for the second time: what it has of the first time must be computed again."""
    reads = 30  # of 2 × 24
    image = (np.random.default_rng(7).random((200, 300)) < 0.6).astype(np.uint8)
    chunks = da.from_array(image, 50).map_blocks(read_until_killed, folder=str(tmp_path), wait_after=reads, dtype=np.uint8)
    labels, _ = cudaccl.dask.label(chunks, 4)
    cluster.wait_for_workers(2)
    pids = list(cluster.run(os.getpid).values())
    future = cluster.compute(labels)
    deadline = time.monotonic() + 20
    while len(list(tmp_path.iterdir())) <= reads and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not future.done()
    os.kill(pids[0], signal.SIGKILL)
    (tmp_path / "killed").touch()
    np.testing.assert_array_equal(future.result(timeout=60), reference(image, 4)[0])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.int32, np.int64, np.float64])
def test_loops_over_label_maps(dtype):
    """First pixels, and what belongs to labels, beside NumPy's."""
    random = np.random.default_rng(5)
    for shape in (7, 9), (3, 4, 5), (0, 3):
        labels = cudaccl.label((random.random(shape) < 0.4).astype(np.uint8), ndim=len(shape))[0]
        found = np.frombuffer(cudaccl._cudaccl.first_pixels(cudaccl._arrays.view_of(labels)), np.int64)
        values, places = np.unique(labels, return_index=True)
        assert found.tolist() == places[values > 0].tolist()
        items = random.integers(0, 99, labels.max(initial=0) + 1).astype(dtype)
        out = np.empty(shape, dtype)
        cudaccl._cudaccl.replace_labels(*map(cudaccl._arrays.view_of, (labels, items, out)))
        assert (out == items[labels]).all()
    with pytest.raises(ValueError, match="no item"):
        cudaccl._cudaccl.replace_labels(*map(cudaccl._arrays.view_of, (np.ones((2, 2), np.int32), items[:1], np.empty((2, 2), dtype))))
