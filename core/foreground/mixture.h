/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of one pixel: an adaptive mixture of Gaussians over its luma and chroma,
 * after Z. Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction", ICPR
 * 2004, sections 2 and 3, and Z. Zivkovic and F. van der Heijden, "Efficient adaptive density
 * estimation per image pixel for the task of background subtraction", Pattern Recognition Letters
 * 27, 2006.
 *
 * CPU and GPU compute exactly this: cpu/ for many pixels at a time, cuda/ for a few pixels per
 * thread. Their masks and models are identical because weights are integers, and every operation on
 * means and variances is an IEEE single-precision one, rounded to nearest, in the order written
 * here, never contracted to a fused multiply-add.
 *
 * A Gaussian is three 16-bit fixed-point numbers, half the memory traffic of floats. The change of
 * a mean in a frame is often less than one step of these numbers, so results are rounded by
 * dithering: a number in 0…1 is added before rounding down. It is the same for all pixels of a
 * frame and differs from frame to frame, so that the rounding errors cancel on average.
 *
 * Luma has 16 bits here, in steps of a mean. Luma of 8 bits is in the upper byte, so a frame of 16
 * bits whose values are 256 times those of a frame of 8 bits has the same model and the same mask.
 * Variances are in units of the scale of 8 bits for both: one is a squared difference of 256 steps.
 *
 * The weights of a pixel add up to one. Zivkovic divides them by their sum in each frame. Here the
 * n Gaussians of a pixel together lose as much weight as the matched or new Gaussian gains: each
 * loses w × (rate − n × starvation) + starvation of its weight w. This differs from the paper only
 * by the square of the rate, and it needs no division. Weights are divided by their sum only where
 * a Gaussian is replaced. When a Gaussian starves, the sum stays slightly below one and recovers at
 * the learning rate.
 *
 * The variance of a Gaussian is that of luma. A difference of 1 in chroma, u or v, counts as much
 * as one of 2 in luma of 8 bits. Chroma has 8 bits, the upper ones of longer samples. The mean
 * chroma has whole steps, which dithering moves by one now and then. A format without chroma has
 * CUDACCL_NO_CHROMA everywhere.
 *
 * A cast shadow darkens the background and hardly changes its colour: A. Prati, I. Mikic,
 * M. Trivedi and R. Cucchiara, "Detecting moving shadows: algorithms and evaluation", IEEE TPAMI
 * 25(7), 2003, compare methods that test the ratio of luma and the difference of chroma, as
 * ccl_mixture_is_shadow() does.
 *
 * Terms: a value matches a Gaussian if its squared distance from the mean is less than
 * CUDACCL_MIXTURE_GENERATION variances; the first match in order of falling weight counts. Decay is
 * the loss of weight in a frame. Starvation is the constant part of it, from the prior against many
 * Gaussians.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Operations that are rounded one by one. C files that include this header are compiled with
 * -ffp-contract=off. */
#ifdef __CUDACC__
#define CUDACCL_MIXTURE_FUNCTION __device__ static __forceinline__
#define CUDACCL_MIXTURE_UNROLL _Pragma ("unroll")
#define CUDACCL_ADD(a, b) __fadd_rn (a, b)
#define CUDACCL_SUBTRACT(a, b) __fsub_rn (a, b)
#define CUDACCL_MULTIPLY(a, b) __fmul_rn (a, b)
#ifndef CUDACCL_DIVIDE
#define CUDACCL_DIVIDE(a, b) __fdiv_rn (a, b)
#endif
#else
#define CUDACCL_MIXTURE_FUNCTION static inline
#define CUDACCL_MIXTURE_UNROLL
#define CUDACCL_ADD(a, b) ((a) + (b))
#define CUDACCL_SUBTRACT(a, b) ((a) - (b))
#define CUDACCL_MULTIPLY(a, b) ((a) * (b))
#define CUDACCL_DIVIDE(a, b) ((a) / (b))
#endif

