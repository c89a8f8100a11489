# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks of pictures larger than memory, for label_file(): those of ccl-label."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _cudaccl
from .._foreground import DENOISE, METHODS, Foreground, check_closing, choose

BAND_PIXELS = 2**22  # pixels that are filtered at once, in some rows at least


class Settings(NamedTuple):
    """Arguments of label_file()."""

    foreground: str
    invert: bool
    denoise: str
    closing: tuple[int, int]
    n_threads: int

    def check(self) -> None:
        choose("foreground", {name: METHODS[name] for name in ("threshold", "otsu")}, self.foreground)
        choose("denoise", DENOISE, self.denoise)
        check_closing(self.closing)

    @property
    def filters(self) -> bool:
        """Whether a filter changes the mask."""
        return self.denoise != "none" or max(self.closing) > 1

    @property
    def reach(self) -> int:
        """How many rows above and below a row its mask depends on."""
        return int(_cudaccl.filter_reach(DENOISE[self.denoise])) + (self.closing[1] if self.closing[1] > 1 else 0)


class Region:
    """The region of interest mask: a picture, or one slice that holds for all slices of a volume."""

    def __init__(self, mask: Any, shape: tuple[int, ...]) -> None:
        self._mask = mask
        self._slice: NDArray[np.bool_] | None = None
        if mask.shape == shape:
            return
        if mask.shape not in (shape[1:], (1, *shape[1:])) or len(shape) != 3:
            raise ValueError("the region of interest mask has another size than the picture")
        self._slice = mask.inside(0, mask.shape[0]).reshape(1, *shape[1:])

    def layers(self, first: int, n: int) -> NDArray[Any]:
        """Layers, true inside; or the one slice."""
        layers: NDArray[np.bool_] = self._mask.inside(first, n) if self._slice is None else self._slice
        return layers


class Mask:
    """The foreground mask of a picture, inverted and filtered, inside the region of interest. Filters
    work in each slice of a volume.

    picture: an Input, whose threshold is replaced by Otsu's if that is wanted.
    region: an Input or None.
    """

    def __init__(self, picture: Any, settings: Settings, region: Any) -> None:
        self.picture, self.settings = picture, settings
        self.region = None if region is None else Region(region, picture.shape)
        self._width = picture.shape[-1]
        self._is_volume = len(picture.shape) == 3
        self._halo = 0 if self._is_volume else settings.reach
        self._layers_at_once = 1 if self._is_volume else max(BAND_PIXELS // self._width, 4 * self._halo + 1)
        self._filter: Foreground | None = None
        self._filter_shape: tuple[int, ...] | None = None
        self._kept = np.empty((0, *picture.shape[1:]), bool)  # layers of the picture, from self._first on
        self._first = 0

    @property
    def is_needed(self) -> bool:
        """Whether the mask is more than a comparison with the threshold."""
        return self.settings.filters or self.region is not None or (self.settings.invert and self.picture.no_data is not None)

    def histogram(self, first: int, n: int) -> NDArray[Any]:
        """How many pixels of the region in n layers have each value."""
        dtype = self.picture.dtype
        if dtype.kind != "u" or dtype.itemsize > 2:
            raise ValueError(f"Otsu's threshold needs pixels of uint8 or uint16, not {dtype}")
        counts = np.zeros(2 ** (8 * dtype.itemsize), np.int64)
        for begin, samples in self.picture.bands(first, n):
            if self.region:
                samples = samples[np.broadcast_to(self.region.layers(begin, len(samples)), samples.shape)]
            counts += np.bincount(samples.reshape(-1), minlength=len(counts))
        if self.picture.no_data is not None and 0 <= self.picture.no_data < len(counts):
            counts[int(self.picture.no_data)] = 0
        return counts

    def use_otsu(self, histograms: list[NDArray[Any]]) -> None:
        """Sets the threshold of the sum of all ranks' histograms."""
        self.picture.threshold = _cudaccl.otsu_threshold(np.sum(histograms, axis=0).tolist())

    def read(self, first: int, n: int, pixels: memoryview) -> None:
        out = np.frombuffer(pixels, bool).reshape(n, *self.picture.shape[1:])
        for done in range(0, n, self._layers_at_once):
            count = min(n - done, self._layers_at_once)
            mask = self._filtered(first + done, count)
            np.not_equal(mask, self.settings.invert, out=out[done:done + count])
            if self.settings.invert and self.picture.no_data is not None:
                out[done:done + count] &= self.picture.layers_with_data(first + done, count)
            if self.region:
                out[done:done + count] &= self.region.layers(first + done, count)

    def _filtered(self, first: int, n: int) -> NDArray[Any]:
        """The mask of layers after the filters."""
        begin, end = max(0, first - self._halo), min(self.picture.shape[0], first + n + self._halo)
        mask = self._input(begin, end)
        if not self.settings.filters:
            return mask
        frame = mask[0] if self._is_volume else mask
        if self._filter is None or self._filter_shape != frame.shape:
            self._filter = Foreground((frame.shape[0], frame.shape[1]), "threshold", denoise=self.settings.denoise,
                                      closing=self.settings.closing, n_threads=self.settings.n_threads)
            self._filter_shape = frame.shape
        filtered = self._filter.apply(np.ascontiguousarray(frame)) > 0
        return filtered[None] if self._is_volume else filtered[first - begin:first - begin + n]

    def _input(self, begin: int, end: int) -> NDArray[Any]:
        """Layers before the filters. Those that the call before had are not read again, so that a
        compressed file is read from its beginning to its end."""
        last = self._first + len(self._kept)
        kept = self._kept[begin - self._first:] if self._first <= begin <= last else self._kept[:0]
        new = begin + len(kept)
        self._kept = np.concatenate([kept[:end - begin], self.picture.layers(new, max(0, end - new))])
        self._first = begin
        return self._kept
