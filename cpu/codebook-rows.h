/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codebook model of core/codebook.h for rows of pixels, STEP_LANES pixels at a time, on the
 * vectors of mog2.h. Results and words are those of ccl_codebook_update(); the tests compare them.
 *
 * Most of what a pixel keeps is not touched in most frames: words that no pixel of a vector has,
 * births and visits, and the means of words that are not matched. In most blocks no pixel has a
 * second word, and all of them match their first one; then the words beyond it are neither read nor
 * compared. Frames in which all births or all weights change are rare, and are computed one pixel
 * at a time.
 *
 * The including file also defines lanes_of(), the lanes whose bits are set, and look_up(), for each
 * lane the entry of a table of 16 bytes.
 */
#ifndef CUDACCL_CPU_CODEBOOK_ROWS_H
#define CUDACCL_CPU_CODEBOOK_ROWS_H

#include "mog2.h"

typedef int16_t SignedSteps __attribute__ ((vector_size (sizeof (Steps))));

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
    counts->noise[0][(uint32_t)result->level * CUDACCL_CODEBOOK_DISTANCES +
                     (result->distance < most ? result->distance : most)]++;
}

static void
update_codebook (const CodebookRow *row, uint32_t x)
{
  CclCodebookBlock *block = &row->blocks[x / CUDACCL_CODEBOOK_LANES];
  const uint32_t lane = x % CUDACCL_CODEBOOK_LANES;
  const uint32_t chroma = row->chroma ? row->chroma[x] : CUDACCL_NO_CHROMA;
  const CclCodebookValue value = {
      row->luma[x], (uint8_t)chroma, (uint8_t)(chroma >> 8), row->slack[x]};
  const CclCodebookState state = {row->places[x], !bit_of (row->strong, x),
      bit_of (row->in_object, x), bit_of (row->is_dynamic, x)};
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];

  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    words[k] = ccl_codebook_word (block, k, lane);
  const CclCodebookResult result = ccl_codebook_update (words, value, state, row->frame);
  for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    ccl_codebook_set_word (block, k, lane, words[k]);
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

/* STEP_LANES pixels at a time. Functions with n_words compare and change so many words of each
 * pixel, the others having weight 0; the compiler specialises them for 1 and
 * CUDACCL_CODEBOOK_WORDS.
 */

/* The pixels, and the words that a block has for them. */
typedef struct CodebookPixels {
  CclCodebookBlock *block;
  int first; /* lane of the block */
  Values values;
  Steps luma; /* 8 bits; values.luma is in steps of a mean */
  Steps slack;
  Steps weights[CUDACCL_CODEBOOK_WORDS]; /* before the update, and after it */
} CodebookPixels;

/* A word for each pixel. */
typedef struct CodebookWords {
  Steps places, weights, luma, u, v;
} CodebookWords;

/* Comparisons of numbers below 2^15. */
static ALWAYS_INLINE Steps
is_greater (Steps a, Steps b)
{
  return (Steps)((SignedSteps)a > (SignedSteps)b);
}

static ALWAYS_INLINE Steps
difference_of (Steps a, Steps b)
{
  return saturated_subtract (a, b) | saturated_subtract (b, a);
}

static ALWAYS_INLINE Steps
load_bytes (const uint8_t *from)
{
  return load_luma (from) >> 8;
}

static ALWAYS_INLINE void
store_bytes (Steps steps, uint8_t *to)
{
  typedef uint8_t Bytes __attribute__ ((vector_size (STEP_LANES)));
  const Bytes bytes = __builtin_convertvector(steps, Bytes);
  memcpy (to, &bytes, sizeof bytes);
}

/* The bits of STEP_LANES pixels of a row. */
static ALWAYS_INLINE uint32_t
bits_at (const uint64_t *row, uint32_t x)
{
  return (uint32_t)(row[x / 64] >> x % 64) & ALL_STEP_LANES;
}

