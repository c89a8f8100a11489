#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Folders include each other in one direction only, and so do the folders of gst/ and their files. Prints TAP."""
import pathlib
import re
import sys

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
GST = ROOT / "gst"
SHARED = "shared"
SIMULATED = "launch-child.h"  # of tests/simcuda, for kernels that are compiled for the simulated driver
# Beside itself and the installed headers, which folders a folder includes; docs/architecture.md explains it.
ROOMS = {"core": (), "cpu": ("core",), "cuda": ("core",), "research": ("core", "cpu", "cuda"), "tracking": ("core",), "tiled": ("core",),
         "pictures": (), "programs": (), "gst": ("pictures",), "label": ("pictures", "programs"),
         "watch": ("programs",), "python": ("pictures",), "examples": ()}


def includes():
    """Of each module the modules that it includes. A module is a folder and the name of a .c, its .h and its
    -private.h."""
    modules = {}
    for path in sorted(GST.glob("*/*.[ch]")):
        folder, name = path.parent.name, path.stem.removesuffix("-private")
        found = modules.setdefault(f"{folder}/{name}", set())
        for other in re.findall(r'^#include "([\w/-]+)\.h"', path.read_text(), re.M):
            other = other.removesuffix("-private")
            found.add(other if "/" in other else f"{folder}/{other}")
    return {name: {other for other in others if other in modules and other != name}
            for name, others in modules.items()}


def circles():
    """no modules include each other in a circle"""
    modules, done = includes(), set()
    assert len(modules) > 20, modules

    def visit(name, way):
        assert name not in way, " -> ".join((*way[way.index(name):], name))
        if name not in done:
            for other in sorted(modules[name]):
                visit(other, (*way, name))
            done.add(name)

    for name in modules:
        visit(name, ())


def folders():
    """a folder includes itself and shared/, which includes no other folder"""
    reached = {f"{name} includes {other}" for name, others in includes().items() for other in others
               if other.split("/")[0] not in (name.split("/")[0], SHARED)}
    tap.equal(reached, set(), "across folders:")


def rooms():
    """the folders of the project include each other as docs/architecture.md says"""
    headers = {}
    for room in (*ROOMS, "bench", "tests"):
        for path in ROOT.glob(f"{room}/**/*"):
            if path.suffix in (".h", ".cuh", ".inc"):
                headers.setdefault(path.name, []).append(path.relative_to(ROOT))
    reached, n_files = set(), 0
    for room, allowed in ROOMS.items():
        for path in ROOT.glob(f"{room}/**/*"):
            if path.suffix not in (".c", ".h", ".cpp", ".cu", ".cuh"):
                continue
            n_files += 1
            for name in set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)) - {SIMULATED}:
                found = {header.parts[0] for header in headers.get(name.rpartition("/")[2], ())
                         if f"/{header}".endswith(f"/{name.lstrip('./')}")}
                if found and not found & {room, *allowed}:
                    reached.add(f"{path.relative_to(ROOT)} includes {name} of {' or '.join(sorted(found))}")
    assert n_files > 300, n_files
    tap.equal(reached, set(), "across rooms:")


if __name__ == "__main__":
    sys.exit(tap.run(circles, folders, rooms))
