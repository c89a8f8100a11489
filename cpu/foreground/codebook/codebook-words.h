/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pixels of the codebook model and their words, on vectors of STEP_LANES pixels; what they add to
 * the figures of their frame, and their classes. codebook-rows.h says what the including file
 * defines.
 */
#pragma once

#include "cpu/foreground/mog2/mog2.h"

typedef int16_t SignedSteps __attribute__ ((vector_size (sizeof (Steps))));

/* The pixels of a vector. */
typedef struct CodebookPixels {
  CodewordBlock *words; /* the first ones of their block; pixels->distance further: the next ones */
  size_t distance;
  int first;     /* lane of the block */
  Values values; /* values.luma is in steps of a mean */
  Steps luma;    /* 8 bits */
  Steps slack, is_dynamic;
  Steps inside; /* the lanes inside the frame */
} CodebookPixels;

/* A word for each pixel. */
typedef struct CodebookWords {
  Steps places, weights, luma, u, v;
} CodebookWords;

/* What the pixels of a row add to CodebookCounts. */
typedef struct CodebookSums {
  Steps dark, bright;
  Ints chroma, model_chroma;
} CodebookSums;

/* Vectors after which sums could pass the range of a lane. */
enum { CODEBOOK_MOST_SUMMED = 1 << 15 };

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

static ALWAYS_INLINE CodewordBlock *
words_at (const CodebookPixels *pixels, uint32_t k)
{
  return &pixels->words[k * pixels->distance];
}

static ALWAYS_INLINE Steps
luma_of_words (const CodebookPixels *pixels, uint32_t k)
{
  return *steps_at (words_at (pixels, k)->luma, pixels->first);
}

static ALWAYS_INLINE Steps
u_of_words (const CodebookPixels *pixels, uint32_t k)
{
  return *steps_at (words_at (pixels, k)->u, pixels->first);
}

static ALWAYS_INLINE Steps
v_of_words (const CodebookPixels *pixels, uint32_t k)
{
  return *steps_at (words_at (pixels, k)->v, pixels->first);
}

/* The words of one place, without their weights. */
static ALWAYS_INLINE CodebookWords
words_of_place (const CodebookPixels *pixels, uint32_t k, bool colour)
{
  const Steps none = steps_of (0);
  return (CodebookWords){
      .places = steps_of ((uint16_t)k),
      .weights = none,
      .luma = luma_of_words (pixels, k),
      .u = colour ? u_of_words (pixels, k) : none,
      .v = colour ? v_of_words (pixels, k) : none,
  };
}

static ALWAYS_INLINE Steps
greatest_difference (Steps luma, Steps u, Steps v, bool colour)
{
  return colour ? greater_of (luma, CUDACCL_CODEBOOK_CHROMA * greater_of (u, v)) : luma;
}

/* ccl_codebook_distance() of the pixels from words. */
static ALWAYS_INLINE Steps
distance_from (const CodebookPixels *pixels, const CodebookWords *words, bool colour)
{
  return greatest_difference (difference_of (words->luma >> 8, pixels->luma),
      difference_of (words->u >> 8, pixels->values.u),
      difference_of (words->v >> 8, pixels->values.v), colour);
}

/* The same of words from each other. */
static ALWAYS_INLINE Steps
distance_between (const CodebookWords *a, const CodebookWords *b, bool colour)
{
  return greatest_difference (difference_of (a->luma >> 8, b->luma >> 8),
      difference_of (a->u >> 8, b->u >> 8), difference_of (a->v >> 8, b->v >> 8), colour);
}

/* The tolerance of pixels from the tolerances of levels. luma: of their heaviest words. */
static ALWAYS_INLINE Steps
tolerance_of (const uint8_t *tolerances, const CodebookPixels *pixels, Steps luma)
{
  const Steps tolerance = look_up (tolerances, luma >> 12);
  return choose (pixels->is_dynamic, tolerance << CUDACCL_CODEBOOK_DYNAMIC_SHIFT, tolerance) +
         pixels->slack;
}

static ALWAYS_INLINE CodebookPixels
load_pixels (const CodebookRow *row, uint32_t x, bool colour)
{
  CodebookPixels pixels = {
      .words = &row->words[x / CUDACCL_CODEBOOK_LANES],
      .distance = row->distance,
      .first = (int)(x % CUDACCL_CODEBOOK_LANES),
      .luma = load_bytes (row->luma + x),
      .slack = load_bytes (row->slack + x),
      .is_dynamic = lanes_of (bits_at (row->is_dynamic, x)),
      .inside = lanes_of (row->width - x >= STEP_LANES
                              ? ALL_STEP_LANES
                              : ALL_STEP_LANES >> (STEP_LANES - (row->width - x))),
  };
  pixels.values.luma = pixels.luma << 8;
  if (colour) {
    const Steps chroma = *(const Steps *)(row->chroma + x);
    pixels.values.u = chroma & 0xff;
    pixels.values.v = chroma >> 8;
  }
  return pixels;
}

