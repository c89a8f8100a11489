# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures with many values that are larger than memory, for label_file()."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._values import check_tolerance, is_of_type, number_of, swapped
from .mask import Region


class ManyValues:
    """Reads layers of a picture as values of a type of the library, in which 0 or what is no foreground is background.

    picture: an Input. region: an Input or None: outside of it is background. background: that value; None: there is none.
    """

    def __init__(self, picture: Any, region: Any, background: float | None, tolerance: float) -> None:
        self.picture, self._background, self.tolerance = picture, number_of(background), check_tolerance(tolerance)
        self._region = None if region is None else Region(region, picture.shape)
        native = picture.dtype.newbyteorder("=")
        if native.kind == "f" and native.itemsize > 8:
            raise TypeError("pixels must have at most 64 bits")
        self.dtype = np.dtype({"bool": np.uint8, "float16": np.float32}.get(native.name, native))
        is_there = self._background is not None and is_of_type(self._background, self.dtype)
        self._swaps = bool(is_there and tolerance == 0 and self._background)
        self.zero_is_background = is_there and tolerance == 0
        self.has_foreground = not self.zero_is_background and (
            tolerance > 0 or self._region is not None or picture.no_data is not None)

    @property
    def kind(self) -> tuple[str, float, bool, bool]:
        return self.dtype.name, self.tolerance, self.zero_is_background, self.has_foreground

    def read(self, first: int, n: int, values: memoryview, foreground: memoryview | None) -> None:
        out = np.frombuffer(values, self.dtype).reshape(n, *self.picture.shape[1:])
        marks = None if foreground is None else np.frombuffer(foreground, bool).reshape(out.shape)
        for begin, band in self.picture.bands(first, n):
            part = slice(begin - first, begin - first + len(band))
            inside = self.picture.has_data(band) if self.picture.no_data is not None else None
            if self._region:
                region = np.broadcast_to(self._region.layers(begin, len(band)), band.shape)
                inside = region if inside is None else inside & region
            band = band.astype(self.dtype, copy=False)
            out[part] = swapped(band, self._background or 0, np)[0] if self._swaps else band
            if marks is None and inside is not None:
                out[part][~inside] = 0
            elif marks is not None:
                marks[part] = out[part] == out[part]  # not what is not a number
                if self._background is not None and is_of_type(self._background, self.dtype):
                    marks[part] &= out[part] != self.dtype.type(self._background)
                if inside is not None:
                    marks[part] &= inside

    def values(self, numbers: memoryview) -> NDArray[Any]:
        """The values of components, each in the first bytes of a number of 64 bits."""
        found: NDArray[Any] = np.frombuffer(numbers, np.uint8).reshape(-1, 8)[:, :self.dtype.itemsize].copy().view(self.dtype)[:, 0]
        if self._swaps:
            found = swapped(found, self._background or 0, np)[0]
        result: NDArray[Any] = found.astype(self.picture.dtype.newbyteorder("="))
        return result
