/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of mixture.h for many pixels at a time, a pixel a lane. The bits that it
 * leaves are those of ccl_mixture_update(), which the tests compare; what it leaves out is work
 * whose result is known.
 *
 * The including file brings three kinds of vectors: Steps, STEP_LANES unsigned numbers of 16 bits,
 * as models are kept; and Ints and Floats, LANES numbers of 32 bits each, half as many, in which
 * Gaussians are compared and moved. Operators work on them, and so do the functions on them and on
 * Mask, a set of LANES lanes, that are called below. Steps are unpacked to two Ints, low and high;
 * which lanes are where is up to the instructions.
 */
#ifndef CCL_CPU_BACKGROUND_H
#define CCL_CPU_BACKGROUND_H

#include "pixels.h"
#include "words.h"

#include <string.h>

/* How far ahead blocks are prefetched. */
#define BLOCKS_AHEAD 16

/* A bit for each. */
#define ALL_STEP_LANES (UINT32_MAX >> (32 - STEP_LANES))

#define UNROLL _Pragma ("GCC unroll 8")

/* What holds for all pixels of a frame, in all lanes. */
typedef struct Constants {
  Steps decay, starvation, gain;
  Steps added;       /* to the part of a loss that depends on the weight */
  Steps lone_weight; /* of a Gaussian that weighed all before it decayed */
  uint32_t shift;
  Floats rate, dither, var_threshold, generation;
  Floats step_of_lone; /* how far a Gaussian that weighs all moves towards a value */
  Ints growth, weight_of_new;
  int mixtures;
  bool learns;
  bool joining_is_background; /* whatever joins the heaviest Gaussian */
} Constants;

/* Where the Gaussians of a block are. */
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
rest_of (const Planes *planes, int k)
{
  return &planes->heaviest[(size_t)k * planes->distance];
}

static Constants
make_constants (const CclMixtureParameters *parameters)
{
  const uint32_t gain = parameters->gain;
  const uint32_t lone_loss = ccl_mixture_loss (CCL_MIXTURE_FULL_WEIGHT, 1, parameters);
  const float generation = CCL_MIXTURE_GENERATION * CCL_MIXTURE_SQUARES;
  return (Constants){
      .decay = steps_of ((uint16_t)parameters->decay),
      .starvation = steps_of ((uint16_t)parameters->starvation),
      .gain = steps_of ((uint16_t)gain),
      .added = steps_of ((uint16_t)(parameters->starvation + parameters->round)),
      .lone_weight = steps_of ((uint16_t)(CCL_MIXTURE_FULL_WEIGHT - lone_loss)),
      .shift = parameters->shift,
      .rate = floats_of (parameters->rate),
      .dither = floats_of (parameters->dither),
      .var_threshold = floats_of (parameters->var_threshold),
      .generation = floats_of (generation),
      .step_of_lone = floats_of (parameters->rate / CCL_MIXTURE_FULL_WEIGHT),
      .growth = ints_of ((int32_t)gain),
      .weight_of_new = ints_of (gain > 0 ? (int32_t)gain : 1),
      .mixtures = (int)parameters->mixtures,
      .learns = parameters->rate > 0,
      .joining_is_background = parameters->var_threshold >= generation,
  };
}

static ALWAYS_INLINE Steps *
steps_at (uint16_t *of_block, int first)
{
  return (Steps *)(of_block + first);
}

/* Takes its share from each Gaussian of a block whose pixels have one to n, and notes how many they
 * have then. The heaviest ones' weights go to heaviest_weights; in the model they become what they
 * are if the value of each pixel joins them, as most do. Returns whether all pixels still have one.
 */
static ALWAYS_INLINE bool
decay_weights (int n, const Constants *constants, const Planes *planes, uint16_t *heaviest_weights,
    BlockUse *use)
{
  bool all_have_one = true;
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
      weights[k] = subtract_to_zero (weights[k], loss);
      living[k] |= weights[k];
      if (k > 0)
        *steps_at (weights_of (planes, k), first) = weights[k];
    }
    all_have_one = all_have_one && !any_zero (weights[0]);
    *steps_at (heaviest_weights, first) = weights[0];
    *steps_at (weights_of (planes, 0), first) = add_to_full (weights[0], constants->gain);
  }
  while (n > 1 && all_zero (living[n - 1]))
    n--;
  use->most = (uint8_t)n;
  return all_have_one;
}

static ALWAYS_INLINE Steps
greater_steps (Steps a, Steps b)
{
  return subtract_to_zero (a, b) + b;
}

static ALWAYS_INLINE Steps
lesser_steps (Steps a, Steps b)
{
  return a - subtract_to_zero (a, b);
}

