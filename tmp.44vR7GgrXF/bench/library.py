# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library of labellers: the structures and functions of its headers for ctypes."""
import ctypes
import pathlib
import sys
from ctypes import (CFUNCTYPE, POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32,
                    c_uint64, c_uint8, c_void_p)

OK, UNSUPPORTED = 0, 2
DELIVERIES = ("-", "raw labels", "table", "labels + table")
STEPS = ("allocation", "scan", "merging", "relabelling")
ACCESSES = ("reads", "writes", "atomics")
MAX_RUNS, MAX_COUNTED_KERNELS = 20, 32


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 256)]

    def __str__(self):
        return self.message.decode(errors="replace")


class Failure(Exception):
    """A function of the library failed."""

    def __init__(self, error):
        super().__init__(str(error))
        self.is_unsupported = error.status == UNSUPPORTED


class Input(ctypes.Structure):
    """An image, or a volume if depth > 1; pixels are 0 or 255."""
    _fields_ = [("width", c_uint32), ("height", c_uint32), ("depth", c_uint32), ("pixels", c_void_p)]

    def __init__(self, width, height, depth=1, data=None):
        """data: bytes, or background if None."""
        self.data = bytearray(width * height * depth) if data is None else bytearray(data)
        super().__init__(width, height, depth, ctypes.addressof(c_uint8.from_buffer(self.data)))

    @property
    def n_pixels(self):
        return self.width * self.height * self.depth


class AccessCount(ctypes.Structure):
    _fields_ = [("kernel", c_char_p), ("n", c_uint64 * len(ACCESSES))]


class Turn(ctypes.Structure):
    _fields_ = [("n_runs", c_uint), ("runs", c_double * MAX_RUNS), ("device", c_double),
                ("steps", c_double * len(STEPS))]


class Class(ctypes.Structure):
    pass


class Head(ctypes.Structure):
    """struct Implementation."""
    _fields_ = [("klass", POINTER(Class)), ("device", c_char_p), ("maker", c_char_p), ("algorithm", c_char_p),
                ("delivery", c_int), ("threads", c_uint), ("is_bound", c_bool), ("may_be_inexact", c_bool),
                ("gave_up", c_bool)]


Class._fields_ = [(name, CFUNCTYPE(result, POINTER(Head), *arguments)) for name, result, *arguments in (
    ("prepare", c_int, POINTER(Input), POINTER(Error)),
    ("run", c_int, POINTER(Error)),
    ("release", None),
    ("free", None),
    ("device_time", c_int, c_uint, POINTER(c_double), POINTER(Error)),
    ("steps", c_int, POINTER(c_double), POINTER(Error)),
    ("count_accesses", c_int, POINTER(AccessCount), POINTER(c_uint), POINTER(Error)),
    ("fetch", c_int, c_void_p, POINTER(Error)))]


class Settings(ctypes.Structure):
    """struct ImplementationSettings."""
    _fields_ = [("cpu", c_bool), ("cuda", c_bool), ("peers", c_bool), ("algorithms", POINTER(c_char_p)),
                ("only_chosen", c_bool), ("cheapest_labels", c_bool), ("chosen_tables", c_bool),
                ("deliveries", c_uint), ("connectivity", c_int), ("volume_connectivity", c_uint),
                ("max_components", c_uint), ("allocation", c_bool), ("block_shapes", c_bool), ("only_direct", c_bool),
                ("patience", c_double), ("threads", POINTER(c_uint)), ("n_threads", c_uint)]


class FrameSequence(ctypes.Structure):
    _fields_ = [("width", c_uint32), ("height", c_uint32), ("n_frames", c_uint32), ("n_warm_up", c_uint),
                ("reduction", c_uint32), ("has_chroma", c_bool), ("frame_size", c_size_t), ("pixels", c_void_p), ("device", c_void_p)]


FUNCTIONS = {
    "bench_describe": (c_char_p,),
    "g_free": (None, c_void_p),
    "g_rand_new_with_seed": (c_void_p, c_uint32),
    "g_rand_free": (None, c_void_p),
    "g_rand_int_range": (c_int, c_void_p, c_int, c_int),
    "g_rand_double_range": (c_double, c_void_p, c_double, c_double),
    "implementations_new": (POINTER(c_void_p), POINTER(Settings), POINTER(Error), POINTER(Error)),
    "implementation_describe_cuda": (None, c_char_p, c_char_p),
    "implementation_free": (None, POINTER(Head)),
    "take_turn": (c_int, POINTER(Head), c_uint, c_bool, c_double, POINTER(Turn), POINTER(Error)),
    "run_stream": (c_int, POINTER(Head), c_double, c_double, c_double, POINTER(c_uint), POINTER(c_uint), POINTER(Error)),
    "check_expect": (c_void_p, POINTER(Input), c_uint, c_uint),
    "check_run": (c_int, POINTER(Head), POINTER(Input), c_void_p, c_char_p, POINTER(Error)),
    "reference_free": (None, c_void_p),
    "draw_noise": (None, POINTER(Input), c_uint, c_uint, c_uint32),
    "draw_hilbert": (None, POINTER(Input), c_uint),
    "hilbert_position": (None, c_uint, c_uint64, POINTER(c_uint32)),
    "read_png": (c_bool, c_char_p, c_size_t, POINTER(Input), c_char_p),
    "foreground_new": (POINTER(Head), POINTER(FrameSequence), c_int, c_int, c_bool, c_uint64),
    "foreground_new_opencv": (POINTER(Head), POINTER(FrameSequence), c_int, c_bool),
    "foreground_draw": (None, POINTER(FrameSequence), c_void_p),
    "foreground_move_to_gpu": (c_int, POINTER(FrameSequence), c_char_p, POINTER(Error)),
}


