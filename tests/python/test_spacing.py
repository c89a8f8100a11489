# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of pixels whose sides are not 1, against numpy and scikit-image's spacing."""
import cudaccl
import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

NAMES = ["label", "area", "area_bbox", "bbox", "num_pixels", "centroid", "equivalent_diameter_area", "extent",
         "inertia_tensor", "inertia_tensor_eigvals", "axis_major_length", "axis_minor_length", "euler_number",
         "centroid_weighted", "intensity_mean"]
OF_IMAGES = ["eccentricity", "orientation", "perimeter"]
SIDES = st.sampled_from([0.25, 0.7, 1.0, 2.5, 13.0])


def case(seed, ndim):
    random = np.random.default_rng(seed)
    shape = random.integers(2, 16 if ndim == 2 else 8, ndim)
    labels = random.choice([0, 1, 2, 9], shape) if seed % 2 else (random.random(shape) < 0.6).astype(int)
    return labels, random.integers(0, 256, shape).astype(np.uint8)


def close(found, expected):
    """Roots of what is 0 but for rounding are up to 1e-7."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)


@given(st.integers(0, 2**32), st.sampled_from([2, 3]), st.tuples(SIDES, SIDES, SIDES))
def test_by_numpy(seed, ndim, spacing):
    labels, values = case(seed, ndim)
    spacing = np.array(spacing[:ndim])
    found = cudaccl.regionprops_table(labels, NAMES, intensity_image=values, spacing=tuple(spacing))
    for i, label in enumerate(found["label"]):
        pixels = np.argwhere(labels == label)
        places, weights = pixels * spacing, values[labels == label].astype(float)
        covariance = np.cov(places.T, bias=True).reshape(ndim, ndim)
        tensor = np.trace(covariance) * np.eye(ndim) - covariance
        eigenvalues = np.sort(np.linalg.eigvalsh(tensor))[::-1]
        close(found["area"][i], len(pixels) * spacing.prod())
        close(found["area_bbox"][i], (np.ptp(pixels, axis=0) + 1).prod() * spacing.prod())
        close(found["equivalent_diameter_area"][i], (2 * ndim * len(pixels) * spacing.prod() / np.pi)**(1 / ndim))
        assert found["num_pixels"][i] == len(pixels) and found["bbox-0"][i] == pixels[:, 0].min()
        for axis in range(ndim):
            close(found[f"centroid-{axis}"][i], places[:, axis].mean())
            close(found[f"inertia_tensor_eigvals-{axis}"][i], eigenvalues[axis])
            if weights.sum():
                close(found[f"centroid_weighted-{axis}"][i], (places[:, axis] * weights).sum() / weights.sum())
            for other in range(ndim):
                close(found[f"inertia_tensor-{axis}-{other}"][i], tensor[axis, other])


@given(st.integers(0, 2**32), st.sampled_from([2, 3]), st.tuples(SIDES, SIDES, SIDES))
def test_as_scikit_image(seed, ndim, spacing):
    measure = pytest.importorskip("skimage.measure")
    import inspect

    if "spacing" not in inspect.signature(measure.regionprops_table).parameters:
        pytest.skip("scikit-image is older than its spacing")
    labels, values = case(seed, ndim)
    names, spacing = NAMES + (OF_IMAGES if ndim == 2 else []), spacing[:ndim]
    if len(set(spacing)) > 1:
        names = [name for name in names if name != "perimeter"]
    if ndim == 3:  # it takes roots of what is less than 0 by rounding
        names = [name for name in names if not name.startswith("axis")]
    theirs = measure.regionprops_table(labels, values, properties=names, spacing=spacing)
    found = cudaccl.regionprops_table(labels, names, intensity_image=values, spacing=spacing)
    for name, column in theirs.items():
        if name != "orientation":  # its sign is open for circles
            close(found[name], column)


def test_equal_sides_and_1():
    labels, _ = case(3, 2)
    names = ["label", "area", "centroid", "orientation", "axis_major_length", "inertia_tensor", "perimeter", "crack_length",
             "hull_area", "hull_solidity", "feret_max", "feret_min", "eccentricity", "n_holes"]
    plain, one, two = (cudaccl.regionprops_table(labels, names, spacing=spacing) for spacing in (None, 1, 2))
    powers = {"area": 2, "hull_area": 2, "inertia_tensor": 2, "axis_major_length": 1, "perimeter": 1, "crack_length": 1,
              "feret_max": 1, "feret_min": 1, "centroid": 1}
    for name, column in plain.items():
        close(one[name], column)
        close(two[name], column * 2.0**powers.get(name.partition("-")[0], 0))


@pytest.mark.parametrize("spacing", [0, -1, np.nan, (1, 2, 3), "x", (1, np.inf)])
def test_wrong_spacing(spacing):
    with pytest.raises(ValueError, match="spacing"):
        cudaccl.regionprops_table(np.ones((2, 2), int), ["area"], spacing=spacing)


@pytest.mark.parametrize("name", ["perimeter", "crack_length", "feret_max"])
def test_unequal_sides(name):
    with pytest.raises(ValueError, match="equal sides"):
        cudaccl.regionprops_table(np.ones((2, 2), int), [name], spacing=(1, 2))


@pytest.mark.parametrize("ndim", [2, 3])
def test_files_have_the_columns_of_arrays(ndim, tmp_path):
    mask = np.random.default_rng(ndim).random((19, 23) if ndim == 2 else (7, 8, 9)) < 0.4
    names = ["label", "area", "centroid", "equivalent_diameter_area", "inertia_tensor", "axis_major_length", "bbox"]
    lengths = (2.5, 0.7, 0.8)[:ndim]
    cudaccl.label_file(mask, None, tmp_path / "t.npy", ndim=ndim, tile=3, properties=names, spacing=lengths)
    table = np.load(tmp_path / "t.npy")
    expected = cudaccl.regionprops_table(mask, names, connectivity=8 if ndim == 2 else 26, spacing=lengths)
    for name, column in expected.items():
        np.testing.assert_allclose(table[name], column, 1e-12, 1e-12, err_msg=name)
    with pytest.raises(ValueError, match="spacing is a number or"):
        cudaccl.label_file(mask, None, tmp_path / "t.npy", ndim=ndim, properties=names, spacing=(1,) * 4)
    with pytest.raises(ValueError, match="spacing is for properties"):
        cudaccl.label_file(mask, ndim=ndim, spacing=2)


@pytest.mark.parametrize("ndim", [2, 3])
def test_chunks_have_the_columns_of_arrays(ndim):
    da = pytest.importorskip("dask.array", reason="Python module not installed: dask")
    import cudaccl.dask

    labels = np.random.default_rng(ndim).integers(0, 5, (19, 23) if ndim == 2 else (7, 8, 9))
    names, lengths = ["label", "area", "centroid", "inertia_tensor_eigvals", "area_bbox"], (2.5, 0.7, 0.8)[:ndim]
    found = cudaccl.dask.regionprops_table(da.from_array(labels, 4), names, spacing=lengths).compute(scheduler="synchronous")
    for name, column in cudaccl.regionprops_table(labels, names, spacing=lengths).items():
        np.testing.assert_allclose(found[name], column, 1e-12, 1e-12, err_msg=name)


@pytest.mark.parametrize("spacing", [None, 1, (1, 1), (0.3, 0.7), 2])
def test_what_lies_is_turned_by_half_pi_and_what_stands_by_none(spacing):
    import cudaccl.dask

    da = pytest.importorskip("dask.array", reason="Python module not installed: dask")
    labels = np.zeros((40, 40), np.int32)
    labels[3, 2:30] = 1
    labels[5:30, 7] = 2
    labels[35:38, 5:33] = 3
    labels[8:33, 20:23] = 4
    for found in (cudaccl.regionprops_table(labels, "orientation", spacing=spacing),
                  cudaccl.dask.regionprops_table(da.from_array(labels, 9), "orientation", spacing=spacing).compute()):
        assert found["orientation"].tolist() == [np.pi / 2, 0, np.pi / 2, 0]
        assert not np.signbit(found["orientation"]).any()
