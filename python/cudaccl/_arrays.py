# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of other libraries: new ones of the same kind, where they are, and their streams.

A kind is the name of the library that an array's class belongs to. No library is imported here
before the caller has used it.
"""
from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._cudaccl import DeviceArray, View

HOST = -1
IMMUTABLE = ("jax", "jaxlib", "tensorflow")  # libraries whose arrays never change


def kind_of(array: Any) -> str:
    """The library of an array: 'numpy', 'torch', 'cupy', 'jaxlib', 'numba', …"""
    return type(array).__module__.partition(".")[0]


def device_of_library(device: Any) -> Any:
    """A device of PyTorch, CuPy or JAX as 'cpu', 'cuda' or a GPU's number; others as they are."""
    kind = kind_of(device)
    if kind == "torch":
        import torch

        if device.type == "cuda" and device.index is None:
            return torch.cuda.current_device()
        return device.index if device.type == "cuda" else str(device)
    if kind == "cupy":
        return device.id
    if kind in ("jax", "jaxlib"):
        number = getattr(device, "local_hardware_id", None)
        return str(device.platform) if device.platform not in ("gpu", "cuda") else device.id if number is None else number
    return device


def device_number(device: Any) -> int:
    """The number of 'cpu' (HOST), 'cuda' (0), 'cuda:N', N, or of a device of PyTorch, CuPy or JAX."""
    wrong = f"a device is 'cpu', 'cuda', 'cuda:1', a GPU's number or a device of PyTorch, CuPy or JAX, not {device!r}"
    device = device_of_library(device)
    if isinstance(device, str) and device == "cpu":
        return HOST
    if isinstance(device, str):
        name, colon, number = device.partition(":")
        if name != "cuda" or (colon and not (number.isascii() and number.isdigit())):
            raise ValueError(wrong)
        device = int(number or 0)
    try:
        index = operator.index(device)
    except TypeError:
        raise TypeError(wrong) from None
    if not 0 <= index < 2**31:
        raise ValueError(f"a GPU's number is 0…{2**31 - 1}, not {index if index.bit_length() < 64 else 'a longer one'}")
    return index


def stream_address(stream: Any) -> int:
    """The CUstream of an integer or of another library's stream."""
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("ptr", "cuda_stream", "handle"):  # CuPy, PyTorch, Numba
        if hasattr(stream, name):
            stream = getattr(stream, name)
            break
    address = getattr(stream, "value", stream)  # a ctypes pointer, None for the default stream
    try:
        address = operator.index(address or 0)
    except TypeError:
        address = -1
    if not 0 <= address < 2**64:
        raise TypeError(f"a stream is a CUstream as a number, or a stream of another library, not {stream!r}")
    return address


def names_stream(array: Any) -> bool:
    """Whether the class of an array itself says which stream is the current one."""
    kind = type(array)
    return kind is np.ndarray or hasattr(kind, "__dlpack_c_exchange_api__")


def check_mask(array: Any) -> None:
    """Refuses masked arrays, whose mask would be lost."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.getmask(array) is not np.ma.nomask:
        raise TypeError("a masked array cannot be used here: fill it first, as in array.filled(0)")


def view_of(array: Any, stream: Any = None, writable: bool = False) -> View:
    """A view of an array on the stream, or on the caller's current one without it."""
    if stream is not None:
        stream = stream_address(stream)
    if writable and kind_of(array) in IMMUTABLE:
        raise TypeError(f"arrays of {kind_of(array)} are immutable: give a copy that may be written, of NumPy or CuPy")
    if type(array) is np.ndarray:
        return View(array, stream, writable)
    check_mask(array)
    if kind_of(array) == "torch":
        if stream is None and array.is_cuda and not names_stream(array):
            import torch

            stream = torch.cuda.current_stream(array.device).cuda_stream
        if not writable:
            array = exportable(array)
    return View(array, stream, writable)


