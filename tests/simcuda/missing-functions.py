#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a C++ file with a stub for each driver function that the simulator does not implement.

usage: missing-functions.py CUDA_H OUTPUT IMPLEMENTATION...

A stub prints its name and fails. The names are those that cuda.h and cudaGL.h (beside it) declare,
with their version suffixes; functions found in the files IMPLEMENTATION get no stub.
"""
import os
import re
import sys


def main():
    header, output, *implementations = sys.argv[1:]
    declared = set()
    for name in ('cuda.h', 'cudaGL.h'):
        with open(os.path.join(os.path.dirname(header), name), encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.DOTALL)
        renamed = dict(re.findall(r'^\s*#define (cu\w+)\s+(cu\w+)\s*$', text, re.MULTILINE))
        for function in re.findall(r'^\s*CUresult CUDAAPI\s+(cu\w+)\s*\(', text, re.MULTILINE):
            declared |= {function, renamed.get(function, function)}
    implemented = set()
    for path in implementations:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        implemented |= set(re.findall(r'^(cu\w+) \(', text, re.MULTILINE))
        implemented |= set(re.findall(r'asm\s*\(\s*"(cu\w+)"', text))
    # A renamed function has another signature under its old name; new code does not use that.
    with open(output, 'w', encoding='utf-8') as file:
        file.write('extern "C" int simcuda_not_simulated (const char *name, void *caller);\n'
                   '#define MISSING(name) \\\n'
                   '  extern "C" __attribute__ ((visibility ("default"))) int name () \\\n'
                   '  { \\\n'
                   '    return simcuda_not_simulated (#name, __builtin_return_address (0)); \\\n'
                   '  }\n')
        for name in sorted(declared - implemented):
            file.write(f'MISSING ({name})\n')


main()
