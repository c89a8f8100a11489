# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the type stub of an extension module.

usage: make-stub.py MODULE.so OUT.pyi FOLDER

FOLDER is searched for nanobind first, then the interpreter's own path."""
import importlib
import os
import pathlib
import re
import sys

module, out, folder = sys.argv[1:]
sys.path[:0] = [folder, os.path.dirname(module)]
from nanobind.stubgen import ReplacePattern, StubGen  # noqa: E402

# Since Python 3.12, a class with the buffer protocol has a method without annotations.
BUFFER = ReplacePattern(
    re.compile(r".*\.__buffer__$"), ["def __buffer__(self, flags: int, /) -> memoryview: ..."], 0)

loaded = importlib.import_module(os.path.basename(module).split(".")[0])
stub = StubGen(loaded, include_private=True, patterns=[BUFFER])
stub.put(loaded)
pathlib.Path(out).write_text(stub.get())
