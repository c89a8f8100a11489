# SPDX-License-Identifier: LGPL-2.1-or-later
"""Label maps on a GPU, as they are measured there or copied to the host."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, copy_to_device, device_number, host_array, host_copy_of, kind_of, on_device, view_of, view_on_gpu
from ._host_measures import between
from ._images import OF_VOLUMES, check_connectivity
from ._labeller import keep, kept_finders, kept_measurers, kept_runs, label
from ._types import table_dtype, volume_shape_dtype

contour_dtype: np.dtype[np.void] = np.dtype([(name, np.uint32) for name in (
    "component", "parent", "first_point", "n_points", "is_hole")])
"""A row of a table of contours. The integers have no sign: convert them before one is subtracted from another.
Since: 0.3"""

FIRST_LABELS = 4096  # rows of a new object; it is replaced where a map has more labels


class DeviceMap:
    """A label map on a GPU. array: of int32 or uint32. It is not written. are_components: labels are not in several
    parts."""

    def __init__(self, array: Any, are_components: bool = False) -> None:
        self.array, self.view, self.are_components = array, view_of(array), are_components

    def measure(self, columns: int, values: _cudaccl.View | None) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Rows, as of a volume, and shapes of the labels 1…n, and n."""
        key = self.view.shape, columns, self.view.device
        kept: _cudaccl.MapMeasurer | None = kept_measurers.pop(key, None)
        measurer = kept or _cudaccl.MapMeasurer(self.view.shape, columns, FIRST_LABELS, self.view.device)
        rows, shapes, n = measurer.run(self.view, values)
        if n >= 2**31 and self.view.dtype == "int32":
            raise ValueError("labels must not be negative")
        if measurer.max_labels < n <= np.prod(self.view.shape):
            measurer = _cudaccl.MapMeasurer(self.view.shape, columns, 1 << n.bit_length(), self.view.device)
            rows, shapes, n = measurer.run(self.view, values)
        keep(kept_measurers, key, measurer)
        table = np.frombuffer(rows, table_dtype(np.int32, ndim=3))
        return table, np.frombuffer(shapes, volume_shape_dtype) if columns else np.zeros(len(table)), n

    def complete(self) -> DeviceMap:
        """This map, once it is complete and its labels are checked."""
        if 0 not in self.view.shape:
            self.measure(0, None)
        return self

    def quantiles(self, values: _cudaccl.View, n: int, ignore_nan: bool,
                  shares: Sequence[float | None]) -> NDArray[np.float64]:
        """_host_measures.quantiles() of the labels 1…n, found on the GPU."""
        if n == 0:
            return np.empty((len(shares), 0))
        numbers, nans = np.frombuffer(_cudaccl.label_ranks(self.view, values, n, b"")[1], np.uint32).reshape(2, n)

        def values_at(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
            found, _ = _cudaccl.label_ranks(self.view, values, n, ranks.astype(np.uint32).tobytes())
            return np.frombuffer(found, np.float64).reshape(ranks.shape)

        found = between(shares, numbers, values_at)
        if not ignore_nan:
            found[:, nans > 0] = np.nan
        return found

    def count_holes(self, connectivity: int) -> NDArray[np.int64]:
        """The numbers of holes of the labels 0, 1, … of an image."""
        rows, _, _ = find_contours(self.array, connectivity, True, 0, False, 0, 0, True)
        table = np.frombuffer(rows, contour_dtype)
        return (np.bincount(table["component"], table["is_hole"]) if len(table) else np.zeros(1)).astype(np.int64)

    def encode(self, compressed: bool) -> list[bytes]:
        """The run lengths of the labels that have pixels, in ascending order."""
        key = self.view.shape, self.view.device
        finder = kept_runs.pop(key, None) or _cudaccl.MapRuns(*key)
        found: list[bytes] = finder.encode(self.view, compressed)
        keep(kept_runs, key, finder)
        return found

    def copy_to_host(self) -> NDArray[np.uint32]:
        """A copy of a complete map."""
        return host_copy_of(self.view).view(np.uint32)


def as_int32(labels: Any) -> Any:
    """A label map of other integers as one of int32, by its own library."""
    if kind_of(labels) == "torch":
        return labels.int()
    if not hasattr(labels, "astype"):
        raise TypeError(f"label maps of {kind_of(labels)} on a GPU must be of int32 or uint32")
    return labels.astype("int32")


def as_labels(image: Any) -> Any:
    """An image of integers on a GPU as a label map, by way of the host where its library does not convert it."""
    view = view_of(image)
    if view.dtype in ("int32", "uint32") or kind_of(image) == "torch" or hasattr(image, "astype"):
        return as_int32(image) if view.dtype == "bool" else image
    copy = host_copy_of(view)
    check_range(copy)
    return copy_to_device(copy.astype(np.int32), view.device)


def check_range(labels: Any) -> None:
    """Refuses labels that do not fit into int32."""
    if int(labels.max()) >= 2**31 or int(labels.min()) < 0:
        raise ValueError("labels on a GPU must be 0…2³¹ − 1")


def check_map(ndim: int, kind: str, connectivity: int | None, dimensions: tuple[int, ...]) -> None:
    """Refuses arrays that are neither a mask of bool nor a label map with one of these numbers of dimensions. kind: the letter that
    NumPy has for the kind of the array's type."""
    if ndim not in dimensions or kind not in "biu":
        raise TypeError("a component table is needed, such as components() returns, or a mask of bool or a label map of "
                        f"integers with {' or '.join({2: 'two', 3: 'three'}[n] for n in dimensions)} dimensions")
    if kind == "b" and ndim == 3 and connectivity not in OF_VOLUMES:  # masks of several images, or colours
        raise ValueError("a mask of three dimensions is a volume with connectivity=6, 18 or 26")


def device_map_of(labels: Any, connectivity: int | None, dimensions: tuple[int, ...]) -> DeviceMap | None:
    """The components of a mask of bool, or a label map, on a GPU; None if it is in host memory."""
    view = view_on_gpu(labels, None)
    if view is None:
        return None
    ndim = len(view.shape)
    check_map(ndim, "f" if view.is_float else view.dtype[0], connectivity, dimensions)
    if view.dtype == "bool":
        return DeviceMap(label(labels, check_connectivity(connectivity, ndim), ndim=ndim)[0], True)
    if view.dtype not in ("int32", "uint32"):
        if 0 not in view.shape and view.dtype.endswith("64") and hasattr(labels, "max"):
            check_range(labels)
        labels = as_int32(labels)
    return DeviceMap(labels)


def labels_on_device(labels: Any, device: Any) -> Any:
    """on_device() of a mask of bool or a label map, which is of int32 on a GPU."""
    if device is None or device_number(device) == HOST or view_on_gpu(labels, None) is not None:
        return on_device(labels, device)
    copy = host_array(np.ma.filled(labels, 0) if isinstance(labels, np.ma.MaskedArray) else labels)
    if copy.dtype.kind in "iu":
        if copy.size:
            check_range(copy)
        copy = copy.astype(np.int32)
    return on_device(copy, device)


def find_contours(image: Any, connectivity: int, cracks: bool, threshold: float, invert: bool, min_area: int,
                  max_area: int, are_labels: bool = False) -> tuple[Any, Any, int]:
    """Rows, points and the number of components of an image on a GPU, or of a label map of int32 or uint32. An image is
    labelled only if the area matters, or if its pixels are not bytes."""
    view = view_of(image)
    is_plain = are_labels or view.is_byte and type(threshold) is int and 0 <= threshold <= 255
    if min_area > 1 or max_area or not is_plain:
        map = _cudaccl.DeviceArray(view.shape, "int32", view.device)
        label(image, connectivity, threshold=threshold, invert=invert, min_area=min_area, max_area=max_area, out=map)
        view, threshold, invert = view_of(map), 0, False
    key = view.shape, connectivity, cracks, view.device
    finder = kept_finders.pop(key, None) or _cudaccl.ContourFinder(view.shape, connectivity, cracks, view.device)
    found: tuple[Any, Any, int] = finder.run(view, int(threshold), bool(invert))
    keep(kept_finders, key, finder)
    return found