static ALWAYS_INLINE void
set_bits_at (uint64_t *row, uint32_t x, uint32_t bits)
{
  row[x / 64] = (row[x / 64] & ~((uint64_t)ALL_STEP_LANES << x % 64)) | (uint64_t)bits << x % 64;
}

static ALWAYS_INLINE Steps
distance_from (const CodebookPixels *pixels, Steps luma, Steps u, Steps v, bool colour)
{
  const Steps of_luma = difference_of (luma >> 8, pixels->luma);
  if (!colour)
    return of_luma;
  const Steps of_u = difference_of (u >> 8, pixels->values.u);
  const Steps of_v = difference_of (v >> 8, pixels->values.v);
  return greater_of (of_luma, CUDACCL_CODEBOOK_CHROMA * greater_of (of_u, of_v));
}

static ALWAYS_INLINE Steps
luma_of_words (const CodebookPixels *pixels, int k)
{
  return *steps_at (pixels->block->luma[k], pixels->first);
}

static ALWAYS_INLINE Steps
u_of_words (const CodebookPixels *pixels, int k)
{
  return *steps_at (pixels->block->u[k], pixels->first);
}

static ALWAYS_INLINE Steps
v_of_words (const CodebookPixels *pixels, int k)
{
  return *steps_at (pixels->block->v[k], pixels->first);
}

/* The first words of greatest weight. */
static ALWAYS_INLINE CodebookWords
find_heaviest (const CodebookPixels *pixels, bool colour, int n_words)
{
  const Steps none = steps_of (0);
  CodebookWords heaviest = {none, pixels->weights[0], luma_of_words (pixels, 0),
      colour ? u_of_words (pixels, 0) : none, colour ? v_of_words (pixels, 0) : none};
  UNROLL for (int k = 1; k < n_words; k++)
  {
    const Steps greater = is_greater (pixels->weights[k], heaviest.weights);
    if (all_zero (greater))
      continue;
    heaviest.places = choose (greater, steps_of ((uint16_t)k), heaviest.places);
    heaviest.weights = choose (greater, pixels->weights[k], heaviest.weights);
    heaviest.luma = choose (greater, luma_of_words (pixels, k), heaviest.luma);
    if (colour) {
      heaviest.u = choose (greater, u_of_words (pixels, k), heaviest.u);
      heaviest.v = choose (greater, v_of_words (pixels, k), heaviest.v);
    }
  }
  return heaviest;
}

/* The nearest words within the tolerance: their places and weights, and where there is one. */
typedef struct CodebookMatches {
  Steps places, weights, distances, exist;
} CodebookMatches;

static ALWAYS_INLINE CodebookMatches
find_matches (const CodebookPixels *pixels, Steps tolerance, bool colour, int n_words)
{
  const Steps none = steps_of (0);
  CodebookMatches matches = {none, none, tolerance + 1, none};
  UNROLL for (int k = 0; k < n_words; k++)
  {
    const Steps weights = pixels->weights[k];
    if (all_zero (weights))
      continue;
    const Steps distances = distance_from (pixels, luma_of_words (pixels, k),
        colour ? u_of_words (pixels, k) : none, colour ? v_of_words (pixels, k) : none, colour);
    const Steps nearer = is_greater (matches.distances, distances) & (Steps)(weights != 0);
    matches.places = choose (nearer, steps_of ((uint16_t)k), matches.places);
    matches.weights = choose (nearer, weights, matches.weights);
    matches.distances = choose (nearer, distances, matches.distances);
    matches.exist |= nearer;
  }
  return matches;
}

static ALWAYS_INLINE Steps
places_of_lightest (const CodebookPixels *pixels)
{
  Steps places = steps_of (0), least = pixels->weights[0];
  UNROLL for (int k = 1; k < CUDACCL_CODEBOOK_WORDS; k++)
  {
    const Steps less = is_greater (least, pixels->weights[k]);
    places = choose (less, steps_of ((uint16_t)k), places);
    least = choose (less, pixels->weights[k], least);
  }
  return places;
}

