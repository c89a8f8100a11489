# SPDX-License-Identifier: LGPL-2.1-or-later
"""Perimeters and topology of labels in chunks of a picture: measures that depend on the pixels around. Pixels whose neighbours are all
in their chunk are measured there; those at its sides with the sides of the chunks around, so that no chunk waits for others."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._regionprops import MEASURED_ON_GPU, flags_of
from .._types import COLUMN_OF
from .sums import NOTHING, Kind, Sums, added, compact, sums_of_map

OF_NEIGHBOURS = COLUMN_OF["perimeter"] | COLUMN_OF["crack_length"]

Point = tuple[int, ...]
Box = tuple[Point, Point]  # its first pixel, and the one after its last
Sides = dict[tuple[int, int], NDArray[np.int64]]  # by axis and side (0 or −1): the labels of some layers


class Plan(NamedTuple):
    """kind: of the sums. depth: how many pixels around it the measures of a pixel depend on. has_runs: whether runs along
    diagonals are counted, for Crofton's formula."""

    kind: Kind
    depth: int
    has_runs: bool


class Around(NamedTuple):
    """runs: of each label, those along both diagonals."""

    sums: Sums
    runs: NDArray[np.int64]


def plan_of(shape: tuple[int, ...], properties: Sequence[str]) -> Plan | None:
    """None: nothing depends on pixels around."""
    has_runs = "perimeter_crofton" in properties
    columns = flags_of(properties, MEASURED_ON_GPU[len(shape)]) & OF_NEIGHBOURS
    columns |= COLUMN_OF["crack_length"] if has_runs else 0
    return Plan(Kind(shape, columns, ""), 2 if columns & COLUMN_OF["perimeter"] else 1, has_runs) if columns else None


def diagonal_runs(map: NDArray[np.uint32], around: Sequence[tuple[int, int]], n: int) -> NDArray[np.int64]:
    """The runs of the numbers 1…n along both diagonals that begin inside the pixels around."""
    (above, below), (left, right) = around
    padded = np.pad(map, 1)
    rows, columns = slice(above + 1, padded.shape[0] - 1 - below), slice(left + 1, padded.shape[1] - 1 - right)
    inner, before = padded[rows, columns], padded[rows.start - 1:rows.stop - 1]
    runs = np.zeros(n, np.int64)
    for step in (-1, 1):
        begins = inner != before[:, columns.start + step:columns.stop + step]
        runs += np.bincount(inner[begins], minlength=n + 1)[1:]
    return runs


def of_box(plan: Plan, box: Box, window: NDArray[np.int64], start: Point) -> Around:
    """The measures of the pixels of a box of the picture. window: the labels of these pixels and of those around. start: the
    window's first pixel."""
    around = [(begin - at, at + length - end) for begin, end, at, length in zip(*box, start, window.shape)]
    found, map = compact(window)
    sums = sums_of_map(plan.kind, start, found, map, None, around)
    there = np.zeros(len(found) + 1, bool)
    there[map[tuple(slice(before, length - after) for (before, after), length in zip(around, map.shape))]] = True
    runs = diagonal_runs(map, around, len(found)) if plan.has_runs else np.zeros(len(found), np.int64)
    return Around(Sums(sums.labels[there[1:]], sums.of_labels[there[1:]]), runs[there[1:]])


def sides_of(depth: int, labels: NDArray[Any]) -> Sides:
    """Copies of the layers of a chunk on which the measures of its pixels at the sides, and of its neighbours', depend."""
    first, last = slice(2 * depth), slice(-2 * depth, None)
    return {(axis, side): np.array(labels[(slice(None),) * axis + (layers,)], np.int64)
            for axis in range(labels.ndim) for side, layers in ((0, first), (-1, last))}


def inner_box(plan: Plan, start: Point, size: Point) -> Box:
    """The pixels of a chunk whose neighbours are all there; empty if an end is not after the beginning."""
    return (tuple(at and at + plan.depth for at in start),
            tuple(at + n if at + n == length else at + n - plan.depth for at, n, length in zip(start, size, plan.kind.shape)))


