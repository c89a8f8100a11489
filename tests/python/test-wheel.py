#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the wheel that pip builds, in a new virtual environment. Prints TAP.

usage: test-wheel.py RUNNER_FOLDER PROJECT

The CPU part alone: the kernels would take minutes, and a machine without nvcc gets the same wheel."""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import tap  # noqa: E402

PROJECT = pathlib.Path(sys.argv[2])
environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
environment |= {"CFLAGS": "-O0", "CXXFLAGS": "-O0"}  # which compiles in half of the time

EXAMPLE = """
import cudaccl, numpy
labels, table = cudaccl.label(numpy.eye(3, dtype=bool), connectivity=4)
assert labels.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]] and table["x"].tolist() == [0, 1, 2]
numpy.save("image.npy", numpy.eye(3, dtype=bool))
assert cudaccl.label_file("image.npy", connectivity=4) == 3
try:
    cudaccl.Labeller((3, 3), device="cuda")
except RuntimeError as error:
    assert str(error), "no message"
else:
    raise SystemExit("a build without GPU support has made a labeller for a GPU")
"""


def command(*words):
    done = subprocess.run(list(map(str, words)), env=environment, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def build():
    """pip builds a wheel"""
    try:
        command(sys.executable, "-m", "venv", folder / "env")
        command(folder / "env/bin/pip", "download", "-q", "--no-deps", "-d", folder / "probe", "nanobind")
    except AssertionError as error:
        raise tap.Skip("no virtual environment, or pip finds no packages (network?)") from error
    command(folder / "env/bin/pip", "wheel", "-q", "--no-deps", "-w", folder / "wheels", PROJECT,
            f"--config-settings=build-dir={folder / 'build'}", "--config-settings=setup-args=-Dcuda=disabled")


def wheel():
    wheels = list((folder / "wheels").glob("cudaccl-*.whl"))
    if len(wheels) != 1:
        raise tap.Skip("no wheel was built")
    return wheels[0]


def content():
    """the wheel holds the package, its types and its licence, and nothing else"""
    with zipfile.ZipFile(wheel()) as archive:
        names = archive.namelist()
        archive.extractall(folder / "content")
    sources = {str(path.relative_to(PROJECT / "python/cudaccl")) for path in (PROJECT / "python/cudaccl").rglob("*.py")}
    package = {name.removeprefix("cudaccl/") for name in names if name.startswith("cudaccl/")}
    modules = {name for name in package if name.endswith(".so")}
    tap.equal({name.split(".")[0] for name in modules}, {"_cudaccl", "_pictures"}, "extension modules")
    tap.equal(package - modules, sources | {"py.typed", "_cudaccl.pyi", "_pictures.pyi"}, "files")
    assert all(name.startswith(("cudaccl/", "cudaccl-")) for name in names), names
    assert any(name.endswith("LICENSE") for name in names), names
    metadata = next((folder / "content").glob("*.dist-info/METADATA")).read_text()
    for line in ("Author: The cudaccl project", "Author-Email: cudaccl maintainers <", "Project-URL: Homepage, ",
                 "License-Expression: LGPL-2.1-or-later", "Keywords: ", "Classifier: Typing :: Typed"):
        assert f"\n{line}".lower() in metadata.lower(), line
    stable = sys.version_info >= (3, 12)
    tap.equal("abi3" in wheel().name and all("abi3" in name for name in modules), stable, "stable ABI")


def libraries():
    """the module that labels needs neither GStreamer nor CUDA nor libcudaccl, libpng or libtiff"""
    wheel()
    module = next((folder / "content/cudaccl").glob("_cudaccl*.so"))
    needed = [line.split("[")[1].rstrip("]") for line in command("readelf", "-d", module).splitlines()
              if "(NEEDED)" in line]
    allowed = ("libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libdl.so", "libpthread.so", "ld-linux")
    tap.equal([name for name in needed if not name.startswith(allowed)], [], "needed libraries")


def install():
    """pip installs the wheel and it labels"""
    command(folder / "env/bin/pip", "install", "-q", wheel())
    command(folder / "env/bin/python", "-c", EXAMPLE)


def types():
    """mypy accepts the package, and infers the types of results in a program"""
    wheel()
    try:
        command(folder / "env/bin/pip", "install", "-q", "mypy")
    except AssertionError as error:
        raise tap.Skip("pip finds no mypy (network?)") from error
    command(folder / "env/bin/python", "-m", "mypy", "--strict", "--allow-untyped-calls", "--ignore-missing-imports", "-p", "cudaccl",
            "--cache-dir", folder / "mypy")
    command(folder / "env/bin/python", "-m", "mypy", "--cache-dir", folder / "mypy", PROJECT / "tests/python/typed-program.py")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    status = tap.run(build, content, libraries, install, types)
sys.exit(status)
