/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The background model of one pixel: a codebook of CUDACCL_CODEBOOK_WORDS words. A word is a colour
 * that the pixel has had, with a weight that grows with the frames in which it was seen.
 *
 * K. Kim, T. H. Chalidabhongse, D. Harwood and L. Davis, "Real-time foreground-background
 * segmentation using codebook model", Real-Time Imaging 11(3), 2005, describe a pixel by a list of
 * such words, which they learn from a training sequence. P.-L. St-Charles, G.-A. Bilodeau and
 * R. Bergevin, "A self-adjusting approach to change detection based on background word consensus",
 * WACV 2015 (PAWCS), learn words without training and order them by persistence. Here the weight is
 * the persistence. There is no training, no texture, no randomness, and no pixel writes into the
 * codebook of another.
 *
 * In each frame:
 *
 * 1. The frame is corrected for changes of light (light.h).
 *
 * 2. The pixel matches the heaviest word if noise explains its distance from it: what noise makes
 * of a background is one word. Else it matches the word whose distance is least, if this distance
 * is within the tolerance.
 *
 * 3. The pixel is background if the matched word has at least CUDACCL_CODEBOOK_SHARE of the
 * greatest weight, or if it is recurrent: it has CUDACCL_CODEBOOK_RECURRENT_SHARE of that weight,
 * is CUDACCL_CODEBOOK_RECURRENT_AGE steps old, and has CUDACCL_CODEBOOK_RECURRENT_VISITS visits. A
 * visit is counted where the pixel was background in the frame before, and is not any more. Leaves
 * in the wind and a shaking camera make recurrent words.
 *
 * 4. The matched word moves towards the pixel and gains weight. Without a match, a new word takes
 *    the place of the word of least weight. Inside objects, words gain weight slowly.
 *
 * 5. A pixel that has a recurrent word beside its heaviest one is dynamic, and so is one with a
 *    majority of such pixels around it. Its tolerance is twice as large in the next frame.
 *
 * The tolerance grows where the sensor is noisy: the median distance of background pixels from
 * their heaviest words is taken for each level of luma over the whole frame, and holds in the next
 * frame, so that no frame waits for its own histogram. A median over the frame tells noise from
 * leaves, which are few and differ strongly. The tolerance also grows at the edge of a cloud's
 * shadow, where the light differs between neighbouring cells and the correction is uncertain.
 *
 * A background pixel whose distance is nearly the tolerance is weak. An object is where most pixels
 * of a window of 5×5 are not background or weak, if at least CUDACCL_CODEBOOK_LEAST_STRONG of them
 * are not weak: faint parts of an object count where a part is plain, and not alone.
 *
 * The scene has changed if in a quarter of the cells half the pixels are not background, and match
 * the same words as in the frame before, for CUDACCL_CODEBOOK_SUDDEN_STEPS steps in which the frame
 * has suddenly gained or lost its chroma, as when a camera turns to infrared, or has become dark or
 * bright; the mask is empty meanwhile. In the frame after that, the matched words become the
 * background, and the old ones are kept with little weight. camera.h finds moves of the camera.
 *
 * This file has the pixel; codebook-frame.h has what the pixels of a frame share.
 *
 * Time is that of the scene, whatever the frame rate: weights, ages and moves follow from the
 * durations of frames. A step of time is 1/25 s.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "mixture.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CUDACCL_CODEBOOK_FUNCTION __device__ static __forceinline__
#define CUDACCL_CODEBOOK_HOST_FUNCTION __host__ __device__ static __forceinline__
#define CUDACCL_CODEBOOK_UNROLL _Pragma ("unroll")
#else
#define CUDACCL_CODEBOOK_FUNCTION static inline
#define CUDACCL_CODEBOOK_HOST_FUNCTION static inline
#define CUDACCL_CODEBOOK_UNROLL
#endif

/* docs/internals/foreground.md says how the values were chosen. A comment names the data that a
 * value was chosen on, and the other values that were tried: "seven" are the seven real sequences
 * that the page lists, "drawn" the drawn scenes. */
