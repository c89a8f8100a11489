#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `meson test` in a build folder and counts single test cases, not programs.

usage: count.py BUILD [ARGUMENT OF meson test…]

The last line is `N passed, N failed, N skipped`. The output of a program decides how its cases are
counted (docs/testing.md):

- TAP: every `ok` and `not ok` line; a planned case without one has failed.
- Check (gst-check): its summary line gives checks, failures and errors. A case that cannot run
  prints `SKIP: name: reason` and returns; it is counted as skipped, not as passed.
- Anything else is one case: exit status 0 passed, 77 skipped, any other failed.

A program that crashed, timed out or failed without naming a case adds one failure.

The programs of the suites `watch` and `pipelines` run in real time and mostly wait, so without
arguments they run by themselves, many at a time, and first: what the sanitizers' tests need is built
meanwhile, in the time that the processors would be idle. One that fails beside other programs runs again
alone, and then counts as it does there; what failed the first time is listed as unsteady.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field

TAP_LINE = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?([^#]*?)\s*(?:#\s*(SKIP|TODO)\b\s*(.*))?$", re.I)
TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\w*\s*(.*))?$", re.I)
CHECK_SUMMARY = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$")
SKIP_LINE = re.compile(r"^SKIP: ([^:]+): (.*)$")


REAL_TIME_SUITES = "watch", "pipelines"
MOST_AGAIN = 3  # more failures are no matter of time


@dataclass
class Count:
    passed: int = 0
    failed: list = field(default_factory=list)  # what failed
    skipped: list = field(default_factory=list)  # (name, reason)


def count_tap(lines):
    """Counts TAP; None if there is none."""
    count, planned, seen = Count(), None, 0
    for line in lines:
        if plan := TAP_PLAN.match(line):
            planned = int(plan[1])
            if planned == 0:
                count.skipped.append(("all", plan[2] or "no reason given"))
        elif case := TAP_LINE.match(line):
            seen += 1
            name, directive, reason = case[2] or f"case {seen}", (case[3] or "").upper(), case[4]
            if directive == "SKIP":
                count.skipped.append((name, reason or "no reason given"))
            elif case[1] and directive != "TODO":
                count.failed.append(name)
            else:
                count.passed += 1
    if planned is None:
        return None
    if seen < planned:
        count.failed += [f"{planned - seen} planned cases did not run"] * (planned - seen)
    return count


def count_check(lines):
    """Counts the summaries of the Check library; None if there is none."""
    count, found = Count(), False
    for line in lines:
        if summary := CHECK_SUMMARY.match(line):
            found = True
            checks, bad = int(summary[1]), int(summary[2]) + int(summary[3])
            count.passed += checks - bad
            count.failed += ["see the log"] * bad
        elif skip := SKIP_LINE.match(line):
            count.skipped.append((skip[1], skip[2]))
    if not found:
        return None
    count.passed -= len(count.skipped)
    return count


def count_program(output, result, returncode):
    """Counts the cases of one program from its output and exit status."""
    lines = [line.rstrip() for line in output.splitlines()]
    count = count_tap(lines) or count_check(lines)
    if count is None:
        skips = [m.groups() for m in map(SKIP_LINE.match, lines) if m]
        if result == "SKIP":
            return Count(skipped=skips or [("all", "no reason given")])
        if result in ("OK", "EXPECTEDFAIL"):
            return Count(passed=1, skipped=skips)
        count = Count(skipped=skips)
    if result not in ("OK", "EXPECTEDFAIL", "SKIP") and not count.failed:
        how = f"signal {-returncode}" if returncode < 0 else f"exit status {returncode}"
        count.failed.append("timed out" if result == "TIMEOUT" else f"ended with {how}")
    return count


def merge(programs):
    """Prints the skipped and the failed cases, then the total; returns the exit status."""
    reasons = {}
    for program, count in programs:
        for name, reason in count.skipped:
            reasons.setdefault(reason, []).append(f"{program}: {name}")
    if reasons:
        print("\nSkipped:")
        for reason, cases in sorted(reasons.items()):
            more = f" and {len(cases) - 3} more" if len(cases) > 3 else ""
            print(f"  {reason} ({len(cases)}): {', '.join(cases[:3])}{more}")
    failed = [(program, name) for program, count in programs for name in count.failed]
    if failed:
        print("\nFailed:")
        for program, name in dict.fromkeys(failed):
            print(f"  {program}: {name}")
    passed = sum(count.passed for _, count in programs)
    skipped = sum(len(count.skipped) for _, count in programs)
    print(f"\n{passed} passed, {len(failed)} failed, {skipped} skipped", flush=True)
    return 1 if failed or passed == 0 else 0


def run(build, arguments, n_processes, name="testlog"):
    """Runs programs, that number at a time, with logs of that name; returns Meson's exit status and the counts by name."""
    log = os.path.join(build, "meson-logs", name + ".json")
    if os.path.exists(log):
        os.remove(log)
    tests = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--logbase", name,
                            "--num-processes", str(n_processes), "--timeout-multiplier", "2", *arguments])
    programs = {}
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as entries:
            for entry in map(json.loads, entries):
                output = entry.get("stdout") or ""
                name = entry["name"].removeprefix("cudaccl").lstrip(": /")
                programs[name] = count_program(output, entry["result"], entry["returncode"])
    return tests.returncode, programs


