# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labels and tables of arrays in host memory against scipy, scikit-image and OpenCV."""
import gc
import re
import sys
import threading

import cudaccl
import device_arrays
import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")
ndimage = pytest.importorskip("scipy.ndimage")
measure = pytest.importorskip("skimage.measure")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

INTEGERS = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def images(dtype, ndim=2, side=24):
    """Arrays of a type, with many equal pixels."""
    shapes = hnp.array_shapes(min_dims=ndim, max_dims=ndim, min_side=1, max_side=side)
    return shapes.flatmap(lambda shape: st.one_of(
        hnp.arrays(dtype, shape, elements=hnp.from_dtype(np.dtype(dtype)), fill=st.just(np.dtype(dtype).type(0))),
        st.builds(lambda seed, density: (np.random.default_rng(seed).random(shape) < density).astype(dtype),
                  st.integers(0, 2**32), st.floats(0, 1))))


def reference(mask, connectivity):
    return ndimage.label(mask, ndimage.generate_binary_structure(mask.ndim, RANK[connectivity]))


def check_table(table, labels, count):
    """The table of a label map, by numpy and scipy."""
    assert len(table) == count
    assert (table["label"] == np.arange(1, count + 1)).all()
    assert (table["area"] == np.bincount(labels.ravel(), minlength=count + 1)[1:]).all()
    axes = "zyx"[-labels.ndim:]
    boxes = ndimage.find_objects(labels)
    for axis, size, i in zip(axes, ("depth", "height", "width")[-labels.ndim:], range(labels.ndim)):
        assert (table[axis] == [box[i].start for box in boxes]).all()
        assert (table[size] == [box[i].stop - box[i].start for box in boxes]).all()
        coordinate = np.broadcast_to(np.expand_dims(
            np.arange(labels.shape[i], dtype=float), tuple(j for j in range(labels.ndim) if j != i)), labels.shape)
        sums = np.bincount(labels.ravel(), coordinate.ravel(), minlength=count + 1)[1:]
        np.testing.assert_allclose(table[f"centroid_{axis}"], sums / table["area"], rtol=1e-12)


@pytest.mark.parametrize("dtype", INTEGERS)
@given(data=st.data())
def test_image_of_any_type_as_scipy(dtype, data):
    image = data.draw(images(dtype))
    connectivity = data.draw(st.sampled_from([4, 8]))
    threshold = data.draw(st.one_of(st.integers(-2, 300), st.integers(-2**63, 2**63 - 1)))
    invert = data.draw(st.booleans())
    mask = np.array([int(value) > threshold for value in image.ravel()], bool).reshape(image.shape) ^ invert
    expected, count = reference(mask, connectivity)
    labels, table = cudaccl.label(image, connectivity, threshold=threshold, invert=invert)
    assert labels.dtype == np.int32 and (labels == expected).all()
    check_table(table, expected, count)
    assert (cudaccl.components(image, connectivity, threshold=threshold, invert=invert) == table).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
@given(data=st.data())
def test_floats_as_scipy(dtype, data):
    numbers = st.sampled_from([0, 0.1, 0.5, -1, 3, 1e-30, np.nan, np.inf, -np.inf, 60000])
    image = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=numbers.map(np.dtype(dtype).type)))
    threshold = data.draw(st.sampled_from([0, 1, 0.1, np.float32(0.1), 0.5, -2, 1e-30, np.inf, -np.inf, 2**70]))
    invert = data.draw(st.booleans())
    step = data.draw(st.sampled_from([-1, 1, 2]))
    exact = np.longdouble(threshold)
    expected, count = reference((image.astype(np.longdouble) > exact) ^ invert, 8)
    labels, table = cudaccl.label(image, threshold=threshold, invert=invert)
    assert (labels == expected).all()
    check_table(table, expected, count)
    assert (cudaccl.label(image[::step, ::step], threshold=threshold)[0] == cudaccl.label(image[::step, ::step].copy(), threshold=threshold)[0]).all()


@pytest.mark.parametrize("dtype", [">u2", ">i4", ">u8", ">f4", ">f8", ">f2"])
def test_other_byte_orders(dtype):
    image = np.random.default_rng(3).integers(0, 5, (20, 30)).astype(dtype)
    assert (cudaccl.label(image, threshold=2)[0] == cudaccl.label(image.astype(int), threshold=2)[0]).all()


