# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures as arrays of Dask: what one machine cannot hold, on the workers of a cluster.

    import cudaccl.dask
    labels, n = cudaccl.dask.label(picture)  # a dask.array of two or three dimensions, with any chunks
    labels.to_zarr("labels.zarr")

Nothing is computed before the result is asked for. Labels are those of cudaccl.label() of the whole picture, whatever the
chunks, the workers and the schedule. Chunks in the memory of a GPU (CuPy) are labelled there and stay there.

The picture is read twice, as by label_file(), so that nothing of its size is kept in between: a first pass labels each
chunk and keeps its faces, which tell what is connected across seams, and a second one labels each chunk again and writes
numbers. A picture that takes long to compute is better stored, or kept in the memory of workers by persist(), before.

Needs Dask (python3-dask, or dask[array] of pip), which nothing else in this package does. Since: 0.4
"""
from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl, _patches, _seams, _value_counts
from ._arrays import view_of
from ._chunks import around as _chunk_around
from ._chunks import circles as _chunk_circles
from ._chunks import columns as _chunk_columns
from ._chunks import contacts as _chunk_contacts
from ._chunks import hulls as _chunk_hulls
from ._chunks import moments as _chunk_moments
from ._chunks import sums as _chunk_sums
from ._images import check_connectivity, check_integers, real_threshold
from ._labeller import label as label_chunk
from ._periodic import axes_of
from ._planes import unmasked
from ._regionprops import MEASURED_ON_GPU, OF_RANKS, OF_TABLES, check_names, check_quantiles, flags_of, needs_values
from ._regionprops import regionprops_table as measure_chunk
from ._seams import REACH
from ._spacing import check_spacing
from ._values import check_tolerance, number_of
from ._values import label_values as label_values_of_chunk

try:
    import dask.array
    from dask.array.utils import meta_from_array
    from dask.base import tokenize
    from dask.delayed import Delayed
    from dask.graph_manipulation import bind
    from dask.highlevelgraph import HighLevelGraph
except ImportError as error:
    raise ImportError("cudaccl.dask needs Dask: install python3-dask, or dask[array] with pip") from error

da: Any = dask.array  # Any: its annotations differ between releases

__all__ = ["adjacency", "clear_border", "fill_holes", "fill_label_holes", "keep_largest", "label", "label_periodic", "label_values", "regionprops_table", "remove_small"]

FAN_IN = 8  # results that a task merges
OF_HOLES = {4: 8, 8: 4, 6: 26, 18: 6, 26: 6}  # the connectivity of holes, by that of the foreground


class Place(NamedTuple):
    """Where a chunk is: its first pixel and its shape, and the shape of the picture."""

    start: tuple[int, ...]
    size: tuple[int, ...]
    shape: tuple[int, ...]


class FirstPass(NamedTuple):
    """What is kept of a chunk. of_labels: the place of the first pixel of each label, or its weight; or patches."""

    part: _seams.Part
    of_labels: Any


class Work(NamedTuple):
    """How the chunks of a picture are labelled. find: returns the label map of a chunk and the number of its labels. tolerance: by
    which neighbours that are connected differ at most; None: all are. of_labels: what is known of the labels of a chunk of pixels at
    a place. axes: along which the picture's borders touch. touching: whether the table needs the labels that touch across seams."""

    name: str
    connectivity: int
    find: Callable[[Any], tuple[Any, int]]
    tolerance: float | None
    of_labels: Callable[[Any, Any, Place], Any]
    axes: tuple[int, ...] = ()
    touching: bool = False


def on_host(pixels: Any) -> NDArray[Any]:
    """Masked pixels are 0, as in label_values()."""
    if isinstance(pixels, np.ma.MaskedArray):
        pixels = pixels.filled(0)
    return np.ascontiguousarray(pixels.get() if hasattr(pixels, "get") else pixels)


def values_on_host(values: Any) -> NDArray[Any]:
    """Intensities, which a masked array does not have everywhere."""
    return on_host(unmasked(values))


def faces(pixels: Any) -> dict[tuple[int, int], NDArray[Any]]:
    """Copies of the first and last pixels along each axis, in host memory, in this machine's byte order. Floats have 32 or 64
    bits."""
    dtype = np.dtype(np.float32 if pixels.dtype.str[1:] == "f2" else pixels.dtype.newbyteorder("="))
    return {(axis, side): on_host(pixels[(slice(None),) * axis + (side,)]).astype(dtype)
            for axis in range(pixels.ndim) for side in (0, -1)}


def labels_at(place: Place, work: Work, pixels: Any) -> Any:
    """The label map of a chunk at a place."""
    if tuple(pixels.shape) != place.size:
        raise ValueError(f"a chunk has the shape {tuple(pixels.shape)}, but its array says {place.size}")
    return work.find(pixels)[0]


def part_of(work: Work, labels: Any, pixels: Any) -> _seams.Part:
    return _seams.Part(faces(labels), None if work.tolerance is None else faces(pixels), work.tolerance or 0)


def first_pass(work: Work, place: Place, pixels: Any) -> FirstPass:
    labels = labels_at(place, work, pixels)
    return FirstPass(part_of(work, labels, pixels), work.of_labels(labels, pixels, place))


