# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the type stub of an extension module.

usage: make-stub.py MODULE.so OUT.pyi FOLDER

FOLDER is searched for nanobind first, then the interpreter's own path."""
import importlib
import os
import pathlib
import sys

module, out, folder = sys.argv[1:]
sys.path[:0] = [folder, os.path.dirname(module)]
from nanobind.stubgen import StubGen  # noqa: E402

loaded = importlib.import_module(os.path.basename(module).split(".")[0])
stub = StubGen(loaded, include_private=True)
stub.put(loaded)
pathlib.Path(out).write_text(stub.get())
