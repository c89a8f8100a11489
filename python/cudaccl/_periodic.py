# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling of images whose opposite borders touch: label_periodic()."""
from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _seams
from ._batch import host_array
from ._device_maps import on_host
from ._images import check_connectivity, wanted_ndim
from ._labeller import label
from ._objects import as_given
from ._regionprops import AXES, SIZES
from ._seams import REACH
from ._types import Table


def axes_of(axes: Any, ndim: int) -> list[int]:
    try:
        numbers = sorted({range(ndim)[operator.index(axis)] for axis in (axes if isinstance(axes, Iterable) else [axes])})
    except (IndexError, TypeError):
        raise ValueError(f"axes are numbers of {ndim} axes, not {axes!r}") from None
    return numbers


def pairs_over_borders(labels: NDArray[np.int32], axes: list[int], reach: int) -> NDArray[np.int64]:
    """Pairs of labels of pixels that are neighbours over a border: n×2."""
    found = [np.empty((0, 2), np.int64)]
    for step in itertools.product((-1, 0, 1), repeat=labels.ndim):
        if not 0 < sum(map(abs, step)) <= reach:
            continue
        for axis in axes:
            if step[axis] != 1:
                continue
            last = np.take(labels, [-1], axis)  # pixels whose neighbour along the axis is the first one
            there = np.take(labels, [0], axis)
            for other, d in enumerate(step):
                if other != axis and d:
                    there = np.roll(there, -d, other)
                    if other not in axes:  # what was rolled around does not touch
                        there = there.copy()
                        np.moveaxis(there, other, 0)[-1 if d > 0 else 0] = 0
            touch = (last > 0) & (there > 0)
            found.append(np.stack([last[touch], there[touch]], 1))
    return np.unique(np.concatenate(found), axis=0)


def arc_of(starts: NDArray[np.int64], lengths: NDArray[np.int64], side: int) -> tuple[int, int]:
    """Start and length of the shortest arc of a circle around intervals."""
    order = np.argsort(starts, kind="stable")
    ends = np.maximum.accumulate((starts + lengths)[order])
    gaps = np.append(starts[order][1:], starts[order][0] + side) - ends
    widest = int(np.argmax(gaps))
    if gaps[widest] <= 0:
        return 0, side
    start = int(starts[order][(widest + 1) % len(starts)])
    return start, side - int(gaps[widest])


def circular_means(labels: NDArray[np.int32], axis: int, n: int) -> NDArray[np.float64]:
    """The mean place of each label 1…n along an axis that is a circle; not a number where it has none."""
    side = labels.shape[axis]
    turns = 2 * np.pi * np.arange(side) / side
    shape = [side if i == axis else 1 for i in range(labels.ndim)]
    x, y = (np.bincount(labels.ravel(), np.broadcast_to(of.reshape(shape), labels.shape).ravel(), n + 1)[1:]
            for of in (np.cos(turns), np.sin(turns)))
    counts = np.bincount(labels.ravel(), minlength=n + 1)[1:]
    means = np.mod(np.arctan2(y, x) * side / (2 * np.pi), side)
    means[means >= side - 1e-9] = 0
    return np.where(np.hypot(x, y) > 1e-9 * counts, means, np.nan)


def merged_table(table: Table, numbers: NDArray[np.int64], labels: NDArray[np.int32], axes: list[int]) -> Table:
    """The table of components of which several rows are parts. numbers: of each row's component."""
    n = int(numbers.max(initial=0))
    merged = np.zeros(n, table.dtype)
    merged["label"] = np.arange(1, n + 1)
    merged["area"] = np.bincount(numbers, table["area"], n + 1)[1:]
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(numbers, minlength=n + 1)[1:])[:-1]) if n else []
    for axis, (name, size) in enumerate(zip(AXES[-labels.ndim:], SIZES[-labels.ndim:])):
        starts, lengths = table[name].astype(np.int64), table[size].astype(np.int64)
        for i, rows in enumerate(parts):
            if axis in axes:
                merged[name][i], merged[size][i] = arc_of(starts[rows], lengths[rows], labels.shape[axis])
            else:
                merged[name][i] = starts[rows].min()
                merged[size][i] = (starts + lengths)[rows].max() - starts[rows].min()
        centroid = f"centroid_{name}"
        merged[centroid] = (circular_means(labels, axis, n) if axis in axes else
                            np.bincount(numbers, table[centroid] * table["area"], n + 1)[1:] / merged["area"])
    return merged


def label_periodic(image: Any, axes: Any, connectivity: int | None = None, *, ndim: int | None = None, threshold: float = 0,
                   invert: bool = False) -> tuple[Any, Table]:
    """Labels an image whose opposite borders touch along some axes, as simulations and panoramas have them.

        labels, table = cudaccl.label_periodic(field, axes=(0, 1))

    image, connectivity, ndim, threshold, invert: as of label(). On a GPU the image is copied to the host, and the
        label map to the GPU.
    axes: the numbers of the axes along which the last pixels are neighbours of the first ones; or one of them.

    Returns (labels, table) as label() does. Along periodic axes, a box begins at x, y or z and goes on at 0 where it
    reaches the end: it is the shortest one around the component. Centroids are circular means there: the direction
    of the sum of the pixels' directions, when the axis is a circle; not a number where that sum is 0. Raises
    ValueError or TypeError for wrong arguments. Since: 0.4
    """
    wanted = wanted_ndim(ndim, connectivity)
    neighbours = check_connectivity(connectivity, wanted)
    numbers = axes_of(axes, wanted)
    found, table = label(host_array(on_host(image)), neighbours, ndim=wanted, threshold=threshold, invert=invert)
    labels = np.asarray(found)
    if not len(table):
        return as_given(labels, image), table
    pairs = pairs_over_borders(labels, numbers, REACH[neighbours])
    roots = np.concatenate([[0], _seams.roots([len(table)], pairs) + 1])  # the least label that each is connected to
    is_root = roots == np.arange(len(roots))
    is_root[0] = False
    places = (np.cumsum(is_root))[roots]
    places[0] = 0
    whole = places.astype(np.int32)[labels]
    return as_given(whole, image), merged_table(table, places[1:], whole, numbers)
