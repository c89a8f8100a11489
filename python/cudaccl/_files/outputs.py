# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files that label_file() writes."""
from __future__ import annotations

import contextlib
import io
import json
import math
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._contours import contours
from .zarr import ZarrMap, is_zarr

TAG = 15  # tag of the messages between ranks
MOST_BYTES = 2**30  # of one message: MPI counts with an int


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
    except BaseException as raised:  # also KeyboardInterrupt: the other ranks must not wait
        error = raised
    messages = comm.allgather(None if error is None else str(error) or type(error).__name__)
    if error is not None:
        raise error
    for message in messages:
        if message is not None:
            raise OSError(f"another rank has failed: {message}")
    return result


def identity(path: str) -> tuple[Any, ...]:
    """What tells whether two names are those of one file, which need not exist yet."""
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except FileNotFoundError:
        folder, name = os.path.split(os.path.realpath(path))
        status = os.stat(folder)
        return status.st_dev, status.st_ino, name


def is_zarr_name(path: str) -> bool:
    return path.lower().endswith(".zarr")


def check_output_names(inputs: list[str], outputs: list[tuple[str, tuple[str, ...]]], n_ranks: int) -> None:
    """Refuses names of outputs without one of their endings, and a file that is read or that another output has."""
    read = {identity(path): path for path in inputs}
    written: dict[tuple[Any, ...], str] = {}
    for path, endings in outputs:
        if not path.lower().endswith(endings):
            zarr = ", that of a Zarr array in .zarr" if ".zarr" in endings else ""
            kind = "GeoJSON file ends in .geojson" if ".geojson" in endings else f"NumPy file ends in .npy{zarr}"
            raise ValueError(f"the name of a {kind}, not {os.path.basename(path)!r}")
        if is_zarr_name(path) and n_ranks > 1:
            raise ValueError("a Zarr array is written by one process: use cudaccl.dask, or a NumPy file")
        if os.path.isdir(path) and not (is_zarr_name(path) and is_zarr(path)):
            raise IsADirectoryError(f"{path} is a folder")
        file = identity(path)
        if file in read:
            raise ValueError(f"{path} cannot be an output: it is the file {read[file]}, which is read")
        if file in written:
            raise ValueError(f"{path} and {written[file]} are one file: each output needs its own")
        written[file] = path


