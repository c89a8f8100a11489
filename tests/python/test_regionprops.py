# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of regionprops_table() that scikit-image does not have, and the order of its rows, by numpy."""
import cudaccl
import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

masks = st.builds(lambda height, width, seed, density: np.random.default_rng(seed).random((height, width)) < density,
                  st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32), st.floats(0, 1))


@given(masks, st.sampled_from([1, 3, 2**40]))
def test_first_pixels_and_borders(mask, factor):
    labels = cudaccl.label(mask)[0].astype(np.int64) * factor
    columns = cudaccl.regionprops_table(labels, ["label", "first_pixel", "touches_border"])
    for i, label in enumerate(columns["label"]):
        ys, xs = np.nonzero(labels == label)
        assert (columns["first_pixel-0"][i], columns["first_pixel-1"][i]) == (ys[0], xs[0])
        borders = [ys.min() == 0, xs.min() == 0, ys.max() == mask.shape[0] - 1, xs.max() == mask.shape[1] - 1]
        assert [columns[f"touches_border-{k}"][i] for k in range(4)] == borders
    assert len(columns["label"]) == len(np.unique(labels[labels > 0])) == len(columns["first_pixel-1"])


@given(st.one_of(masks, st.builds(lambda mask, depth: mask[np.newaxis].repeat(depth, 0), masks, st.integers(1, 3))),
       st.sampled_from([("uint8", 256), ("uint16", 65536), ("uint8", 3), ("uint16", 2), ("int32", 70000), ("float32", 4)]),
       st.integers(0, 2**32))
def test_positions_of_maxima_as_scipy(mask, kind, seed):
    """Of few values many are equal: the first pixel in raster order counts."""
    ndimage = pytest.importorskip("scipy.ndimage")
    values = np.random.default_rng(seed).integers(0, kind[1], mask.shape).astype(kind[0])
    labels = cudaccl.label(mask, ndim=mask.ndim)[0]
    columns = cudaccl.regionprops_table(labels, ["label", "intensity_max", "intensity_max_position"], intensity_image=values)
    found = np.stack([columns[f"intensity_max_position-{axis}"] for axis in range(mask.ndim)], 1)
    assert found.dtype == np.int64
    for label, position in zip(columns["label"], found.tolist()):
        # scipy promises no order of equal values: it looks at those that are no less than the maximum.
        greatest = np.where(labels == label, values.astype(float), -1)
        expected = ndimage.maximum_position(greatest, labels, label)
        assert values[tuple(position)] == values[expected] == greatest.max() and labels[tuple(position)] == label
        assert tuple(position) == tuple(np.argwhere(greatest == greatest.max())[0])
    if mask.ndim == 2 and kind[0] != "int32":
        exact = values.astype(np.float64)
        again = cudaccl.regionprops_table(labels, ["intensity_max_position"], intensity_image=exact)
        assert (np.stack(list(again.values()), 1) == found).all()


def test_positions_of_maxima_that_are_no_numbers():
    columns = cudaccl.regionprops_table(np.array([[1, 1, 0, 2, 2]]), ["intensity_max_position"],
                                        intensity_image=np.array([[np.nan, 3, 9, 5, 5]]))
    assert [column.tolist() for column in columns.values()] == [[-1, 0], [-1, 3]]
    columns = cudaccl.regionprops_table(np.array([[1, 1, 0, 2, 2]]), ["intensity_max_position"], ignore_nan=True,
                                        intensity_image=np.array([[np.nan, 3, 9, np.nan, np.nan]]))
    assert [column.tolist() for column in columns.values()] == [[0, -1], [1, -1]]


OF_MAPS = ["label", "area_convex", "solidity", "feret_diameter_max", "perimeter_crofton", "moments", "moments_central",
           "moments_normalized", "moments_hu"]


