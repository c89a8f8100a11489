#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many lines of the kernels and the elements the tests without a GPU run through.

usage: report.py BUILD CUDA_INCLUDE [--no-tests]

Builds the project in BUILD with clang's counters, runs the tests that need no GPU (--no-tests:
none, the counts of former runs are shown), and prints a table and the lines that nobody came to.
A line counts as covered if any copy of it, of a header or a template, was run.
"""
import collections
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.join(root, 'tests', 'simcuda'))
from nested import prepare  # noqa: E402

SUITES = ['simcuda', 'fuzz', 'check']
# These repeat others in another order or more often.
LEFT_OUT = re.compile('seed|schedule|accesses|cycles|threads|installed|introspection')
# Groups of files, and the required share of executed lines.
GROUPS = {
    'cuda/*.cu, *.cuh': (r'(cuda|research)/.*\.(cu|cuh|inc)$', 95),
    'cuda/*.c': (r'(cuda|research/cuda)/.*\.c$', None),
    'gst/': (r'gst/.*\.c$', 90),
}
LINE = re.compile(r'\s*([^:]+):\s*(\d+):(.*)$')


def run_tests(build):
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith('.gcda'):
                os.remove(os.path.join(folder, name))
    subprocess.run(['meson', 'compile', '-C', build], check=True, stdout=subprocess.DEVNULL)
    suites = [word for suite in SUITES for word in ('--suite', suite)]
    listed = subprocess.run(['meson', 'test', '-C', build, '--list', *suites], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    names = [line.split(' / ')[1] for line in listed.splitlines() if ' / ' in line]
    # Counting takes time.
    result = subprocess.run(['meson', 'test', '-C', build, '--timeout-multiplier', '5',
                             *(name for name in names if not LEFT_OUT.search(name))],
                            stdout=subprocess.PIPE, text=True)
    print('\n'.join(line for line in result.stdout.splitlines()
                    if re.match(r'\s*(Ok|Fail|Timeout|Skipped):', line) or 'FAIL' in line or 'TIMEOUT' in line))


def read_counts(build):
    """For each file of the project, for each line with code: how often it was run."""
    gcov = next((tool for tool in ('llvm-cov', 'llvm-cov-14', 'llvm-cov-19') if shutil.which(tool)), None)
    if not gcov:
        sys.exit('llvm-cov is missing; it comes with the package llvm')
    counts = collections.defaultdict(dict)
    notes = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names
             if name.endswith('.gcno') and 'accesses' not in name]
    for note in notes:
        text = subprocess.run([gcov, 'gcov', '-t', note], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors='replace', cwd=build).stdout
        lines = None
        for line in text.splitlines():
            parts = LINE.match(line)
            if not parts:
                continue
            count, number, rest = parts[1], int(parts[2]), parts[3]
            if number == 0:
                if rest.startswith('Source:'):
                    path = os.path.relpath(os.path.normpath(os.path.join(build, rest[7:])), root)
                    lines = counts[path]
            elif count != '-':
                n = 0 if count[0] in '#=' else int(count.rstrip('*'))
                lines[number] = max(lines.get(number, 0), n)
    return counts


def ranges(numbers):
    """1, 2, 3, 7 as 1-3, 7."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ', '.join(f'{a}-{b}' if a != b else str(a) for a, b in parts)


def main():
    build, cuda_include, *rest = sys.argv[1:]
    build = os.path.abspath(build)
    os.makedirs(build, exist_ok=True)
    prepare(root, build, cuda_include, ['-Db_coverage=true', '-Doptimization=1'])
    if '--no-tests' not in rest:
        run_tests(build)
    counts = read_counts(build)
    enough = True
    missed = []
    print(f'{"":28} {"lines":>6} {"run":>6} {"share":>8}')
    for title, (pattern, wanted) in GROUPS.items():
        files = {path: lines for path, lines in sorted(counts.items()) if re.match(pattern, path) and lines}
        n_lines = sum(len(lines) for lines in files.values())
        n_run = sum(1 for lines in files.values() for count in lines.values() if count)
        share = 100 * n_run / n_lines if n_lines else 0
        enough &= wanted is None or share >= wanted
        print(f'{title:28} {n_lines:6} {n_run:6} {share:7.1f}%'
              f'{f"  (at least {wanted} % wanted)" if wanted else ""}')
        for path, lines in files.items():
            never = sorted(number for number, count in lines.items() if not count)
            covered = len(lines) - len(never)
            print(f'  {path:36} {covered:5} of {len(lines):5} {100 * covered / len(lines):7.1f}%')
            if never:
                missed.append(f'{path}: {ranges(never)}')
    print('\nlines that no test came to:')
    print('\n'.join(missed))
    sys.exit(not enough)


main()
