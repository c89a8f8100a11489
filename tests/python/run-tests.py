#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pytest on files of this folder and prints TAP.

usage: run-tests.py FILE…"""
import os
import sys

try:
    import pytest
except ImportError:
    print("1..0 # SKIP Python module not installed: pytest")
    sys.exit(0)

os.environ["CCL_TAP"] = "1"
sys.dont_write_bytecode = True
if __name__ == "__main__":  # not in processes that a test starts
    code = pytest.main(["-p", "no:terminal", "--capture=no", "-p", "no:cacheprovider", *sys.argv[1:]])
    sys.exit(0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code)
