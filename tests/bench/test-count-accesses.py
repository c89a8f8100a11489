#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kernels that count their memory accesses: what is counted, and that they still assemble.

usage: test-count-accesses.py COUNT_ACCESSES PTXAS PTX...
"""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

script, ptxas, *files = sys.argv[1:]
specification = importlib.util.spec_from_file_location("count_accesses", script)
count_accesses = importlib.util.module_from_spec(specification)
specification.loader.exec_module(count_accesses)

HEAD = ".version 7.0\n.target sm_75\n.address_size 64\n"
ENTRY = HEAD + ".visible .entry %s(\n\t.param .u64 %s_param_0\n)\n{\n\t.reg .b32 %%r<9>;\n\t.reg .b64 %%rd<9>;\n" \
    "\t.reg .pred %%p<9>;\n%s\tret;\n}\n"
INSTRUCTIONS = {  # what each adds to: 0 reads, 1 writes, 2 atomics, None nothing
    "ld.param.u64 \t%rd1, [k_param_0];": None,
    "ld.global.u32 \t%r1, [%rd1];": 0,
    "ld.global.nc.u8 \t%r1, [%rd1+4];": 0,
    "ld.volatile.global.u32 \t%r1, [%rd1];": 0,
    "ld.global.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1];": 0,
    "ld.relaxed.gpu.global.u32 \t%r1, [%rd1];": 0,
    "ld.shared.u32 \t%r1, [%r2];": None,
    "st.shared.u32 \t[%r2], %r1;": None,
    "st.global.u32 \t[%rd1], %r1;": 1,
    "@%p1 st.global.u32 \t[%rd1], %r1;": 1,
    "atom.global.min.u32 \t%r1, [%rd1], %r2;": 2,
    "@!%p2 atom.global.cas.b32 \t%r1, [%rd1], %r2, %r3;": 2,
    "red.global.add.u32 \t[%rd1], %r1;": 2,
    "atom.shared.add.u32 \t%r1, [%r2], %r3;": None,
    "barrier.sync \t0;": None,
    "add.s32 \t%r1, %r2, %r3;": None,
}
ANYWHERE = {  # addresses of any memory, which the thread must look at
    "ld.u32 \t%r1, [%rd2+8];": 0,
    "@!%p1 st.u32 \t[%rd1], %r1;": 1,
    "@%p1 atom.add.u32 \t%r1, [%rd1], %r2;": 2,
}
REFUSED = {
    "an address that is a number": "ld.u32 \t%r1, [64];",
    "an asynchronous copy": "cp.async.ca.shared.global \t[%r1], [%rd1], 4;",
}
results = []


def check(name, passed, detail=""):
    results.append(passed)
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {name}", flush=True)
    if not passed:
        print("# " + detail.replace("\n", "\n# "))


def assembles(text):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        result = subprocess.run([ptxas, "-arch=sm_90", file.name, "-o", "/dev/null"], capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def refuses(text):
    try:
        count_accesses.instrument(text, "test")
    except SystemExit:
        return True
    return False


print(f"1..{len(INSTRUCTIONS) + len(ANYWHERE) + len(REFUSED) + 3 + len(files)}")
for instruction, counter in INSTRUCTIONS.items():
    before = ENTRY % ("k", "k", f"\t{instruction}\n")
    added = [line.strip() for line in count_accesses.instrument(before, "test").splitlines()
             if line not in before.splitlines()]
    guard = (re.match(r"@!?%p\d ", instruction) or [""])[0]
    expected = [".visible .global .align 8 .u64 k_accesses[3];"]
    if counter is not None:
        expected.append(f"{guard}red.global.add.u64 \t[k_accesses+{8 * counter}], 1;")
    check(f"counts {instruction.split()[0] if not guard else instruction.split()[1]} {guard}".strip(),
          added == expected, f"{instruction}\nadded {added}\nnot {expected}")
for instruction, counter in ANYWHERE.items():
    counting = count_accesses.instrument(ENTRY % ("k", "k", f"\t{instruction}\n"), "test")
    guard = (re.match(r"@!?%p\d ", instruction) or [""])[0]
    address = re.search(r"\[(%rd\d)", instruction)[1]
    passed, detail = assembles(counting)
    check(f"counts {instruction.removeprefix(guard).split()[0]} {guard}if global",
          passed and f"mov.pred \t%counted, 0;\n\t{guard}isspacep.global \t%counted, {address};\n"
          f"\t@%counted red.global.add.u64 \t[k_accesses+{8 * counter}], 1;\n" in counting, f"{detail}\n{counting}")
for name, instruction in REFUSED.items():
    check(f"refuses {name}", refuses(ENTRY % ("k", "k", f"\t{instruction}\n")))
check("refuses functions", refuses(HEAD + ".func f()\n{\n\tret;\n}\n"))

two = ENTRY % ("a", "a", "\tst.global.u32 \t[%rd1], %r1;\n") + \
    (ENTRY % ("b", "b", "\tst.global.u32 \t[%rd1], %r1;\n"))[len(HEAD):]
counting = count_accesses.instrument(two, "test")
check("kernels have counters of their own", counting.count("[a_accesses+8]") == 1
      and counting.count("[b_accesses+8]") == 1, counting)
check("what is made assembles", *assembles(counting))

for file in files:
    text = pathlib.Path(file).read_text()
    counting = count_accesses.instrument(text, file)
    # The same by another way: every instruction that names global memory, but for conversions.
    n = len(re.findall(r"^\s*(?:@!?%p\d+\s+)?(?:ld|st|atom|red)\S*\.global\S*\s", text, re.M))
    n += len(re.findall(r"^\s*(?:@!?%p\d+\s+)?(?:ld|st|atom|red)(?!\S*\.(?:global|shared|param|local|const|pred)\b)"
                        r"\.\S*\s", text, re.M))
    counted = counting.count("_accesses+")
    passed, detail = assembles(counting)
    check(pathlib.Path(file).stem, passed and counted == n > 0, f"{counted} of {n} counted\n{detail}")

sys.exit(0 if all(results) else 1)
