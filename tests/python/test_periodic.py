# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling of images whose borders touch, against a flood fill on a torus."""
import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}


def flooded(mask, axes, connectivity):
    """Components in raster order of their first pixels, pixel by pixel."""
    steps = [np.array(step) - 1 for step in np.argwhere(ndimage.generate_binary_structure(mask.ndim, RANK[connectivity]))]
    labels, n = np.zeros(mask.shape, int), 0
    for first in map(tuple, np.argwhere(mask)):
        if labels[first]:
            continue
        n += 1
        labels[first] = n
        waiting = [first]
        while waiting:
            here = waiting.pop()
            for step in steps:
                place = [h + s for h, s in zip(here, step)]
                place = tuple(p % side if axis in axes else p for axis, (p, side) in enumerate(zip(place, mask.shape)))
                if all(0 <= p < side for p, side in zip(place, mask.shape)) and mask[place] and not labels[place]:
                    labels[place] = n
                    waiting.append(place)
    return labels, n


@given(st.sampled_from([4, 8, 6, 18, 26]), st.integers(0, 2**32), st.sets(st.integers(0, 2)), st.floats(0.1, 0.9))
def test_as_on_a_torus(connectivity, seed, axes, density):
    ndim = 2 if connectivity in (4, 8) else 3
    axes = {axis for axis in axes if axis < ndim}
    random = np.random.default_rng(seed)
    mask = random.random(random.integers(1, 12 if ndim == 2 else 6, ndim)) < density
    labels, table = cudaccl.label_periodic(mask, axes, connectivity)
    expected, n = flooded(mask, axes, connectivity)
    assert (labels == expected).all() and len(table) == n and table["label"].tolist() == list(range(1, n + 1))
    names = ["z", "y", "x"][-ndim:], ["depth", "height", "width"][-ndim:]
    for row in table:
        pixels = np.argwhere(expected == row["label"])
        assert row["area"] == len(pixels)
        for axis, (name, size) in enumerate(zip(*names)):
            occupied, side = set(pixels[:, axis].tolist()), mask.shape[axis]
            covered = [(int(row[name]) + i) % side if axis in axes else int(row[name]) + i for i in range(row[size])]
            assert occupied <= set(covered) and len(set(covered)) == row[size]
            starts = range(side) if axis in axes else [min(occupied)]
            shortest = min(max((p - start) % side for p in occupied) + 1 for start in starts)
            assert row[size] == (shortest if axis in axes else max(occupied) - min(occupied) + 1)
            if axis in axes:
                total = np.exp(2j * np.pi * pixels[:, axis] / side).sum()
                if abs(total) > 1e-6 * len(pixels):
                    distance = (row[f"centroid_{name}"] - np.angle(total) * side / (2 * np.pi)) % side
                    assert min(distance, side - distance) < 1e-6
                elif abs(total) < 1e-12 * len(pixels):
                    assert np.isnan(row[f"centroid_{name}"])
            else:
                assert row[f"centroid_{name}"] == pytest.approx(pixels[:, axis].mean())


def test_one_object_over_a_border():
    labels, table = cudaccl.label_periodic(np.array([[1, 0, 0, 1, 1]]), axes=1)
    assert labels.tolist() == [[1, 0, 0, 1, 1]]
    assert table[["area", "x", "width", "y", "height"]].tolist() == [(3, 3, 3, 0, 1)]
    assert table["centroid_x"][0] == pytest.approx(4)
    for wrong in 2, "x", (0, 5):
        with pytest.raises(ValueError, match="axes"):
            cudaccl.label_periodic(np.ones((2, 2)), wrong)