enum {
  /* seven: better than 6 */
  CUDACCL_CODEBOOK_WORDS = 8,
  /* The least tolerance where it is bright, in luma of 8 bits; seven: of 16…28. */
  CUDACCL_CODEBOOK_TOLERANCE = 20,
  /* Times that a difference of chroma counts, as in mixture.h. */
  CUDACCL_CODEBOOK_CHROMA = 2,
  /* Of the tolerance of dynamic pixels; seven: of 1, 1.5, 2 times. */
  CUDACCL_CODEBOOK_DYNAMIC_SHIFT = 1,

  /* Steps of a mean in a difference of 1 of 8 bits. */
  CUDACCL_CODEBOOK_STEPS = 256,
  /* In a frame of a step, a word moves by 2^-4 of the difference; clouds: of 3…6. */
  CUDACCL_CODEBOOK_MOVE = 4,
  /* Of the matched word's weight in a step. */
  CUDACCL_CODEBOOK_GAIN = 16,
  /* The weight of 80 seconds. Where it would be passed, all weights lose an eighth. */
  CUDACCL_CODEBOOK_MOST_WEIGHT = 32000,

  /* Share of the greatest weight from which on a word is background, in 1/65536: 0.6; seven: of
   * .2….8. */
  CUDACCL_CODEBOOK_SHARE = 39322,
  /* The same of a recurrent word: 0.05; seven: of .02….15. */
  CUDACCL_CODEBOOK_RECURRENT_SHARE = 3277,
  /* seven: of 4 and 8 */
  CUDACCL_CODEBOOK_RECURRENT_VISITS = 4,
  /* In steps, so 16 seconds; seven: of 0 and 200…500. */
  CUDACCL_CODEBOOK_RECURRENT_AGE = 400,
  /* Where visits saturate. */
  CUDACCL_CODEBOOK_MOST_VISITS = 255,
  /* In steps; where it is reached, time and births lose CUDACCL_CODEBOOK_TIME_STEP. Births stop at
   * 0. */
  CUDACCL_CODEBOOK_MOST_TIME = 49152,
  CUDACCL_CODEBOOK_TIME_STEP = 32768,

  /* Levels of luma that have tolerances of their own. */
  CUDACCL_CODEBOOK_LEVELS = 16,
  /* Of all weights when the scene has changed. */
  CUDACCL_CODEBOOK_CHANGE_DIVISOR = 128,
};

/* A word. Means are in steps of 1/256 of a value of 8 bits. A word of weight 0 does not exist, and
 * its other members are undefined. */
typedef struct CclCodeword {
  uint16_t luma, u, v; /* means */
  uint16_t weight;     /* 0…CUDACCL_CODEBOOK_MOST_WEIGHT */
  uint16_t birth;      /* CclCodebookTime.now of the frame that it is from */
  uint8_t visits;
} CclCodeword;

/* The codebooks of CUDACCL_CODEBOOK_LANES neighbouring pixels: words in order of k, planes of
 * lanes, so that a vector holds one member of one word of many pixels. */
enum { CUDACCL_CODEBOOK_LANES = 32 };

