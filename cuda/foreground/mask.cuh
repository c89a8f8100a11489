/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From luma to mask. A warp handles part of a row, each thread a group of consecutive pixels. A
 * result is one bit per pixel, the leftmost lowest.
 */
#pragma once

#include "foreground-parameters.h"
#include "cuda/kernel-lib/warp.cuh"

enum { PIXELS = CUDACCL_FOREGROUND_PIXELS };

/* The pixels of a thread. */
struct Group {
  uint32_t x, y;  /* of the first */
  uint32_t count; /* of pixels inside the frame */
};

/* The row of a warp, of WARPS in a block. Blocks continue in the third dimension of the grid where
 * the second is too short. */
template <uint32_t WARPS = CUDACCL_FOREGROUND_WARPS>
static __device__ __forceinline__ uint32_t
row_of_warp ()
{
  return (blockIdx.z * gridDim.y + blockIdx.y) * WARPS + threadIdx.x / 32;
}

/* The group of a thread in a part of its warp's row; parts have 32 groups. */
static __device__ __forceinline__ Group
group_in_part (const CclExtent &extent, uint32_t part)
{
  Group group;
  group.x = (part * 32 + lane_of_warp ()) * PIXELS;
  group.y = row_of_warp ();
  group.count =
      group.y < extent.height && group.x < extent.width ? min (extent.width - group.x, PIXELS) : 0;
  return group;
}

static __device__ __forceinline__ Group
group_of_thread (const CclExtent &extent)
{
  return group_in_part (extent, blockIdx.x);
}

/* How a frame stores the luma of a pixel: in a byte, in one of two bytes, or in a word of two
 * bytes.
 */
enum PixelKind { BYTES, PACKED, WORDS };

/* A thread's pixels of two bytes, as halves of two words, the leftmost lowest; 0 outside the frame.
 */
static __device__ __forceinline__ uint2
load_words (const CclFrameParameters &frame, const Group &group)
{
  const uint16_t *pixels = (const uint16_t *)(frame.data + group.y * frame.stride) + group.x;
  if (group.count == PIXELS && frame.is_aligned)
    return __ldg ((const uint2 *)pixels);
  uint32_t words[PIXELS];
#pragma unroll
  for (uint32_t i = 0; i < PIXELS; i++)
    words[i] = i < group.count ? __ldg (pixels + i) : 0;
  return make_uint2 (words[0] | words[1] << 16, words[2] | words[3] << 16);
}

/* The luma of a thread's pixels, one byte each, the leftmost lowest; 0 outside the frame. */
template <PixelKind KIND>
static __device__ __forceinline__ uint32_t
load_luma (const CclFrameParameters &frame, const Group &group)
{
  static_assert (KIND != WORDS, "luma of one byte");
  if (KIND == PACKED) {
    const uint2 words = load_words (frame, group);
    return __byte_perm (words.x, words.y, frame.luma_byte ? 0x7531 : 0x6420);
  }
  const uint8_t *pixels = frame.data + group.y * frame.stride + group.x;
  uint32_t luma = 0;
  if (group.count == PIXELS && frame.is_aligned)
    luma = __ldg ((const uint32_t *)pixels);
  else {
#pragma unroll
    for (uint32_t i = 0; i < PIXELS; i++) {
      if (i < group.count)
        luma |= (uint32_t)__ldg (pixels + i) << 8 * i;
    }
  }
  return luma;
}

/* The values of a thread's pixels. */
template <PixelKind KIND> struct GroupValues {
  uint32_t luma;

  GroupValues () = default;

  __device__ __forceinline__
  GroupValues (const CclFrameParameters &frame, const Group &group)
      : luma (load_luma<KIND> (frame, group))
  {
  }

  __device__ __forceinline__ uint32_t
  operator[] (uint32_t pixel) const
  {
    return luma >> 8 * pixel & 0xff;
  }
};

template <> struct GroupValues<WORDS> {
  uint2 words;

  GroupValues () = default;

  __device__ __forceinline__
  GroupValues (const CclFrameParameters &frame, const Group &group)
      : words (load_words (frame, group))
  {
  }

  __device__ __forceinline__ uint32_t
  operator[] (uint32_t pixel) const
  {
    return (pixel < 2 ? words.x : words.y) >> 16 * (pixel % 2) & 0xffff;
  }
};

/* The pixels of a thread that are in the region of interest. */
static __device__ __forceinline__ uint32_t
roi_mask_of (const CclExtent &extent, const uint32_t *roi_mask, const Group &group)
{
  if (!roi_mask || !group.count)
    return bits_below (PIXELS);
  return __ldg (roi_mask + (size_t)group.y * extent.row_words + group.x / 32) >> group.x % 32 &
         bits_below (PIXELS);
}

/* 255 for each of four bits that is set. */
static __device__ __forceinline__ uint32_t
bytes_of_bits (uint32_t bits)
{
  return ((bits & 0xf) * 0x00204081u & 0x01010101u) * 255;
}

/* Four bytes of the mask. Shadows are marked whether or not the mask is inverted. */
static __device__ __forceinline__ uint32_t
mask_of_bits (uint32_t foreground, uint32_t shadow)
{
  return bytes_of_bits (foreground & ~shadow) |
         (bytes_of_bits (shadow) & CUDACCL_MASK_SHADOW * 0x01010101u);
}

static __device__ __forceinline__ uint8_t
mask_of_bit (uint32_t foreground, uint32_t shadow)
{
  return shadow       ? CUDACCL_MASK_SHADOW
         : foreground ? CUDACCL_MASK_FOREGROUND
                      : CUDACCL_MASK_BACKGROUND;
}

/* Writes a result of a warp's threads as words of 32 pixels. All of them take part. */
static __device__ __forceinline__ void
write_bits (const CclExtent &extent, const Group &group, uint32_t found, uint32_t *words)
{
  uint32_t word = (found & bits_below (group.count)) << group.x % 32;
  for (uint32_t distance = 1; distance < 32 / PIXELS; distance *= 2)
    word |= __shfl_xor_sync (FULL_WARP, word, distance);
  if (group.count && group.x % 32 == 0)
    words[(size_t)group.y * extent.row_words + group.x / 32] = word;
}

/* Writes the result of a thread as bits for the next kernel, or as mask if there is none. All
 * threads of a warp take part. */
static __device__ __forceinline__ void
write_group (const CclExtent &extent, const CclMaskParameters &mask, const Group &group,
    uint32_t foreground, uint32_t shadow)
{
  if (mask.result) {
    write_bits (extent, group, foreground, mask.result);
    if (mask.shadow_result)
      write_bits (extent, group, shadow, mask.shadow_result);
    return;
  }
  const uint32_t inside = roi_mask_of (extent, mask.roi_mask, group);
  const uint32_t bytes =
      mask_of_bits ((foreground ^ mask.invert) & inside, mask.marks_shadows ? shadow & inside : 0);
  uint8_t *data = mask.data + group.y * mask.stride + group.x;
  if (group.count == PIXELS && mask.is_aligned)
    *(uint32_t *)data = bytes;
  else {
#pragma unroll
    for (uint32_t i = 0; i < PIXELS; i++) {
      if (i < group.count)
        data[i] = (uint8_t)(bytes >> 8 * i);
    }
  }
}
