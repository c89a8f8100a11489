# SPDX-License-Identifier: LGPL-2.1-or-later
"""The planes of intensity images, in host memory and on a GPU."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import as_float32, as_numpy, on_device, on_host, view_of, view_on_gpu


def planes_of(image: Any, ndim: int) -> tuple[list[NDArray[Any] | None], bool]:
    """The planes of an intensity image, and whether they are channels."""
    if image is None:
        return [None], False
    image = unmasked(image)
    if type(image).__module__.startswith("PIL") and image.mode == "P":
        raise TypeError("the indices of a palette are no intensities: give colours, as in image.convert('RGB')")
    array = as_numpy(on_host(image))
    if array.dtype.kind not in "buif":
        raise TypeError(f"the intensity image must be of bool, integers or floats, not {array.dtype.name}")
    if array.ndim != ndim + 1:
        return [plain_plane(array)], False
    if array.shape[-1] == 0:
        raise ValueError("the intensity image has no channels")
    return [plain_plane(array[..., i]) for i in range(array.shape[-1])], True


def unmasked(image: Any) -> Any:
    if np.ma.getmask(image) is not np.ma.nomask:
        raise TypeError("a masked array has no values where it is masked: give its data, or NaN there with ignore_nan=True")
    return image


def plain_plane(plane: NDArray[Any]) -> NDArray[Any]:
    """A plane as the library reads it, whatever its layout: in this machine's byte order, without gaps."""
    return np.require(plane, plane.dtype.newbyteorder("="), ["C", "A", "E"])


def is_measured_on_gpu(image: Any) -> bool:
    """Whether the values of an intensity image are of a type that is measured on a GPU."""
    view = view_on_gpu(image, None)
    dtype = as_numpy(image).dtype.name if view is None else view.dtype
    return dtype in ("bool", "uint8", "uint16")


def values_on_gpu(image: Any, ndim: int, device: int) -> tuple[list[_cudaccl.View | None], bool]:
    """Views of the planes of an intensity image, and whether they are channels. One in host memory is copied to the
    device."""
    view = None if image is None else view_on_gpu(image, None)
    if view is None:
        planes, are_channels = planes_of(image, ndim)
        return [None if plane is None else view_of(on_device(plane, device)) for plane in planes], are_channels
    image = as_float32(image, view.dtype)
    if len(view.shape) != ndim + 1:
        return [view_of(image)], False
    if view.shape[-1] == 0:
        raise ValueError("the intensity image has no channels")
    channels: list[_cudaccl.View | None] = []
    for i in range(view.shape[-1]):
        channel = view_of(image)
        channel.take_channel(i)
        channels.append(channel)
    return channels, True
