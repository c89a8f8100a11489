#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the documentation: what it points to and what it quotes is there. Prints TAP."""
import pathlib
import re
import sys

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

# Messages of GStreamer's own, not of this project's sources.
FOREIGN = {'no element "ccl"', 'no element "cudaccl"', 'no element "cudaconvert"', "not negotiated"}


def links():
    """links between pages lead to files"""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target} is not there"


def messages():
    """every message of the troubleshooting page is one that the sources print"""
    sources = ""
    for pattern in ("run", "pipelines/demo.py", "*/*.c", "*/*.cpp", "cuda/meson.build"):
        for path in ROOT.glob(pattern):
            sources += path.read_text() + "\n"
    macros = dict(re.findall(r'#define (\w+) "(.*)"', sources))
    sources = re.sub(r'" (\w+)(?=[,)])', lambda m: macros.get(m[1], "") + '"', sources)
    sources = re.sub(r'"\s*"', "", sources)  # string literals over several lines
    page = (ROOT / "docs/troubleshooting.md").read_text()
    headings = re.findall(r"^### `(.*)`$", page, re.M)
    assert len(headings) > 10, headings
    for heading in set(headings) - FOREIGN:
        text = re.sub("^(run|demo): ", "", heading)
        pattern = ".{1,60}?".join(re.escape(piece.strip()) for piece in text.split("…"))
        assert re.search(pattern, sources), f"nobody prints: {heading}"


def table(heading):
    """The names in the first column of the README's table that has this heading."""
    rows = (ROOT / "README.md").read_text().split(f"\n| {heading} |")[1].split("\n\n")[0]
    return {name for row in rows.splitlines()[2:] for name in re.findall("`([^`]+)`", row.split("|")[1])}


def elements():
    """the README lists every element that the plugin registers"""
    registered = set(re.findall(r"GST_ELEMENT_REGISTER \((\w+),", (ROOT / "gst/gstcclplugin.c").read_text()))
    assert "ccl" in registered, registered
    tap.equal(registered - table("element"), set(), "not in the README:")


def properties():
    """the README lists the properties of the labelling elements"""
    source = (ROOT / "gst/gstcclbase.c").read_text() + (ROOT / "gst/gstcudaccl.c").read_text()
    tap.equal(table("property"), set(re.findall(r'g_param_spec_\w+ \(\s*"([\w-]+)"', source)))


sys.exit(tap.run(links, messages, elements, properties))
