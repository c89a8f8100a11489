# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_values() against scipy, value by value, and against cc3d."""
import importlib.util

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

TYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]
RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
CONNECTIVITIES = {2: [4, 8], 3: [6, 18, 26]}


def images(dtype, ndim):
    """Noise of a few values, in blocks."""
    def draw(shape, seed, n_values, block):
        random = np.random.default_rng(seed)
        values = random.integers(0, n_values, [-(-length // block) for length in shape])
        return np.kron(values, np.ones([block] * ndim, int))[tuple(slice(length) for length in shape)].astype(dtype)
    shapes = st.tuples(*[st.integers(1, 12)] * (ndim - 1), st.integers(1, 140))
    return st.builds(draw, shapes, st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 4))


def reference(image, connectivity, background):
    """scipy's labels of the mask of each value, numbered in raster order of first pixels."""
    whole, n = np.zeros(image.shape, np.int64), 0
    for value in np.unique(image):
        if background is None or value != background:
            part, count = ndimage.label(image == value, ndimage.generate_binary_structure(image.ndim, RANK[connectivity]))
            whole[part > 0] = part[part > 0] + n
            n += count
    old, first = np.unique(whole[whole > 0], return_index=True)
    new = np.zeros(n + 1, np.int64)
    new[old[np.argsort(first)]] = np.arange(1, n + 1)
    return new[whole], n


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
def test_values_as_scipy(dtype, ndim, data):
    image = data.draw(images(dtype, ndim))
    connectivity = data.draw(st.sampled_from(CONNECTIVITIES[ndim]))
    background = data.draw(st.sampled_from([0, None]))
    labels, n = cudaccl.label_values(image, connectivity, background=background, ndim=ndim)
    expected, count = reference(image, connectivity, background)
    assert n == count and labels.dtype == np.int32
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.skipif(not importlib.util.find_spec("cc3d"), reason="Python module not installed: cc3d")
@pytest.mark.parametrize("ndim", [2, 3])
@given(data=st.data())
def test_components_are_those_of_cc3d(ndim, data):
    import cc3d
    image = data.draw(images("uint16", ndim))
    connectivity = data.draw(st.sampled_from(CONNECTIVITIES[ndim]))
    labels, n = cudaccl.label_values(image, connectivity, ndim=ndim)
    theirs, count = cc3d.connected_components(image, connectivity=connectivity, return_N=True)
    assert n == count
    pairs = np.unique(np.stack([labels.ravel().astype(np.int64), theirs.ravel().astype(np.int64)]), axis=1)
    assert pairs.shape[1] == n + (image == 0).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(data=st.data())
def test_pixels_that_are_no_number_are_background(dtype, data):
    """So are masked ones, whatever the background is."""
    image = data.draw(images("float32", 2)).astype(dtype)
    image[image == 1] = np.nan
    image[image == 0] *= -1
    background, tolerance = data.draw(st.sampled_from([0, None, 2, 0.1])), data.draw(st.sampled_from([0, 0.5]))
    is_there = ~np.isnan(image) & (image != (-99 if background in (None, 0.1) else background))
    expected, n = reference(np.where(is_there, image, -99), 8, -99)
    masked = np.ma.masked_array(np.nan_to_num(image, nan=7), np.isnan(image))
    for given_image in image, masked, np.ma.masked_array(image, False):
        labels, count, values = cudaccl.label_values(given_image, 8, background=background, tolerance=tolerance, return_values=True)
        np.testing.assert_array_equal(labels, expected)
        assert count == n == len(values) and values.dtype == dtype
    found = np.zeros(image.shape, np.uint32)
    for given_image in image, masked:
        cudaccl.label_file(given_image, found, values=True, background=background, tolerance=tolerance, tile=2)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("background", [0, 2, None, 300])
def test_masked_pixels_are_background(background):
    image = np.ma.masked_array(np.array([[0, 0, 2, 2], [5, 5, 5, 2]], np.uint8), [[False, True, False, True], [False, True, False, True]])
    labels, n, values = cudaccl.label_values(image, 4, background=background, return_values=True)
    there = [value for value in (0, 2, 5, 5) if value != background]
    assert values.tolist() == there and n == len(there) and not labels[image.mask].any()


def test_backgrounds_of_numpy():
    """Numbers of NumPy, whose differences wrap."""
    for dtype in "int8", "uint8", "int64", "uint64":
        image = np.full((2, 3), np.iinfo(dtype).max, dtype)
        assert cudaccl.label_values(image, background=image[0, 0])[1] == 0
        assert cudaccl.label_values(image, background=np.int8(-5))[1] == 1
        assert cudaccl.label_values(image - image, background=image[0, 0] - image[0, 0])[1] == 0
        assert cudaccl.label_file(image, values=True, background=image[0, 0], tile=1) == 0
    image = np.array([[0, 2**53, 0, 2**53 + 1]])
    for tolerance in 0, 0.5:
        assert cudaccl.label_values(image, background=2**53 + 1, tolerance=tolerance)[1] == 3


def test_a_mask_has_the_labels_of_label():
    mask = np.random.default_rng(1).random((70, 200)) < 0.5
    labels, n = cudaccl.label_values(mask, 8)
    expected, table = cudaccl.label(mask, 8)
    np.testing.assert_array_equal(labels, expected)
    assert n == len(table)


def test_arrays_of_other_layouts():
    image = np.random.default_rng(2).integers(0, 3, (20, 90)).astype(np.uint16)
    expected, n = cudaccl.label_values(image)
    for other in (np.asfortranarray(image), image.astype(">u2"), np.repeat(image, 2, axis=1)[:, ::2], image.tolist(),
                  np.ma.masked_equal(image, 0)):
        labels, count = cudaccl.label_values(other)
        np.testing.assert_array_equal(labels, expected)
        assert count == n
    out = np.empty((20, 100), np.uint32)[:, :90]
    assert cudaccl.label_values(image, out=out)[0] is out
    np.testing.assert_array_equal(out, expected)
    assert cudaccl.label_values(np.zeros((0, 5)))[1] == 0
    cudaccl.clear_cache()
    assert cudaccl.label_values(image)[1] == n


def test_wrong_arguments():
    image = np.zeros((4, 5), np.uint8)
    with pytest.raises(ValueError, match="background"):
        cudaccl.label_values(image, background=np.nan)
    with pytest.raises(ValueError, match="connectivity"):
        cudaccl.label_values(image, 26, ndim=2)
    with pytest.raises(ValueError, match="dimensions"):
        cudaccl.label_values(np.zeros((2, 4, 5)))
    with pytest.raises(ValueError, match="label map"):
        cudaccl.label_values(image, out=np.zeros((5, 4), np.int32))
    with pytest.raises(ValueError, match="label map"):
        cudaccl.label_values(image, out=np.zeros((4, 5), np.float32))
    with pytest.raises(TypeError):
        cudaccl.label_values(image.astype(complex))


@given(st.sampled_from(["bool", "int8", "uint8", "int16", "uint16", "int64", "uint64", "float32", "float64"]),
       st.integers(0, 2**32), st.sampled_from([0, 1, 2, -1, 300, 0.5, None]), st.sampled_from([4, 8, 6, 26]))
def test_backgrounds_and_values(dtype, seed, background, connectivity):
    random = np.random.default_rng(seed)
    ndim = 2 if connectivity in (4, 8) else 3
    image = random.choice([0, 1, 2, 0.5 if dtype[0] == "f" else 1], random.integers(1, 9, ndim)).astype(dtype)
    if dtype[0] not in "bu":
        image -= random.integers(0, 2)
    structure = ndimage.generate_binary_structure(ndim, {4: 1, 8: 2, 6: 1, 26: 3}[connectivity])
    expected = np.zeros(image.shape, int)
    n = 0
    for value in np.unique(image):
        if background is None or value != background:
            found, count = ndimage.label(image == value, structure)
            expected[found > 0] = found[found > 0] + n
            n += count
    labels, count, values = cudaccl.label_values(image, connectivity, background=background, return_values=True)
    assert count == n == labels.max(initial=0) == len(values) and values.dtype == image.dtype
    pairs = set(zip(labels.ravel().tolist(), expected.ravel().tolist()))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    firsts = [np.flatnonzero(labels.ravel() == label)[0] for label in range(1, n + 1)]
    assert firsts == sorted(firsts) and (values == image.ravel()[firsts]).all()


def test_wrong_backgrounds():
    for wrong in np.nan, np.inf:
        with pytest.raises(ValueError, match="background"):
            cudaccl.label_values(np.ones((2, 2)), background=wrong)
    labels, n, values = cudaccl.label_values(np.zeros((0, 4), np.int16), return_values=True)
    assert labels.shape == (0, 4) and n == 0 and len(values) == 0


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"])
def test_tolerance(dtype):
    """Components of the graph of similar neighbours, by scipy."""
    from scipy import sparse

    random = np.random.default_rng(11)
    for shape, connectivity in ((9, 13), 4), ((9, 13), 8), ((4, 5, 6), 6), ((4, 5, 6), 18), ((4, 5, 6), 26), ((1, 7), 8):
        kind = np.dtype(dtype)
        base = 0 if kind.kind == "f" else np.iinfo(kind).max - 20  # where floats of 64 bits do not tell integers apart
        image = (random.integers(0, 12, shape).astype(kind) + kind.type(base)) if kind.kind != "f" else random.random(shape).astype(kind)
        tolerance = 2.5 if kind.kind != "f" else 0.2
        background = None if random.random() < 0.5 else image.flat[0].item()
        labels, n, values = cudaccl.label_values(image, connectivity, background=background, tolerance=tolerance, return_values=True,
                                                 ndim=len(shape))
        exact = image.astype(object) if kind.kind != "f" else image.astype(np.float32 if kind == np.float16 else kind)
        is_there = np.ones(shape, bool) if background is None else image != background
        edges = []
        reach = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}[connectivity]
        for place in np.ndindex(*shape):
            for step in np.ndindex(*(3,) * len(shape)):
                other = tuple(np.add(place, step) - 1)
                if (0 < np.abs(np.subtract(step, 1)).sum() <= reach and all(0 <= i < length for i, length in zip(other, shape))
                        and is_there[place] and is_there[other] and abs(exact[place] - exact[other]) <= tolerance):
                    edges.append([np.ravel_multi_index(place, shape), np.ravel_multi_index(other, shape)])
        a, b = np.reshape(np.array(edges, int), (-1, 2)).T
        graph = sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(image.size,) * 2)
        owners = sparse.csgraph.connected_components(graph, directed=False)[1].reshape(shape)
        expected, count = np.zeros(shape, int), 0
        for place in np.ndindex(*shape):  # in raster order of first pixels
            if is_there[place] and not expected[place]:
                count += 1
                expected[(owners == owners[place]) & is_there] = count
        assert n == count and (labels == expected).all()
        assert (values == [image[labels == k][0] for k in range(1, n + 1)]).all()


def test_tolerance_of_other_arrays():
    image = np.array([[1.0, 1.4, np.nan], [9, 1.9, np.inf], [9.2, np.inf, np.nan]])
    labels, n = cudaccl.label_values(image, 4, background=None, tolerance=0.5)
    assert labels.tolist() == [[1, 1, 0], [2, 1, 3], [2, 4, 0]] and n == 4
    assert cudaccl.label_values(np.array([[np.inf, np.inf, -np.inf]]), background=None, tolerance=1)[0].tolist() == [[1, 1, 2]]
    assert cudaccl.label_values(image.T[::-1], 4, background=None, tolerance=0.5)[1] == 4
    assert cudaccl.label_values(np.zeros((0, 3)), tolerance=1)[1] == 0
    out = np.full((2, 2), 7, np.int32)
    assert cudaccl.label_values(np.array([[3, 4], [0, 9]]), tolerance=1, out=out)[0] is out and out.tolist() == [[1, 1], [0, 2]]
    for wrong in -1, np.nan:
        with pytest.raises(ValueError, match="tolerance"):
            cudaccl.label_values(image, tolerance=wrong)
