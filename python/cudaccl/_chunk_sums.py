# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums of labels in chunks of a picture, which the library adds up, and the columns of regionprops_table() that follow from
them."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import view_of
from ._files.tile_columns import TILED_ROW, TileColumns
from ._regionprops import (COLUMN_OF, MEASURED_OF_TILES, MEASURED_OF_VOLUMES, OF_TABLES, OF_VALUES, flags_of,
                           volume_shape_dtype)
from ._value_counts import ValueCounts

OF_SUMS = COLUMN_OF["first_x"] | COLUMN_OF["variance_x"] | COLUMN_OF["intensity_mean"]
OF_MAPS = ("moments", "moments_central", "moments_normalized")  # need the whole label map


class Sums(NamedTuple):
    """Of each label, in ascending order: its bytes, as ccl_sums_measure() makes them."""

    labels: NDArray[np.int64]
    of_labels: NDArray[np.uint8]


class Kind(NamedTuple):
    """A picture of that shape and the columns that are measured in it. values: the kind of the second plane: "", "bytes", "words" or "reals"."""

    shape: tuple[int, ...]
    columns: int
    values: str

    def adder(self) -> _cudaccl.Sums:
        return _cudaccl.Sums(self.shape, self.columns, self.values == "reals", self.values == "words")


def check_properties(properties: Iterable[str], ndim: int, have_values: bool) -> None:
    measured = MEASURED_OF_TILES if ndim == 2 else MEASURED_OF_VOLUMES
    for name in properties:
        if ndim == 3 and name not in measured and name in MEASURED_OF_TILES:
            raise ValueError(f"3 dimensions have no property {name!r}")
        if name in OF_MAPS or name not in (*OF_TABLES, *measured) or flags_of([name], measured) & ~OF_SUMS:
            raise ValueError(f"there is no property {name!r} of pictures in chunks, or it does not follow from sums of chunks")
        if name in OF_VALUES and not have_values:
            raise ValueError("properties of intensity need an intensity_image")


def kind_of(shape: tuple[int, ...], properties: Iterable[str], values: Any) -> Kind:
    """values: the dtype of the second plane; None without one."""
    columns = flags_of(properties, MEASURED_OF_TILES if len(shape) == 2 else MEASURED_OF_VOLUMES)
    if values is None:
        return Kind(shape, columns, "")
    return Kind(shape, columns, {"bool": "bytes", "uint8": "bytes", "uint16": "words"}.get(values.name, "reals"))


def compact(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The labels of a map in ascending order, and the map with their numbers, from 1 on."""
    greatest = int(labels.max(initial=0))
    if labels.min(initial=0) < 0:
        raise ValueError("labels must not be negative")
    if greatest > labels.size:
        found, places = np.unique(labels, return_inverse=True)
        has_background = int(found[0] == 0)
        map = places.reshape(labels.shape) + 1 - has_background
        return found[has_background:].astype(np.int64), map.astype(np.uint32)
    is_there = np.zeros(greatest + 1, bool)
    is_there[labels] = True
    is_there[0] = False
    return np.flatnonzero(is_there), np.cumsum(is_there, dtype=np.uint32)[labels] * (labels > 0)


def sums_of(kind: Kind, start: Sequence[int], labels: NDArray[Any], values: NDArray[Any] | None) -> Sums:
    """The sums of a chunk. start: its first pixel."""
    return sums_of_map(kind, start, *compact(labels), values)


def sums_of_map(kind: Kind, start: Sequence[int], found: NDArray[np.int64], map: NDArray[np.uint32],
                values: NDArray[Any] | None) -> Sums:
    """Those of a map of numbers. found: the labels that have the numbers 1, 2, …"""
    if not len(found):
        return Sums(found, np.empty((0, _cudaccl.sums_bytes()), np.uint8))
    if values is not None:
        values = np.ascontiguousarray(values, {"bytes": np.uint8, "words": np.uint16, "reals": np.float64}[kind.values])
    sums = kind.adder().measure(view_of(map), list(start), None if values is None else view_of(values), len(found))
    return Sums(found, np.frombuffer(sums, np.uint8).reshape(-1, _cudaccl.sums_bytes()))


def added(kind: Kind, parts: Sequence[Sums]) -> Sums:
    """The sums of chunks as those of one."""
    labels, owners = np.unique(np.concatenate([part.labels for part in parts]), return_inverse=True)
    sums = np.concatenate([part.of_labels for part in parts])
    total = kind.adder().add(view_of(sums), view_of(owners.astype(np.int64)), len(labels))
    return Sums(labels, np.frombuffer(total, np.uint8).reshape(-1, _cudaccl.sums_bytes()))


def columns_of(kind: Kind, sums: Sums, properties: Iterable[str], separator: str,
               spacing: NDArray[np.float64] | None,
               change: Callable[[NDArray[Any]], None] = lambda rows: None, quantiles: Iterable[float] = (),
               counts: ValueCounts | None = None) -> dict[str, NDArray[Any]]:
    """The columns of properties. change: of the rows that they follow from. counts: for medians and quantiles."""
    rows, shapes = kind.adder().derive(view_of(sums.of_labels))
    table = np.frombuffer(rows, TILED_ROW).copy()
    table["label"] = sums.labels
    change(table)
    columns = TileColumns(properties, kind.shape, 8 if len(kind.shape) == 2 else 26, separator, spacing, quantiles)
    if counts is not None:
        columns.use_counts([counts], False)
    return columns.columns_of(table, np.frombuffer(shapes, volume_shape_dtype))
