/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of mixture.h for many pixels at a time, a pixel a lane. The bits that it
 * leaves are those of ccl_mixture_update(), which the tests compare; what it leaves out is work
 * whose result is known.
 *
 * The including file brings Floats, a vector of LANES single floats that +, −, × and ÷ work on,
 * Mask, a set of lanes, and the functions on them that are called below.
 */
#ifndef CCL_CPU_BACKGROUND_H
#define CCL_CPU_BACKGROUND_H

#include "pixels.h"
#include "words.h"

#include <string.h>

/* How far ahead blocks are prefetched. */
#define BLOCKS_AHEAD 16

#define UNROLL _Pragma ("GCC unroll 8")
#define FULL_WEIGHT 65535 /* of a Gaussian that is alone */

/* All numbers are in the steps that they are kept in, so that none needs to be converted. Steps are
 * powers of two in one, so every operation rounds as it does in mixture.h. Squared deviations are
 * in squared steps of the mean, as many of which make a step of the variance as this says. */
#define SQUARES_IN_VARIANCE_STEP                                                                   \
  (CCL_MIXTURE_MEAN_STEPS * CCL_MIXTURE_MEAN_STEPS / CCL_MIXTURE_VARIANCE_STEPS)

/* What holds for all pixels of a frame, in all lanes. */
typedef struct Constants {
  Floats keep, dither;
  Floats rate, starvation;          /* in steps of the weight */
  Floats var_threshold, generation; /* squared steps of the mean in a step of the variance */
  Floats lone_step; /* how far a lone Gaussian moves towards a value that joins it */
  int mixtures;
  bool learns;
  bool starves; /* what weighs less than a step was starved before */
} Constants;

/* The Gaussians of LANES pixels. */
typedef struct Lanes {
  Floats weights[CCL_MAX_MIXTURES];
  Floats means[CCL_MAX_MIXTURES];
  Floats variances[CCL_MAX_MIXTURES];
  uint32_t moved; /* bit k: means and variances of some Gaussians k are not what was loaded */
} Lanes;

/* Where the Gaussians of a block are. */
typedef struct Planes {
  GaussianBlock *heaviest;
  size_t distance; /* in blocks, from one Gaussian of a pixel to its next */
} Planes;

static ALWAYS_INLINE GaussianBlock *
plane (const Planes *planes, int k)
{
  return planes->heaviest + (size_t)k * planes->distance;
}

static Constants
make_constants (const CclMixtureParameters *parameters)
{
  const float rate = parameters->rate * CCL_MIXTURE_WEIGHT_STEPS;
  const float starvation = parameters->starvation * CCL_MIXTURE_WEIGHT_STEPS;
  const float lone_weight = parameters->keep * FULL_WEIGHT - starvation;
  return (Constants){
      .keep = floats_of (parameters->keep),
      .dither = floats_of (parameters->dither),
      .rate = floats_of (rate),
      .starvation = floats_of (starvation),
      .var_threshold = floats_of (parameters->var_threshold * SQUARES_IN_VARIANCE_STEP),
      .generation = floats_of (CCL_MIXTURE_GENERATION * SQUARES_IN_VARIANCE_STEP),
      .lone_step = floats_of (rate / (lone_weight + rate)),
      .mixtures = (int)parameters->mixtures,
      .learns = rate > 0,
      .starves = starvation * parameters->keep > 2,
  };
}

static ALWAYS_INLINE void
store_steps (uint16_t *steps, Floats values, const Constants *constants)
{
  store_uint16 (steps, values + constants->dither);
}

static ALWAYS_INLINE void
store_weights (uint16_t *steps, Floats weights, const Constants *constants)
{
  Floats packed = weights + constants->dither;
  /* A living Gaussian stays alive, however little it weighs. */
  if (!constants->starves)
    packed = keep_lanes (less (floats_of (0), weights), greater_of (packed, floats_of (1)));
  store_uint16 (steps, packed);
}

