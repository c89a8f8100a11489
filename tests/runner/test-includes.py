#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folders of gst/ and their files include each other in one direction only. Prints TAP."""
import pathlib
import re
import sys

import tap

GST = pathlib.Path(__file__).resolve().parents[2] / "gst"
SHARED = "shared"


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


if __name__ == "__main__":
    sys.exit(tap.run(circles, folders))
