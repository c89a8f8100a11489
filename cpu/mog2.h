/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of mixture.h for many pixels at a time, one pixel per lane. Masks and models
 * are identical to those of ccl_mixture_update(); the tests compare them. Work whose result is
 * known is left out: most pixels match their heaviest Gaussian, and most blocks have one Gaussian
 * of full weight per pixel.
 *
 * The including file defines three vector types. Steps has STEP_LANES unsigned 16-bit numbers, the
 * format of the model; chroma has u in the lower and v in the upper byte. Ints and Floats have
 * LANES = STEP_LANES / 2 numbers of 32 bits, in which distances are compared and Gaussians are
 * moved. The operators of C work on all three; the including file also defines the functions on
 * them that are called below, and Mask, a set of LANES lanes. Steps are unpacked to two Ints, low
 * and high, in an order of lanes that depends on the instruction set. A set of STEP_LANES lanes is
 * a Steps whose lanes have all bits set or none.
 */
#ifndef CUDACCL_CPU_BACKGROUND_H
#define CUDACCL_CPU_BACKGROUND_H

#include "pixels.h"
#include "words.h"

#include <string.h>

/* How far ahead blocks are prefetched. */
#define BLOCKS_AHEAD 8

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

/* The pixels of a block by class, one bit per pixel. */
typedef struct Classes {
  uint32_t background;
  uint32_t shadow; /* without the background */
} Classes;

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

/* Decay in a block whose pixels have up to n Gaussians, n ≥ 1. Updates use->most. The decayed
 * weights of the heaviest Gaussians go to heaviest_weights. In the model they also get the gain of
 * a match, since most values match; match_any() corrects the others. Returns whether each pixel
 * still has a Gaussian. */
static ALWAYS_INLINE bool
decay_weights (int n, const Constants *constants, const Planes *planes, uint16_t *heaviest_weights,
    BlockUse *use)
{
  bool all_have_gaussian = true;
  Steps living[CUDACCL_MAX_MIXTURES] = {0};

  for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) {
    Steps weights[CUDACCL_MAX_MIXTURES];
    Steps rate = constants->decay - constants->starvation;
    weights[0] = *steps_at (weights_of (planes, 0), first);
    UNROLL for (int k = 1; k < n; k++)
    {
      weights[k] = *steps_at (weights_of (planes, k), first);
      rate -= keep_where_not_zero (weights[k], constants->starvation);
    }
    UNROLL for (int k = 0; k < n; k++)
    {
      const Steps loss =
          shift_right (multiply_high (weights[k], rate) + constants->added, constants->shift);
      weights[k] = saturated_subtract (weights[k], loss);
      living[k] |= weights[k];
      if (k > 0)
        *steps_at (weights_of (planes, k), first) = weights[k];
    }
    all_have_gaussian = all_have_gaussian && !any_zero (weights[0]);
    *steps_at (heaviest_weights, first) = weights[0];
    *steps_at (weights_of (planes, 0), first) = saturated_add (weights[0], constants->gain);
  }
  while (n > 1 && all_zero (living[n - 1]))
    n--;
  use->most = (uint8_t)n;
  return all_have_gaussian;
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

/* Sets the bits of STEP_LANES pixels of classes that has all bits of background and none of
 * shadow. heaviest: the heaviest Gaussians before they are updated. */
static ALWAYS_INLINE void
set_classes (Classes *classes, uint32_t background, const Gaussians *heaviest, const Values *values,
    int first, bool colour, const Constants *constants)
{
  classes->background &= ~(ALL_STEP_LANES << first) | background << first;
  if (constants->tells_shadows && background != ALL_STEP_LANES)
    classes->shadow |= (bits_of (select_shadows (heaviest, values, colour)) & ~background) << first;
}

/* The fast path for STEP_LANES pixels that all match their heaviest Gaussian: updates it (the
 * weights have been updated) and sets the classes of the pixels. Returns false, with nothing
 * changed, if a pixel does not match. */
