# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contours and run lengths of arrays in host memory against OpenCV, scikit-image and pycocotools."""
import json
import warnings

import cudaccl
import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")
ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=40)
MASKS = SHAPES.flatmap(lambda shape: st.one_of(
    hnp.arrays(bool, shape),
    st.builds(lambda seed, density: np.random.default_rng(seed).random(shape) < density,
              st.integers(0, 2**32), st.floats(0, 1))))


def of_opencv(mask):
    """Contours of OpenCV: hole or not, and the points."""
    found, hierarchy = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    return [(int(hierarchy[0][i][3] >= 0), points[:, 0].tolist(), int(hierarchy[0][i][3]))
            for i, points in enumerate(found)]


@given(MASKS)
def test_pixels_as_opencv(mask):
    ours = cudaccl.contours(mask)
    theirs = of_opencv(mask)
    assert sorted((int(row["is_hole"]), points.tolist()) for row, points in zip(ours.table, ours)) == sorted(
        (is_hole, points) for is_hole, points, _ in theirs)
    outer_of = {str(points): theirs[parent][1] for is_hole, points, parent in theirs if is_hole}
    for row, points in zip(ours.table, ours):
        if row["is_hole"]:
            assert ours[int(row["parent"])].tolist() == outer_of[str(points.tolist())]


def fill(rings, shape):
    """The pixels inside polygons of cracks, by the even-odd rule: their centres are on no edge."""
    inside = np.zeros(shape, bool)
    for ring in rings:
        for (x, y), (next_x, next_y) in zip(ring, np.roll(ring, -1, axis=0)):
            if x == next_x:
                inside[min(y, next_y):max(y, next_y), x:] ^= True
    return inside