def result_of(labels: Any, finish: Callable[[Any, Any], Any], pixels: Any, of_labels: NDArray[Any]) -> Any:
    """What a chunk of the result is. of_labels: what belongs to each label, from 0 on."""
    if not hasattr(labels, "get"):
        of_pixels = np.empty(labels.shape, of_labels.dtype)
        _cudaccl.replace_labels(view_of(labels), view_of(np.ascontiguousarray(of_labels)), view_of(of_pixels, writable=True))
        return finish(pixels, of_pixels)
    import cupy

    return finish(pixels, cupy.asarray(of_labels)[labels])


def second_pass(work: Work, finish: Callable[[Any, Any], Any], pixels: Any, of_labels: NDArray[Any]) -> Any:
    labels, n = work.find(pixels)
    if n != len(of_labels) - 1:
        raise RuntimeError("a chunk has other pixels when it is read or computed again: store the array, or persist() it, before")
    return result_of(labels, finish, pixels, of_labels)


def only_pass(work: Work, table: Callable[..., Any], finish: Callable[[Any, Any], Any], place: Place,
              steps: list[_seams.Step], pixels: Any) -> tuple[Any, Any]:
    """The first part of the table, and the result, of a picture that is one chunk. steps: to itself, over borders that touch."""
    labels = labels_at(place, work, pixels)
    known, part = work.of_labels(labels, pixels, place), None
    found = [np.empty((0, 2), np.int64)] * 2
    if steps:
        part = part_of(work, labels, pixels)
        neighbours = [(0, step, part) for step in steps]
        found = [find(0, part, neighbours, work.connectivity) for find in (_seams.seams, _seams.contacts)]
    total, of_chunks = table([known], found[0], *([[found[1]]] if work.touching else []))
    return total, result_of(labels, finish, pixels, of_chunks[0])


def first_places(labels: Any, pixels: Any, place: Place) -> NDArray[np.int64]:
    """The places of the first pixels of labels in the picture, in raster order."""
    if hasattr(labels, "get"):
        volume = labels if labels.ndim == 3 else labels[np.newaxis]
        columns = measure_chunk(volume, ["first_pixel"], connectivity=26)
        pixels = tuple(columns[f"first_pixel-{axis}"] for axis in range(3 - labels.ndim, 3))
    else:
        pixels = np.unravel_index(np.frombuffer(_cudaccl.first_pixels(view_of(labels)), np.int64), labels.shape)
    found = np.zeros(len(pixels[0]), np.int64)
    for of_axis, start, length in zip(pixels, place.start, place.shape):
        found = found * length + of_axis + start
    return found


def areas(labels: Any, pixels: Any, place: Place) -> NDArray[np.float64]:
    if not hasattr(labels, "get"):
        return np.bincount(labels.ravel())[1:].astype(np.float64)
    volume = labels if labels.ndim == 3 else labels[np.newaxis]
    found: NDArray[np.float64] = measure_chunk(volume, ["area"], connectivity=26)["area"]
    return found


def areas_inside(labels: Any, pixels: Any, place: Place) -> NDArray[np.float64]:
    """The areas of labels, infinite where they touch the border of the picture."""
    found = areas(labels, pixels, place)
    for (axis, side), face in faces(labels).items():
        at_end = place.start[axis] + labels.shape[axis] == place.shape[axis]
        if at_end if side else place.start[axis] == 0:
            found[np.unique(face[face > 0]) - 1] = np.inf
    return found


def areas_and_places(labels: Any, pixels: Any, place: Place) -> NDArray[Any]:
    """Rows of the areas of labels, and of the places of their first pixels."""
    return np.stack([areas(labels, pixels, place).astype(np.int64), first_places(labels, pixels, place)])


def patches(labels: Any, pixels: Any, place: Place, connectivity: int) -> _patches.Patches:
    return _patches.patches_of(on_host(labels), on_host(pixels), place.start, place.shape, connectivity)


def checked(array: Any) -> Any:
    """The array without empty chunks."""
    if not isinstance(array, da.Array):
        raise TypeError(f"an array of Dask is needed, not {type(array).__name__}: dask.array.from_array() makes one")
    if array.ndim not in (2, 3):
        raise ValueError(f"an array of 2 or 3 dimensions is needed, not of {array.ndim}")
    if array.dtype.kind not in "buif":
        raise TypeError(f"pixels must be of bool, integers or floats, not {array.dtype}")
    if any(math.isnan(length) for length in array.shape):
        raise ValueError("the sizes of chunks are not known: call compute_chunk_sizes() of the array first")
    if 0 in array.shape or not any(0 in lengths for lengths in array.chunks):
        return array
    return array.rechunk(tuple(tuple(length for length in lengths if length) for lengths in array.chunks))


def places_of(array: Any) -> dict[tuple[int, ...], Place]:
    """The places of chunks, in raster order."""
    starts = [np.concatenate([[0], np.cumsum(lengths)]) for lengths in array.chunks]
    return {chunk: Place(tuple(int(starts[axis][i]) for axis, i in enumerate(chunk)),
                         tuple(int(array.chunks[axis][i]) for axis, i in enumerate(chunk)), array.shape)
            for chunk in itertools.product(*map(range, array.numblocks))}


