/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quotients that are rounded up. */
#pragma once

#include <stdint.h>

/* For constants, and for kernels, in which a division of 32 bits is faster. The sum of both numbers
 * must not exceed the bits of their type, in this and the next. */
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
