# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which labels of pictures in chunks touch, and along how many sides of pixels: rows of the lesser label, the greater one and
the number of sides."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _cudaccl, _seams
from .._arrays import view_of
from .sums import compact

Rows = NDArray[np.int64]


def between(map: NDArray[np.uint32], labels: Rows, connectivity: int) -> Rows:
    """The contacts of a map of numbers. labels: of the numbers 1, 2, …"""
    found = np.frombuffer(_cudaccl.contacts(view_of(np.ascontiguousarray(map)), connectivity), np.int64).reshape(-1, 3)
    return np.column_stack([np.sort(labels[found[:, :2] - 1], axis=1), found[:, 2]])


def across(upper: NDArray[np.int64], lower: NDArray[np.int64], connectivity: int, share_sides: bool) -> Rows:
    """Those of the labels on both sides of a seam. share_sides: whether pixels that are opposite share a side."""
    (above, first), (below, second) = compact(upper), compact(lower)
    n = len(above)
    both = np.stack([first, np.where(second > 0, second + np.uint32(n), 0)]).astype(np.uint32)
    found = np.frombuffer(_cudaccl.contacts(view_of(both), connectivity), np.int64).reshape(-1, 3)
    found = found[(found[:, 0] <= n) & (found[:, 1] > n)]
    rows: Rows = np.column_stack([above[found[:, 0] - 1], below[found[:, 1] - n - 1], found[:, 2] * share_sides])
    rows[:, :2].sort(axis=1)
    differ: Rows = rows[rows[:, 0] != rows[:, 1]]
    return differ


def contacts_of(connectivity: int, labels: NDArray[np.int64]) -> Rows:
    """The contacts of the labels of a chunk with each other."""
    numbers, map = compact(labels)
    return merged([between(map, numbers, connectivity)])


def contacts_at_seams(connectivity: int, steps: Sequence[_seams.Step], here: _seams.Faces, others: Sequence[_seams.Faces]) -> Rows:
    """Those with the labels of the chunks after it. steps, others: to these chunks, and their faces."""
    rows = [np.empty((0, 3), np.int64)]
    for step, there in zip(steps, others):
        sides = _seams.side_towards(here, step), _seams.side_towards(there, tuple(-d for d in step))
        rows.append(across(*sides, _seams.connectivity_across(step, connectivity), sum(abs(d) for d in step) == 1))
    return merged(rows)


def merged(parts: Sequence[Rows]) -> Rows:
    """Rows as those of the whole picture, in order, each pair once."""
    rows = np.concatenate(parts)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:, :2] != rows[:-1, :2]).any(1)
    total = rows[is_new]
    total[:, 2] = np.add.reduceat(rows[:, 2], np.flatnonzero(is_new)) if len(rows) else 0
    return total


def pairs_of(rows: Rows) -> tuple[Rows, NDArray[np.int64]]:
    whole = np.asarray(rows, np.int64).reshape(-1, 3)
    return whole[:, :2].copy(), whole[:, 2].copy()
