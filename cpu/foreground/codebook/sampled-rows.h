/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second background model of core/foreground/sampled-background.h for rows of places, a vector
 * of bytes at a time. Compiled once for each instruction set.
 *
 * The including file also defines what codebook-rows.h needs.
 */
#pragma once

#include "core/foreground/faint.h"
#include "core/foreground/sway.h"
#include "cpu/pixels/pixels.h"

#include <string.h>

enum {
  PLACE_LANES = 2 * STEP_LANES,
  /* How many blocks ahead samples are prefetched; beyond the end of a row, those of the next one.
   */
  SAMPLES_AHEAD = 8,
};

typedef StepBytes PlaceBytes;

/* The colours of the places of a vector. */
typedef struct PlaceColours {
  Steps means[2]; /* of luma */
  PlaceBytes luma, u, v;
} PlaceColours;

static ALWAYS_INLINE PlaceBytes
load_place_bytes (const uint8_t *from)
{
  PlaceBytes bytes;
  memcpy (&bytes, from, sizeof bytes);
  return bytes;
}

/* The sums of the two pixels of each place in a row. */
static ALWAYS_INLINE Steps
place_sums (const uint8_t *luma)
{
  Steps pairs;
  memcpy (&pairs, luma, sizeof pairs);
  return (pairs & 0xff) + (pairs >> 8);
}

/* The means of STEP_LANES places. */
static ALWAYS_INLINE Steps
place_means (const SampledRow *row, uint32_t x)
{
  return (place_sums (row->luma[0] + 2 * x) + place_sums (row->luma[1] + 2 * x) + 2) >> 2;
}

/* A byte of the chroma of each second pixel, of the lower or of the upper ones, as 16 bits. */
static ALWAYS_INLINE Steps
chroma_of_steps (const uint16_t *chroma, int shift)
{
  typedef uint32_t Pairs __attribute__ ((vector_size (sizeof (Steps)), may_alias));
  Pairs low, high;
  memcpy (&low, chroma, sizeof low);
  memcpy (&high, chroma + STEP_LANES, sizeof high);
  return (Steps)pack_bytes ((Steps)(low >> shift & 0xff), (Steps)(high >> shift & 0xff));
}

static ALWAYS_INLINE PlaceBytes
chroma_of_places (const uint16_t *chroma, int shift)
{
  return pack_bytes (
      chroma_of_steps (chroma, shift), chroma_of_steps (chroma + 2 * STEP_LANES, shift));
}

static ALWAYS_INLINE PlaceColours
colours_of_places (const SampledRow *row, uint32_t x)
{
  const PlaceBytes grey = (PlaceBytes){0} + 128;
  const Steps low = place_means (row, x), high = place_means (row, x + STEP_LANES);
  return (PlaceColours){
      .means = {low, high},
      .luma = pack_bytes (low, high),
      .u = row->chroma ? chroma_of_places (row->chroma + 2 * x, 0) : grey,
      .v = row->chroma ? chroma_of_places (row->chroma + 2 * x, 8) : grey,
  };
}

/* Whether bytes differ by at most those of another vector. */
static ALWAYS_INLINE PlaceBytes
are_near (PlaceBytes a, PlaceBytes b, PlaceBytes most)
{
  const PlaceBytes greater = (PlaceBytes)(a > b), difference = a - b;
  return (PlaceBytes)(((difference & greater) | (-difference & ~greater)) <= most);
}

/* ccl_sampled_restless_tolerance(). */
static ALWAYS_INLINE PlaceBytes
restless_tolerances (PlaceBytes tolerances, PlaceBytes restlessness)
{
  const PlaceBytes quarters = restlessness >> CUDACCL_SAMPLED_RESTLESS_SHIFT;
  const PlaceBytes many = (PlaceBytes)(quarters > CUDACCL_SAMPLED_MOST_QUARTERS);
  const PlaceBytes limited = (quarters & ~many) | (CUDACCL_SAMPLED_MOST_QUARTERS & many);
  return tolerances + (tolerances * limited >> 2);
}

