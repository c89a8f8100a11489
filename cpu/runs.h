/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run labeller, compiled once for each instruction set. The file that includes this one has
 * defined:
 *
 *   RUN_LABELLER, RUN_LABELLER_NAME
 *       the RunLabeller to define, and its name as a string
 *   Threshold, threshold_prepare (value), pack (pixels, threshold)
 *       64 pixels to 64 bits, set where the pixel is greater than the threshold
 *
 * and, or includes runs-scalar.h for, these steps, which are described there:
 *
 *   extract_bits, list_columns, list_links, take_labels, number_runs, list_spans,
 *   count_before_spans, expand
 *
 * Two ideas make it fast. Pixels become bits first, and everything after works on words of 64
 * columns or on runs, so background costs nothing and long runs little. And the run that holds a
 * column is found by counting the bits of Strip.starts up to it, without any search, so that the
 * places where two strips touch can be found for 64 columns at once.
 *
 * The union-find forest with the least label as root and the run as its unit follow the two-pass
 * run-based labelling of He, Chao and Suzuki (2008); that two rows at a time halve the work for
 * 8-connectivity is what Grana, Borghesani and Cucchiara (2010) found for blocks.
 */
#include "band.h"
#include "words.h"

#include <endian.h>
#include <string.h>

/* Packs the strip whose rows are given, the bottom one NULL behind the end of the frame, and
 * finds its runs. */
static ALWAYS_INLINE void
pack_strip (const Job *job, Strip *strip, const uint8_t *top, const uint8_t *bottom, bool two_rows)
{
  const Threshold threshold = threshold_prepare (job->threshold);
  const uint64_t inversion = job->inversion;
  const uint32_t n_words = job->n_words;
  const uint32_t n_full_words = job->width / 64;
  uint64_t *const restrict top_words = strip->top;
  uint64_t *const restrict bottom_words = strip->bottom;
  uint64_t *const restrict start_words = strip->starts;
  uint32_t *const restrict ranks = strip->ranks;
  uint64_t carry = 0;
  uint32_t n_runs = 0;

  for (uint32_t group = 0; group < n_words; group += 64) {
    const uint32_t group_end = n_words - group < 64 ? n_words : group + 64;
    uint64_t occupied = 0;

    for (uint32_t w = group; w < group_end; w++) {
      uint64_t top_word, bottom_word = 0;
      if (w < n_full_words) {
        top_word = pack (top + 64 * (size_t)w, threshold) ^ inversion;
        if (bottom)
          bottom_word = pack (bottom + 64 * (size_t)w, threshold) ^ inversion;
      } else {
        const uint32_t n_rest = job->width % 64;
        const uint64_t rest = (UINT64_C (1) << n_rest) - 1;
        uint8_t pixels[64] = {0};
        memcpy (pixels, top + 64 * (size_t)w, n_rest);
        top_word = (pack (pixels, threshold) ^ inversion) & rest;
        if (bottom) {
          memcpy (pixels, bottom + 64 * (size_t)w, n_rest);
          bottom_word = (pack (pixels, threshold) ^ inversion) & rest;
        }
      }

      const uint64_t either = top_word | bottom_word;
      const uint64_t starts = either & ~(either << 1 | carry);
      carry = either >> 63;
      top_words[w] = top_word;
      if (two_rows)
        bottom_words[w] = bottom_word;
      start_words[w] = starts;
      ranks[w] = n_runs;
      n_runs += count_bits (starts);
      occupied |= (uint64_t)(either != 0) << (w % 64);
    }
    strip->occupied[group / 64] = occupied;
  }
  strip->n_runs = n_runs;
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

/* Joins two trees; the lesser root stays root. */
static void
unite (uint32_t *parents, uint32_t a, uint32_t b)
{
  a = find (parents, a);
  b = find (parents, b);
  if (a < b)
    parents[b] = a;
  else
    parents[a] = b;
}

/* The columns of a word at which a run above touches a run below; of columns that tell of the
 * same two runs mostly only the first.
 *
 * above, below: the rows that face each other; the word before each is looked at, too.
 * edges: the columns at which a run of either strip starts. */
static ALWAYS_INLINE uint64_t
find_links (const uint64_t *above, const uint64_t *below, uint64_t edges, bool diagonals)
{
  const uint64_t a = above[0];
  const uint64_t b = below[0];
  const uint64_t a_before = a << 1 | above[-1] >> 63; /* the pixel left of it */
  const uint64_t b_before = b << 1 | below[-1] >> 63;

  uint64_t links = a & b & ~(a_before & b_before);
  if (diagonals) {
    /* A diagonal is all that joins two pixels if the other two of the four are background. The
     * column named is the right one of the two; its left one is in the same run as what is at
     * the column in the strip that has background there, so counting starts works for both. */
    links |= (a_before & b & ~a & ~b_before) | (a & b_before & ~a_before & ~b);
  }

  /* Between two edges all links tell of the same two runs; keep the first of each such stretch.
   * Adding a link to the ones that stand for columns without edge makes a carry that flips all
   * of them up to the next edge, but for columns where another link is added to it. */
  const uint64_t inside = ~edges;
  const uint64_t at_edge = links & edges;
  const uint64_t behind_edge = at_edge << 1;
  const uint64_t sum = inside + ((links | behind_edge) & inside);
  return at_edge | (links & inside & ~behind_edge & (sum ^ inside));
}

/* Lists the places where runs of two strips touch. Returns how many there are. */
static ALWAYS_INLINE uint32_t
find_touching_runs (
    const Job *job, const Strip *above, const Strip *below, const Scratch *scratch, bool diagonals)
{
  uint32_t n_links = 0;
  uint64_t above_before = 0, below_before = 0;

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    const uint64_t above_words = above->occupied[group / 64];
    const uint64_t below_words = below->occupied[group / 64];
    /* A diagonal may be noted in the word behind. */
    uint64_t words = (above_words | above_words << 1 | above_before >> 63) &
                     (below_words | below_words << 1 | below_before >> 63);
    above_before = above_words;
    below_before = below_words;

    for (; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t above_starts = above->starts[w];
      const uint64_t below_starts = below->starts[w];
      const uint64_t links =
          find_links (above->bottom + w, below->top + w, above_starts | below_starts, diagonals);

      list_links (scratch->links_above + n_links, links, above_starts, above->ranks[w]);
      list_links (scratch->links_below + n_links, links, below_starts, below->ranks[w]);
      n_links += count_bits (links);
    }
  }
  return n_links;
}

