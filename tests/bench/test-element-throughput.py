#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""element-throughput measures labellers and the overlay, and fails in one line on wrong input. Prints TAP.

usage: test-element-throughput.py ELEMENT_THROUGHPUT PICTURE HAS_OVERLAY
"""
import subprocess
import sys

tool, picture, has_overlay = sys.argv[1:]
FAST = ["--seconds", "0.2"]
results = []


def run(*arguments):
    """Output lines, error lines and exit status; waiting for ever is a failure."""
    result = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=50, check=False)
    return result.stdout.splitlines(), result.stderr.splitlines(), result.returncode


def check(name, passed, detail):
    results.append(passed)
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {name}", flush=True)
    if not passed:
        print(f"# {detail}")


def check_failure(name, text, status, *arguments):
    output, errors, actual = run(*arguments)
    check(name, actual == status and len(output) <= 1 and len(errors) == 1 and text in errors[0], (output, errors, actual))


def check_rows(name, n_streams, *arguments):
    output, errors, status = run(*FAST, *arguments)
    rows = [line.split() for line in output[1:]]
    check(name, status == 0 and not errors and [row[-4] for row in rows] == n_streams and
          all(float(cell) > 0 for row in rows for cell in row[-3:]), (output, errors, status))


print("1..9")
check_failure("a-missing-picture-is-an-error", "/nowhere.png", 1, *FAST, "/nowhere.png", "ccl")
check_failure("a-file-that-is-no-picture-is-an-error", __file__, 1, *FAST, __file__, "ccl")
check_failure("an-unknown-element-is-an-error", "nonesuch", 1, *FAST, picture, "nonesuch")
check_failure("an-unknown-property-is-an-error", "nonesuch", 1, *FAST, picture, "ccl nonesuch=1")
check_failure("missing-arguments-are-an-error", "--help", 2, picture)
check_failure("a-gpu-that-is-not-used-is-an-error", "--help", 2, "--frames-on", "1", picture, "ccl")
check_rows("one-stream-and-eight", ["1", "8"], picture, "ccl")
check_rows("numbers-of-streams", ["1", "2"], picture, "ccl min-area=50", "1", "2")
if has_overlay == "yes":
    check_rows("the-overlay-with-metadata", ["1"], "--format", "NV12", "--before", "ccl attach-labels=true", picture,
               "ccloverlay fill-components=true draw-labels=true", "1")
else:
    print("ok 9 - the-overlay-with-metadata # SKIP it was not built")
sys.exit(not all(results))
