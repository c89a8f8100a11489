/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prepares rows of luma and chroma for the background models. The compiler vectorises the loops. */
#pragma once

#include "core/foreground/light.h"
#include "pixels.h"
#include "words.h"

#include <endian.h>
#include <string.h>

static void
copy_bytes (const uint8_t *restrict pixels, uint32_t width, bool second, uint8_t *restrict bytes)
{
  pixels += second;
  for (size_t x = 0; x < width; x++)
    bytes[x] = pixels[2 * x];
}

/* Copies samples that are `step` bytes apart to 1 << shift pixels each. The compiler specialises it
 * for each constant. */
static ALWAYS_INLINE void
spread_samples (const uint8_t *restrict u, const uint8_t *restrict v, size_t step, uint32_t shift,
    uint32_t width, uint16_t *restrict chroma)
{
  const uint32_t n = width >> shift;
  for (uint32_t i = 0; i < n; i++) {
    const uint16_t sample = (uint16_t)(u[i * step] | v[i * step] << 8);
    for (uint32_t k = 0; k < 1u << shift; k++)
      chroma[(i << shift) + k] = sample;
  }
  for (uint32_t x = n << shift; x < width; x++)
    chroma[x] = (uint16_t)(u[n * step] | v[n * step] << 8);
}

static void
spread_chroma (const CclChroma *chroma, uint32_t y, uint32_t width, uint16_t *chroma_of_pixels)
{
  const size_t row = y >> chroma->shift_y;
  const uint8_t *u = (const uint8_t *)chroma->u + row * chroma->u_stride;
  const uint8_t *v = (const uint8_t *)chroma->v + row * chroma->v_stride;

  if (chroma->step == 1 && chroma->shift_x == 0)
    spread_samples (u, v, 1, 0, width, chroma_of_pixels);
  else if (chroma->step == 1 && chroma->shift_x == 1)
    spread_samples (u, v, 1, 1, width, chroma_of_pixels);
  else if (chroma->step == 2 && chroma->shift_x == 0)
    spread_samples (u, v, 2, 0, width, chroma_of_pixels);
  else if (chroma->step == 2 && chroma->shift_x == 1)
    spread_samples (u, v, 2, 1, width, chroma_of_pixels);
  else if (chroma->step == 4 && chroma->shift_x == 1)
    spread_samples (u, v, 4, 1, width, chroma_of_pixels);
  else
    spread_samples (u, v, chroma->step, chroma->shift_x, width, chroma_of_pixels);
}

static void
correct_luma (const uint8_t *restrict luma, const uint16_t *restrict factors, uint32_t width,
    uint8_t *restrict corrected)
{
  for (uint32_t x = 0; x < width; x++)
    corrected[x] = (uint8_t)ccl_light_correct_luma (luma[x], factors[x], UINT8_MAX);
}

/* The same for luma of 16 bits, little-endian. */
static void
correct_wide_luma (const uint8_t *restrict luma, const uint16_t *restrict factors, uint32_t width,
    uint8_t *restrict corrected)
{
  for (size_t x = 0; x < width; x++) {
    uint16_t word;
    memcpy (&word, luma + 2 * x, sizeof word);
    word = htole16 ((uint16_t)ccl_light_correct_luma (le16toh (word), factors[x], UINT16_MAX));
    memcpy (corrected + 2 * x, &word, sizeof word);
  }
}

static void
correct_chroma (
    const uint16_t *chroma, const uint16_t *factors, uint32_t width, uint16_t *corrected)
{
  for (uint32_t x = 0; x < width; x++)
    corrected[x] = (uint16_t)(ccl_light_correct_chroma (chroma[x] & 0xff, factors[x]) |
                              ccl_light_correct_chroma (chroma[x] >> 8, factors[x]) << 8);
}

static void
find_slack (const uint8_t *restrict luma, const uint16_t *restrict spreads, uint32_t width,
    uint8_t *restrict slack)
{
  for (uint32_t x = 0; x < width; x++)
    slack[x] = (uint8_t)ccl_codebook_slack (luma[x], spreads[x]);
}

/* Bytes of a vector: compilers compare wider ones byte by byte. */
#if defined(__AVX512BW__)
#define EXTREMES_LANES 64
#elif defined(__AVX2__)
#define EXTREMES_LANES 32
#else
#define EXTREMES_LANES 16
#endif

static ALWAYS_INLINE uint32_t
add_lanes (const uint8_t *lanes)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < EXTREMES_LANES; i++)
    sum += lanes[i];
  return sum;
}

typedef uint8_t ExtremeBytes __attribute__ ((vector_size (EXTREMES_LANES)));

static ALWAYS_INLINE ExtremeBytes
load_extremes (const uint8_t *from)
{
  ExtremeBytes bytes;
  memcpy (&bytes, from, sizeof bytes);
  return bytes;
}

static void
count_extremes (const uint8_t *luma, uint32_t width, uint32_t *dark, uint32_t *bright)
{
  static const uint8_t in_last[2 * EXTREMES_LANES] = {
      [EXTREMES_LANES... 2 * EXTREMES_LANES - 1] = UINT8_MAX};
  uint32_t x = 0;

  while (width - x >= EXTREMES_LANES) {
    ExtremeBytes n_dark = {0}, n_bright = {0};
    for (uint32_t n = 0; n < UINT8_MAX && width - x >= EXTREMES_LANES; n++, x += EXTREMES_LANES) {
      const ExtremeBytes pixels = load_extremes (luma + x);
      n_dark -= (ExtremeBytes)(pixels < CUDACCL_LIGHT_LEAST_LUMA);
      n_bright -= (ExtremeBytes)(pixels > CUDACCL_LIGHT_MOST_LUMA);
    }
    *dark += add_lanes ((const uint8_t *)&n_dark);
    *bright += add_lanes ((const uint8_t *)&n_bright);
  }
  if (x > 0 && x < width) { /* the rest, and lanes before it, which do not count */
    const ExtremeBytes counts = load_extremes (in_last + (width - x));
    const ExtremeBytes pixels = load_extremes (luma + width - EXTREMES_LANES);
    const ExtremeBytes is_dark = counts & (ExtremeBytes)(pixels < CUDACCL_LIGHT_LEAST_LUMA);
    const ExtremeBytes is_bright = counts & (ExtremeBytes)(pixels > CUDACCL_LIGHT_MOST_LUMA);
    const ExtremeBytes n_dark = -is_dark, n_bright = -is_bright;
    *dark += add_lanes ((const uint8_t *)&n_dark);
    *bright += add_lanes ((const uint8_t *)&n_bright);
    return;
  }
  for (; x < width; x++) {
    *dark += luma[x] < CUDACCL_LIGHT_LEAST_LUMA;
    *bright += luma[x] > CUDACCL_LIGHT_MOST_LUMA;
  }
}
