#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embeds the machine code of kernel files: foo-bar.fatbin becomes the CclCudaImage ccl_cuda_image_foo_bar.

embed-images.py OUTPUT.c OUTPUT.h FATBIN...
"""

import pathlib
import sys

source, header, *fatbins = map(pathlib.Path, sys.argv[1:])
definitions = [f'#include "{header.name}"', ""]
declarations = ["#pragma once", '#include "cuda/driver/device.h"', ""]
for fatbin in fatbins:
    image = f"ccl_cuda_image_{fatbin.stem.replace('-', '_')}"
    # The assembler includes a file of any size as it is.
    quoted = str(fatbin.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    definitions += [
        '__asm__ (".pushsection .rodata\\n.balign 16\\n"',
        f'         ".hidden {image}_data\\n.globl {image}_data\\n{image}_data:\\n"',
        f'         ".incbin \\"{quoted}\\"\\n.popsection\\n");',
        f'extern const unsigned char {image}_data[] __attribute__ ((visibility ("hidden")));',
        f'const CclCudaImage {image} = {{"{fatbin.stem}", {image}_data}};',
        "",
    ]
    declarations.append(f"extern const CclCudaImage {image};")
source.write_text("\n".join(definitions))
header.write_text("\n".join(declarations) + "\n")
