# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling of images with many values: label_values()."""
from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, empty, finish, kind_of, view_of, zeros
from ._batch import view_on_gpu
from ._images import check_connectivity, check_shape, numpy_converts, readable, wanted_ndim
from ._labeller import kept_for_values
from ._types import Array, HostImage, Out

KEPT = 2  # labellers of the last images


def plain(image: Any) -> Any:
    """An array that the library reads: aligned, in the machine's byte order, with consecutive pixels in each row."""
    if isinstance(image, np.ma.MaskedArray):
        image = np.asarray(np.ma.filled(image, 0))
    if kind_of(image) == "PIL":
        image = values_of_pil(image)
    if type(image) is not np.ndarray and not numpy_converts(image) and hasattr(image, "__dlpack__"):
        image = np.from_dlpack(image)
    array, _ = readable(image, 0)
    if array.dtype == np.longdouble and array.dtype != np.float64:
        raise TypeError("pixels must have at most 64 bits")
    return np.require(array, requirements=["C", "A"])


def values_of_pil(image: Any) -> NDArray[Any]:
    """A number for each pixel of an image of PIL: the index of a palette, and a number of its own for each colour."""
    array = np.asarray(image)
    if image.mode in ("RGB", "RGBA", "RGBX"):
        red, green, blue = (array[..., i].astype(np.uint32) for i in range(3))
        return red << 16 | green << 8 | blue
    if image.mode in ("LA", "PA"):
        return array[..., 0]
    if array.ndim != 2:
        raise ValueError(f"an image of PIL with mode {image.mode} has no values: convert it, as in image.convert('RGB')")
    return array


def wide_on_gpu(image: Any) -> Any:
    """An image of float16 on a GPU as one of float32, by its own library."""
    if kind_of(image) == "torch":
        return image.float()
    if not hasattr(image, "astype"):
        raise TypeError(f"arrays of {kind_of(image)} must have 32 or 64 bits to be floats")
    return image.astype("float32")


@overload
def label_values(image: HostImage, connectivity: int | None = None, *, background: int | None = 0,
                 ndim: int | None = None, out: None = None, stream: Any = None) -> tuple[NDArray[np.int32], int]: ...


@overload
def label_values(image: Array, connectivity: int | None = None, *, background: int | None = 0,
                 ndim: int | None = None, out: None = None, stream: Any = None) -> tuple[Array, int]: ...


@overload
def label_values(image: Any, connectivity: int | None = None, *, background: int | None = 0,
                 ndim: int | None = None, out: Out, stream: Any = None) -> tuple[Out, int]: ...


def label_values(image: Any, connectivity: int | None = None, *, background: int | None = 0,
                 ndim: int | None = None, out: Any = None, stream: Any = None) -> tuple[Any, int]:
    """Labels an image with many values, on the device where it is: neighbours are connected where they are equal.

    image: an array of bool, integers or floats, of two dimensions, or of three with ndim=3. Floats equal as
        in Python: 0.0 equals -0.0, and a pixel that is not a number is a component of its own. Masked pixels
        count as 0. On a GPU, pixels of a row must be consecutive. Of an image of PIL with a palette the values are
        the indices, of one with colours each colour is a value, black is 0, and opacity is ignored.
    connectivity: 4 or 8, 6, 18 or 26 for volumes, or scikit-image's number of axes. None: the greatest.
    background: 0: pixels of value 0 get label 0. None: they are components as all others are.
    ndim: 2 or 3; None: 3 with a connectivity that images do not have, else 2.
    out: an array of the shape for the label map, on the same device, of int32 or uint32, with consecutive
        pixels in each row. None: a new array of int32.
    stream: of images on a GPU, as of label().

    Returns (labels, n): the label map, whose labels are 1…n in raster order of each component's first
    pixel, and their number. cc3d has the same components; the label map of a component's pixels may be
    measured with regionprops_table(). Raises ValueError or TypeError for a wrong array. Since: 0.3
    """
    if background is not None and background != 0:
        raise ValueError(f"background must be 0 or None, not {background!r}")
    view = None if isinstance(image, np.ma.MaskedArray) else view_on_gpu(image, stream)
    if view is not None and view.dtype == "float16":
        array = wide_on_gpu(image)
        view = view_of(array, stream)
    elif view is None:
        array = plain(image)
        view = view_of(array)
    wanted = wanted_ndim(ndim, connectivity)
    check_shape(view.shape, wanted)
    neighbours = check_connectivity(connectivity, wanted)
    if 0 in view.shape:
        return (zeros(image, view.shape, "int32", view.device) if out is None else out), 0
    labels = empty(image, view.shape, "int32", view.device) if out is None else out
    key = view.shape, neighbours, view.dtype, background, view.device
    kept: _cudaccl.ValuesLabeller | None = kept_for_values.pop(key, None)
    labeller = kept or _cudaccl.ValuesLabeller(view.shape, neighbours, view, background == 0)
    n = labeller.run(view, view_of(labels, stream, writable=True))
    kept_for_values[key] = labeller
    while len(kept_for_values) > KEPT:
        try:
            kept_for_values.pop(next(iter(kept_for_values)), None)
        except (RuntimeError, StopIteration):  # another thread changed it
            break
    return labels if out is not None else finish(labels, image), n
