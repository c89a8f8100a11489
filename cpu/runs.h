/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run labeller, compiled once for each instruction set. The file that includes this one has
 * defined:
 *
 *   RUN_LABELLER      the name of the RunLabeller to define
 *   RUN_LABELLER_NAME its name as a string
 *   Threshold, threshold_prepare (value), pack (pixels, threshold)
 *                     64 pixels to 64 bits, set where the pixel is greater than the threshold
 *   expand (out, n, pixels, starts, labels)
 *                     one word of pixels to n label map entries, see expand_portable()
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

#include <string.h>

#define ALWAYS_INLINE inline __attribute__ ((always_inline))

static ALWAYS_INLINE uint32_t
count_bits (uint64_t word)
{
  return (uint32_t)__builtin_popcountll (word);
}

/* The index of the lowest bit of a word that is not zero. */
static ALWAYS_INLINE uint32_t
lowest_bit (uint64_t word)
{
  return (uint32_t)__builtin_ctzll (word);
}

static ALWAYS_INLINE uint32_t
highest_bit (uint64_t word)
{
  return 63 - (uint32_t)__builtin_clzll (word);
}

/* All bits up to and including the lowest one. */
static ALWAYS_INLINE uint64_t
up_to_lowest_bit (uint64_t word)
{
  return word ^ (word - 1);
}

/* The stretch of ones that begins with the lowest bit of a word that is not zero. */
static ALWAYS_INLINE uint64_t
lowest_stretch (uint64_t word)
{
  return word & ~(word + (word & -word));
}

/* Packs the strip whose rows are given (bottom NULL: one row) and finds its runs. */
static ALWAYS_INLINE void
pack_strip (const Job *job, Strip *strip, const uint8_t *top, const uint8_t *bottom)
{
  const Threshold threshold = threshold_prepare (job->threshold);
  const uint64_t inversion = job->inversion;
  const uint32_t n_words = job->n_words;
  const uint32_t n_full_words = job->width / 64;
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
      strip->top[w] = top_word;
      if (strip->bottom != strip->top)
        strip->bottom[w] = bottom_word;
      strip->starts[w] = starts;
      strip->ranks[w] = n_runs;
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

/* Joins two trees and gives the root. */
static uint32_t
unite (uint32_t *parents, uint32_t a, uint32_t b)
{
  a = find (parents, a);
  b = find (parents, b);
  if (a < b) {
    parents[b] = a;
    return a;
  }
  parents[a] = b;
  return b;
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

/* Joins the runs that touch across two strips. Runs below that have no label get one from above. */
static ALWAYS_INLINE void
link_strips_with (const Job *job, const Strip *above, const Strip *below, bool diagonals)
{
  uint32_t *const parents = job->forest.parents;
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
      const uint32_t *const above_labels = above->labels + above->ranks[w] - 1;
      uint32_t *const below_labels = below->labels + below->ranks[w] - 1;
      uint64_t links =
          find_links (above->bottom + w, below->top + w, above_starts | below_starts, diagonals);

      for (; links; links &= links - 1) {
        const uint64_t columns = up_to_lowest_bit (links);
        const uint32_t label = above_labels[count_bits (above_starts & columns)];
        uint32_t *const other = below_labels + count_bits (below_starts & columns);
        const uint32_t old = *other;

        /* NO_LABEL is greater than any label. */
        *other = label < old ? label : old;
        if (old != label && old != NO_LABEL)
          *other = unite (parents, label, old);
      }
    }
  }
}

static void
link_strips (const Job *job, const Strip *above, const Strip *below)
{
  link_strips_with (job, above, below, job->rows_per_strip == 2);
}

/* Whether the run that leaves word w to the right holds a pixel of the top row further on. */
static bool
top_follows (const Strip *strip, uint32_t w)
{
  for (;;) {
    w++;
    const uint64_t either = strip->top[w] | strip->bottom[w];
    const uint64_t stretch = either & 1 ? lowest_stretch (either) : 0;
    if (strip->top[w] & stretch)
      return true;
    if (~stretch)
      return false;
  }
}

/* Gives new labels to the runs that have none, in raster order of their first pixels: first those
 * with a pixel in the top row. */
