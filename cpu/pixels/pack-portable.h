/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholding of pixels to bits in standard C, for any processor. Each pack-*.h defines the same.
 */
#pragma once

#include "core/label/labeller-class.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* A threshold as pack_pixels() takes it. */
typedef uint8_t Threshold;

static inline Threshold
threshold_prepare (uint8_t threshold)
{
  return threshold;
}

/* 64 bits for 64 pixels, set where the pixel is greater than the threshold. Here, eight pixels at a
 * time are the bytes of a word. */
static inline uint64_t
pack_pixels (const uint8_t *pixels, Threshold threshold)
{
  const uint64_t ones = 0x0101010101010101;
  const uint64_t low_bits = 0x7f * ones;
  /* Makes the lower seven bits carry into the eighth where they are greater than the threshold's.
   */
  const uint64_t addend = ones * (0x7fu - (threshold & 0x7fu));
  uint64_t word = 0;

  for (int i = 0; i < 8; i++) {
    uint64_t bytes;
    memcpy (&bytes, pixels + 8 * i, 8);
    bytes = le64toh (bytes);
    const uint64_t low_greater = (bytes & low_bits) + addend;
    const uint64_t greater = threshold < 0x80 ? low_greater | bytes : low_greater & bytes;
    /* The multiplication gathers the eighth bits of all bytes in the uppermost byte. */
    word |= (((greater >> 7 & ones) * 0x0102040810204080) >> 56) << (8 * i);
  }
  return word;
}

/* The same for pixels of two bytes, four at a time. */
static inline uint64_t
pack_words (const uint8_t *pixels, CclWordThreshold threshold)
{
  const uint64_t ones = 0x0001000100010001;
  const uint64_t low_bits = 0x7fff * ones;
  const uint64_t addend = ones * (0x7fffu - (threshold.threshold & 0x7fffu));
  uint64_t word = 0;

  for (int i = 0; i < 16; i++) {
    uint64_t words;
    memcpy (&words, pixels + 8 * i, 8);
    words = le64toh (words) & threshold.mask * ones;
    const uint64_t low_greater = (words & low_bits) + addend;
    const uint64_t greater =
        threshold.threshold < 0x8000 ? low_greater | words : low_greater & words;
    word |= (((greater >> 15 & ones) * 0x0001000200040008) >> 48 & 0xf) << (4 * i);
  }
  return word;
}