class PendingFile:
    """A file that ranks write together. It has its name when it is complete."""

    def __init__(self, path: str, comm: Any) -> None:
        self.path, self._comm = path, comm
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

    def write_at(self, offset: int, data: memoryview | bytes) -> None:
        done = 0
        while done < len(data):
            done += os.pwrite(self._file, data[done:], offset + done)

    def close(self) -> None:
        if self._file >= 0:
            try:
                os.fsync(self._file)
            finally:
                os.close(self._file)
                self._file = -1

    def commit(self) -> None:
        """Gives the file its name. For rank 0."""
        os.replace(self._temporary, self.path)

    def discard(self) -> None:
        """Closes the file, and removes it unless it has its name."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._comm.Get_rank() == 0 and os.path.exists(self._temporary):
            os.unlink(self._temporary)


class NpyFile(PendingFile):
    """A NumPy file."""

    def begin(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
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
        self.write_at(self._offset + offset, data)


OutputFiles = list["PendingFile | ZarrMap"]


def commit(files: OutputFiles) -> None:
    for file in files:
        file.commit()


@contextlib.contextmanager
def written_together(files: OutputFiles, comm: Any) -> Iterator[str | None]:
    """Opens files, gives them their names at the end, and removes them after an error. Collective.
    The context is the folder of the first one, None without files."""
    try:
        for file in files:
            file.open()
        yield os.path.dirname(os.path.abspath(files[0].path)) if files else None
        for file in files:
            together(comm, file.close)
        together(comm, lambda: commit(files) if comm.Get_rank() == 0 else None)
    finally:
        for file in files:
            file.discard()


class LabelMap:
    """The label map of label_file(), or another map of numbers, in a file or in the caller's array. ome: what OME-Zarr says
    of the picture. what: a number of the map."""

    def __init__(self, labels: Any, shape: tuple[int, ...], comm: Any, ome: dict[str, Any] | None, what: str = "label") -> None:
        self._what = what
        self._shape = shape
        self._layer = math.prod(shape[1:])
        self._array = labels
        self.file: NpyFile | ZarrMap | None = None
        if isinstance(labels, (str, os.PathLike)):
            path = os.fspath(labels)
            self.file = ZarrMap(path, ome) if is_zarr_name(path) else NpyFile(path, comm)

    def begin(self, n_components: int, n_bytes: int) -> None:
        self._dtype: np.dtype[Any] = np.dtype(f"u{n_bytes}")
        if self.file:
            self.file.begin(self._dtype, self._shape)
        else:
            self._check_type(n_components)

    def _check_type(self, n_components: int) -> None:
        """Refuses an array whose type has too few numbers."""
        try:
            dtype = np.dtype(self._array.dtype)
        except (AttributeError, TypeError):
            return
        most = 0
        if dtype.kind in "iu":
            most = np.iinfo(dtype).max
        elif dtype.kind == "f":
            most = 2 ** (np.finfo(dtype).nmant + 1)
        if n_components > most:
            raise ValueError(f"a {self._what} map of {dtype} cannot have a {self._what} of {n_components}"
                             if self._what != "label" else f"a label map of {dtype} cannot have {n_components} labels")

    def write(self, first: int, n: int, data: memoryview) -> None:
        if self.file:
            self.file.write(first * self._layer * self._dtype.itemsize, data)
        else:
            self._array[first:first + n] = np.frombuffer(data, self._dtype).reshape(n, *self._shape[1:])


class Table:
    """The component table of label_file(), in a file. make: a function that makes rows of the dtype of what is
    measured; None: they are written as they come."""

    def __init__(self, path: str, dtype: np.dtype[Any], comm: Any,
                 make: Callable[..., memoryview] | None = None) -> None:
        self._dtype, self._make = dtype, make
        self.file = NpyFile(path, comm)

    def begin(self, n_components: int, first_label: int) -> None:
        self._next_row = first_label - 1
        self.file.begin(self._dtype, (n_components,))

    def write(self, rows: memoryview, *shapes: memoryview) -> None:
        data = self._make(rows, *shapes) if self._make else rows
        self.file.write(self._next_row * self._dtype.itemsize, data)
        self._next_row += len(data) // self._dtype.itemsize


def map_in_a_file(shape: tuple[int, ...], folder: str | None) -> NDArray[np.uint32]:
    """A label map of zeros in a file without a name, so that it need not fit into memory. folder: None: that of temporary
    files. A full disk shows here."""
    n = math.prod(shape)
    size = max(4 * n, 1)
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint32, n).reshape(shape)


def areas_of(labels: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The pixels of each label from 0 on. NumPy counts in a copy of 8 bytes a pixel, so some rows are counted at a time."""
    areas = np.zeros(int(labels.max(initial=0)) + 1, np.int64)
    step = max(1, MOST_BYTES // 64 // max(1, labels.shape[1]))
    for begin in range(0, len(labels), step):
        areas += np.bincount(labels[begin:begin + step].ravel(), minlength=len(areas))
    return areas


class Polygons:
    """The polygons of labels, as ccl-label writes them: features of GeoJSON, in a file or for the caller's function.

    picture: what is labelled; its files may say where it is on the Earth. polygons: a name, or a function.
    """

    def __init__(self, polygons: Any, picture: Any, comm: Any) -> None:
        self._take = polygons
        self._affine: list[float] | None = getattr(picture.image, "affine", None)
        self._epsg: int = getattr(picture.image, "epsg", 0)
        self.file = None if callable(polygons) else PendingFile(os.fspath(polygons), comm)
        self._labels = map_in_a_file(picture.shape, os.path.dirname(self.file.path) or "." if self.file else None)

    def begin(self, n_bytes: int) -> None:
        self._dtype = np.dtype(f"u{n_bytes}")

    def add(self, first: int, n: int, data: memoryview) -> None:
        self._labels[first:first + n] = np.frombuffer(data, self._dtype).reshape(n, -1)

    def finish(self) -> None:
        """Makes the polygons of the whole label map."""
        areas = areas_of(self._labels)
        found = contours(self._labels, 4, kind="cracks", labels=True).geojson()["features"]
        features = (self._feature(feature, int(areas[feature["properties"]["label"]])) for feature in found)
        if not self.file:
            for feature in features:
                self._take(feature)
            return
        crs = {"crs": {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{self._epsg}"}}} if self._affine and self._epsg else {}
        head = json.dumps({"type": "FeatureCollection", **crs})[:-1] + ', "features": ['
        offset = 0
        for text in (head, *(("," if i else "") + "\n" + json.dumps(feature) for i, feature in enumerate(features)), "\n]}\n"):
            self.file.write_at(offset, text.encode())
            offset += len(text.encode())

    def _feature(self, feature: dict[str, Any], area: int) -> dict[str, Any]:
        label, geometry = feature["properties"]["label"], feature["geometry"]
        if self._affine:
            is_many = geometry["type"] == "MultiPolygon"
            polygons = [[self._on_earth(ring) for ring in rings]
                        for rings in (geometry["coordinates"] if is_many else [geometry["coordinates"]])]
            geometry = {"type": geometry["type"], "coordinates": polygons if is_many else polygons[0]}
        return {"type": "Feature", "id": label, "properties": {"label": label, "area": area}, "geometry": geometry}

    def _on_earth(self, ring: list[list[int]]) -> list[list[float]]:
        """World coordinates; outer rings stay counter-clockwise where the transform mirrors them."""
        assert self._affine
        a = self._affine
        columns, rows = np.array(ring, np.float64).T
        points: NDArray[np.float64] = np.stack([a[0] + a[1] * columns + a[2] * rows, a[3] + a[4] * columns + a[5] * rows], 1)
        found: list[list[float]] = (points[::-1] if a[1] * a[5] - a[2] * a[4] < 0 else points).tolist()
        return found


class Messages:
    """Messages between the ranks of a communicator."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm

    def send(self, to: int, data: memoryview) -> None:
        for done in range(0, len(data), MOST_BYTES):
            self._comm.Send(data[done:done + MOST_BYTES], dest=to, tag=TAG)

    def receive(self, source: int, data: memoryview) -> None:
        for done in range(0, len(data), MOST_BYTES):
            self._comm.Recv(data[done:done + MOST_BYTES], source=source, tag=TAG)
