# SPDX-License-Identifier: LGPL-2.1-or-later
"""Images of callers: which shapes and types are labelled, and as what."""
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, as_numpy, kind_of, numpy_converts, view_of

# scikit-image counts the axes along which neighbours may differ.
CONNECTIVITIES = {2: {None: 8, 4: 4, 8: 8, 1: 4, 2: 8},
                  3: {None: 26, 6: 6, 18: 18, 26: 26, 1: 6, 2: 18, 3: 26}}
OF_VOLUMES = (6, 18, 26, 3)  # connectivities that images do not have

GREY_MODES = ("1", "L", "I", "F")  # of PIL


def wanted_ndim(ndim: int | None, connectivity: int | None) -> int:
    """The number of dimensions that the caller asks for: 2, unless arguments speak of a volume."""
    if ndim is None:
        return 3 if connectivity in OF_VOLUMES else 2
    if ndim not in CONNECTIVITIES:
        raise ValueError(f"ndim must be 2 or 3, not {ndim!r}")
    return int(ndim)


def check_shape(shape: tuple[int, ...], ndim: int, colours: str = "convert colours to grey first") -> None:
    """colours: what to do with them."""
    if len(shape) == 3 and ndim == 2:
        raise ValueError(f"an image has 2 dimensions, not shape {shape}: label a volume with ndim=3, several images "
                         f"one by one, and {colours}")
    if len(shape) != ndim:
        raise ValueError(f"{'an image' if ndim == 2 else 'a volume'} has {ndim} dimensions, not {len(shape)}")


def check_connectivity(connectivity: int | None, ndim: int) -> int:
    try:
        return CONNECTIVITIES[ndim][connectivity]
    except (KeyError, TypeError):
        known = "4 or 8, or 1 or 2" if ndim == 2 else "6, 18 or 26, or 1, 2 or 3"
        raise ValueError(f"the connectivity of {ndim} dimensions is {known}, not {connectivity!r}") from None


def whole_threshold(threshold: float) -> int:
    """The greatest integer that is not greater: the same integers are greater than it."""
    try:
        return math.floor(threshold)
    except (OverflowError, TypeError, ValueError):
        raise TypeError(f"threshold must be a finite number, not {threshold!r}") from None


def real_threshold(threshold: float) -> float:
    try:
        number = float(threshold + 0.0)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise TypeError(f"threshold must be a number, not {threshold!r}")
    return number


def threshold_of(view: _cudaccl.View, threshold: float) -> int | float:
    """The threshold in the type in which the pixels of an array are compared."""
    if view.is_float:
        return real_threshold(threshold)
    return threshold if type(threshold) is int else whole_threshold(threshold)


def read_image(image: Any, threshold: float, invert: bool, stream: Any) -> tuple[Any, _cudaccl.View, float, bool]:
    """The image as an array that the library reads, its view, and the threshold and inversion that
    still apply to it."""
    if isinstance(threshold, np.generic):  # math.floor() would round it to a float
        threshold = threshold.item()
    if type(image) is not np.ndarray and isinstance(image, np.ma.MaskedArray):
        image, threshold, invert = unmasked(image, threshold, invert), 0, False
    try:
        view = view_of(image, stream)
    except (BufferError, TypeError):
        if not numpy_converts(image):
            raise
        image, threshold = readable(image, threshold)
        view = view_of(image, stream)
    if view.device == HOST and not view.is_float and not is_of_64_bits(threshold):
        image, threshold = exceeds_whole(image, view.shape, threshold), 0
        view = view_of(image)
    return image, view, threshold, invert


def is_of_64_bits(threshold: Any) -> bool:
    """Whether a threshold is one of the library, which compares integers of 64 bits with a sign; what is no number is
    reported later."""
    try:
        return not math.isfinite(threshold) or -2**63 <= threshold < 2**63
    except (OverflowError, TypeError, ValueError):
        return not isinstance(threshold, int)


def exceeds_whole(array: Any, shape: tuple[int, ...], threshold: float) -> NDArray[np.bool_]:
    """Where integers are greater than a threshold beyond those of 64 bits with a sign."""
    if threshold < 0:
        return np.ones(shape, bool)
    if threshold >= 2**64:
        return np.zeros(shape, bool)
    values = np.asarray(array)
    return np.asarray(values > np.uint64(math.floor(threshold))) if values.dtype == np.uint64 else np.zeros(shape, bool)


def readable(image: Any, threshold: float) -> tuple[NDArray[Any], float]:
    """An array of a type that the library reads, with the threshold that applies to it."""
    if kind_of(image) == "PIL" and image.mode not in GREY_MODES and not image.mode.startswith("I;16"):
        raise ValueError(f"an image of PIL with mode {image.mode} has colours: label_values() takes each as a value; grey is "
                         "image.convert('L')")
    try:
        array = as_numpy(image)
    except ValueError:  # some releases make an array of lists
        array = np.empty(0, object)
    if array.dtype == object and not isinstance(image, np.ndarray):
        raise TypeError(f"an array of numbers cannot be made of this {type(image).__name__}")
    if array.dtype.kind not in "buif":
        raise TypeError(f"pixels must be of bool, integers or floats, not {array.dtype.name}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.float16:
        return array.astype(np.float32), threshold
    if array.dtype == np.longdouble and array.dtype != np.float64:
        return array > real_threshold(threshold), 0
    return array, threshold


def exceeds(array: Any, threshold: float, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Where an array in host memory is greater than the threshold, as an array of bool. Unlike
    NumPy's comparison, it rounds neither pixels nor threshold to the other one's type."""
    array, view, threshold, _ = read_image(array, threshold, False, None)
    if out is None:
        out = np.empty(view.shape, bool)
    if out.size == 0:
        return out
    if not view.is_float and math.isinf(threshold):
        out[...] = threshold < 0
        return out
    _cudaccl.compare(view, threshold_of(view, threshold), view_of(out, writable=True))
    return out


def unmasked(image: np.ma.MaskedArray[Any, Any], threshold: float, invert: bool) -> NDArray[Any]:
    """The foreground of a masked array: masked pixels are background, also if it is inverted."""
    data: NDArray[Any] = np.ma.getdata(image)
    if data.ndim not in CONNECTIVITIES:
        return data
    mask: NDArray[np.bool_] = exceeds(data, threshold) != bool(invert)
    mask[np.ma.getmaskarray(image)] = False
    return mask


def compare_on_gpu(image: Any, threshold: float) -> Any:
    """The foreground of an image on a GPU, found by the library of the image."""
    try:
        return image > threshold
    except TypeError:
        raise TypeError(f"on a GPU, arrays of {kind_of(image)} must be of uint8, uint16 or bool") from None


def shown(number: int) -> str:
    """An integer in an error; of a long one the magnitude."""
    return str(number) if number.bit_length() <= 64 else f"an integer of {number.bit_length()} bits"


def check_integers(least: int, most: int, **arguments: Any) -> None:
    """Raises TypeError for arguments that are no integers, ValueError for those out of range."""
    for name, value in arguments.items():
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} must be an integer, not {value!r}") from None
        if not least <= number <= most:
            raise ValueError(f"{name} must be {least}…{most}, not {shown(number)}")