@given(images("int16", side=12), st.data())
def test_masked_pixels_are_background(image, data):
    mask = data.draw(hnp.arrays(bool, image.shape))
    threshold, invert = data.draw(st.sampled_from([-3, 0, 2.5])), data.draw(st.booleans())
    masked = np.ma.array(image, mask=mask)
    expected, count = reference(((image > threshold) ^ invert) & ~mask, 8)
    labels, table = cudaccl.label(masked, threshold=threshold, invert=invert)
    assert type(labels) is np.ndarray and (labels == expected).all()
    check_table(table, expected, count)
    assert (cudaccl.components(masked, threshold=threshold, invert=invert) == table).all()
    labeller = cudaccl.Labeller(image.shape)
    assert (labeller.label(masked, threshold=threshold, invert=invert)[0] == expected).all()
    assert (labeller.components(masked, threshold=threshold, invert=invert) == table).all()
    assert (cudaccl.label(np.ma.array(image))[0] == cudaccl.label(image)[0]).all()


def test_lists_and_other_arrays():
    rows = [[0, 1, 1], [0, 0, 0], [1, 0, 2.5]]
    expected = cudaccl.label(np.array(rows))[0]
    for image in rows, tuple(rows), np.matrix(rows), [np.array(row) for row in rows]:
        labels, table = cudaccl.label(image)
        assert type(labels) is np.ndarray and (labels == expected).all() and len(table) == 3
        assert len(cudaccl.components(image, threshold=2)) == 1
    labeller = cudaccl.Labeller((3, 3))
    assert (labeller.label(rows)[0] == expected).all() and len(labeller.components(rows)) == 3

    class Array:
        """What NumPy alone knows how to read."""

        def __array__(self, *arguments, **options):
            return np.array(rows, *arguments, **options)

    assert (cudaccl.label(Array())[0] == expected).all()
    assert cudaccl.label([[[1]]], ndim=3)[0].shape == (1, 1, 1)


def test_pictures_of_pil():
    pil = pytest.importorskip("PIL.Image")
    image = np.random.default_rng(2).integers(0, 256, (30, 40), np.uint8)
    for mode in "L", "1", "I", "F", "I;16":
        picture = pil.fromarray(image.astype(np.uint16)) if mode == "I;16" else pil.fromarray(image).convert(mode)
        assert picture.mode == mode
        labels, _ = cudaccl.label(picture, threshold=0 if mode == "1" else 127)
        assert type(labels) is np.ndarray and (labels > 0).tolist() == (np.asarray(picture) > (0 if mode == "1" else 127)).tolist()
    for mode in "RGB", "RGBA", "P", "LA", "CMYK":
        with pytest.raises(ValueError, match=f"mode {mode} .*convert"):
            cudaccl.label(pil.fromarray(image).convert(mode))


def test_a_volume_is_asked_for():
    volume = np.random.default_rng(4).integers(0, 2, (5, 6, 3), np.uint8)
    for arguments in {}, {"ndim": 2}, {"connectivity": 8}, {"connectivity": 1}:
        with pytest.raises(ValueError, match="ndim=3"):
            cudaccl.components(volume, **arguments)
        with pytest.raises(ValueError, match="ndim=3"):
            cudaccl.Labeller(volume.shape, **arguments)
    rows = cudaccl.components(volume, ndim=3)
    for arguments in {"connectivity": 26}, {"connectivity": 3}, {"ndim": 3, "connectivity": 3}:
        assert (cudaccl.components(volume, **arguments) == rows).all()
        assert (cudaccl.Labeller(volume.shape, **arguments).components(volume) == rows).all()
    for ndim in 1, 4, "2":
        with pytest.raises(ValueError, match="ndim must be"):
            cudaccl.label(volume[0], ndim=ndim)
    with pytest.raises(ValueError, match="3 dimensions, not 2"):
        cudaccl.label(volume[0], ndim=3)


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", cudaccl.__version__)


@given(images("uint8", 3, 12), st.sampled_from([6, 18, 26]), st.integers(0, 3))
def test_volume_as_scipy(volume, connectivity, threshold):
    expected, count = reference(volume > threshold, connectivity)
    labels, table = cudaccl.label(volume, connectivity, threshold=threshold)
    assert (labels == expected).all()
    check_table(table, expected, count)
    axes = RANK[connectivity]  # scikit-image's connectivity
    assert (cudaccl.label(volume, axes, ndim=3, threshold=threshold)[0] == expected).all()


@given(images("uint8"), st.sampled_from([4, 8]))
def test_image_as_opencv(image, connectivity):
    count, expected, stats, centroids = cv2.connectedComponentsWithStats(
        np.where(image > 0, 255, 0).astype(np.uint8), connectivity=connectivity)
    labels, table = cudaccl.label(image, connectivity)
    assert len(table) == count - 1
    # OpenCV numbers the same components in an order of its own.
    order = np.zeros(count, int)
    order[expected[image > 0]] = labels[image > 0]
    assert (order[expected] == labels).all()
    rows = table[order[1:] - 1]
    assert (stats[1:] == np.stack([rows[n] for n in ("x", "y", "width", "height", "area")], 1)).all()
    np.testing.assert_allclose(centroids[1:], np.stack([rows["centroid_x"], rows["centroid_y"]], 1), rtol=1e-12)


