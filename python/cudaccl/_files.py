# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures larger than memory: label_file()."""
from __future__ import annotations

import io
import math
import os
from typing import Any, Callable, Iterator

import numpy as np

from . import _cudaccl
from ._arrays import device_number
from ._labeller import check_connectivity, check_integers, check_shape
from ._mask import Mask, Settings

tiled_component_dtype = np.dtype(
    [(name, np.uint64) for name in ("label", "area", "x", "y", "z", "width", "height", "depth")]
    + [(name, np.float64) for name in ("centroid_x", "centroid_y", "centroid_z")])
"""A row of the component table of label_file(), as volume_component_dtype. Since: 0.2"""

TAG = 15  # of messages between ranks
MOST_BYTES = 2**30  # of one message: MPI counts with an int
CHUNK_BYTES = 2**24  # of pixels that are compared with the threshold at once


class Alone:
    """The communicator of a single process."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, value: Any) -> list[Any]:
        return [value]


def together(comm: Any, function: Callable[[], Any]) -> Any:
    """Calls a function in each rank; if it fails in any, all raise: the others an OSError."""
    result, error = None, None
    try:
        result = function()
    except BaseException as raised:  # KeyboardInterrupt, too
        error = raised
    messages = comm.allgather(None if error is None else str(error) or type(error).__name__)
    if error is not None:
        raise error
    for message in messages:
        if message is not None:
            raise OSError(f"another rank has failed: {message}")
    return result


class NpyFile:
    """A NumPy file that ranks write together. It has its name when it is complete."""

    def __init__(self, path: str, comm: Any) -> None:
        self._path, self._comm = path, comm
        number = comm.allgather(os.getpid())[0]
        self._temporary = f"{path}.{number:x}.part"
        self._file = -1

    def open(self) -> None:
        """Creates the file in rank 0, then opens it in the others. Collective."""
        rank = self._comm.Get_rank()
        together(self._comm, lambda: self._open(os.O_CREAT | os.O_TRUNC) if rank == 0 else None)
        together(self._comm, lambda: self._open(0) if rank > 0 else None)

    def _open(self, flags: int) -> None:
        self._file = os.open(self._temporary, os.O_RDWR | os.O_CLOEXEC | flags, 0o666)

    def begin(self, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        """Notes the content; rank 0 writes the header."""
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
        self._offset = header.tell()
        if self._comm.Get_rank() == 0:
            os.pwrite(self._file, header.getvalue(), 0)
            os.ftruncate(self._file, self._offset + math.prod(shape) * dtype.itemsize)

    def write(self, offset: int, data: memoryview) -> None:
        """Writes bytes at an offset after the header."""
        done = 0
        while done < len(data):
            done += os.pwrite(self._file, data[done:], self._offset + offset + done)

    def close(self) -> None:
        if self._file >= 0:
            try:
                os.fsync(self._file)
            finally:
                os.close(self._file)
                self._file = -1

    def commit(self) -> None:
        """Gives the file its name. For rank 0."""
        os.replace(self._temporary, self._path)

    def discard(self) -> None:
        """Closes the file, and removes it unless it has its name."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._comm.Get_rank() == 0 and os.path.exists(self._temporary):
            os.unlink(self._temporary)


class Files:
    """A picture in files as an array whose layers are read as they are used."""

    def __init__(self, paths: list[str], raw_shape: tuple[int, ...] | None, raw_dtype: Any, is_volume: bool) -> None:
        from . import _pictures  # needs libpng and libtiff, which the rest of the package does not

        dtype, sides = np.dtype(raw_dtype), []
        if raw_shape is not None:
            check_shape(raw_shape)
            sides = [int(length) for length in (*reversed(raw_shape), 1)[:3]]
            if min(sides) < 1:
                raise ValueError("the picture is empty")
            if not dtype.isnative:
                raise ValueError("raw samples must have the byte order of this machine")
        self._reader = _pictures.Reader(paths, sides, dtype.name)
        shape = self._reader.shape
        self.shape = shape if is_volume or shape[0] > 1 else shape[1:]
        self.dtype = np.dtype(self._reader.dtype)

    def __getitem__(self, layers: slice) -> np.ndarray:
        rows = math.prod(self.shape[1:-1])
        samples = np.empty((layers.stop - layers.start, *self.shape[1:]), self.dtype)
        self._reader.read(layers.start * rows, len(samples) * rows, samples)
        return samples