static ALWAYS_INLINE bool
match_heaviest (const Planes *planes, int first, const Pixels *pixels, bool single, Kind kind,
    const Constants *constants, Classes *classes)
{
  const bool colour = kind.colour;
  const Values values = load_values (pixels, first, kind);
  Gaussians gaussians = load_gaussians (planes, 0, first, colour);
  const Distances distances = distances_of (&gaussians, &values, colour);
  if (!all_lanes (is_within (&distances.low, constants->generation),
          is_within (&distances.high, constants->generation)))
    return false;

  if (!constants->match_is_background)
    set_classes (classes, bits_of (select_within (&distances, constants->var_threshold)),
        &gaussians, &values, first, colour, constants);
  Floats low_step = constants->step_of_full, high_step = low_step;
  Steps weights = steps_of (CUDACCL_MIXTURE_FULL_WEIGHT);
  if (!single) {
    weights = *steps_at (weights_of (planes, 0), first);
    low_step = constants->rate / to_floats (unpack_low (weights));
    high_step = constants->rate / to_floats (unpack_high (weights));
  }
  const bool moves_chroma = colour && !all_zero ((Steps)(weights <= constants->moving_weight));
  move_gaussians (&gaussians, &values, &distances, low_step, high_step, moves_chroma, constants);
  store_gaussians (planes, 0, first, colour, &gaussians);
  return true;
}

/* Removes the last of n Gaussians in some lanes and scales the weights of the others, so that they
 * and the weight of a new one add up to one. */
static ALWAYS_INLINE void
remove_last (Steps weights[], int n, Steps lanes, Floats left_by_new)
{
  Ints low_total = ints_of (0), high_total = low_total;
  for (int k = 0; k < n - 1; k++) {
    low_total += unpack_low (weights[k]);
    high_total += unpack_high (weights[k]);
  }
  const Floats low_scale = left_by_new / to_floats (low_total);
  const Floats high_scale = left_by_new / to_floats (high_total);
  for (int k = 0; k < n - 1; k++) {
    const Steps scaled = pack (round_down (to_floats (unpack_low (weights[k])) * low_scale),
        round_down (to_floats (unpack_high (weights[k])) * high_scale));
    weights[k] = choose (lanes, scaled, weights[k]);
  }
  weights[n - 1] &= ~lanes;
}

/* The general path, for STEP_LANES pixels that have up to n Gaussians with decayed weights: what
 * ccl_mixture_match() does for one pixel. heaviest_weights has the decayed weights of the heaviest
 * Gaussians. Updates use, and sets the classes of the pixels. */
