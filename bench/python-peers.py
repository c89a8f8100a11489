#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the Python package beside the labellers of other packages, in one run.

usage: python-peers.py [--seconds S] [--least] [--library libcudaccl.so] [--json FILE] [--plot FILE.svg]
                       [--gpu-only] [--volumes FILE…] [MASK.png…]

Prints Markdown tables: for images (8-connected, one thread) and volumes (6, 18 and 26 neighbours, one
thread) geometric means in µs and the ratio to cudaccl, and how much longer a call takes from Python
than from C, with arrays of NumPy, CuPy and PyTorch. Packages that are not installed are left out. On a
machine with an NVIDIA GPU, arrays of CuPy are labelled, too, also by cuCIM, bkeccl and CV-CUDA
(4-connected). Masks are 8-bit images, all pixels greater than 0 are foreground. Volumes are NIfTI, TIFF
or NPY files; foreground is what Otsu's threshold separates.

Every result is compared with scipy's before it is measured.
"""
import argparse
import ctypes
import gzip
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import struct
import sys
import textwrap
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

import cudaccl  # noqa: E402
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


cv2, cc3d, cupy, torch = (optional(name) for name in ("cv2", "cc3d", "cupy", "torch"))
ndimage, measure = optional("scipy.ndimage"), optional("skimage.measure")
filters, io = optional("skimage.filters"), optional("skimage.io")
kornia = optional("kornia_rs.imgproc")
cupy_ndimage = optional("cupyx.scipy.ndimage") if cupy else None
cucim, bkeccl, cvcuda = (optional(name) if cupy else None for name in ("cucim.skimage.measure", "bkeccl", "cvcuda"))
if cv2:
    cv2.setNumThreads(1)
PROPERTIES = ("label", "area", "bbox", "centroid")


def read_nifti(path):
    """The voxels of a NIfTI-1 file, indexed z, y, x."""
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    order = "<" if struct.unpack_from("<i", data)[0] == 348 else ">"
    dims = struct.unpack_from(order + "8h", data, 40)
    kind = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2"}[struct.unpack_from(order + "h", data, 70)[0]]
    offset = int(struct.unpack_from(order + "f", data, 108)[0])
    shape = dims[3:0:-1]
    return np.frombuffer(data, order + kind, int(np.prod(shape)), offset).reshape(shape)


def read_volume(name):
    path = pathlib.Path(name)
    if ".nii" in path.suffixes:
        volume = read_nifti(path)
    else:
        volume = np.load(path) if path.suffix == ".npy" else io.imread(path)
    return np.ascontiguousarray(volume > filters.threshold_otsu(volume)).astype(np.uint8)


TYPICAL = [statistics.median]  # or min


def time_of(function, seconds):
    """The median time of a call in µs, or the least one, of at least three calls."""
    function()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 20000):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return TYPICAL[0](times) * 1e6


def image_rows(mask):
    """Yields (implementation, what it delivers, function, function of its labels or None)."""
    labeller = cudaccl.Labeller(mask.shape, n_threads=1)
    out = np.empty(mask.shape, np.int32)
    yield "cudaccl", "table", lambda: labeller.components(mask), None
    yield "cudaccl", "labels, table", lambda: labeller.label(mask, out=out), lambda: out
    yield "cudaccl", "labels, table (label())", lambda: cudaccl.label(mask, n_threads=1), None
    if cv2:
        yield "opencv", "labels", lambda: cv2.connectedComponents(mask), lambda: cv2.connectedComponents(mask)[1]
        yield "opencv", "labels, table", lambda: cv2.connectedComponentsWithStats(mask), None
        yield "opencv", "boxes (findContours)", lambda: [
            cv2.boundingRect(contour)
            for contour in cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]], None
    if cc3d:
        yield "cc3d", "labels", lambda: cc3d.connected_components(mask, connectivity=8), lambda: cc3d.connected_components(
            mask, connectivity=8)
        yield "cc3d", "labels, table", lambda: cc3d.statistics(cc3d.connected_components(mask, connectivity=8)), None
    if kornia:
        def label_by_kornia():
            return kornia.connected_components(mask[..., np.newaxis], connectivity=8)[1]
        yield "kornia-rs", "labels", label_by_kornia, lambda: label_by_kornia()[..., 0]
    if ndimage:
        structure = np.ones((3, 3), int)
        yield "scipy", "labels", lambda: ndimage.label(mask, structure), lambda: ndimage.label(mask, structure)[0]
    if measure:
        yield "scikit-image", "labels", lambda: measure.label(mask, connectivity=2), lambda: measure.label(mask, connectivity=2)
        yield "scikit-image", "labels, table", lambda: measure.regionprops_table(
            measure.label(mask, connectivity=2), properties=PROPERTIES), None


def volume_rows(volume, connectivity):
    rank = {6: 1, 18: 2, 26: 3}[connectivity]
    labeller = cudaccl.Labeller(volume.shape, connectivity=connectivity)
    out = np.empty(volume.shape, np.int32)
    yield "cudaccl", "table", lambda: labeller.components(volume), None
    yield "cudaccl", "labels, table", lambda: labeller.label(volume, out=out), lambda: out
    if cc3d:
        def label():
            return cc3d.connected_components(volume, connectivity=connectivity)
        yield "cc3d", "labels", label, label
        yield "cc3d", "labels, table", lambda: cc3d.statistics(label()), None
    if ndimage:
        structure = ndimage.generate_binary_structure(3, rank)
        yield "scipy", "labels", lambda: ndimage.label(volume, structure), lambda: ndimage.label(volume, structure)[0]


def waited(function, stream=None):
    """A call of a library that only queues work, and the wait for its result."""
    def call():
        result = function()
        (stream or cupy.cuda.get_current_stream()).synchronize()
        return result
    return call


def gpu_rows(mask):
    """8-connected arrays of CuPy, until the call has returned and the result is there."""
    image = cupy.asarray(mask)
    labeller = cudaccl.Labeller(mask.shape, device=0)
    out = cupy.empty(mask.shape, "int32")
    yield "cudaccl", "table", lambda: labeller.components(image), None
    yield "cudaccl", "labels, table", lambda: labeller.label(image, out=out), lambda: out.get()
    yield "cudaccl", "labels, table (label())", lambda: cudaccl.label(image), None
    structure = np.ones((3, 3), int)
    label = waited(lambda: cupy_ndimage.label(image, structure)[0])
    yield "cupy", "labels", label, lambda: label().get()
    if cucim:
        label_by_cucim = waited(lambda: cucim.label(image, connectivity=2))
        yield "cucim", "labels", label_by_cucim, lambda: label_by_cucim().get()
        yield "cucim", "labels, table", waited(lambda: cucim.regionprops_table(
            cucim.label(image, connectivity=2), properties=PROPERTIES)), None
    if bkeccl:
        raw = bkeccl.make_ccl_2D(mask.shape, output_mode="raw")
        dense = bkeccl.make_ccl_2D(mask.shape, output_mode="dense")
        yield "bkeccl", "raw labels", waited(lambda: raw(image)), None
        yield "bkeccl", "labels, count", lambda: int(dense(image)[1]), lambda: dense(image)[0].get()


def gpu_rows_of_4(mask):
    """4-connected, all that CV-CUDA has. Its labels are not consecutive."""
    image = cupy.asarray(mask)
    labeller = cudaccl.Labeller(mask.shape, connectivity=4, device=0)
    out = cupy.empty(mask.shape, "int32")
    yield "cudaccl", "table", lambda: labeller.components(image), None
    yield "cudaccl", "labels, table", lambda: labeller.label(image, out=out), lambda: out.get()
    stream, zero = cvcuda.Stream(), cvcuda.as_tensor(cupy.zeros(1, "uint8"), "N")
    wait = cupy.cuda.ExternalStream(stream.handle)
    frame = cvcuda.as_tensor(image, "HW")

    def label(**outputs):
        return waited(lambda: cvcuda.label(frame, cvcuda.CONNECTIVITY_4_2D, bg_label=zero, stream=stream, **outputs), wait)
    labels = label()
    yield "cv-cuda", "labels", labels, lambda: cupy.asarray(labels()[0].cuda()).get()
    yield "cv-cuda", "labels, table without centroids", label(count=True, stats=True, max_labels=65536), None


def same_components(labels, expected):
    """Whether two label maps have the same components, whatever their numbers. Background is 0."""
    is_used = np.zeros(int(labels.max()) + 1, bool)
    is_used[labels] = True
    numbers = np.zeros(len(is_used), expected.dtype)
    numbers[labels] = expected
    n_expected = int(expected.max()) + int((expected == 0).any())
    return not (labels[expected == 0]).any() and is_used.sum() == n_expected and (numbers[labels] == expected).all()


def measure_all(rows, expected, seconds, results, name):
    for implementation, delivers, function, labels in rows:
        if labels is not None and expected is not None:
            function()
            if not same_components(labels(), expected):
                sys.exit(f"{implementation}: other components than scipy's: {name}")
        results.setdefault((implementation, delivers), {})[name] = time_of(function, seconds)


class Frame(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_size_t), ("location", ctypes.c_int),
                ("chroma", ctypes.c_size_t * 6)]


class Plan(ctypes.Structure):
    _fields_ = [("width", ctypes.c_uint32), ("height", ctypes.c_uint32), ("connectivity", ctypes.c_int),
                ("max_components", ctypes.c_uint32), ("algorithm", ctypes.c_char_p), ("n_threads", ctypes.c_uint32), ("format", ctypes.c_int)]


class Options(ctypes.Structure):
    _fields_ = [("threshold", ctypes.c_uint32), ("invert", ctypes.c_bool), ("min_area", ctypes.c_uint32),
                ("max_area", ctypes.c_uint32)]


class Labels(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_size_t)]


def time_in_c(library, mask, data, out, seconds, on_gpu):
    """The time of ccl_labeller_run() alone, in µs: label map and table."""
    height, width = mask.shape
    plan = Plan(width, height, 8, 65536, None, 1, 0)
    library.ccl_cuda_device_open.restype = ctypes.c_void_p
    if on_gpu:
        library.ccl_cuda_labeller_new.restype = ctypes.c_void_p
        device = library.ccl_cuda_device_open(0, None)
        labeller = library.ccl_cuda_labeller_new(ctypes.c_void_p(device), ctypes.byref(plan), None)
    else:
        library.ccl_cpu_labeller_new.restype = ctypes.c_void_p
        labeller = library.ccl_cpu_labeller_new(ctypes.byref(plan), None)
    handle, table = ctypes.c_void_p(labeller), (ctypes.c_uint64 * 4)()
    frame, options, labels = Frame(data, width, int(on_gpu)), Options(), Labels(out, 4 * width)
    arguments = (handle, ctypes.byref(frame), ctypes.byref(options), ctypes.byref(labels), table, None)
    run, nothing = library.ccl_labeller_run, library.ccl_tracker_free  # which ignores NULL
    if run(*arguments) != 0:
        sys.exit("ccl_labeller_run() failed")
    total = time_of(lambda: run(*arguments), seconds)
    call = time_of(lambda: nothing(None, None, None, None, None, None), seconds)
    library.ccl_labeller_free(ctypes.byref(handle))
    return total - call


def arrays_of(kind, mask):
    """The mask and a label map as arrays of a library, and their addresses."""
    if kind == "numpy":
        image, out = mask, np.empty(mask.shape, np.int32)
        return image, out, image.ctypes.data, out.ctypes.data
    if kind == "cupy":
        image, out = cupy.asarray(mask), cupy.empty(mask.shape, "int32")
        return image, out, image.data.ptr, out.data.ptr
    image = torch.from_numpy(mask).cuda()
    out = torch.empty(mask.shape, dtype=torch.int32, device=image.device)
    return image, out, image.data_ptr(), out.data_ptr()


def overhead(library, masks, seconds, kind):
    """For each mask, and for a frame of 8×8 pixels: rows of the table, and µs in C and in Python."""
    tiny = np.zeros((8, 8), np.uint8)
    tiny[2:4, 3:6] = 1
    on_gpu = kind != "numpy"
    for name, mask in {"8×8": tiny, **masks}.items():
        image, out, *addresses = arrays_of(kind, mask)
        labeller = cudaccl.Labeller(mask.shape, device=0 if on_gpu else "cpu", n_threads=1)
        rounds = [(time_in_c(library, mask, *addresses, seconds / 3, on_gpu),
                   time_of(lambda: labeller.label(image, out=out), seconds / 3)) for _ in range(3)]
        yield name, labeller.n_components, min(c for c, _ in rounds), min(p for _, p in rounds)


def geometric_mean(values):
    return statistics.geometric_mean(values)


def print_table(title, results):
    baseline = geometric_mean(results["cudaccl", "labels, table"].values())
    print(f"\n| {title} | delivers | µs | ÷ cudaccl's labels and table | least, for one input |\n| --- | --- | --- | --- | --- |")
    for (implementation, delivers), times in results.items():
        mean = geometric_mean(times.values())
        least = min(times[name] / results["cudaccl", "labels, table"][name] for name in times)
        print(f"| {implementation} | {delivers} | {mean:,.0f} | {mean / baseline:.2f} | {least:.2f} |")


def draw(path, groups):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(groups), figsize=(5 * len(groups), 4.2), layout="constrained", squeeze=False)
    for axis, (title, results) in zip(axes[0], groups.items()):
        baseline = geometric_mean(results["cudaccl", "labels, table"].values())
        names = [f"{implementation}: {delivers}" for implementation, delivers in results]
        ratios = [geometric_mean(times.values()) / baseline for times in results.values()]
        colours = ["#0067a5" if name.startswith("cudaccl") else "#c2b280" for name in names]
        bars = axis.barh(names[::-1], ratios[::-1], color=colours[::-1])
        axis.bar_label(bars, [f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}" for ratio in ratios[::-1]], padding=2)
        axis.set(xscale="log", title=textwrap.fill(title, 26), xlabel="time ÷ cudaccl's labels and table")
        axis.margins(x=0.2)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("masks", nargs="*")
    parser.add_argument("--volumes", nargs="*", default=[])
    parser.add_argument("--gpu-only", action="store_true", help="leave out the measurements on the CPU")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each measurement")
    parser.add_argument("--least", action="store_true", help="least times instead of medians, on a busy machine")
    parser.add_argument("--library", help="libcudaccl.so, to measure the same calls in C")
    parser.add_argument("--json", help="file for all times")
    parser.add_argument("--plot", help="SVG file for the ratios")
    arguments = parser.parse_args()
    if arguments.least:
        TYPICAL[0] = min
    if not io:
        sys.exit("python-peers.py: scikit-image reads the images and is not installed")

    files = arguments.masks or sorted(map(str, (ROOT / "tests/data/masks").glob("*.png")))
    masks = {pathlib.Path(name).stem: (io.imread(name) > 0).astype(np.uint8) for name in files}
    volumes = {pathlib.Path(name).name.split(".")[0]: read_volume(name) for name in arguments.volumes}
    versions = [f"{module.__name__} {module.__version__}" for module in (np, cv2, cupy, torch, optional("scipy"), optional("skimage"))
                if module]
    versions += [f"{name} {importlib.metadata.version(name)}" for name, module in
                 {"kornia-rs": kornia, "cucim-cu13": cucim, "bkeccl": bkeccl, "cvcuda-cu13": cvcuda}.items() if module]
    print(f"Python {platform.python_version()}, {', '.join(versions)}"
          + (f", cc3d {importlib.metadata.version('connected-components-3d')}" if cc3d else ""))
    print("; ".join(f"{name} {'×'.join(map(str, array.shape[::-1]))}" for name, array in {**masks, **volumes}.items()))

    groups = {}
    on_cpu = not arguments.gpu_only
    if on_cpu:
        images = groups["images, CPU, one thread"] = {}
    for name, mask in masks.items() if on_cpu else ():
        expected = ndimage.label(mask, np.ones((3, 3)))[0] if ndimage else None
        measure_all(image_rows(mask), expected, arguments.seconds, images, name)
    for connectivity in (6, 18, 26) if volumes else ():
        results = groups[f"volumes, {connectivity} neighbours, CPU, one thread"] = {}
        for name, volume in volumes.items():
            structure = ndimage.generate_binary_structure(3, {6: 1, 18: 2, 26: 3}[connectivity])
            measure_all(volume_rows(volume, connectivity), ndimage.label(volume, structure)[0], arguments.seconds, results,
                        name)
    on_gpu = cupy is not None and cupy.cuda.is_available()
    kinds = ["numpy"] * on_cpu + ["cupy"] * on_gpu + ["torch"] * (torch is not None and torch.cuda.is_available())
    if on_gpu:
        results = groups["images, GPU, until the call has returned"] = {}
        for name, mask in masks.items():
            measure_all(gpu_rows(mask), ndimage.label(mask, np.ones((3, 3)))[0], arguments.seconds, results, name)
        if cvcuda:
            results = groups["images, 4-connected, GPU, until the call has returned"] = {}
            for name, mask in masks.items():
                measure_all(gpu_rows_of_4(mask), ndimage.label(mask)[0], arguments.seconds, results, name)
    for title, results in groups.items():
        print_table(title, results)

    times_in_c = {}
    if arguments.library:
        library = ctypes.CDLL(arguments.library)
        for kind in kinds:
            print(f"\n| labels and table, arrays of {kind} | components | C, µs | Python, µs | difference |\n"
                  "| --- | --- | --- | --- | --- |")
            for name, n, c, python in overhead(library, masks, arguments.seconds, kind):
                times_in_c[f"{kind} {name}"] = n, c, python
                print(f"| {name} | {n} | {c:.1f} | {python:.1f} | {python - c:.1f} |")
    if arguments.json:
        record = {title: {" ".join(key): times for key, times in results.items()} for title, results in groups.items()}
        pathlib.Path(arguments.json).write_text(json.dumps({**record, "C and Python": times_in_c}, indent=1) + "\n")
    if arguments.plot:
        draw(arguments.plot, groups)


main()
