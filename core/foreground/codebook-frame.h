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
#pragma once

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
  /* It falls so low where the noise of a level allows it. Only at levels below the second value:
   * where it is brighter, what is faint is rather light or shadow. */
  CUDACCL_CODEBOOK_LOWEST_TOLERANCE = 6,
  CUDACCL_CODEBOOK_RELIEF_LEVELS = 4,
  /* The steps of time in which it falls by 1. */
  CUDACCL_CODEBOOK_RELIEF_STEPS = 100,
  /* It falls so many times as fast in dark frames, before it has been taken back, and a minute
   * after that. */
  CUDACCL_CODEBOOK_FAST_RELIEF = 4,
  CUDACCL_CODEBOOK_CAUTION_STEPS = 1500,
  /* A frame is dark if more than so many eighths of its background are at levels below that. */
  CUDACCL_CODEBOOK_DARK_LEVELS = 5,
  CUDACCL_CODEBOOK_DARK_EIGHTHS = 6,
  /* The least tolerance of weak background, in fifths of that. */
  CUDACCL_CODEBOOK_WEAK_FIFTHS = 3,
  /* The tolerance, in quarters of the median distance; chosen on the drawn scene "night", of 8…14.
   */
  CUDACCL_CODEBOOK_NOISE_QUARTERS = 12,
  /* The same of weak background; night: of 7 to 12. */
  CUDACCL_CODEBOOK_WEAK_NOISE_QUARTERS = 9,
  CUDACCL_CODEBOOK_USUAL_SENSITIVITY = 100, /* percent */
  /* Noise of the sensor is white: at most so many sixteenths of the pairs of neighbouring pixels
   * are on one side of their backgrounds. Drawn noise of 5 and more: 8.2; leaves, water and the
   * noise of encoders in the 18 sequences: 9.9 to 15. */
  CUDACCL_CODEBOOK_WHITE_SIXTEENTHS = 9,
  CUDACCL_CODEBOOK_WHITE_ROWS = 8, /* pairs are counted in every eighth row */
  /* Of pixels that are not dynamic. */
  CUDACCL_CODEBOOK_MOST_TOLERANCE = 60,
  CUDACCL_CODEBOOK_MOST_WEAK_TOLERANCE = 45,
  /* Slack, in eighths of the light's spread; clouds: of 0, 4, 8. */
  CUDACCL_CODEBOOK_SPREAD_EIGHTHS = 4,
  CUDACCL_CODEBOOK_MOST_SLACK = 20,
  /* The luma of black; clouds: of 0, 8, 16. */
  CUDACCL_CODEBOOK_BLACK = 16,

  /* Pixels of an object's window that are not weak; drawn: of 3, 6, 9. */
  CUDACCL_CODEBOOK_LEAST_STRONG = 3,

  /* Quarters of a cell's pixels that are not background in a cell that shows another scene. */
  CUDACCL_CODEBOOK_CELL_QUARTERS = 2,
  /* Eighths of the cells that show one, and the steps for which they do, in one frame or more,
   * where the frame has suddenly gained or lost its chroma, or its picture. */
  CUDACCL_CODEBOOK_SUDDEN_EIGHTHS = 2,
  CUDACCL_CODEBOOK_SUDDEN_STEPS = 4,
  /* An object that stops becomes background after this time `hold` times. */
  CUDACCL_ABSORB_SECONDS = 6,
  /* Of the frame's chroma and the model's; light.h has 4, too. */
  CUDACCL_CODEBOOK_INFRARED_RATIO = 4,
  /* Quarters of a frame's pixels that are dark where it is covered, or bright where it is blinded,
   * and of the model's pixels that are not. */
  CUDACCL_CODEBOOK_COVERED_QUARTERS = 3,
  CUDACCL_CODEBOOK_OPEN_QUARTERS = 2,
};

/* Nanoseconds. */
#define CUDACCL_CODEBOOK_SECOND UINT64_C (1000000000)
#define CUDACCL_CODEBOOK_STEP (CUDACCL_CODEBOOK_SECOND / 25)

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

