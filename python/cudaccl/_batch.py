# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches of masks: label_batch(), fill_holes(), remove_small()."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import (HOST, IMMUTABLE, device_number, empty, finish, host_array, kind_of, on_device, view_of,
                      view_on_gpu, zeros)
from ._images import check_connectivity, check_integers, compare_on_gpu, exceeds
from ._labeller import ALL, component_dtype, keep, kept_batches
from ._types import Table

Masks = TypeVar("Masks")


def batch_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """N, H and W of a mask, of N×H×W or of N×1×H×W masks."""
    if len(shape) == 4 and shape[1] == 1:
        return shape[0], shape[2], shape[3]
    if len(shape) not in (2, 3):
        raise ValueError(f"masks have the shape (height, width), (n, height, width) or (n, 1, height, width), not {shape}")
    return (1, shape[0], shape[1]) if len(shape) == 2 else (shape[0], shape[1], shape[2])


def batched(masks: NDArray[Any]) -> NDArray[Any]:
    """A mask, N×H×W or N×1×H×W masks as N×H×W."""
    batch_shape(masks.shape)
    return masks[:, 0] if masks.ndim == 4 else masks[np.newaxis] if masks.ndim == 2 else masks


def bytes_on_gpu(masks: Any, stream: Any, threshold: float) -> _cudaccl.View | None:
    """A view of the foreground of masks on a GPU as bytes; None if they are in host memory."""
    view = view_on_gpu(masks, stream)
    if view is None or (view.is_byte and threshold == 0):
        return view
    return view_of(compare_on_gpu(masks, threshold), stream)


def plain_masks(masks: NDArray[Any], threshold: float = 0) -> NDArray[Any]:
    """The foreground of masks as bytes, with consecutive pixels in each row."""
    if threshold != 0 or masks.dtype not in (np.uint8, np.bool_):
        return exceeds(np.ascontiguousarray(masks), threshold)
    is_plain = all(stride > 0 for stride in masks.strides) and masks.strides[-1] == 1 and (
        masks.strides[1] >= masks.shape[2] and masks.strides[0] >= masks.strides[1] * masks.shape[1])
    return masks if is_plain else np.ascontiguousarray(masks)


class KeptBatch:
    """A batch that is kept for the next masks of its shape, for one call."""

    def __init__(self, shape: tuple[int, ...], connectivity: int | None, device: int = HOST) -> None:
        self._key = shape, check_connectivity(connectivity, 2), device

    def __enter__(self) -> _cudaccl.Batch:
        kept: _cudaccl.Batch | None = kept_batches.pop(self._key, None)
        self._batch = kept or _cudaccl.Batch(*self._key)
        return self._batch

    def __exit__(self, *error: object) -> None:
        keep(kept_batches, self._key, self._batch)


def run_batch(masks: NDArray[Any], connectivity: int | None,
              areas: NDArray[np.int32] | None = None) -> tuple[NDArray[np.int32], Table, NDArray[np.int64]]:
    """Labels N×H×W masks of bytes; also writes the area of each pixel's component."""
    labels = np.zeros(masks.shape, np.int32)
    if masks.size == 0:
        check_connectivity(connectivity, 2)
        return labels, np.empty(0, component_dtype), np.zeros(len(masks) + 1, np.int64)
    with KeptBatch(masks.shape, connectivity) as batch:
        rows, offsets = batch.label(view_of(masks), view_of(labels, writable=True),
                                    None if areas is None else view_of(areas, writable=True))
    return labels, np.frombuffer(rows, component_dtype), np.frombuffer(offsets, np.int64)


def run_batch_on_gpu(masks: Any, view: _cudaccl.View, connectivity: int | None, stream: Any,
                     areas: Any = None) -> tuple[Any, Table, NDArray[np.int64]]:
    """Labels masks on a GPU, of whose foreground there is a view; also writes the area of each pixel's
    component."""
    shape = batch_shape(view.shape)
    if 0 in shape:
        check_connectivity(connectivity, 2)
        return (zeros(masks, view.shape, "int32", view.device), np.empty(0, component_dtype),
                np.zeros(shape[0] + 1, np.int64))
    labels = empty(masks, view.shape, "int32", view.device)
    with KeptBatch(shape, connectivity, view.device) as batch:
        rows, offsets = batch.label(view, view_of(labels, stream, writable=True),
                                    None if areas is None else view_of(areas, stream, writable=True))
    return finish(labels, masks), np.frombuffer(rows, component_dtype), np.frombuffer(offsets, np.int64)


