# SPDX-License-Identifier: LGPL-2.1-or-later
"""Batches of masks: label_batch(), fill_holes(), remove_small()."""
from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, finish, view_of
from ._images import check_connectivity, exceeds, numpy_converts
from ._labeller import component_dtype, kept_batches
from ._types import Table

KEPT = 2  # batches of the last masks
Masks = TypeVar("Masks")


def host_array(masks: Any) -> NDArray[Any]:
    """Masks in host memory as an array of NumPy, which shares their memory if it is one already."""
    if type(masks) is np.ndarray:
        return masks
    if isinstance(masks, np.ma.MaskedArray):
        raise TypeError("a masked array cannot be used here: fill it first, as in array.filled(0)")
    if not numpy_converts(masks) and view_of(masks).device != HOST:
        raise TypeError("batches are labelled in host memory: copy the masks there first")
    if hasattr(masks, "__dlpack__") and not hasattr(masks, "__array__"):
        array: NDArray[Any] = np.from_dlpack(masks)
        return array
    return np.asarray(masks)


def batched(masks: NDArray[Any]) -> NDArray[Any]:
    """A mask, N×H×W or N×1×H×W masks as N×H×W."""
    if masks.ndim == 4 and masks.shape[1] == 1:
        return masks[:, 0]
    if masks.ndim not in (2, 3):
        raise ValueError(f"masks have the shape (height, width), (n, height, width) or (n, 1, height, width), not {masks.shape}")
    return masks[np.newaxis] if masks.ndim == 2 else masks


def plain_masks(masks: NDArray[Any], threshold: float = 0) -> NDArray[Any]:
    """The foreground of masks as bytes, with consecutive pixels in each row."""
    if threshold != 0 or masks.dtype not in (np.uint8, np.bool_):
        return exceeds(np.ascontiguousarray(masks), threshold)
    is_plain = all(stride > 0 for stride in masks.strides) and masks.strides[-1] == 1 and (
        masks.strides[1] >= masks.shape[2] and masks.strides[0] >= masks.strides[1] * masks.shape[1])
    return masks if is_plain else np.ascontiguousarray(masks)


class KeptBatch:
    """A batch that is kept for the next masks of its shape, for one call."""

    def __init__(self, shape: tuple[int, ...], connectivity: int | None) -> None:
        self._key = shape, check_connectivity(connectivity, 2)

    def __enter__(self) -> _cudaccl.Batch:
        kept: _cudaccl.Batch | None = kept_batches.pop(self._key, None)
        self._batch = kept or _cudaccl.Batch(*self._key)
        return self._batch

    def __exit__(self, *error: object) -> None:
        kept_batches[self._key] = self._batch
        while len(kept_batches) > KEPT:
            try:
                kept_batches.pop(next(iter(kept_batches)), None)
            except (RuntimeError, StopIteration):  # another thread changed it
                break


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


def label_batch(masks: Any, connectivity: int | None = None, *,
                threshold: float = 0) -> tuple[Any, Table, NDArray[np.int64]]:
    """Labels many masks of one size in one call.

    masks: an array in host memory of shape (n, height, width), (n, 1, height, width) or (height, width),
        of bool, integers or floats.
    connectivity: 4 or 8, or 1 or 2. None: 8.
    threshold: a pixel is foreground when its value is greater.

    Returns (labels, table, offsets): the label maps in the shape of the masks, int32, with labels from 1
    on in each mask; the rows of all masks, of component_dtype; and n + 1 offsets: those of mask i are
    table[offsets[i]:offsets[i + 1]]. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    array = host_array(masks)
    labels, table, offsets = run_batch(plain_masks(batched(array), threshold), connectivity)
    return finish(labels.reshape(array.shape), masks), table, offsets


def writable_masks(masks: Any) -> NDArray[Any]:
    """The memory of the caller's masks."""
    array = host_array(masks)
    if array.dtype not in (np.uint8, np.bool_):
        raise TypeError(f"masks that are written must be of uint8 or bool, not {array.dtype.name}")
    if type(masks) is not np.ndarray and not np.may_share_memory(array, np.asarray(masks)):
        raise TypeError("masks that are written must be an array")
    if not array.flags.writeable:
        raise ValueError("the masks cannot be written")
    return array


def fill_holes(masks: Masks, max_area: int = 0, connectivity: int | None = None, *, value: int | None = None) -> Masks:
    """Fills the holes of masks in place: components of the background that do not touch the mask's border.

    masks: as of label_batch(), of uint8 or bool. Foreground is what is not 0.
    max_area: holes of more pixels stay; 0: all are filled.
    connectivity: of the foreground, 4 or 8, or 1 or 2. None: 8. Holes have the other one, so that a hole
        ends where the foreground is closed.
    value: of the filled pixels, 1…255. None: the greatest value of the masks.

    Returns the masks. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    array = batched(writable_masks(masks))
    if array.size == 0:
        check_connectivity(connectivity, 2)
        return masks
    plain = plain_masks(array)
    if value is None:
        value = int(plain.max()) or 1
    if not 1 <= value <= 255 or (array.dtype == np.bool_ and value != 1):
        raise ValueError(f"holes of masks of {array.dtype.name} cannot be filled with {value!r}")
    with KeptBatch(plain.shape, connectivity) as batch:
        batch.fill_holes(view_of(plain, writable=True), max_area, value)
    if plain is not array:
        array[...] = plain
    return masks


def remove_small(masks: Masks, min_area: int, connectivity: int | None = None) -> Masks:
    """Removes components of fewer than min_area pixels from masks, in place.

    masks: as of label_batch(), of uint8 or bool. Foreground is what is not 0.
    connectivity: 4 or 8, or 1 or 2. None: 8.

    Returns the masks. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    array = batched(writable_masks(masks))
    if array.size == 0:
        check_connectivity(connectivity, 2)
        return masks
    plain = plain_masks(array)
    with KeptBatch(plain.shape, connectivity) as batch:
        batch.remove_small(view_of(plain, writable=True), min_area)
    if plain is not array:
        array[...] = plain
    return masks