/* The slack of a pixel where the light has edges: black is not 0 in many videos, which a brighter
 * picture shows. slack: as above. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_edge_slack (uint32_t slack, uint32_t factor)
{
  const uint32_t black = factor > CUDACCL_LIGHT_ONE ? factor - CUDACCL_LIGHT_ONE : 0;
  const uint32_t sum = slack + CUDACCL_CODEBOOK_BLACK * black / CUDACCL_LIGHT_ONE;
  return sum < CUDACCL_CODEBOOK_MOST_SLACK ? sum : (uint32_t)CUDACCL_CODEBOOK_MOST_SLACK;
}

/* Whether a pixel counts in the noise histogram. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_counts_as_noise (const CclCodebookResult *result)
{
  return !result->is_strong && !result->is_first;
}

/* The least distance that `share` sixteenths of a level's pixels or more do not pass, from its
 * counts; 0 where it has too few. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_quantile (const uint32_t counts[CUDACCL_CODEBOOK_DISTANCES], uint32_t share)
{
  uint64_t n = 0, below = 0;
  uint32_t quantile = 0;
  for (uint32_t i = 0; i < CUDACCL_CODEBOOK_DISTANCES; i++)
    n += counts[i];
  if (n < CUDACCL_CODEBOOK_LEAST_SAMPLES)
    return 0;
  for (below = counts[0]; 16 * below < share * n; below += counts[quantile])
    quantile++;
  return quantile;
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

/* Whether a frame is dark: so many of the pixels that count as noise are at levels below
 * CUDACCL_CODEBOOK_DARK_LEVELS. There is no sun, and what little a shadow takes of the light is not
 * told from an object. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_is_dark (uint32_t dark, uint32_t counted)
{
  return (uint64_t)8 * dark > (uint64_t)CUDACCL_CODEBOOK_DARK_EIGHTHS * counted;
}

/* What is known of the noise of a level. Zeros before the first frame. */
typedef struct CclCodebookLevel {
  uint16_t median;  /* distance */
  uint16_t relief;  /* the steps in which the least tolerance has fallen */
  uint16_t caution; /* the steps for which it falls slowly yet */
} CclCodebookLevel;

/* What is known after a frame in which the relief has room for so many steps. is_fast: it grows
 * fast unless it is cautious. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclCodebookLevel
ccl_codebook_next_relief (
    CclCodebookLevel before, uint32_t median, uint32_t room, bool is_fast, uint32_t elapsed)
{
  const uint32_t fast = CUDACCL_CODEBOOK_FAST_RELIEF;
  const uint32_t now = before.relief + (is_fast && before.caution == 0 ? fast * elapsed : elapsed);
  const uint32_t caution = before.caution > elapsed ? before.caution - elapsed : 0;
  const bool is_taken_back = room < before.relief;
  const CclCodebookLevel after = {(uint16_t)median, (uint16_t)(now < room ? now : room),
      (uint16_t)(is_taken_back ? (uint32_t)CUDACCL_CODEBOOK_CAUTION_STEPS : caution)};
  return after;
}

/* What is known after a frame. The relief grows slowly, and is taken back where a sixteenth of the
 * pixels pass four fifths of the tolerance: key frames that pump follow each other within seconds.
 * median, tail: quantiles of 8 and 15 sixteenths. elapsed: CclCodebookTime. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclCodebookLevel
ccl_codebook_next_level (CclCodebookLevel before, uint32_t level, uint32_t median, uint32_t tail,
    bool is_dark, uint32_t elapsed)
{
  const uint32_t noise = 5 * tail / 4 + 1, lowest = CUDACCL_CODEBOOK_LOWEST_TOLERANCE;
  const uint32_t aim = noise > lowest ? noise : lowest;
  const uint32_t least = ccl_codebook_least_tolerance (level);
  const bool falls = (is_dark || level < CUDACCL_CODEBOOK_RELIEF_LEVELS) && aim < least;
  const uint32_t room = falls ? (least - aim) * CUDACCL_CODEBOOK_RELIEF_STEPS : 0;
  return ccl_codebook_next_relief (before, median, room, is_dark, elapsed);
}

/* The same from the counts of the frame. */
CUDACCL_CODEBOOK_HOST_FUNCTION CclCodebookLevel
ccl_codebook_count_level (CclCodebookLevel before, uint32_t level,
    const uint32_t counts[CUDACCL_CODEBOOK_DISTANCES], bool is_dark, uint32_t elapsed)
{
  return ccl_codebook_next_level (before, level, ccl_codebook_quantile (counts, 8),
      ccl_codebook_quantile (counts, 15), is_dark, elapsed);
}

