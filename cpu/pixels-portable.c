/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segmenter's work on pixels for any processor. */
#include "filters.h"

#include <string.h>

/* The compiler's own vectors, which it makes of what the processor has. */
#define LANES 4
typedef float Floats __attribute__ ((vector_size (16)));
typedef int32_t Mask __attribute__ ((vector_size (16))); /* all bits of a lane are alike */
typedef uint16_t Steps __attribute__ ((vector_size (8)));

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return (Floats){value, value, value, value};
}

static ALWAYS_INLINE Floats
load_uint8 (const uint8_t *from)
{
  return (Floats){from[0], from[1], from[2], from[3]};
}

static ALWAYS_INLINE Floats
load_uint16 (const uint16_t *from)
{
  Steps steps;
  memcpy (&steps, from, sizeof steps);
  return __builtin_convertvector(steps, Floats);
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return a < b;
}

static ALWAYS_INLINE Floats
choose (Mask lanes, Floats inside, Floats outside)
{
  return (Floats)((lanes & (Mask)inside) | (~lanes & (Mask)outside));
}

static ALWAYS_INLINE Floats
greater_of (Floats a, Floats b)
{
  return choose (less (b, a), a, b);
}

static ALWAYS_INLINE Floats
lesser_of (Floats a, Floats b)
{
  return choose (less (a, b), a, b);
}

/* Rounds down; what is greater than 65535 becomes that. */
static ALWAYS_INLINE void
store_uint16 (uint16_t *to, Floats values)
{
  const Mask whole = __builtin_convertvector(lesser_of (values, floats_of (65535)), Mask);
  const Steps steps = __builtin_convertvector(whole, Steps);
  memcpy (to, &steps, sizeof steps);
}

/* 0 in the other lanes. */
static ALWAYS_INLINE Floats
keep_lanes (Mask lanes, Floats values)
{
  return (Floats)(lanes & (Mask)values);
}

static ALWAYS_INLINE Mask
no_lanes (void)
{
  return (Mask){0};
}

static ALWAYS_INLINE Mask
all_but (Mask lanes)
{
  return ~lanes;
}

static ALWAYS_INLINE Mask
both (Mask a, Mask b)
{
  return a & b;
}

static ALWAYS_INLINE Mask
and_not (Mask a, Mask b)
{
  return a & ~b;
}

static ALWAYS_INLINE Mask
either (Mask a, Mask b)
{
  return a | b;
}

static ALWAYS_INLINE bool
any_lane (Mask lanes)
{
  uint64_t halves[2];
  memcpy (halves, &lanes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

static ALWAYS_INLINE uint32_t
bits_of (Mask lanes)
{
  return (lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8);
}

#include "background.h"

static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  for (uint32_t x = 0; x < width; x += 64) {
    const uint32_t n = width - x < 64 ? width - x : 64;
    uint64_t word = 0;
    for (uint32_t i = 0; i < n; i++)
      word |= (uint64_t)(pixels[x + i] > threshold) << i;
    foreground[x / 64] = word;
  }
}

static void
write_row (const uint64_t *foreground, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x++)
    mask[x] = foreground[x / 64] >> x % 64 & 1 ? 255 : 0;
}

const PixelCode pixel_code_portable = {
    .name = "portable",
    .threshold_row = threshold_row,
    .background_row = background_row,
    .filter_row = filter_row,
    .write_row = write_row,
};
