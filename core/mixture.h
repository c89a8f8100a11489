/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of one pixel: an adaptive mixture of Gaussians over its luma, after
 * Z. Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction", ICPR 2004,
 * sections 2 and 3, and Z. Zivkovic and F. van der Heijden, "Efficient adaptive density estimation
 * per image pixel for the task of background subtraction", Pattern Recognition Letters 27, 2006.
 *
 * Both processors run exactly this: cpu/ many pixels at a time, cuda/ a few pixels a thread. Their
 * masks and models are the same bits because weights are integers, and every operation on means and
 * variances is an IEEE single one, rounded to nearest, in the order written here, never contracted
 * to a fused multiply-add.
 *
 * A Gaussian is three 16-bit numbers, half of what floats would move through memory, and what it
 * moves by in a frame is often less than a step of them. So all pixels of a frame round down after
 * a number in 0…1 was added that differs from frame to frame, which is right on average.
 *
 * The weights of a pixel make one in all, and Zivkovic divides them by their sum to keep it so.
 * Here a frame takes away from n Gaussians of weights w, in all, just what it gives to the one that
 * a value joins or that begins: each loses w × (rate − n × starvation) + starvation. That is the
 * same up to the square of the rate, and it takes no division. Only where a Gaussian is replaced,
 * with all its weight, the others are divided by their sum. The little that is missing when one
 * starves comes back at the pace of the rate.
 */
#ifndef CCL_MIXTURE_H
#define CCL_MIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Rounded one by one, whatever the compiler would like to fuse. In C, files that include this
 * are compiled with -ffp-contract=off. */
#ifdef __CUDACC__
#define CCL_MIXTURE_FUNCTION __device__ static __forceinline__
#define CCL_MIXTURE_UNROLL _Pragma ("unroll")
#define CCL_ADD(a, b) __fadd_rn (a, b)
#define CCL_SUBTRACT(a, b) __fsub_rn (a, b)
#define CCL_MULTIPLY(a, b) __fmul_rn (a, b)
#ifndef CCL_DIVIDE
#define CCL_DIVIDE(a, b) __fdiv_rn (a, b)
#endif
#else
#define CCL_MIXTURE_FUNCTION static inline
#define CCL_MIXTURE_UNROLL
#define CCL_ADD(a, b) ((a) + (b))
#define CCL_SUBTRACT(a, b) ((a) - (b))
#define CCL_MULTIPLY(a, b) ((a) * (b))
#define CCL_DIVIDE(a, b) ((a) / (b))
#endif

/* Gaussians a pixel may have. */
#define CCL_MAX_MIXTURES 5

/* The numbers are in steps: so many make a weight of one, a step of luma, a squared step of luma.
 */
#define CCL_MIXTURE_WEIGHT_STEPS 65536 /* the greatest weight is one step less */
#define CCL_MIXTURE_MEAN_STEPS 256
#define CCL_MIXTURE_VARIANCE_STEPS 512
/* Squared steps of the mean in a step of the variance. */
#define CCL_MIXTURE_SQUARES                                                                        \
  (CCL_MIXTURE_MEAN_STEPS * CCL_MIXTURE_MEAN_STEPS / CCL_MIXTURE_VARIANCE_STEPS)

/* What stays the same: the values that the papers and OpenCV's BackgroundSubtractorMOG2 use. */
#define CCL_MIXTURE_BACKGROUND_WEIGHT                                                              \
  58983 /* nine tenths, which the background's Gaussians make                                      \
         */
#define CCL_MIXTURE_FULL_WEIGHT 65535
#define CCL_MIXTURE_GENERATION 9 /* squared deviations up to which a value joins one */
#define CCL_MIXTURE_FIRST_VARIANCE (15 * CCL_MIXTURE_VARIANCE_STEPS) /* of a new one */
#define CCL_MIXTURE_LEAST_VARIANCE (4 * CCL_MIXTURE_VARIANCE_STEPS)
#define CCL_MIXTURE_MOST_VARIANCE (75 * CCL_MIXTURE_VARIANCE_STEPS)
#define CCL_MIXTURE_COMPLEXITY 0.05 /* the prior that starves Gaussians without evidence */

