# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random cases of what other files test by examples: foregrounds, grounds, trackers, hulls and labellers that are used again,
against OpenCV, scipy, rasterio, shapely and calculation."""
import fractions

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
cv2 = pytest.importorskip("cv2")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

SEEDS = st.integers(0, 2**32)
SIDES = st.tuples(st.integers(1, 40), st.integers(1, 70))
WINDOWS = {"none": 0, "median-3x3": 3, "median-5x5": 5, "opening-3x3": 3, "opening-5x5": 5}


def filtered(mask, denoise):
    """A mask of 0 and 255 after a filter. At the border medians repeat the nearest pixel, and openings remove nothing."""
    size = WINDOWS[denoise]
    if denoise.startswith("median"):
        return cv2.medianBlur(mask, size)
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((size, size), np.uint8)) if size else mask


@given(SEEDS, SIDES, st.sampled_from(["uint8", "uint16"]), st.sampled_from(sorted(WINDOWS)), st.booleans(), st.booleans())
def test_thresholds_and_filters_as_opencv(seed, shape, pixels, denoise, invert, has_roi):
    random = np.random.default_rng(seed)
    most = int(np.iinfo(pixels).max)
    frame = random.integers(0, most, shape, pixels, endpoint=True)
    roi = (random.random(shape) < 0.7).astype(np.uint8)
    threshold = int(random.integers(0, most))
    foreground = cudaccl.Foreground(shape, "threshold", pixels=pixels, roi_mask=roi if has_roi else None, threshold=threshold,
                                    denoise=denoise, invert=invert)
    mask = filtered(np.where(frame > threshold, 255, 0).astype(np.uint8), denoise)
    expected = np.where(roi > 0, 255 - mask if invert else mask, 0) if has_roi else 255 - mask if invert else mask
    np.testing.assert_array_equal(foreground.apply(frame), expected)


@given(SEEDS, SIDES, st.integers(2, 256))
def test_otsu_as_opencv(seed, shape, n_values):
    random = np.random.default_rng(seed)
    frame = (random.choice([random.normal(80, 20, shape), random.normal(170, 25, shape)], axis=0).clip(0, 255) // 1
             * (n_values - 1) / 255).astype(np.uint8)
    hypothesis.assume(len(np.unique(frame)) > 1)
    mask = cudaccl.Foreground(shape, "otsu").apply(frame)
    _, expected = cv2.threshold(frame, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    assert between_classes(frame, mask) == between_classes(frame, expected), "OpenCV's threshold divides better, or worse"


def between_classes(frame, mask):
    """The variance between the classes times the square of the number of pixels, exactly: thresholds may share the greatest, and
    OpenCV's rounding picks one of them."""
    n, ours = frame.size, int(np.count_nonzero(mask))
    total, part = int(frame.sum(dtype=np.int64)), int(frame[mask > 0].sum(dtype=np.int64))
    return fractions.Fraction((part * n - total * ours) ** 2, ours * (n - ours)) if 0 < ours < n else 0


def homography(random):
    """From metres to pixels, of a camera that looks down at the ground."""
    angle, focal, height = np.radians(random.uniform(15, 60)), random.uniform(400, 1500), random.uniform(2, 20)
    rotation = np.array([[1, 0, 0], [0, -np.sin(angle), -np.cos(angle)], [0, np.cos(angle), -np.sin(angle)]])
    camera = np.array([[focal, 0, 640], [0, focal, 360], [0, 0, 1]]) @ rotation
    return camera @ np.column_stack([[1, 0, 0], [0, 1, 0], [0, 0, -height]])


def seen(matrix, metres):
    pixels = matrix @ np.vstack([metres.T, np.ones(len(metres))])
    return (pixels[:2] / pixels[2]).T