/* The most Gaussians of a pixel. */
#define CUDACCL_MAX_MIXTURES 5

/* Fixed point: how many steps make a weight of one, a difference of 1 in luma of 8 bits, a variance
 * of 1. */
#define CUDACCL_MIXTURE_WEIGHT_STEPS 65536 /* the greatest weight is one step less */
#define CUDACCL_MIXTURE_MEAN_STEPS 256
#define CUDACCL_MIXTURE_MOST_MEAN 65535
#define CUDACCL_MIXTURE_VARIANCE_STEPS 512
/* Squared steps of the mean in a step of the variance. */
#define CUDACCL_MIXTURE_SQUARES                                                                    \
  (CUDACCL_MIXTURE_MEAN_STEPS * CUDACCL_MIXTURE_MEAN_STEPS / CUDACCL_MIXTURE_VARIANCE_STEPS)

/* Constants of the papers and of OpenCV's BackgroundSubtractorMOG2. */
/* The heaviest Gaussians up to a weight of 0.9 are the background. */
#define CUDACCL_MIXTURE_BACKGROUND_WEIGHT 58983
#define CUDACCL_MIXTURE_FULL_WEIGHT 65535
#define CUDACCL_MIXTURE_GENERATION 9 /* variances up to which a value matches */
/* The variance of a new Gaussian. */
#define CUDACCL_MIXTURE_FIRST_VARIANCE (15 * CUDACCL_MIXTURE_VARIANCE_STEPS)
#define CUDACCL_MIXTURE_LEAST_VARIANCE (4 * CUDACCL_MIXTURE_VARIANCE_STEPS)
#define CUDACCL_MIXTURE_MOST_VARIANCE (75 * CUDACCL_MIXTURE_VARIANCE_STEPS)
#define CUDACCL_MIXTURE_COMPLEXITY 0.05 /* the prior against many Gaussians */

/* No colour: u and v are 128. */
#define CUDACCL_NO_CHROMA 0x8080

/* A squared step of chroma counts as this number of squared steps of the mean luma. */
#define CUDACCL_MIXTURE_CHROMA_SQUARES (4 * CUDACCL_MIXTURE_MEAN_STEPS * CUDACCL_MIXTURE_MEAN_STEPS)

/* The darkest shadow has this much of the background's luma, in 1/256. */
#define CUDACCL_SHADOW_RATIO 161
/* The tolerance of a shadow's chroma, times the background's luma, is CUDACCL_SHADOW_LUMA times the
 * luma of the pixel minus CUDACCL_SHADOW_MEAN times that of the background: 7 steps of chroma where
 * the shadow is faint, and 2.2 where it is darkest. The darker a pixel is, the rarer is a shadow
 * and the likelier an object, so its colour must fit better. */
#define CUDACCL_SHADOW_LUMA 13
#define CUDACCL_SHADOW_MEAN 6

/* Held pixels learn k times slower only when the model has learnt from k times this number of
 * frames. */
#define CUDACCL_HOLD_RAMP 16
#define CUDACCL_MAX_HOLD 16

/* The parameters that all pixels of a frame share; ccl_mixture_parameters() fills them. A part is
 * 2^-shift of a step of weight. */
typedef struct CclMixtureParameters {
  uint32_t decay;      /* the learning rate: parts that a weight of one loses, 0…65535 */
  uint32_t starvation; /* parts that each Gaussian of a pixel loses regardless of its weight */
  uint32_t shift;      /* 0…15 */
  uint32_t round;      /* dither: parts added before rounding down to steps, less than one step */
  uint32_t gain;       /* steps of weight that the matched or new Gaussian gains */
  float rate;          /* the learning rate in steps, not rounded, at most gain unless gain is 0.
                        * Divided by a weight, it is the fraction 0…1 by which a Gaussian moves
                        * towards the value */
  float dither;        /* added to changes of means and variances before rounding down, between
                        * 0 and 1 */
  float var_threshold; /* variances up to which a value is background, times
                        * CUDACCL_MIXTURE_SQUARES */
  uint32_t mixtures;   /* the most Gaussians of a pixel, 1…CUDACCL_MAX_MIXTURES */
} CclMixtureParameters;

