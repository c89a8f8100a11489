# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types of arguments and results, for annotations."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

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
