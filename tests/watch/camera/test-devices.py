#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras of ccl-watch on two GPUs, which the simulated driver has. Prints TAP.

usage: test-devices.py SIMCUDA, the folder of the simulated driver
"""
import collections
import os
import pathlib
import sys

os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [sys.argv.pop(), os.environ.get("LD_LIBRARY_PATH")]))
os.environ["SIMCUDA_DEVICES"] = "2"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
import watching  # noqa: E402
from watching import tap, wait_for  # noqa: E402

CAMERAS = [f"camera{i}=file://{watching.ball(200, 20)}" for i in range(4)]
SLOW = ["-s", "pace=true", "-s", "loop=true", "-s", "ccl.foreground=threshold", "-s", "ccl.threshold=128",
        "--results=components", "-o", "-"]


def gpus(*words):
    """How many cameras each GPU has."""
    with served.Served(*words, *SLOW, *CAMERAS) as program:
        def playing():
            cameras = program.get("/api/cameras")["cameras"]
            return all(camera["frames"] > 3 for camera in cameras) and cameras
        cameras = wait_for(playing, "not all cameras play", 60)
        components = {line["count"] for line in program.lines if "frame" in line}
        tap.equal(components, {1}, "components of frames:")
        tap.equal(program.stop(), 0, "exit status")
        return collections.Counter(camera.get("gpu") for camera in cameras)


def spread():
    """--device gpu: two cameras on each GPU"""
    tap.equal(gpus("--device", "gpu"), {0: 2, 1: 2}, "cameras per GPU:")


def automatic():
    """--device auto is gpu, where there is one"""
    tap.equal(gpus(), {0: 2, 1: 2}, "cameras per GPU:")


def named():
    """--device 1: all cameras on that GPU"""
    tap.equal(gpus("--device", "1"), {1: 4}, "cameras per GPU:")


def on_the_cpu():
    """--device cpu: none on a GPU"""
    tap.equal(gpus("--device", "cpu"), {None: 4}, "cameras per GPU:")


sys.exit(tap.run(spread, automatic, named, on_the_cpu))
