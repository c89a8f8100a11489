# SPDX-License-Identifier: LGPL-2.1-or-later
"""What SAM 2's post-processing of masks calls, without a compiler: a module in place of sam2._C.

    import sys
    import cudaccl.sam2
    sys.modules["sam2._C"] = cudaccl.sam2  # before sam2 first fills holes

SAM 2 then fills small holes and removes small components of its masks, where it otherwise warns that it
cannot import _C and leaves them.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import empty, finish, host_array, kind_of, view_on_gpu
from ._batch import batched, plain_masks, run_batch, run_batch_on_gpu

__all__ = ["get_connected_componnets"]


def get_connected_componnets(inputs: Any) -> tuple[Any, Any]:
    """The 8-connected components of masks, with the name, the argument and the results of sam2._C's function.

    inputs: masks of shape (n, 1, height, width) or (n, height, width), of uint8 or bool; foreground is what is not 0. A tensor of
        PyTorch, or an array of NumPy; both are labelled where they are.

    Returns (labels, counts) of the same shape, of int32, on the device of the masks: labels from 1 on in each
    mask, and the number of pixels of each pixel's component; both 0 in the background. Unlike those of
    sam2._C, labels have no gaps, and sides may be odd. Raises ValueError or TypeError for other arrays.
    Since: 0.3
    """
    view = view_on_gpu(inputs, None)
    if view is not None:
        check(view.shape, view.dtype)
        counts = empty(inputs, view.shape, "int32", view.device)
        return run_batch_on_gpu(inputs, view, 8, None, counts)[0], finish(counts, inputs)
    array = host_array(inputs.detach().numpy() if kind_of(inputs) == "torch" else inputs)
    check(array.shape, array.dtype.name)
    masks = plain_masks(batched(array))
    areas = np.zeros(masks.shape, np.int32)
    labels, _, _ = run_batch(masks, 8, areas)
    return finish(labels.reshape(array.shape), inputs), finish(areas.reshape(array.shape), inputs)


def check(shape: tuple[int, ...], dtype: str) -> None:
    if len(shape) != 3 and (len(shape) != 4 or shape[1] != 1):
        raise ValueError(f"masks have the shape (n, 1, height, width) or (n, height, width), not {shape}")
    if dtype not in ("uint8", "bool"):
        raise TypeError(f"masks must be of uint8 or bool, not {dtype}: give masks > 0")