def pairs_of_chunk(find: Callable[..., NDArray[np.int64]], number: int, neighbours: list[tuple[int, _seams.Step]],
                   connectivity: int, here: _seams.Part, parts: list[_seams.Part]) -> NDArray[np.int64]:
    return find(number, here, [(other, step, there) for (other, step), there in zip(neighbours, parts)], connectivity)


def chunks_after(array: Any, connectivity: int, chunk: tuple[int, ...],
                 axes: tuple[int, ...] = ()) -> list[tuple[_seams.Step, tuple[int, ...]]]:
    """The neighbours of a chunk, one of each two that touch, with the steps to them. axes: along which borders touch."""
    found = []
    for step in _seams.steps_forward(array.ndim, REACH[connectivity]):
        other = tuple((place + d) % n if axis in axes else place + d
                      for axis, (place, d, n) in enumerate(zip(chunk, step, array.numblocks)))
        if all(0 <= place < n for place, n in zip(other, array.numblocks)):
            found.append((step, other))
    return found


def of_chunk(number: int, table: tuple[Any, list[NDArray[Any]]]) -> NDArray[Any]:
    return table[1][number]


def merge_in_tree(layer: dict[Any, Any], name: str, merge: Callable[[list[Any]], Any], keys: list[tuple[Any, ...]]) -> Any:
    """Adds the tasks that merge results, those of neighbours in raster order first. Returns the key of the last one."""
    level = 0
    while len(keys) > 1:
        groups = [keys[begin:begin + FAN_IN] for begin in range(0, len(keys), FAN_IN)]
        layer.update({(name, level, i): (merge, group) for i, group in enumerate(groups)})
        keys = [(name, level, i) for i in range(len(groups))]
        level += 1
    return keys[0]


class FirstTasks(NamedTuple):
    """The tasks of the first pass, and the keys of what is known of the labels of each chunk, of the forest, and if the work
    needs it of what touches across seams."""

    layer: dict[Any, Any]
    of_labels: list[Any]
    forest: Any
    touching: list[Any] | None


def first_tasks(array: Any, work: Work, token: str) -> FirstTasks:
    first, part, of_labels, seam, touch, merge = (
        f"cudaccl-{work.name}-{step}-{token}"
        for step in ("first-pass", "faces", "of-labels", "seams", "contacts", "merge-seams"))
    places = places_of(array)
    grid = list(places)
    number_of = {chunk: number for number, chunk in enumerate(grid)}
    layer: dict[Any, Any] = {}
    for number, (chunk, place) in enumerate(places.items()):
        layer[(first, *chunk)] = (functools.partial(first_pass, work, place), (array.name, *chunk))
        layer[(part, *chunk)] = (operator.itemgetter(0), (first, *chunk))
        layer[(of_labels, *chunk)] = (operator.itemgetter(1), (first, *chunk))
        after = chunks_after(array, work.connectivity, chunk, work.axes)
        neighbours = [(number_of[other], step) for step, other in after]
        for name, find in [(seam, _seams.seams), *([(touch, _seams.contacts)] if work.touching else [])]:
            layer[(name, *chunk)] = (functools.partial(pairs_of_chunk, find, number, neighbours, work.connectivity),
                                     (part, *chunk), [(part, *other) for _, other in after])
    merged = merge_in_tree(layer, merge, _seams.forest, [(seam, *chunk) for chunk in grid])
    return FirstTasks(layer, [(of_labels, *chunk) for chunk in grid], merged,
                      [(touch, *chunk) for chunk in grid] if work.touching else None)


def in_two_passes(array: Any, work: Work, table: Callable[..., Any], finish: Callable[[Any, Any], Any],
                  dtype: Any) -> tuple[Any, Any]:
    """The result of the second pass, and the first part of the table. table: a function that makes it from the measures of the labels
    of all chunks, the forest, and, if the work needs them, the labels that touch across seams; its last part has an array for each chunk."""
    if 0 in array.shape:
        return da.zeros_like(array, dtype=dtype), da.zeros((), dtype=np.int64)
    token = tokenize(array.name, work, table, finish)
    if array.npartitions == 1:
        return in_one_pass(array, work, table, finish, dtype, token)
    numbers, whole, total, result = (f"cudaccl-{work.name}-{step}-{token}"
                                     for step in ("of-chunk", "table", "total", "second-pass"))
    layer, of_labels, forest, touching = first_tasks(array, work, token)
    layer[whole] = (table, of_labels, forest, *([] if touching is None else [touching]))
    layer[(total,)] = (operator.itemgetter(0), whole)
    for number, chunk in enumerate(places_of(array)):
        layer[(numbers, *chunk)] = (functools.partial(of_chunk, number), whole)
    n = da.Array(HighLevelGraph.from_collections(total, layer, [array]), total, (), np.int64)
    again = bind(array, n, seed=token)  # the picture is read again when the table is complete
    layer = {(result, *chunk): (functools.partial(second_pass, work, finish), (again.name, *chunk), (numbers, *chunk))
             for chunk in places_of(array)}
    graph = HighLevelGraph.from_collections(result, layer, [again, n])
    return da.Array(graph, result, array.chunks, dtype, meta_from_array(array._meta, dtype=dtype)), n


