#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""element-latency measures paced streams, and fails in one line on wrong input. Prints TAP.

usage: test-element-latency.py ELEMENT_LATENCY PLOT_LATENCY
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runner"))
import tap  # noqa: E402

tool, plot = sys.argv[1:]
FAST = "--seconds 1 --warm-up 0.5 --width 320 --height 180".split()
RANKS = ("p50", "p99", "p99.9", "worst")


def run(*arguments):
    result = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=50, check=False)
    return result.stdout.splitlines(), result.stderr.splitlines(), result.returncode


def measure(*arguments):
    lines, errors, status = run(*FAST, *arguments)
    tap.equal((errors, status), ([], 0), "errors and status:")
    return [json.loads(line) for line in lines]


def distributions():
    """a row for each number of streams and rate, with every frame"""
    rows = measure("--fps", "25", "--fps", "60", "ccl threshold=200", "1", "3")
    tap.equal([(row["streams"], row["fps"], row["frames"], row["lost"]) for row in rows],
              [(1, 25, 25, 0), (1, 60, 60, 0), (3, 25, 75, 0), (3, 60, 180, 0)], "rows:")
    for row in rows:
        assert row["components"] > 3, row  # rectangles
        for name in ("latency_us", "from_due_us"):
            values = [row[name][rank] for rank in RANKS]
            assert 0 < values[0] and values == sorted(values), row
        # A frame is pushed when it is due or later.
        assert all(row["from_due_us"][rank] >= row["latency_us"][rank] for rank in RANKS), row


def pace():
    """latency is that of the elements: a filter that sleeps adds as much, and slow streams fall behind"""
    fast, slow = (measure("--fps", "20", f"ccl threshold=200 ! identity sleep-time={time}")[0] for time in (0, 80000))
    assert slow["latency_us"]["p50"] >= 80000, slow
    assert fast["latency_us"]["p50"] < 80000, fast
    # At 80 ms a frame, the last of 30 frames is 29 × 30 ms late.
    assert slow["from_due_us"]["worst"] > 29 * 30000, slow
    tap.equal(slow["late"], slow["frames"], "late:")


def threads():
    """frames that pass a queue are matched, and those that it drops are lost"""
    row = measure("--fps", "50", "ccl threshold=200 ! queue")[0]
    tap.equal((row["frames"], row["lost"]), (50, 0), "frames and lost:")
    row = measure("--fps", "50", "ccl threshold=200 ! queue leaky=downstream max-size-buffers=1 ! identity sleep-time=90000")[0]
    assert row["lost"] > 0 and row["frames"] + row["lost"] == 50, row


def errors():
    """wrong input is an error in one line"""
    for status, text, *arguments in ((1, "nonesuch", "ccl nonesuch=1"), (1, "nonesuch", "nonesuch"), (2, "--help",),
                                     (1, "no component metadata", "identity"), (1, "format", "--format", "RGBX", "ccl"),
                                     (1, "videoconvert", "--format", "v210", "ccl"), (1, "rate", "--fps", "0", "ccl")):
        lines, errors, actual = run(*FAST, *arguments)
        tap.equal((lines, len(errors), actual), ([], 1, status), f"{arguments}: {errors}")
        assert text in errors[0], errors


def tables():
    """plot-latency.py prints a table"""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows"
        rows.write_text("\n".join(run(*FAST, "ccl threshold=200", "1", "2")[0]))
        printed = subprocess.run([sys.executable, plot, rows], capture_output=True, text=True, check=True).stdout
    lines = printed.splitlines()
    tap.equal(len(lines), 4, "lines:")
    tap.equal([line.split(" | ")[2] for line in lines[2:]], ["1", "2"], "streams:")


sys.exit(tap.run(distributions, pace, threads, errors, tables))