class Input:
    """A picture: reads layers and compares them with the threshold."""

    def __init__(self, image: Any, threshold: float) -> None:
        if not (hasattr(image, "shape") and hasattr(image, "dtype")):
            raise TypeError(f"a picture is the name of a file, or has shape and dtype, which {type(image).__name__} has not")
        self.image = image
        self.shape = tuple(int(length) for length in image.shape)
        check_shape(self.shape)
        if 0 in self.shape:
            raise ValueError("the picture is empty")
        self.dtype = np.dtype(image.dtype)
        if self.dtype.kind not in "buif":
            raise TypeError(f"pixels must be of bool, integers or floats, not {self.dtype}")
        if math.isnan(threshold):
            raise ValueError("the threshold is not a number")
        # No integer is between a number and its floor.
        self.threshold = threshold if self.dtype.kind == "f" or math.isinf(threshold) else math.floor(threshold)
        self._at_once = max(1, CHUNK_BYTES // (self.dtype.itemsize * math.prod(self.shape[1:])))

    def blocks(self, first: int, n: int) -> Iterator[tuple[int, np.ndarray]]:
        """The samples of n layers, in blocks that fit into memory, each with its first layer."""
        for begin in range(first, first + n, self._at_once):
            block = np.asarray(self.image[begin:min(first + n, begin + self._at_once)])
            yield begin, block.view(np.uint8) if block.dtype == bool else block

    def layers(self, first: int, n: int, out: np.ndarray | None = None) -> np.ndarray:
        """The foreground of n layers, in an array of bool."""
        if out is None:
            out = np.empty((n, *self.shape[1:]), bool)
        for begin, block in self.blocks(first, n):
            np.greater(block, self.threshold, out=out[begin - first:begin - first + len(block)])
        return out

    def read(self, first: int, n: int, pixels: memoryview) -> None:
        self.layers(first, n, np.frombuffer(pixels, bool).reshape(n, *self.shape[1:]))


def open_picture(image: Any, raw_shape: tuple[int, ...] | None, raw_dtype: Any, connectivity: int | None) -> Any:
    """The picture as something with shape and dtype that gives layers."""
    if isinstance(image, (str, os.PathLike)):
        image = [image]
    if isinstance(image, (list, tuple)) and image and all(isinstance(path, (str, os.PathLike)) for path in image):
        return Files([os.fspath(path) for path in image], raw_shape, raw_dtype, connectivity in (3, 6, 18, 26))
    return image


def block_of(rank: int, n_ranks: int, n_layers: int) -> tuple[int, int]:
    """The first layer and the number of layers of a rank."""
    return n_layers * rank // n_ranks, n_layers * (rank + 1) // n_ranks - n_layers * rank // n_ranks


def label_file(image: Any, labels: Any = None, table: Any = None, *, connectivity: int | None = None,
               threshold: float = 0, invert: bool = False, foreground: str = "threshold", denoise: str = "none",
               closing: tuple[int, int] = (0, 0), roi_mask: Any = None, min_area: int = 0, max_area: int = 0,
               label_bytes: int = 0, memory: int = 2**30, tile: int = 0, device: int | str = "cpu",
               n_threads: int = 0, raw_shape: tuple[int, ...] | None = None, raw_dtype: Any = np.uint8,
               comm: Any = None) -> int:
    """Labels a picture that may be larger than memory, tile by tile.

    image: the name of a file that ccl-label reads: PNG, PGM, NumPy (.npy, in C order), TIFF, BigTIFF
        or raw; the pages of a TIFF file, a folder or a list of files are the slices of a volume. Or
        anything that has shape and dtype and gives layers as image[begin:end]: numpy.memmap,
        h5py.Dataset, zarr.Array. Two or three dimensions; bool, integers or floats. It is read twice,
        with Otsu's threshold once more.
    labels: the name of the NumPy file for the label map, of uint32 or uint64. Or anything of the
        shape that takes layers by labels[begin:end] = array. None: no label map.
    table: the name of the NumPy file for the component table, of tiled_component_dtype. None: none.
    connectivity: as for label().
    threshold: a pixel is foreground when its value is greater.
    invert: swaps foreground and background, inside the region of interest.
    foreground: 'threshold', or 'otsu' for Otsu's threshold of the region of interest in all slices,
        for pixels of uint8 or uint16 (Otsu, "A threshold selection method from gray-level
        histograms", 1979).
    denoise, closing: filters of the mask as those of Foreground, in each slice of a volume.
    roi_mask: the region of interest mask, whatever image can be, except raw: there is no foreground
        where it is 0. It has the shape of the picture; one slice may hold for all slices of a volume.
        None: the whole picture.
    min_area, max_area: components with fewer or more pixels get no label and no row; a max_area of 0
        means no limit.
    label_bytes: of a label in the label map: 4, or 8; 0 means 4, or 8 for 2**32 components and more.
    memory: bytes that tiles may take in the worst case.
    tile: rows of an image or slices of a volume that are labelled at once; 0 derives it from memory.
    device: 'cpu', 'cuda', 'cuda:1', … or a GPU's number.
    n_threads: the most threads that share a tile on a CPU, 0 for as many as are useful.
    raw_shape, raw_dtype: of files without a header: (height, width) or (depth, height, width), and the
        type of the samples, in the byte order of this machine. With a shape, every file is raw.
    comm: a communicator of mpi4py, such as MPI.COMM_WORLD: its ranks share the work, and call this
        function together. Each reads its part of the picture and writes its part of the results, so
        all must reach the files under the same names. An array as labels must take writes of several
        processes. The result is the same for every number of ranks.

    Returns the number of components. Files appear when they are complete; after an error none is
    left, and an older one stays.

    Raises ValueError, TypeError, MemoryError, OSError, RuntimeError if a GPU failed, and what image
    and labels raise. If one rank fails, all raise. Since: 0.2
    """
    comm = comm or Alone()
    rank, n_ranks = comm.Get_rank(), comm.Get_size()
    files = []
    try:
        def prepare() -> tuple[Mask, int, int]:
            settings = Settings(foreground, invert, denoise, closing, n_threads)
            settings.check()
            check_integers(0, 2**63 - 1, min_area=min_area, max_area=max_area, memory=memory, tile=tile)
            check_integers(0, 2**32 - 1, n_threads=n_threads)
            picture = Input(open_picture(image, raw_shape, raw_dtype, connectivity), threshold)
            if label_bytes not in (0, 4, 8):
                raise ValueError(f"label_bytes must be 0, 4 or 8, not {label_bytes}")
            region = None if roi_mask is None else Input(open_picture(roi_mask, None, None, None), 0)
            neighbours = check_connectivity(connectivity, len(picture.shape))
            return Mask(picture, settings, region), neighbours, device_number(device)

        mask, neighbours, gpu = together(comm, prepare)
        shape = mask.picture.shape
        block = block_of(rank, n_ranks, shape[0])
        if foreground == "otsu":
            mask.use_otsu(comm.allgather(together(comm, lambda: mask.histogram(*block))))
        map_file = table_file = None
        if isinstance(labels, (str, os.PathLike)):
            map_file = NpyFile(os.fspath(labels), comm)
            files.append(map_file)
        if table is not None:
            table_file = NpyFile(os.fspath(table), comm)
            files.append(table_file)
        for file in files:
            file.open()
        layer = math.prod(shape[1:])
        next_row = dtype = None

        def begin(n_components: int, first_label: int, n_labels: int, n_bytes: int) -> None:
            nonlocal next_row, dtype
            next_row, dtype = first_label - 1, np.dtype(f"u{n_bytes}")
            if map_file:
                map_file.begin(dtype, shape)
            if table_file:
                table_file.begin(tiled_component_dtype, (n_components,))

        def write(first: int, n: int, data: memoryview) -> None:
            if map_file:
                map_file.write(first * layer * dtype.itemsize, data)
            else:
                labels[first:first + n] = np.frombuffer(data, dtype).reshape(n, *shape[1:])

        def rows(data: memoryview) -> None:
            nonlocal next_row
            table_file.write(next_row * tiled_component_dtype.itemsize, data)
            next_row += len(data) // tiled_component_dtype.itemsize

        def send(to: int, data: memoryview) -> None:
            for done in range(0, len(data), MOST_BYTES):
                comm.Send(data[done:done + MOST_BYTES], dest=to, tag=TAG)

        def receive(source: int, data: memoryview) -> None:
            for done in range(0, len(data), MOST_BYTES):
                comm.Recv(data[done:done + MOST_BYTES], source=source, tag=TAG)

        scratch = os.path.dirname(os.path.abspath(files[0]._path)) if files else None
        n_components = together(comm, lambda: _cudaccl.run_tiled(
            shape, neighbours, bool(invert) and not mask.is_needed, min_area, max_area, block, tile, memory, n_threads,
            label_bytes, gpu, scratch, mask.read if mask.is_needed else mask.picture.read, begin,
            None if labels is None else write, rows if table_file else None, rank, n_ranks, send, receive))
        for file in files:
            together(comm, file.close)
        if rank == 0:
            together(comm, lambda: [file.commit() for file in files])
        else:
            together(comm, lambda: None)
        return n_components
    finally:
        for file in files:
            file.discard()
