/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Light and shadow keep the texture of the ground, objects replace it. So what the background
 * models (codebook.h, sampled-background.h) find different is compared with the ground once more,
 * however hard the edge of its light is:
 *
 * 1. Pixels of a row that are CUDACCL_TEXTURE_DISTANCE apart, both of them candidates, are a pair.
 * Where the ground differs between them, and the frame does in the same ratio, the pair agrees with
 * the ground. Where it does not, or where the frame alone differs, the pair differs from the
 * ground.
 *
 * 2. A cell of sampled-background.h, or it and the eight around it if it has few such pairs, is lit
 * if at least CUDACCL_TEXTURE_AGREEING times as many pairs agree as differ, and differs otherwise.
 * A lit cell beside one that differs is no longer lit: the clothes of a person agree here and there
 * by chance, while light is lit all over.
 *
 * 3. Cells with candidates, without texture of their own or around them, are lit if such cells
 * connect them with a lit one.
 *
 * Candidates in cells that are lit are no objects. An object without texture in front of ground
 * without texture says nothing, and remains one.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "codebook.h"

/* docs/internals/foreground.md says how the values were chosen. */
enum {
  CUDACCL_TEXTURE_DISTANCE = 4, /* a power of two, and part of 32 */
  /* Steps of luma, in the light of the frame or of the model, that are texture. */
  CUDACCL_TEXTURE_STEP = 8,
  /* The greatest ratio of frame to model, or the other way round, that is light. */
  CUDACCL_TEXTURE_MOST_RATIO = 4,
  /* What is brighter by less is a faint object in the dark, whose texture is lost in noise. */
  CUDACCL_TEXTURE_LEAST_LIGHT = 16,
  CUDACCL_TEXTURE_LEAST_DARK_LIGHT = 32, /* the same, brighter or darker, in dark frames */
  CUDACCL_TEXTURE_AGREEING = 2,
  /* A cell with so many pairs decides alone, and one that has so many with those around it. */
  CUDACCL_TEXTURE_LEAST_OWN = 4,
  CUDACCL_TEXTURE_LEAST_AROUND = 8,
};

/* Of a pair, and of a cell. */
typedef enum CclTexture { CCL_TEXTURE_UNKNOWN, CCL_TEXTURE_AGREES, CCL_TEXTURE_DIFFERS } CclTexture;

/* Numbers of pairs. */
typedef struct CclTexturePairs {
  uint32_t agreeing, differing;
} CclTexturePairs;

/* The bits of the first pixels of pairs in a word of 32 or 64 pixels. */
#define CUDACCL_TEXTURE_FIRST UINT64_C (0x0f0f0f0f0f0f0f0f)

/* Whether light differs so much that an object would show its texture. */
CUDACCL_CODEBOOK_FUNCTION bool
ccl_texture_is_plain (uint32_t frame, uint32_t model, bool is_dark)
{
  return is_dark ? ccl_codebook_difference (frame, model) >= CUDACCL_TEXTURE_LEAST_DARK_LIGHT
                 : frame <= model || frame - model >= CUDACCL_TEXTURE_LEAST_LIGHT;
}

/* What a pair says. first, second: their luma in the frame; model_first, model_second: that of the
 * background. */
CUDACCL_CODEBOOK_FUNCTION CclTexture
ccl_texture_compare (
    uint32_t first, uint32_t second, uint32_t model_first, uint32_t model_second, bool is_dark)
{
  const uint32_t frame = (first + second + 1) / 2, model = (model_first + model_second + 1) / 2;
  /* Times the model: how far the pair is from the ground's ratio; and the ground's texture in the
   * light of the frame. */
  const uint32_t error = ccl_codebook_difference (first * model_second, second * model_first);
  const uint32_t texture = frame * ccl_codebook_difference (model_first, model_second);
  const uint32_t least = CUDACCL_TEXTURE_STEP * model;
  if (texture >= least && 2 * error <= texture)
    return ccl_texture_is_plain (frame, model, is_dark) &&
                   CUDACCL_TEXTURE_MOST_RATIO * frame >= model &&
                   frame <= CUDACCL_TEXTURE_MOST_RATIO * model
               ? CCL_TEXTURE_AGREES
               : CCL_TEXTURE_UNKNOWN;
  return error >= least && 4 * error >= 3 * texture ? CCL_TEXTURE_DIFFERS : CCL_TEXTURE_UNKNOWN;
}

/* What a cell says. around: the sums of 3×3 cells, which it is the middle of. */
CUDACCL_CODEBOOK_FUNCTION CclTexture
ccl_texture_of_cell (CclTexturePairs own, CclTexturePairs around)
{
  const bool is_alone = own.agreeing + own.differing >= CUDACCL_TEXTURE_LEAST_OWN;
  const CclTexturePairs pairs = is_alone ? own : around;
  if (!is_alone && around.agreeing + around.differing < CUDACCL_TEXTURE_LEAST_AROUND)
    return CCL_TEXTURE_UNKNOWN;
  return pairs.agreeing >= CUDACCL_TEXTURE_AGREEING * pairs.differing ? CCL_TEXTURE_AGREES
                                                                      : CCL_TEXTURE_DIFFERS;
}
