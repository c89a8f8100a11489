# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling: Labeller, label() and components()."""
from __future__ import annotations

import atexit
import operator
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, as_given, copy_to_device, device_number, empty, finish, on_host, view_of, zeros
from ._device_table import DeviceTable
from ._images import (check_connectivity, check_integers, check_shape, compare_on_gpu, read_image, shown,
                      threshold_of, wanted_ndim, whole_threshold)
from ._types import Array, HostImage, Out, Table, check_table, table_dtype

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import LabelOptions, RunOptions

component_dtype: np.dtype[np.void] = table_dtype(np.int32, ndim=2)
"""A row of the component table of an image: label, area (pixels), bounding box (pixels; x and y are
its upper left corner) and centroid (pixel centres are at integer coordinates). Since: 0.2"""

volume_component_dtype: np.dtype[np.void] = table_dtype(np.int32, ndim=3)
"""A row of the component table of a volume, as component_dtype; area counts voxels. Since: 0.2"""

ALL = 2**32 - 1
MOST_ROWS = 2**31 - 1  # rows of a table; on the CPU, unused ones take no memory
FIRST_GPU_ROWS = 65536  # rows of a table at first: on a GPU, all take memory
CALLS_TO_WARM_UP = 2  # calls until all objects are planned


def check_sides(shape: Any) -> tuple[int, int]:
    """The sides of a shape of two dimensions."""
    try:
        height, width = map(operator.index, shape)
    except (TypeError, ValueError):
        raise TypeError(f"a shape is (height, width), not {shape!r:.60}") from None
    check_integers(1, 2**31 - 1, height=height, width=width)
    return height, width