@given(masks, st.sampled_from([1, 2]), st.sampled_from([1, 3, 2**40]))
def test_convex_images_moments_and_crofton_of_scikit_image(mask, connectivity, factor):
    measure = pytest.importorskip("skimage.measure")
    labels = measure.label(mask, connectivity=connectivity)
    theirs = measure.regionprops_table(labels, properties=OF_MAPS)
    ours = cudaccl.regionprops_table(labels.astype(np.int64) * factor, OF_MAPS)
    assert list(ours) == list(theirs)
    for name, column in theirs.items():
        expected = column * factor if name == "label" else column
        np.testing.assert_allclose(ours[name], expected, rtol=1e-9, atol=1e-8, err_msg=name)


@given(st.builds(lambda shape, seed: np.random.default_rng(seed).integers(0, 4, shape), st.tuples(*[st.integers(1, 6)] * 3),
                 st.integers(0, 2**32)))
def test_moments_of_volumes_as_scikit_image(labels):
    measure = pytest.importorskip("skimage.measure")
    names = ["moments", "moments_central", "moments_normalized"]
    theirs = measure.regionprops_table(labels, properties=names)
    ours = cudaccl.regionprops_table(labels, names)
    assert list(ours) == list(theirs)
    for name, column in theirs.items():
        np.testing.assert_allclose(ours[name], column, rtol=1e-8, atol=1e-6, err_msg=name)


@given(masks, st.sampled_from(["uint8", "uint16", "int32", "float32"]), st.integers(0, 2**32), st.integers(1, 3))
def test_medians_as_numpy(mask, dtype, seed, n_channels):
    values = np.random.default_rng(seed).integers(0, 200, (*mask.shape, n_channels)).astype(dtype)
    labels = cudaccl.label(mask)[0]
    columns = cudaccl.regionprops_table(labels, ["label", "intensity_median"], intensity_image=values)
    for i, label in enumerate(columns["label"]):
        for channel in range(n_channels):
            assert columns[f"intensity_median-{channel}"][i] == np.median(values[labels == label][:, channel])
    plane = values[..., 0].astype(float)
    plane[::2] = np.nan
    for ignore_nan, median in (False, np.median), (True, np.nanmedian):
        columns = cudaccl.regionprops_table(labels, ["label", "intensity_median"], intensity_image=plane, ignore_nan=ignore_nan)
        for label, found in zip(*columns.values()):
            of_label = plane[labels == label]
            np.testing.assert_equal(found, median(of_label) if not np.isnan(of_label).all() else np.nan)


@given(masks, st.sampled_from(["uint8", "int16", "float32", "float64"]), st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=1, max_size=3, unique=True))
def test_quantiles_as_numpy(mask, dtype, seed, shares):
    values = np.random.default_rng(seed).normal(99, 30, (*mask.shape, 2)).astype(dtype)
    labels = cudaccl.label(mask)[0]
    columns = cudaccl.regionprops_table(labels, ["label", "intensity_quantile"], intensity_image=values, quantiles=shares)
    assert len(columns) == 1 + 2 * len(shares)
    for place, share in enumerate(shares):
        for channel in range(2):
            found = list(columns.values())[1 + 2 * place + channel]
            expected = [np.quantile(values[labels == label][:, channel].astype(float), share) for label in columns["label"]]
            np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_names_of_quantiles():
    image = np.array([[1, 2, np.nan, 10]])
    columns = cudaccl.regionprops_table(np.ones((1, 4), bool), ["intensity_quantile", "intensity_median"], image, ignore_nan=True, quantiles=[0.25, 1, 1e-7])
    assert {name: column.tolist() for name, column in columns.items()} == {
        "intensity_quantile-0.25": [1.5], "intensity_quantile-1": [10], "intensity_quantile-0.0000001": [pytest.approx(1)], "intensity_median": [2]}
    assert np.isnan(cudaccl.regionprops_table(np.ones((1, 4), bool), ["intensity_quantile"], image, quantiles=[0])["intensity_quantile-0"])
    for wrong in dict(quantiles=[1.1]), dict(quantiles=[np.nan]), dict():
        with pytest.raises(ValueError, match="quantile"):
            cudaccl.regionprops_table(np.ones((1, 4), bool), ["intensity_quantile"], image, **wrong)


