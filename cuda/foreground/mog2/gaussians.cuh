/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Gaussians of a thread's pixels: their numbers, the decay of their weights, the distances of
 * values from them, and the moves of matched ones.
 *
 * 16-bit integers are converted to floats, and back, as the lower half of a float between 2^23 and
 * 2^24, whose last bit is worth one. An addition to such a float rounds to an integer.
 *
 * The luma of a thread's pixels is a word of bytes, or two words of 16 bits. Functions of the same
 * name read either.
 */
#pragma once

#include "quotient.cuh"
#define CUDACCL_DIVIDE(a, b) ccl_quotient (a, b)

#include "cuda/foreground/colour.cuh"
#include "mog2-parameters.h"

typedef CclMog2Parameters Parameters;

/* One value per pixel of a thread. */
typedef uint2 Weights;
typedef uint4 Shapes;
static_assert (sizeof (Weights) == PIXELS * sizeof (uint16_t), "16 bits for each pixel");
static_assert (sizeof (Shapes) == PIXELS * sizeof (uint32_t), "32 bits for each pixel");

static __device__ __forceinline__ bool
is_zero (const Weights &weights)
{
  return (weights.x | weights.y) == 0;
}

/* One of four 16-bit numbers. */
static __device__ __forceinline__ uint32_t
weight_of (const Weights &weights, int pixel)
{
  const uint32_t word = pixel < 2 ? weights.x : weights.y;
  return pixel % 2 ? word >> 16 : word & 0xffff;
}

static __device__ __forceinline__ uint32_t
chroma_of (const uint2 &chroma, int pixel)
{
  return weight_of (chroma, pixel);
}

static __device__ __forceinline__ uint32_t
pair (uint32_t left, uint32_t right)
{
  return __byte_perm (left, right, 0x5410);
}

static __device__ __forceinline__ uint32_t &
shape_of (Shapes &shapes, int pixel)
{
  return pixel == 0 ? shapes.x : pixel == 1 ? shapes.y : pixel == 2 ? shapes.z : shapes.w;
}

/* From 2^23 to 2^24 the last bit of a float is worth one. Its upper half is loaded from constant
 * memory so that it stays in a register: as an immediate operand it would leave no room in the
 * instruction for the selector of the byte permutation. */
static constexpr float WHOLE = 8388608.0f;
static __constant__ float UPPER_HALF_OF_WHOLE = WHOLE;

static __device__ __forceinline__ float
whole_of (uint32_t word, uint32_t selector)
{
  return __uint_as_float (__byte_perm (word, __float_as_uint (UPPER_HALF_OF_WHOLE), selector));
}
enum { LOWER_HALF = 0x7610, UPPER_HALF = 0x7632 };

/* The decay of the weights in a frame. */
struct Decay {
  uint32_t of_lone, less; /* loss of a full weight; reduction by each further Gaussian */
  uint32_t added;         /* constant loss and rounding, in units of 2^-16 */
  uint32_t shift;         /* from these units to steps of weights */
};

static __device__ __forceinline__ Decay
decay_of (const CclMixtureParameters &m)
{
  return {m.decay - m.starvation, m.starvation, (m.starvation + m.round) << 16, 16 + m.shift};
}

/* The weight after ccl_mixture_loss(). */
static __device__ __forceinline__ uint32_t
decayed (uint32_t weight, uint32_t parts, const Decay &decay)
{
  return (uint32_t)max ((int)weight - (int)((weight * parts + decay.added) >> decay.shift), 0);
}

/* 1 in each half whose weight is not 0. */
static __device__ __forceinline__ uint32_t
count_living (uint32_t two_weights)
{
  return __vminu2 (two_weights, 0x00010001);
}

/* How the kernels for a kind of pixels keep luma. */
template <PixelKind KIND> struct LumaOf {
  typedef uint32_t Type;
  static __device__ __forceinline__ Type
  load (const Parameters &p, const Group &group)
  {
    return load_luma<KIND> (p.frame, group);
  }
};

template <> struct LumaOf<WORDS> {
  typedef uint2 Type;
  static __device__ __forceinline__ Type
  load (const Parameters &p, const Group &group)
  {
    return load_words (p.frame, group);
  }
};

/* The luma of a pixel, in steps of a mean. */
static __device__ __forceinline__ uint32_t
luma_of (uint32_t bytes, uint32_t pixel)
{
  return (bytes >> 8 * pixel & 0xff) * CUDACCL_MIXTURE_MEAN_STEPS;
}

static __device__ __forceinline__ uint32_t
luma_of (const uint2 &words, uint32_t pixel)
{
  return weight_of (words, (int)pixel);
}

/* The same, added to WHOLE. */
static __device__ __forceinline__ float
whole_luma_of (uint32_t bytes, int pixel)
{
  return whole_of (bytes, 0x7604 | pixel << 4);
}

