# SPDX-License-Identifier: LGPL-2.1-or-later
"""Label maps in chunks as patches: connected pixels of one label, or of the background, and which of them touch. The
library's ccl_fill_patches() tells from them what is in holes of labels."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl, _seams
from ._arrays import view_of
from ._chunks.sums import Kind
from ._files.tile_columns import TILED_ROW

LABEL, AREA, LEAST, GREATEST, AT_BORDER = 0, 1, slice(2, 5), slice(5, 8), 8  # the columns of CclPatch


class Patches(NamedTuple):
    """Those of a chunk. rows: [n, 9], as CclPatch. pairs: [m, 2], those that touch, by their numbers from 1 on."""

    rows: NDArray[np.int64]
    pairs: NDArray[np.int64]


def patches_of(map: NDArray[Any], labels: NDArray[Any], start: Sequence[int], shape: tuple[int, ...],
               connectivity: int) -> Patches:
    """map: the numbers of patches of a chunk. labels: its labels. start: its first pixel. shape: of the picture.
    connectivity: of the pixels of patches."""
    if labels.min() < 0:
        raise ValueError("labels must not be negative")
    firsts = np.frombuffer(_cudaccl.first_pixels(view_of(map)), np.int64)
    adder = Kind(shape, 0, "").adder()
    sums = np.frombuffer(adder.measure(view_of(map), list(start), None, len(firsts), [(0, 0)] * len(shape)), np.uint8)
    measured = np.frombuffer(adder.derive(view_of(sums))[0], TILED_ROW)
    rows = np.empty((len(firsts), 9), np.int64)
    rows[:, LABEL] = labels.ravel()[firsts]
    rows[:, AREA] = measured["area"]
    rows[:, LEAST] = np.stack([measured[axis] for axis in "xyz"], 1)
    rows[:, GREATEST] = rows[:, LEAST] + np.stack([measured[side] for side in ("width", "height", "depth")], 1) - 1
    lengths = shape[::-1]  # x, y, z
    ndim = len(shape)
    rows[:, AT_BORDER] = ((rows[:, LEAST] == 0)[:, :ndim] | (rows[:, GREATEST][:, :ndim] == np.array(lengths) - 1)).any(1)
    touching = np.frombuffer(_cudaccl.contacts(view_of(map), connectivity), np.int64).reshape(-1, 3)
    return Patches(rows, touching[:, :2].copy())


def merged(rows: NDArray[np.int64], owners: NDArray[np.int64], is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The patches that parts of them in chunks belong to. owners: of each part. is_first: one part of each."""
    whole, others, of = rows[is_first].copy(), rows[~is_first], owners[~is_first]
    np.add.at(whole[:, AREA], of, others[:, AREA])
    np.minimum.at(whole[:, LEAST], of, others[:, LEAST])
    np.maximum.at(whole[:, GREATEST], of, others[:, GREATEST])
    np.maximum.at(whole[:, AT_BORDER], of, others[:, AT_BORDER])
    return whole


def distinct(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of different numbers, each once."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    order = np.lexsort(pairs.T[::-1])
    pairs = pairs[order]
    is_new = np.ones(len(pairs), bool)
    is_new[1:] = (pairs[1:] != pairs[:-1]).any(1)
    return pairs[is_new]


def filled(parts: Sequence[Patches], connected: _seams.Pairs, touching: Sequence[_seams.Pairs], max_area: int,
           dtype: np.dtype[Any]) -> tuple[int, list[NDArray[Any]]]:
    """By chunk the label of each patch when holes are filled. connected: the forest of patches. touching: pairs of labels of
    chunks, as those of a forest, that touch across seams."""
    counts = [len(part.rows) for part in parts]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    root = _seams.roots(counts, connected)
    is_first = root == np.arange(len(root))
    owners = (np.cumsum(is_first) - 1)[root]
    whole = merged(np.concatenate([np.empty((0, 9), np.int64), *(part.rows for part in parts)]), owners, is_first)
    across = np.concatenate([np.empty((0, 2), np.int64), *touching])
    pairs = np.concatenate([*(part.pairs - 1 + start for part, start in zip(parts, starts)),
                            starts[across >> 32] + (across & 0xffffffff) - 1])
    labels = np.frombuffer(_cudaccl.fill_patches(view_of(np.ascontiguousarray(whole)), view_of(distinct(owners[pairs])),
                                                 max_area), np.int64)
    return 0, _seams.split(labels.astype(dtype)[owners], counts)