def label_batch(masks: Any, connectivity: int | None = None, *, threshold: float = 0,
                stream: Any = None, device: Any = None) -> tuple[Any, Table, NDArray[np.int64]]:
    """Labels many masks of one size in one call, on the device where they are.

    masks: an array of shape (n, height, width), (n, 1, height, width) or (height, width), of bool,
        integers or floats.
    connectivity: 4 or 8, or 1 or 2. None: 8.
    threshold: a pixel is foreground when its value is greater.
    stream: of masks on a GPU, as of label().
    device: where to label, as of label(). Since 0.4

    Returns (labels, table, offsets): the label maps in the shape of the masks, int32, with labels from 1
    on in each mask; the rows of all masks, of component_dtype; and n + 1 offsets: those of mask i are
    table[offsets[i]:offsets[i + 1]]. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    if device is not None:
        if device_number(device) != HOST and view_on_gpu(masks, None) is None:
            masks, threshold = plain_masks(host_array(masks), threshold), 0
        masks = on_device(masks, device)
    view = bytes_on_gpu(masks, stream, threshold)
    if view is not None:
        return run_batch_on_gpu(masks, view, connectivity, stream)
    array = host_array(masks)
    labels, table, offsets = run_batch(plain_masks(batched(array), threshold), connectivity)
    return finish(labels.reshape(array.shape), masks), table, offsets


def not_bytes(dtype: str) -> str:
    return f"masks that are written must be of uint8 or bool, not {dtype}: make some, as in masks = masks > 0"


def writable_masks(masks: Any) -> NDArray[Any]:
    """The memory of the caller's masks."""
    array = host_array(masks)
    if array.dtype not in (np.uint8, np.bool_):
        raise TypeError(not_bytes(array.dtype.name))
    if kind_of(masks) in IMMUTABLE:
        view_of(masks, writable=True)  # raises: it cannot be written
    if type(masks) is not np.ndarray and not np.may_share_memory(array, np.asarray(masks)):
        raise TypeError("masks that are written must be an array")
    if not array.flags.writeable:
        raise ValueError("the masks cannot be written")
    return array


def writable_on_gpu(masks: Any, stream: Any) -> _cudaccl.View | None:
    """A view of masks on a GPU that are written; None if they are in host memory."""
    view = view_on_gpu(masks, stream)
    if view is None:
        return None
    if not view.is_byte:
        raise TypeError(not_bytes(view.dtype))
    batch_shape(view.shape)
    return view_of(masks, stream, writable=True)


def changed(masks: Masks, connectivity: int | None, stream: Any,
            change: Callable[[_cudaccl.Batch, _cudaccl.View, Any], None]) -> Masks:
    """The caller's masks, changed in place by a function of a batch, a view of them, and the masks as the library has
    them."""
    view = writable_on_gpu(masks, stream)
    if view is not None:
        if 0 not in view.shape:
            with KeptBatch(batch_shape(view.shape), connectivity, view.device) as batch:
                change(batch, view, masks)
        return masks
    array = batched(writable_masks(masks))
    if array.size == 0:
        check_connectivity(connectivity, 2)
        return masks
    plain = plain_masks(array)
    with KeptBatch(plain.shape, connectivity) as batch:
        change(batch, view_of(plain, writable=True), plain)
    if plain is not array:
        array[...] = plain
    return masks


def value_of_holes(masks: Any, view: _cudaccl.View) -> int:
    """The greatest value of masks, by their own library."""
    if view.dtype == "bool" or 0 in view.shape:
        return 1
    if not hasattr(masks, "max"):
        raise TypeError(f"arrays of {kind_of(masks)} have no max(): value= must be given")
    return int(masks.max()) or 1


def check_value(value: int, dtype: str) -> None:
    check_integers(1, 255, value=value)
    if not 1 <= value <= 255 or (dtype == "bool" and value != 1):
        raise ValueError(f"holes of masks of {dtype} cannot be filled with {value!r}")


def fill_holes(masks: Masks, max_area: int = 0, connectivity: int | None = None, *, value: int | None = None,
               stream: Any = None) -> Masks:
    """Fills the holes of masks in place: components of the background that do not touch the mask's border.

    masks: as of label_batch(), of uint8 or bool, that may be written: not of JAX, whose arrays are immutable.
        Foreground is what is not 0.
    max_area: holes of more pixels stay; 0: all are filled.
    connectivity: of the foreground, 4 or 8, or 1 or 2. None: 8. Holes have the other one, so that a hole
        ends where the foreground is closed.
    value: of the filled pixels, 1…255. None: the greatest value of the masks.
    stream: of masks on a GPU, as of label().

    Returns the masks. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    check_integers(0, ALL, max_area=max_area)

    def fill(batch: _cudaccl.Batch, view: _cudaccl.View, plain: Any) -> None:
        filled = value_of_holes(plain, view) if value is None else value
        check_value(filled, view.dtype)
        batch.fill_holes(view, max_area, filled)

    return changed(masks, connectivity, stream, fill)


def remove_small(masks: Masks, min_area: int, connectivity: int | None = None, *, stream: Any = None) -> Masks:
    """Removes components of fewer than min_area pixels from masks, in place.

    masks: as of fill_holes().
    connectivity: 4 or 8, or 1 or 2. None: 8.
    stream: of masks on a GPU, as of label().

    Returns the masks. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    check_integers(0, ALL, min_area=min_area)
    return changed(masks, connectivity, stream, lambda batch, view, plain: batch.remove_small(view, min_area))
