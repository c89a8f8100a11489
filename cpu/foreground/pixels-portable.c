/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of pixels.h for any processor, on vector types of the compiler, which maps them to
 * the instructions of the target. */
#include "cpu/pixels/colour-rows.h"
#include "cpu/pixels/filters.h"
#include "cpu/pixels/log-ratios.h"
#include "cpu/pixels/pack-portable.h"
#include "cpu/pixels/reduce-portable.h"
#include "cpu/pixels/reduce-rows.h"
#include "pixels-128.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static ALWAYS_INLINE Steps
steps_of (uint16_t value)
{
  return (Steps){value, value, value, value, value, value, value, value};
}

static ALWAYS_INLINE Steps
multiply_high (Steps a, Steps b)
{
#ifdef __SSE2__
  /* The compiler would widen to 32 bits. */
  return (Steps)_mm_mulhi_epu16 ((__m128i)a, (__m128i)b);
#else
  typedef uint32_t Products __attribute__ ((vector_size (32)));
  return __builtin_convertvector(
      __builtin_convertvector(a, Products) * __builtin_convertvector(b, Products) >> 16, Steps);
#endif
}

static ALWAYS_INLINE Steps
shift_right (Steps steps, uint32_t count)
{
  return steps >> (uint16_t)count;
}

/* Saturates at 0. */
static ALWAYS_INLINE Steps
saturated_subtract (Steps a, Steps b)
{
  return (Steps)(a > b) & (a - b);
}

/* Saturates at 65535. */
static ALWAYS_INLINE Steps
saturated_add (Steps a, Steps b)
{
  const Steps sum = a + b;
  return sum | (Steps)(sum < a);
}

static ALWAYS_INLINE Steps
lesser_of (Steps a, Steps b)
{
  return a - saturated_subtract (a, b);
}

static ALWAYS_INLINE Steps
greater_of (Steps a, Steps b)
{
  return saturated_subtract (a, b) + b;
}

static ALWAYS_INLINE Steps
choose (Steps lanes, Steps inside, Steps outside)
{
  return (lanes & inside) | (~lanes & outside);
}

/* 0 where the first argument is 0. */
static ALWAYS_INLINE Steps
keep_where_not_zero (Steps where, Steps steps)
{
  return (Steps)(where != 0) & steps;
}

