# SPDX-License-Identifier: LGPL-2.1-or-later
"""Moments of labels in chunks of a picture. Of each label those about its centroid in the chunk are kept, and moved to a common
centroid when they are added; areas and sums of coordinates are integers."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._host_measures import ORDER, per_label, sums_of_powers
from .sums import compact

AT_ONCE = 1 << 20  # pixels


class Moments(NamedTuple):
    """Of labels in ascending order. sums: [n, ndim], of coordinates. central: [n, power, …], about the centroid."""

    labels: NDArray[np.int64]
    areas: NDArray[np.int64]
    sums: NDArray[np.int64]
    central: NDArray[np.float64]

    def centroids(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.sums / self.areas[:, np.newaxis]
        return found


def moved(moments: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """Moments about another point. by: [n, ndim]: from that one to the former."""
    for axis in range(by.shape[1]):
        before = np.moveaxis(moments, axis + 1, 0)  # [power along the axis, n, …]
        distance = by[:, axis].reshape([-1] + [1] * (before.ndim - 2))
        after = [sum(math.comb(power, i) * distance ** (power - i) * before[i] for i in range(power + 1))
                 for power in range(ORDER + 1)]
        moments = np.moveaxis(np.stack(after), 0, axis + 1)
    return moments


def moments_of_pixels(found: NDArray[np.int64], map: NDArray[np.uint32], start: Sequence[int]) -> Moments:
    """Those of the numbers 1…n of a map, all of which occur. start: its first pixel."""
    places, n = np.nonzero(map), len(found)
    numbers = map[places]
    areas = per_label(numbers, n)
    sums = np.stack([per_label(numbers, n, place).astype(np.int64) for place in places], 1)  # of doubles, which are exact here
    centres = (sums / areas[:, np.newaxis]).T
    central = sums_of_powers(numbers, n, [place - np.append(0, centre)[numbers] for place, centre in zip(places, centres)])
    return Moments(found, areas, sums + areas[:, np.newaxis] * np.array(start, np.int64), central)


def moments_of(start: Sequence[int], labels: NDArray[Any]) -> Moments:
    """Those of a chunk, which is measured in parts of some layers. start: its first pixel."""
    layers = max(1, AT_ONCE * len(labels) // labels.size)
    parts = [moments_of_pixels(*compact(labels[first:first + layers]), (start[0] + first, *start[1:]))
             for first in range(0, len(labels), layers)]
    return added_moments(parts)


def added_moments(parts: Sequence[Moments]) -> Moments:
    """The moments of parts of a picture as those of one."""
    labels = np.unique(np.concatenate([part.labels for part in parts]))
    owners = [np.searchsorted(labels, part.labels) for part in parts]
    areas = np.zeros(len(labels), np.int64)
    sums = np.zeros((len(labels), parts[0].sums.shape[1]), np.int64)
    for part, owner in zip(parts, owners):
        areas[owner] += part.areas
        sums[owner] += part.sums
    total = Moments(labels, areas, sums, np.zeros((len(labels), *parts[0].central.shape[1:])))
    centroids = total.centroids()
    for part, owner in zip(parts, owners):
        total.central[owner] += moved(part.central, part.centroids() - centroids[owner])
    return total


def about(moments: Moments, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """Moments about pixels, [n, ndim]: integers."""
    return np.rint(moved(moments.central, moments.centroids() - points))
