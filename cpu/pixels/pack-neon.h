/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels to bits with NEON; pack-portable.h says what the functions do. */
#pragma once

#include "core/label/labeller-class.h"

#include <arm_neon.h>
#include <stdint.h>

/* Keeps the bit of its column of each byte. */
static inline uint8x16_t
column_bits (uint8x16_t columns)
{
  return vandq_u8 (columns, vreinterpretq_u8_u64 (vdupq_n_u64 (0x8040201008040201)));
}

/* The lowest bit of each of 64 columns, of which all bits are set or none. Three pairwise additions
 * gather the bits of eight columns in one byte. */
static inline uint64_t
gather_columns (const uint8x16_t columns[4])
{
  const uint8x16_t low = vpaddq_u8 (column_bits (columns[0]), column_bits (columns[1]));
  const uint8x16_t high = vpaddq_u8 (column_bits (columns[2]), column_bits (columns[3]));
  const uint8x16_t pairs = vpaddq_u8 (low, high);
  return vgetq_lane_u64 (vreinterpretq_u64_u8 (vpaddq_u8 (pairs, pairs)), 0);
}

typedef uint8x16_t Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return vdupq_n_u8 (threshold);
}

static inline uint64_t
pack_pixels (const uint8_t *pixels, Threshold thresholds)
{
  uint8x16_t columns[4];
  for (int i = 0; i < 4; i++)
    columns[i] = vcgtq_u8 (vld1q_u8 (pixels + 16 * i), thresholds);
  return gather_columns (columns);
}

static inline uint8x8_t
greater_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  const uint16x8_t words = vreinterpretq_u16_u8 (vld1q_u8 (pixels));
  return vmovn_u16 (vcgtq_u16 (
      vandq_u16 (words, vdupq_n_u16 (threshold.mask)), vdupq_n_u16 (threshold.threshold)));
}

static inline uint64_t
pack_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  uint8x16_t columns[4];
  for (int i = 0; i < 4; i++)
    columns[i] = vcombine_u8 (greater_words (pixels + 32 * i, threshold),
        greater_words (pixels + 32 * i + 16, threshold));
  return gather_columns (columns);
}
