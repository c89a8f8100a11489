/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parameters of kernels, declared once for the C that launches them and for CUDA C++. Every
 * kernel takes one such struct by value.
 *
 * Raw labels. A labelling kernel numbers the pixels of a frame in its label buffer: pixel (x, y,
 * z) has the index z × label_slice + y × label_stride + x, a 32-bit number for every frame. The
 * raw label of a foreground pixel is the index of its component's root plus one, that of a
 * background pixel 0. The elements between the end of a row and the start of the next are 0 and
 * stay so.
 */
#pragma once

#include <cudaccl/labeller.h>

/* The parameters of a labelling kernel. */
typedef struct CclLabellingParameters {
  const uint8_t *frame;          /* pixels of one byte at any address, or of two bytes */
  size_t frame_stride;           /* bytes from row to row */
  size_t frame_slice;            /* bytes from slice to slice */
  uint32_t width, height, depth; /* pixels; depth is 1 for a frame, more for a volume */
  uint32_t connectivity;         /* 4 or 8; 6, 18 or 26 for a volume */
  uint32_t threshold, invert;    /* foreground: (value > threshold) != invert; invert is 0 or 1 */
  uint32_t *labels;              /* the label buffer, at least 16-byte aligned */
  uint32_t label_stride;         /* elements from row to row, even, ≥ width */
  uint32_t label_slice;          /* elements from slice to slice */
  void *scratch;      /* as large as the algorithm's row in the table says, 16-byte aligned */
  uint32_t *changed;  /* research/ only: set to 1 by a round that has not converged */
  uint32_t round;     /* research/ only: the number of the round, from 0 */
  uint32_t word_mask; /* of pixels of two bytes, CclWordThreshold, as is their threshold */
} CclLabellingParameters;

/* The sums over one component while its pixels are added in any order. An empty accumulator has
 * all bits set but those of number: counts and sums are off by one until they are read, and maxima
 * are kept as minima of the complement. */
typedef struct CclAccumulator {
  uint64_t sum_x, sum_y; /* minus 1 */
  uint32_t area;         /* minus 1 */
  uint32_t first;        /* index of the component's first pixel in the label buffer */
  uint32_t left, right_complement, bottom_complement;
  uint32_t number; /* the component's label, 0 when it was filtered out; of the latest frame */
} CclAccumulator;

/* The least words of 32 elements in a chunk of the analysis. */
#define CUDACCL_CHUNK_WORDS 256u

/* The parameters of a kernel of the analysis. Between two frames all accumulators are empty, no
 * first pixel is marked and no root is listed. */
typedef struct CclAnalysisParameters {
  const uint32_t *labels; /* raw labels */
  uint32_t label_stride;  /* elements */
  uint32_t width, height; /* pixels */
  uint32_t n_elements;    /* of the label buffer: label_stride × height */
  /* One for each two elements of two rows, or of one row with 4-connectivity: among these, no more
   * than one can be a root. */
  CclAccumulator *accumulators;
  uint32_t rows_of_accumulator;
  uint32_t *roots;             /* the indices of the roots in the label buffer, in any order */
  uint32_t *n_roots;           /* device memory */
  uint32_t min_area, max_area; /* the filter, both inclusive */
  uint32_t *first_bits;        /* one bit for each element: the first pixel of a component */
  uint32_t *chunk_counts;      /* the marks in each chunk */
  uint32_t chunk_words;        /* of first_bits, a multiple of CUDACCL_CHUNK_WORDS */
  uint32_t n_chunks;
  uint32_t n_rows;           /* the most rows the table may have */
  uint32_t *result_count;    /* pinned host memory */
  CclComponent *result_rows; /* pinned host memory, n_rows of them */
  uint32_t *label_map;       /* the caller's */
  size_t label_map_stride;   /* elements from row to row */
} CclAnalysisParameters;
