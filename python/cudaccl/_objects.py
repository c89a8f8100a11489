# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects of masks and label maps as a whole: their holes, which of them stay, and which touch each other."""
from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import as_given, empty, finish, host_array, host_copy_of, kind_of, on_device, view_of, view_on_gpu
from ._batch import batch_shape, label_batch
from ._contours import has_several_values
from ._device_maps import DeviceMap, device_map_of, labels_on_device
from ._images import check_connectivity, check_integers, wanted_ndim
from ._labeller import label
from ._regionprops import as_int64, label_map_of, measure_plane
from ._types import AXES, SIZES


def is_mask(image: Any) -> bool:
    """Whether an image is a mask of bool or bytes, or a batch of masks, and not a label map."""
    view = view_on_gpu(image, None)
    dtype = view.dtype if view else host_array(image).dtype.name
    return dtype in ("bool", "uint8")


def brought(image: Any, device: Any) -> Any:
    """Masks or a label map of the caller's on a device."""
    if device is None:
        return image
    return on_device(image, device) if is_mask(image) else labels_on_device(image, device)


def filled_on_gpu(map: DeviceMap, neighbours: int, max_area: int, like: Any) -> Any:
    """A label map on a GPU whose holes are filled, in the kind of another array."""
    filled = empty(like, tuple(map.view.shape), "int32", map.view.device)
    _cudaccl.fill_label_holes(map.complete().view, neighbours, 0, max_area, view_of(filled, writable=True))
    return finish(filled, like)


def fill_label_holes(labels: Any, max_area: int = 0, connectivity: int | None = None, *, ndim: int | None = None,
                     device: Any = None) -> Any:
    """Fills the holes of each object of a label map with its label; objects in holes stay.

        filled = cudaccl.fill_label_holes(cells)

    labels: a label map of integers of two dimensions, or of three with ndim=3; a mask of bool is labelled
        first. Labels may touch. On a GPU its holes are filled there.
    max_area: holes of more pixels, with what is in them, stay; 0: all are filled.
    connectivity: of the objects, as of label(). None: the greatest. Holes have the other one.
    ndim: 2 or 3; None: 3 with a connectivity that images do not have, else 2.
    device: where to fill them: labels in host memory are copied there, as of label().

    A hole of an object is what its pixels cut off from the outside, as scipy.ndimage.binary_fill_holes (labels
    == k) finds it: another object that closes a gap does not help. Pixels of the background get the label; of
    several objects around them, that with the smallest bounding box.

    Returns a new array of the type and kind of labels, of int32 on a GPU and for masks. Raises ValueError or
    TypeError for wrong arrays. Since: 0.4
    """
    labels = labels_on_device(labels, device)
    wanted = wanted_ndim(ndim, connectivity)
    neighbours = check_connectivity(connectivity, wanted)
    on_gpu = device_map_of(labels, neighbours, (wanted,))
    if on_gpu and 0 not in on_gpu.view.shape:
        return filled_on_gpu(on_gpu, neighbours, operator.index(max_area), labels)
    map, values, n = label_map_of(labels, neighbours, (wanted,))
    map = np.ascontiguousarray(map)
    filled = map.copy()
    if n and map.size:
        _cudaccl.fill_label_holes(view_of(map), neighbours, n, operator.index(max_area), view_of(filled, writable=True))
    is_plain = on_gpu or is_mask(labels)
    dtype = np.dtype(np.int32) if is_plain else host_array(labels).dtype
    return as_given((filled if values is None else values[filled]).astype(dtype), labels)


def chosen(labels: Any, offsets: NDArray[np.int64], stays: NDArray[np.bool_], like: Any) -> Any:
    """Masks, in the kind of `like`, of the pixels whose labels stay. labels: N maps of labels from 1 on, on the device of
    `like`. offsets: where the labels of each map begin in `stays`."""
    view = view_on_gpu(labels, None)
    flags = np.concatenate(([False], stays))
    if view is None:
        array = host_array(labels)
        if array.size == 0:
            return finish(np.zeros(array.shape, bool), like)
        maps = array.reshape(len(offsets) - 1, -1)
        places = np.where(maps > 0, maps + offsets[:-1, np.newaxis], 0)
        return finish(flags[places].reshape(array.shape), like)
    copy = host_copy_of(view)
    return as_given(np.asarray(chosen(copy, offsets, stays, copy)).astype(np.uint8), like)


def chosen_labels(rows: NDArray[Any], shape: Any, choose: Any) -> NDArray[np.bool_]:
    """Which of the labels 0…n a function chooses of their n rows, of those that have pixels."""
    there = rows["area"] > 0
    flags = np.zeros(len(rows) + 1, bool)
    flags[1:][there] = choose(rows[there], tuple(int(length) for length in shape))
    return flags


def kept_on_gpu(map: DeviceMap, flags: NDArray[np.bool_], like: Any) -> Any:
    """The labels of a map on a GPU that stay, the others being 0."""
    numbers = np.where(flags, np.arange(len(flags), dtype=np.uint32), 0).astype(np.uint32)
    kept = empty(like, tuple(map.view.shape), "int32", map.view.device)
    _cudaccl.device_replace_labels(map.view, numbers.tobytes(), view_of(kept, writable=True))
    return finish(kept, like)