/* Among the lanes of a word, those where it is recurrent. */
static ALWAYS_INLINE Steps
select_recurrent (
    const CodebookPixels *pixels, int k, Steps lanes, Steps weights, Steps least, uint32_t time)
{
  lanes &= ~is_greater (least, weights) & (Steps)(weights != 0);
  if (all_zero (lanes))
    return lanes;
  const Steps visits = load_bytes (pixels->block->visits[k] + pixels->first);
  const Steps age = steps_of ((uint16_t)time) - *steps_at (pixels->block->birth[k], pixels->first);
  return lanes & (Steps)(visits >= CUDACCL_CODEBOOK_RECURRENT_VISITS) &
         (Steps)(age >= CUDACCL_CODEBOOK_RECURRENT_AGE);
}

static ALWAYS_INLINE Steps
recurrent_share (Steps greatest)
{
  return multiply_high (greatest, steps_of (CUDACCL_CODEBOOK_RECURRENT_SHARE));
}

/* The lanes whose matched word is recurrent. */
static ALWAYS_INLINE Steps
select_recurrent_matches (const CodebookPixels *pixels, const CodebookMatches *matches, Steps lanes,
    Steps greatest, uint32_t time)
{
  Steps recurrent = steps_of (0);
  const Steps least = recurrent_share (greatest);
  for (int k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    recurrent |=
        select_recurrent (pixels, k, lanes & (Steps)(matches->places == steps_of ((uint16_t)k)),
            pixels->weights[k], least, time);
  return recurrent;
}

/* What the update of STEP_LANES words needs. */
typedef struct CodebookChange {
  Steps places;     /* of the words that change */
  Steps is_new;     /* they are replaced */
  uint32_t visited; /* one bit for each lane: a visit is counted */
  Steps gain;       /* of weight */
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
    uint8_t *visits = &pixels->block->visits[places[i]][lane];
    if (is_new >> i & 1) {
      *visits = 0;
      pixels->block->birth[places[i]][lane] = row->frame->time;
      note_word (row, x, places[i]);
    }
    *visits = (uint8_t)(*visits + ((change->visited >> i & 1) && *visits < UINT8_MAX));
  }
}

/* ccl_codebook_moved(), or the value where a word is new. value: in steps of a mean. */
static ALWAYS_INLINE void
move_means (uint16_t *means, int first, Steps lanes, Steps is_new, Steps value)
{
  Steps *at = steps_at (means, first);
  const Steps mean = *at;
  const Steps moved = mean - (mean >> CUDACCL_CODEBOOK_MOVE) + (value >> CUDACCL_CODEBOOK_MOVE);
  *at = choose (lanes, choose (is_new, value, moved), mean);
}

/* Writes the values into the words, which gain weight. */
static ALWAYS_INLINE void
change_words (CodebookPixels *pixels, const CodebookChange *change, bool colour, int n_words)
{
  const Steps none = steps_of (0);
  Steps passes = none;
  UNROLL for (int k = 0; k < n_words; k++)
  {
    const Steps lanes = (Steps)(change->places == steps_of ((uint16_t)k));
    if (all_zero (lanes))
      continue;
    CclCodebookBlock *block = pixels->block;
    move_means (block->luma[k], pixels->first, lanes, change->is_new, pixels->values.luma);
    if (colour) {
      move_means (block->u[k], pixels->first, lanes, change->is_new, pixels->values.u << 8);
      move_means (block->v[k], pixels->first, lanes, change->is_new, pixels->values.v << 8);
    } else if (!all_zero (lanes & change->is_new)) {
      move_means (block->u[k], pixels->first, lanes, change->is_new, steps_of (128 << 8));
      move_means (block->v[k], pixels->first, lanes, change->is_new, steps_of (128 << 8));
    }
    const Steps before = choose (change->is_new, none, pixels->weights[k]);
    const Steps after = before + change->gain;
    passes |= lanes & is_greater (after, steps_of (CUDACCL_CODEBOOK_MOST_WEIGHT));
    pixels->weights[k] = choose (lanes, after, pixels->weights[k]);
    *steps_at (block->weight[k], pixels->first) = pixels->weights[k];
  }
  if (all_zero (passes))
    return;
  for (int k = 0; k < n_words; k++) {
    const Steps lanes = (Steps)(change->places == steps_of ((uint16_t)k));
    const Steps gained = lanes & change->gain; /* the loss is of the weight without it */
    const Steps loss = passes & (pixels->weights[k] - gained) >> 3;
    pixels->weights[k] -= loss;
    *steps_at (pixels->block->weight[k], pixels->first) = pixels->weights[k];
  }
}

