# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the folder of the Python package nanobind.

usage: find-nanobind.py FOLDER

FOLDER is searched, too, after the interpreter's own path."""
import os
import sys

sys.path.append(sys.argv[1])
try:
    import nanobind
except ImportError as missing:
    sys.exit(str(missing))
print(os.path.dirname(nanobind.__file__))