class Labeller:
    """Labels images or volumes of one shape, again and again, without allocating scratch memory.

    shape: (height, width) or (depth, height, width); at most 2**31 - 1 pixels.
    connectivity: 4 or 8 for images, 6, 18 or 26 for volumes, or scikit-image's number of axes: 1 to
        the number of dimensions. None: the greatest.
    ndim: 2 for images, 3 for volumes. None: 3 with a connectivity that images do not have (6, 18, 26
        or 3), else 2.
    device: 'cpu', 'cuda', 'cuda:1', …, a GPU's number, or a device of PyTorch, CuPy or JAX.
    max_components: the most rows of a table, 1…2**31 - 1; of more components it has the first ones.
        None: all rows. On a GPU, a labeller without a limit has memory for 65536 rows at first and
        allocates more when an image has more components.
    algorithm: a name of the library's list, 'auto' for the fastest; images only.
    n_threads: the most threads that share an image on a CPU, 0 for as many as are useful. Volumes
        use one thread.

    On a GPU, tables of 64 KiB and more may stay where the GPU has written them: a labeller that makes
    such tables takes up to three times the memory.

    Raises ValueError, MemoryError, or RuntimeError where there is no such GPU. Calls from several
    threads run one after the other. Since: 0.2
    """

    def __init__(self, shape: tuple[int, ...], *, connectivity: int | None = None, ndim: int | None = None,
                 device: Any = "cpu", max_components: int | None = None, algorithm: str = "auto",
                 n_threads: int = 0) -> None:
        try:
            self._shape = tuple(operator.index(length) for length in shape)
        except TypeError:
            raise TypeError(f"a shape is (height, width) or (depth, height, width), not {shape!r}") from None
        check_shape(self._shape, wanted_ndim(ndim, connectivity))
        if any(not 0 < length < 2**31 for length in self._shape):
            raise ValueError(f"the lengths of a shape must be 1…{2**31 - 1}, not {', '.join(map(shown, self._shape))}")
        self._connectivity = check_connectivity(connectivity, len(self._shape))
        self._device = device_number(device)
        self._complete = max_components is None
        if max_components is None:
            max_components = MOST_ROWS if self._device == HOST else FIRST_GPU_ROWS
        check_integers(1, MOST_ROWS, max_components=max_components)
        check_integers(0, ALL, n_threads=n_threads)
        if not isinstance(algorithm, str):
            raise TypeError(f"algorithm must be a name, not {algorithm!r}")
        self._algorithm, self._n_threads = algorithm, n_threads
        self._dtype = component_dtype if len(self._shape) == 2 else volume_component_dtype
        self._n_components = 0
        self._max_components = max_components
        self._labeller = self._make(False)
        self._device_labeller: _cudaccl.Labeller | None = None

    def _make(self, table_on_device: bool) -> _cudaccl.Labeller:
        return _cudaccl.Labeller(self._shape, self._connectivity, self._device, self._max_components,
                                 self._algorithm, self._n_threads, table_on_device)

    def _resize(self, shape: tuple[int, ...]) -> None:
        """Changes the shape of the next images; not of volumes."""
        if shape != self._shape:
            self._labeller.resize(shape)
            self._device_labeller = None
            self._shape = shape

    def __repr__(self) -> str:
        device = "cpu" if self._device == HOST else f"cuda:{self._device}"
        return f"<cudaccl.Labeller {self._shape}, {self._connectivity}-connected, on {device}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the images."""
        return self._shape

    @property
    def connectivity(self) -> int:
        """4, 8, 6, 18 or 26."""
        return self._connectivity

    @property
    def n_components(self) -> int:
        """The number of components of the last image, also if its table has fewer rows; 0 at first."""
        return self._n_components

    @overload
    def label(self, image: HostImage, *, out: None = None,
              **options: Unpack[RunOptions]) -> tuple[NDArray[np.int32], Table]: ...

    @overload
    def label(self, image: Array, *, out: None = None, **options: Unpack[RunOptions]) -> tuple[Array, Table]: ...

    @overload
    def label(self, image: Any, *, out: Out, **options: Unpack[RunOptions]) -> tuple[Out, Table]: ...

    def label(self, image: Any, *, threshold: float = 0, invert: bool = False, min_area: int = 0, max_area: int = 0,
              out: Any = None, stream: Any = None) -> tuple[Any, Table]:
        """Labels an image; returns its label map and its component table.

        image: an array of the labeller's shape, of bool, integers or floats, in any byte order and with
            any strides; on a CPU, lists and grey images of PIL are arrays, too. Masked pixels of a
            masked array are background, inverted or not. It is not written. On a GPU it must be there; where the pixels
            of a row are not consecutive, it is copied there first. Other types than bool, uint8, and uint16 of two
            dimensions, are compared with the threshold by the array's own library. A labeller on a GPU
            also takes images in host memory.
        threshold: a pixel is foreground when its value is greater; 0…255 for bool and uint8 on a GPU.
            Neither pixels nor threshold are rounded to each other's type. Pixels that are not a number
            are background.
        invert: swaps foreground and background.
        min_area, max_area: components with fewer or more pixels get no label and no row; a max_area
            of 0 means no limit.
        out: an array of the shape for the label map, of int32 or uint32, on the labeller's device.
            None: a new array.
        stream: the CUDA stream on which a GPU labels, as a number or as a stream of another library.
            None: the stream of the image (CuPy and Numba), the current stream (PyTorch), else the
            legacy default stream.

        Returns (labels, table). labels is `out`, or an int32 array in the kind of the image: NumPy,
        PyTorch, CuPy, JAX or Numba, and a DeviceArray for other kinds on a GPU. table is a NumPy
        array of component_dtype or volume_component_dtype. Both can be read at once on any stream.

        Raises ValueError or TypeError for a wrong array, RuntimeError if a GPU failed. Since: 0.2
        """
        image, view, threshold, invert = read_image(image, threshold, invert, stream)
        return self._label(image, view, threshold, invert, min_area, max_area, out, stream)

    def _label(self, image: Any, view: _cudaccl.View, threshold: float, invert: bool, min_area: int, max_area: int,
               out: Any, stream: Any) -> tuple[Any, Table]:
        image, view, threshold = self._compared(image, view, threshold, stream)
        labels = empty(image, self._shape, "int32", self._device) if out is None else out
        table = self._run(view, threshold, invert, min_area, max_area, view_of(labels, stream, True))
        return labels if out is not None else finish(labels, image), table

    def components(self, image: Any, *, threshold: float = 0, invert: bool = False, min_area: int = 0,
                   max_area: int = 0, stream: Any = None) -> Table:
        """The component table of an image, without a label map, in less time. See label().
        Since: 0.2"""
        image, view, threshold, invert = read_image(image, threshold, invert, stream)
        return self._components(image, view, threshold, invert, min_area, max_area, stream)

    def _components(self, image: Any, view: _cudaccl.View, threshold: float, invert: bool, min_area: int, max_area: int,
                    stream: Any) -> Table:
        _, view, threshold = self._compared(image, view, threshold, stream)
        return self._run(view, threshold, invert, min_area, max_area, None)

    def device_table(self, image: Any, *, threshold: float = 0, invert: bool = False, min_area: int = 0,
                     max_area: int = 0, out: Any = None, stream: Any = None) -> DeviceTable:
        """Labels an image on a GPU and leaves the component table in its memory, for work that follows there.

        out: an array for the label map; None: no label map. The other arguments are as for label().

        Returns a DeviceTable with the rows of components(). A labeller makes such tables in memory of its
        own, and the more of it, the more of them are kept. Raises ValueError on a CPU and for volumes.
        Since: 0.3"""
        image, view, threshold, invert = read_image(image, threshold, invert, stream)
        _, view, threshold = self._compared(image, view, threshold, stream)
        if type(threshold) is not int or view.is_float:
            threshold = threshold_of(view, threshold)
        check_integers(-2**63, 2**63 - 1, threshold=threshold)
        check_integers(0, ALL, min_area=min_area, max_area=max_area)
        labels = None if out is None else view_of(out, stream, True)
        while True:
            if self._device_labeller is None:
                self._device_labeller = self._make(True)
            labeller = self._device_labeller
            rows, self._n_components = labeller.run(view, threshold, bool(invert), min_area, max_area, labels)
            table = DeviceTable(rows, self._dtype, self._device)
            if not self._complete or len(table) == self._n_components:
                return table
            self._max_components = 1 << self._n_components.bit_length()
            self._device_labeller = None

    def _compared(self, image: Any, view: _cudaccl.View, threshold: float, stream: Any) -> tuple[Any, _cudaccl.View, float]:
        """The image, or its foreground, if its own library must compare the pixels with the threshold."""
        if view.is_byte or view.device == HOST or (
                not view.is_float and self._labeller.reads(view, whole_threshold(threshold))):
            return image, view, threshold
        image = compare_on_gpu(image, threshold)
        return image, view_of(image, stream), 0

    def _run(self, view: _cudaccl.View, threshold: float, invert: bool, min_area: int, max_area: int,
             labels: _cudaccl.View | None) -> Table:
        if type(threshold) is not int or view.is_float:
            threshold = threshold_of(view, threshold)
        try:
            rows, n_components = self._labeller.run(view, threshold, bool(invert), min_area, max_area, labels)
        except TypeError:
            check_integers(-2**63, 2**63 - 1, threshold=threshold)
            check_integers(0, ALL, min_area=min_area, max_area=max_area)
            raise
        table = np.frombuffer(rows, self._dtype)
        self._n_components = n_components
        if self._complete and len(table) < n_components:
            self._max_components = 1 << n_components.bit_length()
            self._labeller = self._make(False)
            return self._run(view, threshold, invert, min_area, max_area, labels)
        return table