static ALWAYS_INLINE PlaceBytes
tolerances_of_places (const SampledRow *row, uint32_t x, const PlaceColours *colours)
{
  const PlaceBytes tolerances = pack_bytes (look_up (row->tolerances, colours->means[0] >> 4),
      look_up (row->tolerances, colours->means[1] >> 4));
  return restless_tolerances (tolerances, load_place_bytes (row->restlessness + x));
}

static ALWAYS_INLINE uint8_t *
samples_at (const SampledRow *row, uint32_t k, uint32_t x)
{
  SampleBlock *block = &row->samples[x / SAMPLED_LANES];
  return &block->values[k][0][x % SAMPLED_LANES];
}

static ALWAYS_INLINE void
prefetch_samples (const SampledRow *row, uint32_t x)
{
  const SampleBlock *block = &row->samples[x / SAMPLED_LANES + SAMPLES_AHEAD];
  for (uint32_t k = 0; k < CUDACCL_SAMPLED_NEEDED; k++)
    for (uint32_t i = 0; i < (row->chroma ? 3 : 1); i++)
      __builtin_prefetch (block->values[k][i]);
}

/* Bytes of the places of a vector, 0 or 0xff. */
typedef struct PlaceKinds {
  PlaceBytes different, unlike;
} PlaceKinds;

/* Compares the places of a vector. Most have enough samples that are near among the first ones. */
static ALWAYS_INLINE PlaceKinds
compare_places (const SampledRow *row, uint32_t x, const PlaceColours *colours)
{
  const PlaceBytes tolerances = tolerances_of_places (row, x, colours);
  const PlaceBytes faint = (PlaceBytes){0} + row->faint;
  PlaceBytes n_near = {0}, n_alike = n_near;
  PlaceKinds kinds = {n_near, n_near};
  for (uint32_t k = 0; k < CUDACCL_SAMPLED_VALUES; k++) {
    const uint8_t *samples = samples_at (row, k, x);
    PlaceBytes near = are_near (load_place_bytes (samples), colours->luma, tolerances);
    if (row->chroma)
      near &=
          are_near (load_place_bytes (samples + SAMPLED_LANES), colours->u, tolerances >> 1) &
          are_near (load_place_bytes (samples + 2 * SAMPLED_LANES), colours->v, tolerances >> 1);
    n_near -= near;
    n_alike -= are_near (load_place_bytes (samples), colours->luma, faint);
    kinds.different = (PlaceBytes)(n_near < CUDACCL_SAMPLED_NEEDED);
    kinds.unlike = (PlaceBytes)(n_alike < CUDACCL_SAMPLED_NEEDED);
    if (k % 2 == 1 && all_zero ((Steps)(kinds.different | kinds.unlike)))
      break;
  }
  return kinds;
}

/* The places of a vector that take a sample. */
static ALWAYS_INLINE uint64_t
find_due (const SampledRow *row, uint32_t x)
{
  uint8_t lanes[PLACE_LANES];
  if (row->time.elapsed > UINT8_MAX)
    return UINT64_MAX >> (64 - PLACE_LANES);
  for (uint32_t i = 0; i < PLACE_LANES; i++)
    lanes[i] = (uint8_t)(i * 97);
  const uint8_t first = (uint8_t)(row->time.now + ccl_sampled_phase (x, row->y));
  return bits_of_bytes (
      (PlaceBytes)(load_place_bytes (lanes) + first < (uint8_t)row->time.elapsed));
}

static ALWAYS_INLINE void
take_sample (
    const SampledRow *row, uint32_t x, const PlaceColours *colours, uint32_t i, bool is_unfound)
{
  const uint32_t turn = ccl_sampled_turn (row->time, ccl_sampled_phase (x + i, row->y));
  const bool in_object = row->found[2 * (x + i) / 64] >> 2 * (x + i) % 64 & 1;
  uint8_t *sample = samples_at (row, turn % CUDACCL_SAMPLED_VALUES, x + i);
  if (!ccl_sampled_learns (turn, in_object, is_unfound, row->period))
    return;
  sample[0] = colours->luma[i];
  sample[SAMPLED_LANES] = colours->u[i];
  sample[2 * SAMPLED_LANES] = colours->v[i];
}

