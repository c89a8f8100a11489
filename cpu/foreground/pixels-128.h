/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vectors of 128 bits that NEON and the portable code have, and what both do with them alike.
 */
#pragma once

#include "cpu/pixels/words.h"

#include <string.h>

#define STEP_LANES 8
typedef uint16_t Steps __attribute__ ((vector_size (16), may_alias));
typedef uint8_t StepBytes __attribute__ ((vector_size (16), may_alias));
#define LANES 4
typedef int32_t Ints __attribute__ ((vector_size (16)));
typedef float Floats __attribute__ ((vector_size (16)));

/* The lanes whose bits are set. */
static ALWAYS_INLINE Steps
lanes_of (uint32_t bits)
{
  const Steps bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return (Steps)((bit_of_lane & (uint16_t)bits) != 0);
}

/* A bit for each byte, which is 0 or 0xff. */
static ALWAYS_INLINE uint64_t
bits_of_bytes (StepBytes bytes)
{
  uint64_t words[2];
  memcpy (words, &bytes, sizeof words);
  for (int i = 0; i < 2; i++)
    words[i] = (words[i] & UINT64_C (0x0101010101010101)) * UINT64_C (0x0102040810204080) >> 56;
  return words[0] | words[1] << 8;
}