def test_spacing_of_measures_of_maps():
    mask = np.ones((3, 4), bool)
    one, two = (cudaccl.regionprops_table(mask, OF_MAPS[1:5], spacing=spacing) for spacing in (None, 2))
    assert [two[name][0] / one[name][0] for name in OF_MAPS[1:5]] == [4, 1, 2, 2]
    with pytest.raises(ValueError, match="spacing"):
        cudaccl.regionprops_table(mask, ["moments"], spacing=2)
    with pytest.raises(ValueError, match="spacing"):
        cudaccl.regionprops_table(mask, ["feret_diameter_max"], spacing=(1, 2))


@given(masks, st.integers(0, 6))
def test_order_of_rows(mask, k):
    rows = [(area, label) for label, area in enumerate(np.bincount(cudaccl.label(mask)[0].ravel())[1:], 1)]
    for table in (mask, cudaccl.components(mask)):
        ascending = cudaccl.regionprops_table(table, ["label"], sort_by="area")
        assert ascending["label"].tolist() == [label for _, label in sorted(rows)]
        largest = cudaccl.regionprops_table(table, ["area", "label"], largest=k)
        expected = sorted(rows, key=lambda row: (-row[0], row[1]))[:k]
        assert list(zip(largest["area"], largest["label"])) == expected
        backwards = cudaccl.regionprops_table(table, ["label"], sort_by="label", largest=k)
        assert backwards["label"].tolist() == [label for _, label in reversed(rows)][:k]


def test_what_is_no_number_is_last():
    labels = np.array([[1, 2, 3, 4]])
    values = np.array([[5, np.nan, 7, 5]])
    for largest, expected in (None, [1, 4, 3, 2]), (2, [3, 1]), (9, [3, 1, 4, 2]):
        assert cudaccl.regionprops_table(labels, values, ["label", "intensity_mean"], sort_by="intensity_mean",
                                         largest=largest)["label"].tolist() == expected


def test_wrong_order():
    mask = np.ones((3, 4), bool)
    with pytest.raises(ValueError, match="no column"):
        cudaccl.regionprops_table(mask, ["label"], sort_by="perimeter")
    with pytest.raises(ValueError, match="largest"):
        cudaccl.regionprops_table(mask, largest=-1)
    with pytest.raises(ValueError, match="no property"):
        cudaccl.regionprops_table(cudaccl.components(mask), ["first_pixel"])


volumes = st.builds(lambda shape, seed, density: np.random.default_rng(seed).random(shape) < density,
                    st.tuples(*[st.integers(1, 9)] * 3), st.integers(0, 2**32), st.floats(0, 1))
VOLUMES = ["label", "area", "bbox", "centroid", "extent", "inertia_tensor", "inertia_tensor_eigvals", "euler_number",
           "intensity_mean", "intensity_min", "intensity_max", "centroid_weighted"]


@given(volumes, st.sampled_from([6, 18, 26]), st.sampled_from(["uint8", "uint16"]), st.integers(0, 2**32 - 1))
def test_volumes_have_the_columns_of_scikit_image(mask, connectivity, dtype, seed):
    measure = pytest.importorskip("skimage.measure")
    values = np.random.default_rng(seed).integers(1, 2**16, mask.shape).astype(dtype) | np.array(1, dtype)
    labels = cudaccl.label(mask, connectivity)[0]
    theirs = measure.regionprops_table(labels, values, properties=VOLUMES)
    for found in (cudaccl.regionprops_table(mask, VOLUMES, intensity_image=values, connectivity=connectivity),
                  cudaccl.regionprops_table(labels * 2, VOLUMES, intensity_image=values)):
        assert list(found) == list(theirs)
        for name, column in theirs.items():
            factor = 1 + (name == "label" and len(found["label"]) > 0 and found["label"][0] == 2)
            np.testing.assert_allclose(found[name], column * factor, rtol=1e-9, atol=1e-9, err_msg=name)


