/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compilers make good code of the loops of reduce-rows.h for these instruction sets. */
#ifndef CUDACCL_CPU_REDUCE_PORTABLE_H
#define CUDACCL_CPU_REDUCE_PORTABLE_H

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

#endif /* CUDACCL_CPU_REDUCE_PORTABLE_H */
