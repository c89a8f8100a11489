/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours on the CPU: the ends of runs (contour-links.h), and the contours that pass them. */
#pragma once

#include "core/contours/contours-class.h"
#include "cpu/base/mapping.h"
#include "cpu/pixels/pixels.h"

/* The ends of a row's runs, left and right ones in turn, and two sentinels behind them. */
typedef struct ContourRow {
  uint32_t *keys; /* 2 × column + the order in which sides at one column come (contour-links.h) */
  uint32_t *chains; /* of each end; before the first one is CUDACCL_NO_CONTOUR */
} ContourRow;

/* The runs of a row of a label map. */
typedef struct ContourLabelRow {
  uint32_t *columns; /* of ends */
  uint32_t *labels;
  uint32_t *chains;   /* as in ContourRow */
  uint32_t *partners; /* of the ends that arrive at a line, left ones above and right ones below it:
                       * the partner, with CONTOUR_IS_OTHER one of the other row, or
                       * CONTOUR_IS_STRAIGHT */
  uint32_t n;         /* runs */
} ContourLabelRow;

/* Ends that are one below the other, which contours pass straight on: left ends downwards, right
 * ends upwards. Chains are in raster order of their upper ends. */
typedef struct ContourChain {
  uint32_t x, y;     /* of the upper end */
  uint32_t n;        /* ends */
  uint32_t is_right; /* 0 or 1 */
  uint32_t left; /* the chain of the end before the upper one in its row, or CUDACCL_NO_CONTOUR */
  /* The chain that follows it in its contour; when that has been followed, CONTOUR_IS_FOLLOWED and
   * the contour's index. */
  uint32_t link;
} ContourChain;

#define CONTOUR_SENTINEL UINT32_MAX /* the key of one */
#define CONTOUR_IS_FOLLOWED (UINT32_C (1) << 31)
#define CONTOUR_IS_OTHER (UINT32_C (1) << 31)
#define CONTOUR_IS_STRAIGHT UINT32_MAX

/* So many points may be written behind the last one. */
enum { CONTOUR_BLOCK = 4 };

typedef struct CpuContours {
  CclContours base;
  const PixelCode *code;
  Mapping mapping;

  uint64_t *bits[2];  /* one bit per pixel of a row, and of the row before */
  uint8_t *bytes;     /* of a row of labels: whether they differ from those before */
  ContourRow rows[2]; /* the row before, and the row at work */
  ContourLabelRow label_rows[2];
  const CclLabels *labels; /* the map whose contours are followed; NULL: a frame */
  ContourChain *chains;
  CclContour *contours;
  CclContourPoint *points;

  uint32_t n_chains, n_components, n_contours;
  uint64_t n_points;
} CpuContours;

/* Finds the chains of a label map. */
void cpu_contours_chain_labels (CpuContours *self, const CclLabels *labels);

/* Links the ends of a row to those of the next one, y. Sets the chains of the lower ends. */
void cpu_contours_link (
    CpuContours *self, const ContourRow *upper, const ContourRow *lower, uint32_t y);

/* Finds contours from all chains. */
void cpu_contours_follow (CpuContours *self);
