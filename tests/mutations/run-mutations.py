#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applies one mutation (a patch with a bug) at a time; the tests that need no GPU must detect it.

usage: run-mutations.py BUILD CUDA_INCLUDE [NAME…]

The sources are copied to BUILD/source and built there as in tests/simcuda/nested.py. Each patch of
this folder is applied, built, tested and reverted; NAME restricts the run to some patches. Prints
TAP; a patch that does not apply, does not build or is not detected has failed.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.join(root, 'tests', 'simcuda'))
from nested import prepare  # noqa: E402

LABELLER_TARGETS = ['tests/fuzz/fuzz-frames', 'tests/fuzz/fuzz-foregrounds', 'tests/simcuda/test-faults',
                    'tests/simcuda/libcuda.so.1', 'tests/simcuda/accesses/libcuda.so.1']
# The tests to run, quick ones first, including the programs of tests/check.
ELEMENT_TESTS = ['fuzz-metadata', 'fuzz-elements', 'check-cclcombiner', 'check-ccloverlay',
                 'check-cudaccl-foreground-simulated', 'check-cudaccl-faults-simulated']
ELEMENT_TARGETS = ['gst/libgstccl.so', 'tests/simcuda/libcuda.so.1', 'tests/fuzz/fuzz-metadata',
                   'tests/fuzz/fuzz-elements', 'tests/check/check-cclcombiner',
                   'tests/check/check-ccloverlay', 'tests/check/check-foreground',
                   'tests/check/check-faults']


def labeller_tests(build):
    """The environment and the command of each test, quick ones first."""
    plain, accesses = (os.path.join(build, 'tests', 'simcuda', folder) for folder in ('', 'accesses'))
    frames, foregrounds = (os.path.join(build, 'tests', 'fuzz', f'fuzz-{target}')
                           for target in ('frames', 'foregrounds'))
    yield {'LD_LIBRARY_PATH': plain}, [foregrounds, '--random', '100', '1']
    yield {'LD_LIBRARY_PATH': plain}, [frames, '--random', '100', '1']
    yield {'LD_LIBRARY_PATH': plain}, [os.path.join(build, 'tests', 'simcuda', 'test-faults')]
    for seed in range(1, 9):
        yield ({'LD_LIBRARY_PATH': accesses, 'SIMCUDA_SEED': str(seed)},
               [frames, '--random', '150', str(seed)])
    yield {'LD_LIBRARY_PATH': plain}, [frames, os.path.join(root, 'tests', 'fuzz', 'corpus-frames')]


def run(command, cwd=None, env=None, timeout=300):
    try:
        return subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    except subprocess.TimeoutExpired as expired:
        return subprocess.CompletedProcess(command, 124, 'it did not end\n', '')


def detected_by_labeller_tests(build):
    """The first line that reports a failure, or None."""
    for environment, command in labeller_tests(build):
        result = run(command, env=environment)
        if result.returncode:
            seed = environment.get('SIMCUDA_SEED')
            lines = [line for line in result.stdout.splitlines()
                     if line.strip() and 'SIMCUDA_SEED' not in line and not line.startswith(('ok', '#', '1..'))]
            return (f'seed {seed}: ' if seed else '') + (lines[0] if lines else f'exit status {result.returncode}')
    return None


def detected_by_element_tests(build):
    for test in ELEMENT_TESTS:
        result = run(['meson', 'test', '-C', build, '--no-rebuild', '--print-errorlogs', test], timeout=900)
        if result.returncode:
            said = re.search(r':[FE]:.*|^\w+, \d+x\d+ .*|.* becomes .*', result.stdout, re.M)
            return f'{test}: {said[0] if said else "failed"}'
    return None


def concerns_elements(patch):
    with open(patch, encoding='utf-8') as file:
        return '--- a/gst/' in file.read()


def main():
    build, cuda_include, *names = sys.argv[1:]
    build = os.path.abspath(build)
    source, nested = os.path.join(build, 'source'), os.path.join(build, 'build')
    for folder in source, nested:
        if os.path.exists(folder):
            shutil.rmtree(folder)
    files = subprocess.run(['git', '-C', root, 'ls-files', '-z'], check=True, stdout=subprocess.PIPE).stdout
    for name in files.decode().split('\0'):
        if name and os.path.exists(os.path.join(root, name)):
            os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
            shutil.copy2(os.path.join(root, name), os.path.join(source, name))
    os.makedirs(nested)
    prepare(source, nested, cuda_include, ['-Doptimization=1'])
    patches = sorted(glob.glob(os.path.join(here, '*.patch')))
    known = [os.path.basename(patch)[:-len('.patch')] for patch in patches]
    for name in names:
        if name not in known:
            sys.exit(f'there is no mutation {name}; there are {", ".join(known)}')
    patches = [p for p, name in zip(patches, known) if not names or name in names]

    print(f'1..{len(patches) + 1}', flush=True)
    targets, failure = [], None
    if not all(map(concerns_elements, patches)):
        targets += LABELLER_TARGETS
    if any(map(concerns_elements, patches)):
        targets += ELEMENT_TARGETS
    built = run(['ninja', '-C', nested, *targets], timeout=3600)
    if built.returncode:
        failure = 'it does not build'
    if not failure and not all(map(concerns_elements, patches)):
        failure = detected_by_labeller_tests(nested)
    if not failure and any(map(concerns_elements, patches)):
        failure = detected_by_element_tests(nested)
    print(f'{"not ok" if failure else "ok"} without a mutation: {failure or "the tests pass"}', flush=True)
    if failure:
        print('\n'.join('# ' + line for line in built.stdout.splitlines()[-20:]))
        sys.exit(1)

    n_missed = 0
    for patch in patches:
        name = os.path.basename(patch)[:-len('.patch')]
        targets, detect = LABELLER_TARGETS, detected_by_labeller_tests
        if concerns_elements(patch):
            targets, detect = ELEMENT_TARGETS, detected_by_element_tests
        applied = run(['patch', '-p1', '--forward', '-i', patch], cwd=source)
        if applied.returncode:
            failure, finding = 'the patch does not apply', None
        elif run(['ninja', '-C', nested, *targets], timeout=3600).returncode:
            failure, finding = 'it does not build', None
        else:
            finding = detect(nested)
            failure = None if finding else 'the tests pass'
        if applied.returncode == 0:
            run(['patch', '-p1', '--reverse', '-i', patch], cwd=source)
        n_missed += bool(failure)
        print(f'{"not ok" if failure else "ok"} {name}: {failure or finding}', flush=True)
    sys.exit(n_missed > 0)


main()