/* Gives the runs below that touch a run above the label of one such run, and joins the labels
 * that are found to be of one component in this way. */
static ALWAYS_INLINE void
link_strips (
    const Job *job, const Strip *above, const Strip *below, const Scratch *scratch, bool diagonals)
{
  const uint32_t n_links = find_touching_runs (job, above, below, scratch, diagonals);
  const uint32_t n_same = take_labels (scratch, n_links, above->labels, below->labels);

  for (uint32_t i = 0; i < n_same; i++)
    unite (job->forest.parents, scratch->same_labels[0][i], scratch->same_labels[1][i]);
}

static void
join_bands (const Job *job, Band *above, Band *below)
{
  const Scratch *scratch = &below->scratch;
  const uint32_t n_links =
      find_touching_runs (job, above->last, below->first, scratch, job->rows_per_strip == 2);

  for (uint32_t i = 0; i < n_links; i++)
    unite (job->forest.parents, above->last->labels[scratch->links_above[i]],
        below->first->labels[scratch->links_below[i]]);
}

/* Tells of each run whether it holds a pixel of the top row, one bit a run.
 *
 * Adding the first bit of a run to its pixels of the bottom row alone makes a carry that runs
 * to the run's first pixel of the top row, or, if it has none, to the column behind the run. Each
 * run's carry lands in one place and in the order of the runs. */
