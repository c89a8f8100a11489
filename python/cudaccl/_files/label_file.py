# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures larger than memory: label_file()."""
from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _cudaccl
from .._arrays import device_number
from .._images import check_connectivity, check_integers, check_shape, exceeds, readable, wanted_ndim
from .._periodic import axes_of, flags_of_axes
from .._spacing import check_spacing
from .._types import table_dtype
from .._value_counts import Counter, ValueCounts
from .contacts import ContactFile
from .many_values import ManyValues
from .mask import Mask, Settings
from .outputs import Alone, LabelMap, Messages, Polygons, Table, check_output_names, together, written_together
from .tile_columns import TileColumns
from .zarr import ZarrPicture, is_zarr

tiled_component_dtype: np.dtype[np.void] = table_dtype(np.int64, ndim=3)
"""A row of the component table of label_file(), as volume_component_dtype. Since: 0.2"""

MOST_OF_POLYGONS = 2**30  # pixels: CUDACCL_MAX_CONTOUR_PIXELS
CHUNK_BYTES = 2**24  # bytes of pixels that are compared with the threshold at once


class Files:
    """A picture in files as an array whose layers are read as they are used."""

    def __init__(self, paths: list[str], raw_shape: tuple[int, ...] | None, raw_dtype: Any, ndim: int, as_values: bool) -> None:
        from .. import _pictures  # needs the libraries of formats, which the rest of the package does not

        dtype, sides = np.dtype(raw_dtype), []
        if raw_shape is not None:
            check_shape(raw_shape, 3 if len(raw_shape) == 3 else 2)
            sides = [int(length) for length in reversed(raw_shape)]
            if min(sides) < 1:
                raise ValueError("the picture is empty")
            if not dtype.isnative:
                raise ValueError("raw samples must have the byte order of this machine")
        for path in paths:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))  # raises FileNotFoundError and others
        self._reader = _pictures.Reader(paths, sides, dtype.name, as_values)
        self.shape = self._reader.shape
        self.dtype = np.dtype(self._reader.dtype)
        self.no_data: float | None = self._reader.no_data
        self.affine, self.epsg = self._reader.affine, self._reader.epsg  # where it is on the Earth
        if self._reader.may_be and ndim != 3:
            raise ValueError(f"{paths[0]} has shape {self.shape}: {self._reader.may_be}, or a volume? Label a volume with ndim=3")
        self.paths = paths
        if len(paths) == 1 and os.path.isdir(paths[0]):
            self.paths = [entry.path for entry in os.scandir(paths[0])]

    def __getitem__(self, layers: slice) -> NDArray[Any]:
        return self._layers(self._reader.read, self.dtype, layers)

    def colours(self) -> list[Plane]:
        """The colours of a picture as pictures of one channel each; none if it is grey."""
        n = self._reader.n_colours
        reads = [functools.partial(self._reader.read_colour, number) for number in range(n if n > 1 else 0)]
        return [Plane(self.shape, self.dtype, functools.partial(self._layers, read, self.dtype)) for read in reads]

    def read_mask(self, first: int, n: int) -> NDArray[Any]:
        """Layers of a mask: true where a pixel is neither black nor transparent."""
        return self._layers(self._reader.read_mask, np.dtype(np.uint8), slice(first, first + n)) > 0

    def _layers(self, read: Callable[[int, int, NDArray[Any]], None], dtype: np.dtype[Any], layers: slice) -> NDArray[Any]:
        samples = np.empty((layers.stop - layers.start, *self.shape[1:]), dtype)
        rows = math.prod(self.shape[1:-1])  # of a layer
        read(layers.start * rows, len(samples) * rows, samples)
        return samples


