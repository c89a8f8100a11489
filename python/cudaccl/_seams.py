# SPDX-License-Identifier: LGPL-2.1-or-later
"""Components of pictures in chunks: which labels of neighbouring chunks are connected.

A label of a chunk is known by its identity: the number of the chunk, shifted by LABEL_BITS, and the label. Pairs are n×2
identities. A forest is pairs, too: of an identity and the least one that it is connected to, where the two differ.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int64]
Step = tuple[int, ...]  # from a chunk or a pixel to a neighbour: −1, 0 or 1 along each axis

LABEL_BITS = 32
NO_PAIRS: Pairs = np.empty((0, 2), np.int64)


class Part(NamedTuple):
    """What is kept of a chunk: its faces, by axis and side (0 or −1), of labels and, where equal values are connected, of
    values."""

    labels: dict[tuple[int, int], NDArray[Any]]
    values: dict[tuple[int, int], NDArray[Any]] | None


def steps_within(ndim: int, reach: int) -> Iterator[Step]:
    """The steps along at most so many axes, the empty one included."""
    return (step for step in itertools.product((-1, 0, 1), repeat=ndim) if sum(map(abs, step)) <= reach)


def steps_forward(ndim: int, reach: int) -> Iterator[Step]:
    """One of each step and its opposite."""
    return (step for step in steps_within(ndim, reach) if step > (0,) * ndim)


def side_towards(faces: dict[tuple[int, int], NDArray[Any]], step: Step) -> NDArray[Any]:
    """The pixels of a chunk that a neighbouring chunk touches: a face, an edge or a corner, with the axes along which the
    step is 0."""
    axis = next(axis for axis, d in enumerate(step) if d)
    rest = step[:axis] + step[axis + 1:]
    return faces[axis, -1 if step[axis] > 0 else 0][tuple(slice(None) if d == 0 else -1 if d > 0 else 0 for d in rest)]


def shifted(pixels: NDArray[Any], step: Step) -> NDArray[Any]:
    """The pixels that have a neighbour after the step."""
    return pixels[tuple(slice(max(0, -d), length - max(0, d)) for d, length in zip(step, pixels.shape))]


def pairs_over_seam(here: Part, there: Part, step: Step, reach: int) -> Pairs:
    """Pairs of labels of pixels that are neighbours. there: the chunk after the step."""
    back = tuple(-d for d in step)
    a, b = side_towards(here.labels, step), side_towards(there.labels, back)
    found = [NO_PAIRS]
    for shift in steps_within(a.ndim, reach - sum(map(abs, step))):
        opposite = tuple(-d for d in shift)
        first, second = shifted(a, shift), shifted(b, opposite)
        touch = (first > 0) & (second > 0)
        if here.values is not None and there.values is not None:
            touch &= shifted(side_towards(here.values, step), shift) == shifted(side_towards(there.values, back), opposite)
        found.append(np.stack([np.atleast_1d(first[touch]), np.atleast_1d(second[touch])], 1).astype(np.int64))
    return np.unique(np.concatenate(found), axis=0)


def seams(number: int, here: Part, neighbours: Sequence[tuple[int, Step, Part]], reach: int) -> Pairs:
    """The forest of a chunk's labels and those of the chunks after it. neighbours: their numbers, steps and parts."""
    pairs = [pairs_over_seam(here, there, step, reach) + np.array([number << LABEL_BITS, other << LABEL_BITS])
             for other, step, there in neighbours]
    return forest(pairs)


def forest(pairs: Iterable[Pairs]) -> Pairs:
    """The forest of what pairs connect."""
    identities, places = np.unique(np.concatenate([NO_PAIRS, *pairs]), return_inverse=True)
    ends = places.reshape(-1, 2)
    parents = np.arange(len(identities))
    while len(ends):
        ends = parents[ends]
        ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
        np.minimum.at(parents, ends[:, 1], ends[:, 0])
        while (parents[parents] != parents).any():
            parents = parents[parents]
    moved = parents != np.arange(len(parents))
    return np.stack([identities[moved], identities[parents[moved]]], 1)


def roots(counts: Sequence[int], connected: Pairs) -> NDArray[np.int64]:
    """The place of the label that each label is connected to, in the order of chunks. counts: of the labels of chunks."""
    starts = np.concatenate([[0], np.cumsum(np.array(counts, np.int64))])
    places = starts[connected >> LABEL_BITS] + (connected & (1 << LABEL_BITS) - 1) - 1
    found = np.arange(starts[-1])
    found[places[:, 0]] = places[:, 1]
    return found


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
    np.minimum.at(first, root, first.copy())
    is_root = root == np.arange(len(root))
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
