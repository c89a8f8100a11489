# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many pixels of each label have a value, of parts of a picture, and the quantiles that follow. Memory grows with the
different values of each label, not with the picture."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._host_measures import between


class ValueCounts(NamedTuple):
    """Different pairs of a label and a value in ascending order, NaN last, and how many pixels have each."""

    labels: NDArray[np.int64]
    values: NDArray[np.float64]
    n: NDArray[np.int64]


def joined(labels: NDArray[np.int64], values: NDArray[np.float64], n: NDArray[np.int64]) -> ValueCounts:
    order = np.lexsort((values, labels))
    labels, values, n = labels[order], values[order], n[order]
    is_first = np.ones(len(labels), bool)
    is_first[1:] = (labels[1:] != labels[:-1]) | ((values[1:] != values[:-1]) & ~(np.isnan(values[1:]) & np.isnan(values[:-1])))
    starts = np.flatnonzero(is_first)
    return ValueCounts(labels[starts], values[starts], np.add.reduceat(n, starts) if len(starts) else n)


def counts_of(labels: NDArray[Any], values: NDArray[Any]) -> ValueCounts:
    """Those of a part. values: of bool, integers or floats."""
    pixels = np.flatnonzero(labels)
    known, found = labels.ravel()[pixels].astype(np.int64), values.ravel()[pixels]
    if found.dtype in (np.bool_, np.uint8, np.uint16) and known.max(initial=0) < 2**47:  # in one word, which is sorted faster
        words, n = np.unique(known << 16 | found, return_counts=True)
        return ValueCounts(words >> 16, (words & 65535).astype(np.float64), n.astype(np.int64))
    return joined(known, found.astype(np.float64) + 0.0, np.ones(len(known), np.int64))


def added(parts: Sequence[ValueCounts]) -> ValueCounts:
    """Those of several parts."""
    return joined(*(np.concatenate(columns) for columns in zip(*parts)))


def quantiles(counts: ValueCounts, labels: NDArray[np.int64], shares: Sequence[float | None], ignore_nan: bool) -> NDArray[np.float64]:
    """[share, label]: _host_measures.quantiles() of these labels."""
    is_nan = np.isnan(counts.values)
    known, values = counts.labels[~is_nan], np.append(counts.values[~is_nan], np.nan)
    ends = np.cumsum(counts.n[~is_nan])
    sums = np.concatenate(([0], ends))
    before = sums[np.searchsorted(known, labels)]
    totals = sums[np.searchsorted(known, labels, "right")] - before
    found = between(shares, totals, lambda ranks: values[np.searchsorted(ends, before + ranks, "right")])
    if not ignore_nan:
        found[:, np.isin(labels, counts.labels[is_nan])] = np.nan
    return found


class Counter:
    """Adds up the counts of parts that follow each other."""

    def __init__(self) -> None:
        self._parts: list[ValueCounts] = []
        self._n, self._limit = 0, 1 << 20  # pairs, and when they are added up

    def add(self, labels: NDArray[Any], values: NDArray[Any]) -> None:
        self._parts.append(counts_of(labels, values))
        self._n += len(self._parts[-1].n)
        if self._n > self._limit:
            self.total()
            self._limit = max(self._limit, 2 * self._n)

    def total(self) -> ValueCounts:
        self._parts = [added(self._parts)] if self._parts else [counts_of(np.zeros(0, int), np.zeros(0))]
        self._n = len(self._parts[0].n)
        return self._parts[0]


# For the labels of rows, the medians and a row for each quantile.
Ranks = Callable[[NDArray[np.int64]], NDArray[np.float64]]
