/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The luma and chroma of pixels in the light of the background model. The luma of a thread's four
 * pixels is a word of bytes or two words of 16 bits, the leftmost lowest; their chroma are halves
 * of two words, u in the lower byte.
 */
#pragma once

#include "core/foreground/light.h"
#include "core/foreground/mixture.h"
#include "mask.cuh"

/* The luma of a pixel in 8 bits. is_wide: luma has 16. */
static __device__ __forceinline__ uint32_t
luma_at (const CclFrameParameters &frame, uint32_t x, uint32_t y, bool is_wide)
{
  const uint8_t *row = frame.data + y * frame.stride;
  return is_wide ? ccl_mixture_luma_8 (__ldg ((const uint16_t *)row + x))
                 : __ldg (row + x * frame.pixel_bytes + frame.luma_byte);
}

/* The chroma of a pixel. */
static __device__ __forceinline__ uint32_t
chroma_at (const CclFrameParameters &frame, uint32_t x, uint32_t y)
{
  const uint64_t row = y >> frame.chroma_shift_y;
  const uint64_t sample = (uint64_t)(x >> frame.chroma_shift_x) * frame.chroma_step;
  return __ldg (frame.u + row * frame.u_stride + sample) |
         (uint32_t)__ldg (frame.v + row * frame.v_stride + sample) << 8;
}

/* The chroma of a thread's pixels in a frame with luma of this kind; none outside the frame. */
template <PixelKind KIND>
static __device__ __forceinline__ uint2
load_chroma (const CclFrameParameters &frame, const Group &group)
{
  if (group.count == PIXELS && frame.chroma_aligned) {
    const bool u_first = frame.u < frame.v;
    const uint8_t *row =
        (u_first ? frame.u : frame.v) + (group.y >> frame.chroma_shift_y) * frame.u_stride;
    if (KIND == WORDS) { /* the upper bytes of samples of 16 bits */
      const uint2 words = __ldg ((const uint2 *)(row - 1 + 2 * group.x));
      const uint32_t selector = u_first ? 0x3131 : 0x1313;
      return make_uint2 (__byte_perm (words.x, 0, selector), __byte_perm (words.y, 0, selector));
    }
    const uint32_t word = __ldg ((const uint32_t *)(row + group.x));
    return make_uint2 (__byte_perm (word, 0, u_first ? 0x1010 : 0x0101),
        __byte_perm (word, 0, u_first ? 0x3232 : 0x2323));
  }
  uint32_t chroma[PIXELS];
#pragma unroll
  for (uint32_t i = 0; i < PIXELS; i++)
    chroma[i] = i < group.count ? chroma_at (frame, group.x + i, group.y) : CUDACCL_NO_CHROMA;
  return make_uint2 (chroma[0] | chroma[1] << 16, chroma[2] | chroma[3] << 16);
}

/* The light's factor of a thread's pixels, in row y. */
static __device__ __forceinline__ uint32_t
light_factor (const CclLightGrid &grid, const uint16_t *factors, uint32_t x, uint32_t y)
{
  uint32_t above, below, left, right, weight_y, weight_x;
  ccl_light_place (y, grid.shift, grid.rows, &above, &below, &weight_y);
  ccl_light_place (x + 2, grid.shift, grid.columns, &left, &right, &weight_x);
  const uint16_t *upper = factors + (size_t)above * grid.columns;
  const uint16_t *lower = factors + (size_t)below * grid.columns;
  return ccl_light_between (ccl_light_between (upper[left], lower[left], weight_y, grid.shift),
      ccl_light_between (upper[right], lower[right], weight_y, grid.shift), weight_x, grid.shift);
}

static __device__ __forceinline__ uint32_t
correct_words (uint32_t two_pixels, uint32_t factor)
{
  return ccl_light_correct_luma (two_pixels & 0xffff, factor, UINT16_MAX) |
         ccl_light_correct_luma (two_pixels >> 16, factor, UINT16_MAX) << 16;
}

static __device__ __forceinline__ uint32_t
correct_luma (uint32_t luma, uint32_t factor)
{
  uint32_t corrected = 0;
#pragma unroll
  for (uint32_t i = 0; i < PIXELS; i++)
    corrected |= ccl_light_correct_luma (luma >> 8 * i & 0xff, factor, UINT8_MAX) << 8 * i;
  return corrected;
}

static __device__ __forceinline__ uint2
correct_luma (const uint2 &luma, uint32_t factor)
{
  return make_uint2 (correct_words (luma.x, factor), correct_words (luma.y, factor));
}

static __device__ __forceinline__ uint32_t
correct_chroma (uint32_t two_pixels, uint32_t factor)
{
  uint32_t corrected = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; i++)
    corrected |= ccl_light_correct_chroma (two_pixels >> 8 * i & 0xff, factor) << 8 * i;
  return corrected;
}
