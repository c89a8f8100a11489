/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gaussians of the background model, one pixel per lane: the parameters of a frame, the memory of a
 * block, the distances of values from Gaussians, the moves of matched ones, shadows. mog2.h says
 * which vector types the including file defines.
 */
#pragma once

#include "cpu/pixels/pixels.h"
#include "cpu/pixels/words.h"

#include <string.h>

/* One bit for each lane of Steps. */
#define ALL_STEP_LANES (UINT32_MAX >> (32 - STEP_LANES))

#define UNROLL _Pragma ("GCC unroll 8")

/* The parameters of a frame, in all lanes. */
typedef struct Constants {
  Steps decay, starvation, gain, weight_of_new, least_variance, most_variance;
  Steps added;         /* to a loss of weight, apart from the part that depends on the weight */
  Steps single_weight; /* a full weight after its decay in a pixel with one Gaussian */
  uint32_t shift;
  Floats rate, dither, var_threshold, generation;
  Floats step_of_full; /* the fraction by which a Gaussian of full weight moves */
  Floats left_by_new;  /* a weight of one minus weight_of_new */
  int mixtures;
  bool learns;
  bool tells_shadows;
  Steps moving_weight;      /* the chroma of matched Gaussians of a greater weight stays */
  bool match_is_background; /* every value that matches the heaviest Gaussian is background */
} Constants;

/* The memory of the Gaussians of a block. */
typedef struct Planes {
  WeightBlock *heaviest_weights;
  GaussianBlock *heaviest;
  ChromaBlock *heaviest_chroma; /* not used without chroma */
  size_t distance;              /* in blocks, from one Gaussian of a pixel to its next */
} Planes;

/* The compiler specialises functions that have a Kind for each constant. */
typedef struct Kind {
  bool colour; /* there is chroma */
  bool words;  /* luma has two bytes per pixel */
} Kind;

/* The pixels of a block. */
typedef struct Pixels {
  const uint8_t *luma;
  const uint16_t *chroma; /* not used without chroma */
} Pixels;

static ALWAYS_INLINE uint16_t *
weights_of (const Planes *planes, int k)
{
  return planes->heaviest_weights[(size_t)k * planes->distance].weights;
}

static ALWAYS_INLINE GaussianBlock *
gaussians_of (const Planes *planes, int k)
{
  return &planes->heaviest[(size_t)k * planes->distance];
}

static ALWAYS_INLINE uint16_t *
chroma_of (const Planes *planes, int k)
{
  return planes->heaviest_chroma[(size_t)k * planes->distance].chroma;
}

/* The weight from which on the chroma of a matched Gaussian stays as it is. A value matches a
 * Gaussian only if their chroma differs by at most 12 steps. The Gaussian moves by a fraction of
 * this difference, which dithering rounds to 0 if it is less than both the dither and 1 − dither.
 * The product uses 13 steps as a margin for rounding. */
static uint16_t
find_moving_weight (const CclMixtureParameters *parameters)
{
  const float dither = parameters->dither;
  const float least = 13 * parameters->rate / (dither < 0.5f ? dither : 1 - dither);
  return least < CUDACCL_MIXTURE_FULL_WEIGHT ? (uint16_t)least : UINT16_MAX;
}

static Constants
make_constants (const CclMixtureParameters *parameters, bool tells_shadows)
{
  const uint32_t gain = parameters->gain, weight_of_new = gain > 0 ? gain : 1;
  const uint32_t single_loss = ccl_mixture_loss (CUDACCL_MIXTURE_FULL_WEIGHT, 1, parameters);
  const float generation = CUDACCL_MIXTURE_GENERATION * CUDACCL_MIXTURE_SQUARES;
  return (Constants){
      .decay = steps_of ((uint16_t)parameters->decay),
      .starvation = steps_of ((uint16_t)parameters->starvation),
      .gain = steps_of ((uint16_t)gain),
      .weight_of_new = steps_of ((uint16_t)weight_of_new),
      .added = steps_of ((uint16_t)(parameters->starvation + parameters->round)),
      .least_variance = steps_of (CUDACCL_MIXTURE_LEAST_VARIANCE),
      .most_variance = steps_of (CUDACCL_MIXTURE_MOST_VARIANCE),
      .single_weight = steps_of ((uint16_t)(CUDACCL_MIXTURE_FULL_WEIGHT - single_loss)),
      .shift = parameters->shift,
      .rate = floats_of (parameters->rate),
      .dither = floats_of (parameters->dither),
      .var_threshold = floats_of (parameters->var_threshold),
      .generation = floats_of (generation),
      .step_of_full = floats_of (parameters->rate / CUDACCL_MIXTURE_FULL_WEIGHT),
      .left_by_new = floats_of ((float)(CUDACCL_MIXTURE_WEIGHT_STEPS - weight_of_new)),
      .mixtures = (int)parameters->mixtures,
      .learns = parameters->rate > 0,
      .tells_shadows = tells_shadows,
      .moving_weight = steps_of (find_moving_weight (parameters)),
      .match_is_background = parameters->var_threshold >= generation,
  };
}

