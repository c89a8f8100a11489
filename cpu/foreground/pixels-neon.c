/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations of pixels.h for AArch64, whose processors all have NEON.
 *
 * pixels-128.h has the types of vectors. The other functions are those of pixels-avx2.c in the same
 * order, with NEON's intrinsics.
 */
#include "cpu/pixels/colour-rows.h"
#include "cpu/pixels/filters.h"
#include "cpu/pixels/log-ratios.h"
#include "cpu/pixels/pack-neon.h"
#include "cpu/pixels/reduce-portable.h"
#include "cpu/pixels/reduce-rows.h"
#include "pixels-128.h"

#include <string.h>

static ALWAYS_INLINE Steps
steps_of (uint16_t value)
{
  return (Steps)vdupq_n_u16 (value);
}

/* The upper halves of the products. */
static ALWAYS_INLINE Steps
multiply_high (Steps a, Steps b)
{
  const uint32x4_t low = vmull_u16 (vget_low_u16 ((uint16x8_t)a), vget_low_u16 ((uint16x8_t)b));
  const uint32x4_t high = vmull_high_u16 ((uint16x8_t)a, (uint16x8_t)b);
  return (Steps)vuzp2q_u16 (vreinterpretq_u16_u32 (low), vreinterpretq_u16_u32 (high));
}

static ALWAYS_INLINE Steps
shift_right (Steps steps, uint32_t count)
{
  return (Steps)vshlq_u16 ((uint16x8_t)steps, vdupq_n_s16 ((int16_t) - (int32_t)count));
}

/* Saturates at 0. */
static ALWAYS_INLINE Steps
saturated_subtract (Steps a, Steps b)
{
  return (Steps)vqsubq_u16 ((uint16x8_t)a, (uint16x8_t)b);
}

/* Saturates at 65535. */
static ALWAYS_INLINE Steps
saturated_add (Steps a, Steps b)
{
  return (Steps)vqaddq_u16 ((uint16x8_t)a, (uint16x8_t)b);
}

static ALWAYS_INLINE Steps
lesser_of (Steps a, Steps b)
{
  return (Steps)vminq_u16 ((uint16x8_t)a, (uint16x8_t)b);
}

static ALWAYS_INLINE Steps
greater_of (Steps a, Steps b)
{
  return (Steps)vmaxq_u16 ((uint16x8_t)a, (uint16x8_t)b);
}

static ALWAYS_INLINE Steps
choose (Steps lanes, Steps inside, Steps outside)
{
  return (Steps)vbslq_u16 ((uint16x8_t)lanes, (uint16x8_t)inside, (uint16x8_t)outside);
}

/* 0 where the first argument is 0. */
static ALWAYS_INLINE Steps
keep_where_not_zero (Steps where, Steps steps)
{
  return (Steps)vandq_u16 (vtstq_u16 ((uint16x8_t)where, (uint16x8_t)where), (uint16x8_t)steps);
}

static ALWAYS_INLINE bool
all_zero (Steps steps)
{
  return vmaxvq_u32 ((uint32x4_t)steps) == 0;
}

static ALWAYS_INLINE bool
any_zero (Steps steps)
{
  return vminvq_u16 ((uint16x8_t)steps) == 0;
}

typedef uint32x4_t Mask; /* each lane has all bits set or none */

static ALWAYS_INLINE Ints
ints_of (int32_t value)
{
  return (Ints)vdupq_n_s32 (value);
}

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return (Floats)vdupq_n_f32 (value);
}

/* The values of STEP_LANES pixels in steps of a mean. */
static ALWAYS_INLINE Steps
load_luma (const uint8_t *from)
{
  return (Steps)vshll_n_u8 (vld1_u8 (from), 8);
}

static ALWAYS_INLINE Ints
unpack_low (Steps steps)
{
  return (Ints)vmovl_u16 (vget_low_u16 ((uint16x8_t)steps));
}