def in_one_pass(array: Any, work: Work, table: Callable[..., Any], finish: Callable[[Any, Any], Any], dtype: Any,
                token: str) -> tuple[Any, Any]:
    """As in_two_passes(), of an array that is one chunk."""
    (chunk, place), = places_of(array).items()
    both, total, result = (f"cudaccl-{work.name}-{step}-{token}" for step in ("only-pass", "total", "result"))
    steps = [step for step, _ in chunks_after(array, work.connectivity, chunk, work.axes)]
    layer: dict[Any, Any] = {both: (functools.partial(only_pass, work, table, finish, place, steps), (array.name, *chunk)),
                             (total,): (operator.itemgetter(0), both)}
    n = da.Array(HighLevelGraph.from_collections(total, layer, [array]), total, (), np.int64)
    graph = HighLevelGraph.from_collections(result, {(result, *chunk): (operator.itemgetter(1), both)}, [n])
    return da.Array(graph, result, array.chunks, dtype, meta_from_array(array._meta, dtype=dtype)), n


def find_labels(pixels: Any, connectivity: int, threshold: float, invert: bool) -> tuple[Any, int]:
    labels, table = label_chunk(pixels, connectivity, ndim=pixels.ndim, threshold=threshold, invert=invert, n_threads=1)
    return labels, len(table)


def find_values(pixels: Any, connectivity: int, background: float | None, tolerance: float = 0) -> tuple[Any, int]:
    return label_values_of_chunk(pixels, connectivity, background=background, ndim=pixels.ndim, tolerance=tolerance)


def the_numbers(pixels: Any, of_pixels: Any) -> Any:
    return of_pixels


def without(pixels: Any, keeps: Any) -> Any:
    return pixels * keeps


def filled(pixels: Any, is_hole: Any, value: int) -> Any:
    pixels = pixels.copy()
    pixels[is_hole] = value
    return pixels


def flag_table(weights: list[NDArray[np.float64]], forest: NDArray[np.int64], least: float,
               greatest: float) -> tuple[int, list[NDArray[np.bool_]]]:
    return 0, _seams.chosen(weights, forest, least, greatest)


def label_dtype(most: int) -> np.dtype[Any]:
    """The type of labels of a picture that has so many components at most."""
    return np.dtype(np.int32 if most < 2**31 else np.int64)


def label(array: Any, connectivity: int | None = None, threshold: float = 0, *, invert: bool = False) -> tuple[Any, Any]:
    """Labels a picture or a volume: every pixel greater than the threshold is foreground.

        labels, n = cudaccl.dask.label(dask.array.from_zarr("picture.zarr"), threshold=127)

    array: a dask.array of two or three dimensions, of bool, integers or floats, with chunks of any sizes, which are known.
    connectivity, threshold, invert: as of cudaccl.label(). Three dimensions are a volume.

    Returns (labels, n), lazily, as dask_image.ndmeasure.label() does: the label map with the chunks of the array, of int32,
    or of int64 where a picture of the size can have 2**31 components; and the number of components, an array without dimensions. Labels are 1…n in raster
    order of each component's first pixel. Raises TypeError or ValueError for wrong arguments. Since: 0.4
    """
    return labelled(array, connectivity, threshold, invert, ())