@given(images("uint8"), st.sampled_from([1, 2]))
def test_image_as_scikit_image(image, connectivity):
    labels, _ = cudaccl.label(image, connectivity)
    assert (labels == measure.label(image > 0, connectivity=connectivity)).all()


@given(st.sampled_from([2, 3]).flatmap(lambda ndim: images("bool", ndim, 12)))
def test_columns_of_scikit_image(image):
    labels, table = cudaccl.label(image, ndim=image.ndim)
    newest = hasattr(measure, "blur_effect") and tuple(map(int, __import__("skimage").__version__.split(".")[:2])) >= (0, 23)
    properties = ["label", "area", "bbox", "centroid", "extent", "area_bbox", "equivalent_diameter_area", "slice"]
    properties += ["num_pixels"] if newest else []
    ours = cudaccl.regionprops_table(table, properties)
    theirs = measure.regionprops_table(labels, properties=properties)
    assert list(ours) == list(theirs)
    for name, column in theirs.items():
        assert len(column) == len(ours[name]), name
        if name == "slice":
            assert all(tuple(a) == tuple(b) for a, b in zip(ours[name], column))
        else:
            np.testing.assert_allclose(ours[name], column, rtol=1e-12, err_msg=name)
            # Releases differ on the type of areas; without components, types are not told.
            if len(column) and "area" not in name:
                assert ours[name].dtype.kind == column.dtype.kind, name


def test_columns_take_a_separator_and_refuse_other_properties():
    table = cudaccl.components(np.ones((2, 3), bool))
    assert list(cudaccl.regionprops_table(table, ["bbox"], separator="_")) == ["bbox_0", "bbox_1", "bbox_2", "bbox_3"]
    with pytest.raises(ValueError, match="perimeter"):
        cudaccl.regionprops_table(table, ["perimeter"])


SHAPES = ["label", "area", "bbox", "centroid", "perimeter", "euler_number", "eccentricity", "axis_major_length",
          "axis_minor_length", "inertia_tensor", "inertia_tensor_eigvals"]
INTENSITIES = ["intensity_mean", "intensity_min", "intensity_max", "centroid_weighted"]


def assert_same_columns(ours, theirs):
    assert list(ours) == list(theirs)
    for name, column in theirs.items():
        assert len(column) == len(ours[name]), name
        # Axes of a thin component are square roots of eigenvalues that cancel.
        atol = 1e-6 if "axis_minor" in name else 1e-3 if name == "eccentricity" else 1e-9
        np.testing.assert_allclose(ours[name], column, rtol=1e-9, atol=atol, err_msg=name)


@given(images("bool"), st.sampled_from([1, 2]), st.sampled_from(["uint8", "uint16"]), st.integers(0, 2**32 - 1))
def test_measured_columns_of_scikit_image(mask, connectivity, dtype, seed):
    values = np.random.default_rng(seed).integers(1, 2**16, mask.shape).astype(dtype) | np.array(1, dtype)
    labels = measure.label(mask, connectivity=connectivity)
    theirs = measure.regionprops_table(labels, values, properties=SHAPES + INTENSITIES)
    assert_same_columns(cudaccl.regionprops_table(
        mask, SHAPES + INTENSITIES, intensity_image=values, connectivity=connectivity), theirs)
    assert_same_columns(cudaccl.regionprops_table(labels, SHAPES + INTENSITIES, intensity_image=values), theirs)


@given(images("bool"))
def test_orientations_turn_the_inertia_tensor_upright(mask):
    """Other tests of the orientation would repeat its formula, whose cases differ between releases."""
    columns = cudaccl.regionprops_table(mask, ["orientation", "inertia_tensor", "inertia_tensor_eigvals"])
    for i, angle in enumerate(columns["orientation"]):
        xx, xy, yy = (columns[f"inertia_tensor-{name}"][i] for name in ("0-0", "0-1", "1-1"))
        axis = np.array([np.sin(angle), np.cos(angle)])  # x and y of the major axis
        along = axis @ np.array([[xx, -xy], [-xy, yy]]) @ axis
        assert abs(along - columns["inertia_tensor_eigvals-0"][i]) < 1e-9 * max(1, along)
        assert -np.pi / 2 <= angle <= np.pi / 2


