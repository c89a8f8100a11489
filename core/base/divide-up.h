/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quotients that are rounded up. */
#ifndef CUDACCL_DIVIDE_UP_H
#define CUDACCL_DIVIDE_UP_H

#include <stdint.h>

/* The sum of both numbers must not exceed 64 bits, in these and the next. */
static inline uint64_t
divide_up (uint64_t dividend, uint64_t divisor)
{
  return (dividend + divisor - 1) / divisor;
}

/* The least multiple of a unit that is no less than a size. */
static inline uint64_t
round_up (uint64_t size, uint64_t unit)
{
  return divide_up (size, unit) * unit;
}

#endif /* CUDACCL_DIVIDE_UP_H */