class Plane:
    """A channel of a picture. read: returns its layers."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, read: Callable[[slice], NDArray[Any]]) -> None:
        self.shape, self.dtype, self._read = shape, dtype, read

    def __getitem__(self, layers: slice) -> NDArray[Any]:
        return self._read(layers)


class Input:
    """A picture: reads layers and compares them with the threshold."""

    def __init__(self, image: Any, threshold: float, ndim: int) -> None:
        self.image = image
        self.files: list[str] = []  # further files that are read
        if any(isinstance(length, float) and math.isnan(length) for length in image.shape):
            raise ValueError("the sizes of chunks are not known: call compute_chunk_sizes() of the array first")
        self.shape = tuple(int(length) for length in image.shape)
        # A volume in a file is taken for one also where the caller does not ask for it.
        check_shape(self.shape, 3 if isinstance(image, (Files, ZarrPicture)) and len(self.shape) == 3 else ndim)
        if 0 in self.shape:
            raise ValueError("the picture is empty")
        if min(self.shape) < 0 or max(self.shape) >= 2**32:
            raise ValueError(f"a picture has sides of 1…{2**32 - 1}, not {self.shape}")
        self.dtype = np.dtype(image.dtype)
        self.no_data = image.no_data if isinstance(image, Files) else None
        if self.dtype.kind not in "buif":
            raise TypeError(f"pixels must be of bool, integers or floats, not {self.dtype}")
        if math.isnan(threshold):
            raise ValueError("the threshold is not a number")
        threshold = threshold.item() if isinstance(threshold, np.generic) else threshold
        # For integers, "greater than a number" is "greater than its floor".
        self.threshold = threshold if self.dtype.kind == "f" or math.isinf(threshold) else math.floor(threshold)
        self._at_once = max(1, CHUNK_BYTES // (self.dtype.itemsize * math.prod(self.shape[1:])))

    @property
    def paths(self) -> list[str]:
        """The files that are read, as far as they are known."""
        if self.files:
            return self.files
        if isinstance(self.image, (Files, ZarrPicture)):
            return self.image.paths
        return [os.fspath(self.image.filename)] if isinstance(self.image, np.memmap) and self.image.filename else []

    def bands(self, first: int, n: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """The samples of n layers, in bands that fit into memory, each with its first layer."""
        for begin in range(first, first + n, self._at_once):
            end = min(first + n, begin + self._at_once)
            band = np.asarray(self.image[begin:end])
            if band.shape != (end - begin, *self.shape[1:]):
                raise ValueError(f"image[{begin}:{end}] has the shape {band.shape}, but image.shape is {self.shape}")
            if band.dtype.newbyteorder("=") != self.dtype.newbyteorder("="):
                raise TypeError(f"image[{begin}:{end}] is of {band.dtype}, but image.dtype is {self.dtype}")
            yield begin, band.view(np.uint8) if band.dtype == bool else band

    def layers(self, first: int, n: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The foreground of n layers, in an array of bool."""
        if out is None:
            out = np.empty((n, *self.shape[1:]), bool)
        for begin, band in self.bands(first, n):
            part = out[begin - first:begin - first + len(band)]
            exceeds(band, self.threshold, part)
            if self.no_data is not None:
                part &= self.has_data(band)
        return out

    def has_data(self, samples: NDArray[Any]) -> NDArray[np.bool_]:
        """Which samples are not the value of pixels without data."""
        if self.no_data is None:
            return np.ones(samples.shape, bool)
        return np.asarray(~np.isnan(samples) if math.isnan(self.no_data) else samples != self.no_data)

    def layers_with_data(self, first: int, n: int) -> NDArray[np.bool_]:
        return np.concatenate([self.has_data(band) for _, band in self.bands(first, n)])

    def read(self, first: int, n: int, pixels: memoryview) -> None:
        self.layers(first, n, np.frombuffer(pixels, bool).reshape(n, *self.shape[1:]))

    def samples(self, first: int, n: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Samples as values of value_type."""
        if out is None:
            out = np.empty((n, *self.shape[1:]), self.value_type)
        for begin, band in self.bands(first, n):
            out[begin - first:begin - first + len(band)] = band
        return out

    def read_samples(self, first: int, n: int, samples: memoryview) -> None:
        self.samples(first, n, np.frombuffer(samples, self.value_type).reshape(n, *self.shape[1:]))

    @property
    def value_type(self) -> np.dtype[Any]:
        """As which the library measures samples: bool and short integers exactly, others as doubles."""
        native = self.dtype.newbyteorder("=")
        if native == bool:
            return np.dtype(np.uint8)
        return native if native in (np.uint8, np.uint16) else np.dtype(np.float64)

    def inside(self, first: int, n: int) -> NDArray[Any]:
        """Layers of a region of interest mask: true inside."""
        if isinstance(self.image, Files):
            return self.image.read_mask(first, n)
        out = np.empty((n, *self.shape[1:]), bool)
        for begin, band in self.bands(first, n):
            np.not_equal(band, 0, out=out[begin - first:begin - first + len(band)])
        return out


def open_picture(image: Any, raw_shape: tuple[int, ...] | None, raw_dtype: Any, ndim: int, as_values: bool = False) -> Any:
    """The picture as something with shape and dtype that gives layers. as_values: colours are numbers, not grey."""
    if is_path(image) and is_zarr(os.fspath(image)):
        return ZarrPicture(os.fspath(image), ndim)
    if is_path(image):
        image = [image]
    if isinstance(image, (list, tuple)) and image and all(map(is_path, image)):
        return Files([os.fspath(path) for path in image], raw_shape, raw_dtype, ndim, as_values)
    try:
        np.dtype(image.dtype), tuple(image.shape)
        return image
    except (AttributeError, TypeError):
        return readable(image, 0)[0]


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def open_inputs(image: Any, roi_mask: Any, raw_shape: tuple[int, ...] | None, raw_dtype: Any, threshold: float,
                ndim: int, as_values: bool) -> tuple[Input, Input | None]:
    """The picture and its region of interest mask. Masked pixels are outside of the region."""
    picture = open_picture(image, raw_shape, raw_dtype, ndim, as_values)
    if isinstance(picture, np.ma.MaskedArray):
        if roi_mask is not None:
            raise ValueError("a masked array has a region of interest of its own: give image.data and one roi_mask")
        picture, roi_mask = picture.data, ~np.ma.getmaskarray(picture)
    region = None
    if roi_mask is not None:
        opened = open_picture(roi_mask, None, None, ndim)
        region = Input(opened, 0, len(opened.shape))
    return Input(picture, threshold, ndim), region


def channel_of(image: Any, number: int) -> Plane:
    """A channel of an image that gives layers."""
    return Plane(image.shape[:-1], image.dtype, lambda layers: np.asarray(image[layers])[..., number])


def open_values(image: Any, shape: tuple[int, ...]) -> tuple[list[Input], bool]:
    """The channels of the picture whose values are measured, and whether it has more than one dimension for it."""
    opened = open_picture(image, None, None, 3)  # 3: a file may have colours
    if isinstance(opened, np.ma.MaskedArray):
        raise TypeError("a masked array has no values where it is masked: give its data")
    colours = opened.colours() if isinstance(opened, Files) and tuple(opened.shape) == shape else []
    has_channels = len(opened.shape) == len(shape) + 1 and tuple(opened.shape[:-1]) == shape
    if has_channels and opened.shape[-1] == 0:
        raise ValueError("the intensity image has no channels")
    if not has_channels and tuple(opened.shape) != shape:
        raise ValueError(f"the intensity image has the shape {tuple(opened.shape)}, the picture {shape}")
    planes: list[Any] = [*colours]
    if not colours:
        planes = [channel_of(opened, i) for i in range(opened.shape[-1])] if has_channels else [opened]
    values = [Input(plane, 0, len(shape)) for plane in planes]
    if isinstance(opened, Files):
        values[0].files = opened.paths
    return values, has_channels or bool(colours)


def check_map(map: Any, what: str, image: Any, shape: tuple[int, ...]) -> None:
    """Refuses an array for a map that cannot take it."""
    if hasattr(map, "shape") and tuple(map.shape) != shape:
        raise ValueError(f"the {what} map has the shape {tuple(map.shape)}, the picture {shape}")
    if isinstance(map, np.ndarray) and isinstance(image, np.ndarray) and np.may_share_memory(map, image):
        raise ValueError(f"the {what} map is in the memory of the picture, which is read twice")


def check_polygons(polygons: Any, shape: tuple[int, ...]) -> None:
    if polygons is None:
        return
    if not is_path(polygons) and not callable(polygons):
        raise TypeError(f"polygons must be the name of a file or a function, not {type(polygons).__name__}")
    if len(shape) == 3:
        raise ValueError("volumes have no polygons")
    if max(shape) >= 2**31 or math.prod(shape) > MOST_OF_POLYGONS:
        raise ValueError(f"polygons need pictures of at most {MOST_OF_POLYGONS} pixels")


def slab_of(rank: int, n_ranks: int, n_layers: int) -> tuple[int, int]:
    """The first layer and the number of layers of a rank."""
    return n_layers * rank // n_ranks, n_layers * (rank + 1) // n_ranks - n_layers * rank // n_ranks


def label_file(image: Any, labels: Any = None, table: Any = None, *, connectivity: int | None = None,
               ndim: int | None = None, threshold: float = 0, invert: bool = False, foreground: str = "threshold", denoise: str = "none",
               closing: tuple[int, int] = (0, 0), roi_mask: Any = None, min_area: int = 0, max_area: int = 0, clear_border: bool = False,
               keep_largest: int = 0, fill_holes: int | None = None, fill_label_holes: int | None = None, periodic: Any = (),
               split: int = 0, distances: Any = None, polygons: Any = None,
               label_bytes: int = 0, memory: int = 2**30, tile: int = 0, device: int | str = "cpu",
               n_threads: int = 0, raw_shape: tuple[int, ...] | None = None, raw_dtype: Any = np.uint8,
               values: bool = False, background: float | None = 0, tolerance: float = 0, adjacency: Any = None,
               properties: Iterable[str] | None = None, intensity_image: Any = None, ignore_nan: bool = False, spacing: Any = None,
               quantiles: Iterable[float] = (), comm: Any = None) -> int:
    """Labels a picture that may be larger than memory, tile by tile.

    image: the name of a file that ccl-label reads: PNG, JPEG, PNM, NumPy (.npy), TIFF, BigTIFF or raw;
        the pages of a TIFF file, a folder or a list of files are the slices of a volume, and colours
        become grey. The folder of a Zarr array or of an OME-Zarr image, of which the full size is read; its axes other than
        x, y and z must have length 1 (since 0.4). Pages that are times or channels are a volume with ndim=3 alone. Or anything that has shape and dtype and gives layers as image[begin:end]:
        numpy.memmap, h5py.Dataset, zarr.Array. Or what label() takes in host memory. Two or three
        dimensions; bool, integers or floats. It is read twice, with Otsu's threshold once more, and with
        properties also with 4, 6 and 18 neighbours.
    labels: the name of the NumPy file (.npy) for the label map, of uint32 or uint64; or of a Zarr array (.zarr), which one
        process writes: an OME-Zarr image with the axes and scales of image, if that is one (since 0.4). Or anything of the
        shape that takes layers by labels[begin:end] = array. None: no label map.
    table: the name of the NumPy file (.npy) for the component table, of tiled_component_dtype. None:
        none.
    connectivity: as for label().
    ndim: 2 for an image, 3 for a volume, as for label(). A file with a volume is one without it.
    threshold: a pixel is foreground when its value is greater.
    invert: swaps foreground and background, inside the region of interest.
    foreground: 'threshold', or 'otsu' for Otsu's threshold of the region of interest in all slices,
        for pixels of uint8 or uint16 (Otsu, "A threshold selection method from gray-level
        histograms", 1979).
    denoise, closing: filters of the mask as those of Foreground, in each slice of a volume.
    roi_mask: the region of interest mask, whatever image can be, except raw: there is no foreground
        where it is 0 or, in a file, transparent. It has the shape of the picture; one slice may hold for all slices of a volume.
        None: the whole picture.
    clear_border: whether components that touch the border of the picture get no label and no row. Since: 0.4
    keep_largest: how many components get a label, the largest ones, of equal ones the first; 0: all. The picture is labelled
        once more. Since: 0.4
    fill_holes: the most pixels of holes of the foreground that are filled before components are found, 0: of any; None: no hole is.
        Since: 0.4
    fill_label_holes: the same of the holes of each component, as fill_label_holes() fills them: objects in holes stay. Since: 0.4
    periodic: the axes along which opposite borders touch, as those of label_periodic(), whose labels and table result. Of
        properties, only 'label', 'area', 'num_pixels', 'bbox', 'area_bbox', 'extent', 'centroid' and
        'equivalent_diameter_area' are those of such components: a box goes on at 0 where it reaches the end, and so its
        end may be greater than the side. Since: 0.4
    split: a radius, 1…255: components become the objects into which split_touching() splits the label map of components, with the
        picture's connectivity; 0: they stay. Labels, table and filters are those of objects, which are numbered in raster
        order of their first peaks. Components that lie in several tiles are split one by one, with 24 bytes for each
        pixel of their box, or 12 in a file without a name where memory does not suffice. Since: 0.4
        These five are for one process; split, fill_holes, fill_label_holes and periodic keep the label map, 4 bytes a pixel, in a
        file without a name beside the first output, or in /tmp.
    distances: a map like labels, a file or an array, for the squared distances of pixels to the nearest pixel outside their component,
        0 for background: exact integers, whose roots are those of distance(). They are those of components, also of values, before
        any is split, filtered or filled, of the foreground with fill_holes. Of uint32, or of uint64 where the squared diagonal of the
        picture is 2**32 - 1 or more; the greatest number of the type where there is no background. Since: 0.4
    polygons: the name of a file (.geojson) for the polygons of labels, or a function that is called with each, a feature of
        GeoJSON: valid polygons and multipolygons, with 'label' and 'area', the number of pixels, as properties. World coordinates where
        image is a GeoTIFF with a transform, else corners of pixels. For frames of at most 2**30 pixels, whose label map is kept in
        a file without a name beside the polygons, 4 bytes a pixel. distances and polygons are for one process, too. Since: 0.4
    min_area, max_area: components with fewer or more pixels get no label and no row; a max_area of 0
        means no limit.
    label_bytes: of a label in the label map: 4, or 8; 0 means 4, or 8 for 2**32 components and more.
    memory: bytes that tiles may take in the worst case.
    tile: rows of an image or slices of a volume that are labelled at once; 0 derives it from memory.
    device: 'cpu', 'cuda', 'cuda:1', … or a GPU's number.
    n_threads: the most threads that share a tile on a CPU, 0 for as many as are useful.
    raw_shape, raw_dtype: of files without a header: (height, width) or (depth, height, width), and the
        type of the samples, in the byte order of this machine. With a shape, every file is raw.
    properties: the columns of the table, as for regionprops_table(), without 'slice' and those of hulls.
        None: those of tiled_component_dtype.
    spacing: the lengths of a pixel along the axes, or one for all, as for regionprops_table(). Since: 0.4
    intensity_image: whatever image can be, except raw, of the shape of the picture; for properties of intensity. bool,
        uint8 and uint16 are summed as exact integers, others as doubles, whose last digits depend on tiles and ranks. The
        colours of a picture in a file, without its opacity, are channels, and so is one dimension more of an array, as for
        regionprops_table(): the picture is then labelled once for each, and some 350 bytes for each component are kept
        in memory.
    quantiles: numbers of 0…1 for 'intensity_quantile', as for regionprops_table(). These and medians are exact, and for one process: the
        picture is labelled once more, to count the different values of each component, of which each takes some 50 bytes. Since: 0.4
    ignore_nan: whether pixels of the intensity image whose value is not a number are left out, as for
        regionprops_table(). Since 0.4
    values: whether the picture has many values, as for label_values(): neighbours are connected where they are equal. There is
        no threshold and no filter; outside of roi_mask, and where a file or a mask says that there is no data, is background.
        Colours of a file are numbers, as its palette's indices. 'value' among the properties is that of each component's first pixel. Since: 0.4
    background, tolerance: of values, as for label_values(). With a tolerance or without a background the CPU labels. Since: 0.4
    adjacency: the name of the NumPy file (.npy) for the pairs of labels that touch: 'label', 'neighbour', the greater one, and
        'contact', how many sides of pixels they share, of int64, in ascending order. Pixels touch as those of components are
        connected. The pairs are kept in memory. Since: 0.4
        These four are for one process; values keep the label map in a file, as holes of components do.
    comm: a communicator of mpi4py, such as MPI.COMM_WORLD: its ranks share the work, and call this
        function together. Each reads its part of the picture and writes its part of the results, so
        all must reach the files under the same names. An array as labels must take writes of several
        processes. The result is the same for every number of ranks. If the communicator fails to send
        or receive the same message twice, its Abort() is called: that of mpi4py ends all ranks.

    Returns the number of components. Files appear when they are complete; after an error none is
    left, and an older one stays. No output may be a file that is read, or another output.

    Raises ValueError, TypeError, MemoryError, OSError, RuntimeError if a GPU failed, and what image
    and labels raise. If one rank fails, all raise. Since: 0.2
    """
    shares = list(quantiles)
    comm = comm or Alone()
    rank, n_ranks = comm.Get_rank(), comm.Get_size()

    def check_changes(axes: list[int], columns: TileColumns | None) -> None:
        changes = [name for name, is_wanted in (("periodic", axes), ("fill_label_holes", fill_label_holes is not None),
                                                ("fill_holes", fill_holes is not None)) if is_wanted]
        apart = changes + ["split"] * bool(split and axes) + ["distances"] * bool(axes and distances is not None)
        if len(apart) > 1:
            raise ValueError(f"{apart[0]} and {apart[1]} do not go together")
        alone = changes + [name for name, is_wanted in (("split", split), ("keep_largest", keep_largest), ("distances", distances is not None),
                                                        ("polygons", polygons is not None), ("values", values),
                                                        ("adjacency", adjacency is not None)) if is_wanted]
        if n_ranks > 1 and alone:
            raise ValueError(f"{alone[0]} is for one process, not for several ranks")
        if n_ranks > 1 and columns and columns.has_ranks:
            raise ValueError("medians and quantiles are for one process, not for several ranks")
        if axes and clear_border:
            raise ValueError("periodic and clear_border do not go together")
        if not values and (background != 0 or tolerance != 0):
            raise ValueError("background and tolerance are for values=True")
        if values and split:
            raise ValueError("values and split do not go together")
        if values and (threshold != 0 or invert or foreground != "threshold" or denoise != "none" or max(closing) > 1
                       or fill_holes is not None or axes):
            raise ValueError("values takes pixels as they are: without threshold, invert, foreground, denoise, closing, "
                             "fill_holes and periodic")
        if axes and columns and columns.measured_names:
            raise ValueError(f"periodic borders and the property {columns.measured_names[0]!r} do not go together")

    def prepare() -> tuple[Mask, int, int, TileColumns | None, list[Input], ManyValues | None]:
        check_integers(0, 2**63 - 1, min_area=min_area, max_area=max_area, memory=memory, tile=tile)
        check_integers(0, 2**32 - 1, n_threads=n_threads)
        check_integers(0, 2**63 - 1, keep_largest=keep_largest, fill_holes=fill_holes or 0)
        check_integers(0, 2**32 - 1, fill_label_holes=fill_label_holes or 0)
        check_integers(0, 255, split=split)
        if label_bytes not in (0, 4, 8):
            raise ValueError(f"label_bytes must be 0, 4 or 8, not {label_bytes}")
        settings = Settings(foreground, invert, denoise, closing, n_threads)
        settings.check()
        picture, region = open_inputs(image, roi_mask, raw_shape, raw_dtype, threshold, wanted_ndim(ndim, connectivity), values)
        neighbours = check_connectivity(connectivity, len(picture.shape))
        if properties is not None and table is None:
            raise ValueError("properties are those of a table")
        if spacing is not None and properties is None:
            raise ValueError("spacing is for properties")
        if shares and properties is None:
            raise ValueError("quantiles are for the property 'intensity_quantile'")
        lengths = None if spacing is None else check_spacing(spacing, len(picture.shape))
        columns = None if properties is None else TileColumns(
            properties, picture.shape, neighbours, spacing=lengths, quantiles=shares,
            value_type=picture.dtype.newbyteorder("=") if values else None)
        check_changes(axes_of(periodic, len(picture.shape)), columns)
        if columns and columns.dtype.hasobject:
            raise ValueError("a file cannot have the property 'slice'")
        if columns and columns.has_values and intensity_image is None:
            raise ValueError("properties of intensity need an intensity_image")
        planes, has_channels = (open_values(intensity_image, picture.shape) if columns and columns.has_values
                                else ([], False))
        if columns and has_channels:
            columns.use_channels(len(planes))
        check_output_names([path for source in (picture, region, *planes) if source for path in source.paths],
                           [(os.fspath(path), endings) for path, endings in (
                               (labels, (".npy", ".zarr")), (table, (".npy",)), (adjacency, (".npy",)), (distances, (".npy", ".zarr")),
                               (polygons, (".geojson",))) if is_path(path)], n_ranks)
        check_map(labels, "label", image, picture.shape)
        check_map(distances, "distance", image, picture.shape)
        if isinstance(labels, np.ndarray) and isinstance(distances, np.ndarray) and np.may_share_memory(labels, distances):
            raise ValueError("labels and distances are in the same memory")
        check_polygons(polygons, picture.shape)
        many = ManyValues(picture, region, background, tolerance) if values else None
        if many and device_number(device) >= 0 and not many.zero_is_background:
            raise ValueError("a tolerance, and no background, are for the CPU")
        return Mask(picture, settings, region), neighbours, device_number(device), columns, planes, many

    mask, neighbours, gpu, columns, planes, many = together(comm, prepare)
    shape = mask.picture.shape
    slab = slab_of(rank, n_ranks, shape[0])
    if foreground == "otsu":
        mask.use_otsu(comm.allgather(together(comm, lambda: mask.histogram(*slab))))
    ome = getattr(mask.picture.image, "ome", None)
    label_map = None if labels is None else LabelMap(labels, shape, comm, ome)
    squares = None if distances is None else LabelMap(distances, shape, comm, ome, "distance")
    shapes = None if polygons is None else Polygons(polygons, mask.picture, comm)
    rows = None if table is None else Table(os.fspath(table), columns.dtype if columns else tiled_component_dtype, comm,
                                            columns.rows if columns else None)
    contacts = None if adjacency is None else ContactFile(os.fspath(adjacency), shape, neighbours, comm)
    files = [output.file for output in (label_map, rows, contacts, squares, shapes) if output and output.file]

    def begin(n_components: int, first_label: int, n_labels: int, n_bytes: int) -> None:
        if label_map:
            label_map.begin(n_components, n_bytes)
        if rows:
            rows.begin(n_components, first_label)
        if contacts:
            contacts.begin(n_bytes)
        if shapes:
            shapes.begin(n_bytes)

    def write(first: int, n: int, data: memoryview) -> None:
        if label_map:
            label_map.write(first, n, data)
        if contacts:
            contacts.write(data, n)
        if shapes:
            shapes.add(first, n, data)

    def take_values(numbers: memoryview) -> None:
        assert many and columns
        columns.component_values = many.values(numbers)

    def take_parts(numbers: memoryview) -> None:
        assert columns
        columns.component_parts = np.frombuffer(bytes(numbers), np.uint32)

    messages = Messages(comm)

    def run(folder: str | None, measured: int, begin: Any, write: Any, take: Any, channel: Input | None,
            squares: LabelMap | None = None) -> int:
        n_components: int = together(comm, lambda: _cudaccl.run_tiled(
            shape, neighbours, bool(invert) and not mask.is_needed, min_area, max_area, bool(clear_border), slab, tile, memory, n_threads,
            label_bytes, gpu, folder, flags_of_axes(axes_of(periodic, len(shape)), len(shape)), fill_holes, fill_label_holes,
            keep_largest, split, measured, (channel.value_type if channel else np.dtype(np.uint8)).name, bool(ignore_nan),
            many.read if many else mask.read if mask.is_needed else mask.picture.read, begin, write, take,
            channel and channel.read_samples, many and many.kind,
            take_values if columns and columns.has_component_values else None, take_parts if columns else None,
            squares and (lambda n_bytes: squares.begin(2**(8 * n_bytes) - 1, n_bytes)), squares and squares.write, rank,
            n_ranks, messages.send, messages.receive, getattr(comm, "Abort", None)))
        return n_components

    def count_values(folder: str | None) -> list[ValueCounts]:
        """How many pixels of each component have a value, of each channel."""
        counters = [Counter() for _ in planes]
        n_bytes = [0]

        def begin_counting(n_components: int, first_label: int, n_labels: int, label_bytes: int) -> None:
            n_bytes[0] = label_bytes

        def count(first: int, n: int, data: memoryview) -> None:
            for counter, channel in zip(counters, planes):
                counter.add(np.frombuffer(data, f"u{n_bytes[0]}"), channel.samples(first, n))

        run(folder, 0, begin_counting, count, None, None)
        return [counter.total() for counter in counters]

    with written_together(files, comm) as folder:
        if columns and columns.has_ranks:
            columns.use_counts(count_values(folder), ignore_nan)
        for number, channel in enumerate(planes[1:], 1):  # the columns of intensity alone
            assert columns is not None
            run(folder, columns.of_values, lambda *_: None, None, columns.keeper(number), channel)
        n = run(folder, columns.columns if columns else 0, begin, write if label_map or contacts or shapes else None,
                rows and rows.write, planes[0] if planes else None, squares)
        if contacts:
            contacts.finish()
        if shapes:
            shapes.finish()
        return n
