# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling of images with many values: label_values()."""
from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import (HOST, as_float32, as_given, as_numpy, device_number, empty, finish, host_copy_of, kind_of, numpy_converts,
                      on_device, on_host, view_of, view_on_gpu, zeros)
from ._images import check_connectivity, check_shape, readable, wanted_ndim
from ._labeller import keep, kept_for_values
from ._types import Array, HostImage, Out


def plain(image: Any) -> Any:
    """An array that the library reads: aligned, in the machine's byte order, with consecutive pixels in each row."""
    if kind_of(image) == "PIL":
        image = values_of_pil(image)
    if type(image) is not np.ndarray and not numpy_converts(image) and hasattr(image, "__dlpack__"):
        image = as_numpy(image) if hasattr(image, "__array__") else np.from_dlpack(image)
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


def number_of(background: Any) -> Any:
    """A background of the caller's as a number of Python, which does not wrap as those of NumPy do; None: there is none."""
    if isinstance(background, (np.generic, np.ndarray)) and background.ndim == 0:
        background = background.item()
    if background is not None and not np.isfinite(background):
        raise ValueError(f"background must be a finite number or None, not {background!r}")
    return background


def check_tolerance(tolerance: float) -> float:
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be 0 or greater, not {tolerance!r}")
    return float(tolerance)


def is_of_type(number: float, dtype: np.dtype[Any]) -> bool:
    """Whether a type of values has a number."""
    if dtype.kind == "f":
        return bool(float(dtype.type(number)) == number)
    if number != int(number):
        return False
    return 0 <= number <= 1 if dtype.kind == "b" else np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


def swapped(array: Any, background: float, xp: Any) -> tuple[Any, bool]:
    """An array in which 0 is the background, and whether there is any. Equal values stay equal. xp: the library of the
    array."""
    dtype = np.dtype(str(array.dtype).rpartition(".")[2])
    if not is_of_type(background, dtype):
        return array, False
    value = dtype.type(int(background) if dtype.kind in "iu" else background).item()
    if dtype.kind == "f":
        zero = dtype.type(0).item()
        return xp.where(array == value, zero, xp.where(array == zero, value, array)), True
    return array ^ value, True


def library_of(array: Any) -> Any:
    """The module that has where() for an array on a GPU."""
    kind = kind_of(array)
    if kind == "torch":
        import torch

        return torch
    if kind == "cupy":
        import cupy

        return cupy
    if kind in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy
    raise TypeError(f"arrays of {kind} on a GPU have no background but 0 or None")


def host_copy(array: Any) -> NDArray[Any]:
    """An array in host memory, or a copy of one on a GPU."""
    view = view_on_gpu(array, None)
    return np.asarray(array) if view is None else host_copy_of(view)


def values_of(labels: Any, image: Any, n: int) -> NDArray[Any]:
    """The values of the first pixels of the components 1…n, which are in raster order."""
    greatest = np.maximum.accumulate(host_copy(labels).ravel())
    first = np.flatnonzero(greatest[1:] > greatest[:-1]) + 1
    if n and greatest[0]:
        first = np.concatenate(([0], first))
    found: NDArray[Any] = host_copy(image).ravel()[first]
    return found


def label_similar(image: Any, connectivity: int | None, background: float | None, ndim: int | None, out: Any,
                  return_values: bool, tolerance: float, is_there: NDArray[np.bool_] | None = None) -> Any:
    """label_values() with a tolerance, or with pixels that are background whatever their value."""
    check_tolerance(tolerance)
    on_gpu = view_on_gpu(image, None) is not None
    if on_gpu and out is not None:
        raise ValueError("with a tolerance, labels of an array on a GPU are a new array: give no out")
    array = plain(on_host(image) if on_gpu else image)
    wanted = wanted_ndim(ndim, connectivity)
    check_shape(array.shape, wanted)
    neighbours = check_connectivity(connectivity, wanted)
    labels = np.zeros(array.shape, np.int32) if out is None else out
    foreground: NDArray[np.bool_] = np.asarray(array == array)  # what is not a number does not equal itself
    if background is not None and is_of_type(background, array.dtype):
        foreground &= array != array.dtype.type(background)
    if is_there is not None:
        foreground &= is_there
    n = 0
    if array.size:
        n = _cudaccl.label_similar_values(view_of(array), neighbours, float(tolerance), view_of(foreground),
                                          view_of(labels, writable=True))
    result = labels if out is not None else as_given(labels, image)
    return (result, n, values_of(labels, array, n)) if return_values else (result, n)


