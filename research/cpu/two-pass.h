/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The common part of the two-pass algorithms.
 *
 *   1. First scan, by the algorithm: strip by strip, gives provisional labels, unites the labels of
 *      one component, and adds up the features of each label.
 *   2. Flattening: links each label to its root, adds up the features at the roots, and numbers the
 *      roots that pass the area filter in raster order of first pixels.
 *   3. Second scan, by the algorithm, with a label map only: writes final labels.
 *
 * The papers compute no features. Here the first scan adds them up, so that the component table
 * needs no second scan. Provisional labels are stored in the label map, as in the papers, or
 * without one, in two buffers of a strip that take turns.
 */
#pragma once

#include "cpu/label/algorithms.h"
#include "cpu/label/equivalences.h"
#include "cpu/base/mapping.h"

typedef struct TwoPass TwoPass;
typedef struct TwoPassStrip TwoPassStrip;

typedef struct TwoPassAlgorithm {
  CpuAlgorithm row;        /* labeller_new: two_pass_labeller_new() */
  uint32_t rows_per_strip; /* rows that are scanned together, 1 or 2 */
  void (*first_scan) (TwoPass *self, const TwoPassStrip *strip);
  void (*second_scan) (const TwoPass *self, const TwoPassStrip *strip);
} TwoPassAlgorithm;

/* The features of a provisional label. */
typedef struct TwoPassRowSums {
  uint64_t sum_x;
  uint64_t sum_y;
  uint32_t area;
  uint32_t left;
  uint32_t right;
  uint32_t bottom;
  uint32_t first; /* index of the first pixel: y × width + x */
} TwoPassRowSums;

/* Consecutive rows that are scanned together. */
struct TwoPassStrip {
  uint32_t y; /* of the first row */

  /* Rows y - 2 to y + 1, 1 for foreground and 0 for background. The frame is surrounded by
   * background: two columns on both sides, and the rows above and below. */
  const uint8_t *pixels[4];

  /* Provisional labels of the first row of the strip and of the strip before it. */
  uint32_t *labels;
  const uint32_t *labels_above;

  /* Second scan: row y + 1 of the label map, or NULL below the frame. */
  uint32_t *labels_below;
};

struct TwoPass {
  CclLabeller base;
  const TwoPassAlgorithm *algorithm;
  uint32_t width;
  uint32_t height;

  const uint8_t *data;
  size_t stride;
  uint8_t threshold;
  CclWordThreshold word_threshold; /* of pixels of two bytes */
  uint8_t invert;

  uint8_t *labels; /* the label map, or NULL */
  size_t labels_stride;

  uint8_t *no_pixels;        /* a row of background */
  uint8_t *pixels[4];        /* rows of pixels that take turns */
  uint32_t *strip_labels[2]; /* used without a label map */
  uint32_t n_labels;         /* labels given so far, with label 0, the background */
  uint32_t *parents;         /* of each label (equivalences.h) */
  uint32_t *final_labels;    /* of each label, once they are numbered */
  TwoPassRowSums *features;  /* of each label */
  uint32_t *labels_of_strip; /* numbering: the root whose first pixel is at a place of the strip */
  uint64_t *first_pixels;    /* numbering: one bit for each such place that is in use */
  CclComponent *rows;
  Mapping mapping;
};

/* `algorithm` is the row of a TwoPassAlgorithm. */
CclLabeller *two_pass_labeller_new (const CpuAlgorithm *algorithm, const CclLabellerPlan *plan,
    const CclCpuTuning *tuning, CclError *error);

/* A new label. */
static ALWAYS_INLINE uint32_t
two_pass_new_label (TwoPass *self)
{
  const uint32_t label = self->n_labels++;
  self->parents[label] = label;
  self->features[label] = (TwoPassRowSums){.left = UINT32_MAX, .first = UINT32_MAX};
  return label;
}

static ALWAYS_INLINE uint32_t
two_pass_lesser (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static ALWAYS_INLINE uint32_t
two_pass_greater (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static ALWAYS_INLINE void
two_pass_add (TwoPassRowSums *to, const TwoPassRowSums *from)
{
  to->sum_x += from->sum_x;
  to->sum_y += from->sum_y;
  to->area += from->area;
  to->left = two_pass_lesser (to->left, from->left);
  to->right = two_pass_greater (to->right, from->right);
  to->bottom = two_pass_greater (to->bottom, from->bottom);
  to->first = two_pass_lesser (to->first, from->first);
}
