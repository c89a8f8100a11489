/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the codebooks (codebook.h) of a frame's pixels share: the noise of the sensor, the error of
 * the correction for light, the filter that finds objects, changes of the scene, and time.
 *
 * Before the first frame all memory of the model is zero, and the tolerances are those of a median
 * distance of 0.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#ifndef CUDACCL_CODEBOOK_FRAME_H
#define CUDACCL_CODEBOOK_FRAME_H

#include "codebook.h"
#include "light.h"

/* docs/internals/foreground.md says how the values were chosen; codebook.h has the words. */
enum {
  /* Entries of the noise histogram for a level; the last one is that distance and all above. */
  CUDACCL_CODEBOOK_DISTANCES = 64,
  /* A level of luma with fewer samples has the least tolerance. */
  CUDACCL_CODEBOOK_LEAST_SAMPLES = 256,
  /* The least tolerance in the dark, at levels 0 and 1, and its rise with the level, in quarters.
   * It is CUDACCL_CODEBOOK_TOLERANCE from level 4 on. */
  CUDACCL_CODEBOOK_DARK_TOLERANCE = 8,
  CUDACCL_CODEBOOK_TOLERANCE_QUARTERS = 17,
  /* The least tolerance of weak background, in fifths of that. */
  CUDACCL_CODEBOOK_WEAK_FIFTHS = 3,
  /* The tolerance, in quarters of the median distance; chosen on the drawn scene "night", of 8…14.
   */
  CUDACCL_CODEBOOK_NOISE_QUARTERS = 12,
  /* The same of weak background; night: of 7 to 12. */
  CUDACCL_CODEBOOK_WEAK_NOISE_QUARTERS = 9,
  /* Of pixels that are not dynamic. */
  CUDACCL_CODEBOOK_MOST_TOLERANCE = 60,
  CUDACCL_CODEBOOK_MOST_WEAK_TOLERANCE = 45,
  /* Slack, in eighths of the light's spread; clouds: of 0, 4, 8. */
  CUDACCL_CODEBOOK_SPREAD_EIGHTHS = 4,
  CUDACCL_CODEBOOK_MOST_SLACK = 20,

  /* Pixels of an object's window that are not weak; drawn: of 3, 6, 9. */
  CUDACCL_CODEBOOK_LEAST_STRONG = 3,

  /* Quarters of a cell's pixels that are not background in a cell that shows another scene. */
  CUDACCL_CODEBOOK_CELL_QUARTERS = 2,
  /* Eighths of the cells that show one, and frames in a row in which they do, where the frame has
   * suddenly gained or lost its chroma, or its picture. */
  CUDACCL_CODEBOOK_SUDDEN_EIGHTHS = 2,
  CUDACCL_CODEBOOK_SUDDEN_FRAMES = 4,
  /* Of the frame's chroma and the model's; light.h has 4, too. */
  CUDACCL_CODEBOOK_INFRARED_RATIO = 4,
  /* Quarters of a frame's pixels that are dark where it is covered, or bright where it is blinded,
   * and of the model's pixels that are not. */
  CUDACCL_CODEBOOK_COVERED_QUARTERS = 3,
  CUDACCL_CODEBOOK_OPEN_QUARTERS = 2,
};

/* Counts of distances, of the background pixels of a frame. */
typedef uint32_t CclCodebookNoise[CUDACCL_CODEBOOK_LEVELS][CUDACCL_CODEBOOK_DISTANCES];

/* The error that the correction of a pixel for light may have: large at the edge of a cloud's
 * shadow. spread: the difference between the greatest and the least factor (light.h) of the four
 * cells around the pixel. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_slack (uint32_t luma, uint32_t spread)
{
  const uint32_t slack = CUDACCL_CODEBOOK_SPREAD_EIGHTHS * luma * spread / (8 * 4096);
  return slack < CUDACCL_CODEBOOK_MOST_SLACK ? slack : (uint32_t)CUDACCL_CODEBOOK_MOST_SLACK;
}

/* Counts a pixel in the noise histogram. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_counts_as_noise (const CclCodebookResult *result)
{
  return !result->is_strong && !result->is_first;
}

/* The median distance of a level, from its counts; 0 where it has too few. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_median_distance (const uint32_t counts[CUDACCL_CODEBOOK_DISTANCES])
{
  uint32_t n = 0, below = 0, median = 0;
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_DISTANCES; i++)
    n += counts[i];
  if (n < CUDACCL_CODEBOOK_LEAST_SAMPLES)
    return 0;
  for (below = counts[0]; 2 * below < n; below += counts[median])
    median++;
  return median;
}

/* The least tolerance of a level: a few steps are more in the dark, and noise is less. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_least_tolerance (uint32_t level)
{
  const uint32_t rising = 3 + CUDACCL_CODEBOOK_TOLERANCE_QUARTERS * level / 4;
  return rising < CUDACCL_CODEBOOK_DARK_TOLERANCE ? (uint32_t)CUDACCL_CODEBOOK_DARK_TOLERANCE
         : rising < CUDACCL_CODEBOOK_TOLERANCE    ? rising
                                                  : (uint32_t)CUDACCL_CODEBOOK_TOLERANCE;
}

/* The tolerance of a level in the next frame. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_tolerance (uint32_t level, uint32_t median_distance)
{
  const uint32_t least = ccl_codebook_least_tolerance (level);
  const uint32_t most = CUDACCL_CODEBOOK_MOST_TOLERANCE;
  const uint32_t tolerance = CUDACCL_CODEBOOK_NOISE_QUARTERS * median_distance / 4;
  return (uint8_t)(tolerance < least ? least : tolerance > most ? most : tolerance);
}

/* The distance from which on background of a level is weak. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_weak_tolerance (uint32_t level, uint32_t median_distance)
{
  const uint32_t least = CUDACCL_CODEBOOK_WEAK_FIFTHS * ccl_codebook_least_tolerance (level) / 5;
  const uint32_t most = CUDACCL_CODEBOOK_MOST_WEAK_TOLERANCE;
  const uint32_t tolerance = CUDACCL_CODEBOOK_WEAK_NOISE_QUARTERS * median_distance / 4;
  return (uint8_t)(tolerance < least ? least : tolerance > most ? most : tolerance);
}

/* Whether n_pixels are enough of the n pixels of a cell for a statement about the whole cell. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_fills_cell (uint32_t n_pixels, uint32_t n)
{
  return 4 * n_pixels >= CUDACCL_CODEBOOK_CELL_QUARTERS * n;
}

/* The weight that a matched word gains inside objects. hold: 0…CUDACCL_MAX_HOLD, as in
 * CclForegroundOptions; 4 is right for the seven real sequences. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_object_gain (uint32_t hold)
{
  return (uint8_t)(CUDACCL_CODEBOOK_GAIN / (hold > 1 ? hold : 1));
}

/* What a frame has to show for a change of scene. */
typedef struct CclCodebookSums {
  uint32_t cells;
  /* Cells whose pixels are not background. */
  uint32_t lost;
  /* Cells whose pixels are not background, but match the word of the frame before. */
  uint32_t settled;
  uint32_t pixels;
  /* Pixels of the frame, before the correction for light, whose luma is below
   * CUDACCL_LIGHT_LEAST_LUMA, and above CUDACCL_LIGHT_MOST_LUMA. */
  uint32_t dark, bright;
  /* The same of their heaviest words. */
  uint32_t model_dark, model_bright;
  uint64_t chroma;       /* of all pixels of the frame */
  uint64_t model_chroma; /* of their heaviest words */
} CclCodebookSums;

