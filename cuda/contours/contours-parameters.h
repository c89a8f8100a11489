/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of contours.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <cudaccl/columns.h>
#include <cudaccl/contours.h>

enum {
  CUDACCL_CONTOURS_THREADS = 256, /* of a block */
  CUDACCL_CONTOURS_WORDS = 2049,  /* of a packed row in shared memory */
  CUDACCL_CONTOURS_JUMPS = 4,     /* stretches of a contour that a kernel joins to one */
  CUDACCL_CONTOURS_BLOCKS =
      2, /* of each multiprocessor, of kernels that go through ends or points */
};

/* A stretch of a contour, from an end of a run on. */
typedef struct CclContourStretch {
  uint32_t next;     /* the end behind it */
  uint32_t n_points; /* of the ends in it */
  uint32_t first;    /* its first end in raster order */
  uint32_t distance; /* points before that one */
} CclContourStretch;

/* The map at work, in device memory: the parameters of kernels behind the first one stay the same
 * from run to run, so that one graph serves all maps. */
typedef struct CclContourMap {
  const uint8_t *labels;
  uint64_t stride; /* bytes */
} CclContourMap;

/* Sums over ends. */
typedef struct CclContourCounts {
  uint32_t n_contours, n_points;
} CclContourCounts;

/* What the host reads first, in pinned memory. */
typedef struct CclContoursHead {
  CclContourCounts total;
  uint32_t n_ends;        /* that there are; more than capacity: the rest is empty */
  uint32_t is_unfinished; /* there were too few rounds: the rest is empty */
  uint32_t finished;      /* completion flag (wait.h): set when everything is in host memory */
} CclContoursHead;

typedef struct CclContoursParameters {
  const uint8_t *pixels; /* a frame, or a label map */
  uint64_t stride;       /* bytes */
  uint32_t pixel_bytes;  /* 1, 2, or 4 of a label */
  uint32_t is_aligned;   /* pixels are bytes; the address and the stride are multiples of 4 */
  uint32_t word_mask; /* a pixel is foreground where its value, with these bits, is greater than */
  uint32_t threshold; /* the threshold, */
  uint32_t invert;    /* and all bits set: where it is not */
  uint32_t is_map;    /* pixels are labels, and contours are found for each label by itself; only
                       * the first kernel may read what is above */
  uint32_t width, height;
  uint32_t is_8_connected;
  uint32_t is_cracks;
  uint32_t words_per_row; /* width / 32 + 1: an end may be at column width */

  uint32_t *starts;     /* [height][words_per_row] a bit where a run begins */
  uint32_t *stops;      /* as starts: behind a run */
  uint32_t *word_first; /* as starts: ends of the row in words before */
  uint32_t *row_count;  /* [height] ends of a row */
  uint32_t *row_first;  /* [height + 1] ends in rows before */
  CclContourMap *map;
  uint64_t capacity;   /* ends for which there is memory */
  uint32_t *run_label; /* of the runs of a map */
  uint32_t *column;    /* of the ends, two for each run: x */
  uint32_t *row;       /* y */
  uint32_t *next;      /* the end that follows it in its contour */
  uint32_t *n_own;     /* its points */
  CclContourStretch *stretches[2];
  CclContourCounts *block_counts; /* of CUDACCL_CONTOURS_THREADS ends each */
  uint32_t *contour;              /* of starts: the contour's number */
  uint32_t *is_changing;          /* [n_rounds] whether that round found other first ends */
  uint32_t round, n_rounds;

  /* Of rows, parent is the contour at the edge before the start in its row, or CUDACCL_NO_CONTOUR;
   * component is set for maps. */
  CclContour *rows;
  CclContourPoint *points;
  CclContourCounts *total;

  /* The same in pinned memory. */
  CclContour *host_rows;
  CclContourPoint *host_points;
  CclContoursHead *head;
} CclContoursParameters;
