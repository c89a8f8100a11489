/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choices that the CPU labeller makes by itself, except in tests and benchmarks. */
#pragma once

#include <cudaccl/labeller.h>

typedef struct CclCpuTuning {
  const char *instructions;   /* "portable", "avx2", "avx512", "neon"; NULL: the processor's best */
  uint64_t pixels_per_thread; /* the fewest pixels for which a thread is used; 0: the default */
  size_t max_cached_bytes;    /* larger label maps are written past the caches; 0: the default */
} CclCpuTuning;

/* As ccl_cpu_labeller_new(). CUDACCL_ERROR_UNSUPPORTED also if the processor lacks the
 * instructions. */
CclLabeller *ccl_cpu_labeller_new_tuned (
    const CclLabellerPlan *plan, const CclCpuTuning *tuning, CclError *error);
