# SPDX-License-Identifier: LGPL-2.1-or-later
"""distance() against scipy, split_touching() against scikit-image and the rule for ties."""
import heapq
import importlib.util
import itertools

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def masks(ndim):
    """Blobs and noise."""
    def draw(shape, seed, share, smoothness):
        random = np.random.default_rng(seed)
        field = ndimage.gaussian_filter(random.random(shape), smoothness)
        return field >= np.quantile(field, 1 - share)
    return st.builds(draw, st.tuples(*[st.integers(1, 40 if ndim == 2 else 11)] * ndim), st.integers(0, 2**32),
                     st.floats(0.2, 0.95), st.sampled_from([0, 1, 2]))


def labelled(mask, seed):
    """A label map whose labels touch."""
    blocks = np.random.default_rng(seed).integers(0, 4, [-(-side // 4) for side in mask.shape])
    values = np.kron(blocks, np.ones([4] * mask.ndim, int))[tuple(slice(side) for side in mask.shape)]
    return np.where(mask, values, 0)


def expected_distance(labels):
    """scipy's distances of the mask of each label."""
    distance = np.zeros(labels.shape)
    for label in np.unique(labels[labels != 0]):
        part = labels == label
        distance[part] = np.inf if part.all() else ndimage.distance_transform_edt(part)[part]
    return distance


@pytest.mark.parametrize("ndim", [2, 3])
@given(data=st.data())
def test_distances_as_scipy(ndim, data):
    mask = data.draw(masks(ndim))
    np.testing.assert_array_equal(cudaccl.distance(mask, ndim=ndim), expected_distance(mask.astype(int)))
    labels = labelled(mask, data.draw(st.integers(0, 99)))
    np.testing.assert_array_equal(cudaccl.distance(labels, ndim=ndim), expected_distance(labels))


def test_distances_of_long_rows():
    mask = np.ones((3, 40000), bool)
    mask[1, 17] = False
    np.testing.assert_array_equal(cudaccl.distance(mask), ndimage.distance_transform_edt(mask))
    with pytest.raises(ValueError, match="32 bits"):
        cudaccl.distance(np.ones((2, 65537), bool))


def expected_peaks(labels, radius):
    """Pixels that no other pixel of their label within the radius exceeds; near ones are one object."""
    distance, peaks = expected_distance(labels), np.zeros(labels.shape, bool)
    for label in np.unique(labels[labels != 0]):
        part = np.where(labels == label, distance, 0)
        peaks |= (labels == label) & (part == ndimage.maximum_filter(part, 2 * radius + 1, mode="constant"))
    objects, n = np.zeros(labels.shape, int), 0
    points = [tuple(point) for point in np.argwhere(peaks)]
    for first in points:
        if objects[first]:
            continue
        n += 1
        objects[first], waiting = n, [first]
        while waiting:
            here = waiting.pop()
            for other in points:
                if (not objects[other] and labels[other] == labels[here]
                        and max(abs(a - b) for a, b in zip(here, other)) <= radius):
                    objects[other] = n
                    waiting.append(other)
    return objects, n


def expected_flood(labels, squared, markers, rank):
    """The watershed by a queue of Python's, with the documented rule for ties."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=labels.ndim) if 0 < np.abs(step).sum() <= rank]
    steps.sort(key=lambda step: np.abs(step).sum())
    objects, age = np.where(labels, markers, 0), itertools.count()
    queue = [(-int(squared[tuple(p)]), next(age), tuple(p)) for p in np.argwhere(objects)]
    heapq.heapify(queue)
    while queue:
        height, _, here = heapq.heappop(queue)
        for step in steps:
            other = tuple(a + b for a, b in zip(here, step))
            if all(0 <= a < side for a, side in zip(other, labels.shape)) and labels[other] == labels[here] and not objects[other]:
                objects[other] = objects[here]
                heapq.heappush(queue, (max(height, -int(squared[other])), next(age), other))
    return objects


@pytest.mark.parametrize("ndim", [2, 3])
@given(data=st.data())
def test_split_follows_the_definition(ndim, data):
    mask = data.draw(masks(ndim))
    radius = data.draw(st.integers(1, 5))
    connectivity = data.draw(st.sampled_from([4, 8] if ndim == 2 else [6, 18, 26]))
    touching = data.draw(st.booleans())
    labels = labelled(mask, 5) if touching else ndimage.label(mask, np.ones([3] * ndim))[0]
    squared = np.round(np.minimum(expected_distance(labels), 60000)**2)
    markers, n = expected_peaks(labels, radius)
    objects, count = cudaccl.split_touching(labels, radius, connectivity, ndim=ndim)
    expected = expected_flood(labels, squared, markers, RANK[connectivity])
    assert count == n and objects.dtype == np.int32
    np.testing.assert_array_equal(objects, expected)
    if not touching:
        np.testing.assert_array_equal(cudaccl.split_touching(mask, radius, connectivity, ndim=ndim)[0], expected)


def scikit_image():
    """The version, (0, 0) without it."""
    if not importlib.util.find_spec("skimage"):
        return 0, 0
    import skimage
    return tuple(map(int, skimage.__version__.split(".")[:2]))


@pytest.mark.skipif(scikit_image() < (0, 26), reason="scikit-image 0.26 or later is not installed; older ones resolve ties otherwise")
@pytest.mark.parametrize("ndim", [2, 3])
@given(data=st.data())
def test_flood_as_scikit_image(ndim, data):
    """From markers whose distances differ; the other ties have the same rule."""
    from skimage.segmentation import watershed

    mask = data.draw(masks(ndim))
    mask[(0,) * ndim] = False
    distance = ndimage.distance_transform_edt(mask)
    markers = np.zeros(mask.shape, int)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    for number, height in enumerate(np.unique(distance[mask]), 1):
        markers[tuple(random.choice(np.argwhere(distance == height)))] = number
    connectivity = data.draw(st.sampled_from([1, 2]))
    objects, n = cudaccl.split_touching(mask, connectivity=connectivity, markers=markers, ndim=ndim)
    expected = watershed(-distance, markers, connectivity=connectivity, mask=mask)
    np.testing.assert_array_equal(objects, expected)
    assert n == len(np.unique(expected[expected > 0]))


def test_two_discs_are_two_objects():
    y, x = np.mgrid[:80, :80]
    mask = ((x - 28)**2 + (y - 28)**2 < 16**2) | ((x - 44)**2 + (y - 52)**2 < 20**2)
    objects, n = cudaccl.split_touching(mask)
    assert n == 2 and objects[28, 28] == 1 and objects[52, 44] == 2
    assert ((objects > 0) == mask).all()


def test_wrong_arguments():
    mask = np.ones((4, 5), bool)
    with pytest.raises(ValueError, match="radius"):
        cudaccl.split_touching(mask, 0)
    with pytest.raises(ValueError, match="markers"):
        cudaccl.split_touching(mask, markers=np.ones((5, 4), int))
    with pytest.raises(ValueError, match="markers"):
        cudaccl.split_touching(mask, markers=-np.ones((4, 5), int))
    with pytest.raises(TypeError, match="dimensions"):
        cudaccl.distance(np.ones((2, 4, 5), bool))
    with pytest.raises(TypeError):
        cudaccl.distance(np.ones((4, 5)))
    assert cudaccl.distance(np.zeros((0, 4), bool)).shape == (0, 4)
    assert cudaccl.split_touching(np.zeros((0, 4), bool))[1] == 0
    assert np.isinf(cudaccl.distance(mask)).all()
