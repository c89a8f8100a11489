#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the files, messages and names in the documentation exist. Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import api
import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted((ROOT / "docs/internals").glob("*.md"))]

# Messages of GStreamer's own, not of this project's sources.
FOREIGN = {"Can not initialize x264 encoder.", 'no element "ccl"', 'no element "cudaccl"', 'no element "cudaconvert"',
           'no element "…"', "can't handle caps", "could not link … to …", "not-negotiated", "not-linked",
           "Delayed linking failed", "could not set property", 'no property "…" in element "ccl"',
           "is invalid or out of range for property", "unsupported GNU version! gcc versions later than",
           'exception specification is incompatible with that of previous function "rsqrt"'}


def anchors(page):
    """The anchors of a page's headings: small letters, without punctuation, with hyphens for spaces."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall("^#+ (.*)", text, re.M)}


def links():
    """links between pages lead to files and headings"""
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#: ]*)(?:#([^)]*))?\)", page.read_text()):
            path = page.parent / target if target else page
            assert path.exists(), f"{page.name}: {target} is not there"
            assert not anchor or anchor in anchors(path), f"{page.name}: {target} has no heading #{anchor}"


def sources():
    """the source files and folders that pages and comments name are there"""
    folders = "core|cpu|cuda|research|tiled|tracking|gst|watch|label|pictures|programs|recording|bench|tests"
    named = re.compile(rf"(?<![\w/.-])(?:{folders})/[\w/-]+\.(?:c|h|cu|cuh|cpp|hpp|py|sh|build|js)\b|(?<=`)(?:{folders})(?:/[\w-]+)+/?(?=`)")
    comments = [path for folder in folders.split("|") for path in (ROOT / folder).glob("**/*.[ch]*")]
    assert len(comments) > 300, len(comments)
    missing = set()
    for path in [*PAGES, *comments]:
        text = re.sub("^#include.*", "", path.read_text(errors="replace"), flags=re.M)
        missing |= {f"{path.relative_to(ROOT)}: {name}" for name in named.findall(text)
                    if not any(place.exists() for place in (ROOT / name, ROOT / f"{name}.c", path.parent / name, ROOT / "gst" / name))
                    and not name.startswith("gst/cuda/")}  # GStreamer's own
    tap.equal(missing, set(), "not there:")


def pictures():
    """every picture in docs/ is in a page"""
    text = "\n".join(page.read_text() for page in PAGES)
    for path in [*(ROOT / "docs").glob("*.png"), *(ROOT / "docs").glob("*.svg"), *(ROOT / "docs/plots").iterdir()]:
        assert path.name in text, f"no page shows {path.name}"


def benchmarks():
    """the tables of docs/benchmarks.md follow from the rows beside it"""
    check = subprocess.run([sys.executable, ROOT / "bench/page.py", "--check"], check=False, capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def read_sources(*patterns):
    """The text of files, with string macros expanded and adjacent string literals joined."""
    text = "\n".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern))
                     if not path.relative_to(ROOT).parts[0].startswith("builddir"))
    macros = dict(re.findall(r'#define (\w+) "(.*)"', text))
    text = re.sub(r'" (\w+)(?=[,)]| ")', lambda m: macros.get(m[1], "") + '"', text)
    return re.sub(r'"\s*"', "", text)


def headings():
    """The messages in the headings of the troubleshooting page."""
    page = (ROOT / "docs/troubleshooting.md").read_text()
    found = [message for line in re.findall("^### .*", page, re.M) for message in re.findall("`([^`]+)`", line)]
    assert len(found) > 10, found
    return found


def pattern(message):
    """A regular expression for a message; … stands for any text."""
    # Of the text in front, one character is asked for: a search for more would take most of the test's time.
    front = "(?<=.)" if message.startswith("…") else ""
    return front + ".{1,60}?".join(re.escape(piece.strip()) for piece in message.removeprefix("…").split("…"))


def messages():
    """the sources print every message of the troubleshooting page"""
    sources = read_sources("run", "tests/chroot/chroot", "pipelines/demo.py", "pipelines/again", "*/**/*.c", "*/*.cpp", "cuda/meson.build")
    for heading in set(headings()) - FOREIGN:
        text = re.sub("^(run|demo|again): ", "", heading)
        assert re.search(pattern(text), sources), f"nobody prints: {heading}"


def errors():
    """every error that an element may post has a section on the troubleshooting page"""
    elements = read_sources("gst/**/*.c")
    labellers = read_sources("gst/**/*.c", "cpu/**/*.c", "cuda/**/*.c", "core/**/*.c", "research/cpu/*.c")
    texts = re.findall(r'GST_ELEMENT_(?:ERROR|WARNING) \([^"]*?\("(.*?)"[,)]', elements)
    # Elements do not pass wrong arguments, and interrupt nothing; where users can cause an error, the element has its own message.
    texts += re.findall(r'ccl_error_set \(\s*\w+, CUDACCL_ERROR_(?!ARGUMENT|INTERRUPTED)\w+,\s*"(.*?)"[,)]', labellers)
    texts += re.findall(r'ccl_error_set \(\s*\w+, \w+,\s*"(.*?)"[,)]', elements)
    assert len(texts) > 20, texts
    known = headings()
    missing = set()
    for text in texts:
        text = re.sub(r"%[-.\d]*[zl]*[a-z]", "…", text)
        if re.search(r"\w{2}", text) and not any(
                re.search(pattern(heading), text) or re.search(pattern(text), heading) for heading in known):
            missing.add(text)
    tap.equal(missing, set(), "without a section:")


def table(heading):
    """The names in the first column of the table with this heading in docs/elements.md."""
    rows = (ROOT / "docs/elements.md").read_text().split(f"\n| {heading} |")[1].split("\n\n")[0]
    return {name for row in rows.splitlines()[2:] for name in re.findall("`([^`]+)`", row.split("|")[1])}


def elements():
    """docs/elements.md lists every element that the plugin registers"""
    registered = set(re.findall(r"GST_ELEMENT_REGISTER \((\w+),", (ROOT / "gst/gstcclplugin.c").read_text()))
    assert "ccl" in registered, registered
    tap.equal(registered - table("element"), set(), "not in docs/elements.md:")


def foreign():
    """gst-launch-1.0 prints its messages as on the troubleshooting page"""
    if not shutil.which("gst-launch-1.0"):
        raise tap.Skip("gstreamer1.0-tools is not installed")
    for pipeline, message in (("fakesrc ! ccl-nowhere ! fakesink", 'no element "'),
                              ("videotestsrc ! video/x-raw,format=RGB ! jpegenc ! video/x-raw ! fakesink", "could not link"),
                              ("videotestsrc pattern=nothing ! fakesink", "could not set property"),
                              ("videotestsrc nothing=1 ! fakesink", 'no property "')):
        printed = subprocess.run(["gst-launch-1.0", *pipeline.split()], check=False, capture_output=True, text=True,
                                 timeout=30, env={**os.environ, "LC_ALL": "C"})
        assert message in printed.stderr, f"{pipeline}: {printed.stderr!r} has no {message!r}"
        assert any(heading.startswith(message) for heading in headings()), f"no section for {message}"


def versions():
    """packages, news and deployment have the version of the sources, and no symbol is newer"""
    meson = re.search(r"^  version: '(.*)'", (ROOT / "meson.build").read_text(), re.M)[1]
    tap.equal(re.match(r"cudaccl \((.*)\)", (ROOT / "debian/changelog").read_text())[1], meson, "changelog:")
    tap.equal(re.search(r"^## (.*)", (ROOT / "NEWS.md").read_text(), re.M)[1], meson.removesuffix(".0"), "news:")
    tap.equal(set(re.findall(r"/ccl-watch:(\S+)", (ROOT / "deploy/kubernetes.yaml").read_text())), {meson}, "deployment:")
    for page in (ROOT / "debian").glob("*.symbols"):
        listed = {tuple(map(int, text.split("."))) for text in re.findall(r"@\w+ ([\d.]+)$", page.read_text(), re.M)}
        assert max(listed) <= tuple(map(int, meson.split("."))), f"{page.name} names a version after {meson}"


def symbols():
    """the packages of the libraries list every function of the headers"""
    for package, version, functions in (("libgstccl-1.0-0", "Base", api.metadata()),
                                        ("libcudaccl1", "CUDACCL_1", api.library())):
        listed = set(re.findall(rf"(\w+)@{version} ", (ROOT / f"debian/{package}.symbols").read_text()))
        tap.equal(listed - {version}, functions, f"{package}:")


def properties():
    """docs/elements.md lists the properties of the elements"""
    tap.equal(table("property"), api.element_properties(), "of ccl and cudaccl:")
    tap.equal(table("property of") - {"ccltrack", "ccloverlay", "ccljson", "cclcombiner", "cclsnapshot", "cclrecord"}, api.other_properties(),
              "of the other elements:")


sys.exit(tap.run(links, sources, pictures, benchmarks, messages, errors, elements, properties, symbols, foreign, versions))
