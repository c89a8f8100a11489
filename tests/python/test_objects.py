# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects as a whole against scipy and numpy: holes of labels, what touches the border, the largest, which touch."""
import warnings

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

STRUCTURE = {4: (2, 1), 8: (2, 2), 6: (3, 1), 18: (3, 2), 26: (3, 3)}
HOLES = {4: 8, 8: 4, 6: 26, 18: 6, 26: 6}


def structure(connectivity):
    return ndimage.generate_binary_structure(*STRUCTURE[connectivity])


def maps(n_dimensions, dtype=np.int32, most=24):
    """Label maps whose labels touch, cross, are in parts and around each other."""
    def make(seed, shape, n, block, density):
        random = np.random.default_rng(seed)
        values = np.array([0, 9, 1, 300, 70000, 2])[random.integers(0, n, np.array(shape) // block + 1)]
        for axis in range(len(shape)):
            values = values.repeat(block, axis)
        return (values[tuple(map(slice, shape))] * (random.random(shape) < density)).astype(dtype)

    side = st.integers(1, most if n_dimensions == 2 else most // 3)
    return st.builds(make, st.integers(0, 2**32), st.tuples(*[side] * n_dimensions), st.integers(1, 6), st.integers(1, 3),
                     st.sampled_from([0.6, 0.9, 1]))


def masks(n_dimensions):
    side = st.integers(1, 12)
    return st.builds(lambda seed, shape, density: np.random.default_rng(seed).random(shape) < density,
                     st.integers(0, 2**32), st.tuples(*[side] * n_dimensions), st.floats(0, 1))


def filled_by_scipy(labels, connectivity, max_area):
    """Each label by itself, those with greater boxes first."""
    result = labels.copy()
    boxes = [(label, np.argwhere(labels == label)) for label in np.unique(labels[labels > 0])]
    boxes.sort(key=lambda one: (-np.prod(np.ptp(one[1], axis=0) + 1), one[0]))
    for label, _ in boxes:
        outside, n = ndimage.label(np.pad(labels != label, 1, constant_values=True), structure(HOLES[connectivity]))
        outside = outside[(slice(1, -1),) * labels.ndim]
        areas = np.bincount(outside.ravel(), minlength=n + 1)
        first = ndimage.label(np.pad(labels != label, 1, constant_values=True), structure(HOLES[connectivity]))[0].flat[0]
        hole = (outside > 0) & (outside != first) & (areas[outside] <= (max_area or labels.size))
        result[hole & (labels == 0)] = label
    return result


@given(maps(2), st.sampled_from([4, 8]), st.sampled_from([0, 0, 1, 5]))
def test_holes_of_labels(labels, connectivity, max_area):
    found = cudaccl.fill_label_holes(labels, max_area, connectivity)
    assert found.dtype == labels.dtype and (found == filled_by_scipy(labels, connectivity, max_area)).all()


@given(maps(3), st.sampled_from([6, 18, 26]))
def test_holes_of_labels_in_volumes(labels, connectivity):
    assert (cudaccl.fill_label_holes(labels, 0, connectivity) == filled_by_scipy(labels, connectivity, 0)).all()


def test_nested_objects_stay():
    labels = np.zeros((11, 11), np.uint16)
    labels[1:10, 1:10] = 5
    labels[2:9, 2:9] = 0
    labels[3:8, 3:8] = 900
    labels[4:7, 4:7] = 0
    labels[5, 5] = 7
    filled = cudaccl.fill_label_holes(labels)
    expected = labels.copy()
    expected[2:9, 2:9][labels[2:9, 2:9] == 0] = 5
    expected[4:7, 4:7][labels[4:7, 4:7] == 0] = 900
    assert filled.dtype == labels.dtype and (filled == expected).all()
    with pytest.raises(ValueError, match="connectivity"):
        cudaccl.fill_label_holes(labels, connectivity=5)


def kept_by_numpy(labels, stays):
    return np.where(np.isin(labels, [label for label in np.unique(labels[labels > 0]) if stays(labels == label)]), labels, 0)


def touches_border(mask):
    return any(np.take(mask, place, axis).any() for axis in range(mask.ndim) for place in (0, -1))


def largest_of(labels, k):
    values, areas = np.unique(labels[labels > 0], return_counts=True)
    return np.where(np.isin(labels, values[np.argsort(-areas, kind="stable")[:k]]), labels, 0)


@given(maps(2) | maps(3), st.integers(0, 4))
def test_labels_that_stay(labels, k):
    assert (cudaccl.clear_border(labels) == kept_by_numpy(labels, lambda mask: not touches_border(mask))).all()
    assert (cudaccl.keep_largest(labels, k) == largest_of(labels, k)).all()


@given(masks(3), st.sampled_from([4, 8]), st.integers(0, 3), st.sampled_from([bool, np.uint8]))
def test_components_that_stay_in_batches(batch, connectivity, k, dtype):
    images = (batch * 200).astype(dtype)
    inner, largest = cudaccl.clear_border(images, connectivity), cudaccl.keep_largest(images, k, connectivity)
    assert inner.dtype == largest.dtype == images.dtype
    for image, no_border, large in zip(images, inner, largest):
        labels, _ = ndimage.label(image, structure(connectivity))
        assert (no_border == image * (kept_by_numpy(labels, lambda mask: not touches_border(mask)) > 0)).all()
        assert (large == image * (largest_of(labels, k) > 0)).all()
        assert (cudaccl.keep_largest(image, k, connectivity) == large).all()


@given(masks(3), st.sampled_from([6, 18, 26]), st.integers(0, 3))
def test_components_that_stay_in_volumes(mask, connectivity, k):
    labels, _ = ndimage.label(mask, structure(connectivity))
    assert (cudaccl.keep_largest(mask, k, connectivity) == (largest_of(labels, k) > 0)).all()
    inner = kept_by_numpy(labels, lambda mask: not touches_border(mask)) > 0
    assert (cudaccl.clear_border(mask, connectivity, ndim=3) == inner).all()


@given(st.sampled_from([4, 8, 6, 18, 26]).flatmap(lambda c: st.tuples(st.just(c), maps(STRUCTURE[c][0], most=15))))
def test_adjacency(case):
    connectivity, labels = case
    steps = [np.array(step) - 1 for step in np.argwhere(structure(connectivity))]
    expected = {}
    for place in np.argwhere(labels):
        for step in steps:
            other = place + step
            if (other < 0).any() or (other >= labels.shape).any():
                continue
            pair = int(labels[tuple(place)]), int(labels[tuple(other)])
            if 0 < pair[0] < pair[1]:
                expected[pair] = expected.get(pair, 0) + int(np.abs(step).sum() == 1)
    pairs, contact = cudaccl.adjacency(labels, connectivity, ndim=labels.ndim)
    assert list(map(tuple, pairs.tolist())) == sorted(expected)
    assert contact.tolist() == [expected[pair] for pair in sorted(expected)]


def test_adjacency_by_hand():
    pairs, contact = cudaccl.adjacency(np.array([[1, 1, 2], [3, 0, 2], [3, 3, 0]]))
    assert pairs.tolist() == [[1, 2], [1, 3]] and contact.tolist() == [1, 1]
    assert len(cudaccl.adjacency(np.zeros((0, 3), int))[0]) == 0


@pytest.mark.parametrize("label", [2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_labels_of_64_bits(label):
    """None is rounded, with background and without, and of what is 64-bit with a sign none wraps."""
    full = np.full((3, 3), label, np.uint64)
    for labels in full, np.pad(full, 1):
        for found in (cudaccl.fill_label_holes(labels), cudaccl.keep_largest(labels), cudaccl.clear_border(np.pad(labels, 1))[1:-1, 1:-1]):
            assert found.dtype == np.uint64
            np.testing.assert_array_equal(found, labels)
        labels[1, 1] = label - 1
        if label < 2**63:
            assert cudaccl.adjacency(labels)[0].tolist() == [[label - 1, label]]
            assert cudaccl.regionprops_table(labels, "label")["label"].tolist() == [label - 1, label]
        else:
            for refuses in cudaccl.adjacency, cudaccl.regionprops_table:
                with pytest.raises(ValueError, match="2⁶³"):
                    refuses(labels)


def test_unaligned_labels():
    labels = np.array([[1, 1, 0], [0, 2, 2]], np.uint32)
    unaligned = np.ndarray(labels.shape, labels.dtype, bytearray(labels.nbytes + 1), 1)
    unaligned[...] = labels
    assert not unaligned.flags.aligned
    for of_map in (cudaccl.fill_label_holes, cudaccl.keep_largest, cudaccl.clear_border, cudaccl.distance,
                   lambda map: cudaccl.contours(map).points, lambda map: cudaccl.adjacency(map)[0],
                   lambda map: cudaccl.regionprops_table(map, ["area"])["area"], lambda map: [part["counts"] for part in cudaccl.rle(map)]):
        np.testing.assert_array_equal(of_map(unaligned), of_map(labels))


def test_label_maps_of_bytes():
    labels = np.pad(np.array([[3, 7]], np.uint8), 1)
    for of_masks in cudaccl.clear_border, cudaccl.keep_largest:
        with pytest.warns(UserWarning, match="taken for masks"):
            assert (of_masks(labels) == labels).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            of_masks((labels > 0) * np.uint8(255))
            for dtype in bool, np.uint8:
                assert of_masks(np.zeros((0, 2, 3), dtype)).shape == (0, 2, 3)
