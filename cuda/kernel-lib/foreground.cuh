/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pixels of a frame, and which of them are foreground. */
#pragma once

#include "cuda/driver/kernel-parameters.h"
#include "threshold.cuh"

static __device__ __forceinline__ bool
is_foreground (const CclLabellingParameters &p, uint32_t value)
{
  return (value > p.threshold) != p.invert;
}

/* A pixel of a frame by its type: a byte, or a word of two bytes. */
static __device__ __forceinline__ bool
is_foreground_at (const CclLabellingParameters &p, const uint8_t *pixel)
{
  return is_foreground (p, *pixel);
}

static __device__ __forceinline__ bool
is_foreground_at (const CclLabellingParameters &p, const uint16_t *pixel)
{
  return is_foreground (p, *pixel & p.word_mask);
}

/* The foreground among four pixels of a byte, the bit of the first pixel lowest. */
static __device__ __forceinline__ uint32_t
foreground_of_four (const CclLabellingParameters &p, uint32_t pixels)
{
  const uint32_t complement = (255 - p.threshold) * 0x01010101u;
  return (above_among_bytes (pixels, complement) >> 28) ^ (p.invert ? 0xf : 0);
}

/* The same for four pixels of two bytes. */
static __device__ __forceinline__ uint32_t
foreground_of_four (const CclLabellingParameters &p, uint32_t left, uint32_t right)
{
  const uint32_t complement = (65535 - p.threshold) * 0x10001u, mask = p.word_mask * 0x10001u;
  return (above_among_words (left & mask, complement) >> 30 |
             above_among_words (right & mask, complement) >> 30 << 2) ^
         (p.invert ? 0xf : 0);
}

/* The foreground among eight pixels at an aligned address. */
static __device__ __forceinline__ uint32_t
foreground_of_eight (const CclLabellingParameters &p, const uint8_t *pixels)
{
  const uint2 words = *(const uint2 *)pixels;
  return foreground_of_four (p, words.x) | foreground_of_four (p, words.y) << 4;
}

static __device__ __forceinline__ uint32_t
foreground_of_eight (const CclLabellingParameters &p, const uint16_t *pixels)
{
  const uint4 words = *(const uint4 *)pixels;
  return foreground_of_four (p, words.x, words.y) | foreground_of_four (p, words.z, words.w) << 4;
}

/* The first pixel of a row of the frame. */
static __device__ __forceinline__ const uint8_t *
frame_row (const CclLabellingParameters &p, uint32_t y)
{
  return p.frame + y * p.frame_stride;
}

template <typename Luma>
static __device__ __forceinline__ const Luma *
pixels_of_row (const CclLabellingParameters &p, uint32_t y)
{
  return (const Luma *)frame_row (p, y);
}
