# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types of arguments and results: for annotations, and the rows of tables."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl

if TYPE_CHECKING:
    from typing import TypedDict

    class RunOptions(TypedDict, total=False):
        """Keyword arguments of Labeller.label(), without out."""

        threshold: float
        invert: bool
        min_area: int
        max_area: int
        stream: Any

    class LabelOptions(RunOptions, total=False):
        """Keyword arguments of label(), without out."""

        ndim: int | None
        n_threads: int


class SupportsArrayInterface(Protocol):
    """An array in host memory: of NumPy, PIL and others."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


HostImage = Union[SupportsArrayInterface, Sequence[Any]]
"""An image in host memory whose label map is an array of NumPy."""

Array = TypeVar("Array")
"""An array of PyTorch, CuPy, JAX or Numba, or a DeviceArray."""

Out = TypeVar("Out")
"""An array for a result."""

Table = NDArray[np.void]
"""A structured array, such as a component table."""

AXES = ("z", "y", "x")
SIZES = ("depth", "height", "width")


def table_dtype(count_type: type[np.signedinteger[Any]], *, ndim: int) -> np.dtype[np.void]:
    """The type of a row of the component table of images (2) or volumes (3), by the library's list of columns."""
    return np.dtype([(name, np.float64 if is_real else count_type)
                     for name, is_real, is_of_volumes in _cudaccl.columns() if ndim == 3 or not is_of_volumes])


# What the library measures: the flag of the column, the field, the pictures that have it, and of the property that
# consists of such fields its name, the place of the column, and whether it is an integer.
MEASURES = _cudaccl.measures()
IN_SHAPE = ("ALL", "FRAMES")

shape_dtype: np.dtype[np.void] = np.dtype([(field, np.float64) for _, field, of, *_ in MEASURES if of in IN_SHAPE])
volume_shape_dtype: np.dtype[np.void] = np.dtype([(field, np.float64) for _, field, *_ in MEASURES])
COLUMN_OF: dict[str, int] = {field: column for column, field, *_ in MEASURES}


def is_table(table: Any) -> bool:
    return "area" in (getattr(getattr(table, "dtype", None), "names", None) or ())


def check_table(table: NDArray[Any]) -> None:
    if not is_table(table):
        raise TypeError("a component table is needed, such as components() returns")