# Labellers of the last calls, so that the next one allocates nothing; a labeller of images serves all their
# shapes. A call takes its labeller out, so that no two threads share one.
cache: dict[tuple[Any, ...], Labeller] = {}
kept_batches: dict[tuple[Any, ...], _cudaccl.Batch] = {}  # those of label_batch() and its neighbours
kept_for_values: dict[tuple[Any, ...], _cudaccl.ValuesLabeller] = {}  # those of label_values()
kept_measurers: dict[tuple[Any, ...], _cudaccl.MapMeasurer] = {}  # of label maps on a GPU
kept_finders: dict[tuple[Any, ...], _cudaccl.ContourFinder] = {}  # of contours on a GPU
kept_runs: dict[tuple[Any, ...], _cudaccl.MapRuns] = {}  # of rle() on a GPU
CACHED = 4
KEPT = 2  # of each kind of the others


def keep(kept: dict[tuple[Any, ...], Any], key: tuple[Any, ...], entry: Any, most: int = KEPT) -> None:
    """Keeps an object for the next call, and no more than the last ones."""
    kept[key] = entry
    while len(kept) > most:
        try:
            kept.pop(next(iter(kept)), None)
        except (RuntimeError, StopIteration):  # another thread changed it
            break


def clear_cache() -> None:
    """Frees the memory that label() and components() keep: a few labellers of the last images.
    Since: 0.2"""
    for kept in (cache, kept_batches, kept_for_values, kept_measurers, kept_finders, kept_runs):
        kept.clear()
    _cudaccl.clear_engines()


