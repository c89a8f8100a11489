# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of label_file() with the columns of regionprops_table()."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._regionprops import (MEASURED_OF_TILES, MEASURED_OF_VOLUMES, OF_RANKS, OF_VALUES, Measured, Property, check_quantiles,
                            columns_of, flags_of)
from .._types import COLUMN_OF, table_dtype, volume_shape_dtype
from .._value_counts import Ranks, ValueCounts
from .._value_counts import quantiles as quantiles_of

TILED_ROW = table_dtype(np.int64, ndim=3)


class TileColumns:
    """Makes rows of a table with properties from what is measured in tiles.

    columns: the flags of what has to be measured. dtype: of a row.
    """

    def __init__(self, properties: Iterable[str], shape: tuple[int, ...], connectivity: int,
                 spacing: NDArray[np.float64] | None = None, quantiles: Iterable[float] = (),
                 value_type: np.dtype[Any] | None = None) -> None:
        self._properties = list(dict.fromkeys([properties] if isinstance(properties, str) else properties))
        self._measured: dict[str, Property] = {**(MEASURED_OF_TILES if len(shape) == 2 else MEASURED_OF_VOLUMES)}
        if value_type is not None:
            self._measured["value"] = ((), ("",), lambda m: [self.component_values[m.rows["label"] - 1]])
        self._connectivity = connectivity
        self._shape = shape
        self._spacing = spacing
        self._quantiles = check_quantiles(quantiles, self._properties)
        self._ranks: list[Ranks] = []  # by channel
        self._others: list[list[NDArray[Any]]] | None = None  # [channel − 1]: what was measured
        self._n_taken = 0  # rows that are written
        self.component_values: NDArray[Any] = np.empty(0, value_type)  # by label
        self.component_parts: NDArray[np.uint32] | None = None  # by label; None: all are connected
        self.of_values = COLUMN_OF["intensity_mean"]
        self.columns = flags_of(self._properties, self._measured)
        self._find_dtype()

    def _find_dtype(self) -> None:
        columns = self.columns_of(np.empty(0, TILED_ROW), np.empty(0, volume_shape_dtype))
        self.dtype = np.dtype([(name, column.dtype) for name, column in columns.items()])

    def use_channels(self, n: int) -> None:
        """Makes columns of intensity for each of n channels, all but the first of which are kept by keeper()."""
        self._others = [[] for _ in range(n - 1)]
        self._find_dtype()

    @property
    def has_ranks(self) -> bool:
        return not OF_RANKS.keys().isdisjoint(self._properties)

    def use_counts(self, channels: Iterable[ValueCounts], ignore_nan: bool) -> None:
        """Makes medians and quantiles from the values of each channel."""
        shares = [None, *self._quantiles]
        self._ranks = [functools.partial(quantiles_of, counts, shares=shares, ignore_nan=ignore_nan) for counts in channels]

    def keeper(self, number: int) -> Callable[[memoryview, memoryview], None]:
        """A function that keeps what is measured with the values of a channel, 1…n − 1."""
        assert self._others is not None
        kept = self._others[number - 1]
        return lambda rows, shapes: kept.append(np.frombuffer(bytes(shapes), volume_shape_dtype))

    def _shapes_of_channels(self, n: int) -> list[NDArray[Any]]:
        """The shapes of the next n rows, of each channel but the first."""
        taken = []
        for kept in self._others or []:
            joined = kept[0] if len(kept) == 1 else np.concatenate([np.empty(0, volume_shape_dtype), *kept])
            kept[:] = [joined]
            taken.append(joined[self._n_taken:self._n_taken + n])
        self._n_taken += n
        return taken

    @property
    def has_values(self) -> bool:
        return any(name in OF_VALUES for name in self._properties)

    @property
    def has_component_values(self) -> bool:
        return "value" in self._properties

    @property
    def measured_names(self) -> list[str]:
        """The properties that do not follow from area, box and centroid."""
        return [name for name in self._properties if name in self._measured]

    def _measured_of(self, rows: NDArray[Any], shapes: NDArray[Any]) -> Measured:
        return Measured(rows, shapes, self._connectivity, self._shape, self._measured)

    def columns_of(self, rows: NDArray[Any], shapes: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """The columns of the table, of rows with all fields and shapes."""
        if len(self._shape) == 2:
            rows = rows[[name for name in TILED_ROW.names or () if "z" not in name and name != "depth"]]
        found = self._measured_of(rows, shapes)
        if self._others is not None:
            found.channels = [found, *(self._measured_of(rows, others) for others in self._shapes_of_channels(len(rows)))]
        if self.component_parts is not None:
            found.parts = self.component_parts[rows["label"] - 1]
        for place, channel in enumerate(found.channels or [found]):
            if self.has_ranks:
                of_rows = np.empty((1 + len(self._quantiles), 0)) if not len(rows) else self._ranks[place](rows["label"])
                channel.set_ranks(self._quantiles, of_rows)
        return columns_of(found, rows, self._properties, "-", self._spacing)

    def rows(self, rows: memoryview, shapes: memoryview | None = None) -> memoryview:
        """The bytes of rows of the table."""
        table = np.frombuffer(rows, TILED_ROW)
        measured = (np.zeros(len(table), volume_shape_dtype) if shapes is None
                    else np.frombuffer(shapes, volume_shape_dtype))
        made = np.empty(len(table), self.dtype)
        for name, column in self.columns_of(table, measured).items():
            made[name] = column
        return memoryview(made.tobytes())