def without_mask(image: np.ma.MaskedArray[Any, Any], background: float | None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """An array in which masked pixels are background by their values, and None; or, where no value is, its data and which
    pixels are not masked."""
    array: NDArray[Any] = plain(np.ma.getdata(image))
    mask = np.ma.getmaskarray(image)
    if background is not None and is_of_type(background, array.dtype):
        return np.where(mask, array.dtype.type(background), array), None
    if array.dtype.kind == "f":
        return np.where(mask, array.dtype.type(np.nan), array), None
    return array, ~mask


def must_copy(image: Any, device: Any) -> bool:
    """Whether an image is in host memory and to be labelled on a GPU."""
    return device_number(device) != HOST and view_on_gpu(image, None) is None


def label_values_there(image: Any, connectivity: int | None, background: float, ndim: int | None, out: Any, stream: Any,
                       return_values: bool, device: Any) -> Any:
    """label_values() of an image in host memory on a GPU, with another background than 0, which is found before."""
    array = plain(image)
    plain_values, is_swapped = swapped(array, background, np)
    labels, n = label_values(on_device(plain_values, device), connectivity, background=0 if is_swapped else None, ndim=ndim,
                             out=out, stream=stream)
    return (labels, n, values_of(labels, array, n)) if return_values else (labels, n)


@overload
def label_values(image: HostImage, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: None = None, stream: Any = None,
                 return_values: Literal[False] = False, tolerance: float = 0) -> tuple[NDArray[np.int32], int]: ...


@overload
def label_values(image: Array, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: None = None, stream: Any = None, return_values: Literal[False] = False, tolerance: float = 0) -> tuple[Array, int]: ...


@overload
def label_values(image: Any, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: Out, stream: Any = None, return_values: Literal[False] = False, tolerance: float = 0) -> tuple[Out, int]: ...


@overload
def label_values(image: Any, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: Any = None, stream: Any = None, return_values: Literal[True], tolerance: float = 0) -> tuple[Any, int, NDArray[Any]]: ...


@overload
def label_values(image: Any, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: Any = None, stream: Any = None, return_values: bool = False, tolerance: float = 0, device: Any) -> Any: ...


def label_values(image: Any, connectivity: int | None = None, *, background: float | None = 0, ndim: int | None = None,
                 out: Any = None, stream: Any = None, return_values: bool = False, tolerance: float = 0, device: Any = None) -> Any:
    """Labels an image with many values, on the device where it is: neighbours are connected where they are equal.

    image: an array of bool, integers or floats, of two dimensions, or of three with ndim=3. Masked pixels and those that
        are not a number are background, whatever else is; 0.0 equals -0.0. Of an image of PIL with a palette the values are
        the indices, of one with colours each colour is a value, black is 0, and opacity is ignored.
    connectivity: 4 or 8, 6, 18 or 26 for volumes, or scikit-image's number of axes. None: the greatest.
    background: pixels of this value get label 0. It is not rounded to the type of the image. None: all values are of components. On a GPU, another one than
        0 is found by the array's own library.
    ndim: 2 or 3; None: 3 with a connectivity that images do not have, else 2.
    out: an array of the shape for the label map, on the same device, of int32 or uint32. None: a new array of int32.
    stream: of images on a GPU, as of label().
    return_values: whether the values of the components are returned, too; with a tolerance those of their first pixels.
    tolerance: neighbours are connected where they differ by at most so much, from neighbour to neighbour, so that values in a
        component may differ by more. With one, arrays on a GPU are labelled on the host, and copied back. Since: 0.4
    device: where to label, as of label(); an image in host memory is copied there, and may have any background. Since: 0.4

    Returns (labels, n), or (labels, n, values): the label map, whose labels are 1…n in raster order of each component's first
    pixel, their number, and an array in host memory of the value of each component, of the type of the image.
    cc3d has the same components; the label map of a component's pixels may be
    measured with regionprops_table(). Raises ValueError or TypeError for a wrong array. Since: 0.3;
    backgrounds other than 0, and values, since 0.4. Before 0.4, a pixel that was not a number was a component of its own
    """
    background = number_of(background)
    given, is_there = image, None
    if isinstance(image, np.ma.MaskedArray):
        image, is_there = without_mask(image, background)
    if is_there is not None and device is not None and device_number(device) != HOST:
        raise ValueError("an array with masked pixels needs a background on a GPU, a value of its type")
    found = found_values(image, connectivity, background, ndim, out, stream, return_values, tolerance, device, is_there)
    dtype = getattr(given, "dtype", None)
    if return_values and getattr(dtype, "name", str(dtype).rpartition(".")[2]) == "float16":
        return (*found[:2], found[2].astype(np.float16))
    return found


def found_values(image: Any, connectivity: int | None, background: float | None, ndim: int | None, out: Any, stream: Any,
                 return_values: bool, tolerance: float, device: Any, is_there: NDArray[np.bool_] | None) -> Any:
    """label_values() of an array without a mask, of which only the pixels that are there can be foreground (None: all)."""
    if device is not None and background and not tolerance and must_copy(image, device):
        return label_values_there(image, connectivity, background, ndim, out, stream, return_values, device)
    if device is not None:
        image = on_device(plain(image) if must_copy(image, device) else image, device)
    if tolerance != 0 or is_there is not None:
        return label_similar(image, connectivity, background, ndim, out, return_values, tolerance, is_there)
    view = view_on_gpu(image, stream)
    if view is not None and view.dtype in ("float16", "bfloat16"):
        array = as_float32(image, view.dtype)
        view = view_of(array, stream)
    elif view is None:
        array = plain(image)
        view = view_of(array)
    else:
        array = image
    given = array
    if background:
        array, is_swapped = swapped(array, background, np if view.device == HOST else library_of(array))
        background = 0 if is_swapped else None
        view = view_of(array, stream if view.device != HOST else None)
    wanted = wanted_ndim(ndim, connectivity)
    check_shape(view.shape, wanted, "make a number of each colour, or give an image of PIL, whose colours are values")
    neighbours = check_connectivity(connectivity, wanted)
    if 0 in view.shape:
        labels = zeros(image, view.shape, "int32", view.device) if out is None else out
        return (labels, 0, np.empty(0, view.dtype)) if return_values else (labels, 0)
    labels = empty(image, view.shape, "int32", view.device) if out is None else out
    key = view.shape, neighbours, view.dtype, background, view.device
    kept: _cudaccl.ValuesLabeller | None = kept_for_values.pop(key, None)
    labeller = kept or _cudaccl.ValuesLabeller(view.shape, neighbours, view, background == 0)
    n = labeller.run(view, view_of(labels, stream, writable=True))
    keep(kept_for_values, key, labeller)
    result = labels if out is not None else finish(labels, image)
    return (result, n, values_of(labels, given, n)) if return_values else (result, n)
