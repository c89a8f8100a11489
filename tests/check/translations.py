#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages of elements in the user's language. The argument is the folder of the sources. Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap  # noqa: E402

if not shutil.which("msgfmt") or not shutil.which("xgettext"):
    print("1..0 # SKIP gettext is not installed")
    sys.exit()
LANGUAGES = (ROOT / "po/LINGUAS").read_text().split()
LOCALE = pathlib.Path(os.environ["LOCPATH"]) / "de_DE.UTF-8"
FILES = (ROOT / "po/POTFILES").read_text().split()
WRONG = {
    "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8 ! ccl min-area=9 max-area=8 ! fakesink":
        ("No component can pass min-area=9 and max-area=8", "Keine Komponente besteht min-area=9 und max-area=8"),
    "videotestsrc num-buffers=1 ! ccljson ! fakesink": ("Frames without component metadata", "Es kommen Bilder ohne Metadaten"),
    "videotestsrc num-buffers=1 ! cclsnapshot location=x.jpg ! fakesink":
        ("x.jpg: a location has the number of the file once, as %d or %05d", "x.jpg: location enthält die Nummer"),
}


def launch(pipeline, **variables):
    """What gst-launch prints in a locale."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LC_")} | variables
    return subprocess.run(["gst-launch-1.0", *pipeline.split()], capture_output=True, text=True, encoding="utf-8", timeout=60,
                          env=environment, check=False)


def german():
    """gst-launch prints German in a German locale, and English in the C locale"""
    if not LOCALE.exists():
        raise tap.Skip("localedef or the sources of the locale de_DE are missing")
    for pipeline, (english, text) in WRONG.items():
        for variables, expected in (({"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}, text), ({"LC_ALL": "C.UTF-8"}, english)):
            result = launch(pipeline, **variables)
            assert expected in result.stdout + result.stderr, (pipeline, variables, result.stdout, result.stderr)


def messages(*command):
    """The texts of a catalogue that a command prints."""
    printed = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, cwd=ROOT).stdout
    return set(re.findall(r'^msgid "(.+)"$', printed, re.M))


def complete():
    """every message is in every language, and the conversions are those of the English text"""
    marked = messages("xgettext", "--from-code=UTF-8", "--keyword=_", "--keyword=N_", "--keyword=gst_ccl_error_set:3",
                      "--no-wrap", "-o-", *FILES)
    assert len(marked) > 60, marked
    for language in LANGUAGES:
        path = f"po/{language}.po"
        subprocess.run(["msgfmt", "--check", "-o", "/dev/null", path], check=True, capture_output=True, cwd=ROOT)
        tap.equal(messages("msgattrib", "--translated", "--no-fuzzy", "--no-obsolete", "--no-wrap", path), marked, f"{path}:")


def listed():
    """po/POTFILES lists the files with messages"""
    found = {str(path.relative_to(ROOT)) for path in ROOT.glob("gst/**/*.c")
             if re.search(r"\bN?_ ?\(\"|gst_ccl_error_set \(", path.read_text())}
    tap.equal(set(FILES), found, "po/POTFILES:")


def posted():
    """no element posts a text that is not marked"""
    call = re.compile(r'GST_ELEMENT_(?:ERROR|WARNING)\s*\([^;"]*?,\s*[A-Z]+,\s*[A-Z_]+,\s*\(\s*"((?:[^"\\]|\\.)*)"')
    bare = [f"{path.relative_to(ROOT)}: {text}" for path in sorted(ROOT.glob("gst/**/*.c"))
            for text in call.findall(path.read_text()) if re.search("[A-Za-z]{3}", re.sub("%[a-z]+", "", text))]
    assert not bare, bare


sys.exit(tap.run(german, complete, listed, posted))
