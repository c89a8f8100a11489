/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations of pixels.h whose intrinsics AVX2 and AVX-512 name alike. The file that includes
 * it defines the types of vectors, and VECTOR (operation), the name of an intrinsic on them.
 */
#pragma once

static ALWAYS_INLINE Steps
steps_of (uint16_t value)
{
  return (Steps)VECTOR (set1_epi16) ((int16_t)value);
}

static ALWAYS_INLINE Steps
multiply_high (Steps a, Steps b)
{
  return (Steps)VECTOR (mulhi_epu16) ((Vector)a, (Vector)b);
}

static ALWAYS_INLINE Steps
shift_right (Steps steps, uint32_t count)
{
  return (Steps)VECTOR (srl_epi16) ((Vector)steps, _mm_cvtsi32_si128 ((int)count));
}

/* Saturates at 0. */
static ALWAYS_INLINE Steps
saturated_subtract (Steps a, Steps b)
{
  return (Steps)VECTOR (subs_epu16) ((Vector)a, (Vector)b);
}

/* Saturates at 65535. */
static ALWAYS_INLINE Steps
saturated_add (Steps a, Steps b)
{
  return (Steps)VECTOR (adds_epu16) ((Vector)a, (Vector)b);
}

static ALWAYS_INLINE Steps
lesser_of (Steps a, Steps b)
{
  return (Steps)VECTOR (min_epu16) ((Vector)a, (Vector)b);
}

static ALWAYS_INLINE Steps
greater_of (Steps a, Steps b)
{
  return (Steps)VECTOR (max_epu16) ((Vector)a, (Vector)b);
}

static ALWAYS_INLINE Ints
ints_of (int32_t value)
{
  return (Ints)VECTOR (set1_epi32) (value);
}

static ALWAYS_INLINE Floats
floats_of (float value)
{
  return VECTOR (set1_ps) (value);
}

static ALWAYS_INLINE Ints
unpack_low (Steps steps)
{
  return (Ints)VECTOR (unpacklo_epi16) ((Vector)steps, (Vector){0});
}

static ALWAYS_INLINE Ints
unpack_high (Steps steps)
{
  return (Ints)VECTOR (unpackhi_epi16) ((Vector)steps, (Vector){0});
}

/* a × b + c × d of one half of the lanes, taken as signed, as unpack_low() or unpack_high() unpacks
 * them. */
static ALWAYS_INLINE Ints
products_low (Steps a, Steps b, Steps c, Steps d)
{
  return (Ints)VECTOR (madd_epi16) (VECTOR (unpacklo_epi16) ((Vector)a, (Vector)c),
      VECTOR (unpacklo_epi16) ((Vector)b, (Vector)d));
}

static ALWAYS_INLINE Ints
products_high (Steps a, Steps b, Steps c, Steps d)
{
  return (Ints)VECTOR (madd_epi16) (VECTOR (unpackhi_epi16) ((Vector)a, (Vector)c),
      VECTOR (unpackhi_epi16) ((Vector)b, (Vector)d));
}

/* Numbers greater than 65535 become 65535. */
static ALWAYS_INLINE Steps
pack (Ints low, Ints high)
{
  return (Steps)VECTOR (packus_epi32) ((Vector)low, (Vector)high);
}

static ALWAYS_INLINE Floats
to_floats (Ints values)
{
  return VECTOR (cvtepi32_ps) ((Vector)values);
}

/* a × b − c, with or without rounding of the product. */
static ALWAYS_INLINE Floats
multiply_subtract (Floats a, Floats b, Floats c)
{
  return VECTOR (fmsub_ps) (a, b, c);
}
