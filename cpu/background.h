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

#define FULL_WEIGHT 65535 /* of a Gaussian that is alone */

/* What holds for all pixels of a frame, in all lanes. */
typedef struct Constants {
  Floats rate, keep, starvation, var_threshold, dither;
  Floats lone_step; /* how far a lone Gaussian moves towards a value that joins it */
  int mixtures;
  bool learns;
} Constants;

/* The Gaussians of LANES pixels. */
typedef struct Lanes {
  Floats weights[CCL_MAX_MIXTURES], means[CCL_MAX_MIXTURES], variances[CCL_MAX_MIXTURES];
} Lanes;

static Constants
make_constants (const CclMixtureParameters *parameters)
{
  const float lone_weight =
      parameters->keep * (FULL_WEIGHT / CCL_MIXTURE_WEIGHT_STEPS) - parameters->starvation;
  return (Constants){
      .rate = floats_of (parameters->rate),
      .keep = floats_of (parameters->keep),
      .starvation = floats_of (parameters->starvation),
      .var_threshold = floats_of (parameters->var_threshold),
      .dither = floats_of (parameters->dither),
      .lone_step = floats_of (parameters->rate / (lone_weight + parameters->rate)),
      .mixtures = (int)parameters->mixtures,
      .learns = parameters->rate > 0,
  };
}

static ALWAYS_INLINE Floats
load_steps (const uint16_t *steps, float steps_in_one)
{
  return load_uint16 (steps) * floats_of (1 / steps_in_one);
}

static ALWAYS_INLINE void
store_steps (uint16_t *steps, Floats values, float steps_in_one, const Constants *constants)
{
  store_uint16 (steps, values * floats_of (steps_in_one) + constants->dither);
}

/* A living Gaussian stays alive, however little it weighs. */
static ALWAYS_INLINE void
store_weights (uint16_t *steps, Floats weights, const Constants *constants)
{
  const Floats packed = weights * floats_of (CCL_MIXTURE_WEIGHT_STEPS) + constants->dither;
  const Mask alive = less (floats_of (0), weights);
  store_uint16 (steps, keep_lanes (alive, greater_of (packed, floats_of (1))));
}

/* Takes a value into the Gaussian that it joins. */
static ALWAYS_INLINE void
move_gaussian (Floats step, Floats deviation, Floats squared, Floats *mean, Floats *variance)
{
  *mean = greater_of (*mean - step * deviation, floats_of (0));
  *variance = *variance + step * (squared - *variance);
  *variance = greater_of (*variance, floats_of (CCL_MIXTURE_LEAST_VARIANCE));
  *variance = lesser_of (*variance, floats_of (CCL_MIXTURE_MOST_VARIANCE));
}

static ALWAYS_INLINE void
exchange (Mask lanes, Floats *a, Floats *b)
{
  const Floats old = *a;
  *a = choose (lanes, *b, *a);
  *b = choose (lanes, old, *b);
}

/* Moves Gaussian i of some lanes before i − 1. */
static ALWAYS_INLINE void
move_up (Mask lanes, Lanes *g, int i)
{
  exchange (lanes, &g->weights[i - 1], &g->weights[i]);
  exchange (lanes, &g->means[i - 1], &g->means[i]);
  exchange (lanes, &g->variances[i - 1], &g->variances[i]);
}

/* Gives the lanes that no Gaussian fitted a new one: behind the others, or in place of the last. n
 * Gaussians are in use. */
static void
add_gaussian (Mask lanes, Floats luma, const Constants *constants, Lanes *g, int n)
{
  const int most = n < constants->mixtures ? n : n - 1;
  Mask to_go = lanes, moving = no_lanes ();

  for (int k = 0; k <= most; k++) {
    const Mask here = k == most ? to_go : and_not (to_go, less (floats_of (0), g->weights[k]));
    to_go = and_not (to_go, here);
    g->weights[k] = choose (to_go, g->weights[k] * constants->keep, g->weights[k]);
    g->weights[k] = choose (here, k == 0 ? floats_of (1) : constants->rate, g->weights[k]);
    g->means[k] = choose (here, luma, g->means[k]);
    g->variances[k] = choose (here, floats_of (CCL_MIXTURE_FIRST_VARIANCE), g->variances[k]);
    /* Those behind are lighter or none, so what has just moved up stays before them. */
    moving = here;
    for (int i = k; i > 0 && any_lane (moving); i--) {
      moving = and_not (moving, less (g->weights[i], g->weights[i - 1]));
      move_up (moving, g, i);
    }
  }
}