static ALWAYS_INLINE void
match_any (int n, const Pixels *pixels, Kind kind, const Constants *constants, const Planes *planes,
    int first, uint16_t *heaviest_weights, BlockUse *use, Classes *classes)
{
  const bool colour = kind.colour;
  const Steps none = steps_of (0);
  const Values values = load_values (pixels, first, kind);
  Steps weights[CUDACCL_MAX_MIXTURES];
  /* [k]: the lanes whose value matches none of the Gaussians before k. */
  Steps reached[CUDACCL_MAX_MIXTURES + 1];
  Steps background = none, matched = none, total = none;
  Steps weight = constants->weight_of_new;
  Gaussians own = {values.luma, steps_of (CUDACCL_MIXTURE_FIRST_VARIANCE), none};
  if (colour)
    own.chroma = values.u | values.v << 8;
  int k = 0;

  reached[0] = ~none;
  reached[1] = weights[0] = none;
  for (; k < n && !all_zero (reached[k]); k++) {
    const Gaussians gaussians = load_gaussians (planes, k, first, colour);
    weights[k] = *steps_at (k == 0 ? heaviest_weights : weights_of (planes, k), first);
    const Distances distances = distances_of (&gaussians, &values, colour);
    const Steps examined = reached[k] & (Steps)(weights[k] != 0);
    const Steps matches = examined & select_within (&distances, constants->generation);
    background |= examined & (Steps)(total < CUDACCL_MIXTURE_BACKGROUND_WEIGHT) &
                  select_within (&distances, constants->var_threshold);
    matched |= matches;
    reached[k + 1] = examined & ~matches;
    weight = choose (matches, weights[k], weight);
    own = choose_gaussians (matches, &gaussians, &own, colour);
    total = saturated_add (total, weights[k]);
  }
  if (use->compared < k)
    use->compared = (uint8_t)k;

  /* The last Gaussian that a value matches, or the first that no pixel has. */
  int last = k - 1;
  const Steps has_none = (Steps)(weights[0] == 0);
  const Gaussians heaviest = load_gaussians (planes, 0, first, colour);
  set_classes (
      classes, bits_of (background | has_none), &heaviest, &values, first, colour, constants);
  Steps begins = ~matched;
  if (!constants->learns)
    begins &= has_none;
  const Steps behind_all = begins & reached[k];
  if (!all_zero (behind_all)) {
    if (n < constants->mixtures) {
      last = n;
      weights[n] = none;
      use->most = (uint8_t)(n + 1);
    } else if (n > 1) {
      remove_last (weights, n, behind_all, constants->left_by_new);
    }
  }

  /* A new Gaussian that is the only one has full weight. */
  const Steps alone = constants->mixtures > 1 ? ~reached[1] : ~none;
  weight = choose (matched, saturated_add (weight, constants->gain), weight | alone);
  const Distances distances = distances_of (&own, &values, colour);
  Gaussians moved = own;
  move_gaussians (&moved, &values, &distances, constants->rate / to_floats (unpack_low (weight)),
      constants->rate / to_floats (unpack_high (weight)), colour, constants);
  own = choose_gaussians (matched, &moved, &own, colour);

  /* Insertion sort: changed Gaussians move before those that are not heavier. */
  const Steps changed = matched | begins;
  Steps here = changed & reached[last] & (Steps)(weight >= weights[last]);
  for (int i = last; i >= 0; i--) {
    Steps before = none;
    Gaussians gaussians = load_gaussians (planes, i, first, colour);
    if (i > 0) {
      before = changed & reached[i - 1] & (Steps)(weight >= weights[i - 1]);
      const Steps follows = reached[i] & before;
      here &= ~before;
      if (!all_zero (follows)) {
        const Gaussians heavier = load_gaussians (planes, i - 1, first, colour);
        weights[i] = choose (follows, weights[i - 1], weights[i]);
        gaussians = choose_gaussians (follows, &heavier, &gaussians, colour);
      }
    }
    *steps_at (weights_of (planes, i), first) = choose (here, weight, weights[i]);
    gaussians = choose_gaussians (here, &own, &gaussians, colour);
    store_gaussians (planes, i, first, colour, &gaussians);
    here = before;
  }
}

/* match_any() for each kind, not inlined. */
static __attribute__ ((noinline)) void
match_any_luma (int n, const Pixels *pixels, const Constants *constants, const Planes *planes,
    int first, uint16_t *heaviest_weights, BlockUse *use, Classes *classes)
{
  match_any (
      n, pixels, (Kind){false, false}, constants, planes, first, heaviest_weights, use, classes);
}

static __attribute__ ((noinline)) void
match_any_colour (int n, const Pixels *pixels, const Constants *constants, const Planes *planes,
    int first, uint16_t *heaviest_weights, BlockUse *use, Classes *classes)
{
  match_any (
      n, pixels, (Kind){true, false}, constants, planes, first, heaviest_weights, use, classes);
}

static __attribute__ ((noinline)) void
match_any_wide_luma (int n, const Pixels *pixels, const Constants *constants, const Planes *planes,
    int first, uint16_t *heaviest_weights, BlockUse *use, Classes *classes)
{
  match_any (
      n, pixels, (Kind){false, true}, constants, planes, first, heaviest_weights, use, classes);
}

static __attribute__ ((noinline)) void
match_any_wide_colour (int n, const Pixels *pixels, const Constants *constants,
    const Planes *planes, int first, uint16_t *heaviest_weights, BlockUse *use, Classes *classes)
{
  match_any (
      n, pixels, (Kind){true, true}, constants, planes, first, heaviest_weights, use, classes);
}

static ALWAYS_INLINE bool
all_have_full_weight (const uint16_t *weights)
{
  Steps missing = steps_of (0);
  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) missing |=
      steps_of (CUDACCL_MIXTURE_FULL_WEIGHT) - *steps_at ((uint16_t *)weights, first);
  return all_zero (missing);
}