/* How far values are from means, in steps; and the variances, as floats. */
typedef struct Distance {
  Floats deviation, squared, variance;
} Distance;

static ALWAYS_INLINE Distance
distance_of (Ints mean, Ints variance, Ints luma)
{
  const Floats deviation = to_floats (mean - luma);
  return (Distance){deviation, deviation * deviation, to_floats (variance)};
}

/* Whether a value is not farther than so many squared deviations. */
static ALWAYS_INLINE Mask
is_within (const Distance *distance, Floats squares)
{
  return less_float (distance->squared, squares * distance->variance);
}

static ALWAYS_INLINE Ints
moved_mean (Ints mean, const Distance *distance, Floats step, const Constants *constants)
{
  return mean + round_down (constants->dither - step * distance->deviation);
}

/* Not yet limited. */
static ALWAYS_INLINE Ints
moved_variance (Ints variance, const Distance *distance, Floats step, const Constants *constants)
{
  const Floats excess =
      distance->squared * floats_of (1.0f / CCL_MIXTURE_SQUARES) - distance->variance;
  return variance + round_down (constants->dither + step * excess);
}

/* Takes the values of STEP_LANES pixels, whose weights are as if they joined, into their heaviest
 * Gaussians if all are near enough. Returns whether they are. */
static ALWAYS_INLINE bool
join_heaviest (const Planes *planes, int first, const uint8_t *pixels, bool lone,
    const Constants *constants, uint32_t *background)
{
  GaussianBlock *block = planes->heaviest;
  const Steps luma = load_luma (pixels + first);
  const Steps means = *steps_at (block->means, first);
  const Steps variances = *steps_at (block->variances, first);
  const Ints low_mean = unpack_low (means), low_variance = unpack_low (variances);
  const Ints high_mean = unpack_high (means), high_variance = unpack_high (variances);
  const Distance low = distance_of (low_mean, low_variance, unpack_low (luma));
  const Distance high = distance_of (high_mean, high_variance, unpack_high (luma));
  const Mask all_join =
      both (is_within (&low, constants->generation), is_within (&high, constants->generation));
  if (any_lane (all_but (all_join)))
    return false;

  if (!constants->joining_is_background)
    *background &=
        ~(ALL_STEP_LANES << first) | packed_bits (is_within (&low, constants->var_threshold),
                                         is_within (&high, constants->var_threshold))
                                         << first;
  Floats low_step = constants->step_of_lone, high_step = low_step;
  if (!lone) {
    const Steps weights = *steps_at (weights_of (planes, 0), first);
    low_step = constants->rate / to_floats (unpack_low (weights));
    high_step = constants->rate / to_floats (unpack_high (weights));
  }
  *steps_at (block->means, first) = pack (moved_mean (low_mean, &low, low_step, constants),
      moved_mean (high_mean, &high, high_step, constants));
  const Steps moved = pack (moved_variance (low_variance, &low, low_step, constants),
      moved_variance (high_variance, &high, high_step, constants));
  *steps_at (block->variances, first) =
      lesser_steps (greater_steps (moved, steps_of (CCL_MIXTURE_LEAST_VARIANCE)),
          steps_of (CCL_MIXTURE_MOST_VARIANCE));
  return true;
}

/* The Gaussians of LANES pixels. */
typedef struct Lanes {
  Ints weights[CCL_MAX_MIXTURES];
  Ints means[CCL_MAX_MIXTURES];
  Ints variances[CCL_MAX_MIXTURES];
} Lanes;

static ALWAYS_INLINE Ints
lesser_of (Ints a, Ints b)
{
  return choose (less (a, b), a, b);
}

static ALWAYS_INLINE Ints
greater_of (Ints a, Ints b)
{
  return choose (less (a, b), b, a);
}

/* Makes room for new Gaussians in place of the last ones of some lanes, which have n. */
static ALWAYS_INLINE void
remove_last (Lanes *g, int n, Mask lanes, Ints weight_of_new)
{
  Ints total = ints_of (0);
  for (int k = 0; k < n - 1; k++)
    total += g->weights[k];
  const Floats scale =
      to_floats (ints_of (CCL_MIXTURE_WEIGHT_STEPS) - weight_of_new) / to_floats (total);
  for (int k = 0; k < n - 1; k++)
    g->weights[k] = choose (lanes, round_down (to_floats (g->weights[k]) * scale), g->weights[k]);
  g->weights[n - 1] = choose (lanes, ints_of (0), g->weights[n - 1]);
}

/* Takes the values of LANES pixels of which none has more than n Gaussians into them, whose weights
 * have decayed; those of the heaviest are given. Returns which are foreground, a bit a pixel, and
 * notes what is in use. */
