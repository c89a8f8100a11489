#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The launch lines in the documentation of the elements can be pasted into a shell. Prints TAP.

usage: element-docs.py SOURCE...
"""
import pathlib
import re
import shlex
import sys
import traceback

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst
except (ImportError, ValueError) as error:
    print(f"1..0 # SKIP no GStreamer for Python: {error}")
    sys.exit(0)

Gst.init(None)


def sections(path):
    """The documentation of the elements of a source file, as text."""
    for comment in re.findall(r"/\*\*\n \* SECTION:element-(.*?)\*/", path.read_text(), re.S):
        yield re.sub(r"^ \* ?", "", comment, flags=re.M)


def launch_lines(section):
    return [block.strip("\n") for block in re.findall(r"\|\[\n(gst-launch-1\.0 .*?)\n\]\|", section, re.S)]


def check_launch_line(text):
    lines = text.split("\n")
    for line in lines[:-1]:
        assert line.endswith(" \\"), f"no backslash: {line}"
    words = [word for word in shlex.split(text) if word not in ("gst-launch-1.0", "-q")]
    try:
        Gst.parse_launchv(words)
    except GLib.Error as error:
        # Not every machine has all elements that a launch line names.
        assert error.matches(Gst.ParseError.quark(), Gst.ParseError.NO_SUCH_ELEMENT), f"{error.message}: {text}"


def check_section(section):
    assert launch_lines(section), "no launch line"
    for line in launch_lines(section):
        check_launch_line(line)
    explained = re.findall(r"\]\| +\w", section)
    assert len(explained) >= len(launch_lines(section)), "a launch line without a sentence that says what it shows"
    assert re.search(r"^Since: \d", section, re.M), "no Since"


cases = [(path, section) for path in map(pathlib.Path, sys.argv[1:]) for section in sections(path)]
print(f"1..{len(cases)}")
failed = 0
for number, (path, section) in enumerate(cases, 1):
    try:
        check_section(section)
        print(f"ok {number} - {path.name}")
    except AssertionError:
        failed += 1
        print(f"not ok {number} - {path.name}")
        traceback.print_exc()
    sys.stdout.flush()
sys.exit(failed > 0)
