/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codebook model of core/foreground/codebook.h for rows of pixels, STEP_LANES pixels at a time,
 * on the vectors of mog2.h. Results and words are those of ccl_codebook_update(); the tests compare
 * them.
 *
 * Most of what a pixel keeps is not touched in most frames: words that no pixel of a vector has,
 * births and visits, the means of words that are not matched, and, of pixels at rest
 * (codebook-rest.h), all but one word. Frames in which all births or all weights change are rare,
 * and are computed one pixel at a time.
 *
 * The including file also defines lanes_of(), the lanes whose bits are set, and look_up(), for each
 * lane the entry of a table of 16 bytes.
 */
#pragma once

#include "codebook-rest.h"
#include "core/base/divide-up.h"

/* How far ahead blocks are prefetched. */
enum { CODEBOOK_BLOCKS_AHEAD = 4 };

/* One pixel at a time. */

static void
set_bit (uint64_t *row, uint32_t x, bool bit)
{
  row[x / 64] = (row[x / 64] & ~((uint64_t)1 << x % 64)) | (uint64_t)bit << x % 64;
}

static bool
bit_of (const uint64_t *row, uint32_t x)
{
  return row[x / 64] >> x % 64 & 1;
}

/* A pixel has the word of that place. */
static void
note_word (const CodebookRow *row, uint32_t x, uint32_t place)
{
  uint8_t *n_words = &row->n_words[x / CUDACCL_CODEBOOK_LANES];
  *n_words = (uint8_t)(*n_words > place ? *n_words : place + 1);
}

static void
count_pixel (CodebookCounts *counts, const CclCodebookResult *result)
{
  const uint32_t most = CUDACCL_CODEBOOK_DISTANCES - 1;
  counts->chroma += result->chroma;
  counts->model_chroma += result->model_chroma;
  counts->model_dark += result->model_luma < CUDACCL_LIGHT_LEAST_LUMA;
  counts->model_bright += result->model_luma > CUDACCL_LIGHT_MOST_LUMA;
  if (ccl_codebook_counts_as_noise (result))
    counts->noise[(uint32_t)result->level * CUDACCL_CODEBOOK_DISTANCES +
                  (result->distance < most ? result->distance : most)][0]++;
}

static CclCodeword
word_of_pixel (const CodebookRow *row, uint32_t x, uint32_t k)
{
  const CodewordBlock *block = &row->words[k * row->distance + x / CUDACCL_CODEBOOK_LANES];
  const uint32_t i = x % CUDACCL_CODEBOOK_LANES;
  return (CclCodeword){block->luma[i], block->u[i], block->v[i], block->weight[i], block->birth[i],
      block->visits[i]};
}

static void
set_word_of_pixel (const CodebookRow *row, uint32_t x, uint32_t k, CclCodeword word)
{
  CodewordBlock *block = &row->words[k * row->distance + x / CUDACCL_CODEBOOK_LANES];
  const uint32_t i = x % CUDACCL_CODEBOOK_LANES;
  block->luma[i] = word.luma;
  block->u[i] = word.u;
  block->v[i] = word.v;
  block->weight[i] = word.weight;
  block->birth[i] = word.birth;
  block->visits[i] = word.visits;
}

static void
update_codebook (const CodebookRow *row, uint32_t x)
{
  const uint32_t chroma = row->chroma ? row->chroma[x] : CUDACCL_NO_CHROMA;
  const CclCodebookValue value = {
      row->luma[x], (uint8_t)chroma, (uint8_t)(chroma >> 8), row->slack[x]};
  const CclCodebookState state = {row->places[x], !bit_of (row->strong, x),
      bit_of (row->in_object, x), bit_of (row->is_dynamic, x)};
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];

  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k] = word_of_pixel (row, x, k);
  const CclCodebookResult result = ccl_codebook_update (words, value, state, row->frame);
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    set_word_of_pixel (row, x, k, words[k]);
  row->places[x] = result.place;
  row->background[x] = result.background;
  set_bit (row->strong, x, result.is_strong);
  set_bit (row->foreground, x, result.pixel_class == CUDACCL_PIXEL_FOREGROUND);
  set_bit (row->shadow, x, result.pixel_class == CUDACCL_PIXEL_SHADOW);
  set_bit (row->recurrent, x, result.is_recurrent);
  set_bit (row->settled, x, result.is_settled);
  note_word (row, x, result.place);
  count_pixel (row->counts, &result);
}

