/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ground that an object has uncovered. An object that stands still while a model begins, or for
 * long, becomes background. When it leaves, the ground behind it differs from the model, although
 * the ground is no object. Three steps find such ground:
 *
 * 1. Pixels of a row that are CUDACCL_TEXTURE_DISTANCE apart, in the same 32, and of which one is a
 * candidate, are a pair of the outline (texture.h has the pairs inside). At the outline of
 * uncovered ground, the model has an edge, that of what went away, and the frame has none. At the
 * outline of an object it is the other way round.
 *
 * 2. A cell of sampled-background.h with the eight around it is uncovered if at least
 * CUDACCL_UNCOVERED_TIMES as many of these pairs say so as say the other, and covered likewise.
 * It takes more pairs for the latter, because uncovered ground has textures, too.
 *
 * 3. What cells with candidates connect with an uncovered cell and not with a covered one, is
 * uncovered, and no object when it has been for CUDACCL_UNCOVERED_AGE. The models then learn it as
 * they learn the background.
 *
 * R. Cucchiara, C. Grana, M. Piccardi and A. Prati, "Detecting moving objects, ghosts, and shadows
 * in video streams", IEEE Transactions on Pattern Analysis and Machine Intelligence 25(10), 2003,
 * call such ground ghosts, and tell them from objects by their motion.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "texture.h"

/* docs/internals/foreground.md says how the values were chosen. */
enum {
  /* Steps of luma that are an edge. */
  CUDACCL_UNCOVERED_STEP = 12,
  /* An edge is of one picture alone if it is so many times as strong there. */
  CUDACCL_UNCOVERED_CONTRAST = 2,
  CUDACCL_UNCOVERED_TIMES = 2,
  CUDACCL_UNCOVERED_LEAST = 8, /* pairs */
  CUDACCL_UNCOVERED_LEAST_COVERED = 16,
  /* Half a second, in steps of CUDACCL_SAMPLED_SECOND. */
  CUDACCL_UNCOVERED_AGE = 128,
};

/* The bits of the first pixels of pairs in a word of 32 or 64 pixels. */
#define CUDACCL_OUTLINE_FIRST UINT64_C (0x0fffffff0fffffff)

/* What a pair of the outline says, and a cell. */
typedef enum CclOutline {
  CCL_OUTLINE_UNKNOWN,
  CCL_OUTLINE_UNCOVERED, /* the edge is the model's */
  CCL_OUTLINE_COVERED    /* the edge is the frame's */
} CclOutline;

/* Numbers of pairs. */
typedef struct CclOutlinePairs {
  uint32_t uncovered, covered;
} CclOutlinePairs;

/* What a pair says. first, second: their luma in the frame; model_first, model_second: that of the
 * background. */
CUDACCL_CODEBOOK_FUNCTION CclOutline
ccl_outline_compare (uint32_t first, uint32_t second, uint32_t model_first, uint32_t model_second)
{
  const uint32_t frame = (first + second + 1) / 2, model = (model_first + model_second + 1) / 2;
  /* In the same light. */
  const uint32_t of_frame = model * ccl_codebook_difference (first, second);
  const uint32_t of_model = frame * ccl_codebook_difference (model_first, model_second);
  if (of_model > 0 && of_model >= CUDACCL_UNCOVERED_STEP * model &&
      CUDACCL_UNCOVERED_CONTRAST * of_frame <= of_model)
    return CCL_OUTLINE_UNCOVERED;
  return of_frame > 0 && of_frame >= CUDACCL_UNCOVERED_STEP * frame &&
                 CUDACCL_UNCOVERED_CONTRAST * of_model <= of_frame
             ? CCL_OUTLINE_COVERED
             : CCL_OUTLINE_UNKNOWN;
}

/* The pairs of the outline among pixels: the bits of their first pixels. candidates: a bit for each
 * pixel; inside: those of the frame. */
CUDACCL_CODEBOOK_FUNCTION uint64_t
ccl_outline_pairs (uint64_t candidates, uint64_t inside)
{
  const uint64_t pairs = CUDACCL_OUTLINE_FIRST & inside >> CUDACCL_TEXTURE_DISTANCE;
  return (candidates ^ candidates >> CUDACCL_TEXTURE_DISTANCE) & pairs;
}

/* What a cell says, given the sums of 3×3 cells, which it is the middle of. */
CUDACCL_CODEBOOK_FUNCTION CclOutline
ccl_outline_of_cell (CclOutlinePairs around)
{
  if (around.uncovered >= CUDACCL_UNCOVERED_LEAST &&
      around.uncovered >= CUDACCL_UNCOVERED_TIMES * around.covered)
    return CCL_OUTLINE_UNCOVERED;
  return around.covered >= CUDACCL_UNCOVERED_LEAST_COVERED &&
                 around.covered >= CUDACCL_UNCOVERED_TIMES * around.uncovered
             ? CCL_OUTLINE_COVERED
             : CCL_OUTLINE_UNKNOWN;
}

/* For how long a cell has been uncovered. was_uncovered: in the frame before, which was `elapsed`
 * before: CclSampledTime.unhurried. */
CUDACCL_CODEBOOK_FUNCTION uint16_t
ccl_uncovered_age (uint32_t before, bool was_uncovered, uint32_t elapsed)
{
  const uint32_t age = was_uncovered ? before + elapsed : 0;
  return (uint16_t)(age < CUDACCL_UNCOVERED_AGE ? age : (uint32_t)CUDACCL_UNCOVERED_AGE);
}
