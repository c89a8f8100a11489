# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file() where components change when they are known: holes, borders that touch, the largest ones. Against scipy."""
import os

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from test_objects import HOLES, STRUCTURE, filled_by_scipy, structure  # noqa: E402
from test_periodic import flooded  # noqa: E402

MASKS = st.builds(lambda connectivity, seed, density, axes, tile: (connectivity, noise(connectivity, seed, density), axes, tile),
                  st.sampled_from(sorted(STRUCTURE)), st.integers(0, 2**32), st.floats(0.1, 0.9), st.sets(st.integers(0, 2), min_size=1),
                  st.integers(0, 5))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def noise(connectivity, seed, density):
    random = np.random.default_rng(seed)
    ndim = STRUCTURE[connectivity][0]
    return random.random(random.integers(1, 20 if ndim == 2 else 8, ndim)) < density


def labelled(mask, **options):
    """The number of components, the label map and the table of label_file()."""
    labels = np.zeros(mask.shape, np.uint32)
    n = cudaccl.label_file(mask, labels, "table.npy", ndim=mask.ndim, **options)
    return n, labels.astype(np.int64), np.load("table.npy")


def numbered(labels, stays):
    """The labels that stay with new numbers, in the same order."""
    return np.where(stays, np.cumsum(stays), 0)[labels]


def without_wide_holes(mask, connectivity, max_area):
    """The mask with filled holes."""
    holes, n = ndimage.label(np.pad(~mask, 1, constant_values=True), structure(HOLES[connectivity]))
    areas = np.bincount(holes.ravel(), minlength=n + 1)
    areas[[0, holes.flat[0]]] = np.iinfo(np.int64).max
    return mask | (areas <= (max_area or mask.size))[holes][(slice(1, -1),) * mask.ndim]


@given(MASKS, st.sampled_from([0, 1, 4]), st.booleans())
def test_holes_of_the_foreground(case, max_area, invert):
    connectivity, mask, _, tile = case
    filled = without_wide_holes(mask ^ invert, connectivity, max_area)
    want, n = ndimage.label(filled, structure(connectivity))
    found, labels, table = labelled(mask, connectivity=connectivity, invert=invert, tile=tile, fill_holes=max_area)
    assert found == n == len(table) and (labels == want).all()
    assert (table["area"] == np.bincount(want.ravel(), minlength=n + 1)[1:]).all()


@given(MASKS, st.sampled_from([0, 1, 4]), st.integers(0, 3), st.booleans())
def test_holes_of_each_component(case, max_area, k, clear_border):
    connectivity, mask, _, tile = case
    want = filled_by_scipy(ndimage.label(mask, structure(connectivity))[0].astype(np.int64), connectivity, max_area)
    areas = np.bincount(want.ravel())
    stays = areas > 0
    stays[0] = False
    if clear_border:
        edge = np.ones(mask.shape, bool)
        edge[(slice(1, -1),) * mask.ndim] = False
        stays[np.unique(want[edge])] = False
    if k:
        largest = sorted(np.flatnonzero(stays), key=lambda label: (-areas[label], label))[:k]
        stays = np.isin(np.arange(len(areas)), largest)
    want = numbered(want, stays)
    found, labels, table = labelled(mask, connectivity=connectivity, tile=tile, fill_label_holes=max_area, keep_largest=k,
                                    clear_border=clear_border)
    assert found == want.max() and (labels == want).all()
    names = ["label", "num_pixels", "bbox", "centroid", "inertia_tensor", "euler_number",
             *(["perimeter", "crack_length", "n_holes"] if mask.ndim == 2 else ["surface_area"])]
    columns = labelled(mask, connectivity=connectivity, tile=tile, fill_label_holes=max_area, keep_largest=k,
                       clear_border=clear_border, properties=names)[2]
    for name, column in cudaccl.regionprops_table(want, names, connectivity=connectivity).items():
        assert (columns[name] == column).all(), name


