#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the script ./run that need no build. Prints TAP."""
import pathlib
import subprocess
import sys

import tap

RUN = pathlib.Path(__file__).resolve().parents[2] / "run"


def run(*words):
    return subprocess.run([RUN, *words], capture_output=True, text=True, check=False, cwd="/")


def help_text():
    """help names every command"""
    for words in ([], ["help"], ["--help"]):
        result = run(*words)
        tap.equal(result.returncode, 0, "exit status")
        for command in ("demo", "test", "package", "build", "bench", "quality", "soak", "fuzz", "mutations", "coverage", "format"):
            assert f"\n  {command} " in result.stdout, f"{command} is not in {result.stdout}"


def unknown():
    """an unknown command is refused with a message that names it"""
    result = run("tset")
    tap.equal(result.returncode, 1, "exit status")
    tap.equal(result.stderr.splitlines()[-1], "run: unknown command: tset")
    tap.equal(result.stdout, "")


def unquoted():
    """a video's name given as two arguments is refused before anything is built"""
    result = run("demo", "my", "video.avi")
    tap.equal(result.returncode, 1, "exit status")
    tap.equal(result.stderr, "run: demo takes one video (quote a name with spaces)\n")


def no_number():
    """a fuzzing time that is not a number is refused before anything is built"""
    for word in ("x", "0", "-3", "1.5"):
        result = run("fuzz", word)
        tap.equal(result.returncode, 1, "exit status")
        tap.equal(result.stderr, f"run: fuzz takes a number of seconds, not {word}\n")


def no_release():
    """an unknown release of Debian is refused before anything is installed"""
    for words in (["--debian"], ["--debian", "11"]):
        result = run("test", *words)
        tap.equal(result.returncode, 1, "exit status")
        tap.equal(result.stderr, "run: test --debian takes a release: 12, 13, testing or unstable\n")


sys.exit(tap.run(help_text, unknown, unquoted, no_number, no_release))
