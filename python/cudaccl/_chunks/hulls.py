# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convex hulls of labels in chunks of an image. The hull of a label is the hull of the hulls of its parts, so of each part only
the corners of the hull of its pixels' centres are kept. Hulls of pixels as squares or diamonds follow from the same pixels."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _cudaccl
from .._arrays import view_of
from .._host_measures import convex_measure
from .sums import compact

MOST = 2**28  # the longest side: doubled coordinates are at most 2^29


class Hulls(NamedTuple):
    """Of labels in ascending order. points: [m, 2], x and y of the corners. ends: [n], where those of each label end."""

    labels: NDArray[np.int64]
    points: NDArray[np.int32]
    ends: NDArray[np.int64]


def check_sides(shape: tuple[int, ...]) -> None:
    if max(shape) > MOST:
        raise ValueError(f"properties of hulls need sides of at most {MOST} pixels")


def hulls_of_points(labels: NDArray[np.int64], owners: NDArray[np.int64], points: NDArray[np.int32]) -> Hulls:
    """owners: of each point, the place of its label."""
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=len(labels)), dtype=np.int64)
    _, corners, corner_ends = _cudaccl.point_hulls(view_of(np.ascontiguousarray(points[order])), view_of(ends))
    return Hulls(labels, np.frombuffer(corners, np.int32).reshape(-1, 2), np.frombuffer(corner_ends, np.int64))


def hulls_of(start: Sequence[int], labels: NDArray[Any]) -> Hulls:
    """Those of a chunk. start: its first pixel."""
    found, map = compact(labels)
    begins = np.ones(map.shape, bool)
    begins[:, 1:] = map[:, 1:] != map[:, :-1]
    first = np.flatnonzero(begins)  # of runs
    last = np.append(first[1:], map.size) - 1
    numbers = map.ravel()[first].astype(np.int64)
    order = np.argsort(numbers, kind="stable")[np.count_nonzero(numbers == 0):]
    first, last, numbers = first[order], last[order], numbers[order]
    width = map.shape[1]
    is_new = np.ones(len(order) + 1, bool)  # in another row, or of another label than the run before
    is_new[1:-1] = (numbers[1:] != numbers[:-1]) | (first[1:] // width != first[:-1] // width)
    pixels = np.concatenate([first[is_new[:-1]], last[is_new[1:]]])  # the first and the last ones of labels in rows
    owners = np.tile(numbers[is_new[:-1]], 2) - 1
    points = np.stack([pixels % width + start[1], pixels // width + start[0]], 1).astype(np.int32)
    return hulls_of_points(found, owners, points)


def added_hulls(parts: Sequence[Hulls]) -> Hulls:
    """The hulls of parts of a picture as those of one."""
    labels = np.unique(np.concatenate([part.labels for part in parts]))
    owners = [np.repeat(np.searchsorted(labels, part.labels), np.diff(part.ends, prepend=0)) for part in parts]
    return hulls_of_points(labels, np.concatenate(owners), np.concatenate([part.points for part in parts]))


def measures_of(hulls: Hulls) -> NDArray[np.float64]:
    """Areas and Feret diameters of the hulls of pixels as squares, [n, 3]."""
    corners = (hulls.points[:, np.newaxis] + np.array([(0, 0), (1, 0), (0, 1), (1, 1)], np.int32)).reshape(-1, 2)
    measures, *_ = _cudaccl.point_hulls(view_of(corners), view_of(4 * hulls.ends))
    return np.frombuffer(measures, np.float64).reshape(-1, 3)


def convex_measures_of(hulls: Hulls) -> NDArray[np.float64]:
    """Pixels and greatest diameters of scikit-image's convex images, [n, 2]."""
    found = np.empty((len(hulls.labels), 2))
    for i, points in enumerate(np.split(hulls.points.astype(np.int64), hulls.ends[:-1])[:len(found)]):
        x, y = points[np.lexsort(points.T)].T  # by rows, in each by columns
        begins = np.flatnonzero(np.diff(y, prepend=y[0] - 1))
        found[i] = convex_measure(y[begins] - y[0], x[begins], np.append(x[begins[1:] - 1], x[-1]))
    return found
