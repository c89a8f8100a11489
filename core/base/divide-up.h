/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quotients that are rounded up. */
#pragma once

#include <stdint.h>

/* The sum of dividend and divisor must fit their type, here and in divide_up(). The macro is for
 * constants, and for kernels, in which a division of 32 bits is faster than one of 64. */
#define CUDACCL_DIVIDE_UP(dividend, divisor) (((dividend) + (divisor)-1) / (divisor))

static inline uint64_t
divide_up (uint64_t dividend, uint64_t divisor)
{
  return CUDACCL_DIVIDE_UP (dividend, divisor);
}

/* The least multiple of a unit that is no less than a size. */
static inline uint64_t
round_up (uint64_t size, uint64_t unit)
{
  return divide_up (size, unit) * unit;
}
