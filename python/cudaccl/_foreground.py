# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks."""
from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, device_number, empty, finish, view_of
from ._images import check_integers
from ._labeller import ALL, check_sides
from ._types import Array, Out, SupportsArrayInterface

# The numbers of the library's names.
METHODS: dict[str, int] = _cudaccl.methods()
DENOISE: dict[str, int] = _cudaccl.filters()
SHADOWS: dict[str, int] = _cudaccl.shadows()
SCENE_CHANGES: dict[str, int] = _cudaccl.scene_changes()
PIXELS = {"uint8": 0, "uint16": 1}
DEFAULTS: Any = SimpleNamespace(**_cudaccl.foreground_defaults())  # those of the library and the elements
AUTO_REDUCTION = 0
INTEGERS = ("threshold", "history", "mixtures", "hold", "sensitivity")


def choose(name: str, names: dict[str, int], value: str) -> int:
    if value not in names:
        raise ValueError(f"{name} is one of {', '.join(names)}, not {value!r}")
    return names[value]


def name_of(names: dict[str, int], value: int) -> str:
    return next(name for name, number in names.items() if number == value)


def check_reduction(reduction: int) -> int:
    if reduction not in (1, 2, 4, 8):
        raise ValueError(f"reduction is 1, 2, 4, 8 or None, not {reduction!r}")
    return reduction


def check_closing(closing: tuple[int, int]) -> None:
    try:
        width, height = map(operator.index, closing)
    except (TypeError, ValueError):
        raise TypeError(f"closing is (width, height) in pixels, not {closing!r}") from None
    if not (0 <= width <= 63 and 0 <= height <= 63):
        raise ValueError(f"closing is (width, height), 0…63 pixels each, not {closing}")


