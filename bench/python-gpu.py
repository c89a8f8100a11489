#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what the Python package does with arrays on a GPU besides labelling plain images: first calls, arrays of other
layouts, run-length encodings, objects, chunks of Dask. CuPy and cuCIM are measured beside it where they are installed.

usage: python-gpu.py [--seconds S]

Prints Markdown tables of the least and the median time, in ms, until the result is there. Every result is compared with that
of the same call on the CPU first. Needs an NVIDIA GPU and CuPy.
"""
import argparse
import importlib
import importlib.metadata
import pathlib
import statistics
import subprocess
import sys
import time

import cudaccl
import numpy as np

SHAPE = 1080, 1920
MASK = pathlib.Path(__file__).parents[1] / "tests" / "data" / "masks" / "vtest200_1080.png"

FIRST_CALLS = """
import sys, time
import cupy, cudaccl
import numpy as np
image = cupy.asarray(np.tile(np.eye(40, dtype=np.uint8), (27, 48)))
cupy.cuda.Stream.null.synchronize()
begin = time.perf_counter()
if sys.argv[1] != "no":
    cudaccl.warm_up(image.shape if sys.argv[1] == "same" else (64, 64))
times = [time.perf_counter() - begin]
for _ in range(6):
    begin = time.perf_counter()
    cudaccl.label(image)
    times.append(time.perf_counter() - begin)
print(*(f"{1000 * seconds:.3f}" for seconds in times))
"""


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


cupy = optional("cupy")
cucim = optional("cucim.skimage.measure") if cupy else None
cucim_segmentation = optional("cucim.skimage.segmentation") if cupy else None
coco = optional("pycocotools.mask")
pillow = optional("PIL.Image")


def discs(n, seed=1):
    """A mask of n discs, some of which overlap."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:SHAPE[0], :SHAPE[1]]
    mask = np.zeros(SHAPE, np.uint8)
    for _ in range(n):
        cy, cx, r = random.integers(0, SHAPE[0]), random.integers(0, SHAPE[1]), random.integers(4, 22)
        top, left = max(0, cy - r), max(0, cx - r)
        part = np.s_[top:cy + r + 1, left:cx + r + 1]
        mask[part] |= ((y[part] - cy) ** 2 + (x[part] - cx) ** 2 <= r * r).astype(np.uint8)
    return mask


