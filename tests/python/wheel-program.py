# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an installed wheel must do, with NumPy alone: label arrays, and files of each format.

usage: wheel-program.py PROJECT
"""
import importlib.metadata
import os
import pathlib
import struct
import sys
import tempfile
import zlib

import cudaccl
import numpy as np

project = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.append(str(project / "tests/label"))
from formats import write_tiff  # noqa: E402


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(image):
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


assert pathlib.Path(cudaccl.__file__).is_relative_to(sys.prefix), cudaccl.__file__  # of the virtual environment
metadata = importlib.metadata.metadata("cudaccl")
assert metadata["Version"] == cudaccl.__version__
assert metadata["Author"] == "The cudaccl project", metadata.items()
assert "LGPL-2.1-or-later" in (metadata["License-Expression"] or metadata["License"])
names = {str(file) for file in importlib.metadata.files("cudaccl")}
for name in names:
    if ".libs/" in name and "libjbig" not in name:
        stem = name.rpartition("/")[2].partition("-")[0]
        assert any(name.endswith(f"licenses/{stem}.txt") for name in names), f"no licence of {stem}"

image = np.kron(np.eye(5, dtype=np.uint8), np.full((3, 3), 255, np.uint8))
labels, table = cudaccl.label(image, connectivity=4)
assert (labels == np.kron(np.diag(np.arange(1, 6)), np.ones((3, 3)))).all() and table["area"].tolist() == [9] * 5
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    np.save("a.npy", image)
    pathlib.Path("a.png").write_bytes(png(image))
    write_tiff("a.tif", [image], deflate=True, tile=16)
    for name in "a.npy", "a.png", "a.tif":
        assert cudaccl.label_file(name, "l.npy", connectivity=4) == 5, name
        assert (np.load("l.npy") == labels).all(), name
    pathlib.Path("a.jpg").write_bytes((project / "tests/fuzz/corpus-pictures/jpeg-grey").read_bytes()[1:])
    assert cudaccl.label_file("a.jpg") > 0
    os.chdir("/")
try:
    cudaccl.Labeller((3, 3), device="cuda")
except RuntimeError as error:
    assert str(error)  # no GPU, or a wheel without its kernels
