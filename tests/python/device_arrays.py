# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays in device memory as other libraries have them, made with ctypes alone."""
import ctypes

import numpy as np

try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    driver = None


def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    assert result == 0, f"{name}: error {result}"


_contexts = {}


def enter(device=0):
    """Makes the primary context of a device current."""
    if device not in _contexts:
        call("cuInit", 0)
        context = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        _contexts[device] = context
    call("cuCtxSetCurrent", _contexts[device])


def new_stream(device=0):
    """A CUstream that does not wait for the legacy default stream."""
    enter(device)
    stream = ctypes.c_void_p()
    call("cuStreamCreate", ctypes.byref(stream), 1)
    return stream.value


def padded(array):
    """A block whose rows are a multiple of 64 bytes, at least 64 longer than those of an array, and the part of the array."""
    block = np.zeros((*array.shape[:-1], array.shape[-1] - array.shape[-1] % -64 + 64), array.dtype)
    return block, block[..., :array.shape[-1]]


def every_second_column(array):
    block = np.full((*array.shape[:-1], 2 * array.shape[-1] + 1), 1, array.dtype)
    return block, block[..., 1::2]


def transposed(array):
    block = np.zeros(array.shape[::-1], array.dtype)
    return block, block.T


def channel(array):
    block = np.full((*array.shape, 3), 1, array.dtype)
    return block, block[..., 1]


def backwards(array):
    block = np.zeros(array.shape, array.dtype)
    return block, block[::-1, ..., ::-1]


LAYOUTS = [every_second_column, transposed, channel, backwards]  # whose rows are not consecutive pixels


class Memory:
    """Device memory with the content of a NumPy array. pitched: True for rows of a multiple of 64 bytes, False for packed
    ones, or a function that makes a block of memory and the part of it that the array is."""

    def __init__(self, array, pitched=False, device=0):
        enter(device)
        self.device, self.dtype, self.shape = device, array.dtype, array.shape
        self.layout = pitched if callable(pitched) else padded if pitched else lambda array: (np.empty_like(array),) * 2
        self.host, part = self.layout(np.ascontiguousarray(array))
        part[...] = array
        self.strides, self.offset = part.strides, part.ctypes.data - self.host.ctypes.data if part.size else 0
        self.address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(self.host.nbytes, 1)))
        self.upload()

    def upload(self, stream=None):
        if stream:
            call("cuMemcpyHtoDAsync_v2", self.address, ctypes.c_void_p(self.host.ctypes.data),
                 ctypes.c_size_t(self.host.nbytes), ctypes.c_void_p(stream))
        elif self.host.nbytes:
            call("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(self.host.ctypes.data),
                 ctypes.c_size_t(self.host.nbytes))
            # The driver may return once it has a copy of a small array, and streams like new_stream() don't wait for the rest.
            call("cuStreamSynchronize", None)

    def download(self):
        enter(self.device)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(self.host.ctypes.data), self.address,
             ctypes.c_size_t(self.host.nbytes))
        return np.ndarray(self.shape, self.dtype, self.host, self.offset, self.strides).copy()

    @property
    def data(self):
        """The address of the first element."""
        return self.address.value + self.offset

    def __del__(self):
        if self.address.value:
            enter(self.device)
            driver.cuMemFree_v2(self.address)


class InterfaceArray(Memory):
    """Has __cuda_array_interface__ alone, as Numba's arrays have."""

    def __init__(self, array, pitched=False, device=0, stream=None, **fields):
        super().__init__(array, pitched, device)
        self.stream, self.fields = stream, fields

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.data, False),
                "strides": self.strides, "version": 3, "stream": self.stream, **self.fields}

    def __gt__(self, threshold):
        return InterfaceArray(self.download() > threshold)


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]
_alive = {}
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@Deleter
def _delete(managed):
    del _alive[ctypes.addressof(managed.contents)]


