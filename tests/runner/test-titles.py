#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Titles of commits fit a line of `git log`. Prints TAP."""
import pathlib
import subprocess
import sys

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SINCE = "ecd07258"  # the commits after it are checked
LONGEST = 72


def git(*arguments):
    return subprocess.run(("git", "-C", ROOT, *arguments), capture_output=True, text=True, check=True).stdout


def titles():
    """no title of a new commit has more than 72 characters"""
    try:
        log = git("log", "--no-merges", "--format=%h %s", f"{SINCE}..HEAD")
    except (OSError, subprocess.CalledProcessError) as error:
        raise tap.Skip("no git, or a clone without the history") from error
    tap.equal([line for line in log.splitlines() if len(line.partition(" ")[2]) > LONGEST], [], "long titles:")


if __name__ == "__main__":
    sys.exit(tap.run(titles))
