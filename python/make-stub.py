# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the type stub of the extension module.

usage: make-stub.py MODULE.so OUT.pyi FOLDER

FOLDER is searched for nanobind, after the interpreter's own path."""
import os
import pathlib
import sys

module, out, folder = sys.argv[1:]
sys.path.append(folder)
sys.path.insert(0, os.path.dirname(module))
from nanobind.stubgen import StubGen  # noqa: E402

import _cudaccl  # noqa: E402

stub = StubGen(_cudaccl)
stub.put(_cudaccl)
pathlib.Path(out).write_text(stub.get())