/* STEP_LANES pixels at a time. */

/* What is known of the words of the pixels of a vector. */
typedef struct CodebookList {
  Steps weights[CUDACCL_CODEBOOK_WORDS]; /* before the update, and after it */
  uint32_t n; /* so many places can be in use after the update; others have weight 0 */
} CodebookList;

static ALWAYS_INLINE CodebookList
list_words (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels)
{
  const uint32_t n_words = row->n_words[x / CUDACCL_CODEBOOK_LANES];
  CodebookList list;
  for (uint32_t k = 0; k < n_words; k++)
    list.weights[k] = *steps_at (words_at (pixels, k)->weight, pixels->first);
  list.n = n_words < CUDACCL_CODEBOOK_WORDS ? n_words + 1 : n_words;
  if (list.n > n_words)
    list.weights[n_words] = steps_of (0);
  return list;
}

/* The first words of greatest weight. */
static ALWAYS_INLINE CodebookWords
find_heaviest (const CodebookPixels *pixels, const CodebookList *list, bool colour)
{
  CodebookWords heaviest = words_of_place (pixels, 0, colour);
  heaviest.weights = list->weights[0];
  for (uint32_t k = 1; k < list->n; k++) {
    const Steps greater = is_greater (list->weights[k], heaviest.weights);
    if (all_zero (greater))
      continue;
    const CodebookWords words = words_of_place (pixels, k, colour);
    heaviest.places = choose (greater, words.places, heaviest.places);
    heaviest.weights = choose (greater, list->weights[k], heaviest.weights);
    heaviest.luma = choose (greater, words.luma, heaviest.luma);
    if (colour) {
      heaviest.u = choose (greater, words.u, heaviest.u);
      heaviest.v = choose (greater, words.v, heaviest.v);
    }
  }
  return heaviest;
}

/* The words that pixels match: their places and weights, and where there is one. */
typedef struct CodebookMatches {
  Steps places, weights, distances, exist;
} CodebookMatches;

static ALWAYS_INLINE CodebookMatches
find_matches (const CodebookPixels *pixels, const CodebookList *list, Steps tolerance, bool colour)
{
  const Steps none = steps_of (0);
  CodebookMatches matches = {none, none, tolerance + 1, none};
  for (uint32_t k = 0; k < list->n; k++) {
    const Steps weights = list->weights[k];
    if (all_zero (weights))
      continue;
    const CodebookWords words = words_of_place (pixels, k, colour);
    const Steps distances = distance_from (pixels, &words, colour);
    const Steps nearer = is_greater (matches.distances, distances) & (Steps)(weights != 0);
    matches.places = choose (nearer, words.places, matches.places);
    matches.weights = choose (nearer, weights, matches.weights);
    matches.distances = choose (nearer, distances, matches.distances);
    matches.exist |= nearer;
  }
  return matches;
}

/* Prefers the heaviest words where noise explains the pixels' distance from them. */
static ALWAYS_INLINE void
prefer_heaviest (
    CodebookMatches *matches, const CodebookWords *heaviest, Steps distance, Steps explained)
{
  const Steps own = ~is_greater (distance, explained) & (Steps)(heaviest->weights != 0);
  matches->places = choose (own, heaviest->places, matches->places);
  matches->weights = choose (own, heaviest->weights, matches->weights);
  matches->distances = choose (own, distance, matches->distances);
  matches->exist |= own;
}

static ALWAYS_INLINE Steps
places_of_lightest (const CodebookList *list)
{
  Steps places = steps_of (0), least = list->weights[0];
  for (uint32_t k = 1; k < list->n; k++) {
    const Steps less = is_greater (least, list->weights[k]);
    places = choose (less, steps_of ((uint16_t)k), places);
    least = choose (less, list->weights[k], least);
  }
  return places;
}