/* Prefetches the Gaussians that a later block probably needs. The hardware does not predict these
 * accesses, because blocks differ in their number of Gaussians. */
static ALWAYS_INLINE void
prefetch_block (const Model *model, size_t block, bool colour)
{
  const BlockUse use = model->uses[block];

  if (use.single)
    return;
  for (size_t k = 0; k < use.most; k++)
    __builtin_prefetch (&model->weights[k * model->n_blocks + block], 1);
  for (size_t k = 1; k < use.compared; k++) {
    const GaussianBlock *gaussians = &model->gaussians[k * model->n_blocks + block];
    __builtin_prefetch (gaussians->means, 1);
    __builtin_prefetch (gaussians->variances, 1);
    if (colour)
      __builtin_prefetch (&model->chroma[k * model->n_blocks + block], 1);
  }
}

/* Updates the model of a block with its pixels, after decay. single: each pixel has one Gaussian of
 * full weight, and the decay was skipped, since a match restores the full weight. Updates use. */
static ALWAYS_INLINE Classes
match_pixels (const Pixels *pixels, bool single, bool all_have_gaussian, Kind kind,
    const Constants *constants, const Planes *planes, uint16_t *heaviest_weights, BlockUse *use)
{
  const int n = use->most;
  Classes classes = {UINT32_MAX, 0};

  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES)
  {
    if (all_have_gaussian &&
        match_heaviest (planes, first, pixels, single, kind, constants, &classes))
      continue;
    if (single)
      *steps_at (heaviest_weights, first) = constants->single_weight;
    const bool colour = kind.colour;
    (kind.words ? (colour ? match_any_wide_colour : match_any_wide_luma)
                : (colour ? match_any_colour : match_any_luma)) (
        n, pixels, constants, planes, first, heaviest_weights, use, &classes);
  }
  /* A full weight stays full as long as its Gaussian is the only one and is matched. */
  use->single = use->most == 1 && (single || all_have_full_weight (weights_of (planes, 0)));
  return classes;
}

/* Updates the model of a block with a frame's pixels. */
static ALWAYS_INLINE Classes
update_block (const Pixels *pixels, Kind kind, const Constants *constants, const Planes *planes,
    BlockUse *use)
{
  _Alignas(64) uint16_t heaviest_weights[BLOCK_PIXELS];
  bool all_have_gaussian = false;

  use->compared = 1;
  if (use->single)
    return match_pixels (pixels, true, true, kind, constants, planes, heaviest_weights, use);

  for (; use->most > constants->mixtures; use->most--)
    memset (weights_of (planes, use->most - 1), 0, sizeof (WeightBlock));
  /* The compiler specialises decay_weights() for each constant. */
  switch (use->most) {
  case 0:
    break;
  case 1:
    all_have_gaussian = decay_weights (1, constants, planes, heaviest_weights, use);
    break;
  case 2:
    all_have_gaussian = decay_weights (2, constants, planes, heaviest_weights, use);
    break;
  case 3:
    all_have_gaussian = decay_weights (3, constants, planes, heaviest_weights, use);
    break;
  case 4:
    all_have_gaussian = decay_weights (4, constants, planes, heaviest_weights, use);
    break;
  default:
    all_have_gaussian = decay_weights (5, constants, planes, heaviest_weights, use);
    break;
  }
  return match_pixels (
      pixels, false, all_have_gaussian, kind, constants, planes, heaviest_weights, use);
}

/* The same for a kind that is no constant. */
static Classes
update_block_of_kind (const Pixels *pixels, Kind kind, const Constants *constants,
    const Planes *planes, BlockUse *use)
{
  if (kind.words)
    return kind.colour ? update_block (pixels, (Kind){true, true}, constants, planes, use)
                       : update_block (pixels, (Kind){false, true}, constants, planes, use);
  return kind.colour ? update_block (pixels, (Kind){true, false}, constants, planes, use)
                     : update_block (pixels, (Kind){false, false}, constants, planes, use);
}