static __attribute__ ((noinline)) uint32_t
join_any (int n, const uint8_t *pixels, const Constants *constants, const Planes *planes, int first,
    const uint16_t *heaviest_weights, BlockUse *use)
{
  const Ints luma = load_uint8 (pixels + first) * CCL_MIXTURE_MEAN_STEPS;
  const Ints full = ints_of (CCL_MIXTURE_FULL_WEIGHT);
  Lanes g;
  /* Lanes whose value belongs to Gaussian k or to one behind it. */
  Mask reached[CCL_MAX_MIXTURES + 1] = {all_but (no_lanes ())};
  Mask background = no_lanes (), joined = no_lanes ();
  Ints weight = constants->weight_of_new, mean = luma;
  Ints variance = ints_of (CCL_MIXTURE_FIRST_VARIANCE), total = ints_of (0);
  int k = 0;

  reached[1] = no_lanes ();
  g.weights[0] = ints_of (0);
  for (; k < n && any_lane (reached[k]); k++) {
    GaussianBlock *block = rest_of (planes, k);
    g.weights[k] = load_uint16 ((k == 0 ? heaviest_weights : weights_of (planes, k)) + first);
    g.means[k] = load_uint16 (block->means + first);
    g.variances[k] = load_uint16 (block->variances + first);
    const Distance distance = distance_of (g.means[k], g.variances[k], luma);
    const Mask examined = both (reached[k], less (ints_of (0), g.weights[k]));
    const Mask near = both (is_within (&distance, constants->var_threshold),
        less (total, ints_of (CCL_MIXTURE_BACKGROUND_WEIGHT)));
    const Mask joins = both (examined, is_within (&distance, constants->generation));
    background = either (background, both (examined, near));
    joined = either (joined, joins);
    reached[k + 1] = and_not (examined, joins);
    weight = choose (joins, g.weights[k], weight);
    mean = choose (joins, g.means[k], mean);
    variance = choose (joins, g.variances[k], variance);
    total += g.weights[k];
  }
  if (use->compared < k)
    use->compared = (uint8_t)k;

  /* The last Gaussian that a value joins, or the first that no pixel has. */
  int last = k - 1;
  const Mask has_none = all_but (less (ints_of (0), g.weights[0]));
  background = either (background, has_none);
  Mask begins = all_but (joined);
  if (!constants->learns)
    begins = both (begins, has_none);
  const Mask behind_all = both (begins, reached[k]);
  if (any_lane (behind_all)) {
    if (n < constants->mixtures) {
      last = n;
      g.weights[n] = g.means[n] = g.variances[n] = ints_of (0);
      use->most = (uint8_t)(n + 1);
    } else if (n > 1) {
      remove_last (&g, n, behind_all, constants->weight_of_new);
    }
  }

  const Mask alone = constants->mixtures > 1 ? all_but (reached[1]) : all_but (no_lanes ());
  weight = choose (joined, weight + constants->growth, weight);
  weight = choose (and_not (alone, joined), full, lesser_of (weight, full));
  const Floats step = constants->rate / to_floats (weight);
  const Distance distance = distance_of (mean, variance, luma);
  mean = moved_mean (mean, &distance, step, constants);
  const Ints moved = moved_variance (variance, &distance, step, constants);
  variance = choose (joined,
      lesser_of (greater_of (moved, ints_of (CCL_MIXTURE_LEAST_VARIANCE)),
          ints_of (CCL_MIXTURE_MOST_VARIANCE)),
      variance);

  /* Before those that are not heavier. */
  const Mask changed = either (joined, begins);
  Mask here = and_not (both (changed, reached[last]), less (weight, g.weights[last]));
  for (int i = last; i >= 0; i--) {
    GaussianBlock *block = rest_of (planes, i);
    Mask before = no_lanes ();
    if (i > 0) {
      before = and_not (both (changed, reached[i - 1]), less (weight, g.weights[i - 1]));
      const Mask follows = both (reached[i], before);
      here = and_not (here, before);
      g.weights[i] = choose (follows, g.weights[i - 1], g.weights[i]);
      g.means[i] = choose (follows, g.means[i - 1], g.means[i]);
      g.variances[i] = choose (follows, g.variances[i - 1], g.variances[i]);
    }
    store_uint16 (weights_of (planes, i) + first, choose (here, weight, g.weights[i]));
    store_uint16 (block->means + first, choose (here, mean, g.means[i]));
    store_uint16 (block->variances + first, choose (here, variance, g.variances[i]));
    here = before;
  }
  return bits_of (all_but (background));
}