/* The whole of ccl_mixture_update() for pixels that have up to n Gaussians. Returns which are
 * background. */
static Mask
update_all (int n, Floats luma, const Constants *constants, Lanes *g)
{
  Mask background = no_lanes (), fits = no_lanes ();
  Floats total = floats_of (0);

  for (int k = 0; k < n; k++) {
    const Mask alive = less (floats_of (0), g->weights[k]);
    const Floats deviation = g->means[k] - luma;
    const Floats squared = deviation * deviation;
    const Mask examined = and_not (alive, fits);
    const Mask near = and(examined, less (squared, constants->var_threshold * g->variances[k]));
    const Mask joins =
        and(examined, less (squared, floats_of (CCL_MIXTURE_GENERATION) * g->variances[k]));
    background = or (background, and(near, less (total, floats_of (CCL_MIXTURE_BACKGROUND_RATIO))));
    fits = or (fits, joins);

    Floats weight = constants->keep * g->weights[k] - constants->starvation;
    weight = choose (joins, weight + constants->rate, weight);
    Floats mean = g->means[k], variance = g->variances[k];
    move_gaussian (constants->rate / weight, deviation, squared, &mean, &variance);
    g->means[k] = choose (joins, mean, g->means[k]);
    g->variances[k] = choose (joins, variance, g->variances[k]);
    weight = keep_lanes (and_not (alive, less (weight, constants->starvation)), weight);
    total = total + weight;
    g->weights[k] = weight;

    Mask moving = joins;
    for (int i = k; i > 0 && any_lane (moving); i--) {
      moving = and_not (moving, less (g->weights[i], g->weights[i - 1]));
      move_up (moving, g, i);
    }
  }

  const Mask weighed = less (floats_of (0), total);
  const Floats scale = floats_of (1) / choose (weighed, total, floats_of (1));
  for (int k = 0; k < n; k++)
    g->weights[k] = g->weights[k] * scale;
  const Mask newcomers = constants->learns ? all_but (fits) : all_but (or (fits, weighed));
  if (any_lane (newcomers))
    add_gaussian (newcomers, luma, constants, g, n);
  return background;
}

/* Loads, updates and stores n Gaussians, and one more if there may be. Returns how many are in use
 * then. */
static int
update_slowly (int n, Floats luma, const Constants *constants, GaussianBlock *const blocks[],
    int first, Mask *background)
{
  Lanes g;
  const int n_after = n < constants->mixtures ? n + 1 : n;
  int n_used = 0;

  for (int k = 0; k < n_after; k++) {
    g.weights[k] = floats_of (0);
    g.means[k] = floats_of (0);
    g.variances[k] = floats_of (CCL_MIXTURE_FIRST_VARIANCE);
    if (k < n) {
      g.weights[k] = load_steps (blocks[k]->weights + first, CCL_MIXTURE_WEIGHT_STEPS);
      g.means[k] = load_steps (blocks[k]->means + first, CCL_MIXTURE_MEAN_STEPS);
      g.variances[k] = load_steps (blocks[k]->variances + first, CCL_MIXTURE_VARIANCE_STEPS);
    }
  }
  *background = update_all (n, luma, constants, &g);
  for (int k = 0; k < n_after; k++) {
    const bool used = any_lane (less (floats_of (0), g.weights[k]));
    if (used || k < n)
      store_weights (blocks[k]->weights + first, g.weights[k], constants);
    if (used) {
      store_steps (blocks[k]->means + first, g.means[k], CCL_MIXTURE_MEAN_STEPS, constants);
      store_steps (
          blocks[k]->variances + first, g.variances[k], CCL_MIXTURE_VARIANCE_STEPS, constants);
      n_used = k + 1;
    }
  }
  return n_used;
}

/* As update_slowly(), for n = 1…5, and quick when all pixels join their heaviest Gaussian: then
 * only weights of the others change. */
