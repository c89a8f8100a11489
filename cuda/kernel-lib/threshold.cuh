/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threshold of all pixels in a word at once. A pixel is above the threshold if adding the
 * threshold's complement carries out of the pixel. The three terms of the carry are those out of
 * the pixel's highest bit.
 */
#pragma once

#include <stdint.h>

/* Which of four pixels of a byte are above the threshold: the upper four bits, the first pixel
 * lowest. The lower bits are undefined. complement: 255 minus the threshold, in each byte. */
static __device__ __forceinline__ uint32_t
above_among_bytes (uint32_t pixels, uint32_t complement)
{
  const uint32_t low = (pixels & 0x7f7f7f7fu) + (complement & 0x7f7f7f7fu);
  const uint32_t carry = (pixels & complement) | ((pixels | complement) & low);
  return (carry & 0x80808080u) * 0x00204081u;
}

/* The same for two pixels of two bytes: the upper two bits. complement: 65535 minus the threshold,
 * in each half. */
static __device__ __forceinline__ uint32_t
above_among_words (uint32_t pixels, uint32_t complement)
{
  const uint32_t low = (pixels & 0x7fff7fffu) + (complement & 0x7fff7fffu);
  const uint32_t carry = (pixels & complement) | ((pixels | complement) & low);
  return (carry & 0x80008000u) * 0x8001u;
}