static ALWAYS_INLINE void
find_top_runs (const Job *job, const Strip *strip, uint8_t *out)
{
  uint64_t pending = 0; /* bits not written for good */
  uint32_t n_pending = 0;
  bool carry = false;
  uint32_t w_before = 0;

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t top = strip->top[w];
      const uint64_t bottom_only = strip->bottom[w] & ~top;
      uint64_t sum, landed_on_top, landed;

      /* A carry out of the word before an empty one has landed there. */
      n_pending += carry && w != w_before + 1;
      carry = carry && w == w_before + 1;
      w_before = w;

      carry = __builtin_add_overflow (bottom_only, (uint64_t)carry, &sum) |
              __builtin_add_overflow (sum, strip->starts[w], &sum);
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

/* Gives new labels to the runs that have none, in raster order of their first pixels. */
static ALWAYS_INLINE void
give_new_labels (const Job *job, Band *band, Strip *strip, uint32_t y, bool two_rows)
{
  const uint32_t first = band->end_label;
  uint32_t n_new = 0;
  uint32_t next = first;

  for (uint32_t i = 0; i < strip->n_runs; i++)
    n_new += strip->labels[i] == NO_LABEL;

  job->forest.first_of_row[y] = next;
  if (two_rows) {
    if (n_new) {
      find_top_runs (job, strip, band->scratch.top_runs);
      next = number_runs (strip->labels, strip->n_runs, band->scratch.top_runs, next);
    }
    if (y + 1 < band->end_row)
      job->forest.first_of_row[y + 1] = next;
  }
  if (next - first < n_new)
    next = number_runs (strip->labels, strip->n_runs, NULL, next);

  for (uint32_t label = first; label < next; label++) {
    job->forest.parents[label] = label;
    job->forest.features[label] = (Features){.left = UINT32_MAX};
  }
  band->end_label = next;
}

/* Lists the spans of a strip that has labels, which it brings nearer to their roots, and what is
 * counted before each of them. Returns how many there are. */
static ALWAYS_INLINE uint32_t
find_spans (const Job *job, const Strip *strip, const Scratch *scratch, bool two_rows)
{
  uint32_t *firsts = scratch->firsts;
  uint32_t *lasts = scratch->lasts;
  uint64_t counts = 0;
  uint64_t sum = 0;

  if (strip->n_runs == 0)
    return 0;

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t top = strip->top[w];
      const uint64_t bottom = two_rows ? strip->bottom[w] : 0;
      const uint64_t either = top | bottom;
      const uint64_t next = strip->top[w + 1] | (two_rows ? strip->bottom[w + 1] : 0);
      const uint64_t starts = strip->starts[w];
      const uint64_t ends = either & ~(either >> 1 | next << 63);
      const uint32_t n_top = count_bits (top);
      const uint32_t n_bottom = two_rows ? count_bits (bottom) : 0;

      list_columns (firsts, starts, 64 * w);
      firsts += count_bits (starts);
      list_columns (lasts, ends, 64 * w);
      lasts += count_bits (ends);

      scratch->counts_before_word[w] = counts;
      scratch->sums_before_word[w] = sum;
      counts += n_top | (uint64_t)n_bottom << 32;
      sum += (uint64_t)(64 * w) * (n_top + n_bottom) + sum_bit_indices (top) +
             (two_rows ? sum_bit_indices (bottom) : 0);
    }
  }

  const uint32_t n_spans = list_spans (strip->labels, strip->n_runs, scratch, job->forest.parents);
  count_before_spans (strip, scratch, n_spans, two_rows);
  scratch->counts_before_span[n_spans] = counts;
  scratch->sums_before_span[n_spans] = sum;
  return n_spans;
}

/* Adds the pixels of a strip to the features of their labels. */
static ALWAYS_INLINE void
sum_up_features (const Job *job, const Strip *strip, const Scratch *scratch, uint32_t n_spans,
    uint32_t y, bool two_rows)
{
  for (uint32_t i = 0; i < n_spans; i++) {
    Features *const features = &job->forest.features[scratch->span_labels[i]];
    const uint64_t counts = scratch->counts_before_span[i + 1] - scratch->counts_before_span[i];
    const uint32_t n_bottom = two_rows ? counts >> 32 : 0;
    const uint32_t n = (uint32_t)counts + n_bottom;
    const uint32_t left = scratch->span_firsts[i];
    const uint32_t right = scratch->span_lasts[i];
    const uint32_t bottom_row = y + (n_bottom != 0);

    features->area += n;
    features->sum_x += scratch->sums_before_span[i + 1] - scratch->sums_before_span[i];
    features->sum_y += (uint64_t)y * n + n_bottom;
    features->left = left < features->left ? left : features->left;
    features->right = right > features->right ? right : features->right;
    features->bottom = bottom_row > features->bottom ? bottom_row : features->bottom;
  }
}