/* Among the lanes of a word, those where it would be recurrent at any age. */
static ALWAYS_INLINE Steps
select_visited (const CodebookPixels *pixels, uint32_t k, Steps lanes, Steps weights, Steps least)
{
  lanes &= ~is_greater (least, weights) & (Steps)(weights != 0);
  if (all_zero (lanes))
    return lanes;
  const Steps visits = load_bytes (words_at (pixels, k)->visits + pixels->first);
  return lanes & (Steps)(visits >= CUDACCL_CODEBOOK_RECURRENT_VISITS);
}

/* The same, and old enough. */
static ALWAYS_INLINE Steps
select_old (const CodebookPixels *pixels, uint32_t k, Steps lanes, uint32_t time)
{
  if (all_zero (lanes))
    return lanes;
  const Steps age =
      steps_of ((uint16_t)time) - *steps_at (words_at (pixels, k)->birth, pixels->first);
  return lanes & (Steps)(age >= CUDACCL_CODEBOOK_RECURRENT_AGE);
}

static ALWAYS_INLINE Steps
recurrent_share (Steps greatest)
{
  return multiply_high (greatest, steps_of (CUDACCL_CODEBOOK_RECURRENT_SHARE));
}

/* The lanes whose matched word is recurrent. */
static ALWAYS_INLINE Steps
select_recurrent_matches (const CodebookPixels *pixels, const CodebookList *list,
    const CodebookMatches *matches, Steps lanes, Steps greatest, uint32_t time)
{
  Steps recurrent = steps_of (0);
  const Steps least = recurrent_share (greatest);
  for (uint32_t k = 0; k < list->n; k++) {
    const Steps of_word = lanes & (Steps)(matches->places == steps_of ((uint16_t)k));
    recurrent |=
        select_old (pixels, k, select_visited (pixels, k, of_word, list->weights[k], least), time);
  }
  return recurrent;
}

/* What the update of STEP_LANES words needs. */
typedef struct CodebookChange {
  Steps places;     /* of the words that change */
  Steps is_new;     /* they are replaced */
  uint32_t visited; /* one bit for each lane: a visit is counted */
  Steps gain;       /* of weight */
  uint32_t move;    /* CclCodebookTime */
} CodebookChange;

/* Counts visits, and sets the births of new words. */
static ALWAYS_INLINE void
mark_words (
    const CodebookRow *row, uint32_t x, const CodebookPixels *pixels, const CodebookChange *change)
{
  const uint32_t is_new = bits_of (change->is_new);
  uint16_t places[STEP_LANES];
  if ((is_new | change->visited) == 0)
    return;
  memcpy (places, &change->places, sizeof places);
  for (uint32_t rest = is_new | change->visited; rest; rest &= rest - 1) {
    const uint32_t i = lowest_bit (rest), lane = (uint32_t)pixels->first + i;
    CodewordBlock *words = words_at (pixels, places[i]);
    uint8_t *visits = &words->visits[lane];
    if (is_new >> i & 1) {
      *visits = 0;
      words->birth[lane] = row->frame->time.now;
      note_word (row, x, places[i]);
    }
    *visits = (uint8_t)(*visits + ((change->visited >> i & 1) && *visits < UINT8_MAX));
  }
}

/* Moves means, or sets them to the value where a word is new. value: in steps of a mean. */
static ALWAYS_INLINE void
move_means (uint16_t *means, int first, Steps lanes, Steps is_new, Steps value, uint32_t move)
{
  Steps *at = steps_at (means, first);
  const Steps mean = *at;
  *at = choose (lanes, choose (is_new, value, moved_mean (mean, value, move)), mean);
}

static ALWAYS_INLINE void
move_words (CodewordBlock *words, const CodebookPixels *pixels, Steps lanes, Steps is_new,
    uint32_t move, bool colour)
{
  const int first = pixels->first;
  move_means (words->luma, first, lanes, is_new, pixels->values.luma, move);
  if (colour) {
    move_means (words->u, first, lanes, is_new, pixels->values.u << 8, move);
    move_means (words->v, first, lanes, is_new, pixels->values.v << 8, move);
  } else if (!all_zero (lanes & is_new)) {
    move_means (words->u, first, lanes, is_new, steps_of (128 << 8), move);
    move_means (words->v, first, lanes, is_new, steps_of (128 << 8), move);
  }
}

