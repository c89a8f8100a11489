/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compilers make good code of the loops of reduce-rows.h for these instruction sets. */
#pragma once

#include "pixels.h"

static ALWAYS_INLINE uint32_t
reduce_fours (const ReducedRow *row)
{
  return 0;
}

static ALWAYS_INLINE uint32_t
reduce_twos (const ReducedRow *row)
{
  return 0;
}
