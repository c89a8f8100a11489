# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums of labels in chunks of a picture, how they add up, and the columns of regionprops_table() that follow from them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._regionprops import AXES, OF_TABLES, SIZES, columns_of_table, table_dtype
from ._regionprops import regionprops_table as measure_chunk
from ._spacing import OF_MOMENTS, of_moments

OF_INTENSITY = ("centroid_weighted", "intensity_max", "intensity_mean", "intensity_min", "intensity_std")
OF_IMAGES = ("eccentricity", "orientation")  # that volumes do not have
KNOWN = (*OF_TABLES, *OF_MOMENTS, *OF_INTENSITY, "touches_border")


class Sums(NamedTuple):
    """Of each label, in ascending order. low, high: the first and last place along each axis. places: the sums of places,
    [label, axis]. spread: of the products of their differences from the mean, [label, axis, axis]. The others are of
    values, zeros where there are none; squares: of the squares of their differences from the mean; moments: of the products of
    values and places, [label, axis]."""

    labels: NDArray[np.int64]
    area: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    places: NDArray[np.int64]
    spread: NDArray[np.float64]
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    moments: NDArray[np.float64]


def check_properties(properties: Iterable[str], ndim: int, have_values: bool) -> None:
    for name in properties:
        if name not in KNOWN:
            raise ValueError(f"there is no property {name!r} of pictures in chunks, or it does not follow from sums of chunks")
        if ndim == 3 and name in OF_IMAGES:
            raise ValueError(f"3 dimensions have no property {name!r}")
        if name in OF_INTENSITY and not have_values:
            raise ValueError("properties of intensity need an intensity_image")


def axes_of(columns: dict[str, NDArray[Any]], name: str, n: int, first: int = 0) -> NDArray[Any]:
    """Columns of a property side by side."""
    return np.stack([columns[f"{name}-{i}"] for i in range(first, first + n)], 1)


def sums_of(labels: NDArray[Any], values: NDArray[Any] | None, start: Sequence[int], wants_moments: bool) -> Sums:
    """The sums of a chunk. start: its first pixel. wants_moments: whether moments of values are needed."""
    ndim = labels.ndim
    columns = measure_chunk(labels, ["label", "num_pixels", "bbox", "centroid", "inertia_tensor"])
    area, n = columns["num_pixels"], len(columns["label"])
    # Sums of integers below 2**51 are exact in the means.
    places = np.rint(axes_of(columns, "centroid", ndim) * area[:, np.newaxis]).astype(np.int64)
    tensors = np.stack([columns[f"inertia_tensor-{i}-{j}"] for i in range(ndim) for j in range(ndim)], 1)
    spread = swapped_trace(tensors.reshape(n, ndim, ndim), ndim) * area[:, np.newaxis, np.newaxis]
    offset = np.array(start, np.int64)
    none = np.zeros(n)
    found = Sums(columns["label"], area, axes_of(columns, "bbox", ndim) + offset,
                 axes_of(columns, "bbox", ndim, ndim) + offset - 1, places + area[:, np.newaxis] * offset, spread,
                 none, none, none, none, np.zeros((n, ndim)))
    return found if values is None else with_values(found, labels, values, start, wants_moments)


def swapped_trace(tensors: NDArray[np.float64], ndim: int) -> NDArray[np.float64]:
    """Covariances from inertia tensors."""
    trace = np.trace(tensors, axis1=1, axis2=2)[:, np.newaxis, np.newaxis]
    covariances: NDArray[np.float64] = trace / (ndim - 1) * np.eye(ndim) - tensors
    return covariances


