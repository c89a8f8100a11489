/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second background model (sampled-background.h), bit by bit: codebook.cu includes it after
 * value_at(). The two warps that update 32 pixels of two rows have half of their places each, four
 * lanes for each place.
 */
#pragma once

/* ---- samples ---- */

enum { PLACES_OF_WARP = 8, LANES_OF_PLACE = 32 / PLACES_OF_WARP };

/* What is known of a place before its colour is: each of its lanes has a sample. */
struct Place {
  PackedValue first;
  uint32_t restlessness : 8, was_different : 1;
};

static __device__ __forceinline__ uint32_t
lane_of_place ()
{
  return lane_of_warp () % LANES_OF_PLACE;
}

/* The column of a thread's place, in a column of words of pixels, of which each second warp has the
 * second half. */
static __device__ __forceinline__ uint32_t
column_of_place (uint32_t column)
{
  return PLACES_OF_WARP * (2 * column + threadIdx.x / 32 % 2) + lane_of_warp () / LANES_OF_PLACE;
}

/* A thread's place in the planes. */
static __device__ __forceinline__ size_t
index_of_place (const CclSampledParameters &p, uint32_t column, uint32_t row)
{
  return (size_t)row * 32 * p.places.row_words + column_of_place (column);
}

/* The bits of a warp's places. */
static __device__ __forceinline__ uint8_t *
bits_of_places (const CclSampledParameters &p, uint32_t *words, uint32_t column, uint32_t row)
{
  static_assert (PLACES_OF_WARP == 8, "a byte");
  return (uint8_t *)(words + (size_t)row * p.places.row_words) + 2 * column + threadIdx.x / 32 % 2;
}

/* A sample of a place: its luma, which u and v follow `plane` bytes further each. */
static __device__ __forceinline__ uint8_t *
sample_at (const CclSampledParameters &p, uint32_t k, size_t place)
{
  return p.samples + 3 * k * p.plane + place;
}

static __device__ __forceinline__ CclCodebookValue
load_sample (const CclSampledParameters &p, uint32_t k, size_t place)
{
  const uint8_t *sample = sample_at (p, k, place);
  const CclCodebookValue value = {sample[0], sample[p.plane], sample[2 * p.plane], 0};
  return value;
}

static __device__ __forceinline__ void
store_sample (const CclSampledParameters &p, uint32_t k, size_t place, CclCodebookValue value)
{
  uint8_t *sample = sample_at (p, k, place);
  sample[0] = value.luma;
  sample[p.plane] = value.u;
  sample[2 * p.plane] = value.v;
}

static __device__ __forceinline__ Place
load_place (const CclSampledParameters &p, uint32_t column, uint32_t row)
{
  const size_t i = index_of_place (p, column, row);
  Place place;
  place.first = packed (load_sample (p, lane_of_place (), i));
  place.restlessness = p.restlessness[i];
  place.was_different =
      *bits_of_places (p, p.places.different, column, row) >> lane_of_warp () / LANES_OF_PLACE & 1;
  return place;
}

/* The colour of a place from the values of its word of pixels in two rows. Outside the frame, its
 * last row and column are repeated. */
static __device__ __forceinline__ CclCodebookValue
colour_of_place (
    const CclExtent &extent, const PackedValue (&values)[2][32], uint32_t column, uint32_t row)
{
  const uint32_t x = 2 * column, left = x % 32, right = left + (x + 1 < extent.width);
  const uint32_t below = 2 * row + 1 < extent.height;
  CclCodebookValue colour = unpacked (values[0][left]);
  colour.luma = ccl_sampled_mean (values[0][left].luma + values[0][right].luma +
                                  values[below][left].luma + values[below][right].luma);
  return colour;
}

/* The sum of a value over the lanes of a place. */
static __device__ __forceinline__ uint32_t
sum_of_place (uint32_t value)
{
  static_assert (LANES_OF_PLACE == 4);
  value += __shfl_xor_sync (FULL_WARP, value, 1);
  return value + __shfl_xor_sync (FULL_WARP, value, 2);
}

/* Of a place, a number of its samples: those that are near, and in the upper half those that are
 * alike (faint.h). */
static __device__ __forceinline__ uint32_t
count_sample (CclCodebookValue colour, CclCodebookValue sample, uint32_t tolerance, uint32_t faint)
{
  return ccl_sampled_is_near (colour, sample, tolerance) |
         (uint32_t)(ccl_codebook_difference (colour.luma, sample.luma) <= faint) << 16;
}

/* What a place is, from samples. */
struct PlaceKind {
  bool is_different, is_unlike;
};

static __device__ __forceinline__ PlaceKind
kind_of_place (uint32_t counts)
{
  return {(counts & UINT16_MAX) < CUDACCL_SAMPLED_NEEDED, counts >> 16 < CUDACCL_SAMPLED_NEEDED};
}

