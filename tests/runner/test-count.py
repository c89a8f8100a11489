#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of count.py, on the output of real test programs. Prints TAP."""
import contextlib
import io
import pathlib
import tempfile
import time

from count import Count, built_when_idle, count_program, merge, run_again, sanitizer_builds

GLIB = """# random seed: R02S1
1..4
# Start of ccl tests
ok 1 /ccl/empty
ok 2 /ccl/full # SKIP no GPU here
not ok 3 /ccl/spiral - ERROR:spiral.c:12: assertion failed (1 == 2): (1 == 2)
ok 4 /ccl/comb
"""

CHECK = """Running suite(s): ccl
SKIP: test_device: no NVIDIA driver
83%: Checks: 6, Failures: 1, Errors: 0
ccl.c:40:F:general:test_eos:0: Assertion 'eos' failed
"""


def total(*programs):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = merge([(f"p{i}", count_program(*p)) for i, p in enumerate(programs)])
    return out.getvalue().splitlines()[-1], status, out.getvalue()


def after_second_run(failed, second):
    """The programs that run again, and the failures that remain, after these failures of the first run."""
    programs = {name: Count(passed=1, failed=list(cases)) for name, cases in failed.items()}
    again = []

    def run_alone(names):
        again.extend(names)
        return {f"watch / {name}": second for name in names}

    with contextlib.redirect_stdout(io.StringIO()) as out:
        run_again(programs, run_alone)
    left = [case for count in programs.values() for case in count.failed]
    return again, left, all(case in out.getvalue() for case in left or failed.get("watch / web", []))


def builds_meanwhile():
    """The targets that are built while others wait; whether one of them began, and whether it was stopped at the end."""
    with tempfile.TemporaryDirectory() as folder:
        begun, ready = pathlib.Path(folder, "begun"), pathlib.Path(folder, "ready")
        pathlib.Path(folder, "build.ninja").write_text(
            "rule run\n command = touch begun && sleep 60 && touch ready\n pool = console\n"
            "build output: run\nbuild build-of-asan: phony output\nbuild build-of-nothing-else.o: phony\n")
        targets, start = sanitizer_builds(folder), time.monotonic()
        with built_when_idle(folder, targets):
            while not begun.exists() and time.monotonic() < start + 30:
                time.sleep(0.05)
        return targets, begun.exists(), ready.exists(), time.monotonic() < start + 45


CASES = {
    "what sanitizers need is built while other programs wait, and no longer":
        (builds_meanwhile(), (["build-of-asan"], True, False, True)),
    "a program in real time that fails runs again alone, and its first failure is named":
        (after_second_run({"watch / web": ["late"], "unit / cpu": []}, Count(passed=2)), (["web"], [], True)),
    "one that fails alone, too, has failed":
        (after_second_run({"watch / web": ["late"]}, Count(failed=["late"])), (["web"], ["late"], True)),
    "other programs do not run again":
        (after_second_run({"unit / cpu": ["wrong"]}, Count(passed=2))[:2], ([], ["wrong"])),
    "many failures are no matter of time":
        (after_second_run({f"watch / {i}": ["late"] for i in range(4)}, Count(passed=2))[:2], ([], ["late"] * 4)),
    "TAP: each line is a case":
        (total((GLIB, "FAIL", 1))[:2], ("2 passed, 1 failed, 1 skipped", 1)),
    "TAP: planned cases that did not run have failed":
        (total(("1..3\nok 1 a\n", "ERROR", -11))[:2], ("1 passed, 2 failed, 0 skipped", 1)),
    "TAP: all ran, yet the program crashed at its end":
        (total(("1..1\nok 1 a\n", "FAIL", -6))[:2], ("1 passed, 1 failed, 0 skipped", 1)),
    "TAP: a plan of nothing is one skip with its reason":
        (total(("1..0 # SKIP no camera\n", "SKIP", 0), ("", "OK", 0))[:2],
         ("1 passed, 0 failed, 1 skipped", 0)),
    "Check: its summary counts, a skip is no pass":
        (total((CHECK, "FAIL", 1))[:2], ("4 passed, 1 failed, 1 skipped", 1)),
    "Check: a crash before the summary is one failure":
        (total(("Running suite(s): ccl\n", "FAIL", -11))[:2], ("0 passed, 1 failed, 0 skipped", 1)),
    "Check: two suites in one program add up":
        (total(("100%: Checks: 2, Failures: 0, Errors: 0\n" * 2, "OK", 0))[:2],
         ("4 passed, 0 failed, 0 skipped", 0)),
    "plain: exit status 0 is one pass":
        (total(("hello\n", "OK", 0))[:2], ("1 passed, 0 failed, 0 skipped", 0)),
    "plain: exit status 77 is one skip":
        (total(("SKIP: all: no GPU\n", "SKIP", 77), ("", "OK", 0))[:2],
         ("1 passed, 0 failed, 1 skipped", 0)),
    "plain: a time-out is one failure":
        (total(("", "TIMEOUT", -9))[:2], ("0 passed, 1 failed, 0 skipped", 1)),
    "nothing ran: no success":
        (total()[:2], ("0 passed, 0 failed, 0 skipped", 1)),
    "reasons are listed once":
        (total((GLIB, "FAIL", 1), (GLIB, "FAIL", 1))[2].count("no GPU here"), 1),
    "failures are named":
        ("p0: /ccl/spiral" in total((GLIB, "FAIL", 1))[2], True),
}

print(f"1..{len(CASES)}")
for number, (name, (got, want)) in enumerate(CASES.items(), 1):
    print(f"{'ok' if got == want else 'not ok'} {number} {name}")
    if got != want:
        print(f"# got {got!r}, want {want!r}")