/* Makes all samples those of the frame. */
static ALWAYS_INLINE void
begin_samples (const SampledRow *row, uint32_t x, const PlaceColours *colours)
{
  for (uint32_t k = 0; k < CUDACCL_SAMPLED_VALUES; k++) {
    uint8_t *samples = samples_at (row, k, x);
    memcpy (samples, &colours->luma, PLACE_LANES);
    memcpy (samples + SAMPLED_LANES, &colours->u, PLACE_LANES);
    memcpy (samples + 2 * SAMPLED_LANES, &colours->v, PLACE_LANES);
  }
}

/* The bits of the places of a vector in a row. */
static ALWAYS_INLINE uint64_t
place_bits_at (const uint64_t *row, uint32_t x)
{
  return row[x / 64] >> x % 64 & UINT64_MAX >> (64 - PLACE_LANES);
}

static ALWAYS_INLINE void
set_place_bits_at (uint64_t *row, uint32_t x, uint64_t bits)
{
  row[x / 64] = (row[x / 64] & ~(UINT64_MAX >> (64 - PLACE_LANES) << x % 64)) | bits << x % 64;
}

/* The places of a vector that are different although a shaking camera does not explain them. */
static ALWAYS_INLINE uint64_t
without_sway (const SampledRow *row, uint32_t x, const PlaceColours *colours, uint64_t different)
{
  uint8_t lumas[PLACE_LANES];
  memcpy (lumas, &colours->luma, sizeof lumas);
  for (uint64_t rest = different; rest; rest &= rest - 1) {
    const uint32_t i = (uint32_t)__builtin_ctzll (rest), at = 2 * (x + i);
    if (x + i >= row->columns)
      break;
    uint32_t low = UINT8_MAX, high = 0;
    for (uint32_t k = 0; k < 4; k++) {
      const uint32_t least = row->ranges[k / 2][at + k % 2];
      const uint32_t greatest = row->ranges[2 + k / 2][at + k % 2];
      low = least < low ? least : low;
      high = greatest > high ? greatest : high;
    }
    if (ccl_sway_explains (lumas[i], low, high))
      different &= ~(rest & -rest);
  }
  return different;
}

/* Updates the places of a vector. */
static ALWAYS_INLINE void
update_places (const SampledRow *row, uint32_t x)
{
  const PlaceColours colours = colours_of_places (row, x);
  prefetch_samples (row, x);
  if (row->begins)
    begin_samples (row, x, &colours);
  const PlaceKinds kinds = compare_places (row, x, &colours);
  const uint64_t found = bits_of_bytes (kinds.different);
  const uint64_t different = row->ranges ? without_sway (row, x, &colours, found) : found;
  const uint64_t onsets = different & ~place_bits_at (row->different, x);
  const uint64_t due = find_due (row, x);
  uint64_t restless = place_bits_at (row->restless, x);
  for (uint64_t rest = onsets | due; rest; rest &= rest - 1) {
    const uint32_t i = (uint32_t)__builtin_ctzll (rest);
    const uint64_t bit = UINT64_C (1) << i;
    uint8_t *value = &row->restlessness[x + i];
    *value = ccl_sampled_restlessness (*value, (onsets & bit) != 0, (due & bit) != 0);
    restless = *value >= CUDACCL_SAMPLED_RESTLESS ? restless | bit : restless & ~bit;
    if (due & bit)
      take_sample (
          row, x, &colours, i, ccl_sampled_is_unfound (row->time, (onsets & bit) != 0, *value));
  }
  set_place_bits_at (row->different, x, different);
  set_place_bits_at (row->restless, x, restless);
  set_place_bits_at (row->unlike, x, bits_of_bytes (kinds.unlike) & ~restless);
}

static void
sampled_row (const SampledRow *row)
{
  for (uint32_t x = 0; x < row->columns; x += PLACE_LANES)
    update_places (row, x);
}