/* Writes the values into the words, which gain weight. */
static ALWAYS_INLINE void
change_words (
    const CodebookPixels *pixels, CodebookList *list, const CodebookChange *change, bool colour)
{
  const Steps none = steps_of (0);
  Steps passes = none;
  for (uint32_t k = 0; k < list->n; k++) {
    const Steps lanes = (Steps)(change->places == steps_of ((uint16_t)k));
    if (all_zero (lanes))
      continue;
    CodewordBlock *words = words_at (pixels, k);
    move_words (words, pixels, lanes, change->is_new, change->move, colour);
    const Steps before = choose (change->is_new, none, list->weights[k]);
    const Steps after = before + change->gain;
    passes |= lanes & is_greater (after, steps_of (CUDACCL_CODEBOOK_MOST_WEIGHT));
    list->weights[k] = choose (lanes, after, list->weights[k]);
    *steps_at (words->weight, pixels->first) = list->weights[k];
  }
  if (all_zero (passes))
    return;
  for (uint32_t k = 0; k < list->n; k++) {
    const Steps lanes = (Steps)(change->places == steps_of ((uint16_t)k));
    const Steps gained = lanes & change->gain; /* the loss is of the weight without it */
    const Steps loss = passes & (list->weights[k] - gained) >> 3;
    list->weights[k] -= loss;
    *steps_at (words_at (pixels, k)->weight, pixels->first) = list->weights[k];
  }
}

/* The lanes whose matched word is background. */
static ALWAYS_INLINE Steps
find_background (const CodebookPixels *pixels, const CodebookList *list,
    const CodebookWords *heaviest, const CodebookMatches *matches, uint32_t time)
{
  const Steps share = multiply_high (heaviest->weights, steps_of (CUDACCL_CODEBOOK_SHARE));
  Steps is_background = matches->exist & ~is_greater (share, matches->weights);
  const Steps is_light = matches->exist & ~is_background;
  if (!all_zero (is_light))
    is_background |=
        select_recurrent_matches (pixels, list, matches, is_light, heaviest->weights, time);
  return is_background;
}

/* After an update: writes what follows from the words, and begins a rest if all pixels have matched
 * the words of these places and are background. */
static ALWAYS_INLINE void
summarise (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels,
    const CodebookList *list, Steps matched, bool is_calm, bool colour)
{
  const CodebookWords heaviest = find_heaviest (pixels, list, false);
  const Steps least = recurrent_share (heaviest.weights);
  Steps any_visited = steps_of (0), dynamic = any_visited;

  store_bytes (heaviest.luma >> 8, row->background + x);
  for (uint32_t k = 0; k < list->n; k++) {
    const Steps visited = select_visited (
        pixels, k, (Steps)(heaviest.places != steps_of ((uint16_t)k)), list->weights[k], least);
    any_visited |= visited;
    dynamic |= select_old (pixels, k, visited, row->frame->time.now);
  }
  set_bits_at (row->recurrent, x, bits_of (dynamic));
  const uint32_t place = heaviest.places[0];
  const Steps others = steps_of ((uint16_t)place) ^ heaviest.places;
  if (is_calm && all_zero (others | (heaviest.places ^ matched) | any_visited))
    begin_rest (row, x, pixels, list->weights, list->n, place, colour);
}

/* Changes the matched words, or makes new ones. strong, before: bits of the pixels that are not
 * background, in this frame and in the one before. */
static ALWAYS_INLINE void
learn (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels, CodebookList *list,
    const CodebookMatches *matches, uint32_t strong, uint32_t before, bool colour)
{
  CodebookChange change = {
      .places = matches->places,
      .is_new = ~matches->exist,
      .visited = strong & ~before,
      .gain = steps_of (row->frame->time.gain),
      .move = row->frame->time.move,
  };
  if (!all_zero (change.is_new))
    change.places = choose (change.is_new, places_of_lightest (list), matches->places);
  if (strong)
    change.gain = choose (lanes_of (bits_at (row->in_object, x) & strong),
        greater_of (steps_of (row->frame->time.object_gain), change.is_new & 1), change.gain);
  store_bytes (change.places, row->places + x);
  mark_words (row, x, pixels, &change);
  change_words (pixels, list, &change, colour);
  summarise (row, x, pixels, list, change.places, strong == 0, colour);
}