/* The sensitivity in percent, from an option that is set or 0. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_sensitivity (uint32_t option)
{
  return option > 0 ? option : CUDACCL_CODEBOOK_USUAL_SENSITIVITY;
}

/* The least tolerance of a level, less its relief. Where the sensitivity is greater, it is less. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_contrast (uint32_t level, CclCodebookLevel known, uint32_t sensitivity)
{
  const uint32_t relief = known.relief / CUDACCL_CODEBOOK_RELIEF_STEPS;
  return (ccl_codebook_least_tolerance (level) - relief) * CUDACCL_CODEBOOK_USUAL_SENSITIVITY /
         sensitivity;
}

/* The tolerance of noise, so many quarters of the median distance. A lower sensitivity raises it, a
 * greater one would find noise. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint32_t
ccl_codebook_noise_tolerance (uint32_t quarters, CclCodebookLevel known, uint32_t sensitivity)
{
  const uint32_t usual = CUDACCL_CODEBOOK_USUAL_SENSITIVITY;
  return quarters * known.median * usual / (4 * (sensitivity < usual ? sensitivity : usual));
}

/* The tolerance of a level in the next frame. sensitivity: from ccl_codebook_sensitivity(). */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_tolerance (uint32_t level, CclCodebookLevel known, uint32_t sensitivity)
{
  const uint32_t least = ccl_codebook_contrast (level, known, sensitivity);
  const uint32_t most = CUDACCL_CODEBOOK_MOST_TOLERANCE;
  const uint32_t tolerance =
      ccl_codebook_noise_tolerance (CUDACCL_CODEBOOK_NOISE_QUARTERS, known, sensitivity);
  return (uint8_t)(tolerance < least ? least : tolerance > most ? most : tolerance);
}

/* Whether the noise of a frame is white, from the pairs of pixels in columns 2n and 2n + 1 of the
 * rows that are counted, neither of which is strong, and those of them that are both brighter than
 * their heaviest words after the update, or both not. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_is_white (uint32_t pairs, uint32_t alike)
{
  return pairs >= CUDACCL_CODEBOOK_LEAST_SAMPLES &&
         (uint64_t)16 * alike <= (uint64_t)CUDACCL_CODEBOOK_WHITE_SIXTEENTHS * pairs;
}

/* The greatest distance that noise explains: the tolerance, where white noise is what makes it.
 * Elsewhere the least tolerance holds all that noise does, and 0 is returned. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_explained (uint32_t level, CclCodebookLevel known, bool is_white, uint32_t sensitivity)
{
  const uint32_t tolerance = ccl_codebook_tolerance (level, known, sensitivity);
  const uint32_t least = ccl_codebook_contrast (level, known, sensitivity);
  return (uint8_t)(is_white && tolerance > least ? tolerance : 0);
}

/* The distance from which on background of a level is weak. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_weak_tolerance (uint32_t level, CclCodebookLevel known, uint32_t sensitivity)
{
  const uint32_t least =
      CUDACCL_CODEBOOK_WEAK_FIFTHS * ccl_codebook_contrast (level, known, sensitivity) / 5;
  const uint32_t most = CUDACCL_CODEBOOK_MOST_WEAK_TOLERANCE;
  const uint32_t tolerance =
      ccl_codebook_noise_tolerance (CUDACCL_CODEBOOK_WEAK_NOISE_QUARTERS, known, sensitivity);
  return (uint8_t)(tolerance < least ? least : tolerance > most ? most : tolerance);
}

/* Whether n_pixels are enough of the n pixels of a cell for a statement about the whole cell. */
CUDACCL_CODEBOOK_HOST_FUNCTION bool
ccl_codebook_fills_cell (uint32_t n_pixels, uint32_t n)
{
  return 4 * n_pixels >= CUDACCL_CODEBOOK_CELL_QUARTERS * n;
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
  /* The steps for which the scene has looked like another one. */
  uint32_t n_steps;
} CclCodebookScene;