class DLPackArray(Memory):
    """Has DLPack alone, as JAX's arrays have. `streams` lists the streams of the consumers."""

    CODES = {"i": 0, "u": 1, "f": 2, "b": 6}

    def __init__(self, array, pitched=False, device=0, device_type=2):
        super().__init__(array, pitched, device)
        self.device_type, self.streams = device_type, []

    def __dlpack_device__(self):
        return self.device_type, self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        ndim = len(self.shape)
        strides = [stride // self.dtype.itemsize for stride in self.strides]
        managed = DLManagedTensor()
        managed.tensor = DLTensor(self.data, DLDevice(self.device_type, self.device), ndim,
                                  self.CODES[self.dtype.kind], 8 * self.dtype.itemsize, 1,
                                  (ctypes.c_int64 * ndim)(*self.shape), (ctypes.c_int64 * ndim)(*strides), 0)
        managed.deleter = _delete
        _alive[ctypes.addressof(managed)] = (managed, self)
        return new_capsule(ctypes.addressof(managed), b"dltensor", None)


class BrainFloats:
    """An array of bfloat16 in host memory, which has DLPack alone. bits: an array of uint16."""

    def __init__(self, bits):
        self.bits = np.ascontiguousarray(bits)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None):
        ndim = self.bits.ndim
        managed = DLManagedTensor()
        managed.tensor = DLTensor(self.bits.ctypes.data, DLDevice(1, 0), ndim, 4, 16, 1, (ctypes.c_int64 * ndim)(*self.bits.shape),
                                  (ctypes.c_int64 * ndim)(*(stride // 2 for stride in self.bits.strides)), 0)
        managed.deleter = _delete
        _alive[ctypes.addressof(managed)] = (managed, self)
        return new_capsule(ctypes.addressof(managed), b"dltensor", None)


class DLManagedTensorVersioned(ctypes.Structure):
    pass


VersionedDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensorVersioned))
DLManagedTensorVersioned._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                                     ("deleter", VersionedDeleter), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]
Import = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(DLManagedTensorVersioned)))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class DLPackExchangeAPI(ctypes.Structure):
    pass


DLPackExchangeAPI._fields_ = [
    ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("former", ctypes.POINTER(DLPackExchangeAPI)),
    ("allocate", ctypes.c_void_p), ("import_array", Import), ("to_python", ctypes.c_void_p), ("borrow", ctypes.c_void_p),
    ("current_stream", CurrentStream)]


@VersionedDeleter
def _delete_versioned(managed):
    del _alive[ctypes.addressof(managed.contents)]


@Import
def _import_exchanged(array, out):
    managed = array.exported()
    _alive[ctypes.addressof(managed)] = (managed, array)
    out[0] = ctypes.pointer(managed)
    return 0


@CurrentStream
def _current_stream(device_type, device, out):
    ExchangeArray.asked.append((device_type, device))
    out[0] = ExchangeArray.current
    return 0


class ExchangeArray(Memory):
    """Has the C exchange API of DLPack alone, which PyTorch's arrays have, in its second table."""

    current = None  # the current stream
    asked = []  # the devices whose current stream was asked for
    _newer = DLPackExchangeAPI(99, 0)
    _api = DLPackExchangeAPI(1, 3, None, None, _import_exchanged, None, None, _current_stream)
    _newer.former = ctypes.pointer(_api)
    _name = b"dlpack_exchange_api"  # the capsule does not copy it
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(_newer), _name, None)

    def __init__(self, array, pitched=False, device=0, device_type=2, read_only=False):
        super().__init__(array, pitched, device)
        self.device_type, self.flags = device_type, int(read_only)

    def exported(self):
        ndim, item = len(self.shape), self.dtype.itemsize
        strides = [stride // item for stride in self.strides]
        tensor = DLTensor(self.data - item, DLDevice(self.device_type, self.device), ndim,
                          DLPackArray.CODES[self.dtype.kind], 8 * item, 1, (ctypes.c_int64 * ndim)(*self.shape),
                          (ctypes.c_int64 * ndim)(*strides), item)
        return DLManagedTensorVersioned(1, 3, None, _delete_versioned, self.flags, tensor)


def n_exported():
    """DLPack tensors that a consumer has not released."""
    return len(_alive)
