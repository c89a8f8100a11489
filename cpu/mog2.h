/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of mixture.h for many pixels at a time, one pixel per lane. Masks and models
 * are identical to those of ccl_mixture_update(); the tests compare them. Work whose result is
 * known is left out: most pixels match their heaviest Gaussian, and most blocks have one Gaussian
 * of full weight per pixel.
 *
 * The including file defines three vector types. Steps has STEP_LANES unsigned 16-bit numbers, the
 * format of the model. Ints and Floats have LANES = STEP_LANES / 2 numbers of 32 bits, in which
 * distances are compared and Gaussians are moved. The operators of C work on all three; the
 * including file also defines the functions on them that are called below, and Mask, a set of LANES
 * lanes. Steps are unpacked to two Ints, low and high, in an order of lanes that depends on the
 * instruction set. A set of STEP_LANES lanes is a Steps whose lanes have all bits set or none.
 */
#ifndef CCL_CPU_BACKGROUND_H
#define CCL_CPU_BACKGROUND_H

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
  bool match_is_background; /* every value that matches the heaviest Gaussian is background */
} Constants;

/* The memory of the Gaussians of a block. */
typedef struct Planes {
  WeightBlock *heaviest_weights;
  GaussianBlock *heaviest;
  size_t distance; /* in blocks, from one Gaussian of a pixel to its next */
} Planes;

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