/* One Gaussian, in steps. The Gaussians of a pixel are in order of falling weight. A weight of 0
 * means that there is no Gaussian, here and behind; its other fields are undefined. */
typedef struct CclGaussian {
  uint32_t weight, mean, variance;
  uint32_t chroma; /* u in the lower 8 bits, v in the next 8; of values, too */
} CclGaussian;

typedef enum CclPixelClass {
  CUDACCL_PIXEL_BACKGROUND,
  CUDACCL_PIXEL_SHADOW,
  CUDACCL_PIXEL_FOREGROUND,
} CclPixelClass;

/* The steps that a weight loses in a frame if its pixel has n Gaussians. Sums and products stay
 * below 2^32; in vectors of 16-bit numbers, sums and upper halves of products stay below 2^16. */
CUDACCL_MIXTURE_FUNCTION uint32_t
ccl_mixture_loss (uint32_t weight, uint32_t n, const CclMixtureParameters *parameters)
{
  const uint32_t share = weight * (parameters->decay - n * parameters->starvation) >> 16;
  return (share + parameters->starvation + parameters->round) >> parameters->shift;
}

/* The greatest integer that is not greater than the value. */
CUDACCL_MIXTURE_FUNCTION int32_t
ccl_mixture_floor (float value)
{
#ifdef __CUDACC__
  return __float2int_rd (value);
#else
  const int32_t whole = (int32_t)value;
  return whole - (value < (float)whole);
#endif
}

/* Decay: reduces the weights of a pixel's Gaussians. Gaussians whose weight would not stay above 0
 * are removed. */
CUDACCL_MIXTURE_FUNCTION void
ccl_mixture_decay (
    CclGaussian gaussians[CUDACCL_MAX_MIXTURES], const CclMixtureParameters *parameters)
{
  uint32_t n = 0;
  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    if (k >= parameters->mixtures)
      gaussians[k].weight = 0;
    n += gaussians[k].weight > 0;
  }
  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    const uint32_t weight = gaussians[k].weight;
    const uint32_t loss = ccl_mixture_loss (weight, n, parameters);
    gaussians[k].weight = weight > loss ? weight - loss : 0;
  }
}

CUDACCL_MIXTURE_FUNCTION int32_t
ccl_chroma_u (uint32_t chroma)
{
  return (int32_t)(chroma & 0xff);
}

CUDACCL_MIXTURE_FUNCTION int32_t
ccl_chroma_v (uint32_t chroma)
{
  return (int32_t)(chroma >> 8);
}

/* A luma or a mean in 8 bits, rounded. */
CUDACCL_MIXTURE_FUNCTION uint32_t
ccl_mixture_luma_8 (uint32_t steps)
{
  const uint32_t luma = (steps + CUDACCL_MIXTURE_MEAN_STEPS / 2) / CUDACCL_MIXTURE_MEAN_STEPS;
  return luma < UINT8_MAX ? luma : UINT8_MAX;
}

/* The squared distance of a value from a Gaussian, in squared steps of the mean. */
CUDACCL_MIXTURE_FUNCTION float
ccl_mixture_squared_distance (const CclGaussian *gaussian, uint32_t luma, uint32_t chroma)
{
  const float deviation = (float)(int32_t)(gaussian->mean - luma);
  const int32_t u = ccl_chroma_u (gaussian->chroma) - ccl_chroma_u (chroma);
  const int32_t v = ccl_chroma_v (gaussian->chroma) - ccl_chroma_v (chroma);
  /* The second product is exact, so that a fused multiply-add gives the same sum. */
  return CUDACCL_ADD (CUDACCL_MULTIPLY (deviation, deviation),
      CUDACCL_MULTIPLY ((float)(u * u + v * v), (float)CUDACCL_MIXTURE_CHROMA_SQUARES));
}