static ALWAYS_INLINE bool
all_zero (Steps steps)
{
  uint64_t halves[2];
  memcpy (halves, &steps, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

static ALWAYS_INLINE bool
any_zero (Steps steps)
{
  return !all_zero ((Steps)(steps == 0));
}

typedef Ints Mask; /* each lane has all bits set or none */

static ALWAYS_INLINE Ints
ints_of (int32_t value)
{
  return (Ints){value, value, value, value};
}

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return (Floats){value, value, value, value};
}

static ALWAYS_INLINE Floats
to_floats (Ints values)
{
  return __builtin_convertvector(values, Floats);
}

/* a × b − c, with or without rounding of the product. */
static ALWAYS_INLINE Floats
multiply_subtract (Floats a, Floats b, Floats c)
{
  return a * b - c;
}

static ALWAYS_INLINE Ints
round_down (Floats values)
{
  const Ints whole = __builtin_convertvector(values, Ints);
  return whole + (Ints)(values < to_floats (whole));
}

static ALWAYS_INLINE Mask
less (Floats a, Floats b)
{
  return a < b;
}

#ifdef __SSE2__

/* The values of STEP_LANES pixels in steps of a mean. */
static ALWAYS_INLINE Steps
load_luma (const uint8_t *from)
{
  return (Steps)_mm_unpacklo_epi8 (_mm_setzero_si128 (), _mm_loadl_epi64 ((const __m128i *)from));
}

static ALWAYS_INLINE Ints
unpack_low (Steps steps)
{
  return (Ints)_mm_unpacklo_epi16 ((__m128i)steps, _mm_setzero_si128 ());
}

static ALWAYS_INLINE Ints
unpack_high (Steps steps)
{
  return (Ints)_mm_unpackhi_epi16 ((__m128i)steps, _mm_setzero_si128 ());
}

/* a × b + c × d of one half of the lanes, taken as signed, as unpack_low() or unpack_high() unpacks
 * them. */
static ALWAYS_INLINE Ints
products_low (Steps a, Steps b, Steps c, Steps d)
{
  return (Ints)_mm_madd_epi16 (
      _mm_unpacklo_epi16 ((__m128i)a, (__m128i)c), _mm_unpacklo_epi16 ((__m128i)b, (__m128i)d));
}

static ALWAYS_INLINE Ints
products_high (Steps a, Steps b, Steps c, Steps d)
{
  return (Ints)_mm_madd_epi16 (
      _mm_unpackhi_epi16 ((__m128i)a, (__m128i)c), _mm_unpackhi_epi16 ((__m128i)b, (__m128i)d));
}

/* Numbers greater than 65535 become 65535. */
static ALWAYS_INLINE Steps
pack (Ints low, Ints high)
{
  const Ints half = ints_of (32768);
  return (Steps)_mm_packs_epi32 ((__m128i)(low - half), (__m128i)(high - half)) ^ steps_of (32768);
}

/* The lanes of Steps for the lanes of two Ints that were unpacked from it. */
static ALWAYS_INLINE Steps
pack_masks (Mask low, Mask high)
{
  return (Steps)_mm_packs_epi32 ((__m128i)low, (__m128i)high);
}

/* One bit per lane. */
static ALWAYS_INLINE uint32_t
bits_of (Steps lanes)
{
  return (uint32_t)_mm_movemask_epi8 (_mm_packs_epi16 ((__m128i)lanes, _mm_setzero_si128 ()));
}

#else

/* The values of STEP_LANES pixels in steps of a mean. */
static ALWAYS_INLINE Steps
load_luma (const uint8_t *from)
{
  const Steps values = {from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
  return values << 8;
}

static ALWAYS_INLINE Ints
unpack_low (Steps steps)
{
  return (Ints){steps[0], steps[1], steps[2], steps[3]};
}

static ALWAYS_INLINE Ints
unpack_high (Steps steps)
{
  return (Ints){steps[4], steps[5], steps[6], steps[7]};
}

/* a × b + c × d of one half of the lanes, taken as signed, as unpack_low() or unpack_high() unpacks
 * them. */
static ALWAYS_INLINE Ints
products_low (Steps a, Steps b, Steps c, Steps d)
{
  Ints sums = ints_of (0);
  for (int i = 0; i < LANES; i++)
    sums[i] = (int16_t)a[i] * (int16_t)b[i] + (int16_t)c[i] * (int16_t)d[i];
  return sums;
}

static ALWAYS_INLINE Ints
products_high (Steps a, Steps b, Steps c, Steps d)
{
  Ints sums = ints_of (0);
  for (int i = 0; i < LANES; i++)
    sums[i] = (int16_t)a[LANES + i] * (int16_t)b[LANES + i] +
              (int16_t)c[LANES + i] * (int16_t)d[LANES + i];
  return sums;
}

/* Numbers greater than 65535 become 65535. */
static ALWAYS_INLINE Steps
pack (Ints low, Ints high)
{
  Steps packed = steps_of (0);
  for (int i = 0; i < LANES; i++) {
    packed[i] = (uint16_t)(low[i] < UINT16_MAX ? low[i] : UINT16_MAX);
    packed[LANES + i] = (uint16_t)(high[i] < UINT16_MAX ? high[i] : UINT16_MAX);
  }
  return packed;
}

/* The lanes of Steps for the lanes of two Ints that were unpacked from it. */
static ALWAYS_INLINE Steps
pack_masks (Mask low, Mask high)
{
  return (Steps){(uint16_t)low[0], (uint16_t)low[1], (uint16_t)low[2], (uint16_t)low[3],
      (uint16_t)high[0], (uint16_t)high[1], (uint16_t)high[2], (uint16_t)high[3]};
}

/* One bit per lane. */
static ALWAYS_INLINE uint32_t
bits_of (Steps lanes)
{
  uint32_t bits = 0;
  for (int i = 0; i < STEP_LANES; i++)
    bits |= (lanes[i] & 1u) << i;
  return bits;
}

#endif

/* For each lane, the entry of a table of 16 bytes. */
static ALWAYS_INLINE Steps
look_up (const uint8_t *table, Steps places)
{
  return (Steps){table[places[0]], table[places[1]], table[places[2]], table[places[3]],
      table[places[4]], table[places[5]], table[places[6]], table[places[7]]};
}

/* The lower bytes of two vectors, one behind the other. */
static ALWAYS_INLINE StepBytes
pack_bytes (Steps low, Steps high)
{
  StepBytes bytes;
  for (int i = 0; i < STEP_LANES; i++) {
    bytes[i] = (uint8_t)low[i];
    bytes[STEP_LANES + i] = (uint8_t)high[i];
  }
  return bytes;
}

/* Whether both masks have all lanes set. */
static ALWAYS_INLINE bool
all_lanes (Mask low, Mask high)
{
  return all_zero ((Steps) ~(low & high));
}

/* Copies each byte of bits to 8 columns and tests the bit of each column. */
static ALWAYS_INLINE void
write_columns (uint64_t bits, uint8_t *mask)
{
  typedef uint8_t Bytes __attribute__ ((vector_size (16)));
  typedef uint64_t Words __attribute__ ((vector_size (16)));
  const Bytes bit_of_column = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint64_t in_each_byte = 0x0101010101010101;
  const Words words = {(bits & 0xff) * in_each_byte, (bits >> 8 & 0xff) * in_each_byte};
  const Bytes bytes = (Bytes)(((Bytes)words & bit_of_column) == bit_of_column);
  memcpy (mask, &bytes, sizeof bytes);
}

#define WRITTEN_COLUMNS 16
#include "pixel-rows.h"

const PixelCode pixel_code_portable = {
    PIXEL_ROWS, .name = "portable", .log_ratios = find_log_ratios};