static Constants
make_constants (const CclMixtureParameters *parameters)
{
  const uint32_t gain = parameters->gain, weight_of_new = gain > 0 ? gain : 1;
  const uint32_t single_loss = ccl_mixture_loss (CCL_MIXTURE_FULL_WEIGHT, 1, parameters);
  const float generation = CCL_MIXTURE_GENERATION * CCL_MIXTURE_SQUARES;
  return (Constants){
      .decay = steps_of ((uint16_t)parameters->decay),
      .starvation = steps_of ((uint16_t)parameters->starvation),
      .gain = steps_of ((uint16_t)gain),
      .weight_of_new = steps_of ((uint16_t)weight_of_new),
      .added = steps_of ((uint16_t)(parameters->starvation + parameters->round)),
      .least_variance = steps_of (CCL_MIXTURE_LEAST_VARIANCE),
      .most_variance = steps_of (CCL_MIXTURE_MOST_VARIANCE),
      .single_weight = steps_of ((uint16_t)(CCL_MIXTURE_FULL_WEIGHT - single_loss)),
      .shift = parameters->shift,
      .rate = floats_of (parameters->rate),
      .dither = floats_of (parameters->dither),
      .var_threshold = floats_of (parameters->var_threshold),
      .generation = floats_of (generation),
      .step_of_full = floats_of (parameters->rate / CCL_MIXTURE_FULL_WEIGHT),
      .left_by_new = floats_of ((float)(CCL_MIXTURE_WEIGHT_STEPS - weight_of_new)),
      .mixtures = (int)parameters->mixtures,
      .learns = parameters->rate > 0,
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
  Steps living[CCL_MAX_MIXTURES] = {0};

  for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) {
    Steps weights[CCL_MAX_MIXTURES];
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
distances_of (Steps means, Steps variances, Steps luma)
{
  return (Distances){
      distance_of (unpack_low (means), unpack_low (variances), unpack_low (luma)),
      distance_of (unpack_high (means), unpack_high (variances), unpack_high (luma)),
  };
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
      distance->squared, floats_of (1.0f / CCL_MIXTURE_SQUARES), distance->variance);
  return round_down (constants->dither + step * excess);
}

/* Moves matched Gaussians towards the values. low_step and high_step: the fractions for both
 * halves. */
static ALWAYS_INLINE void
move_gaussians (Steps *means, Steps *variances, const Distances *distances, Floats low_step,
    Floats high_step, const Constants *constants)
{
  *means = pack (unpack_low (*means) + change_of_mean (&distances->low, low_step, constants),
      unpack_high (*means) + change_of_mean (&distances->high, high_step, constants));
  const Steps moved =
      pack (unpack_low (*variances) + change_of_variance (&distances->low, low_step, constants),
          unpack_high (*variances) + change_of_variance (&distances->high, high_step, constants));
  *variances = lesser_of (greater_of (moved, constants->least_variance), constants->most_variance);
}

/* The fast path for STEP_LANES pixels that all match their heaviest Gaussian: updates mean and
 * variance (the weights have been updated) and clears the background bits of foreground pixels.
 * Returns false, with nothing changed, if a pixel does not match. */
static ALWAYS_INLINE bool
match_heaviest (const Planes *planes, int first, const uint8_t *pixels, bool single,
    const Constants *constants, uint32_t *background)
{
  GaussianBlock *block = planes->heaviest;
  Steps means = *steps_at (block->means, first);
  Steps variances = *steps_at (block->variances, first);
  const Distances distances = distances_of (means, variances, load_luma (pixels + first));
  if (!all_lanes (is_within (&distances.low, constants->generation),
          is_within (&distances.high, constants->generation)))
    return false;

  if (!constants->match_is_background)
    *background &= ~(ALL_STEP_LANES << first) |
                   bits_of (select_within (&distances, constants->var_threshold)) << first;
  Floats low_step = constants->step_of_full, high_step = low_step;
  if (!single) {
    const Steps weights = *steps_at (weights_of (planes, 0), first);
    low_step = constants->rate / to_floats (unpack_low (weights));
    high_step = constants->rate / to_floats (unpack_high (weights));
  }
  move_gaussians (&means, &variances, &distances, low_step, high_step, constants);
  *steps_at (block->means, first) = means;
  *steps_at (block->variances, first) = variances;
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
 * ccl_mixture_join() does for one pixel. heaviest_weights has the decayed weights of the heaviest
 * Gaussians. Updates use. Returns the background pixels, one bit per pixel. */
static __attribute__ ((noinline)) uint32_t
match_any (int n, const uint8_t *pixels, const Constants *constants, const Planes *planes,
    int first, uint16_t *heaviest_weights, BlockUse *use)
{
  const Steps none = steps_of (0), luma = load_luma (pixels + first);
  Steps weights[CCL_MAX_MIXTURES];
  /* [k]: the lanes whose value matches none of the Gaussians before k. */
  Steps reached[CCL_MAX_MIXTURES + 1];
  Steps background = none, matched = none, total = none;
  Steps weight = constants->weight_of_new, mean = luma;
  Steps variance = steps_of (CCL_MIXTURE_FIRST_VARIANCE);
  int k = 0;

  reached[0] = ~none;
  reached[1] = weights[0] = none;
  for (; k < n && !all_zero (reached[k]); k++) {
    GaussianBlock *block = gaussians_of (planes, k);
    const Steps means = *steps_at (block->means, first);
    const Steps variances = *steps_at (block->variances, first);
    weights[k] = *steps_at (k == 0 ? heaviest_weights : weights_of (planes, k), first);
    const Distances distances = distances_of (means, variances, luma);
    const Steps examined = reached[k] & (Steps)(weights[k] != 0);
    const Steps matches = examined & select_within (&distances, constants->generation);
    background |= examined & (Steps)(total < CCL_MIXTURE_BACKGROUND_WEIGHT) &
                  select_within (&distances, constants->var_threshold);
    matched |= matches;
    reached[k + 1] = examined & ~matches;
    weight = choose (matches, weights[k], weight);
    mean = choose (matches, means, mean);
    variance = choose (matches, variances, variance);
    total = saturated_add (total, weights[k]);
  }
  if (use->compared < k)
    use->compared = (uint8_t)k;

  /* The last Gaussian that a value matches, or the first that no pixel has. */
  int last = k - 1;
  const Steps has_none = (Steps)(weights[0] == 0);
  background |= has_none;
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
  const Distances distances = distances_of (mean, variance, luma);
  Steps moved = variance;
  move_gaussians (&mean, &moved, &distances, constants->rate / to_floats (unpack_low (weight)),
      constants->rate / to_floats (unpack_high (weight)), constants);
  variance = choose (matched, moved, variance);

  /* Insertion sort: changed Gaussians move before those that are not heavier. */
  const Steps changed = matched | begins;
  Steps here = changed & reached[last] & (Steps)(weight >= weights[last]);
  for (int i = last; i >= 0; i--) {
    GaussianBlock *block = gaussians_of (planes, i);
    Steps before = none;
    Steps means = *steps_at (block->means, first);
    Steps variances = *steps_at (block->variances, first);
    if (i > 0) {
      before = changed & reached[i - 1] & (Steps)(weight >= weights[i - 1]);
      const Steps follows = reached[i] & before;
      here &= ~before;
      if (!all_zero (follows)) {
        GaussianBlock *heavier = gaussians_of (planes, i - 1);
        weights[i] = choose (follows, weights[i - 1], weights[i]);
        means = choose (follows, *steps_at (heavier->means, first), means);
        variances = choose (follows, *steps_at (heavier->variances, first), variances);
      }
    }
    *steps_at (weights_of (planes, i), first) = choose (here, weight, weights[i]);
    *steps_at (block->means, first) = choose (here, mean, means);
    *steps_at (block->variances, first) = choose (here, variance, variances);
    here = before;
  }
  return bits_of (background);
}

static ALWAYS_INLINE bool
all_have_full_weight (const uint16_t *weights)
{
  Steps missing = steps_of (0);
  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) missing |=
      steps_of (CCL_MIXTURE_FULL_WEIGHT) - *steps_at ((uint16_t *)weights, first);
  return all_zero (missing);
}

/* Prefetches the Gaussians that a later block probably needs. The hardware does not predict these
 * accesses, because blocks differ in their number of Gaussians. */
static ALWAYS_INLINE void
prefetch_block (const Model *model, size_t block)
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
  }
}

