# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distances to the borders of components, and the split of components that are objects which touch."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import IMMUTABLE, as_given, copy_to_device, empty, finish, kind_of, on_host, view_of
from ._device_maps import DeviceMap, device_map_of, labels_on_device
from ._images import check_connectivity, check_integers, wanted_ndim
from ._regionprops import label_map_of

NO_DISTANCE = 2**32 - 1


def plain_labels(labels: Any, ndim: int | None) -> NDArray[np.uint32]:
    """The components of a mask or a label map of the caller's, numbered."""
    wanted = wanted_ndim(ndim, None)
    return np.ascontiguousarray(label_map_of(labels, 8 if wanted == 2 else 26, (wanted,))[0])


def squared_distances(labels: NDArray[np.uint32]) -> NDArray[np.uint32]:
    squared = np.zeros(labels.shape, np.uint32)
    if labels.size:
        _cudaccl.label_distances(view_of(labels), view_of(squared, writable=True))
    return squared


def map_on_gpu(labels: Any, ndim: int | None) -> DeviceMap | None:
    """The components of a mask or a label map of the caller's on a GPU; None if it is in host memory, or empty."""
    wanted = wanted_ndim(ndim, None)
    map = device_map_of(labels, 8 if wanted == 2 else 26, (wanted,))
    return None if map is None or 0 in map.view.shape else map.complete()


def distances_on_gpu(map: DeviceMap, like: Any) -> tuple[_cudaccl.DeviceArray, Any]:
    """Squared distances of a map, and their roots in the kind of another array."""
    shape, device = tuple(map.view.shape), map.view.device
    squared = _cudaccl.DeviceArray(shape, "int32", device)
    roots = empty(like, shape, "float64", device)
    _cudaccl.label_distances(map.view, view_of(squared, writable=True), view_of(roots, writable=True))
    return squared, finish(roots, like)


def distance(labels: Any, *, ndim: int | None = None, device: Any = None) -> Any:
    """The distance of each pixel to the nearest pixel outside its component.

    labels: a mask of bool or a label map of integers, of two dimensions, or of three with ndim=3. On a GPU the distances
        are found there, in time that grows with them.
    device: where to find them: labels in host memory are copied there, as of label(). Since 0.4

    Returns an array of float64 of the shape, of the kind of labels: roots of exact integers, rounded once, 0 for background,
    inf where a component has all pixels. What lies outside the image does not count. Of a mask it equals
    scipy.ndimage.distance_transform_edt(); labels that touch are each other's border.
    Raises ValueError or TypeError for a wrong array. Since: 0.3
    """
    labels = labels_on_device(labels, device)
    on_gpu = map_on_gpu(labels, ndim)
    if on_gpu:
        return distances_on_gpu(on_gpu, labels)[1]
    squared = squared_distances(plain_labels(labels, ndim))
    roots: NDArray[np.float64] = np.sqrt(squared, dtype=np.float64)
    roots[squared == NO_DISTANCE] = np.inf
    return as_given(roots, labels)


def plain_markers(markers: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """A copy of the markers in host memory."""
    given = np.asarray(on_host(markers))
    if given.shape != shape or given.dtype.kind not in "iu":
        raise ValueError("markers must be integers in the shape of the labels")
    if given.size and not 0 <= given.min() <= given.max() < 2**31:
        raise ValueError("markers must be 0…2³¹ − 1")
    return np.array(given, np.int32, order="C")


def split_on_gpu(map: DeviceMap, radius: int, neighbours: int, markers: Any, like: Any) -> tuple[Any, int]:
    """split_touching() of a map on a GPU: objects in the kind of another array, and their number."""
    squared = view_of(distances_on_gpu(map, np.empty(0))[0])
    shape, device = tuple(map.view.shape), map.view.device
    if markers is None:
        objects = empty(like, shape, "int32", device)
        n = _cudaccl.distance_peaks(map.view, squared, radius, view_of(objects, writable=True))
    else:
        given = plain_markers(markers, shape)
        n = len(np.unique(given[(given > 0) & (map.copy_to_host() > 0)]))
        objects = copy_to_device(given, device) if kind_of(like) in IMMUTABLE else as_given(given, like)
    _cudaccl.flood_objects(map.view, squared, neighbours, view_of(objects, writable=True))
    return finish(objects, like), n


def split_touching(labels: Any, radius: int = 5, connectivity: int | None = 1, *, markers: Any = None,
                   ndim: int | None = None, device: Any = None) -> tuple[Any, int]:
    """Splits components that are several objects which touch, by a watershed on the distance.

        objects, n = cudaccl.split_touching(mask, radius=7)

    labels, device: as for distance(). Objects do not grow from one label into another.
    radius: pixels, 1…255. Each object has a peak: a pixel of which none with a greater distance is within
        the radius in every coordinate. Peaks so near to each other are of one object.
    connectivity: over which objects grow: as of label(), or 1 as in scikit-image. None: all neighbours.
    markers: an array of integers of the shape, the objects to grow, in place of the peaks; in host memory or on a GPU.

    Returns (objects, n): an int32 array, of the kind of labels, of the numbers of objects, 1…n in raster order of their first
    peaks, or those of the markers; and their number. Where distances of markers differ, the objects are
    those of skimage.segmentation.watershed(-distance, markers, mask=mask); <cudaccl/distance.h> has the
    rule for ties. Raises ValueError or TypeError for wrong arrays. Since: 0.3
    """
    check_integers(1, 255, radius=radius)
    labels = labels_on_device(labels, device)
    on_gpu = map_on_gpu(labels, ndim)
    if on_gpu:
        return split_on_gpu(on_gpu, radius, check_connectivity(connectivity, len(on_gpu.view.shape)), markers, labels)
    map = plain_labels(labels, ndim)
    neighbours = check_connectivity(connectivity, map.ndim)
    squared = squared_distances(map)
    objects = np.zeros(map.shape, np.int32) if markers is None else plain_markers(markers, map.shape)
    if not map.size:
        return as_given(objects, labels), 0
    views = view_of(map), view_of(squared)
    view = view_of(objects, writable=True)
    n = _cudaccl.distance_peaks(*views, radius, view) if markers is None else None
    _cudaccl.flood_objects(*views, neighbours, view)
    return as_given(objects, labels), n if n is not None else len(np.unique(objects[objects > 0]))