/* The sum of numbers whose sum is below 2^16. */
static ALWAYS_INLINE uint32_t
sum_of_lanes (Steps steps)
{
  uint16_t lanes[STEP_LANES];
  uint32_t sum = 0;
  memcpy (lanes, &steps, sizeof lanes);
  for (int i = 0; i < STEP_LANES; i++)
    sum += lanes[i];
  return sum;
}

static ALWAYS_INLINE Steps
chroma_of_lanes (Steps u, Steps v)
{
  return difference_of (u, steps_of (128)) + difference_of (v, steps_of (128));
}

/* Adds pixels to the frame's figures. inside: one bit for each lane inside the frame; counted:
 * those of the noise histogram. */
static ALWAYS_INLINE void
count_lanes (CodebookCounts *counts, const CodebookPixels *pixels, const CodebookWords *heaviest,
    Steps counted, uint32_t inside, bool colour)
{
  const Steps in_frame = lanes_of (inside), none = steps_of (0);
  const Steps distance = distance_from (pixels, heaviest->luma, heaviest->u, heaviest->v, colour);
  const Steps most = steps_of (CUDACCL_CODEBOOK_DISTANCES - 1);
  const Steps place =
      (heaviest->luma >> 12) * CUDACCL_CODEBOOK_DISTANCES + lesser_of (distance, most);
  uint16_t places[STEP_LANES];
  const Steps chosen = choose (counted & in_frame, place, steps_of (CODEBOOK_NOT_COUNTED));
  memcpy (places, &chosen, sizeof places);
  UNROLL for (int i = 0; i < STEP_LANES; i++) counts->noise[i % CODEBOOK_HISTOGRAMS][places[i]]++;
  const Steps dark = is_greater (steps_of (CUDACCL_LIGHT_LEAST_LUMA), heaviest->luma >> 8);
  const Steps bright = is_greater (heaviest->luma >> 8, steps_of (CUDACCL_LIGHT_MOST_LUMA));
  counts->model_dark += count_bits (bits_of (dark) & inside);
  counts->model_bright += count_bits (bits_of (bright) & inside);
  if (!colour)
    return;
  counts->chroma +=
      sum_of_lanes (choose (in_frame, chroma_of_lanes (pixels->values.u, pixels->values.v), none));
  counts->model_chroma +=
      sum_of_lanes (choose (in_frame, chroma_of_lanes (heaviest->u >> 8, heaviest->v >> 8), none));
}

/* The lanes that have a recurrent word beside the heaviest one. */
static ALWAYS_INLINE Steps
select_dynamic (
    const CodebookPixels *pixels, const CodebookWords *heaviest, uint32_t time, int n_words)
{
  const Steps least = recurrent_share (heaviest->weights);
  Steps dynamic = steps_of (0);
  for (int k = 0; k < n_words; k++)
    dynamic |= select_recurrent (pixels, k, (Steps)(heaviest->places != steps_of ((uint16_t)k)),
        pixels->weights[k], least, time);
  return dynamic;
}

