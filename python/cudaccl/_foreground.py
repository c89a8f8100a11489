# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks."""
from __future__ import annotations

from typing import Any

from . import _cudaccl
from ._arrays import HOST, device_number, empty, finish, view_of

METHODS = {"threshold": 0, "otsu": 1, "mog2": 2}
DENOISE = {"none": 0, "median-3x3": 1, "median-5x5": 2, "opening-3x3": 3, "opening-5x5": 4}


def choose(name: str, names: dict[str, int], value: str) -> int:
    if value not in names:
        raise ValueError(f"{name} is one of {', '.join(names)}, not {value!r}")
    return names[value]


class Foreground:
    """Makes the foreground masks of the frames of a video, or of single images.

    shape: (height, width).
    method: 'mog2', a model of the background (Zivkovic, "Improved adaptive Gaussian mixture model
        for background subtraction", ICPR 2004), whose first mask is empty; 'otsu', a threshold for
        each frame (Otsu, "A threshold selection method from gray-level histograms", 1979);
        'threshold', a fixed one.
    device: 'cpu', 'cuda', 'cuda:1', … or a GPU's number.
    roi_mask: a region of interest mask of the shape, in host memory; its pixels of value 0 are
        background in every mask. It is copied.
    n_threads: the most threads that share a frame on a CPU, 0 for as many as are useful.

    The other arguments are attributes, too, and hold from the next frame:

    threshold: 0…255, for 'threshold': a pixel is foreground when its value is greater.
    invert: swaps foreground and background inside the region of interest.
    denoise: 'none', 'median-3x3', 'median-5x5', 'opening-3x3' or 'opening-5x5' (pixels).
    history: frames, at least 1: the time constant of the model.
    var_threshold: a pixel is background up to this squared distance from a Gaussian's mean, in units
        of its variance; greater than 0.
    learning_rate: 0…1: the weight of a frame in the model. Negative: 1 / history, and greater during
        the first history / 2 frames.
    mixtures: 1…5: Gaussians per pixel.

    Raises ValueError, MemoryError, or RuntimeError where there is no such GPU. Calls from several
    threads run one after the other. Since: 0.2
    """

    def __init__(self, shape: tuple[int, int], method: str = "mog2", *, device: int | str = "cpu",
                 roi_mask: Any = None, n_threads: int = 0, threshold: int = 0, invert: bool = False,
                 denoise: str = "none", history: int = 500, var_threshold: float = 16.0, learning_rate: float = -1.0,
                 mixtures: int = 5) -> None:
        if len(shape) != 2 or any(not 0 < length < 2**31 for length in shape):
            raise ValueError(f"a shape is (height, width), each 1…{2**31 - 1}, not {shape}")
        self._device = device_number(device)
        roi_view = None if roi_mask is None else view_of(roi_mask)
        self._foreground = _cudaccl.Foreground(*shape, choose("method", METHODS, method), roi_view, self._device,
                                               n_threads)
        self.threshold = threshold
        self.invert = invert
        self.denoise = denoise
        self.history = history
        self.var_threshold = var_threshold
        self.learning_rate = learning_rate
        self.mixtures = mixtures

    def apply(self, frame: Any, *, out: Any = None, stream: Any = None) -> Any:
        """The foreground mask of the next frame.

        frame: an array of the shape, uint8 or bool, with consecutive pixels in each row. An object
            on a GPU also takes frames in host memory.
        out: a uint8 array of the shape for the mask, on the object's device. None: a new array.
        stream: as for Labeller.label().

        Returns the mask: 255 for foreground and 0 for background, as uint8, `out` or a new array of
        the frame's kind. It is complete when the call returns. Raises ValueError or TypeError for a
        wrong array, RuntimeError if a GPU failed. Since: 0.2
        """
        view = view_of(frame, stream)
        mask = empty(frame, view.shape, "uint8", self._device) if out is None else out
        self._foreground.run(view, view_of(mask, stream, True), self.threshold, self.invert,
                             choose("denoise", DENOISE, self.denoise), self.history, self.var_threshold,
                             self.learning_rate, self.mixtures)
        return mask if out is not None else finish(mask, frame)

    def reset(self) -> None:
        """Discards the model of the background; the next frame starts a new one. Since: 0.2"""
        self._foreground.reset()

    def __repr__(self) -> str:
        return f"<cudaccl.Foreground on {'cpu' if self._device == HOST else f'cuda:{self._device}'}>"