class Foreground:
    """Makes the foreground masks of the frames of a video, or of single images.

    shape: (height, width).
    method: 'codebook', a model of the background (after Kim and others, "Real-time foreground-background
        segmentation using codebook model", 2005), whose first mask is empty; 'mog2', another one (Zivkovic,
        "Improved adaptive Gaussian mixture model for background subtraction", ICPR 2004); 'otsu', a threshold for
        each frame (Otsu, "A threshold selection method from gray-level histograms", 1979);
        'threshold', a fixed one.
    device: 'cpu', 'cuda', 'cuda:1', … or a GPU's number.
    roi_mask: a region of interest mask of the shape, in host memory; its pixels of value 0 are
        background in every mask. It is copied.
    chroma: whether a background model learns luma and chroma.
    pixels: 'uint8', or 'uint16' for frames and chroma of 16 bits, which all methods read in full; of
        chroma the upper bytes. Samples of 10 bits belong in the upper bits of a word.
    n_threads: the most threads that share a frame on a CPU, 0 for as many as are useful.
    reduction: the background model works on means of so many × so many pixels: 1, 2, 4 or 8. It takes
        less time and averages noise; objects need a size of some ten reduced pixels. None: the least
        that leaves at most 250,000 pixels ('mog2': 450,000).

    The other arguments are attributes, too, and hold from the next frame. Their defaults are those of
    the elements:

    threshold: 0…255, with frames of uint16 0…65535, for 'threshold': a pixel is foreground when its
        value is greater.
    invert: swaps foreground and background inside the region of interest.
    denoise: 'none', 'median-3x3', 'median-5x5', 'opening-3x3' or 'opening-5x5' (pixels). 'codebook' always
        has a median filter of 5×5 pixels; there, the median filters change nothing.
    closing: (width, height) in pixels, 0…63 each: gaps and holes of the mask that are narrower or
        lower are filled after the noise filter. 0 and 1: none in this direction.
    history: for 'mog2', frames, at least 1: the time constant of the model.
    var_threshold: for 'mog2', a pixel is background up to this squared distance from a Gaussian's mean, in units
        of its variance; greater than 0. Variances are on the scale of 8 bits, of which one step is 256
        steps of uint16.
    learning_rate: for 'mog2', 0…1: the weight of a frame in the model. Negative: 1 / history, and greater during
        the first history / 2 frames.
    mixtures: for 'mog2', 1…5: Gaussians per pixel.
    shadows: how cast shadows are treated, pixels that are darker than the background but of its
        colour: 'keep' as foreground, 'mark' with 127 in the mask, 'remove'.
    light: whether frames are compared with the model in the light of the frame; then scene_change
        reports changes of the scene, which a change of light does not explain.
    hold: 0…16: pixels that were foreground learn this number of times slower, so that objects that
        stop remain foreground longer. 0 and 1: as fast as others.
    frame_rate: for 'codebook', frames per second: what the model learns and forgets counts in seconds. Since: 0.4
    warm_up: for 'codebook', seconds from the first frame on in which the masks are empty. Since: 0.4
    absorb_after: for 'codebook', seconds after which an object that has stopped is background, 0…86400; half of them
        pass at least. 0: six seconds, `hold` times. Since: 0.4
    sensitivity: for 'codebook', how faint an object may be, in percent, 50…200: 200 finds objects that differ half as
        much from the background as those which 100 finds. Since: 0.4

    Raises ValueError, MemoryError, or RuntimeError where there is no such GPU. Calls from several
    threads run one after the other. Since: 0.2
    """

    def __init__(self, shape: tuple[int, int], method: str = "codebook", *, device: int | str = "cpu",
                 roi_mask: Any = None, chroma: bool = False, pixels: str = "uint8", n_threads: int = 0,
                 reduction: int | None = None, threshold: int = DEFAULTS.threshold, invert: bool = DEFAULTS.invert,
                 denoise: str = name_of(DENOISE, DEFAULTS.denoise),
                 closing: tuple[int, int] = (DEFAULTS.closing_width, DEFAULTS.closing_height),
                 history: int = DEFAULTS.history, var_threshold: float = DEFAULTS.var_threshold,
                 learning_rate: float = DEFAULTS.learning_rate, mixtures: int = DEFAULTS.mixtures,
                 shadows: str = name_of(SHADOWS, DEFAULTS.shadows), light: bool = DEFAULTS.light,
                 hold: int = DEFAULTS.hold, frame_rate: float = DEFAULTS.frame_rate,
                 warm_up: float = DEFAULTS.warm_up, absorb_after: float = DEFAULTS.absorb_after,
                 sensitivity: int = DEFAULTS.sensitivity) -> None:
        sides = check_sides(shape)
        check_integers(0, ALL, n_threads=n_threads)
        self._device = device_number(device)
        roi_view = None if roi_mask is None else view_of(roi_mask)
        self._foreground = _cudaccl.Foreground(*sides, choose("method", METHODS, method), roi_view, chroma,
                                               bool(choose("pixels", PIXELS, pixels)), self._device, n_threads,
                                               AUTO_REDUCTION if reduction is None else check_reduction(reduction))
        self._scene_change = 0
        self.threshold = threshold
        self.invert = invert
        self.denoise = denoise
        self.closing = closing
        self.history = history
        self.var_threshold = var_threshold
        self.learning_rate = learning_rate
        self.mixtures = mixtures
        self.shadows = shadows
        self.light = light
        self.hold = hold
        self.frame_rate = frame_rate
        self.warm_up = warm_up
        self.absorb_after = absorb_after
        self.sensitivity = sensitivity

    @property
    def scene_change(self) -> str:
        """The scene change that the last frame showed, if `light` is set: 'unchanged', or a change
        after which the model starts anew: 'moved' (another picture), 'infrared' (another one that
        has lost or gained its colours), 'covered', 'blinded', 'uncovered', or 'settled', when the model
        fits again."""
        return name_of(SCENE_CHANGES, self._scene_change)

    def _options(self) -> _cudaccl.ForegroundOptions:
        options = _cudaccl.ForegroundOptions()
        for name in ("threshold", "invert", "history", "var_threshold", "learning_rate", "mixtures", "light", "hold",
                     "frame_rate", "warm_up", "absorb_after", "sensitivity"):
            try:
                setattr(options, name, getattr(self, name))
            except TypeError:
                if name in INTEGERS:
                    check_integers(0, ALL, **{name: getattr(self, name)})
                raise TypeError(f"{name} must be a {'bool' if name in ('invert', 'light') else 'number'}, "
                                f"not {getattr(self, name)!r:.40}") from None
        check_closing(self.closing)
        options.closing_width, options.closing_height = self.closing
        options.denoise = choose("denoise", DENOISE, self.denoise)
        options.shadows = choose("shadows", SHADOWS, self.shadows)
        return options

    @overload
    def apply(self, frame: SupportsArrayInterface, *, chroma: tuple[Any, Any] | None = None, out: None = None,
              stream: Any = None) -> NDArray[np.uint8]: ...

    @overload
    def apply(self, frame: Array, *, chroma: tuple[Any, Any] | None = None, out: None = None,
              stream: Any = None) -> Array: ...

    @overload
    def apply(self, frame: Any, *, chroma: tuple[Any, Any] | None = None, out: Out, stream: Any = None) -> Out: ...

    def apply(self, frame: Any, *, chroma: tuple[Any, Any] | None = None, out: Any = None, stream: Any = None) -> Any:
        """The foreground mask of the next frame.

        frame: an array of the shape, uint8 or bool, or uint16 if `pixels` says so, with consecutive pixels in each row. An object
            on a GPU also takes frames in host memory.
        chroma: the planes u and v, where the frame is, of the type of `pixels`, of the shape or with one or
            both lengths halved and rounded up; they may be interleaved. For NV12: (uv[..., 0], uv[..., 1]).
        out: a uint8 array of the shape for the mask, on the object's device. None: a new array.
        stream: as for Labeller.label().

        Returns the mask: 255 for foreground, 127 for marked shadows and 0 for background, as uint8,
        `out` or a new array of the frame's kind. It is complete when the call returns. Raises
        ValueError or TypeError for a wrong array, RuntimeError if a GPU failed. Since: 0.2
        """
        view = view_of(frame, stream)
        mask = empty(frame, view.shape, "uint8", self._device) if out is None else out
        u, v = (None, None) if chroma is None else (view_of(plane, stream) for plane in chroma)
        self._scene_change = self._foreground.run(view, u, v, view_of(mask, stream, True), self._options())
        return mask if out is not None else finish(mask, frame)

    def set_roi_mask(self, roi_mask: Any) -> None:
        """Replaces the region of interest mask from the next frame on; the model of the background stays. Waits for frames.

        roi_mask: as for the constructor; it is copied. None: all pixels count.

        Raises ValueError or TypeError for a wrong array, and the present mask stays; RuntimeError if a GPU failed. Since: 0.4
        """
        self._foreground.set_roi_mask(None if roi_mask is None else view_of(roi_mask))

    def reset(self) -> None:
        """Discards the model of the background; the next frame starts a new one. Since: 0.2"""
        self._foreground.reset()

    def __repr__(self) -> str:
        return f"<cudaccl.Foreground on {'cpu' if self._device == HOST else f'cuda:{self._device}'}>"
