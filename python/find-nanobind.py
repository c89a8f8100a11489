# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the folder with the headers and sources of nanobind.

usage: find-nanobind.py FOLDER

FOLDER is searched first, then the interpreter's own path."""
import os
import sys

sys.path.insert(0, sys.argv[1])
try:
    import nanobind
except ImportError as missing:
    sys.exit(str(missing))
if tuple(map(int, nanobind.__version__.split(".")[:2])) < (2, 10):
    sys.exit(f"nanobind {nanobind.__version__} is older than 2.10")
# Debian keeps the sources elsewhere than the module.
print(os.path.dirname(nanobind.include_dir()))