/* The same for a block with held pixels, one bit per pixel. Their model is updated, too, to find
 * their classes, and then restored. */
static __attribute__ ((noinline)) Classes
update_held_block (uint32_t held, const Pixels *pixels, Kind kind, const Constants *constants,
    const Planes *planes, BlockUse *use)
{
  const bool colour = kind.colour;
  const BlockUse before = *use;
  WeightBlock weights[CUDACCL_MAX_MIXTURES];
  GaussianBlock gaussians[CUDACCL_MAX_MIXTURES];
  ChromaBlock chroma[CUDACCL_MAX_MIXTURES];
  const int n = before.most < CUDACCL_MAX_MIXTURES ? before.most + 1 : CUDACCL_MAX_MIXTURES;

  for (int k = 0; k < n; k++) {
    memcpy (&weights[k], weights_of (planes, k), sizeof *weights);
    memcpy (&gaussians[k], gaussians_of (planes, k), sizeof *gaussians);
    if (colour)
      memcpy (&chroma[k], chroma_of (planes, k), sizeof *chroma);
  }
  const Classes classes = update_block_of_kind (pixels, kind, constants, planes, use);
  for (int k = 0; k < n; k++) {
    for (uint32_t rest = held; rest; rest &= rest - 1) {
      const int i = __builtin_ctz (rest);
      weights_of (planes, k)[i] = weights[k].weights[i];
      gaussians_of (planes, k)->means[i] = gaussians[k].means[i];
      gaussians_of (planes, k)->variances[i] = gaussians[k].variances[i];
      if (colour)
        chroma_of (planes, k)[i] = chroma[k].chroma[i];
    }
  }
  use->single = use->single && before.single;
  use->most = use->most > before.most ? use->most : before.most;
  return classes;
}

static ALWAYS_INLINE void
update_row (const BackgroundRow *row, Kind kind, const Constants *constants)
{
  const Model *model = row->model;
  const bool colour = kind.colour;
  const size_t pixel_bytes = kind.words ? 2 : 1;
  const size_t first_block = row->y * model->blocks_per_row;
  const size_t end_block = row->end_row * model->blocks_per_row;

  for (uint32_t x = 0; x < row->width; x += BLOCK_PIXELS) {
    const size_t block = first_block + x / BLOCK_PIXELS;
    const Planes planes = {&model->weights[block], &model->gaussians[block],
        colour ? &model->chroma[block] : NULL, model->n_blocks};
    Pixels pixels = {row->luma + pixel_bytes * x, colour ? row->chroma + x : NULL};
    uint8_t rest[2 * BLOCK_PIXELS] = {0};
    if (row->width - x < BLOCK_PIXELS)
      pixels.luma = memcpy (rest, pixels.luma, pixel_bytes * (row->width - x));
    prefetch_block (model, block + BLOCKS_AHEAD < end_block ? block + BLOCKS_AHEAD : block, colour);
    const uint32_t held = row->held ? (uint32_t)(row->held[x / 64] >> x % 64) : 0;
    const Classes classes =
        held ? update_held_block (held, &pixels, kind, constants, &planes, &model->uses[block])
             : update_block (&pixels, kind, constants, &planes, &model->uses[block]);
    const uint64_t foreground = ~(classes.background | classes.shadow);
    if (x % 64 == 0) {
      row->foreground[x / 64] = foreground;
      row->shadow[x / 64] = classes.shadow;
    } else {
      row->foreground[x / 64] |= foreground << 32;
      row->shadow[x / 64] |= (uint64_t)classes.shadow << 32;
    }
  }
}

static void
background_row (const BackgroundRow *row)
{
  const Constants constants = make_constants (row->parameters, row->tells_shadows);
  if (row->chroma && row->is_wide)
    update_row (row, (Kind){true, true}, &constants);
  else if (row->chroma)
    update_row (row, (Kind){true, false}, &constants);
  else if (row->is_wide)
    update_row (row, (Kind){false, true}, &constants);
  else
    update_row (row, (Kind){false, false}, &constants);
}

#endif /* CUDACCL_CPU_BACKGROUND_H */