/* Updates the codebooks of STEP_LANES pixels from column x on. */
static ALWAYS_INLINE void
update_codebooks (const CodebookRow *row, uint32_t x, CodebookSums *sums, bool colour)
{
  const CclCodebookFrame *frame = row->frame;
  end_rest (row, x);
  const CodebookPixels pixels = load_pixels (row, x, colour);
  CodebookList list = list_words (row, x, &pixels);
  const CodebookWords heaviest = find_heaviest (&pixels, &list, colour);
  const Steps distance = distance_from (&pixels, &heaviest, colour);
  CodebookMatches matches = find_matches (
      &pixels, &list, tolerance_of (frame->tolerances, &pixels, heaviest.luma), colour);
  prefer_heaviest (
      &matches, &heaviest, distance, look_up (frame->noise_tolerances, heaviest.luma >> 12));
  const Steps weak_tolerance = tolerance_of (frame->weak_tolerances, &pixels, heaviest.luma);
  const Steps is_weak = matches.exist & is_greater (matches.distances, weak_tolerance);
  const Steps is_first = (Steps)(heaviest.weights == 0);
  const Steps is_background =
      find_background (&pixels, &list, &heaviest, &matches, frame->time.now) | is_first;
  const Steps is_strong = ~is_background;
  const Steps is_settled =
      matches.exist & is_strong & (Steps)(matches.places == load_bytes (row->places + x));
  const uint32_t strong = bits_of (is_strong), before = bits_at (row->strong, x);

  count_lanes (row->counts, sums, &pixels, &heaviest, distance, is_background & ~is_first, colour);
  write_classes (row, x, &pixels, &heaviest, is_strong | is_weak, colour);
  set_bits_at (row->settled, x, bits_of (is_settled));
  set_bits_at (row->strong, x, strong);
  learn (row, x, &pixels, &list, &matches, strong, before, colour);
}

/* Starts to load the words that a vector's pixels need. */
static ALWAYS_INLINE void
prefetch_words (const CodebookRow *row, uint32_t x, bool colour)
{
  const uint32_t block = x / CUDACCL_CODEBOOK_LANES;
  const CodebookRest *rest = rest_at (row, x);
  const bool is_resting = rest->most > 0;
  const uint32_t first = is_resting ? rest->place : 0;
  const uint32_t end = is_resting ? first + 1 : row->n_words[block];
  for (uint32_t k = first; k < end; k++) {
    const CodewordBlock *words = &row->words[k * row->distance + block];
    if (!is_resting)
      __builtin_prefetch (words->weight, 1);
    __builtin_prefetch (words->luma, 1);
    if (colour) {
      __builtin_prefetch (words->u, 1);
      __builtin_prefetch (words->v, 1);
    }
  }
}

static ALWAYS_INLINE void
update_vectors (const CodebookRow *row, bool colour)
{
  const uint32_t ahead = CODEBOOK_BLOCKS_AHEAD * CUDACCL_CODEBOOK_LANES;
  CodebookSums sums = no_sums ();
  uint32_t n_summed = 0;
  for (uint32_t x = 0; x < row->width; x += STEP_LANES) {
    if (x % CUDACCL_CODEBOOK_LANES == 0 && row->width - x > ahead)
      prefetch_words (row, x + ahead, colour);
    if (!update_at_rest (row, x, &sums, colour))
      update_codebooks (row, x, &sums, colour);
    if (++n_summed == CODEBOOK_MOST_SUMMED) {
      add_sums (row->counts, &sums);
      n_summed = 0;
    }
  }
  add_sums (row->counts, &sums);
}

static void
codebook_row (const CodebookRow *row)
{
  const size_t size = divide_up (row->width, 64) * sizeof (uint64_t);
  /* Pixels at rest are background. */
  memset (row->foreground, 0, size);
  memset (row->shadow, 0, size);
  memset (row->recurrent, 0, size);
  memset (row->settled, 0, size);
  if (row->frame->time.rebases || row->frame->scene_changes) {
    for (uint32_t x = 0; x < row->width; x += STEP_LANES)
      end_rest (row, x);
    for (uint32_t x = 0; x < row->width; x++)
      update_codebook (row, x);
  } else if (row->chroma) {
    update_vectors (row, true);
  } else {
    update_vectors (row, false);
  }
}
