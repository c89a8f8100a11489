# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs functions as test cases and prints TAP.

A case is a function whose docstring names it. It fails by an exception and is skipped by Skip.
"""
import sys
import traceback


class Skip(Exception):
    """Why a case cannot run here."""


def run(*cases):
    """Runs the cases in order; returns the exit status of the program."""
    print(f"1..{len(cases)}")
    failed = 0
    for number, case in enumerate(cases, 1):
        name = case.__doc__.splitlines()[0].rstrip(".")
        try:
            case()
            print(f"ok {number} {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} {name} # SKIP {reason}", flush=True)
        except Exception:  # whatever went wrong is the case's failure
            failed += 1
            print(f"not ok {number} {name}", flush=True)
            print(f"{name}: {traceback.format_exc()}", file=sys.stderr, flush=True)  # Meson shows this in its summary
    return 1 if failed else 0


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what or 'got'} {got!r}, want {want!r}")


if __name__ == "__main__":
    sys.exit("tap.py is a module")