/* Takes a value into the Gaussian that it joins. */
static ALWAYS_INLINE void
move_gaussian (Floats step, Floats deviation, Floats squared, Floats *mean, Floats *variance)
{
  *mean = greater_of (*mean - step * deviation, floats_of (0));
  *variance = *variance + step * (squared * floats_of (1 / SQUARES_IN_VARIANCE_STEP) - *variance);
  *variance =
      greater_of (*variance, floats_of (CCL_MIXTURE_LEAST_VARIANCE * CCL_MIXTURE_VARIANCE_STEPS));
  *variance =
      lesser_of (*variance, floats_of (CCL_MIXTURE_MOST_VARIANCE * CCL_MIXTURE_VARIANCE_STEPS));
}

static ALWAYS_INLINE void
exchange (Mask lanes, Floats *a, Floats *b)
{
  const Floats old = *a;
  *a = choose (lanes, *b, *a);
  *b = choose (lanes, old, *b);
}

/* Moves Gaussian k of some lanes to where its weight belongs among those before it. */
static ALWAYS_INLINE void
sort_in (Mask lanes, Lanes *g, int k)
{
  UNROLL for (int i = k; i > 0; i--)
  {
    lanes = and_not (lanes, less (g->weights[i], g->weights[i - 1]));
    if (!any_lane (lanes))
      break;
    exchange (lanes, &g->weights[i - 1], &g->weights[i]);
    exchange (lanes, &g->means[i - 1], &g->means[i]);
    exchange (lanes, &g->variances[i - 1], &g->variances[i]);
    g->moved |= 3u << (i - 1);
  }
}

static ALWAYS_INLINE int
with_one_more (int n)
{
  return n < CCL_MAX_MIXTURES ? n + 1 : n;
}

/* Gives some lanes a new Gaussian: behind the others, or in place of the last. No lane has more
 * than n. */
static ALWAYS_INLINE void
add_gaussian (Mask lanes, Floats luma, const Constants *constants, Lanes *g, int n)
{
  const int last = n < constants->mixtures ? n : constants->mixtures - 1;

  UNROLL for (int k = 0; k < with_one_more (n); k++)
  {
    const Mask here = k == last ? lanes : and_not (lanes, less (floats_of (0), g->weights[k]));
    lanes = and_not (lanes, here);
    g->weights[k] = choose (lanes, g->weights[k] * constants->keep, g->weights[k]);
    if (!any_lane (here))
      continue;
    g->weights[k] = choose (
        here, k == 0 ? floats_of (CCL_MIXTURE_WEIGHT_STEPS) : constants->rate, g->weights[k]);
    g->means[k] = choose (here, luma, g->means[k]);
    g->variances[k] = choose (
        here, floats_of (CCL_MIXTURE_FIRST_VARIANCE * CCL_MIXTURE_VARIANCE_STEPS), g->variances[k]);
    g->moved |= 1u << k;
    sort_in (here, g, k);
  }
}

/* Takes the values of LANES pixels of which none has more than n Gaussians into them. Returns what
 * is in use then. */