static ALWAYS_INLINE Ints
unpack_high (Steps steps)
{
  return (Ints)vmovl_high_u16 ((uint16x8_t)steps);
}

/* a × b + c × d of one half of the lanes, taken as signed, as unpack_low() or unpack_high() unpacks
 * them. */
static ALWAYS_INLINE Ints
products_low (Steps a, Steps b, Steps c, Steps d)
{
  const int32x4_t product = vmull_s16 (vget_low_s16 ((int16x8_t)a), vget_low_s16 ((int16x8_t)b));
  return (Ints)vmlal_s16 (product, vget_low_s16 ((int16x8_t)c), vget_low_s16 ((int16x8_t)d));
}

static ALWAYS_INLINE Ints
products_high (Steps a, Steps b, Steps c, Steps d)
{
  const int32x4_t product = vmull_high_s16 ((int16x8_t)a, (int16x8_t)b);
  return (Ints)vmlal_high_s16 (product, (int16x8_t)c, (int16x8_t)d);
}

/* Numbers greater than 65535 become 65535. */
static ALWAYS_INLINE Steps
pack (Ints low, Ints high)
{
  return (Steps)vqmovun_high_s32 (vqmovun_s32 ((int32x4_t)low), (int32x4_t)high);
}

/* The lanes of Steps for the lanes of two Ints that were unpacked from it. */
static ALWAYS_INLINE Steps
pack_masks (Mask low, Mask high)
{
  return (Steps)vmovn_high_u32 (vmovn_u32 (low), high);
}

/* One bit per lane. */
static ALWAYS_INLINE uint32_t
bits_of (Steps lanes)
{
  const Steps bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddvq_u16 ((uint16x8_t)(lanes & bit_of_lane));
}

static ALWAYS_INLINE Floats
to_floats (Ints values)
{
  return (Floats)vcvtq_f32_s32 ((int32x4_t)values);
}

/* a × b − c, with or without rounding of the product. */
static ALWAYS_INLINE Floats
multiply_subtract (Floats a, Floats b, Floats c)
{
  return (Floats)vfmaq_f32 (vnegq_f32 ((float32x4_t)c), (float32x4_t)a, (float32x4_t)b);
}

static ALWAYS_INLINE Ints
round_down (Floats values)
{
  return (Ints)vcvtmq_s32_f32 ((float32x4_t)values);
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return vcltq_f32 ((float32x4_t)a, (float32x4_t)b);
}

/* For each lane, the entry of a table of 16 bytes. */
static ALWAYS_INLINE Steps
look_up (const uint8_t *table, Steps places)
{
  return (Steps)vmovl_u8 (vqtbl1_u8 (vld1q_u8 (table), vmovn_u16 ((uint16x8_t)places)));
}

/* The lower bytes of two vectors, one behind the other. */
static ALWAYS_INLINE StepBytes
pack_bytes (Steps low, Steps high)
{
  return (StepBytes)vcombine_u8 (vmovn_u16 ((uint16x8_t)low), vmovn_u16 ((uint16x8_t)high));
}

/* Whether both masks have all lanes set. */
static ALWAYS_INLINE bool
all_lanes (Mask low, Mask high)
{
  return vminvq_u32 (vandq_u32 (low, high)) == UINT32_MAX;
}

/* Copies each byte of bits to 8 columns and tests the bit of each column. */
static ALWAYS_INLINE void
write_columns (uint32_t bits, uint8_t *mask)
{
  const uint8x16_t bit_of_column = vreinterpretq_u8_u64 (vdupq_n_u64 (0x8040201008040201));
  const uint8x16_t bytes =
      vcombine_u8 (vdup_n_u8 ((uint8_t)bits), vdup_n_u8 ((uint8_t)(bits >> 8)));
  vst1q_u8 (mask, vtstq_u8 (bytes, bit_of_column));
}

#define WRITTEN_COLUMNS 16
#include "pixel-rows.h"

const PixelCode pixel_code_neon = {PIXEL_ROWS, .name = "neon", .log_ratios = find_log_ratios};