/* Whether a value looks like the background of a Gaussian with less light. Ratios of luma have 8
 * bits. */
CUDACCL_MIXTURE_FUNCTION bool
ccl_mixture_is_shadow (const CclGaussian *gaussian, uint32_t luma, uint32_t chroma)
{
  const int32_t value = (int32_t)ccl_mixture_luma_8 (luma);
  const int32_t mean = (int32_t)ccl_mixture_luma_8 (gaussian->mean);
  const int32_t tolerance = CUDACCL_SHADOW_LUMA * value - CUDACCL_SHADOW_MEAN * mean;
  const int32_t u_error =
      (ccl_chroma_u (chroma) - 128) * mean - (ccl_chroma_u (gaussian->chroma) - 128) * value;
  const int32_t v_error =
      (ccl_chroma_v (chroma) - 128) * mean - (ccl_chroma_v (gaussian->chroma) - 128) * value;
  return value < mean && 256 * value >= CUDACCL_SHADOW_RATIO * mean && u_error <= tolerance &&
         -u_error <= tolerance && v_error <= tolerance && -v_error <= tolerance;
}

/* The mean of u or v after a move. */
CUDACCL_MIXTURE_FUNCTION uint32_t
ccl_mixture_moved_chroma (
    int32_t mean, int32_t value, float step, const CclMixtureParameters *parameters)
{
  return (uint32_t)(mean + ccl_mixture_floor (CUDACCL_SUBTRACT (parameters->dither,
                               CUDACCL_MULTIPLY (step, (float)(mean - value)))));
}

/* Moves the means and the variance of the matched Gaussian, which has its new weight, towards the
 * value. */
CUDACCL_MIXTURE_FUNCTION void
ccl_mixture_move (
    CclGaussian *gaussian, uint32_t luma, uint32_t chroma, const CclMixtureParameters *parameters)
{
  const float step = CUDACCL_DIVIDE (parameters->rate, (float)gaussian->weight);
  const float deviation = (float)(int32_t)(gaussian->mean - luma);
  const float squared = ccl_mixture_squared_distance (gaussian, luma, chroma);
  const float excess = CUDACCL_SUBTRACT (
      CUDACCL_MULTIPLY (squared, 1.0f / CUDACCL_MIXTURE_SQUARES), (float)gaussian->variance);
  gaussian->mean += (uint32_t)ccl_mixture_floor (
      CUDACCL_SUBTRACT (parameters->dither, CUDACCL_MULTIPLY (step, deviation)));
  /* A move by the whole deviation, with the dither, may be rounded to one step more. */
  if (gaussian->mean > CUDACCL_MIXTURE_MOST_MEAN)
    gaussian->mean = CUDACCL_MIXTURE_MOST_MEAN;
  gaussian->variance += (uint32_t)ccl_mixture_floor (
      CUDACCL_ADD (parameters->dither, CUDACCL_MULTIPLY (step, excess)));
  if (gaussian->variance < CUDACCL_MIXTURE_LEAST_VARIANCE)
    gaussian->variance = CUDACCL_MIXTURE_LEAST_VARIANCE;
  if (gaussian->variance > CUDACCL_MIXTURE_MOST_VARIANCE)
    gaussian->variance = CUDACCL_MIXTURE_MOST_VARIANCE;
  gaussian->chroma = ccl_mixture_moved_chroma (
                         ccl_chroma_u (gaussian->chroma), ccl_chroma_u (chroma), step, parameters) |
                     ccl_mixture_moved_chroma (
                         ccl_chroma_v (gaussian->chroma), ccl_chroma_v (chroma), step, parameters)
                         << 8;
}

/* Scales the weights of the first n Gaussians so that they and a new one, of weight of_new, add up
 * to one. */
