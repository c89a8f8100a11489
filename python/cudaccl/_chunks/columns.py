# SPDX-License-Identifier: LGPL-2.1-or-later
"""The columns of regionprops_table() of pictures in chunks, from what was added up of all chunks."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _host_measures
from .._arrays import view_of
from .._regionprops import MEASURED_ON_GPU, OF_HULLS, Measured, columns_of, in_order
from .._types import AXES, COLUMN_OF, MEASURES, table_dtype, volume_shape_dtype
from .._value_counts import ValueCounts, quantiles
from .around import OF_NEIGHBOURS, Around, Plan
from .hulls import Hulls, convex_measures_of, measures_of
from .moments import Moments, about
from .sums import NOTHING, Kind, Sums

OF_CORNERS = {*OF_HULLS, "area_convex", "solidity", "feret_diameter_max"}
OF_MOMENTS = {"moments", "moments_central", "moments_normalized", "moments_hu"}
ROW = table_dtype(np.int64, ndim=3)


class Wanted(NamedTuple):
    """What a table has: arguments of regionprops_table()."""

    properties: list[str]
    connectivity: int
    separator: str
    spacing: NDArray[np.float64] | None
    quantiles: list[float]
    ignore_nan: bool
    sort_by: str | None
    largest: int | None
    has_channels: bool


class Total(NamedTuple):
    """What was added up of all chunks; None: it is not wanted. channels: of the second plane, or of each channel of it.
    n_parts: how many parts each label has whose pixels are connected. counts: by channel."""

    channels: Sequence[Sums]
    around: Around | None = None
    hulls: Hulls | None = None
    moments: Moments | None = None
    n_parts: NDArray[np.int64] | None = None
    counts: Sequence[ValueCounts] = ()


class MeasuredInChunks(Measured):
    """What was measured of the labels of a picture."""

    def __init__(self, rows: NDArray[Any], shapes: NDArray[Any], kind: Kind, connectivity: int, total: Total) -> None:
        super().__init__(rows, shapes, connectivity, kind.shape, MEASURED_ON_GPU[len(kind.shape)])
        self._total = total

    def n_parts(self) -> NDArray[np.int64]:
        return super().n_parts() if self._total.n_parts is None else self._total.n_parts

    def hulls(self) -> NDArray[np.float64]:
        if self._hulls is None and self._total.hulls is not None:
            self._hulls = measures_of(self._total.hulls)
        return super().hulls()

    def convex(self) -> NDArray[np.float64]:
        if self._convex is None and self._total.hulls is not None:
            self._convex = convex_measures_of(self._total.hulls)
        return super().convex()

    def crofton_perimeters(self) -> list[NDArray[np.float64]]:
        assert self._total.around is not None
        straight = self.shapes["crack_length"].astype(np.int64) // 2  # a run has two ends
        return [_host_measures.crofton_of_runs(straight, self._total.around.runs)]

    def moments(self, is_central: bool) -> NDArray[np.float64]:
        assert self._total.moments is not None
        if is_central:
            return self._total.moments.central
        return about(self._total.moments, np.stack([self.rows[axis] for axis in AXES[-self.ndim:]], 1))


def derived(kind: Kind, sums: Sums) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of the component table, and shapes."""
    rows, shapes = kind.adder().derive(view_of(sums.of_labels))
    table = np.frombuffer(rows, ROW).copy()
    table["label"] = sums.labels
    return table, np.frombuffer(shapes, volume_shape_dtype).copy()


def table_of(kind: Kind, plan: Plan | None, wanted: Wanted, total: Total,
             change: Callable[[NDArray[Any]], None] = lambda rows: None) -> dict[str, NDArray[Any]]:
    """kind: of the sums of the channels. plan: of what depends on pixels around. change: of the rows."""
    rows, shapes = derived(kind, total.channels[0])
    change(rows)
    if len(kind.shape) == 2:
        rows = rows[[name for name in ROW.names or () if "z" not in name and name != "depth"]]
    if plan is not None and total.around is not None:
        _, of_neighbours = derived(plan.kind, total.around.sums)
        for column, field, *_ in MEASURES:
            if column & OF_NEIGHBOURS:
                shapes[field] = of_neighbours[field]
    found = [MeasuredInChunks(rows, shapes, kind, wanted.connectivity, total)]
    for sums in total.channels[1:]:
        found.append(MeasuredInChunks(rows, derived(of_values(kind), sums)[1], kind, wanted.connectivity, total))
    for channel, counts in zip(found, total.counts):
        channel.set_ranks(wanted.quantiles, quantiles(counts, rows["label"], [None, *wanted.quantiles], wanted.ignore_nan))
    if wanted.has_channels:
        found[0].channels = list(found)
    columns = columns_of(found[0], rows, wanted.properties, wanted.separator, wanted.spacing)
    return in_order(columns, rows["area"], wanted.sort_by, wanted.largest)


def check(kind: Kind, plan: Plan | None, wanted: Wanted, n_channels: int) -> None:
    """Raises ValueError if the table, without rows, cannot be made."""
    labels, ndim = NOTHING.labels, len(kind.shape)
    empty = np.zeros((0, ndim), np.int64)
    total = Total([NOTHING] * n_channels, plan and Around(NOTHING, labels), Hulls(labels, empty[:, :2].astype(np.int32), labels),
                  Moments(labels, labels, empty, np.empty((0, *(_host_measures.ORDER + 1,) * ndim))), labels,
                  [ValueCounts(labels, labels.astype(np.float64), labels)] * n_channels)
    table_of(kind, plan, wanted, total)


def of_values(kind: Kind) -> Kind:
    """Of the values alone."""
    return kind._replace(columns=kind.columns & COLUMN_OF["intensity_mean"])


def wants(properties: Iterable[str], some: Iterable[str]) -> bool:
    return not set(some).isdisjoint(properties)
