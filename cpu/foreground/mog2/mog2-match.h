/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a pixel's update for STEP_LANES pixels at a time: the decay of the weights, the fast
 * path of pixels that match their heaviest Gaussian, and the general path.
 */
#pragma once

#include "mog2-gaussians.h"

/* The pixels of a block by class, one bit per pixel. */
typedef struct Classes {
  uint32_t background;
  uint32_t shadow; /* without the background */
} Classes;

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
#define DEFINE_MATCH_ANY(name, colour, words)                                                      \
  static __attribute__ ((noinline)) void name (int n, const Pixels *pixels,                        \
      const Constants *constants, const Planes *planes, int first, uint16_t *heaviest_weights,     \
      BlockUse *use, Classes *classes)                                                             \
  {                                                                                                \
    match_any (n, pixels, (Kind){colour, words}, constants, planes, first, heaviest_weights, use,  \
        classes);                                                                                  \
  }

DEFINE_MATCH_ANY (match_any_luma, false, false)
DEFINE_MATCH_ANY (match_any_colour, true, false)
DEFINE_MATCH_ANY (match_any_wide_luma, false, true)
DEFINE_MATCH_ANY (match_any_wide_colour, true, true)
#undef DEFINE_MATCH_ANY