CUDACCL_MIXTURE_FUNCTION void
ccl_mixture_share (CclGaussian gaussians[CUDACCL_MAX_MIXTURES], uint32_t n, uint32_t of_new)
{
  uint32_t total = 0;
  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++)
    total += k < n ? gaussians[k].weight : 0;
  const float scale = CUDACCL_DIVIDE ((float)(CUDACCL_MIXTURE_WEIGHT_STEPS - of_new), (float)total);
  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    if (k < n)
      gaussians[k].weight = (uint32_t)CUDACCL_MULTIPLY ((float)gaussians[k].weight, scale);
  }
}

/* Updates a pixel's Gaussians, whose weights have decayed, with a value: the matched Gaussian gains
 * weight and moves; without a match, a new one begins. Returns whether the value is background:
 * whether it is within var_threshold of one of the heaviest Gaussians. A pixel without Gaussians is
 * background. The loops have constant bounds so that a GPU keeps the Gaussians in registers. */
CUDACCL_MIXTURE_FUNCTION bool
ccl_mixture_match (CclGaussian gaussians[CUDACCL_MAX_MIXTURES], uint32_t luma, uint32_t chroma,
    const CclMixtureParameters *parameters)
{
  bool background = gaussians[0].weight == 0;
  CclGaussian own = {0, 0, 0, 0}; /* the matched or new one */
  uint32_t place = CUDACCL_MAX_MIXTURES, n = 0, total = 0;

  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    if (gaussians[k].weight == 0)
      continue;
    n++;
    if (place == CUDACCL_MAX_MIXTURES) {
      const float squared = ccl_mixture_squared_distance (&gaussians[k], luma, chroma);
      const float variance = (float)gaussians[k].variance;
      if (total < CUDACCL_MIXTURE_BACKGROUND_WEIGHT &&
          squared < CUDACCL_MULTIPLY (parameters->var_threshold, variance))
        background = true;
      if (squared <
          CUDACCL_MULTIPLY (CUDACCL_MIXTURE_GENERATION * CUDACCL_MIXTURE_SQUARES, variance)) {
        place = k;
        own = gaussians[k];
      }
    }
    total += gaussians[k].weight;
  }
  if (place < CUDACCL_MAX_MIXTURES) {
    own.weight += parameters->gain;
    if (own.weight > CUDACCL_MIXTURE_FULL_WEIGHT)
      own.weight = CUDACCL_MIXTURE_FULL_WEIGHT;
    ccl_mixture_move (&own, luma, chroma, parameters);
  } else {
    if (parameters->rate == 0 && n > 0)
      return background;
    /* The new one follows the others or replaces the last. */
    place = n < parameters->mixtures ? n : parameters->mixtures - 1;
    own.weight = place == 0             ? CUDACCL_MIXTURE_FULL_WEIGHT
                 : parameters->gain > 0 ? parameters->gain
                                        : 1;
    own.mean = luma;
    own.variance = CUDACCL_MIXTURE_FIRST_VARIANCE;
    own.chroma = chroma;
    if (place > 0 && place < n)
      ccl_mixture_share (gaussians, place, own.weight);
  }
  /* Insertion sort: it moves before those that are not heavier. */
  bool moves = true;
  CUDACCL_MIXTURE_UNROLL
  for (uint32_t k = CUDACCL_MAX_MIXTURES - 1; k > 0; k--) {
    if (k <= place && moves) {
      moves = own.weight >= gaussians[k - 1].weight;
      gaussians[k] = moves ? gaussians[k - 1] : own;
    }
  }
  if (moves)
    gaussians[0] = own;
  return background;
}

#ifndef __CUDACC__
#include <cudaccl/foreground.h>

/* The parameters for a frame that follows n_frames others. */
CclMixtureParameters ccl_mixture_parameters (
    const CclForegroundOptions *options, uint64_t n_frames);

/* Whether the model skips held pixels in the frame that follows n_frames others: it is not updated
 * there, only compared. Held pixels are those that were foreground in the frame before, after the
 * median filter or opening and before everything else. */
bool ccl_mixture_skips_held (const CclForegroundOptions *options, uint64_t n_frames);
#endif