static ALWAYS_INLINE int
update_quickly (int n, Floats luma, const Constants *constants, GaussianBlock *const blocks[],
    int first, Mask *background)
{
  Floats mean = load_steps (blocks[0]->means + first, CCL_MIXTURE_MEAN_STEPS);
  Floats variance = load_steps (blocks[0]->variances + first, CCL_MIXTURE_VARIANCE_STEPS);
  const Floats deviation = mean - luma;
  const Floats squared = deviation * deviation;
  const Mask joins = less (squared, floats_of (CCL_MIXTURE_GENERATION) * variance);
  if (any_lane (all_but (joins)))
    return update_slowly (n, luma, constants, blocks, first, background);

  *background = less (squared, constants->var_threshold * variance);
  Floats step = constants->lone_step;
  int n_used = 1;
  if (n > 1) {
    Floats weights[CCL_MAX_MIXTURES];
    weights[0] =
        constants->keep * load_steps (blocks[0]->weights + first, CCL_MIXTURE_WEIGHT_STEPS) -
        constants->starvation + constants->rate;
    step = constants->rate / weights[0];
    Floats total = weights[0];
    for (int k = 1; k < n; k++) {
      weights[k] =
          constants->keep * load_steps (blocks[k]->weights + first, CCL_MIXTURE_WEIGHT_STEPS) -
          constants->starvation;
      weights[k] = keep_lanes (all_but (less (weights[k], constants->starvation)), weights[k]);
      total = total + weights[k];
      if (any_lane (less (floats_of (0), weights[k])))
        n_used = k + 1;
    }
    const Floats scale = floats_of (1) / total;
    for (int k = 0; k < n; k++)
      store_weights (blocks[k]->weights + first, weights[k] * scale, constants);
  }
  move_gaussian (step, deviation, squared, &mean, &variance);
  store_steps (blocks[0]->means + first, mean, CCL_MIXTURE_MEAN_STEPS, constants);
  store_steps (blocks[0]->variances + first, variance, CCL_MIXTURE_VARIANCE_STEPS, constants);
  return n_used;
}

/* Takes the pixels of a block into its model. Returns which are background, a bit a pixel. */
static uint32_t
update_block (const uint8_t *pixels, const Constants *constants, const Model *model, size_t block)
{
  GaussianBlock *blocks[CCL_MAX_MIXTURES];
  int n = model->most[block], n_used = 0;
  uint32_t background_bits = 0;
  bool cut = false;

  for (int k = 0; k < CCL_MAX_MIXTURES; k++)
    blocks[k] = &model->gaussians[k][block];
  for (; n > constants->mixtures; n--) {
    memset (blocks[n - 1]->weights, 0, sizeof blocks[n - 1]->weights);
    cut = true;
  }

  for (int first = 0; first < BLOCK_PIXELS; first += LANES) {
    const Floats luma = load_uint8 (pixels + first);
    Mask background = no_lanes ();
    int n_of_these = 0;
    switch (cut ? 0 : n) {
    case 1:
      n_of_these = update_quickly (1, luma, constants, blocks, first, &background);
      break;
    case 2:
      n_of_these = update_quickly (2, luma, constants, blocks, first, &background);
      break;
    case 3:
      n_of_these = update_quickly (3, luma, constants, blocks, first, &background);
      break;
    case 4:
      n_of_these = update_quickly (4, luma, constants, blocks, first, &background);
      break;
    case 5:
      n_of_these = update_quickly (5, luma, constants, blocks, first, &background);
      break;
    default:
      n_of_these = update_slowly (n, luma, constants, blocks, first, &background);
      if (n == 0) /* without a model */
        background = all_but (no_lanes ());
      break;
    }
    n_used = n_of_these > n_used ? n_of_these : n_used;
    background_bits |= bits_of (background) << first;
  }
  model->most[block] = (uint8_t)n_used;
  return background_bits;
}

static void
background_row (const uint8_t *pixels, uint32_t width, const CclMixtureParameters *parameters,
    const Model *model, uint32_t y, uint64_t *foreground)
{
  const Constants constants = make_constants (parameters);
  const size_t first_block = y * model->blocks_per_row;

  for (uint32_t x = 0; x < width; x += BLOCK_PIXELS) {
    const uint8_t *of_block = pixels + x;
    uint8_t rest[BLOCK_PIXELS] = {0};
    if (width - x < BLOCK_PIXELS)
      of_block = memcpy (rest, of_block, width - x);
    const uint64_t bits =
        ~update_block (of_block, &constants, model, first_block + x / BLOCK_PIXELS);
    if (x % 64 == 0)
      foreground[x / 64] = bits;
    else
      foreground[x / 64] |= bits << 32;
  }
}

#endif /* CCL_CPU_BACKGROUND_H */
