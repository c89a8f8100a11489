/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run labeller, compiled once for each instruction set. The including file defines:
 *
 *   RUN_LABELLER, RUN_LABELLER_NAME
 *       the RunLabeller to define, and its name as a string
 *   Threshold, threshold_prepare (), pack_pixels (), pack_words ()
 *       what a cpu/pixels/pack-*.h defines
 *
 * and these steps, which runs-scalar.h describes and defines without vectors:
 *
 *   find_runs, find_touching_columns, list_links, take_labels, extract_bits, number_runs,
 *   list_columns, count_before_words, list_spans, count_before_spans,
 *   add_sums, add_spans, expand
 *
 * and those of measure-scalar.h:
 *
 *   arrange_planes, count_planes, add_counts, sum_places, sum_bytes
 *
 * and, for processors with such stores:
 *
 *   HAS_STREAMING_STORES
 *       true
 *   stream_row (out, labels, n)
 *       copies n labels past the caches
 *   end_streaming ()
 *       orders these stores before all later ones
 *
 * Two ideas make it fast. First, pixels are converted to bits, and all later steps work on words of
 * 64 columns or on runs, so that background costs nothing and long runs cost little. Second, the
 * run at a column is found by counting the bits of Strip.starts up to it, without a search, so that
 * the columns at which two strips touch are found for 64 columns at once.
 *
 * Runs as the unit of a union-find forest whose roots are the least labels: He, Chao, Suzuki: A
 * Run-Based Two-Scan Labeling Algorithm, IEEE Transactions on Image Processing 17(5), 2008. Two
 * rows at a time for 8-connectivity: Grana, Borghesani, Cucchiara: Optimized Block-based Connected
 * Components Labeling with Decision Trees, IEEE Transactions on Image Processing 19(6), 2010.
 */
#include "cpu/base/band.h"
#include "cpu/measure/measure-runs.h"
#include "cpu/pixels/words.h"

#include <endian.h>
#include <string.h>

#ifndef HAS_STREAMING_STORES
#define HAS_STREAMING_STORES false

static inline void
stream_row (uint32_t *out, const uint32_t *labels, uint32_t n)
{
  memcpy (out, labels, n * sizeof *out);
}

static inline void
end_streaming (void)
{
}
#endif

/* Converts a row of pixels to bits. */
static ALWAYS_INLINE void
pack_row (const Job *job, uint64_t *restrict words, const uint8_t *restrict pixels)
{
  const Threshold threshold = threshold_prepare (job->threshold);
  const uint64_t inversion = job->inversion;
  const uint32_t n_full_words = job->width / 64;
  const uint32_t n_rest = job->width % 64;

  for (uint32_t w = 0; w < n_full_words; w++) {
    __builtin_prefetch (pixels + 64 * (size_t)w + job->rows_per_strip * job->stride);
    words[w] = pack_pixels (pixels + 64 * (size_t)w, threshold) ^ inversion;
  }
  if (n_rest) {
    uint8_t rest[64] = {0};
    memcpy (rest, pixels + 64 * (size_t)n_full_words, n_rest);
    words[n_full_words] =
        (pack_pixels (rest, threshold) ^ inversion) & ((UINT64_C (1) << n_rest) - 1);
  }
}

/* The same for pixels of two bytes. */
static void
pack_row_of_words (const Job *job, uint64_t *restrict words, const uint8_t *restrict pixels)
{
  const uint64_t inversion = job->inversion;
  const uint32_t n_full_words = job->width / 64;
  const uint32_t n_rest = job->width % 64;

  for (uint32_t w = 0; w < n_full_words; w++) {
    const uint8_t *of_word = pixels + 128 * (size_t)w;
    __builtin_prefetch (of_word + job->rows_per_strip * job->stride);
    __builtin_prefetch (of_word + 64 + job->rows_per_strip * job->stride);
    words[w] = pack_words (of_word, job->word_threshold) ^ inversion;
  }
  if (n_rest) {
    uint8_t rest[128] = {0};
    memcpy (rest, pixels + 128 * (size_t)n_full_words, 2 * n_rest);
    words[n_full_words] =
        (pack_words (rest, job->word_threshold) ^ inversion) & ((UINT64_C (1) << n_rest) - 1);
  }
}