@given(MASKS, st.sampled_from([4, 8]))
def test_filled_cracks_are_components(mask, connectivity):
    labels, count = ndimage.label(mask, ndimage.generate_binary_structure(2, connectivity // 4))
    found = cudaccl.contours(mask, connectivity, kind="cracks")
    assert found.n_components == count
    for number, rings in enumerate(found.polygons(), 1):
        assert (fill(rings, mask.shape) == (labels == number)).all()


@given(MASKS, st.sampled_from(["uint8", "int64", "float32"]))
def test_images_label_maps_and_area_limits(mask, dtype):
    labels, table = cudaccl.label(mask, min_area=3, max_area=9)
    expected = cudaccl.contours(labels, kind="cracks")
    image = np.where(mask, 7, 2).astype(dtype)
    for found in (cudaccl.contours(image, kind="cracks", threshold=2, min_area=3, max_area=9),
                  cudaccl.contours(-image.astype(float), kind="cracks", threshold=-7, invert=True, min_area=3, max_area=9)):
        assert found.n_components == len(table)
        assert (found.table == expected.table).all()
        assert (found.points == expected.points).all()
    assert (cudaccl.contours(image, threshold=2).points == cudaccl.contours(mask).points).all()


@given(MASKS, st.floats(0, 4))
def test_simplified_contours_stay_near(mask, tolerance):
    whole = cudaccl.contours(mask)
    simple = cudaccl.contours(mask, tolerance=tolerance)
    for points, kept in zip(whole, simple):
        assert kept[0].tolist() == points[0].tolist()
        ring = kept.astype(np.float32).reshape(-1, 1, 2)
        for point in points:
            assert abs(cv2.pointPolygonTest(ring, (float(point[0]), float(point[1])), True)) <= tolerance + 1e-3


# Maps whose labels touch, cross and are in parts, with values that are no numbers in a row.
MAPS = SHAPES.flatmap(lambda shape: st.builds(
    lambda seed, n, block: np.array([0, 7, 1, 300, 2**31 - 1, 2])[np.random.default_rng(seed).integers(0, n, np.array(
        shape) // block + 1)].repeat(block, 0).repeat(block, 1)[:shape[0], :shape[1]],
    st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 3)))


@given(MAPS, st.sampled_from(["int32", "uint32", "int64"]))
def test_labels_as_opencv(labels, dtype):
    ours = cudaccl.contours(labels.astype(dtype))
    assert set(ours.table["component"]) == set(labels[labels > 0])
    for label in np.unique(labels[labels > 0]):
        mine = [(int(row["is_hole"]), points.tolist()) for row, points in zip(ours.table, ours)
                if row["component"] == label]
        assert sorted(mine) == sorted((is_hole, points) for is_hole, points, _ in of_opencv(labels == label))


def test_labels_that_touch():
    assert cudaccl.contours([[1, 1, 2, 2]] * 2).table["component"].tolist() == [1, 2]
    assert cudaccl.contours([[7, 0, 3]]).table["component"].tolist() == [7, 3]
    bytes = np.array([[1, 1, 2, 2]] * 2, np.uint8)
    assert len(cudaccl.contours(bytes)) == 1
    assert len(cudaccl.contours(bytes, labels=True)) == 2
    assert len(cudaccl.contours(bytes.astype(int), labels=False)) == 1
    mask = np.zeros((20, 40), bool)
    mask[2:18, 2:20] = mask[2:18, 21:38] = mask[8:12, 20] = True
    objects, n = cudaccl.split_touching(mask, radius=7)
    assert n == 2 and cudaccl.contours(objects).table["component"].tolist() == [1, 2]
    for wrong in (dict(threshold=1), dict(invert=True)):
        with pytest.raises(ValueError, match="label map"):
            cudaccl.contours(bytes, labels=True, **wrong)
    with pytest.raises(ValueError, match="negative"):
        cudaccl.contours([[-1]])
    with pytest.raises(ValueError, match="2³²"):
        cudaccl.contours([[2**32]])


@given(MAPS, st.integers(0, 20), st.integers(0, 40))
def test_areas_of_labels(labels, min_area, max_area):
    found = cudaccl.contours(labels, kind="cracks", min_area=min_area, max_area=max_area)
    values, counts = np.unique(labels[labels > 0], return_counts=True)
    kept = values[(counts >= min_area) & (counts <= (max_area or labels.size))]
    expected = cudaccl.contours(np.where(np.isin(labels, kept), labels, 0), kind="cracks")
    assert (found.table == expected.table).all() and (found.points == expected.points).all()


def check_geometries(features, labels):
    """Every geometry is valid, with its exterior counter-clockwise, and covers the pixels of its label."""
    geometry = pytest.importorskip("shapely.geometry", reason="Python module not installed: shapely")
    validation = pytest.importorskip("shapely.validation")
    assert [feature["properties"]["label"] for feature in features] == np.unique(labels[labels > 0]).tolist()
    for feature in features:
        whole = geometry.shape(feature["geometry"])
        mask = labels == feature["properties"]["label"]
        assert whole.is_valid, validation.explain_validity(whole)
        assert whole.area == mask.sum()
        for polygon in getattr(whole, "geoms", [whole]):
            assert polygon.exterior.is_ccw and not any(ring.is_ccw for ring in polygon.interiors)
            rings = [np.array(ring.coords[:-1], int) for ring in (polygon.exterior, *polygon.interiors)]
            inside = fill(rings, mask.shape)
            assert (inside <= mask).all()
            mask = mask & ~inside
        assert not mask.any()


@given(MASKS, st.sampled_from([4, 8]))
def test_geojson_of_masks_is_valid(mask, connectivity):
    labels, _ = ndimage.label(mask, ndimage.generate_binary_structure(2, connectivity // 4))
    check_geometries(cudaccl.contours(mask, connectivity, kind="cracks").geojson()["features"], labels)


@given(MAPS, st.sampled_from([4, 8]))
def test_geojson_of_labels_is_valid(labels, connectivity):
    check_geometries(cudaccl.contours(labels, connectivity, kind="cracks").geojson()["features"], labels)


def test_geojson():
    mask = np.zeros((5, 6), bool)
    mask[:4, :4] = True
    mask[1:3, 1:3] = False
    mask[4, 5] = True
    features = json.loads(json.dumps(cudaccl.contours(mask, kind="cracks").geojson()))["features"]
    assert features[0]["properties"] == {"label": 1}
    assert features[0]["geometry"] == {"type": "Polygon", "coordinates": [
        [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]], [[1, 1], [1, 3], [3, 3], [3, 1], [1, 1]]]}
    simple = cudaccl.contours(mask, kind="cracks", tolerance=0).geojson()["features"]
    assert simple == features
    ring = [[1, 1, 1], [1, 0, 1], [1, 1, 0]]  # the hole touches the outer ring, whose corner is passed twice
    features = cudaccl.contours(np.array(ring, bool), 4, kind="cracks").geojson()["features"]
    assert len(features[0]["geometry"]["coordinates"]) == 2
    assert cudaccl.contours(mask).geojson()["features"][1]["geometry"] == {"type": "Point", "coordinates": [5, 4]}


@pytest.mark.parametrize("kind", ["mask", "labels"])
def test_geojson_of_simplified_rings(kind):
    """With 0 the polygons stay the same; with more each ring still goes round an area, in its direction."""
    random = np.random.default_rng(6)
    for _ in range(20):
        image = random.random((12, 15)) < 0.6 if kind == "mask" else random.integers(0, 3, (12, 15))
        exact = cudaccl.contours(image, kind="cracks").geojson()["features"]
        for tolerance in (0, 0.6, 1.5, 4):
            features = cudaccl.contours(image, kind="cracks", tolerance=tolerance).geojson()["features"]
            assert len(features) == len(exact)
            for feature, whole in zip(features, exact):
                assert tolerance or signed_areas(feature) == signed_areas(whole)
                for areas in signed_areas(feature):
                    assert areas[0] > 0 and all(hole < 0 for hole in areas[1:])


def signed_areas(feature):
    """Twice the areas of the rings of each polygon, positive where they are counter-clockwise."""
    geometry = feature["geometry"]
    polygons = {"Polygon": [geometry["coordinates"]], "MultiPolygon": geometry["coordinates"]}[geometry["type"]]
    return [[sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) for ring in rings] for rings in polygons]


def test_small_integers_may_be_labels():
    """An array of uint8 with several values may be a label map: a warning follows, unless the call says what it is."""
    image = np.array([[1, 1, 2, 2]] * 2, np.uint8)
    with pytest.warns(UserWarning, match="labels=True"):
        assert len(cudaccl.contours(image)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(cudaccl.contours(image, labels=True)) == 2
        assert [len(cudaccl.contours(image, labels=False)), len(cudaccl.contours(image, threshold=1))] == [1, 1]
        assert [len(cudaccl.contours(image == 1)), len(cudaccl.contours(255 * (image == 1).astype(np.uint8)))] == [1, 1]


def test_hulls_as_opencv():
    image = np.random.default_rng(5).random((90, 120))
    labels, _ = cudaccl.label(cv2.GaussianBlur(image, (0, 0), 2), threshold=0.5)
    table = cudaccl.regionprops_table(labels, ["label", "area", "hull_area", "hull_solidity", "feret_max", "feret_min"])
    for i, number in enumerate(table["label"]):
        y, x = np.nonzero(labels == number)
        corners = np.stack([np.concatenate([x, x + 1, x, x + 1]), np.concatenate([y, y, y + 1, y + 1])], 1)
        hull = cv2.convexHull(corners.astype(np.int32))
        assert table["hull_area"][i] == cv2.contourArea(hull)
        assert table["hull_solidity"][i] == table["area"][i] / table["hull_area"][i]
        points = hull[:, 0].astype(float)
        assert table["feret_max"][i] == pytest.approx(max(np.linalg.norm(points - p, axis=1).max() for p in points))
        assert table["feret_min"][i] == pytest.approx(min(
            np.ptp((points @ np.array([b[1] - a[1], a[0] - b[0]])) / np.linalg.norm(b - a))
            for a, b in zip(points, np.roll(points, -1, 0))))


def test_hulls_of_maps_whose_labels_touch():
    labels = np.array([[900, 900, -0, 7], [900, 7, 7, 7]], np.int64)
    table = cudaccl.regionprops_table(labels, ["label", "hull_area", "feret_max"])
    assert table["label"].tolist() == [7, 900]
    assert table["hull_area"].tolist() == [5.0, 3.5]
    assert table["feret_max"] == pytest.approx([13 ** 0.5, 8 ** 0.5])


def run_lengths(mask):
    """Counts of COCO by a decoder's rule: from the mask's pixels in columns."""
    pixels = np.concatenate([[False], mask.ravel(order="F")])
    changes = np.flatnonzero(pixels[1:] != pixels[:-1])
    counts = np.diff(np.concatenate([[0], changes, [mask.size]])).tolist()
    return counts[:-1] if counts[-1] == 0 else counts


@given(MASKS)
def test_run_lengths(mask):
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    plain, packed = cudaccl.rle(mask, compressed=False), cudaccl.rle(labels)
    assert len(plain) == len(packed) == count
    for number, (encoding, compressed) in enumerate(zip(plain, packed), 1):
        assert encoding == {"size": list(mask.shape), "counts": run_lengths(labels == number)}
        for one in (encoding, compressed, {**compressed, "counts": compressed["counts"].decode()}):
            assert (cudaccl.rle_decode(one) == (labels == number)).all()


@pytest.mark.parametrize("is_high", [False, True])
def test_long_sides(is_high):
    near = np.random.default_rng(8).random((5, 900)) < 0.6
    far = np.zeros((5, 70000), bool)
    far[:, 69050:69950] = near
    image, part, shift = (far.T.copy(), near.T.copy(), (0, 69050)) if is_high else (far, near, (69050, 0))
    for kind in "pixels", "cracks":
        found, expected = cudaccl.contours(image, kind=kind), cudaccl.contours(part, kind=kind)
        assert (found.table == expected.table).all() and (found.points == expected.points + shift).all()
    measure = pytest.importorskip("skimage.measure")
    labels, _ = ndimage.label(image, np.ones((3, 3)))
    names = ["label", "area", "bbox", "centroid", "perimeter", "euler_number", "inertia_tensor", "intensity_mean"]
    values = np.random.default_rng(9).integers(0, 256, image.shape).astype(np.uint8)
    found = cudaccl.regionprops_table(labels, [*names, "n_holes", "hull_area", "touches_border"], intensity_image=values)
    for name, column in measure.regionprops_table(labels, values, properties=names).items():
        np.testing.assert_allclose(found[name], column, rtol=1e-9, atol=1e-6)
    assert [one["counts"] for one in cudaccl.rle(image, compressed=False)] == [
        run_lengths(labels == number) for number in range(1, labels.max() + 1)]


def test_run_lengths_as_pycocotools():
    coco = pytest.importorskip("pycocotools.mask", reason="Python module not installed: pycocotools")
    rng = np.random.default_rng(2)
    for _ in range(20):
        mask = ndimage.uniform_filter(rng.random(rng.integers(1, 90, 2)), 3) > 0.5
        labels, table = cudaccl.label(mask)
        for row, encoding in zip(table, cudaccl.rle(labels)):
            assert encoding == coco.encode(np.asfortranarray(labels == row["label"], np.uint8))
            assert coco.area(encoding) == row["area"]
            assert coco.toBbox(encoding).tolist() == [row[name] for name in ("x", "y", "width", "height")]


def test_arguments():
    mask = np.ones((2, 3), bool)
    for wrong in ({"kind": "edges"}, {"connectivity": 6}, {"tolerance": -1}, {"tolerance": float("nan")}):
        with pytest.raises(ValueError):
            cudaccl.contours(mask, **wrong)
    for map in np.ones((2, 2), bool), np.ones((2, 2), int):
        with pytest.raises(ValueError, match="max_area"):
            cudaccl.contours(map, max_area=-1)
    with pytest.raises(ValueError, match="2 dimensions"):
        cudaccl.contours(np.ones((2, 2, 2), bool))
    for wrong in ({}, {"size": [2, 2], "counts": [3]}, {"size": [1, 1], "counts": b"\xff"}, {"size": [1], "counts": []}):
        with pytest.raises(ValueError):
            cudaccl.rle_decode(wrong)
    assert len(cudaccl.contours(np.zeros((0, 4), bool))) == 0
    assert len(cudaccl.contours(np.zeros((4, 4), bool))) == 0
    assert cudaccl.rle(np.zeros((4, 0), bool)) == []
    assert cudaccl.contours(mask).table["parent"].tolist() == [cudaccl.NO_CONTOUR]
