#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs libFuzzer on each target for a number of seconds.

usage: run-fuzz.py BUILD CUDA_INCLUDE SECONDS [TARGET…]

Builds the targets of this folder in BUILD with libFuzzer, AddressSanitizer and
UndefinedBehaviorSanitizer. Inputs that cover new code are kept in BUILD/corpus-TARGET, where the
next run continues; inputs that fail are kept in BUILD/findings. Prints one line for each target at
the end; the exit status is not 0 if an input failed.
"""
import glob
import os
import re
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.append(os.path.join(root, 'tests', 'simcuda'))
from nested import environment_of_tests, prepare  # noqa: E402

# The longest useful input of each target, in bytes.
TARGETS = {'frames': 512, 'foregrounds': 512, 'elements': 512, 'metadata': 256, 'lines': 4096, 'pictures': 4096}


def build_targets(build, cuda_include, targets):
    os.makedirs(build, exist_ok=True)
    prepare(root, build, cuda_include,
            ['-Db_sanitize=address,undefined', '-Doptimization=1', '-Dfuzzers=true'])
    subprocess.run(['ninja', '-C', build, 'gst/libgstccl.so', 'tests/simcuda/libcuda.so.1',
                    *(f'tests/fuzz/fuzz-{target}' for target in targets)],
                   check=True, stdout=subprocess.DEVNULL)


def fuzz(build, target, seconds):
    """The number of inputs run, and the files of the inputs that failed."""
    corpus, findings = os.path.join(build, f'corpus-{target}'), os.path.join(build, 'findings')
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    before = set(os.listdir(findings))
    environment = {
        **environment_of_tests(root, build),
        'LD_LIBRARY_PATH': os.path.join(build, 'tests', 'simcuda'),
        'GST_PLUGIN_PATH': os.path.join(build, 'gst'),
        'GST_PLUGIN_SYSTEM_PATH_1_0': '',  # ours alone
        'GST_REGISTRY': os.path.join(build, 'fuzz.registry'),
    }
    command = [os.path.join(build, 'tests', 'fuzz', f'fuzz-{target}'), corpus,
               os.path.join(here, f'corpus-{target}'), f'-max_total_time={seconds}',
               f'-max_len={TARGETS[target]}', f'-artifact_prefix={findings}/{target}-',
               '-timeout=60', '-report_slow_units=60', '-rss_limit_mb=4096', '-print_final_stats=1', '-verbosity=0']
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors='replace')
    inputs = re.search(r'stat::number_of_executed_units:\s*(\d+)', run.stdout)
    found = sorted(set(os.listdir(findings)) - before)
    if run.returncode:
        print('\n'.join('# ' + line for line in run.stdout.splitlines()[-60:]))
    return int(inputs[1]) if inputs else 0, run.returncode, [os.path.join(findings, f) for f in found]


def main():
    build, cuda_include, seconds, *targets = sys.argv[1:]
    build = os.path.abspath(build)
    unknown = set(targets) - set(TARGETS)
    if unknown:
        sys.exit(f'there is no fuzz target {", ".join(sorted(unknown))}; there are {", ".join(TARGETS)}')
    targets = targets or list(TARGETS)
    build_targets(build, cuda_include, targets)

    broken = False
    for target in targets:
        n_inputs, status, found = fuzz(build, target, int(seconds))
        n_kept = len(glob.glob(os.path.join(build, f'corpus-{target}', '*')))
        print(f'{target}: {n_inputs} inputs in {seconds} s, {n_kept} kept for the ways they went, '
              f'{"broken by " + " ".join(found) if found else "nothing broke" if not status else "failed"}',
              flush=True)
        broken |= status != 0
    sys.exit(broken)


main()