def by_rows(image: Any, connectivity: int | None, ndim: int | None, choose: Any) -> Any:
    """The components of masks, or the labels of a map, that a function chooses of the rows of one of them."""
    if is_mask(image):
        if view_on_gpu(image, None) is None and has_several_values(host_array(image)):
            warnings.warn("an image of uint8 with several values is taken for masks: make a label map of it, as in "
                          "image.astype(numpy.int32)", stacklevel=3)
        if wanted_ndim(ndim, connectivity) == 3:
            labels, table = label(image, connectivity, ndim=3)
            offsets = np.array([0, len(table)])
            shape = tuple(int(length) for length in labels.shape)
        else:
            labels, table, offsets = label_batch(image, connectivity)
            shape = batch_shape(tuple(labels.shape))[1:]
        stays = [choose(table[begin:end], shape) for begin, end in zip(offsets[:-1], offsets[1:])]
        return masked(image, chosen(labels, offsets, np.concatenate([np.zeros(0, bool), *stays]), image))
    dimensions = (2, 3) if ndim is None else (ndim,)
    on_gpu = device_map_of(image, connectivity, dimensions)
    if on_gpu and 0 not in on_gpu.view.shape:
        rows, _, n = on_gpu.measure(0, None)
        if n <= len(rows):
            return kept_on_gpu(on_gpu, chosen_labels(rows, on_gpu.view.shape, choose), image)
    map, values, n = label_map_of(on_gpu.array if on_gpu else image, connectivity, dimensions)
    kept = np.where(chosen_labels(measure_plane(map, n, None, 0)[0], map.shape, choose)[map], map, 0)
    dtype = np.dtype(np.int32) if view_on_gpu(image, None) else host_array(image).dtype
    return as_given((kept if values is None else values[kept]).astype(dtype), image)


def masked(image: Any, stays: Any) -> Any:
    """Masks without the pixels that do not stay."""
    if view_on_gpu(image, None) is None:
        array = host_array(image)
        return finish(np.where(np.asarray(stays), array, np.zeros(1, array.dtype)), image)
    if kind_of(image) in ("torch", "cupy"):
        return image * (stays != 0).to(image.dtype) if kind_of(image) == "torch" else image * (stays != 0)
    view = view_on_gpu(image, None)
    assert view is not None
    kept = host_copy_of(view_of(stays)).view(np.uint8) * host_copy_of(view).view(np.uint8)
    return as_given(kept if view.dtype == "uint8" else kept.astype(bool), image)


def clear_border(image: Any, connectivity: int | None = None, *, ndim: int | None = None, device: Any = None) -> Any:
    """Removes what touches the border of its image.

        inner = cudaccl.clear_border(masks)

    image: masks as of label_batch(), of bool or uint8: their components; or a volume of them with ndim=3. Or a label
        map of other integers: labels, with all their parts. A warning says that an image of uint8 in host memory with
        several values besides 0 is taken for masks.
    connectivity: as of label(); not of label maps.
    device: where the result is to be, as of label(): an image in host memory is copied there.

    Returns a new array of the shape, type and kind of the image, of int32 for label maps on a GPU. Raises ValueError
    or TypeError for wrong arrays. Since: 0.4
    """
    def is_inside(rows: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.bool_]:
        inside = np.ones(len(rows), bool)
        for axis, size, length in zip(AXES[-len(shape):], SIZES[-len(shape):], shape):
            inside &= (rows[axis] > 0) & (rows[axis].astype(np.int64) + rows[size] < length)
        return inside

    return by_rows(brought(image, device), connectivity, ndim, is_inside)


def keep_largest(image: Any, k: int = 1, connectivity: int | None = None, *, ndim: int | None = None,
                 device: Any = None) -> Any:
    """Removes all but the k largest components of each mask, or labels of a map; of equal ones the first stay.

    image, connectivity, device and the result: as of clear_border(). k: 0 or greater. Since: 0.4
    """
    check_integers(0, 2**63 - 1, k=k)

    def is_largest(rows: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.bool_]:
        stays = np.zeros(len(rows), bool)
        stays[np.argsort(-rows["area"].astype(np.int64), kind="stable")[:operator.index(k)]] = True
        return stays

    return by_rows(brought(image, device), connectivity, ndim, is_largest)


def adjacency(labels: Any, connectivity: int | None = None, *,
              ndim: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which labels of a map touch each other, and along how many edges or faces of pixels.

        pairs, contact = cudaccl.adjacency(cells)

    labels: a label map of integers of two dimensions, or of three with ndim=3; on a GPU it is read there.
    connectivity: of pixels that touch, as of label(). None: 4 or 6, those that share a side.

    Returns (pairs, contact): an array of n×2 labels, the lesser one first, in ascending order; and how many sides of
    pixels the labels of each pair share, 0 for those that touch at edges or corners only. Background touches nothing.
    Raises ValueError or TypeError for wrong arrays. Since: 0.4
    """
    wanted = wanted_ndim(ndim, connectivity)
    neighbours = check_connectivity(1 if connectivity is None else connectivity, wanted)
    on_gpu, values = device_map_of(labels, None if wanted == 2 else 26, (wanted,)), None
    if on_gpu and 0 not in on_gpu.view.shape:
        view = on_gpu.complete().view
    else:
        map, values, _ = label_map_of(labels, None if wanted == 2 else 26, (wanted,))
        view = view_of(np.ascontiguousarray(map))
    found = np.frombuffer(_cudaccl.contacts(view, neighbours), np.int64).reshape(-1, 3)
    ends, contact = found[:, :2].copy(), found[:, 2].copy()
    return (ends if values is None else as_int64(values)[ends]), contact
