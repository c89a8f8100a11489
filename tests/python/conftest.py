# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints TAP when the variable CCL_TAP is set, and sets how many examples hypothesis tries."""
import os

try:
    import hypothesis
except ImportError:
    hypothesis = None

if hypothesis:
    hypothesis.settings.register_profile("test", deadline=None, derandomize=True, print_blob=True,
                                         max_examples=int(os.environ.get("CCL_EXAMPLES", "60")))
    hypothesis.settings.load_profile("test")


class Tap:
    """Reports every test as a line of TAP."""

    def __init__(self):
        self.number = 0
        self.reason = None  # why a file is skipped

    def pytest_collectreport(self, report):
        if report.skipped:
            self.reason = report.longrepr[2].removeprefix("Skipped: ")
        if report.failed:
            print("# " + "\n# ".join(report.longreprtext.splitlines()), flush=True)

    def pytest_collection_finish(self, session):
        reason = f" # SKIP {self.reason}" if self.reason and not session.items else ""
        print(f"1..{len(session.items)}{reason}", flush=True)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.replace("#", "")
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "no reason given"
            self.line("ok", f"{name} # SKIP {reason.removeprefix('Skipped: ')}")
        elif report.failed:
            self.line("not ok", f"{name} ({report.when})")
            print("# " + "\n# ".join(report.longreprtext.splitlines()), flush=True)
        elif report.when == "call":
            self.line("ok", name)

    def line(self, result, text):
        self.number += 1
        print(f"{result} {self.number} {text}", flush=True)


def pytest_addoption(parser):
    if os.environ.get("CCL_TAP"):  # pytest's comparisons ask for it, also without its terminal
        parser.addoption("--verbose", type=int, default=0)


def pytest_configure(config):
    if os.environ.get("CCL_TAP"):
        config.pluginmanager.register(Tap())