@given(MASKS, st.integers(0, 3), st.integers(0, 4))
def test_borders_that_touch(case, k, min_area):
    connectivity, mask, axes, tile = case
    axes = {axis for axis in axes if axis < mask.ndim}
    want, table = flooded(mask, axes, connectivity)[0], cudaccl.label_periodic(mask, axes, connectivity)[1]
    areas = np.bincount(want.ravel())
    stays = areas >= min_area
    stays[0] = False
    if k:
        stays = np.isin(np.arange(len(areas)), sorted(np.flatnonzero(stays), key=lambda label: (-areas[label], label))[:k])
    found, labels, rows = labelled(mask, connectivity=connectivity, tile=tile, periodic=axes, keep_largest=k, min_area=min_area)
    assert found == stays.sum() == len(rows) and (labels == numbered(want, stays)).all()
    expected = table[stays[1:]]
    for name in table.dtype.names[1:]:
        np.testing.assert_array_equal(rows[name], expected[name])
    columns = labelled(mask, connectivity=connectivity, tile=tile, periodic=axes, keep_largest=k, min_area=min_area,
                       properties=["label", "bbox", "centroid", "extent"], spacing=2)[2]
    for axis, (start, side) in enumerate(zip(["z", "y", "x"][-mask.ndim:], ["depth", "height", "width"][-mask.ndim:])):
        assert (columns[f"bbox-{axis}"] == expected[start]).all()
        assert (columns[f"bbox-{axis + mask.ndim}"] == expected[start] + expected[side]).all()
        np.testing.assert_array_equal(columns[f"centroid-{axis}"], 2 * expected[f"centroid_{start}"])


@given(MASKS, st.integers(1, 4))
def test_the_largest_components_stay(case, k):
    connectivity, mask, _, tile = case
    want, n = ndimage.label(mask, structure(connectivity))
    areas = np.bincount(want.ravel(), minlength=n + 1)
    largest = sorted(range(1, n + 1), key=lambda label: (-areas[label], label))[:k]
    want = numbered(want, np.isin(np.arange(n + 1), largest))
    values = np.random.default_rng(k).integers(0, 99, (*mask.shape, 2)).astype(np.uint8)
    found, labels, table = labelled(mask, connectivity=connectivity, tile=tile, keep_largest=k, intensity_image=values,
                                    properties=["label", "num_pixels", "intensity_max"])
    assert found == len(largest) and (labels == want).all() and table["label"].tolist() == list(range(1, found + 1))
    for channel in range(2):
        assert (table[f"intensity_max-{channel}"] == ndimage.maximum(values[..., channel], want, range(1, found + 1))).all()


@pytest.mark.parametrize("options, message", [
    (dict(periodic=0, fill_holes=0), "go together"), (dict(fill_holes=0, fill_label_holes=0), "go together"),
    (dict(periodic=0, clear_border=True), "go together"), (dict(periodic=2), "axes"), (dict(keep_largest=-1), "keep_largest"),
    (dict(fill_holes=-1), "fill_holes"), (dict(fill_label_holes=2**32), "fill_label_holes"),
    (dict(periodic=1, properties=["touches_border"]), "touches_border"), (dict(periodic=1, properties=["orientation"]), "orientation"),
])
def test_what_does_not_go_together(options, message):
    with pytest.raises((ValueError, OverflowError), match=message):
        cudaccl.label_file(np.ones((4, 4), np.uint8), "labels.npy", "table.npy", **options)
    assert not os.listdir()


@pytest.mark.parametrize("option", [dict(periodic=0), dict(fill_holes=0), dict(fill_label_holes=0), dict(keep_largest=1)])
def test_errors_in_between_leave_nothing(option):
    """An error of the picture in any of the passes."""
    class Picture:
        shape, dtype = (50, 7), np.dtype(np.uint8)

        def __init__(self, reads):
            self.reads = reads

        def __getitem__(self, layers):
            self.reads -= 1
            if self.reads < 0:
                raise KeyError("no more layers")
            return np.ones((layers.stop - layers.start, 7), np.uint8)

    for reads in range(200):
        try:
            assert cudaccl.label_file(Picture(reads), "labels.npy", "table.npy", tile=8, **option) == 1
            break
        except KeyError as error:
            assert "no more layers" in str(error)
            assert not os.listdir()
    assert reads > 10 and sorted(os.listdir()) == ["labels.npy", "table.npy"]