/* Converts the rows of a strip to bits and finds its runs. bottom: NULL below the frame. */
static ALWAYS_INLINE void
pack_strip (const Job *job, Strip *strip, const uint8_t *top, const uint8_t *bottom, bool two_rows)
{
  if (job->has_words) {
    pack_row_of_words (job, strip->top, top);
    if (bottom)
      pack_row_of_words (job, strip->bottom, bottom);
  } else {
    pack_row (job, strip->top, top);
    if (bottom)
      pack_row (job, strip->bottom, bottom);
  }
  if (!bottom && two_rows)
    memset (strip->bottom, 0, job->n_words * sizeof *strip->bottom);
  strip->n_runs = find_runs (strip, job->n_words, two_rows);
}

static ALWAYS_INLINE uint32_t
find (uint32_t *parents, uint32_t label)
{
  uint32_t parent;
  while ((parent = parents[label]) != label) {
    /* Path halving. */
    parents[label] = parents[parent];
    label = parents[label];
  }
  return label;
}

/* Unites two trees; the lesser root remains a root. Returns the other one, or NO_LABEL if both
 * labels are in one tree. */
static uint32_t
unite (uint32_t *parents, uint32_t a, uint32_t b)
{
  a = find (parents, a);
  b = find (parents, b);
  if (a == b)
    return NO_LABEL;
  const uint32_t root = a < b ? a : b;
  const uint32_t merged = a < b ? b : a;
  parents[merged] = root;
  return merged;
}

/* Lists the pairs of runs of two strips that touch. Returns their number. */
static ALWAYS_INLINE uint32_t
find_links (
    const Job *job, const Strip *above, const Strip *below, const Scratch *scratch, bool diagonals)
{
  uint32_t n_links = 0;

  find_touching_columns (above, below, scratch, job->n_words, diagonals);
  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = scratch->touching_words[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t touching = scratch->touching[w];
      list_links (
          scratch->links_above + n_links, touching, above->starts[w], above->runs_before[w]);
      list_links (
          scratch->links_below + n_links, touching, below->starts[w], below->runs_before[w]);
      n_links += count_bits (touching);
    }
  }
  return n_links;
}

/* Gives each run below that touches runs above the label of one of them, and unites the labels of
 * these. */
static ALWAYS_INLINE void
link_strips (const Job *job, Band *band, const Scratch *scratch, const Strip *above,
    const Strip *below, bool diagonals)
{
  uint32_t *const merged = job->forest.merged + band->first_label;
  const uint32_t n_links = find_links (job, above, below, scratch, diagonals);
  const uint32_t n_same = take_labels (scratch, n_links, above->labels, below->labels);

  for (uint32_t i = 0; i < n_same; i++) {
    const uint32_t label =
        unite (job->forest.parents, scratch->same_labels[0][i], scratch->same_labels[1][i]);
    if (label != NO_LABEL)
      merged[band->n_merged++] = label;
  }
}

/* Adds the sums of united labels to those of their roots. */
static void
add_sums_of_merged (const Job *job, const Band *band)
{
  const uint32_t *const merged = job->forest.merged + band->first_label;
  RowSums *const sums = job->forest.sums;

  for (uint32_t i = 0; i < band->n_merged; i++)
    add_sums (sums + find (job->forest.parents, merged[i]), sums + merged[i]);
}

static uint32_t
merge_bands (const Job *job, const Band *above, const Band *below, const Scratch *scratch)
{
  uint32_t *const parents = job->forest.parents;
  RowSums *const sums = job->forest.sums;
  const uint32_t n_links =
      find_links (job, above->last, below->first, scratch, job->rows_per_strip == 2);
  uint32_t n_merged = 0;

  for (uint32_t i = 0; i < n_links; i++) {
    const uint32_t merged = unite (parents, above->last->labels[scratch->links_above[i]],
        below->first->labels[scratch->links_below[i]]);
    if (merged != NO_LABEL) {
      add_sums (sums + parents[merged], sums + merged);
      n_merged++;
    }
  }
  return n_merged;
}

/* Finds the runs that contain a pixel of the top row, one bit per run.
 *
 * Adding the first bit of a run to the columns that have foreground in the bottom row only makes a
 * carry up to the run's first pixel of the top row, or, if it has none, to the column after the
 * run. Each run has one such column, and they are in the order of the runs. */