static ALWAYS_INLINE BlockUse
update_lanes (int n, Floats luma, const Constants *constants, const Planes *planes, int first,
    Mask *background)
{
  Lanes g = {.moved = 0};
  Mask unfit = all_but (no_lanes ());
  Floats total = floats_of (0);
  BlockUse use = {0};

  *background = n == 0 ? unfit : no_lanes ();
  UNROLL for (int k = 0; k < n; k++)
  {
    const Floats old = load_uint16 (plane (planes, k)->weights + first);
    Floats weight = constants->keep * old - constants->starvation;

    /* Once all lanes fit, means and variances are not needed: neither does any Gaussian behind
     * move up then, nor is there a new one. */
    if (k > 0 && !any_lane (unfit)) {
      g.weights[k] = keep_lanes (all_but (less (weight, constants->starvation)), weight);
      total = total + g.weights[k];
      continue;
    }
    use.compared = (uint8_t)(k + 1);
    g.means[k] = load_uint16 (plane (planes, k)->means + first);
    g.variances[k] = load_uint16 (plane (planes, k)->variances + first);
    const Floats deviation = g.means[k] - luma;
    const Floats squared = deviation * deviation;
    const Mask examined = k == 0 ? unfit : both (unfit, less (floats_of (0), old));
    const Mask near = both (examined, less (squared, constants->var_threshold * g.variances[k]));
    const Mask joins = both (examined, less (squared, constants->generation * g.variances[k]));
    const Mask heavy_before =
        less (total, floats_of (CCL_MIXTURE_BACKGROUND_RATIO * CCL_MIXTURE_WEIGHT_STEPS));
    *background = k == 0 ? near : either (*background, both (near, heavy_before));
    unfit = and_not (unfit, joins);
    if (any_lane (joins)) {
      Floats mean = g.means[k], variance = g.variances[k];
      weight = choose (joins, weight + constants->rate, weight);
      move_gaussian (constants->rate / weight, deviation, squared, &mean, &variance);
      g.means[k] = choose (joins, mean, g.means[k]);
      g.variances[k] = choose (joins, variance, g.variances[k]);
      g.moved |= 1u << k;
    }
    g.weights[k] = keep_lanes (all_but (less (weight, constants->starvation)), weight);
    total = total + g.weights[k];
    if (k > 0 && any_lane (joins))
      sort_in (joins, &g, k);
  }

  const Floats scale = floats_of (CCL_MIXTURE_WEIGHT_STEPS) / total;
  UNROLL for (int k = 0; k < n; k++) g.weights[k] = g.weights[k] * scale;
  if (any_lane (unfit)) {
    const Mask weighed = less (floats_of (0), total);
    UNROLL for (int k = 0; k < n; k++) g.weights[k] = keep_lanes (weighed, g.weights[k]);
    add_gaussian (constants->learns ? unfit : and_not (unfit, weighed), luma, constants, &g, n);
  }

  UNROLL for (int k = with_one_more (n) - 1; k >= 0; k--)
  {
    const bool moved = g.moved >> k & 1;
    if (k < n || moved)
      store_weights (plane (planes, k)->weights + first, g.weights[k], constants);
    if (moved) {
      store_steps (plane (planes, k)->means + first, g.means[k], constants);
      store_steps (plane (planes, k)->variances + first, g.variances[k], constants);
    }
    /* A lane that has one has all those before. */
    if (use.most == 0 && any_lane (less (floats_of (0), g.weights[k])))
      use.most = (uint8_t)(k + 1);
  }
  return use;
}

/* The same, n ≥ 1, quick when all pixels join their heaviest Gaussian, as most do: then the others
 * only lose weight. One that is alone keeps its weight as long as it stays alone. */
static ALWAYS_INLINE BlockUse
update_quickly (int n, Floats luma, const Constants *constants, const Planes *planes, int first,
    Mask *background)
{
  GaussianBlock *heaviest = plane (planes, 0);
  Floats mean = load_uint16 (heaviest->means + first);
  Floats variance = load_uint16 (heaviest->variances + first);
  const Floats deviation = mean - luma;
  const Floats squared = deviation * deviation;
  const Mask joins = less (squared, constants->generation * variance);
  if (any_lane (all_but (joins)))
    return update_lanes (n, luma, constants, planes, first, background);

  *background = less (squared, constants->var_threshold * variance);
  Floats step = constants->lone_step;
  BlockUse use = {.most = (uint8_t)n, .compared = 1};
  if (n > 1) {
    Floats weights[CCL_MAX_MIXTURES];
    weights[0] = constants->keep * load_uint16 (heaviest->weights + first) - constants->starvation +
                 constants->rate;
    step = constants->rate / weights[0];
    Floats total = weights[0];
    UNROLL for (int k = 1; k < n; k++)
    {
      const Floats weight = constants->keep * load_uint16 (plane (planes, k)->weights + first) -
                            constants->starvation;
      weights[k] = keep_lanes (all_but (less (weight, constants->starvation)), weight);
      total = total + weights[k];
    }
    while (use.most > 1 && !any_lane (less (floats_of (0), weights[use.most - 1])))
      use.most--;
    const Floats scale = floats_of (CCL_MIXTURE_WEIGHT_STEPS) / total;
    UNROLL for (int k = 0; k < n; k++)
        store_weights (plane (planes, k)->weights + first, weights[k] * scale, constants);
  }
  move_gaussian (step, deviation, squared, &mean, &variance);
  store_steps (heaviest->means + first, mean, constants);
  store_steps (heaviest->variances + first, variance, constants);
  return use;
}

