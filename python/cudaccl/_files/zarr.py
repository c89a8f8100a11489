# SPDX-License-Identifier: LGPL-2.1-or-later
"""Zarr arrays and OME-Zarr images of label_file(), by the package zarr."""
from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKS = (".zarray", ".zgroup", "zarr.json")  # one of them is in the folder of an array or a group
SIDES = {2: (1024, 1024), 3: (64, 256, 256)}  # of the chunks that are written


def is_zarr(path: str) -> bool:
    return any(os.path.exists(os.path.join(path, mark)) for mark in MARKS)


def the_package() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError("Zarr needs the package zarr: install python3-zarr, or zarr with pip") from error
    return zarr


class RefusedError(ValueError):
    """A picture that is not damaged."""


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Makes errors of damaged files, which may be of any kind, OSErrors that name the file."""
    try:
        yield
    except (ImportError, MemoryError, OSError, RefusedError):
        raise
    except Exception as error:
        raise OSError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


class ZarrPicture:
    """A Zarr array, or the first image of an OME-Zarr group at its full size. Axes that are not of space must have
    length 1 and are left out, as z of length 1 is unless a volume is wanted.

    ome: the attributes of an OME-Zarr image with the axes that are left; None of an array."""

    def __init__(self, path: str, ndim: int) -> None:
        self.paths = [path]
        with reading(path):
            self._open(path, ndim)

    def _open(self, path: str, ndim: int) -> None:
        opened = the_package().open(path, mode="r")
        self.ome: dict[str, Any] | None = None
        self._index: list[Any]  # index along each axis: 0, or all of it
        if hasattr(opened, "shape"):
            self._array, self._index = opened, [slice(None)] * len(opened.shape)
        else:
            self._open_image(path, opened, ndim)
        self.shape = tuple(length for length, index in zip(self._array.shape, self._index) if index != 0)
        self.dtype = self._array.dtype

    def _open_image(self, path: str, group: Any, ndim: int) -> None:
        attributes = group.attrs.asdict()
        is_05 = "ome" in attributes
        found = (attributes["ome"] if is_05 else attributes).get("multiscales")
        if not found:
            raise RefusedError(f"{path} is a group of Zarr without an OME-Zarr image: name one of its arrays")
        dataset = found[0]["datasets"][0]
        self._array = group[dataset["path"]]
        axes = [axis if isinstance(axis, dict) else {"name": axis} for axis in found[0].get("axes") or "tczyx"]
        if len(axes) != len(self._array.shape):
            raise RefusedError(f"{path} names {len(axes)} axes, but its image has {len(self._array.shape)}")
        is_left_out = [axis["name"] not in "zyx" or (axis["name"] == "z" and length == 1 and ndim == 2)
                       for axis, length in zip(axes, self._array.shape)]
        for axis, length, is_out in zip(axes, self._array.shape, is_left_out):
            if is_out and length != 1:
                raise RefusedError(f"{path} has {length} places on the axis {axis['name']!r}: label each of them as an array")
        self._index = [0 if is_out else slice(None) for is_out in is_left_out]

        def kept(of_axes: Any) -> list[Any]:
            return [of_axis for of_axis, is_out in zip(of_axes, is_left_out) if not is_out]

        transformations = [{**step, step["type"]: kept(step[step["type"]])}
                           for step in dataset.get("coordinateTransformations", []) if isinstance(step.get(step["type"]), list)]
        image = {"axes": kept(axes), "datasets": [{"path": "0", "coordinateTransformations": transformations}]}
        version = attributes["ome"].get("version", "0.5") if is_05 else found[0].get("version", "0.4")
        self.ome = ({"ome": {"version": version, "multiscales": [image]}} if is_05
                    else {"multiscales": [{"version": version, **image}]})

    def __getitem__(self, layers: slice) -> NDArray[Any]:
        index, first = list(self._index), next(i for i, index in enumerate(self._index) if index != 0)
        index[first] = layers
        with reading(self.paths[0]):
            return np.asarray(self._array[tuple(index)])


class ZarrMap:
    """A Zarr array that one process writes, or an OME-Zarr image. It has its name when it is complete."""

    def __init__(self, path: str, ome: dict[str, Any] | None) -> None:
        self.path, self._ome = path, ome
        self._temporary = f"{path}.{os.getpid():x}.part"

    def open(self) -> None:
        the_package()
        shutil.rmtree(self._temporary, ignore_errors=True)  # left by a killed process with the same number
        os.mkdir(self._temporary)

    def begin(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        zarr = the_package()
        options: dict[str, Any] = {"zarr_format": 2 if "multiscales" in self._ome else 3} if self._ome and zarr.__version__[0] != "2" else {}
        name = self._temporary
        if self._ome:
            zarr.open_group(self._temporary, mode="a", **options).attrs.update(self._ome)
            name = os.path.join(self._temporary, "0")
        chunks = tuple(map(min, shape, SIDES[len(shape)]))
        if self._ome and "multiscales" in self._ome:
            options["dimension_separator"] = "/"
        self._array = zarr.open_array(name, mode="w", shape=shape, chunks=chunks, dtype=dtype, fill_value=0, **options)
        self._layer_bytes = dtype.itemsize * int(np.prod(shape[1:]))

    def write(self, offset: int, data: memoryview) -> None:
        """Writes layers at an offset in bytes."""
        first, n = offset // self._layer_bytes, len(data) // self._layer_bytes
        self._array[first:first + n] = np.frombuffer(data, self._array.dtype).reshape(n, *self._array.shape[1:])

    def close(self) -> None:
        pass

    def commit(self) -> None:
        """Gives the folder its name, in place of an older one."""
        old = f"{self._temporary}.old"
        if not os.path.exists(self.path):
            os.rename(self._temporary, self.path)
            return
        os.rename(self.path, old)
        try:
            os.rename(self._temporary, self.path)
        except OSError:
            os.rename(old, self.path)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)
