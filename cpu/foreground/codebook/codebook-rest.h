/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pixels at rest: nearly all of a static scene. The pixels of a vector are at rest if
 *
 * - the heaviest word of all of them is at the same place, and they matched it in the frame before;
 * - no other word of theirs would be recurrent at any age;
 * - the gains of the heaviest word do not pass CUDACCL_CODEBOOK_MOST_WEIGHT.
 *
 * As long as they match this word, their other words and their classes need not be read, and the
 * weight of the word is known from the gains of the frames. A pixel's margin is at most the
 * distance of its heaviest word from the others. By the triangle inequality, a value whose distance
 * from the heaviest word is less than half the margin is nearer to it than to all others.
 */
#pragma once

#include "codebook-words.h"

static ALWAYS_INLINE CodebookRest *
rest_at (const CodebookRow *row, uint32_t x)
{
  return &row->rests[x / STEP_LANES];
}

/* Moves the means of words. Their margins lose what they come nearer to other words at most. */
static ALWAYS_INLINE void
move_at_rest (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels,
    const CodebookWords *before, Steps margins, uint32_t place, bool colour)
{
  const uint32_t move = row->frame->time.move;
  CodebookWords after = {.luma = moved_mean (before->luma, pixels->values.luma, move)};
  CodewordBlock *words = words_at (pixels, place);
  Steps change = before->luma ^ after.luma;
  if (colour) {
    after.u = moved_mean (before->u, pixels->values.u << 8, move);
    after.v = moved_mean (before->v, pixels->values.v << 8, move);
    change |= (before->u ^ after.u) | (before->v ^ after.v);
  }
  if (all_zero (change)) /* often: compressed video repeats pixels */
    return;
  *steps_at (words->luma, pixels->first) = after.luma;
  if (colour) {
    *steps_at (words->u, pixels->first) = after.u;
    *steps_at (words->v, pixels->first) = after.v;
  }
  const Steps loss = distance_between (before, &after, colour);
  if (all_zero (loss))
    return;
  store_bytes (saturated_subtract (margins, loss), row->margins + x);
  store_bytes (after.luma >> 8, row->background + x);
}

/* Updates the codebooks of STEP_LANES pixels from column x on, if they are at rest and stay so.
 * Else returns false, without a change. */
static ALWAYS_INLINE bool
update_at_rest (const CodebookRow *row, uint32_t x, CodebookSums *sums, bool colour)
{
  const CclCodebookFrame *frame = row->frame;
  CodebookRest *rest = rest_at (row, x);
  if (rest->gained + frame->time.gain > rest->most)
    return false;
  const CodebookPixels pixels = load_pixels (row, x, colour);
  const CodebookWords heaviest = words_of_place (&pixels, rest->place, colour);
  const Steps margins = load_bytes (row->margins + x);
  const Steps distance = distance_from (&pixels, &heaviest, colour);
  const Steps tolerance = tolerance_of (frame->tolerances, &pixels, heaviest.luma);
  if (!all_zero (is_greater (distance, tolerance) | ~is_greater (margins, 2 * distance)))
    return false;
  rest->gained = (uint16_t)(rest->gained + frame->time.gain);
  count_lanes (row->counts, sums, &pixels, &heaviest, distance, steps_of (UINT16_MAX), colour);
  const Steps is_weak =
      is_greater (distance, tolerance_of (frame->weak_tolerances, &pixels, heaviest.luma));
  if (!all_zero (is_weak))
    write_classes (row, x, &pixels, &heaviest, is_weak, colour);
  move_at_rest (row, x, &pixels, &heaviest, margins, rest->place, colour);
  return true;
}

/* Ends a rest: the weights gain what they have not gained yet. */
static ALWAYS_INLINE void
end_rest (const CodebookRow *row, uint32_t x)
{
  CodebookRest *rest = rest_at (row, x);
  const CodebookPixels pixels = {.words = &row->words[x / CUDACCL_CODEBOOK_LANES],
      .distance = row->distance,
      .first = (int)(x % CUDACCL_CODEBOOK_LANES)};
  if (rest->gained > 0)
    *steps_at (words_at (&pixels, rest->place)->weight, pixels.first) += steps_of (rest->gained);
  *rest = (CodebookRest){0};
}

/* The distance of words of one place from the nearest others; at most UINT8_MAX. */
static ALWAYS_INLINE Steps
margins_of (const CodebookPixels *pixels, const Steps *weights, uint32_t n_words,
    const CodebookWords *words, uint32_t place, bool colour)
{
  Steps margins = steps_of (UINT8_MAX);
  for (uint32_t k = 0; k < n_words; k++) {
    const Steps none = (Steps)(weights[k] == 0);
    if (k == place)
      continue;
    const CodebookWords others = words_of_place (pixels, k, colour);
    margins =
        lesser_of (margins, choose (none, margins, distance_between (words, &others, colour)));
  }
  return margins;
}

/* Begins a rest of pixels that have matched their heaviest words, all at one place, and have no
 * others that are or will be recurrent. weights: of their n_words words. */
static ALWAYS_INLINE void
begin_rest (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels, const Steps *weights,
    uint32_t n_words, uint32_t place, bool colour)
{
  const CodebookWords words = words_of_place (pixels, place, colour);
  uint16_t of_lanes[STEP_LANES], greatest = 0;
  memcpy (of_lanes, &weights[place], sizeof of_lanes);
  for (int i = 0; i < STEP_LANES; i++)
    greatest = of_lanes[i] > greatest ? of_lanes[i] : greatest;
  store_bytes (margins_of (pixels, weights, n_words, &words, place, colour), row->margins + x);
  *rest_at (row, x) = (CodebookRest){
      .place = (uint8_t)place,
      .most = (uint16_t)(CUDACCL_CODEBOOK_MOST_WEIGHT - greatest),
  };
}