static ALWAYS_INLINE bool
all_weigh_all (const uint16_t *weights)
{
  Steps missing = steps_of (0);
  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES) missing |=
      steps_of (CCL_MIXTURE_FULL_WEIGHT) - *steps_at ((uint16_t *)weights, first);
  return all_zero (missing);
}

/* Fetches what a block some way ahead needs, or is likely to, that the processor does not foresee:
 * not all blocks have as many Gaussians. */
static ALWAYS_INLINE void
prefetch_block (const Model *model, size_t block)
{
  const BlockUse use = model->uses[block];

  if (use.lone)
    return;
  for (size_t k = 0; k < use.most; k++)
    __builtin_prefetch (&model->weights[k * model->n_blocks + block], 1);
  for (size_t k = 1; k < use.compared; k++) {
    const GaussianBlock *gaussians = &model->gaussians[k * model->n_blocks + block];
    __builtin_prefetch (gaussians->means, 1);
    __builtin_prefetch (gaussians->variances, 1);
  }
}

/* Takes the pixels of a block, whose weights have decayed, into its model, and notes what is in
 * use. lone: as use->lone was, and the weights have not decayed. Returns which are background, a
 * bit a pixel. */
static ALWAYS_INLINE uint32_t
join_pixels (const uint8_t *pixels, bool lone, bool all_have_one, const Constants *constants,
    const Planes *planes, uint16_t *heaviest_weights, BlockUse *use)
{
  const int n = use->most;
  uint32_t background = UINT32_MAX;

  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += STEP_LANES)
  {
    if (all_have_one && join_heaviest (planes, first, pixels, lone, constants, &background))
      continue;
    if (lone)
      *steps_at (heaviest_weights, first) = constants->lone_weight;
    for (int i = first; i < first + STEP_LANES; i += LANES)
      background &= ~(join_any (n, pixels, constants, planes, i, heaviest_weights, use) << i);
  }
  /* One that weighs all keeps it as long as it is alone. */
  use->lone = use->most == 1 && (lone || all_weigh_all (weights_of (planes, 0)));
  return background;
}

/* Takes the pixels of a block into its model. Returns which are background, a bit a pixel. */
static ALWAYS_INLINE uint32_t
update_block (const uint8_t *pixels, const Constants *constants, const Model *model, size_t block,
    size_t end_block)
{
  const Planes planes = {&model->weights[block], &model->gaussians[block], model->n_blocks};
  BlockUse *use = &model->uses[block];
  _Alignas(64) uint16_t heaviest_weights[BLOCK_PIXELS];
  bool all_have_one = false;

  prefetch_block (model, block + BLOCKS_AHEAD < end_block ? block + BLOCKS_AHEAD : block);
  use->compared = 1;
  if (use->lone)
    return join_pixels (pixels, true, true, constants, &planes, heaviest_weights, use);

  for (; use->most > constants->mixtures; use->most--)
    memset (weights_of (&planes, use->most - 1), 0, sizeof (WeightBlock));
  /* The compiler makes code of its own for each number. */
  switch (use->most) {
  case 0:
    break;
  case 1:
    all_have_one = decay_weights (1, constants, &planes, heaviest_weights, use);
    break;
  case 2:
    all_have_one = decay_weights (2, constants, &planes, heaviest_weights, use);
    break;
  case 3:
    all_have_one = decay_weights (3, constants, &planes, heaviest_weights, use);
    break;
  case 4:
    all_have_one = decay_weights (4, constants, &planes, heaviest_weights, use);
    break;
  default:
    all_have_one = decay_weights (5, constants, &planes, heaviest_weights, use);
    break;
  }
  return join_pixels (pixels, false, all_have_one, constants, &planes, heaviest_weights, use);
}

static void
background_row (const uint8_t *pixels, uint32_t width, const CclMixtureParameters *parameters,
    const Model *model, uint32_t y, uint32_t end_row, uint64_t *foreground)
{
  const Constants constants = make_constants (parameters);
  const size_t first_block = y * model->blocks_per_row;
  const size_t end_block = end_row * model->blocks_per_row;

  for (uint32_t x = 0; x < width; x += BLOCK_PIXELS) {
    const uint8_t *of_block = pixels + x;
    uint8_t rest[BLOCK_PIXELS] = {0};
    if (width - x < BLOCK_PIXELS)
      of_block = memcpy (rest, of_block, width - x);
    const uint64_t bits =
        ~update_block (of_block, &constants, model, first_block + x / BLOCK_PIXELS, end_block);
    if (x % 64 == 0)
      foreground[x / 64] = bits;
    else
      foreground[x / 64] |= bits << 32;
  }
}

#endif /* CCL_CPU_BACKGROUND_H */
