#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the C++ file that compiles one .cu file for the CPU and registers its kernels.

usage: register-kernels.py SOURCE OUTPUT DEPFILE PREPROCESSOR...

The source is preprocessed first, so that kernels defined by macros are found. The output defines
dynamic shared memory (extern __shared__ T name[]) under each declared name.
"""
import os
import re
import subprocess
import sys


def balanced(text, start):
    """The text between the parenthesis at start and its partner, and where that ends."""
    depth = 0
    for i in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1:i], i + 1
    sys.exit(f'unbalanced parentheses after: {text[start:start + 60]}')


def find_kernels(text):
    """Names of the kernels, with the first argument of __launch_bounds__ or 1024."""
    kernels = {}
    for match in re.finditer(r'\bsimcuda_global\b', text):
        position, bounds = match.end(), '1024'
        while True:
            word = re.compile(r'\s*(\w+)\s*').match(text, position)
            if not word:
                sys.exit(f'not a kernel: {text[match.start():match.start() + 80]}')
            if word[1] == 'simcuda_bounds':
                arguments, position = balanced(text, word.end())
                bounds = arguments.split(',')[0].strip()
            elif word[1] == '__attribute__':
                position = balanced(text, word.end())[1]
            elif text[word.end()] == '(':
                kernels[word[1]] = bounds
                break
            else:
                position = word.end()
    return kernels


def main():
    source, output, depfile, *preprocessor = sys.argv[1:]
    command = [*preprocessor, '-DSIMCUDA_LIST', '-E', '-P', '-MD', '-MF', depfile, '-MT', output, source]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    # The header's own definitions do not count.
    kernels = find_kernels(text)
    dynamic = sorted(set(re.findall(r'\bextern\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?simcuda_shared\b[^;]*?(\w+)\s*\[\s*\]', text)))
    with open(output, 'w', encoding='utf-8') as file:
        file.write(f'#include "{os.path.abspath(source)}"\n#include "dynamic-shared.h"\n#include "kernel.h"\n\n')
        for name in dynamic:
            file.write(f'SIMCUDA_DYNAMIC_SHARED ({name})\n')
        for name, bounds in kernels.items():
            file.write(f'static simcuda::Registration<&{name}> register_{name} ("{name}", {bounds});\n')


main()