static ALWAYS_INLINE void
find_top_runs (const Job *job, const Strip *strip, uint8_t *out)
{
  uint64_t pending = 0; /* the last bits, fewer than 8 of which are not complete bytes */
  uint32_t n_pending = 0;
  bool carry = false;
  uint32_t w_before = 0;

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t top = strip->top[w];
      const uint64_t bottom_only = strip->bottom[w] & ~top;
      uint64_t sum, landed_on_top, landed;

      /* Where empty words lie between, the carry has ended in the first of them: that run has no
       * pixel in the top row. */
      n_pending += carry && w != w_before + 1;
      carry = carry && w == w_before + 1;
      w_before = w;

      carry = __builtin_add_overflow (bottom_only, (uint64_t)carry, &sum);
      carry |= __builtin_add_overflow (sum, strip->starts[w], &sum);
      landed_on_top = sum & top;
      landed = landed_on_top | (sum & ~(top | bottom_only));
      pending |= extract_bits (landed_on_top, landed) << n_pending;
      n_pending += count_bits (landed);

      const uint64_t little_endian = htole64 (pending);
      memcpy (out, &little_endian, 8);
      out += n_pending / 8;
      pending >>= n_pending / 8 * 8;
      n_pending %= 8;
    }
  }
  memset (out, (int)pending, 1);
}

/* Gives new labels to the runs without one, in raster order of their first pixels. */
static ALWAYS_INLINE void
give_new_labels (
    const Job *job, Band *band, const Scratch *scratch, Strip *strip, uint32_t y, bool two_rows)
{
  const uint32_t first = band->end_label;
  uint32_t n_new = 0;
  uint32_t next = first;

  for (uint32_t i = 0; i < strip->n_runs; i++)
    n_new += strip->labels[i] == NO_LABEL;

  job->forest.first_of_row[y] = next;
  if (two_rows) {
    if (n_new) {
      find_top_runs (job, strip, scratch->top_runs);
      next = number_runs (strip->labels, strip->n_runs, scratch->top_runs, next);
    }
    if (y + 1 < band->end_row)
      job->forest.first_of_row[y + 1] = next;
  }
  if (next - first < n_new)
    next = number_runs (strip->labels, strip->n_runs, NULL, next);

  for (uint32_t label = first; label < next; label++)
    job->forest.parents[label] = label;
  memset (job->forest.sums + first, 0, (next - first) * sizeof (RowSums));
  band->end_label = next;
}

/* Lists the spans of a labelled strip and the prefix sums before each of them; replaces the labels
 * by their parents. Returns the number of spans. */
static ALWAYS_INLINE uint32_t
find_spans (const Job *job, const Strip *strip, const Scratch *scratch, bool two_rows)
{
  uint32_t *firsts = scratch->firsts;
  uint32_t *lasts = scratch->lasts;

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      list_columns (firsts, strip->starts[w], 64 * w);
      firsts += count_bits (strip->starts[w]);
      list_columns (lasts, strip->ends[w], 64 * w);
      lasts += count_bits (strip->ends[w]);
    }
  }

  const uint32_t n_spans = list_spans (strip->labels, strip->n_runs, scratch, job->forest.parents);
  count_before_words (strip, scratch, job->n_words, two_rows);
  count_before_spans (scratch, n_spans, two_rows);
  scratch->counts_before_span[n_spans] = scratch->word_counts[job->n_words].counts_before;
  scratch->sums_before_span[n_spans] = scratch->word_counts[job->n_words].sums_before;
  return n_spans;
}

static ALWAYS_INLINE void
label_band_with (const Job *job, Band *band, const Scratch *scratch, bool two_rows)
{
  const uint32_t rows_per_strip = two_rows ? 2 : 1;
  const Strip *above = NULL;
  uint64_t *pixels = band->pixels;
  uint32_t *run_labels = band->run_labels;
  uint32_t n_strips = 0;

  band->end_label = band->first_label;
  band->n_merged = 0;
  for (uint32_t y = band->first_row; y < band->end_row; y += rows_per_strip, n_strips++) {
    const uint32_t slot = n_strips == 0 ? 0 : 1 + n_strips % 2;
    Strip *strip = &band->strips[slot];
    const uint8_t *top = job->data + y * job->stride;
    const uint8_t *bottom = two_rows && y + 1 < band->end_row ? top + job->stride : NULL;

    *strip = band->slots[slot];
    if (job->keeps_runs) {
      strip->top = pixels;
      strip->bottom = two_rows ? pixels + job->words_per_row : pixels;
      strip->labels = run_labels;
      pixels += rows_per_strip * job->words_per_row;
    }
    pack_strip (job, strip, top, bottom, two_rows);
    if (strip->n_runs) {
      memset (strip->labels, 0xff, strip->n_runs * sizeof *strip->labels);
      if (above && above->n_runs)
        link_strips (job, band, scratch, above, strip, two_rows);
      give_new_labels (job, band, scratch, strip, y, two_rows);
      const uint32_t n_spans = find_spans (job, strip, scratch, two_rows);
      add_spans (job->forest.sums, scratch, n_spans, y, two_rows);
    } else {
      for (uint32_t row = y; row < y + rows_per_strip && row < band->end_row; row++)
        job->forest.first_of_row[row] = band->end_label;
    }

    if (job->keeps_runs) {
      band->run_counts[n_strips] = strip->n_runs;
      run_labels += strip->n_runs;
    }
    if (!above)
      band->first = strip;
    above = strip;
  }
  band->last = above;
  add_sums_of_merged (job, band);
}