static ALWAYS_INLINE void
label_band_with (const Job *job, Band *band, bool two_rows)
{
  const uint32_t rows_per_strip = two_rows ? 2 : 1;
  const Strip *above = NULL;
  uint64_t *pixels = band->pixels;
  uint32_t *run_labels = band->run_labels;
  uint32_t n_strips = 0;

  band->end_label = band->first_label;
  for (uint32_t y = band->first_row; y < band->end_row; y += rows_per_strip, n_strips++) {
    const uint32_t slot = n_strips == 0 ? 0 : 1 + n_strips % 2;
    Strip *strip = &band->strips[slot];
    const uint8_t *top = job->data + y * job->stride;
    uint32_t n_spans;
    const uint8_t *bottom = two_rows && y + 1 < band->end_row ? top + job->stride : NULL;

    *strip = band->slots[slot];
    if (job->labels) {
      strip->top = pixels;
      strip->bottom = two_rows ? pixels + job->words_per_row : pixels;
      strip->labels = run_labels;
      pixels += rows_per_strip * job->words_per_row;
    }
    if (bottom)
      pack_strip (job, strip, top, bottom, two_rows);
    else
      pack_strip (job, strip, top, NULL, two_rows);

    memset (strip->labels, 0xff, strip->n_runs * sizeof *strip->labels);
    if (above)
      link_strips (job, above, strip, &band->scratch, two_rows);
    give_new_labels (job, band, strip, y, two_rows);
    n_spans = find_spans (job, strip, &band->scratch, two_rows);
    sum_up_features (job, strip, &band->scratch, n_spans, y, two_rows);

    if (job->labels) {
      band->run_counts[n_strips] = strip->n_runs;
      run_labels += strip->n_runs;
    }
    if (!above)
      band->first = strip;
    above = strip;
  }
  band->last = above;
}

static void
label_band (const Job *job, Band *band)
{
  if (job->rows_per_strip == 2)
    label_band_with (job, band, true);
  else
    label_band_with (job, band, false);
}

/* Writes one row of the label map.
 *
 * labels: final labels of the strip's runs. */
static ALWAYS_INLINE void
write_row (const Job *job, uint32_t *out, const uint64_t *pixels, const uint64_t *top,
    const uint64_t *bottom, const uint32_t *labels)
{
  uint64_t carry = 0;

  for (uint32_t w = 0; w < job->n_words; w++) {
    const uint32_t n = job->width - 64 * w < 64 ? job->width - 64 * w : 64;
    const uint64_t either = top[w] | bottom[w];
    const uint64_t starts = either & ~(either << 1 | carry);
    carry = either >> 63;
    expand (out + 64 * w, n, pixels[w], starts, labels - 1);
    labels += count_bits (starts);
  }
}

static void
write_band (const Job *job, Band *band)
{
  const uint32_t *const final_labels = job->forest.parents;
  uint32_t *run_labels = band->run_labels;
  const uint64_t *pixels = band->pixels;

  for (uint32_t y = band->first_row, strip = 0; y < band->end_row;
       y += job->rows_per_strip, strip++) {
    const uint32_t n_runs = band->run_counts[strip];
    const uint64_t *bottom = pixels + (job->rows_per_strip - 1) * job->words_per_row;
    uint8_t *out = job->labels + y * job->labels_stride;

    for (uint32_t i = 0; i < n_runs; i++)
      run_labels[i] = final_labels[run_labels[i]];
    write_row (job, (uint32_t *)out, pixels, pixels, bottom, run_labels);
    if (job->rows_per_strip == 2 && y + 1 < band->end_row)
      write_row (job, (uint32_t *)(out + job->labels_stride), bottom, pixels, bottom, run_labels);
    run_labels += n_runs;
    pixels += job->rows_per_strip * job->words_per_row;
  }
}

const RunLabeller RUN_LABELLER = {
    .name = RUN_LABELLER_NAME,
    .label_band = label_band,
    .write_band = write_band,
    .join_bands = join_bands,
};