/* Updates the model of a block with its pixels, after decay. single: each pixel has one Gaussian of
 * full weight, and the decay was skipped, since a match restores the full weight. Updates use.
 * Returns the background pixels, one bit per pixel. */
static ALWAYS_INLINE uint32_t
match_pixels (const uint8_t *pixels, bool single, bool all_have_gaussian,
    const Constants *constants, const Planes *planes, uint16_t *heaviest_weights, BlockUse *use)
{
  const int n = use->most;
  uint32_t background = UINT32_MAX;

  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES)
  {
    if (all_have_gaussian && match_heaviest (planes, first, pixels, single, constants, &background))
      continue;
    if (single)
      *steps_at (heaviest_weights, first) = constants->single_weight;
    background &= ~(ALL_STEP_LANES << first) |
                  match_any (n, pixels, constants, planes, first, heaviest_weights, use) << first;
  }
  /* A full weight stays full as long as its Gaussian is the only one and is matched. */
  use->single = use->most == 1 && (single || all_have_full_weight (weights_of (planes, 0)));
  return background;
}

/* Updates the model of a block with a frame's pixels. Returns the background pixels, one bit per
 * pixel. */
static ALWAYS_INLINE uint32_t
update_block (const uint8_t *pixels, const Constants *constants, const Model *model, size_t block,
    size_t end_block)
{
  const Planes planes = {&model->weights[block], &model->gaussians[block], model->n_blocks};
  BlockUse *use = &model->uses[block];
  _Alignas(64) uint16_t heaviest_weights[BLOCK_PIXELS];
  bool all_have_gaussian = false;

  prefetch_block (model, block + BLOCKS_AHEAD < end_block ? block + BLOCKS_AHEAD : block);
  use->compared = 1;
  if (use->single)
    return match_pixels (pixels, true, true, constants, &planes, heaviest_weights, use);

  for (; use->most > constants->mixtures; use->most--)
    memset (weights_of (&planes, use->most - 1), 0, sizeof (WeightBlock));
  /* The compiler specialises decay_weights() for each constant. */
  switch (use->most) {
  case 0:
    break;
  case 1:
    all_have_gaussian = decay_weights (1, constants, &planes, heaviest_weights, use);
    break;
  case 2:
    all_have_gaussian = decay_weights (2, constants, &planes, heaviest_weights, use);
    break;
  case 3:
    all_have_gaussian = decay_weights (3, constants, &planes, heaviest_weights, use);
    break;
  case 4:
    all_have_gaussian = decay_weights (4, constants, &planes, heaviest_weights, use);
    break;
  default:
    all_have_gaussian = decay_weights (5, constants, &planes, heaviest_weights, use);
    break;
  }
  return match_pixels (pixels, false, all_have_gaussian, constants, &planes, heaviest_weights, use);
}

static void
background_row (const uint8_t *pixels, uint32_t width, const CclMixtureParameters *parameters,
    const Model *model, uint32_t y, uint32_t end_row, uint64_t *foreground)
{
  const Constants constants = make_constants (parameters);
  const size_t first_block = y * model->blocks_per_row;
  const size_t end_block = end_row * model->blocks_per_row;

  for (uint32_t x = 0; x < width; x += BLOCK_PIXELS) {
    const uint8_t *block_pixels = pixels + x;
    uint8_t rest[BLOCK_PIXELS] = {0};
    if (width - x < BLOCK_PIXELS)
      block_pixels = memcpy (rest, block_pixels, width - x);
    const uint64_t bits =
        ~update_block (block_pixels, &constants, model, first_block + x / BLOCK_PIXELS, end_block);
    if (x % 64 == 0)
      foreground[x / 64] = bits;
    else
      foreground[x / 64] |= bits << 32;
  }
}

#endif /* CCL_CPU_BACKGROUND_H */
