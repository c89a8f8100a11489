# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boxes and centroids of labels in chunks of a picture whose opposite borders touch: those of label_periodic(), from the same
integers. An axis is a circle; a label has places on it, and the sum of the directions of its pixels."""
from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._regionprops import OF_TABLES
from .._types import AXES, SIZES
from . import columns as _columns
from . import sums as _sums

TURN_BITS = 62  # a direction is two integers in units of 2^-62
LIMB_BITS, N_LIMBS = 21, 3  # summed in limbs of 21 bits: a sum of 2^42 pixels fits 64 bits

Numbers = NDArray[np.int64]


class Circle(NamedTuple):
    """Of the labels of a chunk along an axis. runs: [m, 3]: the number of a label from 0 on, its first place and the place after its last one,
    in order, with gaps in between. sums: [n, 2 × N_LIMBS]: of the cosines, then the sines."""

    runs: Numbers
    sums: Numbers


class CircledSums(NamedTuple):
    """circles: of the axes along which borders touch."""

    sums: _sums.Sums
    circles: list[Circle]


def check_properties(properties: Iterable[str]) -> None:
    for name in properties:
        if name not in OF_TABLES or name == "slice":
            raise ValueError(f"periodic borders and the property {name!r} do not go together")


@functools.lru_cache(8)
def turns(side: int) -> Numbers:
    """[side, 2 × N_LIMBS]: the directions of places."""
    angles = [2 * math.pi * place / side for place in range(side)]
    whole = np.array([[round(math.ldexp(turn(angle), TURN_BITS)) for turn in (math.cos, math.sin)] for angle in angles], np.int64)
    low, last = (1 << LIMB_BITS) - 1, N_LIMBS - 1
    limbs = [whole >> LIMB_BITS * i & low if i < last else whole >> LIMB_BITS * i for i in range(N_LIMBS)]
    return np.stack(limbs, 2).reshape(side, 2 * N_LIMBS)


def joined(runs: Numbers, side: int) -> Numbers:
    """Runs, in any order, as those that have gaps in between."""
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    begins, ends = (runs[:, :1] * (side + 1) + runs[:, 1:]).T  # runs of different labels do not touch
    is_first = np.ones(len(runs), bool)
    is_first[1:] = begins[1:] > np.maximum.accumulate(ends)[:-1]
    firsts = np.flatnonzero(is_first)
    found = runs[firsts]
    found[:, 2] = np.maximum.reduceat(runs[:, 2], firsts) if len(runs) else 0
    return found


def circle_of(map: NDArray[np.uint32], n: int, axis: int, start: int, side: int) -> Circle:
    """Of a chunk with the numbers 1…n, whose first pixel is at a place of the axis."""
    length = map.shape[axis]
    places = np.arange(length).reshape([-1 if i == axis else 1 for i in range(map.ndim)])
    keys = (map.astype(np.int64) * length + places)[map > 0] - length
    if n * length <= 4 * map.size:
        counts = np.bincount(keys, minlength=n * length)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, counts = np.unique(keys, return_counts=True)
    number, place = keys // length, keys % length + start
    sums = np.add.reduceat(turns(side)[place] * counts[:, np.newaxis], np.searchsorted(number, np.arange(n)))
    return Circle(joined(np.stack([number, place, place + 1], 1), side), sums)


def sums_of(kind: _sums.Kind, axes: Sequence[int], start: Sequence[int], labels: NDArray[Any]) -> CircledSums:
    """The sums of a chunk. start: its first pixel."""
    found, map = _sums.compact(labels)
    sums = _sums.sums_of_map(kind, start, found, map, None)
    empty = Circle(np.empty((0, 3), np.int64), np.empty((0, 2 * N_LIMBS), np.int64))
    return CircledSums(sums, [circle_of(map, len(found), axis, start[axis], kind.shape[axis]) if len(found) else empty
                              for axis in axes])


def added(kind: _sums.Kind, axes: Sequence[int], parts: Sequence[CircledSums]) -> CircledSums:
    """The sums of chunks as those of one."""
    total = _sums.added(kind, [part.sums for part in parts])
    numbers = [np.searchsorted(total.labels, part.sums.labels) for part in parts]
    circles = []
    for i, axis in enumerate(axes):
        runs = [np.column_stack([number[part.circles[i].runs[:, 0]], part.circles[i].runs[:, 1:]])
                for number, part in zip(numbers, parts)]
        sums = np.zeros((len(total.labels), 2 * N_LIMBS), np.int64)
        for number, part in zip(numbers, parts):
            sums[number] += part.circles[i].sums
        circles.append(Circle(joined(np.concatenate(runs), kind.shape[axis]), sums))
    return CircledSums(total, circles)


def shortest_arcs(runs: Numbers, n: int, side: int) -> tuple[Numbers, Numbers]:
    """The starts and the lengths of the shortest boxes around n labels: what the first of the widest gaps leaves."""
    if n == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    number = runs[:, 0]
    firsts = np.searchsorted(number, np.arange(n))
    following = np.append(runs[1:, 1], 0)
    lasts = np.append(firsts[1:], len(runs)) - 1
    following[lasts] = runs[firsts, 1] + side
    gaps = following - runs[:, 2]
    widest = np.maximum.reduceat(gaps, firsts)
    is_widest = np.flatnonzero(gaps == widest[number])
    chosen = is_widest[np.unique(number[is_widest], return_index=True)[1]]
    return np.where(widest > 0, following[chosen] % side, 0), side - widest


def circular_means(sums: Numbers, areas: Numbers, side: int) -> NDArray[np.float64]:
    """Not a number where there is none but for rounding."""
    limbs = sums.reshape(-1, 2, N_LIMBS).astype(object)
    whole = sum(limbs[:, :, i] << LIMB_BITS * i for i in range(N_LIMBS))
    cosine, sine = np.ldexp(np.asarray(whole, np.float64).reshape(-1, 2), -TURN_BITS).T
    means = np.array([math.atan2(*one) for one in zip(sine, cosine)]) * side / (2 * math.pi)
    positive = np.where(means < 0, means + side, means)
    positive = np.where(positive >= side - 1e-9, 0, positive)
    return np.where(np.hypot(cosine, sine) <= 1e-9 * areas, np.nan, positive)


def table_of(kind: _sums.Kind, axes: Sequence[int], wanted: _columns.Wanted,
             found: CircledSums) -> dict[str, NDArray[Any]]:
    """The columns of a table."""
    def along_circles(rows: NDArray[Any]) -> None:
        for axis, circle in zip(axes, found.circles):
            side, name = kind.shape[axis], AXES[axis - len(kind.shape)]
            rows[name], rows[SIZES[axis - len(kind.shape)]] = shortest_arcs(circle.runs, len(rows), side)
            rows[f"centroid_{name}"] = circular_means(circle.sums, rows["area"], side)

    return _columns.table_of(kind, None, wanted, _columns.Total([found.sums]), along_circles)