static ALWAYS_INLINE Steps *
steps_at (uint16_t *numbers, int first)
{
  return (Steps *)(numbers + first);
}

/* The values of STEP_LANES pixels. */
typedef struct Values {
  Steps luma; /* in steps of a mean */
  Steps u, v;
} Values;

/* Luma of 16 bits, little-endian. */
static ALWAYS_INLINE Steps
load_words (const uint8_t *from)
{
  Steps words;
  memcpy (&words, from, sizeof words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  words = words << 8 | words >> 8;
#endif
  return words;
}

static ALWAYS_INLINE Values
load_values (const Pixels *pixels, int first, Kind kind)
{
  Values values = {.luma = kind.words ? load_words (pixels->luma + 2 * first)
                                      : load_luma (pixels->luma + first)};
  if (kind.colour) {
    const Steps chroma = *(const Steps *)(pixels->chroma + first);
    values.u = chroma & 0xff;
    values.v = chroma >> 8;
  }
  return values;
}

/* Gaussians in the format of the model. */
typedef struct Gaussians {
  Steps means, variances, chroma;
} Gaussians;

static ALWAYS_INLINE Gaussians
load_gaussians (const Planes *planes, int k, int first, bool colour)
{
  GaussianBlock *block = gaussians_of (planes, k);
  return (Gaussians){
      .means = *steps_at (block->means, first),
      .variances = *steps_at (block->variances, first),
      .chroma = colour ? *steps_at (chroma_of (planes, k), first) : steps_of (0),
  };
}

static ALWAYS_INLINE void
store_gaussians (const Planes *planes, int k, int first, bool colour, const Gaussians *gaussians)
{
  GaussianBlock *block = gaussians_of (planes, k);
  *steps_at (block->means, first) = gaussians->means;
  *steps_at (block->variances, first) = gaussians->variances;
  if (colour)
    *steps_at (chroma_of (planes, k), first) = gaussians->chroma;
}

static ALWAYS_INLINE Gaussians
choose_gaussians (Steps lanes, const Gaussians *inside, const Gaussians *outside, bool colour)
{
  return (Gaussians){
      .means = choose (lanes, inside->means, outside->means),
      .variances = choose (lanes, inside->variances, outside->variances),
      .chroma = colour ? choose (lanes, inside->chroma, outside->chroma) : outside->chroma,
  };
}

/* The distances of values from means, in steps, and the variances. */
typedef struct Distance {
  Floats deviation, squared, variance;
} Distance;

static ALWAYS_INLINE Distance
distance_of (Ints mean, Ints variance, Ints luma)
{
  const Floats deviation = to_floats (mean - luma);
  return (Distance){deviation, deviation * deviation, to_floats (variance)};
}

/* The same for both halves of Steps. */
typedef struct Distances {
  Distance low, high;
} Distances;

static ALWAYS_INLINE Distances
distances_of (const Gaussians *gaussians, const Values *values, bool colour)
{
  const Steps means = gaussians->means, variances = gaussians->variances;
  Distances distances = {
      distance_of (unpack_low (means), unpack_low (variances), unpack_low (values->luma)),
      distance_of (unpack_high (means), unpack_high (variances), unpack_high (values->luma)),
  };
  if (colour) {
    /* Negative differences wrap around; products_low() takes them as signed. */
    const Steps u = (gaussians->chroma & 0xff) - values->u;
    const Steps v = (gaussians->chroma >> 8) - values->v;
    const Floats squares = floats_of (CUDACCL_MIXTURE_CHROMA_SQUARES);
    distances.low.squared += squares * to_floats (products_low (u, u, v, v));
    distances.high.squared += squares * to_floats (products_high (u, u, v, v));
  }
  return distances;
}

static ALWAYS_INLINE Mask
is_within (const Distance *distance, Floats squares)
{
  return less (distance->squared, squares * distance->variance);
}

/* The lanes whose squared distance is less than `squares` variances. */
static ALWAYS_INLINE Steps
select_within (const Distances *distances, Floats squares)
{
  return pack_masks (is_within (&distances->low, squares), is_within (&distances->high, squares));
}

static ALWAYS_INLINE Ints
change_of_mean (const Distance *distance, Floats step, const Constants *constants)
{
  return round_down (constants->dither - step * distance->deviation);
}

static ALWAYS_INLINE Ints
change_of_variance (const Distance *distance, Floats step, const Constants *constants)
{
  /* A product with a power of two is exact, so a fused multiply-subtract gives the same result. */
  const Floats excess = multiply_subtract (
      distance->squared, floats_of (1.0f / CUDACCL_MIXTURE_SQUARES), distance->variance);
  return round_down (constants->dither + step * excess);
}

/* u or v of Gaussians after a move. */
static ALWAYS_INLINE Steps
moved_chroma (
    Steps mean, Steps value, Floats low_step, Floats high_step, const Constants *constants)
{
  const Steps difference = mean - value, one = steps_of (1), none = steps_of (0);
  const Floats low = to_floats (products_low (difference, one, none, none));
  const Floats high = to_floats (products_high (difference, one, none, none));
  return pack (unpack_low (mean) + round_down (constants->dither - low_step * low),
      unpack_high (mean) + round_down (constants->dither - high_step * high));
}

/* Moves matched Gaussians towards the values. low_step and high_step: the fractions for both
 * halves. moves_chroma: false if chroma stays. */
static ALWAYS_INLINE void
move_gaussians (Gaussians *gaussians, const Values *values, const Distances *distances,
    Floats low_step, Floats high_step, bool moves_chroma, const Constants *constants)
{
  const Steps means = gaussians->means, variances = gaussians->variances;
  const Steps chroma = gaussians->chroma;
  gaussians->means =
      pack (unpack_low (means) + change_of_mean (&distances->low, low_step, constants),
          unpack_high (means) + change_of_mean (&distances->high, high_step, constants));
  const Steps moved =
      pack (unpack_low (variances) + change_of_variance (&distances->low, low_step, constants),
          unpack_high (variances) + change_of_variance (&distances->high, high_step, constants));
  gaussians->variances =
      lesser_of (greater_of (moved, constants->least_variance), constants->most_variance);
  if (moves_chroma)
    gaussians->chroma = moved_chroma (chroma & 0xff, values->u, low_step, high_step, constants) |
                        moved_chroma (chroma >> 8, values->v, low_step, high_step, constants) << 8;
}

/* The lanes of a half in which |error| ≤ tolerance. */
static ALWAYS_INLINE Mask
is_tolerated (Ints error, Ints tolerance)
{
  const Floats limit = to_floats (tolerance + 1);
  return less (to_floats (error), limit) & less (to_floats (-error), limit);
}

/* ccl_mixture_is_shadow(), for the heaviest Gaussians. */
static ALWAYS_INLINE Steps
select_shadows (const Gaussians *heaviest, const Values *values, bool colour)
{
  const Steps half = steps_of (CUDACCL_MIXTURE_MEAN_STEPS / 2);
  const Steps luma = saturated_add (values->luma, half) >> 8;
  const Steps mean = saturated_add (heaviest->means, half) >> 8;
  const Steps darker = (Steps)(luma < mean) & (Steps)(luma << 8 >= CUDACCL_SHADOW_RATIO * mean);
  if (!colour)
    return darker;
  const Steps u = values->u - 128, own_u = 128 - (heaviest->chroma & 0xff);
  const Steps v = values->v - 128, own_v = 128 - (heaviest->chroma >> 8);
  const Steps by_luma = steps_of (CUDACCL_SHADOW_LUMA);
  const Steps by_mean = steps_of ((uint16_t)-CUDACCL_SHADOW_MEAN);
  const Ints low_tolerance = products_low (luma, by_luma, mean, by_mean);
  const Ints high_tolerance = products_high (luma, by_luma, mean, by_mean);
  const Mask low = is_tolerated (products_low (u, mean, own_u, luma), low_tolerance) &
                   is_tolerated (products_low (v, mean, own_v, luma), low_tolerance);
  const Mask high = is_tolerated (products_high (u, mean, own_u, luma), high_tolerance) &
                    is_tolerated (products_high (v, mean, own_v, luma), high_tolerance);
  return darker & pack_masks (low, high);
}