/* What holds for all pixels of a frame; ccl_mixture_parameters() in mixture.c fills it. Losses of
 * weight are counted in 2^shift parts of a step. */
typedef struct CclMixtureParameters {
  uint32_t decay;      /* the rate: what a weight of one loses, 0…65535 parts */
  uint32_t starvation; /* what each of a pixel's Gaussians loses, and gives to them all, parts */
  uint32_t shift;      /* 0…15 */
  uint32_t round;      /* what is added to parts before they become steps, less than a step */
  uint32_t gain;       /* steps that the Gaussian of the frame's value gets */
  float rate;          /* the same, not rounded; not more unless that is 0. Divided by a weight it
                        * is how far a Gaussian goes towards a value, 0…1 */
  float dither;        /* what is added to means and variances before rounding down, between 0
                        * and 1 */
  float var_threshold; /* squared deviations up to which a value is background, in
                        * CCL_MIXTURE_SQUARES */
  uint32_t mixtures;   /* Gaussians a pixel may have, 1…CCL_MAX_MIXTURES */
} CclMixtureParameters;

/* One Gaussian, in steps. Those of a pixel are in order of falling weight; one of weight 0 is none,
 * and none follows it; what its mean and variance say means nothing. */
typedef struct CclGaussian {
  uint32_t weight, mean, variance;
} CclGaussian;

/* What a weight loses in a frame if its pixel has n Gaussians. The sums and products stay below
 * 2^32, and those of 16-bit numbers and the upper halves of their products below 2^16. */
CCL_MIXTURE_FUNCTION uint32_t
ccl_mixture_loss (uint32_t weight, uint32_t n, const CclMixtureParameters *parameters)
{
  const uint32_t share = weight * (parameters->decay - n * parameters->starvation) >> 16;
  return (share + parameters->starvation + parameters->round) >> parameters->shift;
}

/* The greatest whole number that is not greater. */
CCL_MIXTURE_FUNCTION int32_t
ccl_mixture_floor (float value)
{
#ifdef __CUDACC__
  return __float2int_rd (value);
#else
  const int32_t whole = (int32_t)value;
  return whole - (value < (float)whole);
#endif
}

/* Takes its share from each of a pixel's Gaussians; who has no more than that is gone. */
CCL_MIXTURE_FUNCTION void
ccl_mixture_decay (CclGaussian gaussians[CCL_MAX_MIXTURES], const CclMixtureParameters *parameters)
{
  uint32_t n = 0;
  CCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (k >= parameters->mixtures)
      gaussians[k].weight = 0;
    n += gaussians[k].weight > 0;
  }
  CCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    const uint32_t weight = gaussians[k].weight;
    const uint32_t loss = ccl_mixture_loss (weight, n, parameters);
    gaussians[k].weight = weight > loss ? weight - loss : 0;
  }
}

/* Moves a Gaussian, whose weight has grown already, towards a value that joins it. */
CCL_MIXTURE_FUNCTION void
ccl_mixture_move (CclGaussian *gaussian, uint32_t luma, const CclMixtureParameters *parameters)
{
  const float step = CCL_DIVIDE (parameters->rate, (float)gaussian->weight);
  const float deviation = (float)(int32_t)(gaussian->mean - luma * CCL_MIXTURE_MEAN_STEPS);
  const float squared = CCL_MULTIPLY (deviation, deviation);
  const float excess =
      CCL_SUBTRACT (CCL_MULTIPLY (squared, 1.0f / CCL_MIXTURE_SQUARES), (float)gaussian->variance);
  gaussian->mean += (uint32_t)ccl_mixture_floor (
      CCL_SUBTRACT (parameters->dither, CCL_MULTIPLY (step, deviation)));
  gaussian->variance +=
      (uint32_t)ccl_mixture_floor (CCL_ADD (parameters->dither, CCL_MULTIPLY (step, excess)));
  if (gaussian->variance < CCL_MIXTURE_LEAST_VARIANCE)
    gaussian->variance = CCL_MIXTURE_LEAST_VARIANCE;
  if (gaussian->variance > CCL_MIXTURE_MOST_VARIANCE)
    gaussian->variance = CCL_MIXTURE_MOST_VARIANCE;
}