/* ccl_codebook_moved(). value: in steps of a mean. */
static ALWAYS_INLINE Steps
moved_mean (Steps mean, Steps value, uint32_t move)
{
  return mean - (mean >> move) + (value >> move);
}

static ALWAYS_INLINE Steps
chroma_of_lanes (Steps u, Steps v)
{
  return difference_of (u, steps_of (128)) + difference_of (v, steps_of (128));
}

static ALWAYS_INLINE CodebookSums
no_sums (void)
{
  return (CodebookSums){steps_of (0), steps_of (0), ints_of (0), ints_of (0)};
}

/* Counts each lane in one of the noise histograms, which take turns. */
static ALWAYS_INLINE void
count_places (CodebookCounts *counts, Steps places)
{
  const Steps entries = places * CODEBOOK_HISTOGRAMS;
  uint32_t *noise = counts->noise[0];
  uint16_t of_lanes[STEP_LANES];
  memcpy (of_lanes, &entries, sizeof of_lanes);
  /* Lanes are read from memory: instructions that extract them take longer. */
  __asm__("" : "+m"(of_lanes));
  for (int i = 0; i < STEP_LANES; i += CODEBOOK_HISTOGRAMS)
    UNROLL for (int k = 0; k < CODEBOOK_HISTOGRAMS; k++) noise[of_lanes[i + k] + k]++;
}

/* Adds pixels to the sums, and to the noise histogram those that are counted. distance: from their
 * heaviest words. */
static ALWAYS_INLINE void
count_lanes (CodebookCounts *counts, CodebookSums *sums, const CodebookPixels *pixels,
    const CodebookWords *heaviest, Steps distance, Steps counted, bool colour)
{
  const Steps inside = pixels->inside, none = steps_of (0);
  const Steps most = steps_of (CUDACCL_CODEBOOK_DISTANCES - 1);
  const Steps place =
      (heaviest->luma >> 12) * CUDACCL_CODEBOOK_DISTANCES + lesser_of (distance, most);
  const Steps chosen = choose (counted & inside, place, steps_of (CODEBOOK_NOT_COUNTED));
  count_places (counts, chosen);
  sums->dark -= inside & is_greater (steps_of (CUDACCL_LIGHT_LEAST_LUMA), heaviest->luma >> 8);
  sums->bright -= inside & is_greater (heaviest->luma >> 8, steps_of (CUDACCL_LIGHT_MOST_LUMA));
  if (!colour)
    return;
  const Steps chroma = choose (inside, chroma_of_lanes (pixels->values.u, pixels->values.v), none);
  const Steps model_chroma =
      choose (inside, chroma_of_lanes (heaviest->u >> 8, heaviest->v >> 8), none);
  sums->chroma += unpack_low (chroma) + unpack_high (chroma);
  sums->model_chroma += unpack_low (model_chroma) + unpack_high (model_chroma);
}

static ALWAYS_INLINE void
add_sums (CodebookCounts *counts, CodebookSums *sums)
{
  for (int i = 0; i < STEP_LANES; i++) {
    counts->model_dark += sums->dark[i];
    counts->model_bright += sums->bright[i];
  }
  for (int i = 0; i < LANES; i++) {
    counts->chroma += (uint32_t)sums->chroma[i];
    counts->model_chroma += (uint32_t)sums->model_chroma[i];
  }
  *sums = no_sums ();
}

/* Writes the classes of pixels. is_object: not background, or weak. */
static ALWAYS_INLINE void
write_classes (const CodebookRow *row, uint32_t x, const CodebookPixels *pixels,
    const CodebookWords *heaviest, Steps is_object, bool colour)
{
  const uint32_t objects = bits_of (is_object);
  uint32_t shadows = 0;
  if (objects && !row->frame->is_dark) {
    const Gaussians gaussians = {
        .means = heaviest->luma, .chroma = heaviest->u >> 8 | (heaviest->v & 0xff00)};
    shadows = bits_of (select_shadows (&gaussians, &pixels->values, colour)) & objects;
  }
  set_bits_at (row->foreground, x, objects & ~shadows);
  set_bits_at (row->shadow, x, shadows);
}
