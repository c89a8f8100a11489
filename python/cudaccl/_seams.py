# SPDX-License-Identifier: LGPL-2.1-or-later
"""Components of pictures in chunks: which labels of neighbouring chunks are connected.

A forest is what the library's ccl_forest_pairs() returns: n×2 labels of chunks, each with the least one that it is
connected to. A label of a chunk has the number of the chunk in its upper 32 bits.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import view_of

Pairs = NDArray[np.int64]
Faces = dict[tuple[int, int], NDArray[Any]]  # by axis and side (0 or −1)
Step = tuple[int, ...]  # −1, 0 or 1 along each axis: from a chunk to a neighbour

REACH = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}  # along how many axes neighbours may differ
# The connectivity across an edge of chunks, by that of the picture; a row between chunks of an image is an edge, too.
OF_EDGES = {4: 4, 8: 8, 18: 4, 26: 8}


class Part(NamedTuple):
    """What is kept of a chunk: its faces, by axis and side (0 or −1), of labels and, where similar values are connected, of
    values. tolerance: by which they differ at most."""

    labels: Faces
    values: Faces | None
    tolerance: float = 0


def steps_forward(ndim: int, reach: int) -> Iterator[Step]:
    """One of each step and its opposite, along at most so many axes."""
    return (step for step in itertools.product((-1, 0, 1), repeat=ndim)
            if step > (0,) * ndim and sum(map(abs, step)) <= reach)


def side_towards(faces: Faces, step: Step) -> NDArray[Any]:
    """The pixels of a chunk that a neighbouring chunk touches: a face, an edge or a corner, with the axes along which the
    step is 0, but at least one."""
    axis = next(axis for axis, d in enumerate(step) if d)
    rest = step[:axis] + step[axis + 1:]
    side = faces[axis, -1 if step[axis] > 0 else 0][tuple(slice(None) if d == 0 else -1 if d > 0 else 0 for d in rest)]
    return np.ascontiguousarray(np.atleast_1d(side))


def connectivity_across(step: Step, connectivity: int) -> int:
    """That of the pixels on both sides of a seam: layers of pixels, or rows."""
    return connectivity if len(step) == 3 and sum(map(abs, step)) == 1 else OF_EDGES[connectivity]


def forest_of(forest: _cudaccl.Forest) -> Pairs:
    return np.frombuffer(forest.pairs(), np.int64).reshape(-1, 2)


def seams(number: int, here: Part, neighbours: Sequence[tuple[int, Step, Part]], connectivity: int) -> Pairs:
    """The forest of a chunk's labels and those of the chunks after it. neighbours: their numbers, steps and parts."""
    forest = _cudaccl.Forest()
    for other, step, there in neighbours:
        back = tuple(-d for d in step)
        values: tuple[_cudaccl.View | None, _cudaccl.View | None] = (None, None)
        if here.values is not None and there.values is not None:
            values = view_of(side_towards(here.values, step)), view_of(side_towards(there.values, back))
        forest.add_seam(view_of(side_towards(here.labels, step)), view_of(side_towards(there.labels, back)),
                        connectivity_across(step, connectivity), number, other, *values, here.tolerance)
    return forest_of(forest)


def contacts(number: int, here: Part, neighbours: Sequence[tuple[int, Step, Part]], connectivity: int) -> Pairs:
    """The labels of a chunk and those of the chunks after it that touch, whatever their values. Arguments: as of seams()."""
    pairs = [np.empty((0, 2), np.int64)]
    for other, step, there in neighbours:
        upper, lower = side_towards(here.labels, step), side_towards(there.labels, tuple(-d for d in step))
        last = upper.max()
        both = np.stack([upper, lower + last]).astype(np.uint32)
        found = np.frombuffer(_cudaccl.contacts(view_of(both), connectivity_across(step, connectivity)), np.int64)
        found = found.reshape(-1, 3)[:, :2]
        found = found[(found[:, 0] <= last) & (found[:, 1] > last)]
        pairs.append(found - [0, last] + [number << 32, other << 32])
    return np.concatenate(pairs)


