# SPDX-License-Identifier: LGPL-2.1-or-later
"""Component tables in the memory of a GPU."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._types import Table


class DeviceTable:
    """A component table in the memory of a GPU: table["area"] is a column, an array of int32 or float64 that
    other libraries read through DLPack or __cuda_array_interface__, without a copy. The columns are those of
    component_dtype; their elements are as far apart as the rows.

    It is complete and can be read on any stream. Keep the table, a column, or an array that another library
    has made of one until the work that reads it has finished: the labeller writes a later table there.
    Since: 0.3
    """

    def __init__(self, rows: _cudaccl.LentRows, dtype: np.dtype[np.void], device: int) -> None:
        self._rows, self._dtype, self._device = rows, dtype, device

    def __len__(self) -> int:
        return self._rows.size // self._dtype.itemsize

    def __repr__(self) -> str:
        return f"<cudaccl.DeviceTable of {len(self)} rows on cuda:{self._device}>"

    @property
    def device(self) -> int:
        """The GPU's number."""
        return self._device

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._dtype.names or ()

    def __getitem__(self, name: str) -> _cudaccl.DeviceColumn:
        fields = self._dtype.fields
        if fields is None or name not in fields:
            raise KeyError(name)
        dtype, offset = fields[name][:2]
        return _cudaccl.DeviceColumn(self._rows, self._rows.address + offset, len(self), self._dtype.itemsize,
                                     dtype.kind == "f", self._device)

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        raise TypeError("the table is in the memory of a GPU: its method copy_to_host() makes an array of NumPy")

    def copy_to_host(self) -> Table:
        """A copy of the table as components() returns it."""
        table = np.empty(len(self), self._dtype)
        self._rows.download(table)
        return table
