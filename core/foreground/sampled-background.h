/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second background model, which checks the codebook (codebook.h): samples of the colours that a
 * place has had in the last 20 seconds. Its errors are others than the codebook's, so objects are
 * where the two agree, and the codebook says where they end.
 *
 * A place is 2×2 pixels of the model. It keeps CUDACCL_SAMPLED_VALUES samples, of which one is
 * replaced in each second, at a moment that differs from place to place. A place is different if
 * fewer than CUDACCL_SAMPLED_NEEDED samples are near its colour, so a colour that it has had for a
 * tenth of that time belongs there. It is restless if it becomes different again and again; the
 * tolerance grows with that, up to three times, so that what water makes between two samples
 * belongs there, too. P.-L. St-Charles, G.-A. Bilodeau and R. Bergevin, "SuBSENSE: A universal
 * change detection method with local adaptive sensitivity", IEEE Transactions on Image Processing
 * 24(1), 2015, have such a tolerance for each pixel.
 *
 * The masks of the two models become one in three steps:
 *
 * 1. Pixels are candidates if they are in objects of the codebook, or if they are dynamic, and most
 * of the 5×5 places around them are different, and their own place is not restless. Dynamic pixels
 * have so many words that the codebook takes much for background there, as on water.
 *
 * 2. The frame is divided into at most 64×64 cells. A cell is confirmed if it has
 * CUDACCL_SAMPLED_CONFIRMING candidates at places around which most are different.
 *
 * 3. Foreground are the candidates in cells that are connected with a confirmed one by cells with
 * candidates, also diagonally.
 *
 * O. Barnich and M. Van Droogenbroeck, "ViBe: A universal background subtraction algorithm for
 * video sequences", IEEE Transactions on Image Processing 20(6), 2011, and Z. Zivkovic and F. van
 * der Heijden, "Efficient adaptive density estimation per image pixel for the task of background
 * subtraction", Pattern Recognition Letters 27, 2006, classify by the number of near samples. Here
 * nothing is random, and samples have a fixed age.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "codebook-frame.h"
#include "core/base/divide-up.h"

/* docs/internals/foreground.md says how the values were chosen. */
enum {
  CUDACCL_SAMPLED_VALUES = 20,
  /* Steps of time in a second. */
  CUDACCL_SAMPLED_SECOND = 256,
  /* The greatest difference of a near sample: four fifths of the codebook's tolerance, at most
   * this.
   */
  CUDACCL_SAMPLED_TOLERANCE = 16,
  /* The same where the sensitivity is low; times CUDACCL_SAMPLED_MOST_QUARTERS, it fits a byte. */
  CUDACCL_SAMPLED_MOST_TOLERANCE = 31,
  /* The near samples that a place needs; with fewer it is different. */
  CUDACCL_SAMPLED_NEEDED = 2,

  /* A place's restlessness grows by this where it becomes different, and loses a sixteenth, rounded
   * up, in a second. */
  CUDACCL_SAMPLED_ONSET = 4,
  CUDACCL_SAMPLED_CALMING_SHIFT = 4,
  /* Where it saturates. */
  CUDACCL_SAMPLED_MOST_RESTLESS = 255,
  /* From here on a place is restless: it becomes different more than three times in four seconds.
   */
  CUDACCL_SAMPLED_RESTLESS = 40,
  /* The tolerance grows by a quarter for each 16 of restlessness, at most so many times. */
  CUDACCL_SAMPLED_RESTLESS_SHIFT = 4,
  CUDACCL_SAMPLED_MOST_QUARTERS = 8,

  /* So many frames in a second, or fewer, are few (ccl_sampled_is_unfound()). */
  CUDACCL_SAMPLED_FEW_FRAMES = 8,

  /* A model is young for so many seconds, and takes samples so many times as often then. */
  CUDACCL_SAMPLED_YOUTH = 5,
  CUDACCL_SAMPLED_HASTE = 4,

