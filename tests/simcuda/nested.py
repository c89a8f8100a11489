#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the project again with other options and runs some of its tests in that build.

usage: nested.py [--build-only] SOURCE BUILD CUDA_INCLUDE [--option=VALUE…] -- TEST…

The build uses clang for its sanitizers. It compiles no GPU code: a script in place of nvcc writes
empty files, because the simulated driver contains the kernels. TEST is a name as in `meson test`.
Prints TAP, one line for each test. With --build-only, what the tests need is built, and they do not run.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

NVCC = '''#!/bin/sh
# Writes an empty image and its dependencies; called as nvcc … -MF DEPFILE -o OUTPUT INPUT.
while [ $# -gt 1 ]; do
  case $1 in
  -MF) depfile=$2 ;;
  -o) output=$2 ;;
  esac
  shift
done
: >"$output"
[ -z "$depfile" ] || echo "$output: $1" >"$depfile"
'''
# The stock plugins that tests use. Loading all plugins would take long with a sanitizer, and some
# leak. nvcodec initialises the driver when its plugin is scanned, before tests fork.
PLUGINS = ['app', 'coreelements', 'coretracers', 'jpeg', 'videoconvertscale', 'videofilter', 'videotestsrc']
TRACER_CRASHED = 'LeakSanitizer has encountered a fatal error'
LEAKED = 'detected memory leaks'
FAILED_CASE = re.compile(r'^not ok|^\d+%: Checks: .*(Failures|Errors): [1-9]', re.M)
# Finds the callers of functions without frame pointers, such as GLib's; programs take up to ten times as long.
SLOW_UNWINDER = 'fast_unwind_on_malloc=0:malloc_context_size=30'
SANITIZERS = {
    # With six callers of each allocation, programs are up to a fifth faster than with thirty.
    'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=0:handle_sigill=1:malloc_context_size=6',
    'LSAN_OPTIONS': 'suppressions={source}/tests/sanitizers/leaks.supp:print_suppressions=0',
    'TSAN_OPTIONS': 'suppressions={source}/tests/sanitizers/threads.supp:halt_on_error=1:die_after_fork=0',
}


def prepare(source, build, cuda_include, options):
    # Outside the source tree, where Meson takes no include folders given by path.
    name = 'cudaccl-toolkit-' + hashlib.sha256(build.encode()).hexdigest()[:16]
    toolkit = os.path.join(tempfile.gettempdir(), name)
    os.makedirs(os.path.join(toolkit, 'bin'), exist_ok=True)
    include = os.path.join(toolkit, 'include')
    if not os.path.lexists(include):
        os.symlink(os.path.realpath(cuda_include), include)
    nvcc = os.path.join(toolkit, 'bin', 'nvcc')
    with open(nvcc, 'w', encoding='utf-8') as file:
        file.write(NVCC)
    os.chmod(nvcc, 0o755)
    native = os.path.join(build, 'native.ini')
    with open(native, 'w', encoding='utf-8') as file:
        file.write(f"[binaries]\nc = 'clang'\ncpp = 'clang++'\nnvcc = '{nvcc}'\n"
                   '[properties]\nsimcuda_nested = true\n')
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        # Meson would take what an interrupted configuration left for a complete one.
        shutil.rmtree(os.path.join(build, 'meson-private'), ignore_errors=True)
        command = ['meson', 'setup', build, source, '--native-file', native, '-Db_lundef=false',
                   '-Dbench=disabled', *options]
        environment = {k: v for k, v in os.environ.items() if k not in ('CC', 'CXX', 'CFLAGS', 'CXXFLAGS')}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def environment_of_tests(source, build):
    plugins = os.path.join(build, 'stock-plugins')
    os.makedirs(plugins, exist_ok=True)
    stock = subprocess.run(['pkg-config', '--variable=pluginsdir', 'gstreamer-1.0'],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    for name in PLUGINS:
        plugin, link = os.path.join(stock, f'libgst{name}.so'), os.path.join(plugins, f'libgst{name}.so')
        if os.path.exists(plugin) and not os.path.lexists(link):
            os.symlink(plugin, link)
    environment = dict(os.environ)
    environment['GST_PLUGIN_SYSTEM_PATH_1_0'] = plugins
    environment['GST_REGISTRY_FORK'] = 'no'  # the scanner is not instrumented
    environment['G_SLICE'] = 'always-malloc'  # GLib's own allocator would hide what is freed
    environment['CK_FORK'] = 'no'  # a search for leaks takes time after each fork
    for name, value in SANITIZERS.items():
        value = value.format(source=source)
        environment[name] = ':'.join(filter(None, [value, os.environ.get(name)]))
    return environment


def text_of(result):
    return result.get('stdout', '') + result.get('stderr', '')


def build_tests(build, tests):
    # Meson builds what the tests need, then runs `true` in their place.
    subprocess.run(['meson', 'test', '-C', build, '--wrapper', 'true', *tests], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_tests(build, tests, environment):
    """The log of each test by name, and Meson's own output."""
    log = os.path.join(build, 'meson-logs', 'testlog.json')
    if os.path.exists(log):
        os.remove(log)
    # Sanitizers take several times as long, more so beside other work: one at a time, beside the tests of the outer build.
    run = subprocess.run(['meson', 'test', '-C', build, '--num-processes', '1', '--timeout-multiplier', '3', *tests],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    results = {}
    if os.path.exists(log):
        with open(log, encoding='utf-8') as file:
            for line in file:
                result = json.loads(line)
                results[result['name'].split(' / ')[-1]] = result
    return results, run.stdout


def must_run_again(text):
    """Whether a program has not failed, as far as its output says: LeakSanitizer's own thread crashed, as in one
    process of some thousands, or there is a leak that leaks.supp may name, which needs whole stacks."""
    return TRACER_CRASHED in text or (LEAKED in text and not FAILED_CASE.search(text))


def main():
    arguments = sys.argv[1:]
    is_build_only = arguments[0] == '--build-only'
    source, build, cuda_include, *rest = arguments[is_build_only:]
    split = rest.index('--')
    options, tests = rest[:split], rest[split + 1:]
    os.makedirs(build, exist_ok=True)
    prepare(source, build, cuda_include, options)
    if is_build_only:
        build_tests(build, tests)
        return

    print(f'1..{len(tests)}', flush=True)
    environment = environment_of_tests(source, build)
    results, output = run_tests(build, tests, environment)
    again = [name for name, result in results.items() if must_run_again(text_of(result))]
    if again:
        environment['ASAN_OPTIONS'] += ':' + SLOW_UNWINDER
        results.update(run_tests(build, again, environment)[0])
    for test in tests:
        result = results.get(test)
        name = f'{os.path.basename(build)}: {test}'
        if result is None:
            print(f'not ok {name} (did not run)')
        elif result['result'] == 'SKIP':
            print(f'ok {name} # SKIP {result["stdout"].strip().splitlines()[-1:]}')
        else:
            print(f'{"ok" if result["result"] == "OK" else "not ok"} {name} ({result["duration"]:.1f} s)')
        if result and result['result'] not in ('OK', 'SKIP'):
            print('\n'.join('# ' + line for line in text_of(result).splitlines()[-80:]))
    if not results:
        print('\n'.join('# ' + line for line in output.splitlines()[-60:]))


if __name__ == '__main__':
    main()