/* The lanes whose matched word is background. */
static ALWAYS_INLINE Steps
find_background (const CodebookPixels *pixels, const CodebookWords *heaviest,
    const CodebookMatches *matches, uint32_t time)
{
  const Steps share = multiply_high (heaviest->weights, steps_of (CUDACCL_CODEBOOK_SHARE));
  Steps is_background = matches->exist & ~is_greater (share, matches->weights);
  const Steps is_light = matches->exist & ~is_background;
  if (!all_zero (is_light))
    is_background |= select_recurrent_matches (pixels, matches, is_light, heaviest->weights, time);
  return is_background;
}

/* The tolerance of pixels from the tolerances of levels. */
static ALWAYS_INLINE Steps
tolerance_of (const uint8_t *tolerances, const CodebookPixels *pixels, Steps luma, Steps is_dynamic)
{
  const Steps tolerance = look_up (tolerances, luma >> 12);
  return choose (is_dynamic, tolerance << CUDACCL_CODEBOOK_DYNAMIC_SHIFT, tolerance) +
         pixels->slack;
}

/* Writes the classes of pixels. is_object: not background, or weak. */
static ALWAYS_INLINE void
write_classes (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels,
    const CodebookWords *heaviest, Steps is_object, bool colour)
{
  const uint32_t objects = bits_of (is_object);
  uint32_t shadows = 0;
  if (objects) {
    const Gaussians gaussians = {
        .means = heaviest->luma, .chroma = heaviest->u >> 8 | (heaviest->v & 0xff00)};
    shadows = bits_of (select_shadows (&gaussians, &pixels->values, colour)) & objects;
  }
  set_bits_at (row->foreground, x, objects & ~shadows);
  set_bits_at (row->shadow, x, shadows);
}

/* Starts to load the words that pixels of a block have. */
static ALWAYS_INLINE void
prefetch_words (const CclCodebookBlock *block, uint32_t n_words, bool colour)
{
  for (uint32_t k = 0; k < n_words; k++) {
    __builtin_prefetch (block->weight[k], 1);
    __builtin_prefetch (block->luma[k], 1);
    if (colour) {
      __builtin_prefetch (block->u[k], 1);
      __builtin_prefetch (block->v[k], 1);
    }
  }
}

static ALWAYS_INLINE CodebookPixels
load_pixels (const CodebookRow *row, uint32_t x, bool colour, int n_words)
{
  CodebookPixels pixels = {
      .block = &row->blocks[x / CUDACCL_CODEBOOK_LANES],
      .first = (int)(x % CUDACCL_CODEBOOK_LANES),
      .luma = load_bytes (row->luma + x),
      .slack = load_bytes (row->slack + x),
  };
  pixels.values.luma = pixels.luma << 8;
  if (colour) {
    const Steps chroma = *(const Steps *)(row->chroma + x);
    pixels.values.u = chroma & 0xff;
    pixels.values.v = chroma >> 8;
  }
  UNROLL for (int k = 0; k < n_words; k++) pixels.weights[k] =
      *steps_at (pixels.block->weight[k], pixels.first);
  return pixels;
}

/* Changes the matched words, or makes new ones. strong, before: bits of the pixels that are not
 * background, in this frame and in the one before. */
static ALWAYS_INLINE void
learn (const CodebookRow *row, uint32_t x, CodebookPixels *pixels, const CodebookMatches *matches,
    uint32_t strong, uint32_t before, bool colour, int n_words)
{
  CodebookChange change = {
      .places = matches->places,
      .is_new = ~matches->exist,
      .visited = strong & ~before,
      .gain = steps_of (CUDACCL_CODEBOOK_GAIN),
  };
  if (n_words > 1 && !all_zero (change.is_new))
    change.places = choose (change.is_new, places_of_lightest (pixels), matches->places);
  if (strong)
    change.gain = choose (lanes_of (bits_at (row->in_object, x) & strong),
        steps_of (row->frame->object_gain), change.gain);
  store_bytes (change.places, row->places + x);
  mark_words (row, x, pixels, &change);
  change_words (pixels, &change, colour, n_words);
  const CodebookWords after = find_heaviest (pixels, false, n_words);
  store_bytes (after.luma >> 8, row->background + x);
  set_bits_at (
      row->recurrent, x, bits_of (select_dynamic (pixels, &after, row->frame->time, n_words)));
}

