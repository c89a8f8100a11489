/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of one pixel: an adaptive mixture of Gaussians over its luma, after
 * Z. Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction", ICPR 2004,
 * sections 2 and 3, and Z. Zivkovic and F. van der Heijden, "Efficient adaptive density estimation
 * per image pixel for the task of background subtraction", Pattern Recognition Letters 27, 2006.
 *
 * Both processors run exactly this: cpu/ many pixels at a time, cuda/ a pixel or a few a thread.
 * Their masks and models are the same bits because every operation is an IEEE single one,
 * rounded to nearest, in the order written here, never contracted to a fused multiply-add.
 *
 * Between frames a Gaussian is kept in three 16-bit numbers, half of what floats would move
 * through memory. Rounding to nearest would stop means and weights from drifting by less than half
 * a step a frame. So all pixels of a frame round down after a number in 0…1 was added that differs
 * from frame to frame, which is right on average.
 */
#ifndef CCL_MIXTURE_H
#define CCL_MIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Rounded one by one, whatever the compiler would like to fuse. In C, files that include this
 * are compiled with -ffp-contract=off. */
#ifdef __CUDACC__
#define CCL_MIXTURE_FUNCTION __device__ static __forceinline__
#define CCL_ADD(a, b) __fadd_rn (a, b)
#define CCL_SUBTRACT(a, b) __fsub_rn (a, b)
#define CCL_MULTIPLY(a, b) __fmul_rn (a, b)
#define CCL_DIVIDE(a, b) __fdiv_rn (a, b)
#else
#define CCL_MIXTURE_FUNCTION static inline
#define CCL_ADD(a, b) ((a) + (b))
#define CCL_SUBTRACT(a, b) ((a) - (b))
#define CCL_MULTIPLY(a, b) ((a) * (b))
#define CCL_DIVIDE(a, b) ((a) / (b))
#endif

/* Gaussians a pixel may have. */
#define CCL_MAX_MIXTURES 5

/* What stays the same: the values that the papers and OpenCV's BackgroundSubtractorMOG2 use. */
#define CCL_MIXTURE_BACKGROUND_RATIO                                                               \
  0.9f                                   /* of the weight, which the background's Gaussians make   \
                                          */
#define CCL_MIXTURE_GENERATION 9.0f      /* squared deviations up to which a value joins one */
#define CCL_MIXTURE_FIRST_VARIANCE 15.0f /* of a new Gaussian, squared luma steps */
#define CCL_MIXTURE_LEAST_VARIANCE 4.0f
#define CCL_MIXTURE_MOST_VARIANCE 75.0f
#define CCL_MIXTURE_COMPLEXITY 0.05f /* the prior that starves Gaussians without evidence */

/* How the three numbers are kept: steps in one. */
#define CCL_MIXTURE_WEIGHT_STEPS 65536.0f
#define CCL_MIXTURE_MEAN_STEPS 256.0f
#define CCL_MIXTURE_VARIANCE_STEPS 512.0f

/* What holds for all pixels of a frame; ccl_mixture_parameters() in mixture.c fills it. */
typedef struct CclMixtureParameters {
  float rate;          /* how far a frame moves the model, 0…1 */
  float keep;          /* 1 − rate */
  float starvation;    /* rate × CCL_MIXTURE_COMPLEXITY */
  float var_threshold; /* squared deviations up to which a value is background */
  float dither;        /* what is added before rounding down, an odd number of 256ths: small
                        * enough that what has not changed is rounded to what it was */
  uint32_t mixtures;   /* Gaussians a pixel may have, 1…CCL_MAX_MIXTURES */
} CclMixtureParameters;

/* One Gaussian. Those of a pixel are in order of falling weight; one of weight 0 is none, and
 * none follows it; what its mean and variance say means nothing. */
typedef struct CclGaussian {
  float weight, mean, variance;
} CclGaussian;

CCL_MIXTURE_FUNCTION uint16_t
ccl_mixture_pack (float value, float steps, float dither)
{
  float packed = CCL_ADD (CCL_MULTIPLY (value, steps), dither);
  return (uint16_t)(packed < 65535.0f ? packed : 65535.0f);
}

/* A living Gaussian stays alive, however little it weighs. */
CCL_MIXTURE_FUNCTION uint16_t
ccl_mixture_pack_weight (float weight, float dither)
{
  uint16_t packed = ccl_mixture_pack (weight, CCL_MIXTURE_WEIGHT_STEPS, dither);
  return packed > 0 || weight == 0.0f ? packed : 1;
}

