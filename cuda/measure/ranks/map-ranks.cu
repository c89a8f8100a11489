/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of given ranks among those of each label, found digit by digit from the most significant
 * one (radix selection). Values become keys: unsigned integers in the same order.
 *
 * 1. count: numbers of values of each label.
 * 2. digits: for each value that is looked for, counts the values that begin with the digits found
 *    so far by their next digit.
 * 3. choose: a thread has a value that is looked for, and finds the digit in which its rank lies.
 *
 * Lanes that add to one counter do so once.
 */
#include "cuda/kernel-lib/word-map.cuh"
#include "map-ranks-parameters.h"

#include <cudaccl/device.h>

typedef CclMapRanksParameters Parameters;

static constexpr uint32_t FULL_WARP = 0xffffffffu;
static constexpr uint32_t NO_SLOT = 0; /* labels begin at 1 */

/* A pixel of a label that is looked for; label 0: none. */
struct Pixel {
  uint32_t label;
  bool is_number;
  uint64_t key;
};

static __device__ __forceinline__ uint64_t
load (const Parameters &p, const uint8_t *value)
{
  if (p.is_aligned)
    switch (p.value_bytes) {
    case 1:
      return *value;
    case 2:
      return *(const uint16_t *)value;
    case 4:
      return *(const uint32_t *)value;
    default:
      return *(const uint64_t *)value;
    }
  uint64_t word = 0;
  for (uint32_t i = 0; i < p.value_bytes; i++)
    word |= (uint64_t)value[i] << 8 * i;
  return word;
}

/* Sets the key of a value, which is the same for both zeros, and whether it is a number. */
static __device__ __forceinline__ void
set_key (const Parameters &p, uint64_t word, Pixel &pixel)
{
  const uint64_t sign = 1ull << (8 * p.value_bytes - 1);
  const uint64_t infinity = p.value_bytes == 4 ? 0x7f800000ull : 0x7ff0000000000000ull;

  pixel.is_number = true;
  pixel.key = p.kind == CUDACCL_NUMBER_UNSIGNED ? word : word ^ sign;
  if (p.kind != CUDACCL_NUMBER_REAL)
    return;
  pixel.is_number = (word & (sign - 1)) <= infinity;
  if (word & sign)
    pixel.key = sign - (word & (sign - 1));
}

/* Pixel i in raster order; beyond the last one there is none. */
static __device__ __forceinline__ Pixel
pixel_at (const Parameters &p, uint64_t i)
{
  Pixel pixel = {0, false, 0};
  if (i >= (uint64_t)p.width * p.height * p.depth)
    return pixel;
  const uint64_t row = i / p.width;
  const uint32_t x = (uint32_t)(i % p.width);
  const uint32_t y = (uint32_t)(row % p.height), z = (uint32_t)(row / p.height);
  const uint32_t label = row_of (p.labels, y, z)[x];
  if (label == 0 || label > p.n_labels)
    return pixel;
  pixel.label = label;
  set_key (p,
      load (p, p.values + z * p.value_slice + y * p.value_row + (uint64_t)x * p.value_bytes),
      pixel);
  return pixel;
}

/* All lanes of the warp call this. slot: a number of the counter, NO_SLOT without one. */
static __device__ __forceinline__ void
count (uint64_t slot, uint32_t *counter)
{
  const uint32_t same = __match_any_sync (FULL_WARP, (unsigned long long)slot);
  if (slot != NO_SLOT && (threadIdx.x & 31) == (uint32_t)__ffs ((int)same) - 1)
    atomicAdd (counter, (uint32_t)__popc (same));
}

/* So many that all lanes of a warp do the same number of steps. */
static __device__ __forceinline__ uint64_t
padded_pixels (const Parameters &p)
{
  return ((uint64_t)p.width * p.height * p.depth + 31) / 32 * 32;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RANKS_THREADS)
    ccl_map_ranks_count (const __grid_constant__ Parameters p)
{
  const uint64_t n = padded_pixels (p);

  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const Pixel pixel = pixel_at (p, i);
    const uint64_t place = (uint64_t)pixel.label + (pixel.is_number ? 0 : p.n_labels);
    count (pixel.label ? place : NO_SLOT, p.counts + place - 1);
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RANKS_THREADS)
    ccl_map_ranks_digits (const __grid_constant__ Parameters p)
{
  const uint64_t n = padded_pixels (p);
  const uint32_t before = p.shift + CUDACCL_MAP_RANKS_BITS; /* bits after the digits found so far */

  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (uint64_t)gridDim.x * blockDim.x) {
    const Pixel pixel = pixel_at (p, i);
    const uint32_t digit = pixel.key >> p.shift & (CUDACCL_MAP_RANKS_DIGITS - 1);
    const bool is_first = before == 8 * p.value_bytes;
    for (uint32_t rank = 0; rank < p.n_ranks; rank++) {
      const uint64_t place = (uint64_t)rank * p.n_labels + pixel.label; /* 1, 2, … */
      CclRankTarget *const target = p.targets + place - 1;
      const bool is_counted =
          pixel.label && pixel.is_number && (is_first || pixel.key >> before == target->key);
      count (is_counted ? place * CUDACCL_MAP_RANKS_DIGITS + digit : NO_SLOT, &target->n[digit]);
    }
  }
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_MAP_RANKS_THREADS)
    ccl_map_ranks_choose (const __grid_constant__ Parameters p)
{
  const uint64_t n = (uint64_t)p.n_ranks * p.n_labels;

  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (uint64_t)gridDim.x * blockDim.x) {
    CclRankTarget *const target = p.targets + i;
    uint32_t digit = 0, rank = target->rank;
    while (digit < CUDACCL_MAP_RANKS_DIGITS - 1 && rank >= target->n[digit])
      rank -= target->n[digit++];
    target->key = target->key << CUDACCL_MAP_RANKS_BITS | digit;
    target->rank = rank;
    for (uint32_t &n_values : target->n)
      n_values = 0;
  }
}
