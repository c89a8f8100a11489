/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours on the CPU: the ends of runs (contour-links.h), and the contours that pass them. */
#ifndef CUDACCL_CPU_CONTOURS_H
#define CUDACCL_CPU_CONTOURS_H

#include "contours-class.h"
#include "mapping.h"
#include "pixels.h"

/* The end of a run. The ends of a row follow each other, left and right ones in turn; then come two
 * sentinels, so that even numbers are left ends in all rows. */
typedef struct ContourEnd {
  uint32_t key; /* 2 × column + the order in which sides at one column come (contour-links.h) */
  /* The end that follows it in its contour; when that has been followed, CONTOUR_IS_FOLLOWED and
   * the contour's index. */
  uint32_t link;
} ContourEnd;

#define CONTOUR_SENTINEL UINT32_MAX /* the key of one */
#define CONTOUR_IS_FOLLOWED (UINT32_C (1) << 31)

/* So many points may be written behind the last one. */
enum { CONTOUR_BLOCK = 4 };

typedef struct CpuContours {
  CclContours base;
  const PixelCode *code;
  Mapping mapping;

  uint64_t *bits;       /* one bit per pixel of a row */
  uint8_t *bytes;       /* of a row of labels: whether they are foreground */
  uint32_t *first_ends; /* of the rows -1…height */
  ContourEnd *ends;
  CclContour *contours;
  CclContourPoint *points;

  uint32_t n_components, n_contours, n_points;
} CpuContours;

/* Finds contours from the keys of all ends. */
void cpu_contours_follow (CpuContours *self);

#endif /* CUDACCL_CPU_CONTOURS_H */
