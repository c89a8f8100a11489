#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the configured build folder will install, and what the project says about itself. Prints TAP.

usage: test-configuration.py BUILD"""
import json
import pathlib
import re
import sys

import tap

BUILD = pathlib.Path(sys.argv[1])
PROJECT = pathlib.Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+")


def installed():
    """Source and target of what is installed."""
    return json.loads((BUILD / "meson-info/intro-installed.json").read_text())


def option(name):
    options = json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())
    return next(option["value"] for option in options if option["name"] == name)


def summary():
    """the summary names each part, and why it is left out"""
    log = (BUILD / "meson-logs/meson-log.txt").read_text()
    section = log.split("\n  Parts\n")[-1].split("\n\n")[0]
    parts = dict(re.findall(r"^ +(\S.*?) *: (.+)$", section, re.MULTILINE))
    assert {"libcudaccl", "GPU", "elements", "ccl-watch", "ccl-label", "Python package", "tests"} <= set(parts), parts
    for part, built in parts.items():
        assert re.fullmatch(r"YES|NO \((switched off|needs .+)\)", built), f"{part}: {built}"


def benchmark():
    """the benchmark is installed only where it is asked for"""
    files = [target for target in installed().values() if "bench" in target]
    if option("bench") != "enabled":
        tap.equal(files, [], "installed files")


def packages():
    """programs that use the libraries need no package of GStreamer's CUDA library"""
    names = [source for source in installed() if source.endswith(".pc")]
    assert len(names) >= 2, names
    for name in names:
        text = pathlib.Path(name).read_text()
        assert "cuda-1.0" not in text, text


def maintainers():
    """every file names the same maintainers"""
    named = {}
    for name in ("meson.build", "meson_options.txt", "pyproject.toml", "debian/control", "debian/changelog"):
        named[name] = set(ADDRESS.findall((PROJECT / name).read_text()))
    tap.equal(set(map(frozenset, named.values())), {frozenset(named["debian/control"])}, f"addresses {named}")
    tap.equal(len(named["debian/control"]), 1, "number of addresses")


sys.exit(tap.run(summary, benchmark, packages, maintainers))