def measured(function, seconds):
    """The least and the median time of a call in ms, as text."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        function()
        cupy.cuda.get_current_stream().synchronize()
        times.append(1000 * (time.perf_counter() - begin))
    return f"{min(times):.3f} ({statistics.median(times):.3f})"


def print_table(title, rows):
    print(f"\n| {title} | ms |\n| --- | --- |")
    for name, text in rows:
        print(f"| {name} | {text} |", flush=True)


def first_calls():
    print("\n| a new process, 1080×1920 | warm_up() | label(), six calls in ms |\n| --- | --- | --- |")
    for name in "no", "other", "same":
        process = subprocess.run([sys.executable, "-c", FIRST_CALLS, name], capture_output=True, text=True, check=False)
        warm, _, calls = process.stdout.strip().partition(" ")
        print(f"| warm_up: {name} shape | {warm} | {calls or process.stderr[-300:]} |", flush=True)


def layouts(seconds):
    mask = discs(400)
    expected, rows = cudaccl.label(mask)
    block = {"plain": cupy.asarray(mask),
             "every second column": cupy.asarray(np.repeat(mask, 2, 1))[:, ::2],
             "transposed": cupy.asarray(np.ascontiguousarray(mask.T)).T,
             "a channel of three": cupy.asarray(np.repeat(mask[..., np.newaxis], 3, 2))[..., 1],
             "reversed": cupy.asarray(mask[::-1, ::-1].copy())[::-1, ::-1]}
    table = []
    for name, array in block.items():
        labels, found = cudaccl.label(array)
        assert (labels.get() == expected).all() and (found == rows).all(), name
        table.append((f"label(), {name}", measured(lambda: cudaccl.label(array), seconds)))
        table.append((f"cupy.ascontiguousarray() and label(), {name}",
                      measured(lambda: cudaccl.label(cupy.ascontiguousarray(array)), seconds)))
        if cucim:
            table.append((f"cuCIM's label(), {name}", measured(lambda: cucim.label(array, connectivity=2), seconds)))
    print_table("400 discs, 1080×1920", table)


def encodings(seconds):
    table = []
    masks = [("400 discs", discs(400)), ("3000 discs", discs(3000)), ("one disc", discs(1)),
             ("noise, 40 % foreground", (np.random.default_rng(2).random(SHAPE) < 0.4).astype(np.uint8))]
    if pillow:
        masks.append(("foreground mask", np.asarray(pillow.open(MASK).convert("L"))))
    for name, mask in masks:
        array = cupy.asarray(mask.astype(bool))
        labels, rows = cudaccl.label(array)
        host = labels.get()
        assert cudaccl.rle(labels) == cudaccl.rle(array) == cudaccl.rle(host), name
        name = f"{name} ({len(rows)} components)"
        table.append((f"rle() of a label map, {name}", measured(lambda: cudaccl.rle(labels), seconds)))
        table.append((f"rle() of a mask, {name}", measured(lambda: cudaccl.rle(array), seconds)))
        table.append((f"copy to the host, rle() there, {name}", measured(lambda: cudaccl.rle(labels.get()), seconds)))
        if coco and len(rows) < 1000:
            table.append((f"pycocotools on the host, {name}", measured(
                lambda: [coco.encode(np.asfortranarray(host == k).view(np.uint8)) for k in range(1, len(rows) + 1)], 0)))
    print_table("encodings, 1080×1920", table)


def objects(seconds):
    mask = discs(400)
    labels, _ = cudaccl.label(cupy.asarray(mask))
    host = labels.get()
    calls = {"clear_border()": cudaccl.clear_border, "keep_largest()": cudaccl.keep_largest, "distance()": cudaccl.distance,
             "fill_label_holes()": cudaccl.fill_label_holes, "split_touching()": lambda map: cudaccl.split_touching(map, 7)[0],
             "label_periodic()": lambda map: cudaccl.label_periodic(map > 0, (0, 1))[0]}
    table = []
    for name, call in calls.items():
        assert (call(labels).get() == call(host)).all(), name
        table.append((name, measured(lambda: call(labels), seconds)))
    touching = cupy.asarray(np.arange(1, 3601, dtype=np.int32).reshape(45, 80).repeat(24, 0).repeat(24, 1))
    assert all((a == b).all() for a, b in zip(cudaccl.adjacency(touching, 8), cudaccl.adjacency(touching.get(), 8)))
    table.append(("adjacency() of 3,600 squares", measured(lambda: cudaccl.adjacency(touching, 8), seconds)))
    if cucim_segmentation:
        table.append(("cuCIM's clear_border()", measured(lambda: cucim_segmentation.clear_border(labels), seconds)))
    ndimage = optional("cupyx.scipy.ndimage")
    if ndimage:
        table.append(("CuPy's distance_transform_edt(), of a mask", measured(
            lambda: ndimage.distance_transform_edt(labels > 0), seconds)))
    print_table("objects, 400 discs, arrays on the GPU and back", table)


def chunks():
    """Chunks of CuPy stay on the GPU: label maps are arrays of CuPy, and memory is that of chunks."""
    dask_array = optional("dask.array")
    if not dask_array:
        print("\nchunks of CuPy: there is no Dask")
        return
    import cudaccl.dask

    mask = np.tile(discs(400), (4, 2))
    expected, rows = cudaccl.label(mask)
    picture = dask_array.from_array(cupy.asarray(mask), chunks=(1000, 1000), asarray=False)
    labels, n = cudaccl.dask.label(picture)
    found = labels.compute(scheduler="synchronous")
    assert int(n.compute(scheduler="synchronous")) == len(rows)
    assert isinstance(found, cupy.ndarray) and (found.get() == expected).all()
    begin = time.perf_counter()
    labels.compute(scheduler="synchronous")
    print(f"\nchunks of CuPy, {mask.shape[0]}×{mask.shape[1]} in 1000²: label maps are arrays of CuPy, the same labels; "
          f"{1000 * (time.perf_counter() - begin):.0f} ms")


def chunks_of_a_volume(side=1024, chunk=256):
    """Noise with 15 % foreground in the memory of the GPU, of each chunk the greatest label: what a cluster of GPUs would do
    follows from it (docs/distributed.md)."""
    dask_array = optional("dask.array")
    if not dask_array:
        return
    import cudaccl.dask
    import dask

    random = cupy.random.default_rng(1)
    volume = cupy.concatenate([random.random((chunk, side, side), dtype=cupy.float32) < 0.15 for _ in range(side // chunk)])
    picture = dask_array.from_array(volume, chunks=chunk, asarray=False)
    labels, n = cudaccl.dask.label(picture, 26)
    greatest = labels.map_blocks(lambda block: block.max(keepdims=True), chunks=(1, 1, 1), dtype=labels.dtype)
    one = cupy.ascontiguousarray(volume[:chunk, :chunk, :chunk])
    alone = measured(lambda: cudaccl.label(one, 26), 0.5)
    host = cupy.asnumpy(one)
    upload = measured(lambda: (cupy.asarray(host), cupy.cuda.Device().synchronize()), 0.5)
    print(f"\nchunks of CuPy, noise of {side}³ in {chunk}³, 26 neighbours; a chunk alone: labels {alone}, upload {upload}")
    for workers in (1, 2, 4):
        begin = time.perf_counter()
        found = dask.compute(n, greatest, scheduler="threads", num_workers=workers)
        print(f"{workers} threads: {time.perf_counter() - begin:.2f} s, {int(found[0])} components")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.3, help="for each row (0.3)")
    seconds = parser.parse_args().seconds
    if not cupy:
        sys.exit("python-gpu.py: there is no CuPy")
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    versions = [f"{module} {importlib.metadata.version(package)}" for module, package in (("CuPy", "cupy-cuda12x"),)
                if any(found.metadata["Name"] == package for found in importlib.metadata.distributions())]
    print(f"cudaccl {cudaccl.__version__} on an {name}; " + ", ".join([f"CuPy {cupy.__version__}", *versions][:1]))
    for part in first_calls, lambda: layouts(seconds), lambda: encodings(seconds), lambda: objects(seconds), chunks, chunks_of_a_volume:
        try:
            part()
        except Exception as error:  # the other parts are measured all the same
            print(f"\nfailed: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
