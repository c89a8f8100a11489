# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums of labels in chunks of a picture, which the library adds up."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _cudaccl
from .._arrays import view_of


class Sums(NamedTuple):
    """Of each label, in ascending order: its bytes, as ccl_sums_measure() makes them."""

    labels: NDArray[np.int64]
    of_labels: NDArray[np.uint8]


class Kind(NamedTuple):
    """A picture of that shape and the columns that are measured in it. values: the kind of the second plane: "", "bytes",
    "words", "reals", or "reals or NaN", of which NaN is left out."""

    shape: tuple[int, ...]
    columns: int
    values: str

    def adder(self) -> _cudaccl.Sums:
        return _cudaccl.Sums(self.shape, self.columns, self.values)


def kind_of_values(dtype: np.dtype[Any], ignore_nan: bool) -> str:
    """Of the values of a second plane."""
    return {"bool": "bytes", "uint8": "bytes", "uint16": "words"}.get(dtype.name, "reals or NaN" if ignore_nan else "reals")


NOTHING = Sums(np.empty(0, np.int64), np.empty((0, _cudaccl.sums_bytes()), np.uint8))


def compact(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The labels of a map in ascending order, and the map with their numbers, from 1 on."""
    greatest = int(labels.max(initial=0))
    if labels.min(initial=0) < 0:
        raise ValueError("labels must not be negative")
    if greatest >= 2**63:
        raise ValueError(f"labels must be less than 2**63, not {greatest}")
    if greatest > labels.size:
        found, places = np.unique(labels, return_inverse=True)
        has_background = int(found[0] == 0)
        map = places.reshape(labels.shape) + 1 - has_background
        return found[has_background:].astype(np.int64), map.astype(np.uint32)
    is_there = np.zeros(greatest + 1, bool)
    is_there[labels] = True
    is_there[0] = False
    return np.flatnonzero(is_there), np.cumsum(is_there, dtype=np.uint32)[labels] * (labels > 0)


def sums_of(kind: Kind, start: Sequence[int], labels: NDArray[Any], values: NDArray[Any] | None = None) -> Sums:
    """The sums of a chunk. start: its first pixel."""
    return sums_of_map(kind, start, *compact(labels), values)


def sums_of_map(kind: Kind, start: Sequence[int], found: NDArray[np.int64], map: NDArray[np.uint32],
                values: NDArray[Any] | None, around: Sequence[tuple[int, int]] | None = None) -> Sums:
    """Those of a map of numbers. found: the labels that have the numbers 1, 2, … around: how many of the first and of the last
    pixels along each axis are not measured."""
    if not len(found):
        return NOTHING
    if values is not None:
        values = np.ascontiguousarray(values, {"bytes": np.uint8, "words": np.uint16}.get(kind.values, np.float64))
    sums = kind.adder().measure(view_of(map), list(start), None if values is None else view_of(values), len(found),
                                around or [(0, 0)] * map.ndim)
    return Sums(found, np.frombuffer(sums, np.uint8).reshape(-1, _cudaccl.sums_bytes()))


def added(kind: Kind, parts: Sequence[Sums]) -> Sums:
    """The sums of chunks as those of one."""
    labels, owners = np.unique(np.concatenate([part.labels for part in parts]), return_inverse=True)
    sums = np.concatenate([part.of_labels for part in parts])
    total = kind.adder().add(view_of(sums), view_of(owners.astype(np.int64)), len(labels))
    return Sums(labels, np.frombuffer(total, np.uint8).reshape(-1, _cudaccl.sums_bytes()))