static ALWAYS_INLINE uint8_t
greater_count (uint8_t a, uint8_t b)
{
  return a > b ? a : b;
}

/* Takes the pixels of a block of which none has more than n Gaussians into them, and sets what is
 * in use then. Returns which are background, a bit a pixel. */
static ALWAYS_INLINE uint32_t
update_pixels (int n, bool quickly, const uint8_t *pixels, const Constants *constants,
    const Planes *planes, BlockUse *use)
{
  uint32_t background_bits = 0;
  BlockUse of_all = {0};

  UNROLL for (int first = 0; first < BLOCK_PIXELS; first += LANES)
  {
    const Floats luma = load_uint8 (pixels + first) * floats_of (CCL_MIXTURE_MEAN_STEPS);
    Mask background;
    const BlockUse of_these = quickly
                                  ? update_quickly (n, luma, constants, planes, first, &background)
                                  : update_lanes (n, luma, constants, planes, first, &background);
    of_all.most = greater_count (of_all.most, of_these.most);
    of_all.compared = greater_count (of_all.compared, of_these.compared);
    background_bits |= bits_of (background) << first;
  }
  *use = of_all;
  return background_bits;
}

/* Fetches what a block some way ahead needs, or is likely to: its Gaussians lie apart, and not all
 * blocks have as many, so that the processor does not foresee it. Without branches, which it would
 * not foresee either. */
static ALWAYS_INLINE void
prefetch_block (const Model *model, size_t block)
{
  const BlockUse use = model->uses[block];
  const int n_weights = use.most > 1 ? use.most : 0;
  const char *heaviest = (const char *)&model->gaussians[block];

  __builtin_prefetch (heaviest + offsetof (GaussianBlock, means), 1);
  __builtin_prefetch (heaviest + offsetof (GaussianBlock, variances), 1);
  UNROLL for (int k = 0; k < CCL_MAX_MIXTURES; k++)
  {
    const size_t distance = (size_t)k * model->n_blocks * sizeof (GaussianBlock);
    const char *of_weights = heaviest + (distance & (size_t)(ptrdiff_t)((k - n_weights) >> 31));
    const char *of_rest = heaviest + (distance & (size_t)(ptrdiff_t)((k - use.compared) >> 31));
    __builtin_prefetch (of_weights, 1);
    if (k > 0) {
      __builtin_prefetch (of_rest + offsetof (GaussianBlock, means), 1);
      __builtin_prefetch (of_rest + offsetof (GaussianBlock, variances), 1);
    }
  }
}

/* Takes the pixels of a block into its model. Returns which are background, a bit a pixel. */
static ALWAYS_INLINE uint32_t
update_block (const uint8_t *pixels, const Constants *constants, const Model *model, size_t block,
    size_t end_block)
{
  const Planes planes = {&model->gaussians[block], model->n_blocks};
  BlockUse *use = &model->uses[block];

  prefetch_block (model, block + BLOCKS_AHEAD < end_block ? block + BLOCKS_AHEAD : block);
  if (use->most > constants->mixtures) {
    for (int k = constants->mixtures; k < use->most; k++)
      memset (plane (&planes, k)->weights, 0, sizeof plane (&planes, k)->weights);
    /* Who is alone now has not its full weight yet. */
    return update_pixels (CCL_MAX_MIXTURES, false, pixels, constants, &planes, use);
  }
  /* The compiler makes code of its own for each number, which keeps Gaussians in registers. */
  switch (use->most) {
  case 0:
    return update_pixels (0, false, pixels, constants, &planes, use);
  case 1:
    return update_pixels (1, true, pixels, constants, &planes, use);
  case 2:
    return update_pixels (2, true, pixels, constants, &planes, use);
  case 3:
    return update_pixels (3, true, pixels, constants, &planes, use);
  case 4:
    return update_pixels (4, true, pixels, constants, &planes, use);
  default:
    return update_pixels (5, true, pixels, constants, &planes, use);
  }
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
