/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks written by warps whose threads have a word of 32 pixels each. */
#pragma once

#include "mask.cuh"

/* Writes the mask of the 32 words of a warp, one per thread, which begin at column x. Both words of
 * a thread are 0 beyond the row. */
static __device__ __forceinline__ void
write_words (const CclExtent &extent, const CclMaskParameters &mask, uint32_t x, uint32_t y,
    uint32_t word, uint32_t shadow)
{
  const uint32_t lane = lane_of_warp ();
  uint8_t *const row = mask.data + y * mask.stride;
  if (mask.is_aligned) {
    /* 16 pixels per thread, so that the stores of a warp are contiguous. */
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t both = __shfl_sync (FULL_WARP, word, half * 16 + lane / 2);
      const uint32_t bits = lane % 2 ? both >> 16 : both & 0xffff;
      const uint32_t both_shadows = __shfl_sync (FULL_WARP, shadow, half * 16 + lane / 2);
      const uint32_t shadows = lane % 2 ? both_shadows >> 16 : both_shadows & 0xffff;
      const uint32_t own_x = x + half * 512 + lane * 16;
      if (own_x + 16 <= extent.width)
        *(uint4 *)(row + own_x) =
            make_uint4 (mask_of_bits (bits, shadows), mask_of_bits (bits >> 4, shadows >> 4),
                mask_of_bits (bits >> 8, shadows >> 8), mask_of_bits (bits >> 12, shadows >> 12));
      else {
        for (uint32_t i = 0; own_x + i < extent.width; i++)
          row[own_x + i] = mask_of_bit (bits >> i & 1, shadows >> i & 1);
      }
    }
  } else {
    for (uint32_t i = 0; i < 32 && x + 32 * i < extent.width; i++) {
      const uint32_t bits = __shfl_sync (FULL_WARP, word, i);
      const uint32_t shadows = __shfl_sync (FULL_WARP, shadow, i);
      if (x + 32 * i + lane < extent.width)
        row[x + 32 * i + lane] = mask_of_bit (bits >> lane & 1, shadows >> lane & 1);
    }
  }
}

/* Ends a row of words: inverts them if asked, clears the pixels outside the region of interest,
 * and writes the mask, and its bits if asked. */
static __device__ __forceinline__ void
finish_words (const CclExtent &extent, const CclMaskParameters &mask, uint32_t first_column,
    uint32_t y, uint32_t word, uint32_t shadow)
{
  const uint32_t column = first_column + lane_of_warp ();
  if (column < extent.row_words) {
    const uint32_t inside =
        mask.roi_mask ? __ldg (mask.roi_mask + (size_t)y * extent.row_words + column) : ~0u;
    shadow &= ~word & inside;
    word = (word ^ mask.invert) & inside;
    if (mask.copy) {
      const uint32_t end = extent.width - 32 * column;
      mask.copy[(size_t)y * extent.row_words + column] = end < 32 ? word & bits_below (end) : word;
    }
  }
  write_words (extent, mask, first_column * 32, y, word, shadow);
}
