/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over values: two words of 32 bits in a tile, 64 bits in device memory. */
#ifndef CUDACCL_MEASURE_TOTALS_CUH
#define CUDACCL_MEASURE_TOTALS_CUH

#include <stdint.h>

typedef unsigned long long Long;

/* A total of 64 bits is added as two words of 32 bits: the LOWER_BITS lowest bits, and the rest.
 * Neither word overflows while 2^12 totals are added: each lower word is below 2^20, and all totals
 * of a tile of 2^13 pixels are below 2^52 together, so their upper words are below 2^32. */
enum { LOWER_BITS = 20 };

static __device__ __forceinline__ void
split_total (uint32_t *words, Long total)
{
  words[0] = (uint32_t)total & ((1u << LOWER_BITS) - 1);
  words[1] = (uint32_t)(total >> LOWER_BITS);
}

static __device__ __forceinline__ Long
join_total (const uint32_t *words)
{
  return words[0] + ((Long)words[1] << LOWER_BITS);
}

static __device__ __forceinline__ void
add_long (uint64_t *to, Long value)
{
  if (value)
    atomicAdd ((Long *)to, value);
}

#endif /* CUDACCL_MEASURE_TOTALS_CUH */
