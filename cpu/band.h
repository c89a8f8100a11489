/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the run labeller share: the data of a frame while it is being labelled.
 *
 * A frame is cut into strips, of two rows when it is 8-connected and of one row when it is
 * 4-connected. The runs of a strip are the maximal stretches of columns that hold foreground.
 * All pixels of a run are connected: in a strip of two rows, pixels of neighbouring columns share
 * an edge or a corner. So runs, not pixels, get labels; a union-find forest joins the labels of
 * runs that touch across strips, and the features of a component are summed up run by run.
 *
 * Consecutive strips form bands, one a thread. Each band has its own range of labels.
 */
#ifndef CCL_CPU_BAND_H
#define CCL_CPU_BAND_H

#include <cudaccl/labeller.h>

/* No label yet. */
#define NO_LABEL UINT32_MAX

/* What is summed up over the pixels of a provisional label. The top row follows from the label,
 * see Forest. */
typedef struct Features {
  uint64_t sum_x;
  uint64_t sum_y;
  uint32_t area;
  uint32_t left_complement; /* of the left column, so that zero is what to start from and the */
  uint32_t right;           /* extremes are all maxima */
  uint32_t bottom;
} Features;

/* The provisional labels of a frame. They are given in raster order of the first pixel of what
 * they were given for, bands in turn, so the root of a tree, its least label, is the one whose
 * first pixel is the component's. */
typedef struct Forest {
  uint32_t *parents; /* parents[l] ≤ l; l is a root when equal */
  uint32_t *merged;  /* the labels of a band that are no roots any more, from its first_label on */
  Features *features;
  uint32_t *first_of_row; /* the first label given for a first pixel in each row or later */
} Forest;

/* A strip, one bit a pixel, column x in bit x % 64 of word x / 64. Every row of words has a zero
 * word before its first one and behind its last one. */
typedef struct Strip {
  uint64_t *top;
  uint64_t *bottom;   /* strips of one row: the same row as top */
  uint64_t *starts;   /* the first column of each run */
  uint64_t *ends;     /* the last column of each run */
  uint64_t *occupied; /* one bit a word: whether it holds foreground */
  uint32_t *ranks;    /* runs of the strip that start before each word */
  uint32_t *labels;   /* of each run, provisional */
  uint32_t n_runs;
} Strip;

/* Lists are written in steps of this many entries, so they need that much room behind their end. */
#define LIST_MARGIN 64

/* What is known of the strip at work. */
typedef struct Scratch {
  /* Columns at which a run of the strip above touches one of this strip, and one bit a word:
   * whether there are any. */
  uint64_t *touching;
  uint64_t *touching_words;

  /* The two runs at each of these columns. */
  uint32_t *links_above;
  uint32_t *links_below;

  /* Labels found to be of one component. */
  uint32_t *same_labels[2];

  /* One bit a run: whether it holds a pixel of the top row. */
  uint8_t *top_runs;

  /* First and last column of each run. */
  uint32_t *firsts;
  uint32_t *lasts;

  /* Spans: neighbouring runs of one label, with what is background between them. */
  uint32_t *span_labels;
  uint32_t *span_firsts;
  uint32_t *span_lasts;

  /* The foreground pixels in the columns before a word or before a span, those of the bottom row
   * counted in the upper half, and the sum of their columns. Behind the last word and the last
   * span come the totals of the strip. */
  uint64_t *counts_before_word;
  uint64_t *sums_before_word;
  uint64_t *counts_before_span;
  uint64_t *sums_before_span;

  /* Features of each span. */
  Features *span_features;
} Scratch;

/* Strips a band has buffers for: its first one, which the band above wants to see, and two that
 * take turns. */
#define N_SLOTS 3

typedef struct Band {
  uint32_t first_row;
  uint32_t end_row;
  uint32_t first_label;
  uint32_t end_label; /* one beyond the last label given in this frame */
  uint32_t n_merged;

  Strip slots[N_SLOTS];  /* the buffers */
  Strip strips[N_SLOTS]; /* the strips in them, whose pixels and labels may lie below instead */
  Scratch scratch;

  /* The whole band's pixels and run labels, for the label map. */
  uint64_t *pixels; /* row after row, words_per_row apart */
  uint32_t *run_labels;
  uint32_t *run_counts; /* of each strip */

  const Strip *first;
  const Strip *last;
} Band;

/* A frame with what all its bands need to know. */
typedef struct Job {
  uint32_t width;
  uint32_t n_words;       /* words that hold a row's pixels */
  uint32_t words_per_row; /* from one row of words to the next: with the zero word */
  uint32_t rows_per_strip;
  Forest forest;

  const uint8_t *data;
  size_t stride;
  uint8_t threshold;
  uint64_t inversion; /* all ones or none */

  uint8_t *labels; /* NULL when no label map is wanted */
  size_t labels_stride;
} Job;

/* One way to do the work; all ways do the same. */
typedef struct RunLabeller {
  const char *name;

  /* Gives provisional labels to the runs of a band; the roots have the features of all of it. */
  void (*label_band) (const Job *job, Band *band);

  /* Writes the label map's rows of a band. Parents hold final labels by now. */
  void (*write_band) (const Job *job, Band *band);

  /* Joins the runs that touch across the border of two labelled bands, and their features.
   * Returns how many components fewer there are for it. */
  uint32_t (*join_bands) (const Job *job, const Band *above, const Band *below);
} RunLabeller;

extern const RunLabeller run_labeller_portable;
extern const RunLabeller run_labeller_avx2;
extern const RunLabeller run_labeller_avx512;

#endif /* CCL_CPU_BAND_H */