# In the order of bench_sizes.
STRUCTURES = (Error, Input, AccessCount, Turn, Class, Head, Settings, FrameSequence)


def _load():
    """The library beside this file."""
    path = pathlib.Path(__file__).resolve().with_name("libccl-bench.so")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        sys.exit(f"ccl-bench: {error}; the programs run in the build folder")
    sizes = (c_size_t * len(STRUCTURES)).in_dll(library, "bench_sizes")
    if list(sizes) != list(map(ctypes.sizeof, STRUCTURES)):
        sys.exit(f"ccl-bench: {path} was not built for these programs")
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function:  # the GPU's are absent without CUDA
            function.restype, function.argtypes = result, arguments
    return library


lib = _load()
VERSION, COMPILER, SOURCES = lib.bench_describe().decode().split("\n")


class Random:
    """GLib's random numbers: MT19937, seeded as the C++ standard seeds std::mt19937, so that a seed gives the same
    picture everywhere."""

    def __init__(self, seed):
        self.state = lib.g_rand_new_with_seed(seed)

    def __del__(self):
        lib.g_rand_free(self.state)

    def integer(self, least, end):
        """From least to end - 1."""
        return lib.g_rand_int_range(self.state, least, end)

    def real(self, least, end):
        return lib.g_rand_double_range(self.state, least, end)


def call(function, *arguments):
    """Calls a function that returns a status and fills an error, its last argument."""
    error = Error()
    if function(*arguments, byref(error)) != OK:
        raise Failure(error)


class Implementation:
    """An implementation of the library; freed with the object."""

    def __init__(self, head):
        self.head, self.klass = head, head.contents.klass.contents
        row = head.contents
        self.device, self.maker, self.algorithm = (name.decode() for name in (row.device, row.maker, row.algorithm))
        self.delivery, self.threads = DELIVERIES[row.delivery], row.threads
        self.is_bound, self.may_be_inexact = row.is_bound, row.may_be_inexact
        self.can_count, self.can_check = bool(self.klass.count_accesses), bool(self.klass.fetch)

    def __del__(self):
        lib.implementation_free(self.head)

    @property
    def gave_up(self):
        return self.head.contents.gave_up

    @property
    def is_peer(self):
        return self.maker != "cudaccl"

    @property
    def title(self):
        """cpu runs, labels + table, 2 threads"""
        if self.is_bound:
            return f"{self.device} bandwidth bound: {self.algorithm}"
        threads = f", {self.threads} thread{'s' * (self.threads != 1)}" if self.device == "cpu" else ""
        return f"{self.device} {self.algorithm}, {self.delivery}{threads}"

    def prepare(self, image):
        call(self.klass.prepare, self.head, byref(image))

    def release(self):
        self.klass.release(self.head)

    def take_turn(self, warm_up, with_steps, last_run):
        """Wall times of runs, the device's time or NaN, and those of the steps, negative if not timed; in seconds."""
        turn = Turn()
        call(lib.take_turn, self.head, warm_up, with_steps, last_run, byref(turn))
        return turn.runs[:turn.n_runs], turn.device, list(turn.steps)

    def run_stream(self, begin, end, period):
        """The numbers of frames and of late ones."""
        n_frames, n_late = c_uint(), c_uint()
        call(lib.run_stream, self.head, begin, end, period, byref(n_frames), byref(n_late))
        return n_frames.value, n_late.value

    def count_accesses(self):
        """Pairs of a kernel's name and its reads, writes and atomics."""
        counts, n = (AccessCount * MAX_COUNTED_KERNELS)(), c_uint()
        call(self.klass.count_accesses, self.head, counts, byref(n))
        return [(count.kernel.decode(), list(count.n)) for count in counts[:n.value]]

    def find_difference(self, image, expected):
        """Prepares, runs and describes the first difference from expected; "" if there is none."""
        text = ctypes.create_string_buffer(128)
        call(lib.check_run, self.head, byref(image), expected, text)
        return text.value.decode()


def implementations(*, algorithms=None, threads=(1,), **settings):
    """All that the settings ask for, and why no GPU and no OpenCV take part: "" if they do."""
    names = (c_char_p * (len(algorithms) + 1))(*map(str.encode, algorithms)) if algorithms else None
    record = Settings(algorithms=names, threads=(c_uint * len(threads))(*threads), n_threads=len(threads), **settings)
    missing = Error(), Error()
    heads = lib.implementations_new(byref(record), *map(byref, missing))
    found = []
    while heads[len(found)]:
        found.append(Implementation(ctypes.cast(heads[len(found)], POINTER(Head))))
    lib.g_free(heads)
    return found, *map(str, missing)
