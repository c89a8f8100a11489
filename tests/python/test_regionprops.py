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


def test_wrong_order():
    mask = np.ones((3, 4), bool)
    with pytest.raises(ValueError, match="no column"):
        cudaccl.regionprops_table(mask, ["label"], sort_by="perimeter")
    with pytest.raises(ValueError, match="largest"):
        cudaccl.regionprops_table(mask, largest=-1)
    with pytest.raises(ValueError, match="no property"):
        cudaccl.regionprops_table(cudaccl.components(mask), ["first_pixel"])