/* Compares a place with its samples. Each lane compares every fourth one. */
static __device__ __forceinline__ PlaceKind
compare_place (const CclSampledParameters &p, size_t place, CclCodebookValue first,
    CclCodebookValue colour, uint32_t tolerance, uint32_t faint_tolerance)
{
  static_assert (
      (CUDACCL_SAMPLED_VALUES / LANES_OF_PLACE) % 2 == 1, "the first, then two at a time");
  uint32_t counts = sum_of_place (count_sample (colour, first, tolerance, faint_tolerance));
#pragma unroll 1
  for (uint32_t k = LANES_OF_PLACE; k < CUDACCL_SAMPLED_VALUES; k += 2 * LANES_OF_PLACE) {
    const PlaceKind kind = kind_of_place (counts);
    if (__all_sync (FULL_WARP, !kind.is_different && !kind.is_unlike))
      break;
    const CclCodebookValue sample = load_sample (p, k + lane_of_place (), place);
    const CclCodebookValue other = load_sample (p, k + LANES_OF_PLACE + lane_of_place (), place);
    counts += sum_of_place (count_sample (colour, sample, tolerance, faint_tolerance) +
                            count_sample (colour, other, tolerance, faint_tolerance));
  }
  return kind_of_place (counts);
}

/* Takes the sample of a place that is due. */
static __device__ __forceinline__ void
take_sample (
    const Parameters &p, uint32_t column, uint32_t row, CclCodebookValue colour, bool is_unfound)
{
  const CclSampledParameters &s = p.sampled;
  const uint32_t place = column_of_place (column);
  const uint32_t found = s.found[(size_t)2 * row * p.pixels.extent.row_words + column];
  const uint32_t turn = ccl_sampled_turn (s.time, ccl_sampled_phase (place, row));
  if (ccl_sampled_learns (turn, found >> 2 * place % 32 & 1, is_unfound, s.period))
    store_sample (s, turn % CUDACCL_SAMPLED_VALUES, index_of_place (s, column, row), colour);
}

/* Of 8 groups of 4 equal bits, one of each. */
static __device__ __forceinline__ uint8_t
bits_of_groups (uint32_t bits)
{
  bits &= 0x11111111u;
  bits = (bits | bits >> 3) & 0x03030303u;
  bits = (bits | bits >> 6) & 0x000f000fu;
  return (uint8_t)(bits | bits >> 12);
}

/* Updates the places of a warp from the values of their pixels. */
static __device__ __forceinline__ void
update_place (const Parameters &p, const Shared &shared, const Place &place,
    const PackedValue (&values)[2][32], uint32_t column, uint32_t row)
{
  const CclSampledParameters &s = p.sampled;
  const size_t i = index_of_place (s, column, row);
  const uint8_t phase = ccl_sampled_phase (column_of_place (column), row);
  const bool inside = column_of_place (column) < s.places.grid.columns;
  const bool renews = s.renews || shared.frame.scene_changes; /* for all threads or for none */
  const CclCodebookValue colour =
      colour_of_place (p.pixels.extent, values, column_of_place (column), row);
  if (renews) {
    for (uint32_t k = lane_of_place (); k < CUDACCL_SAMPLED_VALUES; k += LANES_OF_PLACE)
      store_sample (s, k, i, colour);
    __syncwarp ();
  }
  const uint32_t tolerance = ccl_sampled_restless_tolerance (
      shared.place_tolerances[colour.luma >> 4], place.restlessness);
  const PlaceKind kind = compare_place (
      s, i, renews ? colour : unpacked (place.first), colour, tolerance, shared.faint_tolerance);
  bool different = kind.is_different;
  if (p.sway.distance > 0 && inside && different)
    different = !is_sway_of_place (p, column_of_place (column), row, colour.luma);
  const bool is_onset = different && !place.was_different;
  const bool is_due = ccl_sampled_is_due (s.time, phase);
  const uint8_t restlessness = ccl_sampled_restlessness (place.restlessness, is_onset, is_due);
  const uint32_t all_different = __ballot_sync (FULL_WARP, inside && different);
  const uint32_t all_unlike = __ballot_sync (
      FULL_WARP, inside && kind.is_unlike && restlessness < CUDACCL_SAMPLED_RESTLESS);
  const uint32_t all_restless =
      __ballot_sync (FULL_WARP, inside && restlessness >= CUDACCL_SAMPLED_RESTLESS);
  if (lane_of_place () == 0 && (is_onset || is_due))
    s.restlessness[i] = restlessness;
  if (lane_of_place () == 0 && inside && is_due)
    take_sample (p, column, row, colour, ccl_sampled_is_unfound (s.time, is_onset, restlessness));
  if (lane_of_warp () == 0) {
    *bits_of_places (s, s.places.different, column, row) = bits_of_groups (all_different);
    *bits_of_places (s, s.places.restless, column, row) = bits_of_groups (all_restless);
    *bits_of_places (s, s.places.unlike, column, row) = bits_of_groups (all_unlike);
  }
}

