/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CCL_CUDA_QUOTIENT_CUH
#define CCL_CUDA_QUOTIENT_CUH

/* The quotient of two floats, correctly rounded where no number in between leaves the range of
 * normal ones: an approximate reciprocal with an error of one in the last place, Newton's step, and
 * the remainder's share. It is how the compiler divides, less the test for other numbers and the
 * call that they take. */
static __device__ __forceinline__ float
ccl_quotient (float a, float b)
{
#ifdef CCL_SIMCUDA
  const float approximate = 1.0f / b;
#else
  float approximate;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(approximate) : "f"(b));
#endif
  const float inverse = __fmaf_rn (approximate, __fmaf_rn (-b, approximate, 1.0f), approximate);
  const float estimate = __fmul_rn (a, inverse);
  return __fmaf_rn (inverse, __fmaf_rn (-b, estimate, a), estimate);
}

#endif /* CCL_CUDA_QUOTIENT_CUH */
