/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures components from the bits and runs of 8-connected strips, without a label map. Part of
 * the run labeller (runs.h), compiled once for each instruction set.
 *
 * Consecutive runs of a component in a strip are a span; the background between them adds nothing.
 * Each word of a span is measured at once: its bits select the component's pixels in the rows and
 * in the planes of measure-planes.h.
 */
#include "measure-planes.h"
#include "measure-sums.h"

/* A strip at work. */
typedef struct MeasuredStrip {
  uint32_t y;
  const uint64_t *top, *bottom;
  const uint8_t *values[2]; /* rows of the second plane; the last one twice below the frame */
} MeasuredStrip;

/* Adds the sums of a word's places to those of a component. */
static ALWAYS_INLINE void
add_places (CclFeatures *features, const PlaceSums *sums, uint64_t x, uint64_t y)
{
  const uint64_t n = sums->n[0] + sums->n[1], places = sums->places[0] + sums->places[1];
  const uint64_t sum_x = n * x + places;

  features->sum_xx += n * x * x + 2 * x * places + sums->squares;
  features->sum_yy += n * y * y + sums->n[1] * (2 * y + 1);
  features->sum_xy += sum_x * y + sums->n[1] * x + sums->places[1];
}

static ALWAYS_INLINE void
measure_values (const RunMeasurer *self, const MeasuredStrip *strip, CclFeatures *features,
    uint32_t w, uint64_t top, uint64_t bottom)
{
  const bool has_bytes = self->intensity->format == CUDACCL_PIXEL_FORMAT_8;
  const size_t offset = (size_t)w * (has_bytes ? 64 : 128);
  const ValueWordOfStrip word = {
      .values = {strip->values[0] + offset, strip->values[1] + offset},
      .rows = {top, bottom},
      .format = self->intensity->format,
      .x = 64 * w,
      .y = strip->y,
  };
  ValueSums sums;

  if (has_bytes)
    sum_bytes (word.values, self->width - 64 * w, top, bottom, &sums);
  else
    sum_words_one_by_one (word.values, word.rows, &sums);
  add_values_of_word (features, &word, &sums);
}

/* Measures the columns first…last of a strip, which belong to the label of that index. */
static ALWAYS_INLINE void
measure_span (const RunMeasurer *self, const MeasuredStrip *strip, uint32_t index, uint32_t first,
    uint32_t last)
{
  CclFeatures *features = &self->features[index];
  const uint32_t columns = self->columns;
  const bool has_planes = columns & (CUDACCL_COLUMN_TOPOLOGY | CUDACCL_COLUMN_PERIMETER);
  PlaneCounts counts = {0};

  for (uint32_t w = first / 64; w <= last / 64; w++) {
    const uint64_t from_first = w == first / 64 ? UINT64_MAX << first % 64 : UINT64_MAX;
    const uint64_t up_to_last = w == last / 64 ? UINT64_MAX >> (63 - last % 64) : UINT64_MAX;
    const uint64_t here = from_first & up_to_last;
    const uint64_t top = strip->top[w] & here, bottom = strip->bottom[w] & here;

    if (has_planes)
      count_planes (self->planes, w, here, &counts);
    if (columns & CUDACCL_COLUMN_MOMENTS) {
      PlaceSums sums;
      sum_places (top, bottom, &sums);
      add_places (features, &sums, 64 * (uint64_t)w, strip->y);
    }
    if (columns & CUDACCL_COLUMN_INTENSITY)
      measure_values (self, strip, features, w, top, bottom);
  }
  if (has_planes)
    add_counts (self->counts[index], &counts);
}

/* Prefetches the values of the pixels that a word has in the strip two rows further down, where
 * pixels are probable. */
static ALWAYS_INLINE void
prefetch_values (const RunMeasurer *self, const MeasuredStrip *strip, uint32_t w)
{
  const size_t bytes = self->intensity->format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  const uint8_t *values = strip->values[0] + 2 * self->intensity->stride;

  for (uint32_t row = 0; row < 2; row++, values += self->intensity->stride) {
    const uint64_t word = measured_row (self, (int64_t)strip->y + 2 + row)[w];
    if (word)
      __builtin_prefetch (values + (64 * (size_t)w + lowest_bit (word)) * bytes);
  }
}