/* Whether a frame is covered: most pixels are dark, or bright, and those of the model are not. For
 * an uncovered frame the two change places. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_is_covered (uint32_t of_frame, uint32_t of_model, uint32_t pixels)
{
  return (uint64_t)4 * of_frame >= (uint64_t)CUDACCL_CODEBOOK_COVERED_QUARTERS * pixels &&
         (uint64_t)4 * of_model < (uint64_t)CUDACCL_CODEBOOK_OPEN_QUARTERS * pixels;
}

/* The change that follows from sums over the whole frame: it is covered, blinded, or has lost its
 * colours. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclSceneChange
ccl_codebook_sudden_change (const CclCodebookSums *sums)
{
  const uint32_t pixels = sums->pixels;
  const uint64_t less = sums->chroma < sums->model_chroma ? sums->chroma : sums->model_chroma;
  const uint64_t greater = sums->chroma < sums->model_chroma ? sums->model_chroma : sums->chroma;

  if (ccl_codebook_is_covered (sums->dark, sums->model_dark, pixels))
    return CUDACCL_SCENE_COVERED;
  if (ccl_codebook_is_covered (sums->bright, sums->model_bright, pixels))
    return CUDACCL_SCENE_BLINDED;
  if (ccl_codebook_is_covered (sums->model_dark, sums->dark, pixels) ||
      ccl_codebook_is_covered (sums->model_bright, sums->bright, pixels))
    return CUDACCL_SCENE_UNCOVERED;
  return CUDACCL_CODEBOOK_INFRARED_RATIO * less < greater ? CUDACCL_SCENE_INFRARED
                                                          : CUDACCL_SCENE_UNCHANGED;
}

/* What is known of the scene after a frame. */
typedef struct CclCodebookScene {
  /* The mask of the frame is empty: something has changed suddenly. */
  bool is_lost;
  /* The next frame is the first one of another scene, and this is the change. */
  CclSceneChange change;
  /* The frames in a row that look like another scene. */
  uint32_t n_frames;
} CclCodebookScene;

/* Updates the state of the scene with the sums of a frame. Only where options.light is set; without
 * it, and before the first frame, all members are 0. */
CUDACCL_CODEBOOK_HOST_FUNCTION void
ccl_codebook_judge_scene (CclCodebookScene *scene, const CclCodebookSums *sums)
{
  const CclSceneChange sudden = ccl_codebook_sudden_change (sums);
  const bool is_sudden = sudden != CUDACCL_SCENE_UNCHANGED;
  const uint32_t eighths = CUDACCL_CODEBOOK_SUDDEN_EIGHTHS;

  scene->is_lost = is_sudden && 8 * sums->lost >= eighths * sums->cells;
  scene->n_frames =
      is_sudden && 8 * sums->settled >= eighths * sums->cells ? scene->n_frames + 1 : 0;
  scene->change = CUDACCL_SCENE_UNCHANGED;
  if (scene->n_frames >= CUDACCL_CODEBOOK_SUDDEN_FRAMES) {
    scene->change = sudden;
    scene->n_frames = 0;
  }
}

/* The time of the frame after one; *rebases: whether births lose CUDACCL_CODEBOOK_TIME_STEP in it.
 */
CUDACCL_CODEBOOK_HOST_FUNCTION uint16_t
ccl_codebook_next_time (uint32_t time, bool *rebases)
{
  *rebases = time + 1 >= CUDACCL_CODEBOOK_MOST_TIME;
  return (uint16_t)(*rebases ? time + 1 - CUDACCL_CODEBOOK_TIME_STEP : time + 1);
}

#endif /* CUDACCL_CODEBOOK_FRAME_H */
