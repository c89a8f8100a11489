# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connected-component labelling of images and volumes, on CPUs and NVIDIA GPUs.

    import cudaccl
    labels, table = cudaccl.label(image, connectivity=8, threshold=0)
    print(table["area"], table["centroid_x"])

An array in host memory (NumPy, PyTorch, whatever has the buffer protocol or DLPack), a list or a grey
image of PIL is labelled on the CPU; an array on a GPU (CuPy, PyTorch, JAX, Numba, whatever has
__cuda_array_interface__ or DLPack) is labelled there, without a copy. CPU and GPU give identical
results.

Arrays are indexed [y, x]. Volumes, indexed [z, y, x], are labelled with ndim=3. Every pixel greater
than the threshold is foreground. Labels are 1…N in raster order of each component's first pixel, as
those of scipy.ndimage.label, and 0 is background.

Errors: ValueError for an argument out of range or an array in the wrong place, TypeError for a type
that cannot be labelled, MemoryError, OSError for files, and RuntimeError where there is no GPU or it
failed. A call that fails leaves its object usable.

Threads: every function may be called by any thread. The interpreter's lock (GIL) is released while
the library works. Calls on one object run one after the other.
"""
from ._cudaccl import DeviceArray
from ._cudaccl import version as __version__
from ._arrays import copy_to_device, copy_to_host
from ._batch import fill_holes, label_batch, remove_small
from ._contours import NO_CONTOUR, Contours, contours, rle, rle_decode
from ._device_maps import contour_dtype
from ._device_table import DeviceTable
from ._files.label_file import label_file, tiled_component_dtype
from ._foreground import Foreground
from ._ground import Ground, motion_dtype
from ._labeller import (Labeller, clear_cache, component_dtype, components, label, table_to_array,
                        volume_component_dtype, warm_up)
from ._objects import adjacency, clear_border, fill_label_holes, keep_largest
from ._periodic import label_periodic
from ._regionprops import regionprops_table
from ._split import distance, split_touching
from ._tracker import Tracker, Tracks, event_dtype, foot_dtype, member_dtype, track_dtype
from ._values import label_values

__all__ = [
    "NO_CONTOUR", "__version__", "Contours", "DeviceArray", "DeviceTable", "Foreground", "Ground", "Labeller", "Tracker",
    "Tracks", "adjacency", "clear_border", "clear_cache", "component_dtype", "components", "contour_dtype", "contours",
    "copy_to_device", "copy_to_host", "distance", "event_dtype", "fill_holes", "fill_label_holes", "foot_dtype",
    "keep_largest", "label", "label_batch", "label_file", "label_periodic", "label_values", "member_dtype", "motion_dtype",
    "regionprops_table", "remove_small", "rle", "rle_decode", "split_touching", "table_to_array", "tiled_component_dtype",
    "track_dtype", "volume_component_dtype", "warm_up",
]