  CUDACCL_SAMPLED_CELLS = 64, /* in a row or column, at most */
  CUDACCL_SAMPLED_LEAST_SHIFT = 3,
  CUDACCL_SAMPLED_CONFIRMING = 8,
};

/* The places of a frame, and the cells in which they are compared with the codebook's objects. */
typedef struct CclSampledGrid {
  uint32_t columns, rows; /* of places */
  uint32_t shift;         /* the side of a cell is 1 << shift pixels */
} CclSampledGrid;

/* The moment of a frame. A model that is young has CUDACCL_SAMPLED_HASTE times as many steps in a
 * second, so that it soon has samples of what moves in its place. */
typedef struct CclSampledTime {
  uint32_t now;       /* steps since the first frame */
  uint32_t elapsed;   /* since the frame before; at most those of a second */
  uint32_t unhurried; /* the same in a model that is not young */
} CclSampledTime;

CUDACCL_CODEBOOK_HOST_FUNCTION CclSampledGrid
ccl_sampled_grid (uint32_t width, uint32_t height)
{
  CclSampledGrid grid = {
      CUDACCL_DIVIDE_UP (width, 2), CUDACCL_DIVIDE_UP (height, 2), CUDACCL_SAMPLED_LEAST_SHIFT};
  while ((uint64_t)CUDACCL_SAMPLED_CELLS << grid.shift < (width > height ? width : height))
    grid.shift++;
  return grid;
}

/* The steps of so many nanoseconds. In parts, so that no product overflows. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_sampled_steps (uint64_t nanoseconds)
{
  const uint64_t second = CUDACCL_CODEBOOK_SECOND;
  return (uint32_t)(nanoseconds / second * CUDACCL_SAMPLED_SECOND +
                    nanoseconds % second * CUDACCL_SAMPLED_SECOND / second);
}

/* The same of a model that began then: its steps are shorter while it is young. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_sampled_hasty_steps (uint32_t steps)
{
  const uint32_t youth = CUDACCL_SAMPLED_YOUTH * CUDACCL_SAMPLED_SECOND;
  return steps + (CUDACCL_SAMPLED_HASTE - 1) * (steps < youth ? steps : youth);
}

/* The moment after a frame of a duration, in nanoseconds; 0: CUDACCL_FRAME_DURATION. *clock: the
 * nanoseconds since the first frame. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclSampledTime
ccl_sampled_advance (uint64_t *clock, uint64_t duration)
{
  const uint64_t second = CUDACCL_CODEBOOK_SECOND;
  const uint32_t then = ccl_sampled_steps (*clock);
  *clock += duration == 0 ? CUDACCL_FRAME_DURATION : duration < second ? duration : second;
  const uint32_t now = ccl_sampled_steps (*clock);
  const CclSampledTime time = {ccl_sampled_hasty_steps (now),
      ccl_sampled_hasty_steps (now) - ccl_sampled_hasty_steps (then), now - then};
  return time;
}

/* When in a second the place at a column and row of places takes a sample. */
CUDACCL_CODEBOOK_FUNCTION uint8_t
ccl_sampled_phase (uint32_t column, uint32_t row)
{
  return (uint8_t)(column * 97 + row * 57);
}

/* Whether a place takes a sample in a frame. */
CUDACCL_CODEBOOK_FUNCTION bool
ccl_sampled_is_due (CclSampledTime time, uint8_t phase)
{
  return (uint8_t)(time.now + phase) < time.elapsed;
}

/* The number of samples that a place has been due to take. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_sampled_turn (CclSampledTime time, uint8_t phase)
{
  return (time.now + phase) / CUDACCL_SAMPLED_SECOND;
}

/* The turns from sample to sample where an object is, so that CUDACCL_SAMPLED_NEEDED of them take
 * from half the time in which it is to become background to all of it. Not a multiple of
 * CUDACCL_SAMPLED_VALUES, or each would replace the one before. absorb_time: from
 * ccl_absorb_time(). */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_sampled_period (uint64_t absorb_time)
{
  const uint32_t turns =
      (uint32_t)(absorb_time / (CUDACCL_SAMPLED_NEEDED * CUDACCL_CODEBOOK_SECOND));
  return turns == 0 ? 1 : turns % CUDACCL_SAMPLED_VALUES == 0 ? turns + 1 : turns;
}

