/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction sets that vector code is compiled for. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The instruction set that the user asks for; NULL: none, the best one is to be chosen. */
static inline const char *
instructions_of_user (void)
{
  const char *name = getenv ("CCL_CPU_INSTRUCTIONS");
  return name && *name ? name : NULL;
}

/* Whether this processor has all instructions of a set: "portable", "avx2", "avx512" or "neon". */
static inline bool
instructions_are_offered (const char *name)
{
#if HAVE_X86_64
  if (strcmp (name, "avx512") == 0)
    return __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl") &&
           __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vbmi") &&
           __builtin_cpu_supports ("avx512vbmi2") && __builtin_cpu_supports ("avx512bitalg") &&
           __builtin_cpu_supports ("avx512vpopcntdq") && __builtin_cpu_supports ("bmi2");
  /* All processors with BMI2 have LZCNT, too; clang 14 has no name for it. */
  if (strcmp (name, "avx2") == 0)
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
           __builtin_cpu_supports ("bmi2") && __builtin_cpu_supports ("popcnt");
#elif HAVE_AARCH64
  if (strcmp (name, "neon") == 0)
    return true; /* part of AArch64 */
#endif
  return strcmp (name, "portable") == 0;
}

/* Whether code for an instruction set can run here and is wanted. wanted: a name; NULL: any. */
static inline bool
instructions_fit (const char *name, const char *wanted)
{
  return instructions_are_offered (name) && (!wanted || strcmp (name, wanted) == 0);
}