@given(images("bool"), st.sampled_from([1, 2]))
def test_holes_and_crack_lengths(mask, connectivity):
    columns = cudaccl.regionprops_table(mask, ["label", "n_holes", "crack_length"], connectivity=connectivity)
    labels = cudaccl.label(mask, connectivity)[0]
    structure = np.ones((3, 3)) if connectivity == 1 else None  # of the background
    for label, n_holes, length in zip(*columns.values()):
        padded = np.pad(labels == label, 1)
        assert n_holes == ndimage.label(~padded, structure)[1] - 1
        assert length == sum(np.abs(np.diff(padded.astype(int), axis=axis)).sum() for axis in (0, 1))


@given(images("bool"), st.sampled_from([4, 8]), st.integers(0, 2**32 - 1))
def test_holes_of_labels_in_parts(mask, connectivity, seed):
    labels = mask * np.random.default_rng(seed).choice([1, 2, 5, 700], mask.shape)
    structure = np.ones((3, 3)) if connectivity == 4 else None  # of the background
    columns = cudaccl.regionprops_table(labels, ["label", "n_holes"], connectivity=connectivity)
    for label, n_holes in zip(*columns.values()):
        assert n_holes == ndimage.label(~np.pad(labels == label, 1), structure)[1] - 1


def test_holes_of_a_label_in_two_parts():
    assert cudaccl.regionprops_table(np.array([[1, 0, 1]]), ["n_holes"])["n_holes"].tolist() == [0]


@given(images("bool"), st.integers(0, 2**32 - 1))
def test_label_maps_of_other_origin(mask, seed):
    labels = mask * np.random.default_rng(seed).choice([1, 2, 5, 700, 5000], mask.shape)
    for map in (labels, labels % 256, (labels % 128).astype(np.int8)[::-1, ::2].T):
        theirs = measure.regionprops_table(map, properties=SHAPES)
        assert_same_columns(cudaccl.regionprops_table(map, SHAPES), theirs)
    huge = cudaccl.regionprops_table(labels * 2**50, SHAPES)  # too large for scikit-image
    assert (huge.pop("label") == np.unique(labels[labels > 0]) * 2**50).all()
    assert_same_columns(huge, measure.regionprops_table(labels, properties=SHAPES[1:]))


def test_kinds_of_masks_and_label_maps():
    mask = np.random.default_rng(3).random((9, 12)) < 0.4
    expected = cudaccl.regionprops_table(mask, SHAPES)
    labels = cudaccl.label(mask)[0]
    hidden = np.ma.array(np.where(mask, labels, 7), mask=~mask)
    for kind in (mask.tolist(), labels.tolist(), labels[::-1][::-1], hidden, np.ma.array(mask | True, mask=~mask)):
        assert_same_columns(cudaccl.regionprops_table(kind, SHAPES), expected)


def test_deviations_of_values():
    values = np.array([[1, 2, 250], [4, 0, 9]], np.uint8)
    columns = cudaccl.regionprops_table(np.array([[1, 1, 2], [1, 0, 2]]), ["intensity_std"], intensity_image=values)
    np.testing.assert_allclose(columns["intensity_std"], [np.std([1, 2, 4]), np.std([250, 9])], rtol=1e-12)


def test_measured_columns_that_are_refused():
    mask = np.eye(3, dtype=bool)
    refused = [(ValueError, "perimeter", (cudaccl.components(mask), ["perimeter"]), {}),
               (ValueError, "no property 'area_filled'", (mask, ["area_filled"]), {}),
               (ValueError, "no property 'area_filled'", (mask[np.newaxis], ["area_filled"]), {}),
               (ValueError, "no property 'area_filled'", (mask, ["area_filled"]), {"intensity_image": np.zeros((3, 4))}),
               (ValueError, "intensity_image", (mask, ["intensity_mean"]), {}),
               (ValueError, "shape", (mask, ["intensity_mean"]), {"intensity_image": np.zeros((3, 4), np.uint8)}),
               (TypeError, "complex", (mask, ["intensity_mean"]), {"intensity_image": np.zeros((3, 3), complex)}),
               (TypeError, "masked", (mask, ["intensity_mean"]), {"intensity_image": np.ma.masked_all((3, 3))}),
               (ValueError, "negative", (np.array([[-1]]),), {}),
               (TypeError, "two or three dimensions", (np.zeros((2, 2, 2, 2), int),), {}),
               (ValueError, "volume", (np.ones((2, 2, 2), bool),), {}),
               (TypeError, "component table", (np.zeros((2, 2)),), {}),
               (ValueError, "connectivity", (mask,), {"connectivity": 5})]
    for kind, words, arguments, options in refused:
        with pytest.raises(kind, match=words):
            cudaccl.regionprops_table(*arguments, **options)
    empty = cudaccl.regionprops_table(np.zeros((2, 2), bool), SHAPES)
    assert list(empty) == list(cudaccl.regionprops_table(mask, SHAPES)) and not any(map(len, empty.values()))


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@given(data=st.data())
def test_views_with_any_strides(dtype, data):
    image = data.draw(images(dtype))
    step = data.draw(st.tuples(*[st.sampled_from([-3, -2, -1, 1, 2, 3])] * 2))
    view = image[:: step[0], :: step[1]]
    if data.draw(st.booleans()):
        view = view.T
    assert (cudaccl.label(view)[0] == cudaccl.label(view.copy())[0]).all()


