#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants one bug at a time and demands that the tests on the simulated driver notice.

usage: run-mutations.py BUILD CUDA_INCLUDE [NAME…]

The sources are copied to BUILD/source, built there as tests/simcuda/nested.py builds, and every
patch of this folder is applied, built, tested and taken back. Without names, all of them. Prints
TAP; a patch that does not apply, does not build or is not noticed has failed.
"""
import glob
import os
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.join(root, 'tests', 'simcuda'))
from nested import prepare  # noqa: E402

TARGETS = ['tests/fuzz/fuzz-frames', 'tests/simcuda/test-faults', 'tests/simcuda/libcuda.so.1',
           'tests/simcuda/accesses/libcuda.so.1']


def tests(build):
    """What is run, quick ones first: the environment and the command."""
    plain, accesses = (os.path.join(build, 'tests', 'simcuda', folder) for folder in ('', 'accesses'))
    fuzz = os.path.join(build, 'tests', 'fuzz', 'fuzz-frames')
    yield {'LD_LIBRARY_PATH': plain}, [fuzz, '--random', '100', '1']
    yield {'LD_LIBRARY_PATH': plain}, [os.path.join(build, 'tests', 'simcuda', 'test-faults')]
    for seed in range(1, 9):
        yield ({'LD_LIBRARY_PATH': accesses, 'SIMCUDA_SEED': str(seed)},
               [fuzz, '--random', '150', str(seed)])
    yield {'LD_LIBRARY_PATH': plain}, [fuzz, os.path.join(root, 'tests', 'fuzz', 'corpus-frames')]


def run(command, cwd=None, env=None, timeout=300):
    try:
        return subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    except subprocess.TimeoutExpired as expired:
        return subprocess.CompletedProcess(command, 124, 'it did not end\n', '')


def noticed(build):
    """The line with which the first test that fails says so, or None."""
    for environment, command in tests(build):
        result = run(command, env=environment)
        if result.returncode:
            seed = environment.get('SIMCUDA_SEED')
            lines = [line for line in result.stdout.splitlines()
                     if line.strip() and 'SIMCUDA_SEED' not in line and not line.startswith(('ok', '#', '1..'))]
            return (f'seed {seed}: ' if seed else '') + (lines[0] if lines else f'exit status {result.returncode}')
    return None


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
    patches = [p for p in patches if not names or os.path.basename(p)[:-len('.patch')] in names]

    print(f'1..{len(patches) + 1}', flush=True)
    built = run(['ninja', '-C', nested, *TARGETS], timeout=1200)
    failure = 'it does not build' if built.returncode else noticed(nested)
    print(f'{"not ok" if failure else "ok"} without a planted bug: {failure or "nothing is noticed"}', flush=True)
    if failure:
        print('\n'.join('# ' + line for line in built.stdout.splitlines()[-20:]))
        sys.exit(1)

    n_missed = 0
    for patch in patches:
        name = os.path.basename(patch)[:-len('.patch')]
        applied = run(['patch', '-p1', '--forward', '-i', patch], cwd=source)
        if applied.returncode:
            failure, notice = 'the patch does not apply', None
        elif run(['ninja', '-C', nested, *TARGETS], timeout=1200).returncode:
            failure, notice = 'it does not build', None
        else:
            notice = noticed(nested)
            failure = None if notice else 'nothing noticed it'
        if applied.returncode == 0:
            run(['patch', '-p1', '--reverse', '-i', patch], cwd=source)
        n_missed += bool(failure)
        print(f'{"not ok" if failure else "ok"} {name}: {failure or notice}', flush=True)
    sys.exit(n_missed > 0)


main()
