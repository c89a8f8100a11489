/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Otsu's threshold of a histogram: N. Otsu, "A threshold selection method from
 * gray-level histograms", IEEE Transactions on Systems, Man, and Cybernetics 9, 1979, section II.
 *
 * CPU and GPU compute exactly this: counts and sums are integers, and every other operation is an
 * IEEE double-precision one, rounded to nearest, in the order written here, never contracted to a
 * fused multiply-add. cpu/ tries the thresholds one after the other, cuda/ many of them at once:
 * the separation of a threshold depends on nothing but the histogram.
 */
#pragma once

#include <stdint.h>

/* Operations that are rounded one by one. C files that include this header are compiled with
 * -ffp-contract=off. */
#ifdef __CUDACC__
#define CUDACCL_OTSU_FUNCTION __device__ static __forceinline__
#define CUDACCL_OTSU_SUBTRACT(a, b) __dsub_rn (a, b)
#define CUDACCL_OTSU_MULTIPLY(a, b) __dmul_rn (a, b)
#define CUDACCL_OTSU_DIVIDE(a, b) __ddiv_rn (a, b)
#else
#define CUDACCL_OTSU_FUNCTION static inline
#define CUDACCL_OTSU_SUBTRACT(a, b) ((a) - (b))
#define CUDACCL_OTSU_MULTIPLY(a, b) ((a) * (b))
#define CUDACCL_OTSU_DIVIDE(a, b) ((a) / (b))
#endif

/* The threshold of a frame of 8 bits whose pixels have one value: no pixel is greater. */
#define CUDACCL_OTSU_NO_THRESHOLD 255

/* The separation of a threshold: the variance between the two classes, times the number of pixels
 * squared. n_below: pixels not greater than the threshold, sum_below: the sum of their values; n
 * and sum: of all pixels. 0 when a class is empty, else greater than 0. */
CUDACCL_OTSU_FUNCTION double
ccl_otsu_separation (uint64_t n_below, uint64_t sum_below, uint64_t n, uint64_t sum)
{
  uint64_t n_above = n - n_below;
  if (n_below == 0 || n_above == 0)
    return 0;
  double mean_below = CUDACCL_OTSU_DIVIDE ((double)sum_below, (double)n_below);
  double mean_above = CUDACCL_OTSU_DIVIDE ((double)(sum - sum_below), (double)n_above);
  double distance = CUDACCL_OTSU_SUBTRACT (mean_above, mean_below);
  return CUDACCL_OTSU_MULTIPLY (CUDACCL_OTSU_MULTIPLY ((double)n_below, (double)n_above),
      CUDACCL_OTSU_MULTIPLY (distance, distance));
}

/* The threshold of greatest separation, the lowest if several are equal; pixels greater than it are
 * foreground. histogram: the number of pixels of each of n_values values, less than 2⁵³ together.
 * Without pixels, or if all have one value: the greatest value, so that no pixel is foreground. */
CUDACCL_OTSU_FUNCTION uint32_t
ccl_otsu_threshold_of (const uint64_t *histogram, uint32_t n_values)
{
  uint64_t n = 0, n_below = 0;
  uint64_t sum = 0, sum_below = 0;
  for (uint32_t value = 0; value < n_values; value++) {
    n += histogram[value];
    sum += histogram[value] * value;
  }

  uint32_t best = n_values - 1;
  double best_separation = 0;
  for (uint32_t value = 0; value < n_values; value++) {
    if (histogram[value] == 0)
      continue; /* the separation is that of the value before */
    n_below += histogram[value];
    sum_below += histogram[value] * value;
    double separation = ccl_otsu_separation (n_below, sum_below, n, sum);
    if (separation > best_separation) {
      best_separation = separation;
      best = value;
    }
  }
  return best;
}
