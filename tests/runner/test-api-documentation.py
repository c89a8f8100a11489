#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the API documentation: nothing public is left out. Prints TAP.

usage: test-api-documentation.py GI-DOCGEN GSTCCL.gir GSTCCL.toml CONTENT_FOLDER HAVE_CUDA
"""
import html
import pathlib
import re
import subprocess
import sys
import tempfile

import api
import tap

DOCGEN, GIR, SETTINGS, CONTENT, HAVE_CUDA = sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[2]
place = tempfile.TemporaryDirectory()


def docgen(*words):
    result = subprocess.run([DOCGEN, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "WARNING" not in result.stdout, result.stdout


def pages():
    """The text of the pages without markup."""
    text = "\n".join(page.read_text() for page in pathlib.Path(place.name).rglob("*.html"))
    return html.unescape(re.sub("<[^>]*>", "", text))


def documented():
    """every symbol of the library is documented, parameters and results as well"""
    docgen("check", "--config", SETTINGS, "--fatal-warnings", GIR)


def generated():
    """the pages are made without a warning"""
    docgen("generate", "--config", SETTINGS, "--content-dir", CONTENT, "--output-dir", place.name,
           "--fatal-warnings", GIR)


def functions():
    """each function of the headers has its place on the pages"""
    text = pages()
    # A type has a page; the function that returns it has none.
    types = set(re.findall(r'glib:get-type="(\w+)"', pathlib.Path(GIR).read_text()))
    for name in api.metadata() - types:
        assert re.search(rf"\b{name}\b", text), f"{name} is nowhere"


def elements():
    """each element and each of its properties has its place on the pages"""
    text = pages()
    for path in (ROOT / "gst").glob("*.c"):
        source = path.read_text()
        names = re.findall(r"SECTION:element-(\w+)", source) + re.findall(r'g_param_spec_\w+ \(\s*"([\w-]+)"', source)
        for name in names:
            if "cuda" not in f"{path.name}{name}" or HAVE_CUDA == "1":
                assert name in text, f"{name} of {path.name} is nowhere"
    for name in api.element_properties():
        if "cuda" not in name or HAVE_CUDA == "1":
            assert name in text, f"{name} is nowhere"


sys.exit(tap.run(documented, generated, functions, elements))