static void
label_band (const Job *job, Band *band, const Scratch *scratch)
{
  if (job->rows_per_strip == 2)
    label_band_with (job, band, scratch, true);
  else
    label_band_with (job, band, scratch, false);
}

/* Writes the rows of a strip to the label map.
 *
 * out_bottom: NULL if the strip has one row. labels: final labels of the strip's runs. */
static ALWAYS_INLINE void
write_strip (const Job *job, uint32_t *out_top, uint32_t *out_bottom, const uint64_t *top,
    const uint64_t *bottom, const uint32_t *labels)
{
  uint64_t carry = 0;

  for (uint32_t w = 0; w < job->n_words; w++) {
    const uint32_t n = job->width - 64 * w < 64 ? job->width - 64 * w : 64;
    const uint64_t either = top[w] | bottom[w];
    const uint64_t starts = either & ~(either << 1 | carry);
    carry = either >> 63;
    expand (out_top + 64 * w, n, top[w], starts, labels - 1);
    if (out_bottom)
      expand (out_bottom + 64 * w, n, bottom[w], starts, labels - 1);
    labels += count_bits (starts);
  }
}

/* The same past the caches. Only whole cache lines can be stored so; a buffer holds the rows until
 * they are complete. */
static ALWAYS_INLINE void
stream_strip (const Job *job, uint32_t *out_top, uint32_t *out_bottom, const uint64_t *top,
    const uint64_t *bottom, const uint32_t *labels, uint32_t *const buffers[2])
{
  write_strip (job, buffers[0], out_bottom ? buffers[1] : NULL, top, bottom, labels);
  stream_row (out_top, buffers[0], job->width);
  if (out_bottom)
    stream_row (out_bottom, buffers[1], job->width);
}

/* Whether a row of the strip at row y is to be written. */
static bool
strip_is_read (const Job *job, uint32_t y)
{
  const uint32_t end = y + job->rows_per_strip;
  return !job->some_labels || (job->label_rows[0] >= y && job->label_rows[0] < end) ||
         (job->label_rows[1] >= y && job->label_rows[1] < end);
}

static void
write_band (const Job *job, Band *band, const Scratch *scratch)
{
  const bool is_streamed = HAS_STREAMING_STORES && job->is_streamed;
  const uint32_t *const final_labels = job->forest.parents;
  uint32_t *labels = scratch->final_labels;
  const uint32_t *run_labels = band->run_labels;
  const uint64_t *pixels = band->pixels;

  for (uint32_t y = band->first_row, strip = 0; y < band->end_row;
       y += job->rows_per_strip, strip++) {
    const uint32_t n_runs = band->run_counts[strip];
    const uint64_t *bottom = pixels + (job->rows_per_strip - 1) * job->words_per_row;
    const bool has_bottom = job->rows_per_strip == 2 && y + 1 < band->end_row;
    uint8_t *out = job->labels + y * job->labels_stride;
    uint32_t *out_top = (uint32_t *)out;
    uint32_t *out_bottom = has_bottom ? (uint32_t *)(out + job->labels_stride) : NULL;

    if (strip_is_read (job, y)) {
      for (uint32_t i = 0; i < n_runs; i++)
        labels[i] = final_labels[run_labels[i]];
      if (is_streamed)
        stream_strip (job, out_top, out_bottom, pixels, bottom, labels, scratch->label_rows);
      else
        write_strip (job, out_top, out_bottom, pixels, bottom, labels);
    }
    run_labels += n_runs;
    pixels += job->rows_per_strip * job->words_per_row;
  }
  if (is_streamed)
    end_streaming ();
}

const RunLabeller RUN_LABELLER = {
    .name = RUN_LABELLER_NAME,
    .label_band = label_band,
    .write_band = write_band,
    .merge_bands = merge_bands,
    .measure_band = measure_band,
};