atexit.register(clear_cache)


def on_cpu(image: Any, device: Any) -> Any:
    """An image, copied to host memory if it is to be labelled there."""
    if device is None or device_number(device) != HOST:
        return image
    return on_host(image)


def labelled_where(view: _cudaccl.View, device: Any) -> int:
    """The number of the device that labels an image: the one that is asked for, or that which has it (None)."""
    number = view.device if device is None else device_number(device)
    if view.device not in (HOST, number):
        raise ValueError(f"the image is on cuda:{view.device}: its own library copies it to cuda:{number}")
    return number


class CachedLabeller:
    """A labeller from the cache, for one call."""

    def __init__(self, shape: tuple[int, ...], connectivity: int | None, device: int, n_threads: int) -> None:
        self._shape = shape
        self._key = shape if len(shape) == 3 else None, check_connectivity(connectivity, len(shape)), device, n_threads

    def __enter__(self) -> Labeller:
        _, connectivity, device, n_threads = self._key
        kept: Labeller | None = cache.pop(self._key, None)
        self._labeller = kept or Labeller(
            self._shape, connectivity=connectivity, ndim=len(self._shape),
            device="cpu" if device == HOST else device, n_threads=n_threads)
        if kept:
            kept._resize(self._shape)
        return self._labeller

    def __exit__(self, *error: object) -> None:
        keep(cache, self._key, self._labeller, CACHED)


@overload
def label(image: HostImage, connectivity: int | None = None, *, out: None = None,
          **options: Unpack[LabelOptions]) -> tuple[NDArray[np.int32], Table]: ...


@overload
def label(image: Array, connectivity: int | None = None, *, out: None = None,
          **options: Unpack[LabelOptions]) -> tuple[Array, Table]: ...


@overload
def label(image: Any, connectivity: int | None = None, *, out: Out,
          **options: Unpack[LabelOptions]) -> tuple[Out, Table]: ...


@overload
def label(image: Any, connectivity: int | None = None, *, device: Any, out: Any = None,
          **options: Unpack[LabelOptions]) -> tuple[Any, Table]: ...


