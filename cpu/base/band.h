/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data structures of the run labeller.
 *
 * A frame is divided into strips, of two rows for 8-connectivity and of one row for 4-connectivity.
 * A run of a strip is a maximal sequence of columns that contain foreground. All pixels of a run
 * are connected: in a strip of two rows, pixels of neighbouring columns share an edge or a corner.
 * So labels belong to runs, not pixels. A union-find forest unites the labels of runs that touch
 * across strips, and sums are added up run by run.
 *
 * Consecutive strips form bands, several per thread. Each band has its own range of labels.
 */
#pragma once

#include "core/label/labeller-class.h"

/* No label yet. */
#define NO_LABEL UINT32_MAX

/* What a row of the table follows from, of a provisional label. Forest.first_of_row gives the top
 * row. */
typedef struct RowSums {
  uint64_t sum_x;
  uint64_t sum_y;
  uint32_t area;
  uint32_t left_complement; /* of the left column: all extremes are maxima that start at zero */
  uint32_t right;
  uint32_t bottom;
} RowSums;

/* The union-find forest of the provisional labels of a frame. In a band, labels are given to runs
 * in raster order of their first pixels, and bands have increasing ranges. So the root of a tree,
 * its least label, is that of the run with the component's first pixel. */
typedef struct Forest {
  uint32_t *parents; /* parents[l] ≤ l; l is a root when equal */
  uint32_t *merged;  /* from a band's first_label on: its labels that are no roots any more */
  RowSums *sums;
  uint32_t *first_of_row; /* the least label whose run begins in the row or later */
} Forest;

/* A strip, one bit per pixel, column x in bit x % 64 of word x / 64. Every row of words has a zero
 * word before its first and after its last. */
typedef struct Strip {
  uint64_t *top;
  uint64_t *bottom;      /* strips of one row: the same row as top */
  uint64_t *starts;      /* the first column of each run */
  uint64_t *ends;        /* the last column of each run */
  uint64_t *occupied;    /* one bit per word: whether it contains foreground */
  uint32_t *runs_before; /* runs of the strip that start before each word */
  uint32_t *labels;      /* of each run, provisional */
  uint32_t n_runs;
} Strip;

/* Lists are written in groups, so they have this many more entries after their end. */
#define LIST_MARGIN 64

/* A word of a strip, and prefix sums: the number of foreground pixels in the columns before it,
 * those of the bottom row in the upper 32 bits, and the sum of their columns. */
typedef struct WordCounts {
  uint64_t top;
  uint64_t bottom; /* 0 in strips of one row */
  uint64_t counts_before;
  uint64_t sums_before;
} WordCounts;

/* Intermediate results for the strip at work; each thread has its own. */
typedef struct Scratch {
  /* Columns at which a run of the strip above touches one of this strip, and one bit per word:
   * whether it has any. */
  uint64_t *touching;
  uint64_t *touching_words;

  /* The two runs at each of these columns. */
  uint32_t *links_above;
  uint32_t *links_below;

  /* Pairs of labels that belong to one component. */
  uint32_t *same_labels[2];

  /* One bit per run: whether it contains a pixel of the top row. */
  uint8_t *top_runs;

  /* First and last column of each run. */
  uint32_t *firsts;
  uint32_t *lasts;

  /* Spans: sequences of runs of one label, with the background between them. */
  uint32_t *span_labels;
  uint32_t *span_firsts;
  uint32_t *span_lasts;

  /* Of each word, and after the last one the totals of the strip. */
  WordCounts *word_counts;

  /* The same sums before each span, and after the last one the totals. */
  uint64_t *counts_before_span;
  uint64_t *sums_before_span;

  /* Of each span. */
  RowSums *span_sums;

  /* Final labels of the runs of a strip. */
  uint32_t *final_labels;

  /* Complete rows of labels, for label maps that are written past the caches. */
  uint32_t *label_rows[2];
} Scratch;

/* Strips that a band has buffers for: its first one, which is merged with the band above in the
 * end, and two that take turns. */
#define N_SLOTS 3

typedef struct Band {
  uint32_t first_row;
  uint32_t end_row;
  uint32_t first_label;
  uint32_t end_label; /* the label after the last one given in this frame */
  uint32_t n_merged;

  Strip slots[N_SLOTS];  /* the buffers */
  Strip strips[N_SLOTS]; /* the strips in them; if runs are kept, their pixels and labels are stored
                          * in the arrays below */

  /* The pixels and run labels of the whole band, where runs are kept. */
  uint64_t *pixels; /* row after row, words_per_row apart */
  uint32_t *run_labels;
  uint32_t *run_counts; /* of each strip */

  const Strip *first;
  const Strip *last;

  /* Numbering by all threads. */
  uint32_t n_numbers; /* components that begin in the band and get a label */
  uint32_t base;      /* the last label of the bands before */
} Band;

/* The frame at work and the data that all bands share. */
typedef struct Job {
  uint32_t width;
  uint32_t n_words;       /* words that contain pixels of a row */
  uint32_t words_per_row; /* from one row of words to the next: with the zero word */
  uint32_t rows_per_strip;
  Forest forest;

  const uint8_t *data;
  size_t stride;
  uint8_t threshold;
  bool has_words; /* pixels have two bytes and are compared with word_threshold */
  CclWordThreshold word_threshold;
  uint64_t inversion; /* all ones or none */

  bool keeps_runs; /* the bands store pixels and labels of all runs, for the steps
                    * after numbering */
  uint8_t *labels; /* the label map, or NULL */
  size_t labels_stride;
  bool is_streamed; /* the label map is written past the caches, where there are stores for that */
  bool some_labels; /* as in CclLabeller */
  uint32_t label_rows[2];
} Job;

/* What is measured from the runs: measure-runs.h. */
typedef struct RunMeasurer RunMeasurer;

/* The operations for one instruction set. All give identical results. */
typedef struct RunLabeller {
  const char *name;

  /* Gives provisional labels to the runs of a band and adds up the sums at the roots. */
  void (*label_band) (const Job *job, Band *band, const Scratch *scratch);

  /* Writes the rows of a band to the label map. Parents have been replaced by final labels. */
  void (*write_band) (const Job *job, Band *band, const Scratch *scratch);

  /* Unites the runs that touch across the border of two labelled bands, and their sums. Returns
   * the number of unions. */
  uint32_t (*merge_bands) (
      const Job *job, const Band *above, const Band *below, const Scratch *scratch);

  /* Adds what the components have in the strips of a band, of two rows, to their features. Bands
   * follow each other from the top. Parents have been replaced by final labels. */
  void (*measure_band) (
      const Job *job, const Band *band, const Scratch *scratch, RunMeasurer *measurer);
} RunLabeller;

extern const RunLabeller run_labeller_portable;
extern const RunLabeller run_labeller_avx2;
extern const RunLabeller run_labeller_avx512;
extern const RunLabeller run_labeller_neon;
