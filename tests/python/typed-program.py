# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose types mypy and pyright must infer: for test-types.py, which does not run it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cudaccl
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import assert_type


Table = NDArray[np.void]
Labels = NDArray[np.int32]


class Tensor:
    """An array of another library."""


def program(image: NDArray[np.uint8], tensor: Tensor, device_array: cudaccl.DeviceArray) -> None:
    assert_type(cudaccl.label(image), tuple[Labels, Table])
    assert_type(cudaccl.label(image, 8, threshold=2.5, min_area=3, n_threads=1), tuple[Labels, Table])
    assert_type(cudaccl.label([[0, 1]]), tuple[Labels, Table])
    assert_type(cudaccl.label(tensor), tuple[Tensor, Table])
    assert_type(cudaccl.label(device_array, ndim=3), tuple[cudaccl.DeviceArray, Table])
    device_table = cudaccl.Labeller((4, 4), device="cuda").device_table(device_array)
    assert_type(device_table, cudaccl.DeviceTable)
    assert_type(device_table.copy_to_host(), Table)
    assert_type(cudaccl.label(image, out=tensor), tuple[Tensor, Table])
    assert_type(cudaccl.label(image, device="cuda"), tuple[Any, Table])
    assert_type(cudaccl.components(image, invert=True), Table)
    assert_type(cudaccl.label_values(image, 4, background=None), tuple[Labels, int])
    labeller = cudaccl.Labeller((4, 5), device="cuda:1")
    assert_type(labeller.label(image), tuple[Labels, Table])
    assert_type(labeller.label(tensor, threshold=1), tuple[Tensor, Table])
    assert_type(labeller.components(tensor), Table)
    assert_type(labeller.n_components, int)
    foreground = cudaccl.Foreground((4, 5), denoise="median-5x5")
    assert_type(foreground.apply(image), NDArray[np.uint8])
    assert_type(foreground.apply(tensor), Tensor)
    assert_type(foreground.apply(tensor, out=image), NDArray[np.uint8])
    tracks = cudaccl.Tracker((4, 5)).update(cudaccl.components(image))
    assert_type(tracks.tracks, NDArray[Any])
    assert_type(cudaccl.label_file("a.png", "l.npy"), int)
    assert_type(cudaccl.table_to_array(cudaccl.components(image), tensor), Tensor)
    assert_type(cudaccl.copy_to_device(image), cudaccl.DeviceArray)
    assert_type(cudaccl.copy_to_host(device_array), NDArray[Any])
    assert_type(cudaccl.regionprops_table(cudaccl.components(image), ["area"]), dict[str, NDArray[Any]])
    assert_type(cudaccl.regionprops_table(image, "perimeter", intensity_image=image), dict[str, NDArray[Any]])
    found = cudaccl.contours(image, kind="cracks", tolerance=1.5)
    assert_type(found, cudaccl.Contours)
    assert_type(found[0], NDArray[np.int32])
    assert_type(cudaccl.rle(image), list[dict[str, Any]])
    assert_type(cudaccl.rle_decode({"size": [1, 1], "counts": [1]}), NDArray[np.bool_])
    assert_type(device_array.shape, tuple[int, ...])
    assert_type(cudaccl.__version__, str)