/* Updates the codebooks of STEP_LANES pixels from column x on. With one word, returns false without
 * a change if a pixel does not match it. */
static ALWAYS_INLINE bool
update_codebooks (const CodebookRow *row, uint32_t x, bool colour, int n_words)
{
  const CclCodebookFrame *frame = row->frame;
  CodebookPixels pixels = load_pixels (row, x, colour, n_words);
  const CodebookWords heaviest = find_heaviest (&pixels, colour, n_words);
  const Steps is_dynamic = lanes_of (bits_at (row->is_dynamic, x));
  CodebookMatches matches = find_matches (&pixels,
      tolerance_of (frame->tolerances, &pixels, heaviest.luma, is_dynamic), colour, n_words);
  if (n_words == 1) {
    if (!all_zero (~matches.exist))
      return false;
    matches.exist = steps_of (UINT16_MAX);
    matches.places = steps_of (0);
  }
  const Steps weak_tolerance =
      tolerance_of (frame->weak_tolerances, &pixels, heaviest.luma, is_dynamic);
  const Steps is_weak = matches.exist & is_greater (matches.distances, weak_tolerance);
  Steps is_first = steps_of (0), is_background = matches.exist;
  if (n_words > 1) {
    is_first = (Steps)(heaviest.weights == 0);
    is_background = find_background (&pixels, &heaviest, &matches, frame->time) | is_first;
  }
  const Steps is_strong = ~is_background;
  const Steps is_settled =
      matches.exist & is_strong & (Steps)(matches.places == load_bytes (row->places + x));
  const uint32_t inside = row->width - x >= STEP_LANES
                              ? ALL_STEP_LANES
                              : ALL_STEP_LANES >> (STEP_LANES - (row->width - x));
  const uint32_t strong = bits_of (is_strong), before = bits_at (row->strong, x);

  count_lanes (row->counts, &pixels, &heaviest, is_background & ~is_first, inside, colour);
  write_classes (row, x, &pixels, &heaviest, is_strong | is_weak, colour);
  set_bits_at (row->settled, x, bits_of (is_settled));
  set_bits_at (row->strong, x, strong);
  learn (row, x, &pixels, &matches, strong, before, colour, n_words);
  return true;
}

static ALWAYS_INLINE void
update_blocks (const CodebookRow *row, bool colour)
{
  const uint32_t n_blocks = (row->width + CUDACCL_CODEBOOK_LANES - 1) / CUDACCL_CODEBOOK_LANES;
  for (uint32_t x = 0; x < row->width; x += STEP_LANES) {
    const uint32_t block = x / CUDACCL_CODEBOOK_LANES, later = block + CODEBOOK_BLOCKS_AHEAD;
    if (x % CUDACCL_CODEBOOK_LANES == 0 && later < n_blocks)
      prefetch_words (&row->blocks[later], row->n_words[later], colour);
    if (row->n_words[block] != 1 || !update_codebooks (row, x, colour, 1))
      update_codebooks (row, x, colour, CUDACCL_CODEBOOK_WORDS);
  }
}

static void
codebook_row (const CodebookRow *row)
{
  if (row->frame->rebases || row->frame->scene_changes) {
    for (uint32_t x = 0; x < row->width; x++)
      update_codebook (row, x);
  } else if (row->chroma) {
    update_blocks (row, true);
  } else {
    update_blocks (row, false);
  }
}

#endif /* CUDACCL_CPU_CODEBOOK_ROWS_H */
