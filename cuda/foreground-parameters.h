/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of foreground.cu and mog2.cu, compiled by the host's C and by
 * nvcc. */
#ifndef CCL_FOREGROUND_PARAMETERS_H
#define CCL_FOREGROUND_PARAMETERS_H

#include <stdint.h>

#include "mixture.h"
#include <cudaccl/foreground.h>

enum {
  CCL_FOREGROUND_WARPS = 4, /* of a block, one row each; not of the histogram's */
  CCL_FOREGROUND_THREADS = 32 * CCL_FOREGROUND_WARPS,
  CCL_FOREGROUND_PIXELS = 4, /* consecutive pixels of luma per thread */
  CCL_HISTOGRAM_WARPS = 8,
  CCL_HISTOGRAM_THREADS = 32 * CCL_HISTOGRAM_WARPS,
};

/* Otsu's threshold of a frame. */
typedef struct CclHistogram {
  uint32_t counts[256]; /* zero when a frame starts */
  uint32_t n_blocks;    /* blocks that have added their counts; zero when a frame starts */
  uint32_t threshold;
} CclHistogram;

typedef struct CclForegroundParameters {
  const uint8_t *frame;
  uint64_t frame_stride;   /* bytes */
  uint32_t width, height;  /* pixels */
  uint32_t frame_aligned;  /* frame and stride are multiples of CCL_FOREGROUND_PIXELS */
  uint32_t threshold;      /* for CCL_FOREGROUND_THRESHOLD */
  CclHistogram *histogram; /* NULL: the threshold is the one above */

  /* The background model: each Gaussian has a plane of weights and a plane of shapes. A shape is a
   * mean in the lower and a variance in the upper 16 bits. The pixels of a thread make a group;
   * there are fewer than 2^32 groups. */
  struct uint2 *weights[CCL_MAX_MIXTURES];
  struct uint4 *shapes[CCL_MAX_MIXTURES];
  uint32_t row_groups; /* from row to row */
  CclMixtureParameters mixture;

  /* The mask. Bits are words of 32 pixels, the leftmost lowest; those beyond the end of a row are
   * 0. */
  uint32_t *bits;           /* input of the filter; NULL: no filter */
  const uint32_t *roi_mask; /* bits of the region of interest; NULL: the whole frame */
  uint32_t row_words;       /* of bits and roi_mask */
  uint32_t invert;          /* 0 or all ones */
  uint8_t *mask;
  uint64_t mask_stride;  /* bytes */
  uint32_t mask_aligned; /* mask and stride are multiples of 16 */
} CclForegroundParameters;

#endif /* CCL_FOREGROUND_PARAMETERS_H */
