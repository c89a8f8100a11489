/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The quotient of two floats, correctly rounded if no intermediate result leaves the range of
 * normal numbers: an approximate reciprocal with an error of one unit in the last place, a Newton
 * step, and a correction by the remainder. This is the compiler's division without its test for
 * other numbers and the function call for them. */
static __device__ __forceinline__ float
ccl_quotient (float a, float b)
{
#ifdef CUDACCL_SIMCUDA
  const float approximate = 1.0f / b;
#else
  float approximate;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(approximate) : "f"(b));
#endif
  const float inverse = __fmaf_rn (approximate, __fmaf_rn (-b, approximate, 1.0f), approximate);
  const float estimate = __fmul_rn (a, inverse);
  return __fmaf_rn (inverse, __fmaf_rn (-b, estimate, a), estimate);
}