def with_values(found: Sums, labels: NDArray[Any], values: NDArray[Any], start: Sequence[int], wants_moments: bool) -> Sums:
    names = ["intensity_min", "intensity_max", "intensity_mean", "intensity_std"]
    least, greatest, means, deviations = measure_chunk(labels, names, intensity_image=values).values()
    total = np.asarray(means * found.area, np.float64)
    if values.dtype.kind in "bui":
        total = np.rint(total)
    moments = found.moments
    if wants_moments:
        pixels = np.nonzero(labels)
        owners, weights = np.searchsorted(found.labels, labels[pixels]), values[pixels].astype(np.float64)
        moments = np.stack([np.bincount(owners, weights * (places + first), len(found.labels))
                            for places, first in zip(pixels, start)], 1)
    return found._replace(least=least, greatest=greatest, total=total, squares=np.asarray(deviations**2 * found.area, np.float64), moments=moments)


def added(parts: Sequence[Sums]) -> Sums:
    """The sums of chunks as those of one."""
    order = np.argsort(np.concatenate([part.labels for part in parts]), kind="stable")
    joined: list[Any] = [np.concatenate(columns)[order] for columns in zip(*parts)]
    every = Sums(*joined)
    starts = np.flatnonzero(np.diff(every.labels, prepend=-1))
    if not len(starts):
        return every
    owners = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(every.labels)))

    def add(column: NDArray[Any]) -> NDArray[Any]:
        result: NDArray[Any] = np.add.reduceat(column, starts)
        return result

    area, places, total = add(every.area), add(every.places), add(every.total)
    off = every.places / every.area[:, np.newaxis] - (places / area[:, np.newaxis])[owners]
    spread = every.spread + every.area[:, np.newaxis, np.newaxis] * off[:, :, np.newaxis] * off[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        squares = every.squares + every.area * (every.total / every.area - (total / area)[owners])**2
    return Sums(every.labels[starts], area, np.minimum.reduceat(every.low, starts), np.maximum.reduceat(every.high, starts),
                places, add(spread), np.minimum.reduceat(every.least, starts), np.maximum.reduceat(every.greatest, starts),
                total, add(squares), add(every.moments))


def table_of(sums: Sums) -> NDArray[Any]:
    """The component table."""
    ndim = sums.low.shape[1]
    table = np.zeros(len(sums.labels), table_dtype(np.int64, ndim=ndim))
    table["label"], table["area"] = sums.labels, sums.area
    for i, (axis, size) in enumerate(zip(AXES[-ndim:], SIZES[-ndim:])):
        table[axis], table[size] = sums.low[:, i], sums.high[:, i] - sums.low[:, i] + 1
        table[f"centroid_{axis}"] = sums.places[:, i] / sums.area
    return table


def values_of(sums: Sums, name: str) -> list[NDArray[np.float64]]:
    if name == "intensity_min":
        return [sums.least]
    if name == "intensity_max":
        return [sums.greatest]
    with np.errstate(invalid="ignore", divide="ignore"):
        if name == "intensity_mean":
            return [sums.total / sums.area]
        if name == "intensity_std":
            return [np.sqrt(sums.squares / sums.area)]
        return list((sums.moments / sums.total[:, np.newaxis]).T)


def columns_of(sums: Sums, properties: Iterable[str], shape: tuple[int, ...], separator: str) -> dict[str, NDArray[Any]]:
    """The columns of properties. shape: of the picture."""
    ndim, table, result = len(shape), table_of(sums), {}
    covariances = sums.spread / sums.area[:, np.newaxis, np.newaxis]
    tensors = np.trace(covariances, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] * np.eye(ndim) - covariances
    for name in properties:
        if name in OF_TABLES:
            result.update(columns_of_table(table, name, separator))
            continue
        if name in OF_MOMENTS:
            columns: list[NDArray[Any]] = list(of_moments(name, tensors))
        elif name == "touches_border":
            columns = [*(sums.low == 0).T, *(sums.high == np.array(shape) - 1).T]
        else:
            columns = list(values_of(sums, name))
        indices = [f"{i // ndim}{separator}{i % ndim}" if name == "inertia_tensor" else str(i) for i in range(len(columns))]
        result.update({name if len(columns) == 1 else f"{name}{separator}{index}": column
                       for index, column in zip(indices, columns)})
    return result