/* Whether a place shows an object that is not found yet: it has become different where little
 * changes. With many frames per second, few places are due in such a frame. restlessness: after it.
 */
CUDACCL_CODEBOOK_FUNCTION bool
ccl_sampled_is_unfound (CclSampledTime time, bool is_onset, uint32_t restlessness)
{
  return is_onset && restlessness <= CUDACCL_SAMPLED_ONSET &&
         time.elapsed >= CUDACCL_SAMPLED_SECOND / CUDACCL_SAMPLED_FEW_FRAMES;
}

/* Whether a place takes its sample in a turn. period: from ccl_sampled_period(). */
CUDACCL_CODEBOOK_FUNCTION bool
ccl_sampled_learns (uint32_t turn, bool in_object, bool is_unfound, uint32_t period)
{
  return in_object ? turn % period == 0 : !is_unfound;
}

/* The greatest difference of a near sample, in luma; chroma may differ by half of it. own, darker:
 * the codebook's tolerances at the level of the place's luma, and at the one below, which the
 * background of a brighter object may have. sensitivity: from ccl_codebook_sensitivity(). */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_sampled_tolerance (uint32_t own, uint32_t darker, uint32_t sensitivity)
{
  const uint32_t least = 4 * (own < darker ? own : darker) / 5;
  const uint32_t usual = CUDACCL_CODEBOOK_USUAL_SENSITIVITY;
  const uint32_t wanted =
      CUDACCL_SAMPLED_TOLERANCE * usual / (sensitivity < usual ? sensitivity : usual);
  const uint32_t most =
      wanted < CUDACCL_SAMPLED_MOST_TOLERANCE ? wanted : (uint32_t)CUDACCL_SAMPLED_MOST_TOLERANCE;
  return (uint8_t)(least < most ? least : most);
}

CUDACCL_CODEBOOK_FUNCTION bool
ccl_sampled_is_near (CclCodebookValue value, CclCodebookValue sample, uint32_t tolerance)
{
  return ccl_codebook_difference (value.luma, sample.luma) <= tolerance &&
         ccl_codebook_difference (value.u, sample.u) <= tolerance / 2 &&
         ccl_codebook_difference (value.v, sample.v) <= tolerance / 2;
}

/* The restlessness of a place after a frame. */
CUDACCL_CODEBOOK_FUNCTION uint8_t
ccl_sampled_restlessness (uint32_t before, bool is_onset, bool is_due)
{
  const uint32_t calming = (1u << CUDACCL_SAMPLED_CALMING_SHIFT) - 1;
  uint32_t after = before + (is_onset ? CUDACCL_SAMPLED_ONSET : 0);
  if (is_due)
    after -= (after + calming) >> CUDACCL_SAMPLED_CALMING_SHIFT;
  return (uint8_t)(after < CUDACCL_SAMPLED_MOST_RESTLESS ? after : CUDACCL_SAMPLED_MOST_RESTLESS);
}

/* The tolerance of a place, given that of calm places. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_sampled_restless_tolerance (uint32_t tolerance, uint32_t restlessness)
{
  const uint32_t quarters = restlessness >> CUDACCL_SAMPLED_RESTLESS_SHIFT;
  const uint32_t most = CUDACCL_SAMPLED_MOST_QUARTERS;
  return tolerance + tolerance * (quarters < most ? quarters : most) / 4;
}

/* The luma of a place. */
CUDACCL_CODEBOOK_FUNCTION uint8_t
ccl_sampled_mean (uint32_t sum_of_four)
{
  return (uint8_t)((sum_of_four + 2) / 4);
}