/* Clears the counts of all cells, and ages them. All threads of the grid, whose warps have 32. */
static __device__ __forceinline__ void
begin_cells (const CclSampledParameters &p)
{
  for (uint32_t i = blockIdx.x * CUDACCL_CODEBOOK_THREADS + threadIdx.x;
       i < CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS;
       i += gridDim.x * CUDACCL_CODEBOOK_THREADS) {
    const bool was_uncovered = p.uncovered.bits[i / 32] >> i % 32 & 1;
    p.places.cells[i] = {};
    p.places.outlines[i] = {};
    p.places.faint_cells[i] = 0;
    const uint16_t age = ccl_uncovered_age (p.uncovered.ages[i], was_uncovered, p.time.unhurried);
    p.uncovered.ages[i] = age;
    const uint32_t old = __ballot_sync (FULL_WARP, age >= CUDACCL_UNCOVERED_AGE);
    if (lane_of_warp () == 0)
      p.uncovered.old[i / 32] = old;
  }
}

/* ---- candidates ---- */

/* Each of the lower 16 bits twice. */
static __device__ __forceinline__ uint32_t
doubled_bits (uint32_t bits)
{
  bits = (bits | bits << 8) & 0x00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0fu;
  bits = (bits | bits << 2) & 0x33333333u;
  bits = (bits | bits << 1) & 0x55555555u;
  return bits | bits << 1;
}

/* The 32 pixels of a column of words, of the 32 places of the word that they are in. */
static __device__ __forceinline__ uint32_t
pixels_of_places (uint32_t places, uint32_t column)
{
  return doubled_bits (places >> 16 * (column % 2) & 0xffff);
}

/* Adds the numbers of bits of two words to two counts that are one behind the other. */
static __device__ __forceinline__ void
count_both (uint32_t first, uint32_t second, void *counts)
{
  const unsigned long long both = (uint32_t)__popc (first) | (unsigned long long)__popc (second)
                                                                 << 32;
  if (both)
    atomicAdd ((unsigned long long *)counts, both);
}

/* What the update has found of the 32 pixels of a word. */
struct Found {
  uint32_t agrees, differs, ended, begun;
  uint32_t recurrent, unsettled;
  uint32_t restless; /* in such places */
};

static __device__ __forceinline__ Found
load_found (const CclCandidateParameters &p, uint32_t column, uint32_t y)
{
  const CclSampledPlaces &s = p.places;
  const size_t word = (size_t)y * p.extent.row_words + column;
  const uint32_t restless = s.restless[(size_t)(y / 2) * s.row_words + column / 2];
  return {p.bits.agrees[word], p.bits.differs[word], p.bits.ended[word], p.bits.begun[word],
      p.bits.recurrent[word], p.bits.strong[word] & ~p.bits.settled[word],
      pixels_of_places (restless, column)};
}

/* Adds the candidates and the faint pixels of a word to their cells, of which a warp has every
 * n_warps-th one. around: pixels around which most places are different. */
static __device__ __forceinline__ void
count_candidates (const CclCandidateParameters &p, uint32_t column, uint32_t y, const Found &found,
    uint32_t around, uint32_t candidates, uint32_t faint, uint32_t warp, uint32_t n_warps)
{
  const CclSampledPlaces &s = p.places;
  const uint32_t pairs =
      p.candidates.finds_light ? candidates & candidates >> CUDACCL_TEXTURE_DISTANCE : 0;
  const uint32_t agrees = pairs & found.agrees, differs = pairs & found.differs;
  const uint32_t outline = (uint32_t)ccl_outline_pairs (candidates, ~UINT64_C (0));
  const uint32_t ended = outline & found.ended, begun = outline & found.begun;
  const uint32_t n = min (1u << s.grid.shift, 32u), mask = ~0u >> (32 - n);
  for (uint32_t x = warp * n; x < 32; x += n_warps * n) {
    const uint32_t i =
        (y >> s.grid.shift) * CUDACCL_SAMPLED_CELLS + ((32 * column + x) >> s.grid.shift);
    const uint32_t some = candidates >> x & mask, some_faint = faint >> x & mask;
    count_both (some, some & around >> x, &s.cells[i].candidates);
    count_both (agrees >> x & mask, differs >> x & mask, &s.cells[i].pairs);
    count_both (ended >> x & mask, begun >> x & mask, &s.outlines[i]);
    if (some_faint)
      atomicAdd (&s.faint_cells[i], (uint32_t)__popc (some_faint));
  }
}