@given(SEEDS, st.integers(4, 30), st.sampled_from([0, 0.5, 3]))
def test_grounds_have_the_least_residual(seed, n, noise):
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(seed)
    matrix = homography(random)
    corners = np.array([(-5, 5), (5, 6), (7, 40), (-6, 35)], float)
    metres = np.vstack([corners, random.uniform((-5, 6), (5, 34), (n - 4, 2))])
    pixels = seen(matrix, metres) + random.normal(0, 1, (n, 2)) * noise * (n > 4)
    ground = cudaccl.Ground(np.hstack([pixels, metres]))
    if noise == 0 or n == 4:
        assert ground.residual < 1e-5
        places = random.uniform((-5, 6), (5, 34), (20, 2))
        np.testing.assert_allclose(ground.locate(seen(matrix, places)), places, rtol=1e-5, atol=1e-5)
        return

    def distances(h):
        return (seen(np.append(h, 1).reshape(3, 3), metres) - pixels).ravel()

    best = optimize.least_squares(distances, (matrix / matrix[2, 2]).ravel()[:8], x_scale="jac")
    assert ground.residual <= np.sqrt(2 * best.cost / n) * (1 + 1e-5)


@given(SEEDS, st.integers(1, 12))
def test_objects_that_move_steadily_keep_their_identities(seed, n):
    random = np.random.default_rng(seed)
    tracker = cudaccl.Tracker((1000, 1000), frame_rate=25)
    cells = random.permutation(25)[:n]
    begin = np.stack([cells % 5, cells // 5], 1) * 200 + 70.0  # too far apart to meet
    speed, sides = random.uniform(-1.5, 1.5, (n, 2)), random.integers(12, 40, (n, 2))
    seen_identities = []
    for i in range(40):
        order = random.permutation(n)
        corners = np.rint(begin + speed * i).astype(int)[order]
        table = np.zeros(n, cudaccl.component_dtype)
        table["label"], table["area"] = np.arange(1, n + 1), sides[order].prod(1)
        table["x"], table["y"], table["width"], table["height"] = *corners.T, *sides[order].T
        table["centroid_x"], table["centroid_y"] = (corners + (sides[order] - 1) / 2).T
        tracks = tracker.update(table).tracks
        if i >= 20:
            assert len(tracks) == n
            middles = np.stack([tracks[a] + tracks[s] / 2 for a, s in (("x", "width"), ("y", "height"))], 1)
            distances = np.linalg.norm(middles[:, np.newaxis] - (begin + speed * i + sides / 2), axis=2)
            assert distances.min(0).max() < 8
            seen_identities.append(tracks["id"][distances.argmin(0)].tolist())
    assert len(set(map(tuple, seen_identities))) == 1 and len(set(seen_identities[0])) == n


@given(SEEDS, st.sampled_from([4, 8, 6, 18, 26]), st.lists(st.tuples(*[st.integers(1, 14)] * 3), min_size=1, max_size=4))
def test_a_labeller_of_many_shapes_as_scipy(seed, connectivity, shapes):
    random = np.random.default_rng(seed)
    ndim = 2 if connectivity in (4, 8) else 3
    structure = ndimage.generate_binary_structure(ndim, {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}[connectivity])
    for shape in shapes:
        labeller = cudaccl.Labeller(shape[:ndim], connectivity=connectivity)
        for dtype in "uint8", "bool", "float32", "int16":
            image = (random.random(shape[:ndim]) < random.random()).astype(dtype)
            labels, table = labeller.label(np.asfortranarray(image))
            expected, n = ndimage.label(image, structure)
            assert len(table) == n and (labels == expected).all()
            columns = cudaccl.table_to_array(table, image)
            assert columns.shape == (n, len(table.dtype.names)) and columns.dtype == np.float64
            assert all((columns[:, i] == table[name]).all() for i, name in enumerate(table.dtype.names))


@given(SEEDS, SIDES, st.sampled_from([4, 8]), st.integers(2, 5))
def test_polygons_cover_the_pixels_of_labels(seed, shape, connectivity, n_values):
    features = pytest.importorskip("rasterio.features", reason="Python module not installed: rasterio")
    random = np.random.default_rng(seed)
    values = random.integers(0, n_values, np.array(shape) // 4 + 1).repeat(4, 0).repeat(4, 1)[:shape[0], :shape[1]]
    labels, n = cudaccl.label_values(values.astype(np.uint8), connectivity)
    shapes = [(feature["geometry"], feature["properties"]["label"])
              for feature in cudaccl.contours(labels, kind="cracks", connectivity=connectivity).geojson()["features"]]
    assert len(shapes) == n
    if n:
        np.testing.assert_array_equal(features.rasterize(shapes, shape, dtype="int32"), labels)


@given(SEEDS, st.sampled_from([5, 25, 60]))
def test_motions_are_those_in_front_of_the_camera(seed, rate):
    """Of flat objects: their foot is the middle of the box. Positions, velocities and the covariance of positions, by numeric
    derivatives of the camera's matrix."""
    random = np.random.default_rng(seed)
    matrix = homography(random)
    corners = np.array([(-5, 5), (5, 6), (7, 40), (-6, 35)], float)
    ground = cudaccl.Ground(np.hstack([seen(matrix, corners), corners]))
    metres, velocity = random.uniform((-5, 6), (5, 34), (8, 2)), random.uniform(-4, 4, (8, 2))
    pixels, step = seen(matrix, metres), 1e-4
    feet = np.zeros(8, cudaccl.foot_dtype)
    feet["x"], feet["y"], feet["height"] = *pixels.T, 1e-6
    feet["velocity_x"], feet["velocity_y"] = ((seen(matrix, metres + velocity * step) - seen(matrix, metres - velocity * step)) / (2 * step * rate)).T
    feet["var_x"], feet["var_y"] = random.uniform(0.001, 0.01, (2, 8))
    motions = ground.motion(feet, rate)
    np.testing.assert_allclose(np.stack([motions["x"], motions["y"]], 1), metres, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.stack([motions["velocity_x"], motions["velocity_y"]], 1), velocity, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(motions["speed"], 3.6 * np.hypot(*velocity.T), rtol=1e-3, atol=4e-3)
    back = np.linalg.inv(matrix)
    slopes = np.stack([(seen(back, pixels + shift) - seen(back, pixels - shift)) / 0.02 for shift in np.eye(2) * 0.01], 2)
    covariances = np.einsum("nij,nj,nkj->nik", slopes, np.stack([feet["var_x"], feet["var_y"]], 1), slopes)
    found = np.stack([motions[name] for name in ("xx", "xy", "yy")], 1)
    np.testing.assert_allclose(found, covariances[:, [0, 0, 1], [0, 1, 1]], rtol=1e-2, atol=1e-9)


@given(SEEDS, SIDES, st.integers(2, 5))
def test_hulls_as_shapely(seed, shape, n_values):
    geometry = pytest.importorskip("shapely.geometry", reason="Python module not installed: shapely")
    labels = np.random.default_rng(seed).integers(0, n_values, np.array(shape) // 5 + 1).repeat(5, 0).repeat(5, 1)[:shape[0], :shape[1]]
    table = cudaccl.regionprops_table(labels, ["label", "hull_area", "hull_solidity", "feret_max", "feret_min"])
    for label, area, solidity, longest, shortest in zip(*table.values()):
        y, x = np.nonzero(labels == label)
        hull = geometry.MultiPoint(np.stack([np.concatenate([x, x + 1, x, x + 1]), np.concatenate([y, y, y + 1, y + 1])], 1)).convex_hull
        points = np.array(hull.exterior.coords)
        assert area == pytest.approx(hull.area) and solidity == pytest.approx(len(x) / hull.area)
        assert longest == pytest.approx(max(np.hypot(*(points - point).T).max() for point in points))
        sides = np.diff(points, axis=0)
        normals = np.stack([sides[:, 1], -sides[:, 0]], 1) / np.hypot(*sides.T)[:, np.newaxis]
        assert shortest == pytest.approx(np.ptp(points @ normals.T, axis=0).min())
