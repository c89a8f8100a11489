#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The libraries export the functions of their public headers and nothing else, and the plugin the
two functions that GStreamer calls; structs have the sizes that programs were compiled with. Prints TAP.

usage: test-symbols.py libcudaccl.so libgstccl-1.0.so libgstccl.so
"""
import os
import re
import subprocess
import sys
import tempfile

import api
import tap

LIBRARY, METADATA, PLUGIN = sys.argv[1:]
SONAME = "libcudaccl.so.1"
# Bytes of the structs of this soname that do not tell their size. A program that was compiled with others reads wrong
# numbers or writes past the end of its memory: a change of one needs the next soname.
SIZES = {
    "CclBatchTable": 24, "CclChroma": 48, "CclComponent": 40, "CclContact": 24, "CclContour": 20, "CclContourPoint": 8, "CclContourTable":
    32, "CclCudaArrayCopy": 120, "CclCudaDistances": 72, "CclCudaFlood": 88, "CclCudaRanks": 104, "CclCudaTable": 32, "CclError": 260, "CclFeatures": 120, "CclFrame": 96,
    "CclGroundMotion": 104, "CclGroundPoint": 32, "CclHull": 32, "CclIntensity": 24, "CclLabelPair": 16, "CclLabelRun": 8, "CclLabels": 16,
    "CclMapTable": 24, "CclMask": 16, "CclMasks": 32, "CclPatch": 72, "CclPatchPair": 16, "CclPoint": 16, "CclRegion": 56, "CclRegionCounts": 64,
    "CclRegionEvent": 32, "CclRegionsResult": 24, "CclRleMasks": 32, "CclSeam": 64, "CclShape": 168, "CclTable": 24,
    "CclTiledComponent": 88, "CclTiledIo": 64, "CclTiledPeers": 40, "CclTiledResult": 40, "CclTrack": 88,
    "CclTrackEvent": 24, "CclTrackFoot": 96, "CclTrackMember": 8, "CclTrackerPicture": 80, "CclTrackerPlane": 24,
    "CclTracks": 48, "CclValues": 32, "CclVolume": 32, "CclVolumeComponent": 56, "CclVolumeIntensity": 32, "CclVolumeLabels": 24, "CclVolumeShape": 240, "CclVolumeTable":
    16
}
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
    """libcudaccl exports the functions of its headers, all with the version CUDACCL_1"""
    equal(exported(LIBRARY), {(name, "CUDACCL_1") for name in api.library()}, LIBRARY)


def struct_sizes():
    """structs of libcudaccl that do not tell their size have that of the soname"""
    dynamic = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
    tap.equal(re.search(r"SONAME.*\[(.*)\]", dynamic)[1], SONAME)
    texts = [path.read_text() for path in (api.ROOT / "include/cudaccl").glob("*.h")]
    structs = [match.groups() for text in texts
               for match in re.finditer(r"^typedef struct (\w+) \{(.*?)^\} \1;", text, re.M | re.S)]
    names = [name for name, body in structs if not re.search(r"\bsize_t size;", body)]
    includes = "".join(f"#include <cudaccl/{path.name}>\n" for path in (api.ROOT / "include/cudaccl").glob("*.h"))
    prints = "".join(f'printf ("{name} %zu\\n", sizeof ({name}));\n' for name in names)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-I", api.ROOT / "include", "-o", f"{folder}/sizes", "-"], check=True,
                       text=True, input=f"#include <stdio.h>\n{includes}int main (void) {{\n{prints}}}")
        printed = subprocess.run([f"{folder}/sizes"], check=True, capture_output=True, text=True).stdout
    tap.equal({name: int(size) for name, size in map(str.split, printed.splitlines())}, SIZES)


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


sys.exit(tap.run(c_library, struct_sizes, metadata_library, plugin, resolved))