/* Updates the state of the scene with the sums of a frame, which is so many steps after the one
 * before. Only where options.light is set; without it, and before the first frame, all members are
 * 0. */
CUDACCL_CODEBOOK_HOST_FUNCTION void
ccl_codebook_judge_scene (CclCodebookScene *scene, const CclCodebookSums *sums, uint32_t elapsed)
{
  const CclSceneChange sudden = ccl_codebook_sudden_change (sums);
  const bool is_sudden = sudden != CUDACCL_SCENE_UNCHANGED;
  const uint32_t eighths = CUDACCL_CODEBOOK_SUDDEN_EIGHTHS;

  scene->is_lost = is_sudden && 8 * sums->lost >= eighths * sums->cells;
  scene->n_steps =
      is_sudden && 8 * sums->settled >= eighths * sums->cells ? scene->n_steps + elapsed : 0;
  scene->change = CUDACCL_SCENE_UNCHANGED;
  if (scene->n_steps >= CUDACCL_CODEBOOK_SUDDEN_STEPS) {
    scene->change = sudden;
    scene->n_steps = 0;
  }
}

/* The time since a model began. Zeros before its first frame. */
typedef struct CclCodebookClock {
  uint64_t now;    /* nanoseconds */
  uint64_t former; /* steps by which births have been rebased */
  uint64_t rest;   /* of the gain of objects that no frame has had yet */
} CclCodebookClock;

/* The nanoseconds in which an object that has stopped becomes background, from options that are set
 * or 0. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint64_t
ccl_absorb_time (uint64_t absorb_after, uint32_t hold)
{
  const uint64_t by_hold = CUDACCL_ABSORB_SECONDS * CUDACCL_CODEBOOK_SECOND * (hold > 1 ? hold : 1);
  return absorb_after > 0 ? absorb_after : by_hold;
}

/* How far words move, so that their means are of about as many seconds at each frame rate, and of
 * at least four frames: noise. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint8_t
ccl_codebook_move (uint64_t duration)
{
  uint8_t move = CUDACCL_CODEBOOK_MOVE;
  for (uint64_t longest = 2 * CUDACCL_CODEBOOK_STEP; move > 2 && duration >= longest; longest *= 2)
    move--;
  return 2 * duration <= CUDACCL_CODEBOOK_STEP ? CUDACCL_CODEBOOK_MOVE + 1 : move;
}

/* The time of a frame of a duration, in nanoseconds; 0: CUDACCL_FRAME_DURATION. More than a second
 * counts as one. absorb_time: from ccl_absorb_time(). */
CUDACCL_CODEBOOK_HOST_FUNCTION CclCodebookTime
ccl_codebook_advance (CclCodebookClock *clock, uint64_t duration, uint64_t absorb_time)
{
  const uint64_t step = CUDACCL_CODEBOOK_STEP, gain_step = step / CUDACCL_CODEBOOK_GAIN;
  const uint64_t second = CUDACCL_CODEBOOK_SECOND, then = clock->now;
  const uint64_t by_hold = CUDACCL_ABSORB_SECONDS * second / gain_step;
  const uint64_t known = duration == 0 ? CUDACCL_FRAME_DURATION : duration;
  const uint64_t used = known < second ? known : second;
  const uint64_t gain = (then + used) / gain_step - then / gain_step;
  CclCodebookTime time = {0, 0, 1, 0, ccl_codebook_move (used), false};

  clock->now += used;
  clock->rest += used * by_hold;
  const uint64_t object_gain = clock->rest / absorb_time;
  clock->rest %= absorb_time;
  if (gain > 1)
    time.gain = (uint16_t)gain;
  time.object_gain = (uint16_t)(object_gain < time.gain ? object_gain : time.gain);
  time.elapsed = (uint16_t)(clock->now / step - then / step);
  time.rebases = clock->now / step - clock->former >= CUDACCL_CODEBOOK_MOST_TIME;
  clock->former += time.rebases ? CUDACCL_CODEBOOK_TIME_STEP : 0;
  time.now = (uint16_t)(clock->now / step - clock->former);
  return time;
}