@given(images("uint8", 3, 10), st.permutations([0, 1, 2]), st.sampled_from([-1, 1, 2]))
def test_volumes_with_any_strides(volume, axes, step):
    view = volume.transpose(axes)[::step, :, ::step]
    assert (cudaccl.label(view, ndim=3)[0] == cudaccl.label(view.copy(), ndim=3)[0]).all()


def test_broadcast_rows():
    row = np.array([1, 0, 1, 1], np.uint8)
    view = np.broadcast_to(row, (5, 4))
    labels, table = cudaccl.label(view)
    assert (labels == [[1, 0, 2, 2]] * 5).all() and list(table["area"]) == [5, 10]


def test_unaligned_pixels():
    data = np.zeros(4 * 30 + 1, np.uint8)
    image = data[1:].view(np.int32).reshape(5, 6)
    image[2, 3] = image[4, 0] = 7
    assert len(cudaccl.components(image)) == 2


def test_read_only_images():
    image = np.ones((3, 4), np.uint8)
    image.flags.writeable = False
    assert len(cudaccl.label(image)[1]) == 1


def test_buffers_of_other_kinds():
    image = memoryview(bytes([1, 0, 0, 1, 0, 1])).cast("B", (2, 3))
    assert (cudaccl.label(image, 4)[0] == [[1, 0, 0], [1, 0, 2]]).all()


@given(images("uint8"), st.integers(0, 30), st.integers(0, 30))
def test_area_limits(image, low, high):
    table = cudaccl.components(image)
    keep = (table["area"] >= low) & ((table["area"] <= high) if high else True)
    labels, rest = cudaccl.label(image, min_area=low, max_area=high)
    assert len(rest) == keep.sum() and labels.max() == len(rest)
    for name in rest.dtype.names[1:]:
        assert (rest[name] == table[name][keep]).all()


def test_output_arrays():
    image = np.eye(6, dtype=np.uint8)
    whole = np.full((8, 16), 9, np.uint32)
    out = whole[1:7, 2:8]
    labels, _ = cudaccl.label(image, 4, out=out)
    assert labels is out and (out == np.diag(np.arange(1, 7))).all()
    whole[1:7, 2:8] = 9
    assert (whole == 9).all()
    for wrong, error in ((np.zeros((6, 5), np.int32), ValueError), (np.zeros((6, 6), np.int64), TypeError),
                         (np.zeros((6, 12), np.int32)[:, ::2], ValueError), (np.zeros((6, 6), np.float32), TypeError),
                         (np.zeros((6, 6), bool), TypeError), ([[0]], TypeError)):
        with pytest.raises(error):
            cudaccl.label(image, out=wrong)
    out = np.zeros((6, 6), np.int32)
    out.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        cudaccl.label(image, out=out)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (0, 3, 3), (3, 0, 3), (3, 3, 0)])
def test_empty_arrays(shape):
    for image in np.zeros(shape, np.uint8), np.zeros(shape, np.float16), np.ma.zeros(shape, ">i4"):
        labels, table = cudaccl.label(image, ndim=len(shape))
        assert labels.shape == shape and labels.dtype == np.int32 and len(table) == 0
        assert ("z" in table.dtype.names) == (len(shape) == 3)
    assert len(cudaccl.components(np.zeros(shape, np.int64), ndim=len(shape))) == 0


ONES = np.ones((4, 4), np.uint8)


