#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Labelling arrays of Dask: cudaccl.dask beside dask-image, and beside label_file() of the same file.

usage: bench/python-dask.py [--frame SIDE] [--volume SIDE] [--workers N…] [--runs N] [--limit SECONDS] [--folder FOLDER]

Needs cudaccl, dask and numpy; dask-image and scipy for the comparison. Workers are threads of one process. The runs of
dask-image take place at the same time as each other and as all else, each once and in a process of its own, so the machine
needs some 18 processors for three numbers of workers. They are ended after the limit: their times are then said to be
greater than that. Of all else the least time of the runs is printed.
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


class Picture:
    def __init__(self, name, path, chunk, connectivity=0):
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


def least(function, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


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
    array = Picture("", path, chunk).array()
    out = np.empty(array.shape, np.int32)
    dask.compute(*label_with_dask_image(da.ones((9,) * array.ndim, dtype=np.uint8, chunks=5)))  # imports what it needs
    begin = time.perf_counter()
    labels, n = label_with_dask_image(array)
    with dask.config.set(scheduler="threads", num_workers=workers):
        _, n = dask.compute(da.store(labels, out, lock=False, compute=False), n)
    print(time.perf_counter() - begin, int(n), flush=True)


def start_peers(pictures, workers):
    if importlib.util.find_spec("dask_image") is None:
        return {}
    return {(picture.name, n): subprocess.Popen([sys.executable, __file__, "--peer", picture.path, str(picture.chunk), str(n)],
                                                stdout=subprocess.PIPE, text=True)
            for picture in pictures for n in workers}


def peer_time(peer, end, n_components):
    """The seconds of a peer; None if it is not ready in time."""
    try:
        out = peer.communicate(timeout=max(0.1, end - time.monotonic()))[0].split()
    except subprocess.TimeoutExpired:
        peer.kill()
        peer.communicate()
        return None
    if peer.returncode != 0 or int(out[1]) != n_components:
        sys.exit(f"dask-image failed, or found other components than {n_components}: {out}")
    return float(out[0])


class Times:
    """What was measured of a picture, in seconds: labels and their number to an array in memory, to a file, as a new array,
    and label_file() from file to file."""

    def __init__(self, picture, workers, runs, folder, with_files):
        import cudaccl
        import cudaccl.dask

        self.picture, self.workers = picture, workers
        array = picture.array()
        out = np.empty(array.shape, np.int32)
        labels, n = cudaccl.dask.label(array, picture.connectivity)
        self.file = self.new = self.whole = None
        with dask.config.set(scheduler="threads", num_workers=workers):
            found = []
            self.memory = least(lambda: found.append(dask.compute(da.store(labels, out, lock=False, compute=False), n)[1]), runs)
            self.n = int(found[0])
            if not with_files:
                return
            self.new = least(lambda: dask.compute(labels, n), runs)
            names = [os.path.join(folder, name) for name in ("labels.npy", "whole.npy")]
            file = np.lib.format.open_memmap(names[0], "w+", np.int32, array.shape)
            self.file = least(lambda: dask.compute(da.store(labels, file, lock=False, compute=False), n), runs)
        self.whole = least(lambda: cudaccl.label_file(picture.path, names[1], connectivity=picture.connectivity, n_threads=workers), runs)
        whole = np.load(names[1], mmap_mode="r")
        assert (whole[::97] == out[::97]).all() and (file[::97] == out[::97]).all()
        for name in names:
            os.remove(name)

    def line(self, theirs, limit):
        """theirs: the seconds of dask-image; None: longer than the limit, which is None if it was not measured."""
        def share(time):
            return f"{time:.2f} ({time / self.whole:.2f})" if time else "-"

        peer = f"{theirs:.1f} | {theirs / self.memory:.0f}" if theirs else f"> {limit:.0f} | > {limit / self.memory:.0f}" if limit else "- | -"
        whole = f"{self.whole:.2f}" if self.whole else "-"
        return f"| {self.picture.name} | {self.n} | {self.workers} | {self.memory:.2f} | {peer} | {whole} | {share(self.file)} | {share(self.new)} |"


def main():
    parser = argparse.ArgumentParser(description="cudaccl.dask beside dask-image and label_file()")
    parser.add_argument("--frame", type=int, default=20000, help="side of the frame (20000)")
    parser.add_argument("--volume", type=int, default=1024, help="side of the volume (1024)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="beside label_file() with 2 of them (1 2 4)")
    parser.add_argument("--runs", type=int, default=3, help="of all but dask-image (3)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for dask-image (600)")
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
        end = time.monotonic() + options.limit
        peers = start_peers(pictures, options.workers)
        found = []
        for picture in pictures:
            for workers in options.workers:
                found.append(Times(picture, workers, options.runs, folder, workers == 2))
                print(found[-1].line(None, None), file=sys.stderr, flush=True)
        print("| noise | components | workers | cudaccl.dask, s | dask-image, s | times as fast | label_file(), s | stored in a file (as a share) "
              "| a new array (share) |")
        print("| --- " * 9 + "|")
        for times in found:
            peer = peers.get((times.picture.name, times.workers))
            theirs = peer_time(peer, end, times.n) if peer else None
            print(times.line(theirs, options.limit if peer else None), flush=True)


if __name__ == "__main__":
    main()
