# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling of images whose opposite borders touch: label_periodic()."""
from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _cudaccl
from ._arrays import as_given, empty, finish, host_array, kind_of, on_device, on_host, view_of, view_on_gpu
from ._images import check_connectivity, wanted_ndim
from ._labeller import label
from ._regionprops import rows_of_image
from ._types import Table, table_dtype


def axes_of(axes: Any, ndim: int) -> list[int]:
    try:
        numbers = sorted({range(ndim)[operator.index(axis)] for axis in (axes if isinstance(axes, Iterable) else [axes])})
    except (IndexError, TypeError):
        raise ValueError(f"axes are numbers of {ndim} axes, not {axes!r}") from None
    return numbers


def flags_of_axes(axes: list[int], ndim: int) -> int:
    """As flags of CclAxis: x, the last axis, is the first flag."""
    return sum(1 << (ndim - 1 - axis) for axis in axes)


def is_labelled_there(image: Any, view: _cudaccl.View, threshold: float) -> bool:
    """Whether label() labels an image where it is, on a GPU, whatever it refuses."""
    if view.dtype in ("bool", "uint8"):
        return isinstance(threshold, int) and 0 <= threshold <= 255
    if view.dtype == "uint16" and len(view.shape) == 2:
        return isinstance(threshold, int) and 0 <= threshold <= 65535
    return kind_of(image) in ("torch", "cupy", "jax", "jaxlib")


def label_periodic(image: Any, axes: Any, connectivity: int | None = None, *, ndim: int | None = None, threshold: float = 0,
                   invert: bool = False, device: Any = None) -> tuple[Any, Table]:
    """Labels an image whose opposite borders touch along some axes, as simulations and panoramas have them.

        labels, table = cudaccl.label_periodic(field, axes=(0, 1))

    image, connectivity, ndim, threshold, invert: as of label(). On a GPU it is labelled there; an image whose library does
        not compare it with the threshold is copied to the host, and its label map to the GPU.
    device: where to label, as of label().
    axes: the numbers of the axes along which the last pixels are neighbours of the first ones; or one of them.

    Returns (labels, table) as label() does. Along periodic axes, a box begins at x, y or z and goes on at 0 where it
    reaches the end: it is the shortest one around the component. Centroids are circular means there: the direction
    of the sum of the pixels' directions, when the axis is a circle; not a number where that sum is 0. Raises
    ValueError or TypeError for wrong arguments. Since: 0.4
    """
    wanted = wanted_ndim(ndim, connectivity)
    neighbours = check_connectivity(connectivity, wanted)
    numbers = axes_of(axes, wanted)
    flags = flags_of_axes(numbers, wanted)
    image = on_device(image, device)
    view = view_on_gpu(image, None)
    if view is not None and is_labelled_there(image, view, threshold):
        array = empty(image, tuple(view.shape), "int32", view.device)
        _, table = label(image, neighbours, ndim=wanted, threshold=threshold, invert=invert, out=array)
    else:
        found, table = label(host_array(on_host(image)), neighbours, ndim=wanted, threshold=threshold, invert=invert)
        array = np.array(found)
    rows = table
    if len(table):
        joined = _cudaccl.join_borders(view_of(array, writable=True), neighbours, flags, len(table))
        rows = np.frombuffer(joined, table_dtype(np.int32, ndim=3))
        rows = rows if wanted == 3 else rows_of_image(rows)
    return (as_given(array, image) if isinstance(array, np.ndarray) else finish(array, image)), rows