/* Moves Gaussian k to where its weight belongs among those before it. */
CCL_MIXTURE_FUNCTION void
ccl_mixture_sort_in (CclGaussian gaussians[CCL_MAX_MIXTURES], int k)
{
  bool moves = true;
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int i = CCL_MAX_MIXTURES - 1; i > 0; i--) {
    if (i <= k && moves) {
      moves = gaussians[i].weight >= gaussians[i - 1].weight;
      if (moves) {
        CclGaussian lighter = gaussians[i - 1];
        gaussians[i - 1] = gaussians[i];
        gaussians[i] = lighter;
      }
    }
  }
}

/* Takes the luma of a pixel into its model. Returns whether the pixel is background: whether
 * its value is near one of the Gaussians that made up most of the weight before. A pixel without a
 * model is background. Loops have constant bounds so that a GPU keeps the model in registers. */
CCL_MIXTURE_FUNCTION bool
ccl_mixture_update (
    CclGaussian gaussians[CCL_MAX_MIXTURES], float luma, const CclMixtureParameters *parameters)
{
  bool background = gaussians[0].weight == 0.0f, fits = false;
  float total = 0.0f;
  int n = 0;

#ifdef __CUDACC__
#pragma unroll
#endif
  for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (k >= (int)parameters->mixtures)
      gaussians[k].weight = 0.0f;
    if (gaussians[k].weight > 0.0f) {
      float weight = CCL_SUBTRACT (
          CCL_MULTIPLY (parameters->keep, gaussians[k].weight), parameters->starvation);
      bool joins = false;
      if (!fits) {
        float deviation = CCL_SUBTRACT (gaussians[k].mean, luma);
        float variance = gaussians[k].variance;
        float squared = CCL_MULTIPLY (deviation, deviation);
        if (total < CCL_MIXTURE_BACKGROUND_RATIO &&
            squared < CCL_MULTIPLY (parameters->var_threshold, variance))
          background = true;
        joins = squared < CCL_MULTIPLY (CCL_MIXTURE_GENERATION, variance);
        if (joins) {
          fits = true;
          weight = CCL_ADD (weight, parameters->rate);
          float step = CCL_DIVIDE (parameters->rate, weight);
          /* A step of more than one, which a very light Gaussian takes, could lead below 0. */
          float mean = CCL_SUBTRACT (gaussians[k].mean, CCL_MULTIPLY (step, deviation));
          gaussians[k].mean = mean > 0.0f ? mean : 0.0f;
          variance = CCL_ADD (variance, CCL_MULTIPLY (step, CCL_SUBTRACT (squared, variance)));
          if (variance < CCL_MIXTURE_LEAST_VARIANCE)
            variance = CCL_MIXTURE_LEAST_VARIANCE;
          if (variance > CCL_MIXTURE_MOST_VARIANCE)
            variance = CCL_MIXTURE_MOST_VARIANCE;
          gaussians[k].variance = variance;
        }
      }
      if (weight < parameters->starvation)
        weight = 0.0f;
      else
        n++;
      total = CCL_ADD (total, weight);
      gaussians[k].weight = weight;
      if (joins)
        ccl_mixture_sort_in (gaussians, k);
    }
  }

  if (n > 0) {
    float scale = CCL_DIVIDE (1.0f, total);
    for (int k = 0; k < CCL_MAX_MIXTURES; k++)
      gaussians[k].weight = CCL_MULTIPLY (gaussians[k].weight, scale);
  }

  if (!fits && (parameters->rate > 0.0f || n == 0)) {
    int last = n < (int)parameters->mixtures ? n : (int)parameters->mixtures - 1;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < CCL_MAX_MIXTURES; k++) {
      if (k < last)
        gaussians[k].weight = CCL_MULTIPLY (gaussians[k].weight, parameters->keep);
      if (k == last) {
        gaussians[k].weight = last == 0 ? 1.0f : parameters->rate;
        gaussians[k].mean = luma;
        gaussians[k].variance = CCL_MIXTURE_FIRST_VARIANCE;
      }
    }
    ccl_mixture_sort_in (gaussians, last);
  }
  return background;
}

#ifndef __CUDACC__
#include "segmenter.h"

/* The parameters for the frame that comes after n_frames others; the same for both processors. */
CclMixtureParameters ccl_mixture_parameters (const CclSegmenterOptions *options, uint64_t n_frames);
#endif

#endif /* CCL_MIXTURE_H */