def run_again(programs, run_alone):
    """Replaces the counts of failed programs that run in real time by those of a second run, in which they are alone."""
    unsteady = {name: count for name, count in programs.items() if name.split(" / ")[0] in REAL_TIME_SUITES and count.failed}
    if not 0 < len(unsteady) <= MOST_AGAIN:
        return
    print("\nThese run again alone: " + ", ".join(unsteady), flush=True)
    programs.update(run_alone([name.split(" / ")[-1] for name in unsteady]))
    print("\nUnsteady, that is, failed beside other programs:")
    for name, count in unsteady.items():
        for case in count.failed:
            print(f"  {name}: {case}")


@contextlib.contextmanager
def built_when_idle(build, targets):
    """Builds targets while the processors have nothing else to do. What is not ready at the end is left to others."""
    command = ["ninja", "-C", build, *targets]
    if not targets or not shutil.which("chrt"):
        yield
        return
    with subprocess.Popen(["chrt", "--idle", "0", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as builder:
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(builder.pid, signal.SIGTERM)


def sanitizer_builds(build):
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], stdout=subprocess.PIPE, text=True, check=False)
    return re.findall(r"^(build-of-\w+): phony$", targets.stdout, re.M)


def run_in_turn(build, arguments):
    """The same as run(); without arguments the programs that run in real time come first, by themselves."""
    n_processors = len(os.sched_getaffinity(0))
    # Some programs wait for time limits, disks and archives, so more than the processors run at a time; each then takes
    # longer, and has twice the time.
    n_processes = n_processors + 2
    if arguments:
        return run(build, arguments, n_processes)
    with built_when_idle(build, sanitizer_builds(build)):
        status_of_real_time, in_real_time = run(
            build, [f"--suite={suite}" for suite in REAL_TIME_SUITES], 3 * n_processors, "testlog-real-time")
    status, programs = run(build, [f"--no-suite={suite}" for suite in REAL_TIME_SUITES], n_processes)
    return status or status_of_real_time, in_real_time | programs


def main():
    build, arguments = sys.argv[1], sys.argv[2:]
    status, programs = run_in_turn(build, arguments)
    if status != 0 and not any(count.failed for count in programs.values()):
        programs["meson test"] = Count(failed=[f"ended with exit status {status}"])
    run_again(programs, lambda names: run(build, names, 1, "testlog-again")[1])
    return merge(list(programs.items()))


if __name__ == "__main__":
    sys.exit(main())
