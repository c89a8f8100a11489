/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many pixels the groups of a frame share with the components of the next frame. A group is a
 * set of components, described by the label map. Its pixels are first moved by its shift, the
 * motion that its objects are predicted to have made. In large frames a sample of the rows is
 * counted, and the numbers are estimates.
 *
 * Most of a label map is background. So rows are read in spans, and only those that the boxes of
 * components touch; labels elsewhere are taken for background. */
#pragma once

#include <cudaccl/labeller.h>

#define CUDACCL_NO_GROUP UINT16_MAX

#define CUDACCL_SPAN 32 /* pixels */

/* The number of pixels that a group is moved by. */
typedef struct CclShift {
  int32_t x, y;
} CclShift;

/* The step for a height. */
static inline uint32_t
ccl_label_overlap_step (uint32_t height)
{
  return height < 2 * 270 ? 1 : height / 270;
}

/* The words of 64 spans that a row has. */
static inline uint32_t
ccl_label_overlap_words (uint32_t width)
{
  return width / (64 * CUDACCL_SPAN) + (width % (64 * CUDACCL_SPAN) != 0);
}

/* Pixels of a row with the same component: columns begin … end − 1. */
typedef struct CclLabelRun {
  uint32_t y, begin, end;
  uint32_t component;
} CclLabelRun;

/* The caller provides the arrays, for frames of at most 4096 groups and components. Begin with 0
 * groups, and zeros in `covered`. */
typedef struct CclLabelOverlap {
  uint32_t width, height; /* of the label maps */
  uint32_t step;          /* the rows 0, step, 2·step, … are counted */
  uint32_t weight;        /* pixels of the frame that each pixel of these rows stands for */

  /* The frame before. */
  CclLabelRun *runs; /* of these rows; as many as they have pixels, at most */
  uint32_t n_runs;
  uint16_t *group;   /* of each component, or CUDACCL_NO_GROUP */
  uint32_t n_groups; /* 0: that frame had no label map */
  CclShift *shift;   /* of each group */

  /* This frame. */
  uint32_t n_components;
  uint64_t *covered; /* a bit for each span of these rows; 0: nothing is read there */
  uint32_t *label;   /* of each component, ascending */
  uint32_t *shared;  /* n_groups × n_components: pixels */
} CclLabelOverlap;

/* Has the label map read in a box, from left and top to before right and bottom. To be called for
 * all boxes of components before the functions below. */
void ccl_label_overlap_cover (
    CclLabelOverlap *overlap, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom);

/* Counts the shared pixels. `label` and `n_components` are those of the frame's components. */
void ccl_label_overlap_count (CclLabelOverlap *overlap, const CclLabels *labels);

/* Stores the frame's components, so that it becomes the frame before. The caller then fills `group`
 * and `n_groups`. */
void ccl_label_overlap_store (CclLabelOverlap *overlap, const CclLabels *labels);