def label(image: Any, connectivity: int | None = None, *, ndim: int | None = None, threshold: float = 0,
          invert: bool = False, min_area: int = 0, max_area: int = 0, out: Any = None, stream: Any = None,
          n_threads: int = 0, device: Any = None) -> tuple[Any, Table]:
    """Labels an image of two dimensions or a volume of three, on the device where it is.

    ndim: 2 for an image, 3 for a volume. None: 3 with a connectivity that images do not have (6, 18, 26
        or 3), else 2; so colours and batches are not taken for volumes.
    device: where to label, as of Labeller: an image in host memory is copied to that GPU, and its label map is a DeviceArray
        there, whatever the kind of the image; with 'cpu', one on a GPU is copied to host memory, and its label map is of
        NumPy. None: where the image is. An image on another GPU raises ValueError. Since 0.4

    Arrays without elements have an empty table. The other arguments and the result are those of
    Labeller and Labeller.label(). A few labellers stay in memory for the next calls: clear_cache()
    frees them.

        labels, table = cudaccl.label(image, connectivity=8, threshold=127, min_area=20)

    Since: 0.2
    """
    if type(image) is np.ndarray and device is None and out is None and stream is None and ndim in (None, 2):
        found = _cudaccl.label_plain_image(
            image, connectivity, threshold, invert, min_area, max_area, n_threads, True)
        if found is not None:
            return cast("tuple[Any, Table]", found)
    image, view, threshold, invert = read_image(on_cpu(image, device), threshold, invert, stream)
    check_shape(view.shape, wanted_ndim(ndim, connectivity))
    where = labelled_where(view, device)
    if out is None and where != view.device:
        out = _cudaccl.DeviceArray(view.shape, "int32", where)
    if 0 in view.shape:
        check_connectivity(connectivity, len(view.shape))
        return zeros(image, view.shape, "int32", where) if out is None else out, no_components(view.shape)
    with CachedLabeller(view.shape, connectivity, where, n_threads) as labeller:
        return labeller._label(image, view, threshold, invert, min_area, max_area, out, stream)


def components(image: Any, connectivity: int | None = None, *, ndim: int | None = None, threshold: float = 0,
               invert: bool = False, min_area: int = 0, max_area: int = 0, stream: Any = None,
               n_threads: int = 0, device: Any = None) -> Table:
    """The component table of an image or a volume, without a label map. See label(). Since: 0.2"""
    if type(image) is np.ndarray and device is None and stream is None and ndim in (None, 2):
        found = _cudaccl.label_plain_image(
            image, connectivity, threshold, invert, min_area, max_area, n_threads, False)
        if found is not None:
            return cast("Table", found)
    image, view, threshold, invert = read_image(on_cpu(image, device), threshold, invert, stream)
    check_shape(view.shape, wanted_ndim(ndim, connectivity))
    if 0 in view.shape:
        check_connectivity(connectivity, len(view.shape))
        return no_components(view.shape)
    with CachedLabeller(view.shape, connectivity, labelled_where(view, device), n_threads) as labeller:
        return labeller._components(image, view, threshold, invert, min_area, max_area, stream)


def warm_up(shape: tuple[int, ...] = (64, 64), connectivity: int | None = None, *, ndim: int | None = None,
            device: Any = "cuda") -> None:
    """Does what the first calls of label() and components() on a GPU do once, so that the next ones take no longer than
    later ones: opens the GPU, loads kernels, allocates memory and plans for images of a shape.

        cudaccl.warm_up((1080, 1920))

    shape, connectivity, ndim: of the images; other shapes are planned when they come, in less time.
    device: as of Labeller.

    clear_cache() frees what is kept, but not the kernels. Other functions load their kernels at their first calls.
    Raises the errors of label(), RuntimeError where there is no such GPU. Since: 0.4
    """
    number = device_number(device)
    image: Any = np.zeros(shape, np.uint8)
    if number != HOST:
        image = copy_to_device(image, number)
    for _ in range(CALLS_TO_WARM_UP):
        label(image, connectivity, ndim=ndim)
        components(image, connectivity, ndim=ndim)


def no_components(shape: tuple[int, ...]) -> Table:
    return np.empty(0, component_dtype if len(shape) == 2 else volume_component_dtype)


@overload
def table_to_array(table: Table, like: HostImage) -> NDArray[np.float64]: ...


@overload
def table_to_array(table: Table, like: Array) -> Array: ...


def table_to_array(table: Table, like: Any) -> Any:
    """A component table as an array of float64 on the device and of the kind of another array, for
    work that continues on a GPU.

    table: of component_dtype or volume_component_dtype, N rows.
    like: an array; the result is of its kind and on its device.
    Returns an array of N rows, and a column for each field in the order of the table's dtype.
    Since: 0.2
    """
    check_table(table)
    columns = np.stack([table[name].astype(np.float64) for name in table.dtype.names or ()], axis=1)
    return as_given(columns, like)