static ALWAYS_INLINE void
give_new_labels (const Job *job, Band *band, Strip *strip, uint32_t y, bool two_rows)
{
  uint32_t *const parents = job->forest.parents;
  uint32_t *const first_of_row = job->forest.first_of_row;
  const uint32_t first = band->end_label;
  uint32_t next = first;

  first_of_row[y] = next;
  if (!two_rows) {
    for (uint32_t i = 0; i < strip->n_runs; i++) {
      if (strip->labels[i] == NO_LABEL)
        strip->labels[i] = next++;
    }
  } else {
    uint32_t n_left = 0;
    for (uint32_t group = 0; group < job->n_words; group += 64) {
      for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
        const uint32_t w = group + lowest_bit (words);
        const uint64_t top = strip->top[w];
        uint64_t either = top | strip->bottom[w];
        uint32_t *labels = strip->labels + strip->ranks[w];
        uint64_t starts = strip->starts[w];
        either &= -(starts & -starts);
        for (; either; labels++) {
          const uint64_t stretch = lowest_stretch (either);
          if (*labels == NO_LABEL) {
            if (top & stretch || (stretch >> 63 && top_follows (strip, w)))
              *labels = next++;
            else
              n_left++;
          }
          either &= ~stretch;
        }
      }
    }
    if (y + 1 < band->end_row)
      first_of_row[y + 1] = next;
    for (uint32_t i = 0; n_left; i++) {
      if (strip->labels[i] == NO_LABEL) {
        strip->labels[i] = next++;
        n_left--;
      }
    }
  }
  for (uint32_t label = first; label < next; label++) {
    parents[label] = label;
    job->forest.features[label] = (Features){.left = UINT32_MAX};
  }
  band->end_label = next;
}

/* The sum of the indices of the bits of a word. */
static ALWAYS_INLINE uint32_t
sum_bit_indices (uint64_t word)
{
  return count_bits (word & 0xaaaaaaaaaaaaaaaa) + 2 * count_bits (word & 0xcccccccccccccccc) +
         4 * count_bits (word & 0xf0f0f0f0f0f0f0f0) + 8 * count_bits (word & 0xff00ff00ff00ff00) +
         16 * count_bits (word & 0xffff0000ffff0000) + 32 * count_bits (word & 0xffffffff00000000);
}

/* Adds the pixels of some columns of a word to the features of a label. */
static ALWAYS_INLINE void
add_features (
    Features *features, uint64_t top, uint64_t bottom, uint32_t x, uint32_t y, bool two_rows)
{
  const uint64_t either = top | bottom;
  const uint32_t n_bottom = two_rows ? count_bits (bottom) : 0;
  const uint32_t n = count_bits (top) + n_bottom;
  const uint32_t left = x + lowest_bit (either);
  const uint32_t right = x + highest_bit (either);
  const uint32_t bottom_row = y + (n_bottom != 0);

  features->area += n;
  features->sum_x +=
      (uint64_t)x * n + sum_bit_indices (top) + (two_rows ? sum_bit_indices (bottom) : 0);
  features->sum_y += (uint64_t)y * n + n_bottom;
  features->left = left < features->left ? left : features->left;
  features->right = right > features->right ? right : features->right;
  features->bottom = bottom_row > features->bottom ? bottom_row : features->bottom;
}

/* Adds the pixels of a strip to the features of their labels, and makes its run labels roots. */
static ALWAYS_INLINE void
sum_up_features (const Job *job, const Strip *strip, uint32_t y, bool two_rows)
{
  uint32_t *const parents = job->forest.parents;
  Features *const features = job->forest.features;

  for (uint32_t i = 0; i < strip->n_runs; i++)
    strip->labels[i] = find (parents, strip->labels[i]);

  for (uint32_t group = 0; group < job->n_words; group += 64) {
    for (uint64_t words = strip->occupied[group / 64]; words; words &= words - 1) {
      const uint32_t w = group + lowest_bit (words);
      const uint64_t top = strip->top[w];
      const uint64_t bottom = two_rows ? strip->bottom[w] : 0;
      const uint64_t either = top | bottom;
      const bool continues = either & ~strip->starts[w] & 1;
      const uint32_t *labels = strip->labels + strip->ranks[w] - continues;
      uint32_t label = *labels++;
      uint64_t columns = lowest_stretch (either);
      uint64_t rest = either & ~columns;

      /* Neighbouring runs are mostly of one component, so they are added in one go. */
      for (; rest; labels++) {
        const uint64_t stretch = lowest_stretch (rest);
        if (*labels != label) {
          add_features (features + label, top & columns, bottom & columns, 64 * w, y, two_rows);
          label = *labels;
          columns = 0;
        }
        columns |= stretch;
        rest &= ~stretch;
      }
      add_features (features + label, top & columns, bottom & columns, 64 * w, y, two_rows);
    }
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
    const uint8_t *bottom = two_rows && y + 1 < band->end_row ? top + job->stride : NULL;

    *strip = band->slots[slot];
    if (job->labels) {
      strip->top = pixels;
      strip->bottom = two_rows ? pixels + job->words_per_row : pixels;
      strip->labels = run_labels;
      pixels += rows_per_strip * job->words_per_row;
    }
    if (bottom)
      pack_strip (job, strip, top, bottom);
    else
      pack_strip (job, strip, top, NULL);

    memset (strip->labels, 0xff, strip->n_runs * sizeof *strip->labels);
    if (above && strip->n_runs)
      link_strips_with (job, above, strip, two_rows);
    give_new_labels (job, band, strip, y, two_rows);
    sum_up_features (job, strip, y, two_rows);

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
    .link_strips = link_strips,
};
