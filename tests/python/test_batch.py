# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches of masks against scipy: labels, tables, holes, small components, and SAM 2's function."""
import cudaccl
import cudaccl.sam2
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

STRUCTURES = {4: ndimage.generate_binary_structure(2, 1), 8: ndimage.generate_binary_structure(2, 2)}


def draw(n, height, width, seed, density):
    return (np.random.default_rng(seed).random((n, height, width)) < density).astype(np.uint8)


batches = st.builds(draw, st.integers(1, 4), st.integers(1, 20), st.integers(1, 80), st.integers(0, 2**32), st.floats(0, 1))
connectivities = st.sampled_from([4, 8])


def filled(mask, max_area, connectivity):
    """scipy's holes of at most max_area pixels, as its documentation defines them, filled."""
    closed = ndimage.binary_fill_holes(mask, STRUCTURES[12 - connectivity])
    holes, n = ndimage.label(closed & (mask == 0), STRUCTURES[12 - connectivity])
    areas = np.bincount(holes.ravel(), minlength=n + 1)
    small = (areas <= max_area) | (max_area == 0)
    small[0] = False
    return (mask != 0) | small[holes]


def without_small(mask, min_area, connectivity):
    labels, n = ndimage.label(mask, STRUCTURES[connectivity])
    areas = np.bincount(labels.ravel(), minlength=n + 1)
    return (labels > 0) & (areas >= min_area)[labels]


@given(batches, connectivities)
def test_labels_and_tables(masks, connectivity):
    labels, table, offsets = cudaccl.label_batch(masks, connectivity)
    assert offsets[0] == 0 and offsets[-1] == len(table) and len(offsets) == len(masks) + 1
    for i, mask in enumerate(masks):
        expected, n = ndimage.label(mask, STRUCTURES[connectivity])
        np.testing.assert_array_equal(labels[i], expected)
        rows = table[offsets[i]:offsets[i + 1]]
        assert rows["label"].tolist() == list(range(1, n + 1))
        assert rows["area"].tolist() == np.bincount(expected.ravel(), minlength=n + 1)[1:].tolist()
        for row, (y, x) in zip(rows, ndimage.find_objects(expected)):
            assert (row["y"], row["x"]) == (y.start, x.start)
            assert (row["height"], row["width"]) == (y.stop - y.start, x.stop - x.start)


@given(batches, connectivities, st.integers(0, 12))
def test_holes_as_scipy(masks, connectivity, max_area):
    expected = np.array([filled(mask, max_area, connectivity) for mask in masks])
    found = masks * np.uint8(200)
    assert cudaccl.fill_holes(found, max_area, connectivity) is found
    np.testing.assert_array_equal(found, expected * (200 if masks.any() else 1))
    as_bool = masks.astype(bool)
    cudaccl.fill_holes(as_bool, max_area, connectivity)
    np.testing.assert_array_equal(as_bool, expected)


@given(batches, connectivities, st.integers(0, 12))
def test_small_components_as_scipy(masks, connectivity, min_area):
    expected = np.array([without_small(mask, min_area, connectivity) for mask in masks])
    found = masks * np.uint8(200)
    assert cudaccl.remove_small(found, min_area, connectivity) is found
    np.testing.assert_array_equal(found, expected * 200)


@given(batches)
def test_components_for_sam2(masks):
    labels, counts = cudaccl.sam2.get_connected_componnets(masks[:, np.newaxis])
    assert labels.shape == counts.shape == (len(masks), 1, *masks.shape[1:])
    assert labels.dtype == counts.dtype == np.int32
    for i, mask in enumerate(masks):
        expected, n = ndimage.label(mask, STRUCTURES[8])
        areas = np.bincount(expected.ravel(), minlength=n + 1)
        areas[0] = 0
        np.testing.assert_array_equal(labels[i, 0], expected)
        np.testing.assert_array_equal(counts[i, 0], areas[expected])


def test_tensors_for_sam2():
    torch = pytest.importorskip("torch")
    masks = torch.from_numpy(draw(3, 16, 30, 1, 0.4)[:, np.newaxis])
    labels, counts = cudaccl.sam2.get_connected_componnets(masks)
    expected = cudaccl.sam2.get_connected_componnets(masks.numpy())
    assert labels.dtype == counts.dtype == torch.int32 and labels.device == masks.device
    assert (labels.numpy() == expected[0]).all() and (counts.numpy() == expected[1]).all()


def test_shapes_and_layouts():
    masks = draw(3, 20, 30, 2, 0.5)
    expected = cudaccl.label_batch(masks)
    for other in (masks[:, np.newaxis], masks.astype(np.float32), masks.astype(">i4"), masks.tolist(), np.asfortranarray(masks),
                  np.repeat(masks, 2, axis=2)[:, :, ::2]):
        labels, table, offsets = cudaccl.label_batch(other)
        np.testing.assert_array_equal(labels.reshape(masks.shape), expected[0])
        assert (table == expected[1]).all() and (offsets == expected[2]).all()
    assert cudaccl.label_batch(masks[0])[0].shape == (20, 30)
    assert cudaccl.label_batch(masks, threshold=1)[1].size == 0
    assert cudaccl.label_batch(np.zeros((0, 4, 5)))[2].tolist() == [0]
    wide = np.repeat(masks, 2, axis=2)
    cudaccl.remove_small(wide[:, :, ::2], 5)
    np.testing.assert_array_equal(wide[:, :, ::2] > 0, [without_small(mask, 5, 8) for mask in masks])
    np.testing.assert_array_equal(wide[:, :, 1::2], masks)
    cudaccl.clear_cache()


def test_wrong_arguments():
    masks = np.zeros((2, 4, 5), np.uint8)
    fixed = masks.copy()
    fixed.flags.writeable = False
    for call, error in ((lambda: cudaccl.fill_holes(masks.astype(float)), TypeError),
                        (lambda: cudaccl.fill_holes(masks.tolist()), TypeError),
                        (lambda: cudaccl.fill_holes(fixed), ValueError),
                        (lambda: cudaccl.fill_holes(masks, value=256), ValueError),
                        (lambda: cudaccl.fill_holes(masks.astype(bool), value=2), ValueError),
                        (lambda: cudaccl.fill_holes(masks, -1), ValueError),
                        (lambda: cudaccl.remove_small(masks, 2**32), ValueError),
                        (lambda: cudaccl.label_batch(masks, 6), ValueError),
                        (lambda: cudaccl.label_batch(masks[0, 0]), ValueError),
                        (lambda: cudaccl.label_batch(masks.reshape(1, 2, 4, 5)), ValueError),
                        (lambda: cudaccl.sam2.get_connected_componnets(masks[0]), ValueError),
                        (lambda: cudaccl.sam2.get_connected_componnets(masks[:, np.newaxis].astype(int)), TypeError)):
        with pytest.raises(error):
            call()