def labelled(array: Any, connectivity: int | None, threshold: float, invert: bool, axes: Any) -> tuple[Any, Any]:
    array = checked(array)
    neighbours = check_connectivity(connectivity, array.ndim)
    # A float cannot hold every integer of 64 bits.
    exact = int(threshold) if isinstance(threshold, (int, np.integer)) else real_threshold(threshold)
    find = functools.partial(find_labels, connectivity=neighbours, threshold=exact, invert=bool(invert))
    dtype = label_dtype((math.prod(array.shape) + 1) // 2)
    work = Work("label", neighbours, find, None, first_places, tuple(axes_of(axes, array.ndim)))
    return in_two_passes(array, work, functools.partial(_seams.numbers, dtype=dtype), the_numbers, dtype)


def label_periodic(array: Any, axes: Any, connectivity: int | None = None, threshold: float = 0, *,
                   invert: bool = False) -> tuple[Any, Any]:
    """Labels a picture or a volume whose opposite borders touch along some axes.

    array, connectivity, threshold, invert: as of label(). axes: as of cudaccl.label_periodic().

    Returns (labels, n) as label() does, with the labels of cudaccl.label_periodic(). Since: 0.4
    """
    return labelled(array, connectivity, threshold, invert, axes)


def label_values(array: Any, connectivity: int | None = None, *, background: float | None = 0,
                 tolerance: float = 0) -> tuple[Any, Any]:
    """Labels a picture or a volume with many values: neighbours are connected where they are equal.

    array: as of label(). connectivity, background, tolerance: as of cudaccl.label_values().

    Returns (labels, n) as label() does. Since: 0.4
    """
    array = checked(array)
    neighbours = check_connectivity(connectivity, array.ndim)
    find = functools.partial(find_values, connectivity=neighbours, background=number_of(background),
                             tolerance=check_tolerance(tolerance))
    dtype = label_dtype(math.prod(array.shape))
    return in_two_passes(array, Work("label-values", neighbours, find, float(tolerance), first_places),
                         functools.partial(_seams.numbers, dtype=dtype), the_numbers, dtype)


def mask_of(array: Any) -> Any:
    array = checked(array)
    if array.dtype not in (np.uint8, np.bool_):
        raise TypeError(f"a mask must be of uint8 or bool, not {array.dtype}: make one, as in mask = array > 0")
    return array


def fill_holes(mask: Any, max_area: int = 0, connectivity: int | None = None, *, value: int = 1) -> Any:
    """Fills the holes of a mask: components of the background that do not touch the border of the picture.

    mask: as of label(), of uint8 or bool. Foreground is what is not 0.
    max_area: holes of more pixels stay; 0: all are filled.
    connectivity: of the foreground, as of label(). Holes have the other one: 6 where it is 18 or 26, and 26 where it is 6.
    value: of the filled pixels, 1…255; of bool, 1.

    Returns a new mask, lazily. Of the default connectivity it is that of scipy.ndimage.binary_fill_holes(). Since: 0.4
    """
    mask = mask_of(mask)
    check_integers(0, 2**63 - 1, max_area=max_area)
    check_integers(1, 1 if mask.dtype == bool else 255, value=value)
    of_holes = OF_HOLES[check_connectivity(connectivity, mask.ndim)]
    find = functools.partial(find_labels, connectivity=of_holes, threshold=0, invert=True)
    flags = functools.partial(flag_table, least=1, greatest=float(max_area or sys.float_info.max))
    return in_two_passes(mask, Work("fill-holes", of_holes, find, None, areas_inside), flags,
                         functools.partial(filled, value=value), mask.dtype)[0]


def fill_label_holes(labels: Any, max_area: int = 0, connectivity: int | None = None) -> Any:
    """Fills the holes of each object of a label map with its label; objects in holes stay.

    labels: a label map of integers, as label() returns it, with chunks of any sizes; a mask of bool is labelled first.
        Labels may touch, and be in parts.
    max_area, connectivity: as of cudaccl.fill_label_holes().

    Returns a new label map, lazily, with the type of labels, of masks that of label(): that of cudaccl.fill_label_holes().
    The task with the table has some 150 bytes for each patch of a label or of the background in a chunk. Since: 0.4
    """
    labels = checked(labels)
    check_integers(0, 2**63 - 1, max_area=max_area)
    of_holes = OF_HOLES[check_connectivity(connectivity, labels.ndim)]
    if labels.dtype == bool:
        labels = label(labels, connectivity)[0]
    if labels.dtype.kind not in "iu":
        raise TypeError(f"a label map of integers or a mask of bool is needed, not of {labels.dtype}")
    find = functools.partial(find_values, connectivity=of_holes, background=None)
    work = Work("fill-label-holes", of_holes, find, 0, functools.partial(patches, connectivity=of_holes), touching=True)
    return in_two_passes(labels, work, functools.partial(_patches.filled, max_area=operator.index(max_area), dtype=labels.dtype),
                         the_numbers, labels.dtype)[0]


def some_components(mask: Any, name: str, connectivity: int | None, of_labels: Callable[[Any, Any, Place], Any],
                    table: Callable[..., Any]) -> Any:
    """The mask without the components that a table does not choose. of_labels: as of Work."""
    mask = mask_of(mask)
    neighbours = check_connectivity(connectivity, mask.ndim)
    find = functools.partial(find_labels, connectivity=neighbours, threshold=0, invert=False)
    return in_two_passes(mask, Work(name, neighbours, find, None, of_labels), table, without, mask.dtype)[0]


def remove_small(mask: Any, min_area: int, connectivity: int | None = None) -> Any:
    """Removes components of fewer than min_area pixels from a mask.

    mask: as of fill_holes(). connectivity: as of label().

    Returns a new mask, lazily. Since: 0.4
    """
    check_integers(0, 2**63 - 1, min_area=min_area)
    return some_components(mask, "remove-small", connectivity, areas,
                           functools.partial(flag_table, least=min_area, greatest=np.inf))


def is_label_map(array: Any) -> bool:
    return isinstance(array, da.Array) and array.dtype.kind in "iu" and array.dtype != np.uint8


def only(labels: Any, that_stay: NDArray[np.int64]) -> Any:
    stays = np.isin(on_host(labels).astype(np.int64, copy=False), that_stay)
    if not hasattr(labels, "get"):
        return np.where(stays, labels, labels.dtype.type(0))
    import cupy

    return labels * cupy.asarray(stays)


def labels_that_stay(labels: Any, choose: Callable[[dict[str, NDArray[Any]]], NDArray[np.int64]]) -> Any:
    """The label map without the labels that a function does not choose of a table."""
    labels = checked(labels)
    if 0 in labels.shape:
        return labels
    table = regionprops_table(labels, ["label", "num_pixels", "bbox"])
    name = f"cudaccl-choose-labels-{tokenize(labels.name, choose)}"
    graph = HighLevelGraph.from_collections(name, {name: (choose, table.key)}, [table])
    return labels.map_blocks(only, that_stay=Delayed(name, graph), dtype=labels.dtype, meta=labels._meta)


def inner_labels(table: dict[str, NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.int64]:
    is_inside = np.ones(len(table["label"]), bool)
    for axis, length in enumerate(shape):
        is_inside &= (table[f"bbox-{axis}"] > 0) & (table[f"bbox-{axis + len(shape)}"] < length)
    return table["label"][is_inside]


def largest_labels(table: dict[str, NDArray[Any]], k: int) -> NDArray[np.int64]:
    return table["label"][np.argsort(-table["num_pixels"], kind="stable")[:k]]


def clear_border(mask: Any, connectivity: int | None = None) -> Any:
    """Removes what touches the border of the picture; of a volume, the first and the last slice are border.

    mask: as of fill_holes(): its components; or a label map of other integers: labels, with all their parts.
    connectivity: as of label(); not of label maps.

    Returns a new array of the same type, lazily. Since: 0.4
    """
    if is_label_map(mask):
        return labels_that_stay(mask, functools.partial(inner_labels, shape=mask.shape))
    return some_components(mask, "clear-border", connectivity, areas_inside,
                           functools.partial(flag_table, least=1, greatest=sys.float_info.max))


def keep_largest(mask: Any, k: int = 1, connectivity: int | None = None) -> Any:
    """Removes all but the k largest components of a mask, or labels of a map; of equal ones the first stay.

    mask, connectivity: as of clear_border(). k: 0 or greater.

    Returns a new array of the same type, lazily. Since: 0.4
    """
    check_integers(0, 2**63 - 1, k=k)
    if is_label_map(mask):
        return labels_that_stay(mask, functools.partial(largest_labels, k=operator.index(k)))
    return some_components(mask, "keep-largest", connectivity, areas_and_places,
                           functools.partial(_seams.largest, k=operator.index(k)))


def on_host_of(find: Callable[..., Any], labels: Any, *values: Any) -> Any:
    """Copies the labels and values of a chunk to host memory, and calls a function with them."""
    return find(on_host(labels), *map(values_on_host, values))


def adjacency(labels: Any, connectivity: int | None = None) -> Any:
    """Which labels of a map touch each other, and along how many edges or faces of pixels.

        pairs, contact = cudaccl.dask.adjacency(labels).compute()

    labels: a label map of integers of two or three dimensions, with chunks of any sizes.
    connectivity: as of cudaccl.adjacency().

    Returns a dask.delayed.Delayed of what cudaccl.adjacency() returns. Since: 0.4
    """
    labels = checked(labels)
    if labels.dtype.kind not in "iu":
        raise TypeError(f"a label map of integers is needed, not of {labels.dtype}")
    neighbours = check_connectivity(1 if connectivity is None else connectivity, labels.ndim)
    face, inside, touch, merge, whole = (f"cudaccl-adjacency-{step}-{tokenize(labels.name, neighbours)}"
                                         for step in ("faces", "contacts", "seams", "merge", "pairs"))
    inside_chunk = functools.partial(_chunk_contacts.contacts_of, neighbours)
    layer: dict[Any, Any] = {}
    for chunk in places_of(labels) if 0 not in labels.shape else ():
        after = chunks_after(labels, neighbours, chunk)
        layer[(face, *chunk)] = (faces, (labels.name, *chunk))
        layer[(inside, *chunk)] = (functools.partial(on_host_of, inside_chunk), (labels.name, *chunk))
        if after:
            across = functools.partial(_chunk_contacts.contacts_at_seams, neighbours, [step for step, _ in after])
            layer[(touch, *chunk)] = (across, (face, *chunk), [(face, *other) for _, other in after])
    contacts = [key for key in layer if key[0] in (inside, touch)]
    last = merge_in_tree(layer, merge, _chunk_contacts.merged, contacts) if contacts else []
    layer[whole] = (_chunk_contacts.pairs_of, last)
    return Delayed(whole, HighLevelGraph.from_collections(whole, layer, [labels]))


def counts_of_chunk(start: tuple[int, ...], labels: NDArray[Any], values: NDArray[Any]) -> _value_counts.ValueCounts:
    return _value_counts.counts_of(labels, values)


def at_sides_of_chunk(plan: _chunk_around.Plan, place: Place, others: list[Place], here: _chunk_around.Sides,
                      sides: list[_chunk_around.Sides]) -> _chunk_around.Around:
    neighbours = [(other.start, other.size, there) for other, there in zip(others, sides)]
    return _chunk_around.at_sides(plan, place.start, place.size, here, neighbours)


def values_of_patches(labels: Any, pixels: Any, place: Place) -> NDArray[np.int64]:
    """Of each component of a label map the label."""
    firsts = np.frombuffer(_cudaccl.first_pixels(view_of(on_host(labels))), np.int64)
    found: NDArray[np.int64] = on_host(pixels).ravel()[firsts].astype(np.int64)
    return found


def chunks_around(array: Any, depth: int) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Of each chunk the others that have pixels up to so many away."""
    near = []  # by axis and chunk: the range of such chunks
    for lengths in array.chunks:
        ends = np.cumsum(lengths)
        starts = ends - lengths
        near.append([range(*pair) for pair in zip(np.searchsorted(ends, starts - depth, "right").tolist(),
                                                  np.searchsorted(starts, ends + depth).tolist())])
    return {chunk: [other for other in itertools.product(*(ranges[i] for ranges, i in zip(near, chunk))) if other != chunk]
            for chunk in itertools.product(*map(range, array.numblocks))}


class TableTasks:
    """The tasks that measure the labels of an array, and add up what they find."""

    def __init__(self, labels: Any, token: str) -> None:
        self.labels, self._token, self._places = labels, token, places_of(labels)
        self.layer: dict[Any, Any] = {}

    def name(self, step: str) -> str:
        return f"cudaccl-regionprops-{step}-{self._token}"

    def total(self, step: str, find: Callable[..., Any], added: Callable[[list[Any]], Any], *values: Any) -> Any:
        """The key of the sum of all chunks. find: a function of the first pixel of a chunk, its labels and its values. added: adds
        up its results."""
        name = self.name(step)
        tasks = {(name, *chunk): (functools.partial(on_host_of, functools.partial(find, place.start)),
                                  *((array.name, *chunk) for array in (self.labels, *values)))
                 for chunk, place in self._places.items()}
        self.layer.update(tasks)
        return merge_in_tree(self.layer, self.name(f"{step}-merge"), added, list(tasks))

    def around(self, plan: _chunk_around.Plan) -> Any:
        """The key of what depends on the pixels around."""
        added = functools.partial(_chunk_around.added_around, plan)
        inside = self.total("inside", functools.partial(_chunk_around.inside, plan), added)
        side, at_sides = self.name("sides"), self.name("at-sides")
        sides = functools.partial(_chunk_around.sides_of, plan.depth)
        keys = []
        for chunk, others in chunks_around(self.labels, plan.depth).items():
            if others:
                of_chunk = functools.partial(at_sides_of_chunk, plan, self._places[chunk], [self._places[other] for other in others])
                self.layer[(side, *chunk)] = (functools.partial(on_host_of, sides), (self.labels.name, *chunk))
                self.layer[(at_sides, *chunk)] = (of_chunk, (side, *chunk), [(side, *other) for other in others])
                keys.append((at_sides, *chunk))
        if not keys:
            return inside
        last = merge_in_tree(self.layer, self.name("at-sides-merge"), added, keys)
        return merge_in_tree(self.layer, self.name("around"), added, [inside, last])

    def parts(self, connectivity: int) -> Any:
        """The key of the numbers of parts of labels."""
        find = functools.partial(find_values, connectivity=connectivity, background=0)
        layer, of_labels, forest, _ = first_tasks(self.labels, Work("count-parts", connectivity, find, 0, values_of_patches), self._token)
        self.layer.update(layer)
        self.layer[self.name("parts")] = (_seams.count_parts, of_labels, forest)
        return self.name("parts")


def regionprops_table(labels: Any, properties: str | Iterable[str] = ("label", "bbox"), intensity_image: Any = None, *,
                      connectivity: int | None = None, separator: str = "-", sort_by: str | None = None,
                      largest: int | None = None, ignore_nan: bool = False, spacing: Any = None, periodic: Any = (),
                      quantiles: Iterable[float] = ()) -> Any:
    """The columns of cudaccl.regionprops_table(), all of them, of labels in chunks.

        labels, n = cudaccl.dask.label(picture)
        table = cudaccl.dask.regionprops_table(labels, ["label", "area", "centroid", "perimeter"]).compute()

    labels: a label map of integers less than 2**63, as label() returns it, or a mask of bool, whose components are measured.
    properties: as of cudaccl.regionprops_table(). Some 320 bytes are kept of each label of a chunk, and for those that depend on
        pixels around, such as 'perimeter' and 'euler_number', as many again, and the two to four layers at the sides of chunks;
        for those of convex hulls 8 bytes for each corner of a hull; for 'moments…' 150 bytes of images, 600 of volumes. Medians and
        quantiles are exact: the different values of each label are counted, so that a task needs memory for some 50
        bytes for each: at most 256 of a label of uint8, but of floats all its pixels.
    intensity_image: a dask.array of the shape of the labels, of bool, integers or floats; with one dimension more it has channels.
    connectivity: of the components of a mask, as of label(), and for 'n_holes'.
    separator, sort_by, largest, ignore_nan, quantiles: as of cudaccl.regionprops_table().
    spacing: the lengths of a pixel along the axes, or one for all, as of cudaccl.regionprops_table().
    periodic: the axes along which opposite borders touch, as of label_periodic(), whose boxes and centroids result: a box
        goes on at 0 where it reaches the end, so its end may be greater than the side. The properties are then 'label',
        'area', 'num_pixels', 'bbox', 'area_bbox', 'extent', 'equivalent_diameter_area' and 'centroid'.

    Returns a dask.delayed.Delayed of a dict from column names to arrays, those of cudaccl.regionprops_table(), whatever the
    chunks. The last digits alone depend on them of values of intensities that are not of bool, uint8 or uint16, and of
    'moments_central', 'moments_normalized' and 'moments_hu', and of 'moments' beyond 2**53. Chunks on a GPU are measured
    on the host. Raises TypeError or ValueError for wrong arguments. Since: 0.4
    """
    labels = checked(labels)
    names = list(dict.fromkeys([properties] if isinstance(properties, str) else properties))
    axes = axes_of(periodic, labels.ndim)
    check_properties(names, labels, axes)
    lengths = None if spacing is None else check_spacing(spacing, labels.ndim)
    shares = check_quantiles(quantiles, names)
    values, has_channels = (channels_of(intensity_image, labels) if needs_values(names, intensity_image) else ([], False))
    neighbours = check_connectivity(connectivity, labels.ndim)
    are_components = labels.dtype == bool
    if are_components:
        labels = label_periodic(labels, axes, connectivity)[0]
    if labels.dtype.kind not in "iu":
        raise TypeError(f"a label map of integers or a mask of bool is needed, not of {labels.dtype}")
    if 0 in labels.shape:  # a picture without labels has the same columns
        labels, values = da.zeros((1,) * labels.ndim, dtype=np.uint8), [da.zeros((1,) * labels.ndim, dtype=np.uint8)] * len(values)
    wanted = _chunk_columns.Wanted(names, neighbours, separator, lengths, shares, bool(ignore_nan), sort_by, largest, has_channels)
    plan = _chunk_around.plan_of(labels.shape, names)
    kind = _chunk_sums.Kind(labels.shape, flags_of(names, MEASURED_ON_GPU[labels.ndim]) & ~_chunk_around.OF_NEIGHBOURS,
                            _chunk_sums.kind_of_values(values[0].dtype, wanted.ignore_nan) if values else "")
    _chunk_columns.check(kind, plan, wanted, max(1, len(values)))
    tasks = TableTasks(labels, tokenize(labels.name, [array.name for array in values], wanted, axes, are_components))
    whole = tasks.name("columns")
    tasks.layer[whole] = (circled_tasks(tasks, kind, axes, wanted) if axes else
                          column_tasks(tasks, kind, plan, wanted, values, are_components))
    return Delayed(whole, HighLevelGraph.from_collections(whole, tasks.layer, [labels, *values]))


def circled_tasks(tasks: TableTasks, kind: _chunk_sums.Kind, axes: list[int], wanted: _chunk_columns.Wanted) -> tuple[Any, ...]:
    """The task that makes a table where borders touch."""
    total = tasks.total("measure", functools.partial(_chunk_circles.sums_of, kind, axes),
                        functools.partial(_chunk_circles.added, kind, axes))
    return functools.partial(_chunk_circles.table_of, kind, axes, wanted), total


def table_of_totals(kind: _chunk_sums.Kind, plan: _chunk_around.Plan | None, wanted: _chunk_columns.Wanted,
                    *totals: Any) -> dict[str, NDArray[Any]]:
    return _chunk_columns.table_of(kind, plan, wanted, _chunk_columns.Total(*totals))


def column_tasks(tasks: TableTasks, kind: _chunk_sums.Kind, plan: _chunk_around.Plan | None, wanted: _chunk_columns.Wanted,
                 values: list[Any], are_components: bool) -> tuple[Any, ...]:
    """The task that makes a table, of the totals that it needs."""
    names, channels, counts = wanted.properties, [], []
    for i, plane in enumerate(values or [None]):
        of = _chunk_columns.of_values(kind) if i else kind
        channels.append(tasks.total(f"measure-{i}" if i else "measure", functools.partial(_chunk_sums.sums_of, of),
                                    functools.partial(_chunk_sums.added, of), *([] if plane is None else [plane])))
        if _chunk_columns.wants(names, OF_RANKS):
            counts.append(tasks.total(f"count-{i}" if i else "count", counts_of_chunk, _value_counts.added, plane))
    around = tasks.around(plan) if plan else None
    hulls = moments = parts = None
    if _chunk_columns.wants(names, _chunk_columns.OF_CORNERS):
        _chunk_hulls.check_sides(tasks.labels.shape)
        hulls = tasks.total("hulls", _chunk_hulls.hulls_of, _chunk_hulls.added_hulls)
    if _chunk_columns.wants(names, _chunk_columns.OF_MOMENTS):
        moments = tasks.total("moments", _chunk_moments.moments_of, _chunk_moments.added_moments)
    if "n_holes" in names and not are_components:
        parts = tasks.parts(wanted.connectivity)
    return functools.partial(table_of_totals, kind, plan, wanted), channels, around, hulls, moments, parts, counts


def check_properties(names: list[str], labels: Any, axes: list[int]) -> None:
    check_names(names)
    if axes:
        _chunk_circles.check_properties(names)
    for name in names:
        if name not in OF_TABLES and name not in MEASURED_ON_GPU[labels.ndim]:
            raise ValueError(f"{labels.ndim} dimensions have no property {name!r}")


def channels_of(image: Any, labels: Any) -> tuple[list[Any], bool]:
    """The planes of an intensity image in the chunks of the labels, and whether they are channels."""
    if not isinstance(image, da.Array) or image.ndim != labels.ndim + 1:
        return [checked_values(image, labels)], False
    if not image.shape[-1] >= 1:
        raise ValueError(f"the intensity image has {image.shape[-1]} channels")
    return [checked_values(image[..., i], labels) for i in range(image.shape[-1])], True


def checked_values(image: Any, labels: Any) -> Any:
    """A plane of intensities in the chunks of the labels."""
    image = checked(image)
    if image.shape != labels.shape:
        raise ValueError(f"the intensity image has the shape {image.shape}, the labels {labels.shape}")
    return image.rechunk(labels.chunks)