@pytest.mark.parametrize("image, error, message", [
    (np.zeros((4, 4), complex), TypeError, "integers or floats, not complex128"),
    (np.zeros((4, 4), object), TypeError, "integers or floats, not object"),
    (np.zeros((4, 4), "U2"), TypeError, "integers or floats, not str"),
    (np.zeros((4, 4), "S2"), TypeError, "integers or floats, not bytes"),
    (np.zeros((4, 4), "M8[s]"), TypeError, "integers or floats, not datetime64"),
    (np.zeros((4, 4), "m8[s]"), TypeError, "integers or floats, not timedelta64"),
    (np.zeros((4, 4), [("a", "u1")]), TypeError, "integers or floats, not void"),
    (np.zeros(4, np.uint8), ValueError, "2 dimensions"),
    (np.uint8(1), ValueError, "2 dimensions"),
    (np.zeros((2, 2, 2, 2), np.uint8), ValueError, "2 dimensions, not 4"),
    (np.zeros((480, 640, 3), np.uint8), ValueError, r"shape \(480, 640, 3\).* ndim=3.* colours to grey"),
    (np.zeros((10, 48, 64), np.uint8), ValueError, r"shape \(10, 48, 64\).* several images"),
    ([[[0, 1]]], ValueError, "2 dimensions"),
    ([[0, 1], [1]], TypeError, "cannot be made of this list"),
    ([["a"]], TypeError, "not str"),
    ([0, 1], ValueError, "2 dimensions"),
    ([], ValueError, "2 dimensions"),
    (None, TypeError, "NoneType"),
    ("text", TypeError, "an array is needed, not str"),
    (b"text", ValueError, "2 dimensions"),
    ({}, TypeError, "an array is needed, not dict"),
])
def test_images_that_are_refused(image, error, message):
    with pytest.raises(error, match=message):
        cudaccl.label(image)


@pytest.mark.parametrize("arguments", [
    {"connectivity": 6}, {"connectivity": 0}, {"connectivity": 3}, {"connectivity": "8"}, {"connectivity": [8]},
    {"min_area": -1}, {"max_area": 2**32}, {"n_threads": -1}])
def test_arguments_that_are_refused(arguments):
    with pytest.raises(ValueError):
        cudaccl.label(ONES, **arguments)
    assert len(cudaccl.components(ONES)) == 1


