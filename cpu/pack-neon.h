/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels to bits with NEON. */
#ifndef CCL_CPU_PACK_NEON_H
#define CCL_CPU_PACK_NEON_H

#include <arm_neon.h>
#include <stdint.h>

/* The bit of the pixel's column in each byte whose pixel is greater than the threshold. */
static inline uint8x16_t
column_bits (const uint8_t *pixels, uint8x16_t thresholds)
{
  const uint8x16_t bit_of_column = vreinterpretq_u8_u64 (vdupq_n_u64 (0x8040201008040201));
  return vandq_u8 (vcgtq_u8 (vld1q_u8 (pixels), thresholds), bit_of_column);
}

/* 64 bits for 64 pixels, set where the pixel is greater than the threshold. Three pairwise
 * additions gather the bits of eight columns in one byte. */
static inline uint64_t
pack_neon (const uint8_t *pixels, uint8x16_t thresholds)
{
  const uint8x16_t low =
      vpaddq_u8 (column_bits (pixels, thresholds), column_bits (pixels + 16, thresholds));
  const uint8x16_t high =
      vpaddq_u8 (column_bits (pixels + 32, thresholds), column_bits (pixels + 48, thresholds));
  const uint8x16_t pairs = vpaddq_u8 (low, high);
  return vgetq_lane_u64 (vreinterpretq_u64_u8 (vpaddq_u8 (pairs, pairs)), 0);
}

#endif /* CCL_CPU_PACK_NEON_H */