@given(volumes, st.integers(1, 3))
def test_volumes_have_other_columns(mask, step):
    labels = (mask * np.arange(1, mask.size + 1).reshape(mask.shape) % 5)[:, ::step]  # in parts that do not touch
    names = ["label", "surface_area", "first_pixel", "touches_border", "axis_major_length", "axis_minor_length",
             "inertia_tensor_eigvals"]
    found = cudaccl.regionprops_table(labels, names)
    assert found["label"].tolist() == [label for label in range(1, 5) if (labels == label).any()]
    for i, label in enumerate(found["label"]):
        inside, places = np.pad(labels == label, 1), np.argwhere(labels == label)
        assert found["surface_area"][i] == sum((np.diff(inside.astype(int), axis=axis) != 0).sum() for axis in range(3))
        assert [found[f"first_pixel-{k}"][i] for k in range(3)] == places[0].tolist()
        borders = [*(places.min(axis=0) == 0), *(places.max(axis=0) == np.array(labels.shape) - 1)]
        assert [found[f"touches_border-{k}"][i] for k in range(6)] == borders
        great, middle, small = (found[f"inertia_tensor_eigvals-{k}"][i] for k in range(3))
        for name, value in (("major", great + middle - small), ("minor", middle + small - great)):
            assert abs(found[f"axis_{name}_length"][i] ** 2 - 10 * value) < 1e-9 * (1 + 10 * great)


@given(masks, st.integers(1, 4), st.sampled_from(["uint8", "uint16", "bool"]))
def test_channels(mask, n_channels, dtype):
    image = np.random.default_rng(7).integers(0, 300, (*mask.shape, n_channels)).astype(dtype)
    names = ["label", "intensity_mean", "perimeter", "intensity_min", "intensity_max", "intensity_std",
             "centroid_weighted"]
    found = cudaccl.regionprops_table(mask, names, intensity_image=image)
    assert list(found) == (["label", *(f"intensity_mean-{i}" for i in range(n_channels)), "perimeter"]
                           + [f"intensity_{name}-{i}" for name in ("min", "max", "std") for i in range(n_channels)]
                           + [f"centroid_weighted-{k}-{i}" for k in range(2) for i in range(n_channels)])
    for i in range(n_channels):
        alone = cudaccl.regionprops_table(mask, names, intensity_image=image[..., i].copy())
        for name, column in alone.items():
            of_channels = f"{name}-{i}" if "intensity" in name or "weighted" in name else name
            np.testing.assert_array_equal(found[of_channels], column, err_msg=name)


def test_mean_colours_of_scikit_image():
    measure = pytest.importorskip("skimage.measure")
    random = np.random.default_rng(8)
    for labels in (random.integers(0, 5, (9, 11)), random.integers(0, 4, (4, 5, 6))):
        names = ["intensity_mean", "intensity_max", "intensity_min"]
        colours = random.integers(0, 256, (*labels.shape, 3)).astype(np.uint8)
        theirs = measure.regionprops_table(labels, colours, properties=names)
        found = cudaccl.regionprops_table(labels, names, intensity_image=colours)
        assert list(found) == list(theirs)
        for name, column in theirs.items():
            np.testing.assert_allclose(found[name], column, rtol=1e-12)


def test_columns_that_do_not_fit_the_dimensions():
    volume, colours = np.ones((2, 3, 4), np.uint8), np.ones((3, 4, 0), np.uint8)
    for labels, name, image in ((volume, "perimeter", None), (volume, "crack_length", None),
                                (volume[0], "surface_area", None), (volume[0], "intensity_mean", colours),
                                (volume[0], "intensity_mean", volume[:, 1:])):
        with pytest.raises(ValueError, match="no property|channels|shape"):
            cudaccl.regionprops_table(labels, [name], intensity_image=image)
