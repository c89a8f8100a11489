/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faint objects by day: they differ from the ground by less than the codebook's tolerance
 * (codebook.h), or are darker than the ground as a shadow is; grey clothes before a plain wall. A
 * lower tolerance everywhere would find the shadows and reflections of other objects, too. But
 * these are beside what casts them. So what is alone is found, in three steps:
 *
 * 1. A place of sampled-background.h is unlike its samples if the luma of fewer than
 * CUDACCL_SAMPLED_NEEDED of them is within a tolerance that follows the noise of the whole frame,
 * and if it is not restless.
 *
 * 2. A pixel is faint if most of the 5×5 places around its own are unlike their samples. A cell of
 * sampled-background.h is faint if it has CUDACCL_SAMPLED_CONFIRMING such pixels.
 *
 * 3. Faint cells that are connected, by themselves and by cells with candidates of the two models,
 * with one of the latter, show what an object does to the light around it. The faint pixels of the
 * others are objects.
 *
 * Nothing is faint in dark frames, in which the tolerance is low anyway, where the light differs
 * between cells or rows (light.h), and where the camera shakes.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "sampled-background.h"

/* docs/internals/foreground.md says how the values were chosen. */
enum {
  /* The tolerance, in luma, between which it follows the noise. */
  CUDACCL_FAINT_LEAST = 10,
  CUDACCL_FAINT_MOST = 16,
  CUDACCL_FAINT_NONE = 255, /* nothing differs so much */
  /* The light is even where the greatest factor is at most so many sixteenths of the least one. */
  CUDACCL_FAINT_EVEN_SIXTEENTHS = 17,
};

/* How far the tolerance has fallen after a frame, as that of a level (codebook-frame.h). quartile:
 * the distance that three quarters of the pixels of the frame do not pass. Objects that fill a
 * quarter of it do not change that; noise seldom passes twice as much. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclCodebookLevel
ccl_faint_next (CclCodebookLevel before, uint32_t quartile, uint32_t elapsed)
{
  const uint32_t least = CUDACCL_FAINT_LEAST, most = CUDACCL_FAINT_MOST;
  const uint32_t noise = 2 * quartile + 1, aim = noise < least ? least : noise;
  const uint32_t room = aim < most ? (most - aim) * CUDACCL_CODEBOOK_RELIEF_STEPS : 0;
  return ccl_codebook_next_relief (before, 0, room, true, elapsed);
}

/* The tolerance of a frame, or CUDACCL_FAINT_NONE where nothing is looked for. It takes a relief of
 * one, so nothing is faint at first. Where the sensitivity is low, the tolerance is more. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_faint_tolerance (CclCodebookLevel known, bool is_sought, uint32_t sensitivity)
{
  const uint32_t usual = CUDACCL_CODEBOOK_USUAL_SENSITIVITY, none = CUDACCL_FAINT_NONE;
  const uint32_t relief = known.relief / CUDACCL_CODEBOOK_RELIEF_STEPS;
  const uint32_t tolerance =
      (CUDACCL_FAINT_MOST - relief) * usual / (sensitivity < usual ? sensitivity : usual);
  return (uint8_t)(is_sought && relief > 0 && tolerance < none ? tolerance : none);
}

/* Whether the light is the same all over the frame, from the least and the greatest factor of its
 * cells. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_faint_is_even (uint32_t least, uint32_t most)
{
  return 16 * most <= CUDACCL_FAINT_EVEN_SIXTEENTHS * least;
}