typedef struct CclCodebookBlock {
  uint16_t weight[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
  uint16_t luma[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
  uint16_t u[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
  uint16_t v[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
  uint16_t birth[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
  uint8_t visits[CUDACCL_CODEBOOK_WORDS][CUDACCL_CODEBOOK_LANES];
} CclCodebookBlock;

/* A pixel after the correction for light: 8 bits each. Without chroma, u and v are 128. */
typedef struct CclCodebookValue {
  uint8_t luma, u, v;
  uint8_t slack; /* added to the tolerance: the error that the correction may have */
} CclCodebookValue;

/* What a pixel keeps beside its words; 6 bits. */
typedef struct CclCodebookState {
  uint8_t place;       /* of the word that the frame before matched or made */
  bool was_background; /* its class in the frame before */
  bool in_object;      /* the mask of the frame before */
  bool is_dynamic;
} CclCodebookState;

/* The time of a frame, and what follows from its duration (codebook-frame.h). */
typedef struct CclCodebookTime {
  uint16_t now;         /* steps */
  uint16_t elapsed;     /* steps since the frame before */
  uint16_t gain;        /* of a matched word's weight; ≥ 1 */
  uint16_t object_gain; /* the same inside objects; 0 in some frames where it is slow */
  uint8_t move;         /* words move by 2^-move of the difference */
  bool rebases;         /* births lose CUDACCL_CODEBOOK_TIME_STEP */
} CclCodebookTime;

/* What all pixels of a frame share. */
typedef struct CclCodebookFrame {
  CclCodebookTime time;
  bool scene_changes; /* the matched words become the background */
  bool is_dark;       /* what is darker than the background is no shadow */
  /* By the luma of the heaviest word: */
  uint8_t tolerances[CUDACCL_CODEBOOK_LEVELS];
  uint8_t weak_tolerances[CUDACCL_CODEBOOK_LEVELS];  /* beyond them, a background pixel is weak */
  uint8_t noise_tolerances[CUDACCL_CODEBOOK_LEVELS]; /* up to them, noise explains a distance */
} CclCodebookFrame;

/* The result of the update of a pixel. */
typedef struct CclCodebookResult {
  CclPixelClass pixel_class;
  uint8_t distance;      /* from the heaviest word before the update, at most 255 */
  uint8_t level;         /* of that word's luma, 0…CUDACCL_CODEBOOK_LEVELS − 1 */
  uint8_t background;    /* the luma of the heaviest word after the update */
  bool is_recurrent;     /* a word beside the heaviest one is recurrent */
  bool is_strong;        /* it is not background, and not weak */
  bool is_settled;       /* it is not background, and matches the word of the frame before */
  uint8_t place;         /* of the word that it matches or has made */
  bool is_first;         /* it had no words */
  uint16_t chroma;       /* |u − 128| + |v − 128| of the value */
  uint16_t model_chroma; /* of the heaviest word before the update */
  uint8_t model_luma;    /* of that word */
} CclCodebookResult;

/* A share, in 1/65536, of a weight. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_codebook_share (uint32_t weight, uint32_t share)
{
  return weight * share >> 16;
}

CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_codebook_difference (uint32_t a, uint32_t b)
{
  return a < b ? b - a : a - b;
}

/* How far from grey u and v are. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_codebook_chroma (uint32_t u, uint32_t v)
{
  return ccl_codebook_difference (u, 128) + ccl_codebook_difference (v, 128);
}

/* The distance of a pixel from a word: the greatest difference of the three, where chroma counts
 * CUDACCL_CODEBOOK_CHROMA times; 0…510. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_codebook_distance (const CclCodeword *word, CclCodebookValue value)
{
  const uint32_t luma = ccl_codebook_difference (word->luma >> 8, value.luma);
  const uint32_t u = CUDACCL_CODEBOOK_CHROMA * ccl_codebook_difference (word->u >> 8, value.u);
  const uint32_t v = CUDACCL_CODEBOOK_CHROMA * ccl_codebook_difference (word->v >> 8, value.v);
  const uint32_t chroma = u < v ? v : u;
  return luma < chroma ? chroma : luma;
}

/* A mean after its move. It stays where it is within 2^move − 1 steps above the value. */
CUDACCL_CODEBOOK_FUNCTION uint16_t
ccl_codebook_moved (uint32_t mean, uint32_t value, uint32_t move)
{
  return (uint16_t)(mean - (mean >> move) + (value * CUDACCL_CODEBOOK_STEPS >> move));
}

/* Whether a word is one that comes back again and again, or shares a pixel with others. */
CUDACCL_CODEBOOK_FUNCTION bool
ccl_codebook_is_recurrent (const CclCodeword *word, uint32_t greatest, uint32_t time)
{
  return word->visits >= CUDACCL_CODEBOOK_RECURRENT_VISITS &&
         time - word->birth >= CUDACCL_CODEBOOK_RECURRENT_AGE &&
         word->weight >= ccl_codebook_share (greatest, CUDACCL_CODEBOOK_RECURRENT_SHARE) &&
         word->weight > 0;
}

CUDACCL_CODEBOOK_FUNCTION bool
ccl_codebook_is_shadow (const CclCodeword *word, CclCodebookValue value)
{
  const CclGaussian gaussian = {0, word->luma, 0, (uint32_t)(word->u >> 8 | word->v >> 8 << 8)};
  return ccl_mixture_is_shadow (&gaussian, (uint32_t)value.luma * CUDACCL_MIXTURE_MEAN_STEPS,
      value.u | (uint32_t)value.v << 8);
}

/* Where the words of a pixel are: the first of greatest and of least weight, and the one that the
 * value matches: the heaviest, if noise explains the distance, else the first of those nearest
 * within the tolerance, CUDACCL_CODEBOOK_WORDS if there is none. */
typedef struct CclCodebookPlaces {
  uint32_t heaviest, lightest, matched;
  bool is_weak; /* the match is distant */
} CclCodebookPlaces;

CUDACCL_CODEBOOK_FUNCTION CclCodebookPlaces
ccl_codebook_find (const CclCodeword words[CUDACCL_CODEBOOK_WORDS], CclCodebookValue value,
    bool is_dynamic, const CclCodebookFrame *frame)
{
  CclCodebookPlaces places = {0, 0, CUDACCL_CODEBOOK_WORDS, false};
  uint32_t greatest = words[0].weight, least = words[0].weight, luma = words[0].luma;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 1; k < CUDACCL_CODEBOOK_WORDS; k++) {
    if (words[k].weight > greatest) {
      places.heaviest = k;
      greatest = words[k].weight;
      luma = words[k].luma;
    }
    if (words[k].weight < least) {
      places.lightest = k;
      least = words[k].weight;
    }
  }
  const uint32_t weak = ((uint32_t)frame->weak_tolerances[luma >> 12]
                            << (is_dynamic ? CUDACCL_CODEBOOK_DYNAMIC_SHIFT : 0)) +
                        value.slack;
  uint32_t nearest = ((uint32_t)frame->tolerances[luma >> 12]
                         << (is_dynamic ? CUDACCL_CODEBOOK_DYNAMIC_SHIFT : 0)) +
                     value.slack + 1;
  uint32_t own = 0;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    const uint32_t distance = ccl_codebook_distance (&words[k], value);
    own = k == places.heaviest ? distance : own;
    if (words[k].weight > 0 && distance < nearest) {
      places.matched = k;
      nearest = distance;
    }
  }
  if (greatest > 0 && own <= frame->noise_tolerances[luma >> 12]) {
    places.matched = places.heaviest;
    nearest = own;
  }
  places.is_weak = places.matched < CUDACCL_CODEBOOK_WORDS && nearest > weak;
  return places;
}

/* Adds to the weight of a word. */
CUDACCL_CODEBOOK_FUNCTION void
ccl_codebook_gain (CclCodeword words[CUDACCL_CODEBOOK_WORDS], uint32_t place, uint32_t gain)
{
  uint32_t weight = 0;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    weight = k == place ? words[k].weight : weight;
  const bool passes = weight + gain > CUDACCL_CODEBOOK_MOST_WEIGHT;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    const uint32_t loss = passes ? words[k].weight >> 3 : 0;
    words[k].weight = (uint16_t)(words[k].weight - loss + (k == place ? gain : 0));
  }
}

/* Makes a word the background, as if the model had begun a few frames ago. */
CUDACCL_CODEBOOK_FUNCTION void
ccl_codebook_begin_again (CclCodeword words[CUDACCL_CODEBOOK_WORDS], uint32_t place)
{
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k].weight =
        (uint16_t)(k == place ? CUDACCL_CODEBOOK_MOST_WEIGHT / CUDACCL_CODEBOOK_CHANGE_DIVISOR
                              : words[k].weight / CUDACCL_CODEBOOK_CHANGE_DIVISOR);
}

/* Subtracts from all births; a word that is older than that was born at time 0. */
CUDACCL_CODEBOOK_FUNCTION void
ccl_codebook_rebase (CclCodeword words[CUDACCL_CODEBOOK_WORDS])
{
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k].birth = (uint16_t)(words[k].birth > CUDACCL_CODEBOOK_TIME_STEP
                                    ? words[k].birth - CUDACCL_CODEBOOK_TIME_STEP
                                    : 0);
}

