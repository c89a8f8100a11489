#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling arrays of Dask: cudaccl.dask beside dask-image, and beside label_file() of the same file.

usage: bench/python-dask.py [--frame SIDE] [--volume SIDE] [--workers N…] [--limit SECONDS] [--folder FOLDER]

Needs cudaccl, dask and numpy; dask-image and scipy for the comparison. Workers are threads of one process. The runs of
dask-image take place side by side, each in a process of its own, before all others, and are ended after the limit: their
times are then said to be greater than that. Everything else runs alone, and the least of three times is printed.
"""
import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import types

import dask
import dask.array as da
import numpy as np

RUNS = 3


class Picture:
    def __init__(self, name, path, chunk, connectivity):
        self.name, self.path, self.chunk, self.connectivity = name, path, chunk, connectivity

    def array(self):
        pixels = np.load(self.path, mmap_mode="r")
        return da.from_array(pixels, chunks=(self.chunk,) * pixels.ndim)


def draw(path, shape, density):
    """Noise, layer by layer."""
    random = np.random.default_rng(39)
    pixels = np.lib.format.open_memmap(path, "w+", np.uint8, shape)
    for i in range(shape[0]):
        pixels[i] = random.random(shape[1:], np.float32) < density


def seconds(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def least(function):
    return min(seconds(function) for _ in range(RUNS))


def label_with_dask_image(array):
    for name in "dask.dataframe", "pandas":  # not needed for labels
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
            if name == "dask.dataframe":
                dask.dataframe = sys.modules[name]
    from dask_image import ndmeasure

    return ndmeasure.label(array, np.ones((3,) * array.ndim))


def run_peer(path, chunk, workers):
    """Prints the seconds of dask-image for labels and their number, and the number."""
    array = Picture("", path, chunk, 0).array()
    out = np.empty(array.shape, np.int32)
    dask.compute(*label_with_dask_image(da.ones((9,) * array.ndim, dtype=np.uint8, chunks=5)))  # imports what it needs
    begin = time.perf_counter()
    labels, n = label_with_dask_image(array)
    with dask.config.set(scheduler="threads", num_workers=workers):
        _, n = dask.compute(da.store(labels, out, lock=False, compute=False), n)
    print(time.perf_counter() - begin, int(n), flush=True)


def peer_times(pictures, workers, limit):
    """By picture and workers the seconds and the number of labels, or None; all side by side."""
    if importlib.util.find_spec("dask_image") is None:
        return {}
    begin = time.monotonic()
    runs = {(picture.name, n): subprocess.Popen([sys.executable, __file__, "--peer", picture.path, str(picture.chunk), str(n)],
                                                stdout=subprocess.PIPE, text=True)
            for picture in pictures for n in workers}
    found = {}
    for key, run in runs.items():
        try:
            out = run.communicate(timeout=max(0.1, limit - (time.monotonic() - begin)))[0].split()
            if run.returncode != 0:
                sys.exit(f"dask-image failed with {key}")
            found[key] = float(out[0]), int(out[1])
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            found[key] = None
    return found


def compare(picture, workers, peers, limit, folder):
    import cudaccl
    import cudaccl.dask

    array = picture.array()
    out = np.lib.format.open_memmap(os.path.join(folder, "labels.npy"), "w+", np.int32, array.shape)
    memory = np.empty(array.shape, np.int32)
    for n_workers in workers:
        labels, n = cudaccl.dask.label(array, picture.connectivity)
        with dask.config.set(scheduler="threads", num_workers=n_workers):
            found = []
            stored = least(lambda: found.append(dask.compute(da.store(labels, memory, lock=False, compute=False), n)[1]))
            to_file = least(lambda: dask.compute(da.store(labels, out, lock=False, compute=False), n))
            computed = least(lambda: dask.compute(labels, n))
        name = os.path.join(folder, "whole.npy")
        whole = least(lambda: cudaccl.label_file(picture.path, name, connectivity=picture.connectivity, n_threads=n_workers))
        assert (np.load(name, mmap_mode="r")[::97] == memory[::97]).all() and (out[::97] == memory[::97]).all()
        peer = peers.get((picture.name, n_workers))
        theirs = f"{peer[0]:.2f}" if peer else f"> {limit:.0f}" if peers else "-"
        ratio = f"{peer[0] / stored:.0f}" if peer else f"> {limit / stored:.0f}" if peers else "-"
        assert not peer or peer[1] == found[0], (peer, found)
        print(f"| {picture.name} | {n_workers} | {stored:.2f} | {theirs} | {ratio} | {to_file:.2f} | {computed:.2f} | {whole:.2f} | "
              f"{to_file / whole:.2f} | {computed / whole:.2f} | {int(found[0])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="cudaccl.dask beside dask-image and label_file()")
    parser.add_argument("--frame", type=int, default=20000, help="side of the frame (20000)")
    parser.add_argument("--volume", type=int, default=1024, help="side of the volume (1024)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--limit", type=float, default=600, help="seconds of dask-image")
    parser.add_argument("--folder", help="for pictures and label maps: one in memory, such as /dev/shm")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        path, chunk, workers = options.peer
        return run_peer(path, int(chunk), int(workers))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        pictures = []
        for side, ndim, density, chunk, connectivity in ((options.frame, 2, 0.4, 2500, 8), (options.volume, 3, 0.15, 256, 26)):
            path = os.path.join(folder, f"{ndim}.npy")
            draw(path, (side,) * ndim, density)
            pictures.append(Picture(f"{side}{'²³'[ndim - 2]}", path, min(chunk, side // 2), connectivity))
        peers = peer_times(pictures, options.workers, options.limit)
        print("| noise | workers | cudaccl.dask, s | dask-image, s | times as fast | stored in a file | computed | label_file() | stored / "
              "label_file() | computed / label_file() | components |")
        print("| --- " * 11 + "|")
        for picture in pictures:
            compare(picture, options.workers, peers, options.limit, folder)


if __name__ == "__main__":
    main()