def inside(plan: Plan, start: Point, labels: NDArray[Any]) -> Around:
    """Of the pixels of a chunk whose neighbours are all there. start: its first pixel."""
    begin, end = inner_box(plan, start, labels.shape)
    if any(first >= last for first, last in zip(begin, end)):
        return Around(NOTHING, np.empty(0, np.int64))
    return of_box(plan, (begin, end), labels, start)


def boxes_at_sides(plan: Plan, start: Point, size: Point) -> Iterator[Box]:
    """Boxes that together have the pixels of a chunk that are not in its inner box, each pixel once."""
    begin, end = list(start), [at + n for at, n in zip(start, size)]
    for axis, (first, last) in enumerate(zip(*inner_box(plan, start, size))):
        if first >= last:
            yield tuple(begin), tuple(end)
            return
        if begin[axis] < first:
            yield tuple(begin), (*end[:axis], first, *end[axis + 1:])
        if last < end[axis]:
            yield (*begin[:axis], last, *begin[axis + 1:]), tuple(end)
        begin[axis], end[axis] = first, last


def paste(window: NDArray[np.int64], start: Point, pixels: NDArray[np.int64], place: Point) -> None:
    """Copies what is inside a window of the picture. start, place: of the first pixels."""
    begin = [max(a, b) for a, b in zip(start, place)]
    end = [min(a + n, b + m) for a, n, b, m in zip(start, window.shape, place, pixels.shape)]
    if all(first < last for first, last in zip(begin, end)):
        window[tuple(slice(first - at, last - at) for first, last, at in zip(begin, end, start))] = (
            pixels[tuple(slice(first - at, last - at) for first, last, at in zip(begin, end, place))])


def place_of(layers: NDArray[np.int64], axis: int, side: int, start: Point, size: Point) -> Point:
    """The first pixel of layers of a chunk."""
    return (*start[:axis], start[axis] + (size[axis] - layers.shape[axis] if side else 0), *start[axis + 1:])


def side_towards(sides: Sides, start: Point, size: Point, other: Point) -> tuple[NDArray[np.int64], Point]:
    """The layers of a neighbouring chunk that are near a chunk, and their first pixel. other: the chunk's first pixel."""
    axis = next(axis for axis, (a, n, b) in enumerate(zip(start, size, other)) if a > b or a + n <= b)
    side = 0 if start[axis] > other[axis] else -1
    return sides[axis, side], place_of(sides[axis, side], axis, side, start, size)


def at_sides(plan: Plan, start: Point, size: Point, here: Sides, neighbours: Sequence[tuple[Point, Point, Sides]]) -> Around:
    """The measures of the pixels of a chunk outside its inner box. neighbours: the first pixels, sizes and sides of the chunks
    around."""
    layers = [(pixels, place_of(pixels, axis, side, start, size)) for (axis, side), pixels in here.items()]
    layers += [side_towards(sides, at, n, start) for at, n, sides in neighbours]
    parts = []
    for begin, end in boxes_at_sides(plan, start, size):
        first = tuple(max(0, at - plan.depth) for at in begin)
        last = [min(length, at + plan.depth) for at, length in zip(end, plan.kind.shape)]
        window = np.zeros([b - a for a, b in zip(first, last)], np.int64)
        for pixels, place in layers:
            paste(window, first, pixels, place)
        parts.append(of_box(plan, (begin, end), window, first))
    return added_around(plan, parts)


def added_around(plan: Plan, parts: Sequence[Around]) -> Around:
    """What is measured of several parts of the picture as of one."""
    sums = added(plan.kind, [part.sums for part in parts])
    runs = np.zeros(len(sums.labels), np.int64)
    for part in parts:
        runs[np.searchsorted(sums.labels, part.sums.labels)] += part.runs
    return Around(sums, runs)
