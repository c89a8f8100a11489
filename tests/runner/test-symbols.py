#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The libraries export the functions of their public headers and nothing else, and the plugin the
two functions that GStreamer calls. Prints TAP.

usage: test-symbols.py libcudaccl.so libgstccl-1.0.so libgstccl.so
"""
import re
import subprocess
import sys

import api
import tap

LIBRARY, METADATA, PLUGIN = sys.argv[1:]
# The linker defines these in every shared object that has no version script.
LINKER = {"__bss_start", "_edata", "_end", "_init", "_fini"}


def exported(path):
    """The symbols that `nm -D` lists as defined: names and versions ('' for none)."""
    lines = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1] for line in lines.splitlines() if line.split()[-2] != "A"]
    pairs = [(symbol.partition("@")[0], symbol.partition("@")[2].lstrip("@")) for symbol in symbols]
    return {(name, version) for name, version in pairs if name not in LINKER}


def equal(got, want, path):
    name = path.rsplit("/", 1)[-1]
    assert got == want, (f"{name} exports without a header: {sorted(got - want)}; "
                         f"headers without an export: {sorted(want - got)}")


def c_library():
    """libcudaccl exports the functions of its headers, all with the version CUDACCL_0"""
    equal(exported(LIBRARY), {(name, "CUDACCL_0") for name in api.library()}, LIBRARY)


def metadata_library():
    """libgstccl-1.0 exports the functions of its headers"""
    equal({name for name, _ in exported(METADATA)}, api.metadata(), METADATA)


def plugin():
    """the plugin exports its description and its registration"""
    equal({name for name, _ in exported(PLUGIN)}, {"gst_plugin_ccl_get_desc", "gst_plugin_ccl_register"}, PLUGIN)


def resolved():
    """every symbol that the three need is defined in a library they are linked with"""
    for path in (LIBRARY, METADATA, PLUGIN):
        result = subprocess.run(["ldd", "-r", path], check=True, capture_output=True, text=True)
        missing = re.findall(r"undefined symbol: (\S+)", result.stdout + result.stderr)
        tap.equal(missing, [], f"{path}:")


sys.exit(tap.run(c_library, metadata_library, plugin, resolved))