/* Writes the value into the matched word, or into a new one that replaces the lightest. Returns its
 * place. matched: the word, if there is one. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_codebook_learn (CclCodeword words[CUDACCL_CODEBOOK_WORDS], const CclCodebookPlaces *places,
    const CclCodeword *matched, CclCodebookValue value, bool is_visit, const CclCodebookTime *time)
{
  const bool is_new = places->matched == CUDACCL_CODEBOOK_WORDS;
  const uint32_t place = is_new ? places->lightest : places->matched;
  CclCodeword word = {(uint16_t)(value.luma * CUDACCL_CODEBOOK_STEPS),
      (uint16_t)(value.u * CUDACCL_CODEBOOK_STEPS), (uint16_t)(value.v * CUDACCL_CODEBOOK_STEPS), 0,
      time->now, 0};
  if (!is_new) {
    word = *matched;
    word.luma = ccl_codebook_moved (word.luma, value.luma, time->move);
    word.u = ccl_codebook_moved (word.u, value.u, time->move);
    word.v = ccl_codebook_moved (word.v, value.v, time->move);
  }
  if (is_visit && word.visits < CUDACCL_CODEBOOK_MOST_VISITS)
    word.visits++;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    if (k == place)
      words[k] = word;
  return place;
}

/* Fills the result of a pixel after the update. */
CUDACCL_CODEBOOK_FUNCTION void
ccl_codebook_summarise (
    const CclCodeword words[CUDACCL_CODEBOOK_WORDS], uint32_t time, CclCodebookResult *result)
{
  uint32_t greatest = 0, heaviest = 0, luma = 0;
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
    if (words[k].weight > greatest) {
      greatest = words[k].weight;
      heaviest = k;
      luma = words[k].luma;
    }
  }
  result->background = (uint8_t)(luma >> 8);
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    result->is_recurrent |= k != heaviest && ccl_codebook_is_recurrent (&words[k], greatest, time);
}

