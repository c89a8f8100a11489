/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lesser and the greater one of two numbers. */
#pragma once

#include <stdint.h>

static inline __attribute__ ((always_inline)) uint32_t
lesser (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static inline __attribute__ ((always_inline)) uint32_t
greater (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}