def exportable(tensor: Any) -> Any:
    """A tensor of PyTorch that other libraries may read."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if not names_stream(tensor) and str(tensor.dtype) == "torch.bool":
        import torch

        return tensor.view(torch.uint8)  # releases before 2.0 refuse to export bool
    return tensor


def empty(like: Any, shape: tuple[int, ...], dtype: str, device: int) -> Any:
    """A new array of the kind of another one where that library can make one: with the result of
    finish(), of that kind in any case."""
    kind = kind_of(like)
    if device == HOST:
        return np.empty(shape, dtype)
    if kind == "torch" and like.is_cuda:
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if kind == "cupy":
        import cupy

        with cupy.cuda.Device(device):
            return cupy.empty(shape, dtype)
    if kind == "numba":
        from numba import cuda

        return cuda.device_array(shape, dtype)
    return DeviceArray(shape, dtype, device)


def as_numpy(array: Any) -> NDArray[Any]:
    """An array in host memory as one of NumPy, which has no bfloat16: that becomes float32."""
    if kind_of(array) == "torch":
        array = array.detach()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    result = np.asarray(array)
    return result.astype(np.float32) if result.dtype.name == "bfloat16" else result


def finish(result: Any, like: Any) -> Any:
    """A filled array of empty() in the kind of another one."""
    kind = kind_of(like)
    if kind == "torch" and type(result) is np.ndarray:
        import torch

        return torch.from_numpy(result)
    if kind in ("jax", "jaxlib"):
        import jax

        return jax.dlpack.from_dlpack(result) if isinstance(result, DeviceArray) else jax.numpy.asarray(result)
    return result


def zeros(like: Any, shape: tuple[int, ...], dtype: str, device: int) -> Any:
    """An array of empty() for a shape without elements."""
    return finish(empty(like, shape, dtype, device), like)


def host_copy_of(view: View) -> NDArray[Any]:
    """A copy in host memory of an array on a GPU, of a type that NumPy has."""
    copy = np.empty(view.shape, view.dtype)
    if copy.size:
        _cudaccl.copy_view_to_host(view, View(copy, None, True))
    return copy


def copy_to_device(array: NDArray[Any], device: Any = 0) -> DeviceArray:
    """Copies a NumPy array to the memory of a GPU.

    array: of bool, integers, or floats of 32 or 64 bits, any shape.
    device: the GPU's number, 'cuda:N', or a device of PyTorch, CuPy or JAX.
    Returns a new DeviceArray. Raises TypeError for other types, RuntimeError where there is no GPU.
    Since: 0.2
    """
    check_mask(array)
    array = np.asarray(array, order="C")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    copy = DeviceArray(array.shape, array.dtype.name, device_number(device))
    copy._copy(array, False)
    return copy


def as_given(result: NDArray[Any], given: Any) -> Any:
    """An array in host memory in the kind of the caller's array and where that is."""
    kind = kind_of(given)
    if kind == "numba":  # NumPy converts its arrays, but they are on a GPU
        from numba import cuda

        return cuda.to_device(result)
    view = view_on_gpu(given, None)
    if view is None:
        return finish(result, given)
    if kind == "torch":
        import torch

        return torch.from_numpy(result).to(given.device)
    if kind == "cupy":
        import cupy

        with cupy.cuda.Device(view.device):
            return cupy.asarray(result)
    return finish(copy_to_device(result, view.device), given)


def copy_to_host(array: DeviceArray) -> NDArray[Any]:
    """Copies a DeviceArray to a new NumPy array of its shape and type. Since: 0.2"""
    if not isinstance(array, DeviceArray):
        raise TypeError(f"a DeviceArray is needed, not {type(array).__name__}")
    copy = np.empty(array.shape, array.dtype)
    array._copy(copy, True)
    return copy


def host_array(masks: Any) -> NDArray[Any]:
    """Masks in host memory as an array of NumPy, which shares their memory if it is one already."""
    check_list(masks)
    if type(masks) is np.ndarray:
        return masks
    check_mask(masks)
    if hasattr(masks, "__dlpack__") and not hasattr(masks, "__array__"):
        array: NDArray[Any] = np.from_dlpack(masks)
        return array
    return as_numpy(masks)


def check_list(masks: Any) -> None:
    """Refuses a list of masks on a GPU, which NumPy would copy to the host one element after the other."""
    if not isinstance(masks, (list, tuple)):
        return
    on_gpu = next((mask for mask in masks if view_on_gpu(mask, None) is not None), None)
    if on_gpu is not None:
        kind = kind_of(on_gpu)
        call = f"{kind}.stack(masks)" if kind in ("torch", "cupy") else "one array of them"
        raise TypeError(f"a list of masks on a GPU cannot be used here: give {call}")


def numpy_converts(image: Any) -> bool:
    """Whether NumPy knows how to make an array of an object in host memory."""
    return (isinstance(image, (np.ndarray, np.generic, list, tuple)) or hasattr(image, "__array_interface__")
            or (hasattr(image, "__array__") and not hasattr(image, "__dlpack__")))


def view_on_gpu(masks: Any, stream: Any, writable: bool = False) -> View | None:
    """A view of masks on a GPU; None if they are in host memory."""
    if type(masks) is np.ndarray or numpy_converts(masks):
        return None
    if kind_of(masks) == "torch" and not masks.is_cuda:
        return None
    view = view_of(masks, stream, writable)
    return None if view.device == HOST else view


def as_float32(image: Any, dtype: str) -> Any:
    """An array on a GPU, that of floats of 16 bits as one of 32 bits, by its own library."""
    if dtype not in ("float16", "bfloat16"):
        return image
    if kind_of(image) != "torch" and not hasattr(image, "astype"):
        raise TypeError(f"arrays of {kind_of(image)} must have 32 or 64 bits to be floats")
    return image.float() if kind_of(image) == "torch" else image.astype("float32")


def on_host(image: Any) -> Any:
    """An intensity image in host memory."""
    view = view_on_gpu(image, None)
    if view is None:
        return image
    return host_copy_of(view_of(as_float32(image, view.dtype)))


def on_device(array: Any, device: Any) -> Any:
    """The caller's array on a device: itself if it is there, or if device is None; else a copy."""
    if device is None:
        return array
    number, view = device_number(device), view_on_gpu(array, None)
    here = HOST if view is None else view.device
    if here == number:
        return array
    if number == HOST:
        return on_host(array)
    if view is not None:
        raise ValueError(f"the array is on cuda:{here}: its own library copies it to cuda:{number}")
    copy = host_array(np.ma.filled(array, 0) if isinstance(array, np.ma.MaskedArray) else array)
    return copy_to_device(copy.astype(np.float32) if copy.dtype == np.float16 else copy, number)
