#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the cases of a GLib test program whose paths match a regular expression.

usage: select-cases.py PROGRAM EXPRESSION
"""
import re
import subprocess
import sys

program, expression = sys.argv[1:]
listed = subprocess.run([program, '-l'], check=True, stdout=subprocess.PIPE, text=True).stdout
# GLib 2.84 lists the cases as TAP comments, each below the names of its suites.
listed = [line.removeprefix('# ') for line in listed.splitlines()]
paths = [path for path in listed if path.startswith('/') and re.search(expression, path)]
if not paths:
    sys.exit(f'{program} has no case that matches {expression}')
# With several paths GLib prints a plan after each; TAP allows one plan only.
run = subprocess.Popen([program, *(argument for path in paths for argument in ('-p', path))],
                       stdout=subprocess.PIPE, text=True)
plan = None
for line in run.stdout:
    if re.match(r'1\.\.\d+$', line):
        plan = line
    else:
        print(line, end='', flush=True)
if plan:
    print(plan, end='')
status = run.wait()
sys.exit(status if status >= 0 else 128 - status)
