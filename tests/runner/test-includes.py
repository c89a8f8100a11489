#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rooms, the folders in them and their files include each other in one direction only, and stay small. Prints TAP."""
import ast
import collections
import pathlib
import re
import sys

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = "shared"
SIMULATED = "launch-child.h"  # of tests/simcuda, for kernels that are compiled for the simulated driver
LEAVES = {"core/base/divide-up.h", "core/base/unnamed-file.h"}  # which need no other file; any room may include them
# Beside itself and the installed headers, which folders a folder includes; docs/architecture.md explains it.
ROOMS = {"core": (), "cpu": ("core",), "cuda": ("core",), "research": ("core", "cpu", "cuda"), "tracking": ("core",), "tiled": ("core",),
         "pictures": (), "programs": (), "recording": (), "gst": ("pictures", "recording"), "label": ("pictures", "programs"),
         "watch": ("programs", "recording"), "python": ("label", "pictures"), "examples": ()}
FOLDERS = (*ROOMS, "bench", "tests")  # the last two may include any room


def sources():
    """All sources, by their paths from the top."""
    return {str(path.relative_to(ROOT)): path for room in FOLDERS for path in sorted(ROOT.glob(f"{room}/**/*"))
            if path.suffix in (".c", ".h", ".cpp", ".cu", ".cuh", ".inc")}


def module_of(name):
    """A module is a .c, its .h and its -private.h. Kernels are modules of their own: the host's code beside them may have
    the same name."""
    path = pathlib.PurePath(name)
    return f"{path.parent}/{path.stem.removesuffix('-private')}{'.cu' if path.suffix in ('.cu', '.cuh') else ''}"


def includes():
    """Of each module the modules that it includes."""
    files, modules = sources(), {}
    for name, path in files.items():
        found = modules.setdefault(module_of(name), set())
        for other in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            beside = str((path.parent / other).resolve().relative_to(ROOT)) if (path.parent / other).exists() else ""
            found |= {module_of(way) for way in (beside, other, f"gst/{other}") if way in files}
    return {name: others - {name} for name, others in modules.items()}


def find_circle(graph):
    """A circle of names, as text; None if there is none."""
    done = set()

    def visit(name, way):
        if name in way:
            return " -> ".join((*way[way.index(name):], name))
        if name in done:
            return None
        circle = next(filter(None, (visit(other, (*way, name)) for other in sorted(graph.get(name, ())))), None)
        done.add(name)
        return circle

    return next(filter(None, map(visit, graph, ((),) * len(graph))), None)


def circles():
    """no modules include each other in a circle"""
    modules = includes()
    assert len(modules) > 300, len(modules)
    assert not (circle := find_circle(modules)), circle


def python_imports():
    """Of each module of the package, by its path, the modules that it imports anywhere."""
    top, modules = ROOT / "python" / "cudaccl", {}
    for path in sorted(top.glob("**/*.py")):
        found = modules.setdefault(path.relative_to(top).with_suffix(""), set())
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = path.parents[node.level - 1].relative_to(top)
                found |= {folder / name.replace(".", "/")
                          for name in ([node.module] if node.module else [alias.name for alias in node.names])}
    return {str(name): {str(other) for other in others & set(modules)} for name, others in modules.items()}


def python_circles():
    """no modules of the Python package import each other in a circle, inside functions either"""
    modules = python_imports()
    assert len(modules) > 25, len(modules)
    assert not (circle := find_circle(modules)), circle


def subjects():
    """no folders inside a room include each other in a circle"""
    folders = {}
    for name, others in includes().items():
        folder = str(pathlib.PurePath(name).parent)
        below = {str(pathlib.PurePath(other).parent) for other in others}
        folders.setdefault(folder, set()).update(
            other for other in below if other != folder and not other.startswith(f"{folder}/"))
    assert len(folders) > 40, folders
    assert not (circle := find_circle(folders)), circle


def elements():
    """a folder of gst/ includes itself and shared/, which includes no other folder"""
    reached = {f"{name} includes {other}" for name, others in includes().items() for other in others
               if re.match("gst/.*/", name) and other.startswith("gst/")
               and other.split("/")[1] not in (name.split("/")[1], SHARED, "ccl")}
    tap.equal(reached, set(), "across folders:")


def rooms():
    """the folders of the project include each other as docs/architecture.md says"""
    headers = {}
    for room in FOLDERS:
        for path in ROOT.glob(f"{room}/**/*"):
            if path.suffix in (".h", ".cuh", ".inc"):
                headers.setdefault(path.name, []).append(path.relative_to(ROOT))
    reached, n_files = set(), 0
    for room, allowed in ROOMS.items():
        for path in ROOT.glob(f"{room}/**/*"):
            if path.suffix not in (".c", ".h", ".cpp", ".cu", ".cuh"):
                continue
            n_files += 1
            for name in set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)) - {SIMULATED} - LEAVES:
                found = {header.parts[0] for header in headers.get(name.rpartition("/")[2], ())
                         if f"/{header}".endswith(f"/{name.lstrip('./')}")}
                if found and not found & {room, *allowed}:
                    reached.add(f"{path.relative_to(ROOT)} includes {name} of {' or '.join(sorted(found))}")
    assert n_files > 300, n_files
    tap.equal(reached, set(), "across rooms:")


def sizes():
    """no folder of the product has more than 25 source files, none of the tests more than thirty"""
    files = collections.Counter(str(path.parent.relative_to(ROOT)) for room in FOLDERS for path in ROOT.glob(f"{room}/**/*")
                                if path.suffix in (".c", ".h", ".cpp", ".cu", ".cuh", ".py", ".js"))
    assert len(files) > 100, files
    tap.equal({folder: n for folder, n in files.items() if n > (30 if folder.startswith("tests") else 25)}, {}, "full folders:")


if __name__ == "__main__":
    sys.exit(tap.run(circles, python_circles, subjects, elements, rooms, sizes))
