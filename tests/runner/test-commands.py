#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of the documentation as they stand. Prints TAP.

A fenced block under the line `<!-- runnable -->` is run by bash in the environment of `meson
devenv`. The working folder has links to everything in the project folder, to the build folder as
builddir, and to in.avi, the start of the street video. Another program may use the port of the
examples, so a free one replaces it. The block passes if every command succeeds and every file named
by a filesink is not empty.

usage: test-commands.py BUILD
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import processes
import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
VIDEO = pathlib.Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")),
         ROOT / "examples/README.md", ROOT / "bench/README.md"]
PORT = "18830"  # of the examples
BLOCK = re.compile(r"^<!-- runnable -->\n```sh\n(.*?)^```$", re.M | re.S)


def shell(commands, folder):
    """Runs commands in the environment of `meson devenv`; returns their output."""
    result = subprocess.run(
        ["meson", "devenv", "-C", BUILD, "--workdir", folder, "bash", "-euo", "pipefail", "-c", commands],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        timeout=120, check=False)
    missing = re.search(r'no element "(\w+)"', result.stdout)
    if missing and "ccl" not in missing[1]:
        raise tap.Skip(f"no {missing[1]} here")
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}"
    return result.stdout


def make_video(place):
    """Writes the first second of the street video, if that is installed."""
    if VIDEO.exists():
        shell(f"gst-launch-1.0 -q filesrc location={VIDEO} ! decodebin ! videoconvert ! identity eos-after=12 "
              f"! jpegenc ! avimux ! filesink location={place}/in.avi", place)


def case(page, number, commands):
    def run():
        if "in.avi" in commands and not (videos / "in.avi").exists():
            raise tap.Skip("opencv-doc is not installed")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for path in ROOT.iterdir():
                if not path.name.startswith(("builddir", ".")):
                    (folder / path.name).symlink_to(path)
            (folder / "builddir").symlink_to(BUILD)
            if (videos / "in.avi").exists():
                (folder / "in.avi").symlink_to(videos / "in.avi")
            shell(commands.replace(PORT, str(processes.free_port())), folder)
            for name in re.findall(r"filesink location=(\S+)", commands):
                assert (folder / name).stat().st_size > 0, f"{name} is empty"

    # A '#' would begin a directive of TAP.
    first = next(line for line in commands.splitlines() if not line.startswith("#"))
    run.__doc__ = f"{page.relative_to(ROOT)}, block {number}: {first.split('#')[0][:60]}"
    return run


os.environ["GST_REGISTRY"] = str(BUILD / "tests/runner/commands.registry")
with tempfile.TemporaryDirectory() as name:
    videos = pathlib.Path(name)
    cases = [case(page, number, commands) for page in PAGES if page.exists()
             for number, commands in enumerate(BLOCK.findall(page.read_text()), 1)]
    if not cases:
        sys.exit("no block is marked as runnable")
    marks = sum(page.read_text().count("\n<!-- runnable -->") for page in PAGES if page.exists())
    if marks != len(cases):
        sys.exit(f"{marks} marks, but {len(cases)} blocks of sh right under one")
    make_video(videos)
    status = tap.run(*cases)
sys.exit(status)