@pytest.mark.parametrize("call, error, message", [
    (lambda: cudaccl.label(ONES, threshold="1"), TypeError, "threshold must be a finite number, not '1'"),
    (lambda: cudaccl.label(ONES, threshold=np.inf), TypeError, "threshold must be a finite number"),
    (lambda: cudaccl.label_values(np.zeros((4, 4, 3))), ValueError, "make a number of each colour"),
    (lambda: cudaccl.label(ONES, min_area=1.5), TypeError, "min_area must be an integer, not 1.5"),
    (lambda: cudaccl.label(ONES, max_area=None), TypeError, "max_area must be an integer, not None"),
    (lambda: cudaccl.label(ONES, n_threads=1.5), TypeError, "n_threads must be an integer"),
    (lambda: cudaccl.label(ONES, stream="a"), TypeError, "a stream is"),
    (lambda: cudaccl.label(ONES, stream=-1), TypeError, "a stream is"),
    (lambda: cudaccl.label(ONES.astype(float), threshold="1"), TypeError, "threshold must be a number"),
    (lambda: cudaccl.label(ONES.astype(float), threshold=np.nan), TypeError, "threshold must be a number"),
    (lambda: cudaccl.label(ONES, out=np.zeros((4, 4), ">i4")), TypeError, "byte order"),
    (lambda: cudaccl.label(ONES, out=np.broadcast_to(np.int32(0), (4, 4))), ValueError, "read-only"),
    (lambda: cudaccl.Labeller(4), TypeError, "a shape is"),
    (lambda: cudaccl.Labeller((4.5, 4)), TypeError, "a shape is"),
    (lambda: cudaccl.Labeller((4, 4), algorithm=None), TypeError, "algorithm must be a name"),
    (lambda: cudaccl.Labeller((4, 4), max_components=0), ValueError, "max_components must be 1…"),
    (lambda: cudaccl.Foreground((4, 4), closing=3).apply(ONES), TypeError, "closing is"),
    (lambda: cudaccl.Foreground((4, 4), closing=(64, 0)).apply(ONES), ValueError, "closing is"),
    (lambda: cudaccl.regionprops_table(np.ones((2, 2))), TypeError, "a component table is needed"),
    (lambda: cudaccl.table_to_array(ONES, ONES), TypeError, "a component table is needed"),
    (lambda: cudaccl.copy_to_host(ONES), TypeError, "a DeviceArray is needed"),
])
def test_errors_name_the_argument(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("threshold", [2.5, -0.5, np.float32(3.99), np.uint8(2), True, 1e15])
def test_thresholds_of_any_kind(threshold):
    image = np.arange(20, dtype=np.int16).reshape(4, 5) % 7
    assert (cudaccl.label(image, threshold=threshold)[0] == cudaccl.label(image > threshold)[0]).all()


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_thresholds_of_numpy_are_not_rounded(dtype):
    image = np.array([[2**53, 2**53 + 1, 2**53 + 2, np.iinfo(dtype).max]], dtype)
    for i, threshold in enumerate(image[0]):
        assert (cudaccl.label(image, threshold=threshold)[0] > 0).tolist() == [[k > i for k in range(4)]]
        assert cudaccl.components(image, threshold=threshold, invert=True)["area"].tolist() == [i + 1]
        labels = np.zeros(image.shape, np.uint32)
        cudaccl.label_file(image, labels, threshold=threshold)
        assert (labels > 0).tolist() == [[k > i for k in range(4)]]


def test_labeller():
    labeller = cudaccl.Labeller((5, 7), connectivity=4, max_components=3)
    assert labeller.shape == (5, 7) and labeller.connectivity == 4 and "cpu" in repr(labeller)
    image = np.eye(5, 7, dtype=bool)
    labels, table = labeller.label(image)
    assert labeller.n_components == 5 and list(table["label"]) == [1, 2, 3] and labels.max() == 5
    before = table.copy()
    assert len(labeller.components(~image)) == 2
    assert (table == before).all()  # a table is the caller's own
    with pytest.raises(ValueError, match="another shape"):
        labeller.label(np.zeros((7, 5), bool))
    assert list(labeller.components(image)["x"]) == [0, 1, 2]


@pytest.mark.parametrize("shape, arguments, error", [
    ((0, 4), {}, ValueError), ((4,), {}, ValueError), ((2**16, 2**16), {}, ValueError), ((-1, 4), {}, ValueError),
    ((4, 4), {"algorithm": "none"}, ValueError), ((4, 4), {"connectivity": 26}, ValueError),
    ((4, 4), {"max_components": 0}, ValueError), ((4, 4), {"max_components": 2**31}, ValueError), ((4, 4), {"device": "gpu"}, ValueError),
    ((4, 4), {"device": "cuda:x"}, ValueError), ((4, 4), {"device": -1}, ValueError),
    ((4, 4), {"n_threads": -1}, ValueError), ((2**31, 1), {}, ValueError)])
def test_labellers_that_are_refused(shape, arguments, error):
    with pytest.raises(error):
        cudaccl.Labeller(shape, **arguments)


def test_many_components():
    image = np.zeros((512, 512), np.uint8)
    image[::2, ::2] = 1
    labels, table = cudaccl.label(image)
    assert len(table) == labels.max() == 65536


def test_threads_share_a_labeller():
    """Four threads call one labeller and label() at once; every result is right."""
    random = np.random.default_rng(1)
    masks = [random.random((200, 300)) < density for density in (0.3, 0.4, 0.5, 0.6)]
    expected = [reference(mask, 8)[0] for mask in masks]
    shared = cudaccl.Labeller((200, 300))
    wrong = []

    def work(index):
        for _ in range(50):
            for function in (shared.label, cudaccl.label):
                labels, table = function(masks[index])
                if not (labels == expected[index]).all() or len(table) != expected[index].max():
                    wrong.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_interpreter_runs_while_an_image_is_labelled():
    """While a thread labels a large image, this one executes Python code."""
    image = np.random.default_rng(1).integers(0, 2, (8000, 8000), np.uint8)
    labeller = cudaccl.Labeller(image.shape, n_threads=1)
    labeller.components(image)
    started, ended = threading.Event(), threading.Event()

    def work():
        started.set()
        labeller.components(image)
        ended.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # threads change only where a function releases the lock
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        was_running = not ended.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert was_running


def test_images_and_results_are_released():
    image = np.ones((50, 60), np.uint8)
    out = np.empty((50, 60), np.int32)
    before = sys.getrefcount(image), sys.getrefcount(out)
    for _ in range(10):
        cudaccl.label(image, out=out)
        with pytest.raises(ValueError):
            cudaccl.label(image, min_area=-1, out=out)
    gc.collect()
    assert (sys.getrefcount(image), sys.getrefcount(out)) == before


def test_cache_is_bounded_and_can_be_cleared():
    from cudaccl import _labeller

    for n_threads in range(1, 9):  # floats are labelled by the general functions, others by a shorter way
        cudaccl.label(np.ones((5, 5)), n_threads=n_threads)
        cudaccl.label(np.ones((5, 5), bool), n_threads=n_threads)
        cudaccl.label(np.ones((2, 5, n_threads), bool), 26)
    assert len(_labeller.cache) == _labeller.CACHED
    cudaccl.clear_cache()
    assert not _labeller.cache


IMAGES_OF_MANY_KINDS = {
    "bytes": lambda image: image,
    "bool": lambda image: image.astype(bool),
    "strided": lambda image: np.repeat(image, 2, 0)[::2],
    "reversed": lambda image: image[::-1].copy()[::-1],
    "transposed": lambda image: image.T.copy().T,
    "int16": lambda image: image.astype(np.int16),
    "uint16": lambda image: image.astype(np.uint16),
    "float": lambda image: image.astype(np.float32),
}


@pytest.mark.parametrize("kind", IMAGES_OF_MANY_KINDS)
def test_shapes_that_change(kind):
    for i in range(120):
        shape = tuple(np.random.default_rng(i).integers(1, (9, 60, 400)[i % 3], 2))
        image = (np.random.default_rng(i).random(shape) < i / 120).astype(np.uint8)
        connectivity, invert, min_area = (4, 8)[i // 2 % 2], i % 5 == 0, i % 4
        foreground = image == 0 if invert else image != 0
        want, n = ndimage.label(foreground, np.ones((3, 3)) if connectivity == 8 else None)
        areas = np.bincount(want.ravel(), minlength=n + 1)
        keep = areas >= min_area
        keep[0] = False
        labels, table = cudaccl.label(
            IMAGES_OF_MANY_KINDS[kind](image), connectivity, invert=invert, min_area=min_area)
        assert (labels == np.where(keep, np.cumsum(keep), 0)[want]).all()
        assert (table["area"] == areas[keep]).all() and (table["label"] == np.arange(1, keep.sum() + 1)).all()
        only_table = cudaccl.components(
            IMAGES_OF_MANY_KINDS[kind](image), connectivity, invert=invert, min_area=min_area)
        assert (only_table == table).all()


def test_dlpack_in_host_memory():
    class Tensor:
        """An array that has DLPack and no buffer."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    image = np.random.default_rng(1).integers(-5, 5, (9, 11), np.int16)
    labels, table = cudaccl.label(Tensor(image))
    assert (labels == reference(image > 0, 8)[0]).all()
    out = np.empty((9, 11), np.int32)
    cudaccl.label(Tensor(image[:, ::-1]), out=Tensor(out))
    assert (out == reference(image[:, ::-1] > 0, 8)[0]).all()
    real = image.astype(np.float32) / 7
    assert (cudaccl.label(Tensor(real), threshold=0.3)[0] == reference(real > 0.3, 8)[0]).all()
    assert (cudaccl.label(Tensor(real.astype(np.float16)), threshold=0.3)[0] ==
            reference(real.astype(np.float16) > np.float64(0.3), 8)[0]).all()
    with pytest.raises(TypeError, match="not complex64"):
        cudaccl.label(Tensor(image.astype(np.complex64)))


def test_no_gpu_is_a_clear_error():
    class Fake:
        """An array that claims to be on a GPU."""
        __cuda_array_interface__ = {"shape": (4, 4), "typestr": "|u1", "data": (4096, False), "version": 3}

    with pytest.raises(ValueError, match="GPU"):
        cudaccl.label(Fake())


@pytest.mark.parametrize("fields", [
    {}, {"shape": (4, -4)}, {"shape": "ab"}, {"typestr": 5}, {"typestr": ""}, {"typestr": "|u99999999999"}, {"typestr": "<f2x"},
    {"data": 5}, {"data": ()}, {"data": (2**70, False)}, {"strides": "x"}, {"stream": "a"}, {"shape": None}, {"data": None}])
def test_interfaces_that_are_malformed(fields):
    class Fake:
        __cuda_array_interface__ = {**({"shape": (4, 4), "typestr": "|u1", "data": (4096, False), "version": 3} if fields else {}), **fields}

    with pytest.raises((TypeError, ValueError), match="__cuda_array_interface__|must hold|on a GPU"):
        cudaccl.label(Fake())
    Fake.__cuda_array_interface__ = {**Fake.__cuda_array_interface__, "shape": (2**40, 2**40), "typestr": "|u1", "data": (1, False)}
    with pytest.raises((TypeError, ValueError), match="memory has bytes|__cuda_array_interface__"):
        cudaccl.label(Fake())


@pytest.mark.parametrize("threshold", [0, -1, 0.5, 1e-7, -6e-8, 1e-40, 65504, 1e38, np.inf, -np.inf])
def test_floats_of_16_bits(threshold):
    """All of them, beside NumPy's and the upper halves of floats of 32 bits."""
    bits = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        expected = bits.view(np.float16).astype(np.float64) > threshold, wide.astype(np.float64) > threshold
    for image, mask in zip((bits.view(np.float16), device_arrays.BrainFloats(bits)), expected):
        assert (cudaccl.label(image, threshold=threshold)[0] == cudaccl.label(mask)[0]).all()
        assert (cudaccl.components(image, threshold=threshold) == cudaccl.components(mask)).all()
