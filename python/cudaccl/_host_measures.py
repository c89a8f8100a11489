# SPDX-License-Identifier: LGPL-2.1-or-later
"""Properties of label maps in host memory that NumPy computes: those of scikit-image that are no sums of the library."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import view_of

Map = NDArray[np.uint32]
ORDER = 3  # the highest power of a coordinate in moments


def per_label(labels: Map, n: int, weights: NDArray[Any] | None = None) -> NDArray[Any]:
    """The sums of weights, or the numbers of pixels, of the labels 1…n."""
    return np.bincount(labels.ravel(), weights, minlength=n + 1)[1:n + 1]


def hull_rows(rows: NDArray[np.int64], first: NDArray[np.int64],
              last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and last column in each row, from the first one with pixels to the last one, of the convex hull of pixels as
    diamonds that touch the middles of their sides, as scikit-image has it; only pixels whose centre is inside or on the hull.
    rows: that have pixels, in ascending order; those that are not corners of the hull may be missing. first, last: their
    columns in each."""
    return _hull_side(rows, first), -_hull_side(rows, -last)


def _hull_side(rows: NDArray[np.int64], firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first column of the hull in each row. Coordinates are doubled, so that they are integers."""
    points: list[tuple[int, int]] = []  # row and column of the left side of the hull
    for y, x in zip((2 * rows).tolist(), (2 * firsts).tolist()):
        for point in ((y - 1, x), (y, x - 1), (y + 1, x)):
            while len(points) > 1 and _turn(points[-2], points[-1], point) <= 0:
                points.pop()
            points.append(point)
    ends = iter(points)
    first, second = next(ends), next(ends)
    columns = []
    for y in range(2 * int(rows[0]), 2 * int(rows[-1]) + 1, 2):
        while second[0] < y:
            first, second = second, next(ends)
        distance = second[0] - first[0]
        across = (y - first[0]) * (second[1] - first[1]) + first[1] * distance
        columns.append(-(-across // (2 * distance)))
    return np.array(columns, np.int64)


def _turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    """Greater than 0 if b is left of the line from a down to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def convex_measure(rows: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[int, float]:
    """The pixels of a convex hull, and the greatest distance of two points of their contour. Arguments: as of hull_rows()."""
    left, right = hull_rows(rows, first, last)
    y = 2 * np.arange(len(left))
    # The middles of the sides of the first and last pixels of all rows; coordinates are doubled.
    points = np.concatenate([np.stack([2 * x + dx, y + dy], 1) for x, outward in ((left, -1), (right, 1))
                             for dy, dx in ((0, outward), (-1, 0), (1, 0))]).astype(np.int32)
    measures, *_ = _cudaccl.point_hulls(view_of(points), view_of(np.array([len(points)], np.int64)))
    return int((right - left + 1).sum()), np.frombuffer(measures, np.float64)[1] / 2


def convex_measures(map: Map, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Of each row's label the pixels of its convex hull, and the greatest distance of two points of their contour."""
    found = np.empty((len(rows), 2))
    for i, row in enumerate(rows):
        mask = map[row["y"]:row["y"] + row["height"], row["x"]:row["x"] + row["width"]] == row["label"]
        y = np.flatnonzero(mask.any(1))
        found[i] = convex_measure(y, mask[y].argmax(1), mask.shape[1] - 1 - mask[y, ::-1].argmax(1))
    return found


def crofton_perimeters(map: Map, n: int) -> NDArray[np.float64]:
    """Perimeters by Crofton's formula with lines in four directions: π/4 times the runs of the label along each, times the
    distance of the lines."""
    padded = np.pad(map, 1)
    inner = padded[1:-1, 1:-1]

    def runs(dy: int, dx: int) -> NDArray[Any]:
        before = padded[1 - dy:padded.shape[0] - 1 - dy, 1 - dx:padded.shape[1] - 1 - dx]
        return per_label(np.where(before != inner, inner, 0), n)

    return crofton_of_runs(runs(0, 1) + runs(1, 0), runs(1, 1) + runs(1, -1))


def crofton_of_runs(straight: NDArray[Any], diagonal: NDArray[Any]) -> NDArray[np.float64]:
    """straight: the runs along rows and columns. diagonal: those along both diagonals."""
    perimeters: NDArray[np.float64] = np.pi / 4 * (straight + diagonal / np.sqrt(2))
    return perimeters


def between(shares: Sequence[float | None], counts: NDArray[Any],
            values_at: Callable[[NDArray[np.int64]], NDArray[np.float64]]) -> NDArray[np.float64]:
    """[share, label]: quantiles of so many values of each label, between two of them by linear interpolation; None: medians.
    NaN where there are no values. values_at: returns the values of ranks of each label, [2, label], any where there are none."""
    found = np.full((len(shares), len(counts)), np.nan)
    for row, share in zip(found, shares):
        place = (0.5 if share is None else share) * np.maximum(counts.astype(np.int64) - 1, 0)
        below = np.floor(place)
        low, high = values_at(np.stack([below, np.ceil(place)]).astype(np.int64))
        part = place - below
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite values
            middle = (low + high) / 2 if share is None else np.where(
                part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part))
        row[counts > 0] = middle[counts > 0]
    return found


def quantiles(map: Map, n: int, values: NDArray[Any], ignore_nan: bool, shares: Sequence[float | None]) -> NDArray[np.float64]:
    """[share, label]: between() of the values of the labels 1…n; NaN where one is not a number."""
    values = values.astype(np.float64).ravel() + 0.0  # zeros without a sign
    is_nan = np.isnan(values)
    pixels = np.flatnonzero((map.ravel() != 0) & ~is_nan)
    labels = map.ravel()[pixels]
    sorted_values = np.append(values[pixels][np.lexsort((values[pixels], labels))], np.nan)
    counts = per_label(labels, n)
    firsts = np.cumsum(counts) - counts
    found = between(shares, counts, lambda ranks: sorted_values[firsts + ranks])
    if not ignore_nan:
        found[:, per_label(map.ravel()[is_nan], n) > 0] = np.nan
    return found


def sums_of_powers(labels: Map, n: int, distances: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """[label, power, …]: of the labels 1…n of pixels the sums of products of powers of their distances along each axis."""
    powers = [[distance ** power for power in range(ORDER + 1)] for distance in distances]
    found = np.empty((n,) + (ORDER + 1,) * len(powers))
    for index in np.ndindex(*found.shape[1:]):
        product = math.prod((of_axis[power] for of_axis, power in zip(powers, index)), start=np.ones(len(labels)))
        found[(slice(None), *index)] = per_label(labels, n, product)
    return found


def moments(map: Map, rows: NDArray[Any], axes: tuple[str, ...], is_central: bool) -> NDArray[np.float64]:
    """The moments of each row's label up to the power 3 of each coordinate, [row, power, …], from its box's first pixel or
    from its centroid on."""
    n = int(rows["label"].max()) if len(rows) else 0
    places = np.nonzero(map)
    labels = map[places]
    distances = []
    for place, axis in zip(places, axes):
        origin = np.zeros(n + 1)
        origin[rows["label"]] = rows[f"centroid_{axis}"] if is_central else rows[axis]
        distances.append(place - origin[labels])
    found: NDArray[np.float64] = sums_of_powers(labels, n, distances)[rows["label"] - 1]
    return found


def normalized(central: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central moments that do not change with the size: NaN below the order 2."""
    ndim = central.ndim - 1
    orders = np.indices(central.shape[1:]).sum(0)
    area = central[(slice(None),) + (0,) * ndim][(slice(None),) + (np.newaxis,) * ndim]
    found: NDArray[np.float64] = np.where(orders < 2, np.nan, central / area ** (orders / ndim + 1))
    return found


def hu(nu: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hu's seven moments, which do not change with the orientation, [row, 7]. Hu: Visual Pattern Recognition by Moment
    Invariants, 1962."""
    n20, n02, n11 = nu[:, 2, 0], nu[:, 0, 2], nu[:, 1, 1]
    n30, n03, n21, n12 = nu[:, 3, 0], nu[:, 0, 3], nu[:, 2, 1], nu[:, 1, 2]
    a, b = n30 + n12, n21 + n03
    c, d = n30 - 3 * n12, 3 * n21 - n03
    difference, aa, bb = n20 - n02, a * a, b * b
    return np.stack([n20 + n02, difference ** 2 + 4 * n11 ** 2, c ** 2 + d ** 2, aa + bb,
                     c * a * (aa - 3 * bb) + d * b * (3 * aa - bb), difference * (aa - bb) + 4 * n11 * a * b,
                     d * a * (aa - 3 * bb) - c * b * (3 * aa - bb)], 1)