/* Lists the first and last columns of the runs in a group of words from w on. */
static ALWAYS_INLINE void
list_runs_of_group (const RunMeasurer *self, const MeasuredStrip *strip, uint32_t group,
    uint32_t end, uint32_t **firsts, uint32_t **lasts)
{
  const uint64_t *top = strip->top, *bottom = strip->bottom;

  for (uint32_t w = group; w < end; w++) {
    const uint64_t here = top[w] | bottom[w];
    if (!here)
      continue;
    const uint64_t before = (top + w)[-1] | (bottom + w)[-1], next = top[w + 1] | bottom[w + 1];
    const uint64_t starts = here & ~(here << 1 | before >> 63);
    const uint64_t ends = here & ~(here >> 1 | next << 63);
    list_columns (*firsts, starts, 64 * w);
    *firsts += count_bits (starts);
    list_columns (*lasts, ends, 64 * w);
    *lasts += count_bits (ends);
    if (self->columns & CUDACCL_COLUMN_INTENSITY)
      prefetch_values (self, strip, w);
  }
}

/* Whether words of a group may have pixels: pixels behind the end of a row count, too. */
static ALWAYS_INLINE bool
has_pixels (const MeasuredStrip *strip, uint32_t group)
{
  uint64_t any = 0;
  for (uint32_t w = group; w < group + GROUP; w++)
    any |= strip->top[w] | strip->bottom[w];
  return any;
}

/* Lists the first and last columns of a strip's runs, and finds the planes where it has any. */
static inline void
list_runs (
    const Job *job, const Scratch *scratch, const RunMeasurer *self, const MeasuredStrip *strip)
{
  uint32_t *firsts = scratch->firsts, *lasts = scratch->lasts;

  for (uint32_t group = 0; group < job->n_words; group += GROUP) {
    const uint32_t end = group + GROUP < job->n_words ? group + GROUP : job->n_words;
    if (!has_pixels (strip, group))
      continue;
    list_runs_of_group (self, strip, group, end, &firsts, &lasts);
    if (self->columns & (CUDACCL_COLUMN_TOPOLOGY | CUDACCL_COLUMN_PERIMETER))
      find_planes (self, strip->y, group);
  }
}

static ALWAYS_INLINE void
measure_strip (const Job *job, const Scratch *scratch, const RunMeasurer *self,
    const MeasuredStrip *strip, const uint32_t *run_labels, uint32_t n_runs)
{
  const uint32_t *const final_labels = job->forest.parents;

  list_runs (job, scratch, self, strip);
  for (uint32_t i = 0; i < n_runs;) {
    const uint32_t label = final_labels[run_labels[i]], first = scratch->firsts[i];
    for (i++; i < n_runs && final_labels[run_labels[i]] == label;)
      i++;
    if (label - 1 < self->n)
      measure_span (self, strip, label - 1, first, scratch->lasts[i - 1]);
  }
}

/* Finds the border pixels of the rows up to the one below a strip. */
static inline void
find_borders (const Job *job, const RunMeasurer *self, int64_t y)
{
  if (!(self->columns & CUDACCL_COLUMN_PERIMETER))
    return;
  for (int64_t row = y > 0 ? y + 1 : y - 1; row <= y + 2; row++)
    find_border (self, job->n_words, row);
}

static void
measure_band (const Job *job, const Band *band, const Scratch *scratch, RunMeasurer *self)
{
  const uint32_t *run_labels = band->run_labels;
  const CclIntensity *plane = self->intensity;
  const bool has_values = self->columns & CUDACCL_COLUMN_INTENSITY;

  for (uint32_t y = band->first_row, i = 0; y < band->end_row; y += 2, i++) {
    MeasuredStrip strip = {y, measured_row (self, y), measured_row (self, (int64_t)y + 1), {0}};
    for (uint32_t row = 0; row < 2 && has_values; row++)
      strip.values[row] =
          (const uint8_t *)plane->data + (y + row < band->end_row ? y + row : y) * plane->stride;
    find_borders (job, self, y);
    if (band->run_counts[i])
      measure_strip (job, scratch, self, &strip, run_labels, band->run_counts[i]);
    run_labels += band->run_counts[i];
  }
}