/* Gives the first n Gaussians what a new one leaves of a weight of one. */
CCL_MIXTURE_FUNCTION void
ccl_mixture_share (CclGaussian gaussians[CCL_MAX_MIXTURES], uint32_t n, uint32_t of_new)
{
  uint32_t total = 0;
  CCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CCL_MAX_MIXTURES; k++)
    total += k < n ? gaussians[k].weight : 0;
  const float scale = CCL_DIVIDE ((float)(CCL_MIXTURE_WEIGHT_STEPS - of_new), (float)total);
  CCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (k < n)
      gaussians[k].weight = (uint32_t)CCL_MULTIPLY ((float)gaussians[k].weight, scale);
  }
}

/* Takes a value into a pixel's Gaussians, whose weights have decayed. Returns whether it is
 * background: whether it is near one of the Gaussians that make most of the weight. What has no
 * Gaussians is background. Loops have constant bounds so that a GPU keeps Gaussians in registers.
 */
CCL_MIXTURE_FUNCTION bool
ccl_mixture_join (
    CclGaussian gaussians[CCL_MAX_MIXTURES], uint32_t luma, const CclMixtureParameters *parameters)
{
  bool background = gaussians[0].weight == 0;
  CclGaussian own = {0, 0, 0}; /* the one that has the value */
  uint32_t place = CCL_MAX_MIXTURES, n = 0, total = 0;

  CCL_MIXTURE_UNROLL
  for (uint32_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (gaussians[k].weight == 0)
      continue;
    n++;
    if (place == CCL_MAX_MIXTURES) {
      const float deviation = (float)(int32_t)(gaussians[k].mean - luma * CCL_MIXTURE_MEAN_STEPS);
      const float squared = CCL_MULTIPLY (deviation, deviation);
      const float variance = (float)gaussians[k].variance;
      if (total < CCL_MIXTURE_BACKGROUND_WEIGHT &&
          squared < CCL_MULTIPLY (parameters->var_threshold, variance))
        background = true;
      if (squared < CCL_MULTIPLY (CCL_MIXTURE_GENERATION * CCL_MIXTURE_SQUARES, variance)) {
        place = k;
        own = gaussians[k];
      }
    }
    total += gaussians[k].weight;
  }
  if (place < CCL_MAX_MIXTURES) {
    own.weight += parameters->gain;
    if (own.weight > CCL_MIXTURE_FULL_WEIGHT)
      own.weight = CCL_MIXTURE_FULL_WEIGHT;
    ccl_mixture_move (&own, luma, parameters);
  } else {
    if (parameters->rate == 0 && n > 0)
      return background;
    /* A new one, behind the others or in place of the last. */
    place = n < parameters->mixtures ? n : parameters->mixtures - 1;
    own.weight = place == 0 ? CCL_MIXTURE_FULL_WEIGHT : parameters->gain > 0 ? parameters->gain : 1;
    own.mean = luma * CCL_MIXTURE_MEAN_STEPS;
    own.variance = CCL_MIXTURE_FIRST_VARIANCE;
    if (place > 0 && place < n)
      ccl_mixture_share (gaussians, place, own.weight);
  }
  /* Before those that are not heavier. */
  bool moves = true;
  CCL_MIXTURE_UNROLL
  for (uint32_t k = CCL_MAX_MIXTURES - 1; k > 0; k--) {
    if (k <= place && moves) {
      moves = own.weight >= gaussians[k - 1].weight;
      gaussians[k] = moves ? gaussians[k - 1] : own;
    }
  }
  if (moves)
    gaussians[0] = own;
  return background;
}

/* What a frame does to a pixel's model: takes its luma, 0…255, into it, and returns whether that is
 * background. */
CCL_MIXTURE_FUNCTION bool
ccl_mixture_update (
    CclGaussian gaussians[CCL_MAX_MIXTURES], uint32_t luma, const CclMixtureParameters *parameters)
{
  ccl_mixture_decay (gaussians, parameters);
  return ccl_mixture_join (gaussians, luma, parameters);
}

#ifndef __CUDACC__
#include <cudaccl/foreground.h>

/* The parameters for the frame that comes after n_frames others; the same for both processors. */
CclMixtureParameters ccl_mixture_parameters (
    const CclForegroundOptions *options, uint64_t n_frames);
#endif

#endif /* CCL_MIXTURE_H */