static __device__ __forceinline__ float
whole_luma_of (const uint2 &words, int pixel)
{
  return whole_of (pixel < 2 ? words.x : words.y, pixel % 2 ? UPPER_HALF : LOWER_HALF);
}

/* The pixels of a thread, in the light of the model. */
template <typename Luma> struct Values {
  Luma luma;
  uint2 chroma;
};

/* The distance of a pixel's value from its first Gaussian: the deviation of its luma, the squared
 * distance, and the variance, in the units of the model. */
struct Fit {
  float whole_mean, whole_variance, deviation, squared, variance;
};

template <bool COLOUR, typename Luma>
static __device__ __forceinline__ Fit
fit_of (uint32_t shape, uint32_t mean_chroma, const Values<Luma> &values, int pixel)
{
  Fit fit;
  fit.whole_mean = whole_of (shape, LOWER_HALF);
  fit.whole_variance = whole_of (shape, UPPER_HALF);
  fit.variance = __fsub_rn (fit.whole_variance, WHOLE);
  fit.deviation = __fsub_rn (fit.whole_mean, whole_luma_of (values.luma, pixel));
  fit.squared = __fmul_rn (fit.deviation, fit.deviation);
  if (COLOUR) {
    /* (u − u')² + (v − v')² without differences of bytes, for which there is no instruction. */
    const uint32_t value_chroma = chroma_of (values.chroma, pixel);
    const uint32_t products = __dp4a (mean_chroma, value_chroma, 0u);
    const uint32_t squares =
        __dp4a (mean_chroma, mean_chroma, __dp4a (value_chroma, value_chroma, 0u)) - 2 * products;
    fit.squared = /* the product is exact */
        __fmaf_rn (__uint2float_rn (squares), (float)CUDACCL_MIXTURE_CHROMA_SQUARES, fit.squared);
  }
  return fit;
}

static __device__ __forceinline__ bool
matches (const Fit &fit)
{
  return fit.squared <
         __fmul_rn (CUDACCL_MIXTURE_GENERATION * CUDACCL_MIXTURE_SQUARES, fit.variance);
}

/* The fraction by which a matched Gaussian of this weight moves. */
static __device__ __forceinline__ float
step_of (uint32_t weight, const CclMixtureParameters &m)
{
  return ccl_quotient (m.rate, __uint2float_rn (weight));
}

/* Luma and variance in ccl_mixture_move(). Returns the new shape. Bytes of luma lead to no mean
 * that is too great. */
template <typename Luma>
static __device__ __forceinline__ uint32_t
moved (const Fit &fit, float step, const CclMixtureParameters &m)
{
  const float excess = /* exact, as the factor is a power of two */
      __fmaf_rn (fit.squared, 1.0f / CUDACCL_MIXTURE_SQUARES, -fit.variance);
  float mean = __fadd_rd (fit.whole_mean, __fsub_rn (m.dither, __fmul_rn (step, fit.deviation)));
  if (sizeof (Luma) > PIXELS)
    mean = fminf (mean, WHOLE + CUDACCL_MIXTURE_MOST_MEAN);
  float variance = __fadd_rd (fit.whole_variance, __fadd_rn (m.dither, __fmul_rn (step, excess)));
  variance = fmaxf (variance, WHOLE + CUDACCL_MIXTURE_LEAST_VARIANCE);
  variance = fminf (variance, WHOLE + CUDACCL_MIXTURE_MOST_VARIANCE);
  return pair (__float_as_uint (mean), __float_as_uint (variance));
}

/* Chroma in ccl_mixture_move(). A value matches a Gaussian only if u and v differ by at most 12
 * steps. They move by a fraction of this difference, which dithering rounds to 0 if it is less than
 * both the dither and 1 − dither. The product uses 13 steps as a margin for rounding. */
static __device__ __forceinline__ uint32_t
moved_chroma (uint32_t mean, uint32_t value, float step, const CclMixtureParameters &m)
{
  if (mean == value || 13 * step < fminf (m.dither, 1 - m.dither))
    return mean;
  return ccl_mixture_moved_chroma (ccl_chroma_u (mean), ccl_chroma_u (value), step, &m) |
         ccl_mixture_moved_chroma (ccl_chroma_v (mean), ccl_chroma_v (value), step, &m) << 8;
}

/* Replaces the numbers of held pixels by those of before. */
static __device__ __forceinline__ uint2
keep_held (const uint2 &now, const uint2 &before, uint32_t held)
{
  const uint32_t left = (held & 1 ? 0xffff : 0) | (held & 2 ? 0xffff0000 : 0);
  const uint32_t right = (held & 4 ? 0xffff : 0) | (held & 8 ? 0xffff0000 : 0);
  return make_uint2 ((now.x & ~left) | (before.x & left), (now.y & ~right) | (before.y & right));
}