/* Compares a pixel with its words and updates them. A pixel without words is background. */
CUDACCL_CODEBOOK_FUNCTION CclCodebookResult
ccl_codebook_update (CclCodeword words[CUDACCL_CODEBOOK_WORDS], CclCodebookValue value,
    CclCodebookState state, const CclCodebookFrame *frame)
{
  CclCodebookResult result = {
      CUDACCL_PIXEL_BACKGROUND, 0, 0, 0, false, false, false, 0, false, 0, 0, 0};
  if (frame->time.rebases)
    ccl_codebook_rebase (words);
  const CclCodebookPlaces places = ccl_codebook_find (words, value, state.is_dynamic, frame);
  CclCodeword heaviest = words[0], matched = words[0];
  CUDACCL_CODEBOOK_UNROLL
  for (uint32_t k = 1; k < CUDACCL_CODEBOOK_WORDS; k++) {
    heaviest = k == places.heaviest ? words[k] : heaviest;
    matched = k == places.matched ? words[k] : matched;
  }
  const bool matches = places.matched < CUDACCL_CODEBOOK_WORDS;
  const uint32_t distance = ccl_codebook_distance (&heaviest, value);
  const bool is_background =
      heaviest.weight == 0 || frame->scene_changes ||
      (matches && (matched.weight >= ccl_codebook_share (heaviest.weight, CUDACCL_CODEBOOK_SHARE) ||
                      ccl_codebook_is_recurrent (&matched, heaviest.weight, frame->time.now)));

  if (!is_background || (places.is_weak && !frame->scene_changes))
    result.pixel_class = !frame->is_dark && ccl_codebook_is_shadow (&heaviest, value)
                             ? CUDACCL_PIXEL_SHADOW
                             : CUDACCL_PIXEL_FOREGROUND;
  result.distance = (uint8_t)(distance < UINT8_MAX ? distance : UINT8_MAX);
  result.level = (uint8_t)(heaviest.luma >> 12);
  result.is_strong = !is_background;
  result.is_settled = matches && !is_background && places.matched == state.place;
  result.is_first = heaviest.weight == 0;
  result.chroma = (uint16_t)ccl_codebook_chroma (value.u, value.v);
  result.model_luma = (uint8_t)(heaviest.luma >> 8);
  result.model_chroma = (uint16_t)ccl_codebook_chroma (heaviest.u >> 8, heaviest.v >> 8);

  const bool is_visit = !is_background && state.was_background;
  const bool is_slow = !is_background && state.in_object;
  const uint32_t place =
      ccl_codebook_learn (words, &places, &matched, value, is_visit, &frame->time);
  result.place = (uint8_t)place;
  if (frame->scene_changes)
    ccl_codebook_begin_again (words, place);
  const uint32_t gain = is_slow ? frame->time.object_gain : frame->time.gain;
  ccl_codebook_gain (words, place, gain == 0 && !matches ? 1 : gain); /* a new word exists */
  ccl_codebook_summarise (words, frame->time.now, &result);
  return result;
}