def forest(parts: Iterable[Pairs]) -> Pairs:
    """The forest of what others connect."""
    whole = _cudaccl.Forest()
    for pairs in parts:
        whole.add_pairs(view_of(np.ascontiguousarray(pairs)))
    return forest_of(whole)


def roots(counts: Sequence[int], connected: Pairs) -> NDArray[np.int64]:
    """The place of the label that each label is connected to, in the order of chunks. counts: of the labels of chunks."""
    whole = _cudaccl.Forest()
    whole.add_pairs(view_of(np.ascontiguousarray(connected)))
    found = np.empty(sum(counts), np.int64)
    whole.roots(view_of(np.array(counts, np.int64)), view_of(found, writable=True))
    return found


def count_parts(values: Sequence[NDArray[np.int64]], connected: Pairs) -> NDArray[np.int64]:
    """How many components there are of each value that labels have, in ascending order of values. values: by chunk those of
    its labels. All labels but one of each component have a root."""
    counts = [len(of_chunk) for of_chunk in values]
    all = np.concatenate(values)
    is_root = roots(counts, connected) == np.arange(len(all))
    return np.unique(all[is_root], return_counts=True)[1]


def split(of_labels: NDArray[Any], counts: Sequence[int]) -> list[NDArray[Any]]:
    """By chunk what there is for each label, after a 0 for the background."""
    ends = np.cumsum(np.array(counts, np.int64))
    return [np.concatenate([np.zeros(1, of_labels.dtype), of_labels[end - n:end]]) for n, end in zip(counts, ends)]


def numbers(firsts: Sequence[NDArray[np.int64]], connected: Pairs,
            dtype: np.dtype[Any]) -> tuple[np.int64, list[NDArray[Any]]]:
    """The number of components, and by chunk the component of each label. firsts: by chunk the places of the first pixels of
    its labels in the picture, whose order is the order of components."""
    counts = [len(first) for first in firsts]
    root = roots(counts, connected)
    first = np.concatenate([np.empty(0, np.int64), *firsts])
    is_root = root == np.arange(len(root))
    np.minimum.at(first, root[~is_root], first[~is_root])
    order = np.argsort(first[is_root])
    found = np.zeros(len(root), dtype)
    found[np.flatnonzero(is_root)[order]] = np.arange(1, len(order) + 1)
    return np.int64(len(order)), split(found[root], counts)


def chosen(weights: Sequence[NDArray[np.float64]], connected: Pairs, least: float, greatest: float) -> list[NDArray[np.bool_]]:
    """By chunk whether the component of each label has a weight within limits. weights: by chunk those of its labels."""
    counts = [len(weight) for weight in weights]
    root = roots(counts, connected)
    total = np.bincount(root, np.concatenate([np.empty(0), *weights]), len(root))
    return split(((total >= least) & (total <= greatest))[root], counts)


def largest(parts: Sequence[NDArray[np.int64]], connected: Pairs, k: int) -> tuple[int, list[NDArray[np.bool_]]]:
    """By chunk whether the component of each label is one of the k largest, of equal ones the first. parts: by chunk the
    areas of its labels and the places of their first pixels."""
    counts = [part.shape[1] for part in parts]
    root = roots(counts, connected)
    area, first = np.concatenate([np.empty((2, 0), np.int64), *parts], axis=1)
    is_root = root == np.arange(len(root))
    np.add.at(area, root[~is_root], area[~is_root])
    np.minimum.at(first, root[~is_root], first[~is_root])
    candidates = np.flatnonzero(is_root)
    stays = np.zeros(len(root), bool)
    stays[candidates[np.lexsort((first[candidates], -area[candidates]))[:k]]] = True
    return 0, split(stays[root], counts)
