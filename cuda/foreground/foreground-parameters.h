/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of foreground.cu, otsu.cu, light.cu and mog2.cu, compiled by the
 * host's C and by nvcc. */
#ifndef CUDACCL_FOREGROUND_PARAMETERS_H
#define CUDACCL_FOREGROUND_PARAMETERS_H

#include <stdint.h>

#include "core/foreground/light.h"
#include "core/foreground/mixture.h"
#include "cuda/driver/tuning.h"
#include <cudaccl/foreground.h>

enum {
  CUDACCL_FOREGROUND_THREADS = 32 * CUDACCL_FOREGROUND_WARPS,
  CUDACCL_FOREGROUND_PIXELS = 4,    /* consecutive pixels of luma per thread */
  CUDACCL_THRESHOLD_MOST_PARTS = 4, /* threshold_parts */
  CUDACCL_HISTOGRAM_THREADS = 32 * CUDACCL_HISTOGRAM_WARPS,
  CUDACCL_HISTOGRAM_WIDE_VALUES = 65536,
  CUDACCL_HISTOGRAM_BINS = 256, /* of 256 values of 16 bits each */
  CUDACCL_HISTOGRAM_WINDOW_BINS = 4,
  CUDACCL_HISTOGRAM_COLUMNS = 16,
  /* The most parts of 32 groups that a block may count if pixels have 16 bits: a column has counts
   * of up to 4095 pixels. */
  CUDACCL_HISTOGRAM_MOST_PARTS = 4095 / CUDACCL_FOREGROUND_PIXELS * CUDACCL_HISTOGRAM_COLUMNS / 32,
  CUDACCL_LIGHT_THREADS =
      CUDACCL_LIGHT_SAMPLES * CUDACCL_LIGHT_SAMPLES, /* a sample each, or a warp per cell */
  CUDACCL_LIGHT_RATIOS = 2 * CUDACCL_LIGHT_LIMIT + 1,
  /* Rows that a dilated mask has above and below. Each row has one more word at both ends. */
  CUDACCL_CLOSING_MARGIN = (CUDACCL_MAX_CLOSING + 1) / 2,
};

/* Otsu's threshold of a frame. */
typedef struct CclHistogram {
  uint32_t counts[256]; /* of values, or of bins of pixels of 16 bits; zero when a frame starts */
  uint32_t n_blocks;    /* blocks that have added their counts; zero when a kernel starts */
  uint32_t threshold;
} CclHistogram;

/* What Otsu's threshold of pixels of 16 bits needs besides. A bin has the values of one upper byte;
 * windows are the bins that may have the threshold. */
typedef struct CclWideHistogram {
  uint64_t low_sums[CUDACCL_HISTOGRAM_BINS];   /* of the lower bytes; zero when a frame starts */
  uint64_t sum_before[CUDACCL_HISTOGRAM_BINS]; /* of values less than those of the bin */
  uint64_t sum;                                /* of all values */
  uint32_t n_before[CUDACCL_HISTOGRAM_BINS];   /* pixels with values less than those of the bin */
  uint32_t n;                                  /* of all pixels */
  /* Their first bins, ascending, and CUDACCL_HISTOGRAM_BINS after the last. */
  uint32_t windows[CUDACCL_HISTOGRAM_BINS / CUDACCL_HISTOGRAM_WINDOW_BINS + 1];
  /* Of the values in windows, the last of which may begin with the last bin. Zero when a frame
   * starts. */
  uint32_t counts[CUDACCL_HISTOGRAM_WIDE_VALUES + 256 * CUDACCL_HISTOGRAM_WINDOW_BINS];
} CclWideHistogram;

/* The light of a frame. Counts and sums are zero when a frame starts. */
typedef struct CclFrameLight {
  uint32_t begins;       /* the scene has changed: a new model begins with this frame */
  uint32_t is_empty;     /* light does not explain the frame: its mask is empty */
  uint32_t is_corrected; /* a factor is not one */
  uint32_t n_blocks;     /* blocks that have added their sums */
  uint32_t n_factors;    /* cells with a factor other than one */
  uint32_t counts[CUDACCL_LIGHT_RATIOS]; /* explained cells of each log ratio */
  CclLightSums sums;
} CclFrameLight;

typedef struct CclForegroundParameters {
  const uint8_t *frame;
  uint64_t frame_stride;  /* bytes */
  uint32_t width, height; /* pixels */
  uint32_t frame_aligned; /* frame and stride are multiples of the size of a thread's pixels */
  const uint8_t *u, *v;   /* CclChroma; NULL: no chroma */
  uint64_t u_stride, v_stride;
  uint32_t chroma_step, chroma_shift_x, chroma_shift_y;
  uint32_t chroma_aligned; /* interleaved, two pixels to a sample, and rows at multiples of 4; where
                            * luma has 16 bits, samples of 16 bits in rows at multiples of 8 */
  uint32_t threshold;      /* for CUDACCL_FOREGROUND_THRESHOLD */
  uint32_t threshold_parts; /* of a row, 32 groups each, for a warp of the threshold; 1…4 */
  CclHistogram *histogram;  /* NULL: the threshold is the one above */

  /* The background model: each Gaussian has a plane of weights and a plane of shapes. A shape is a
   * mean in the lower and a variance in the upper 16 bits. With chroma, it has a plane of chroma,
   * too. The pixels of a thread make a group; there are fewer than 2^32 groups. */
  struct uint2 *weights[CUDACCL_MAX_MIXTURES];
  struct uint4 *shapes[CUDACCL_MAX_MIXTURES];
  struct uint2 *chroma[CUDACCL_MAX_MIXTURES]; /* u in the lower, v in the upper byte; NULL: none */
  uint32_t row_groups;                        /* from row to row */
  CclMixtureParameters mixture;
  uint32_t tells_shadows; /* shadows are not foreground */

  /* Light; NULL: none. */
  CclFrameLight *light;
  CclLightGrid grid;
  CclLightCell *cells;
  uint16_t *factors;      /* of the cells */
  uint32_t may_begin;     /* the model has learnt from enough frames to find scene changes */
  uint32_t *scene_change; /* CclSceneChange of a new model; memory of the host */

  /* The mask. Bits are words of 32 pixels, the leftmost lowest; those beyond the end of a row are
   * 0. */
  const uint32_t *bits; /* input of a filter */
  uint32_t *result;     /* result of the threshold, background model or filter; NULL: the mask */
  uint32_t *dilated;    /* result of the dilation; its first bit is 32 pixels left and
                         * CUDACCL_CLOSING_MARGIN rows above the frame */
  uint32_t closing_width, closing_height; /* at least 1 */
  const uint32_t *held;                   /* pixels that the model skips; NULL: none */
  uint32_t *next_held;     /* a copy of the result for the next frame, may be held; NULL: none */
  uint32_t marks_shadows;  /* in the mask */
  const uint32_t *shadow;  /* input of a filter that looks at shadows, or of the last kernel if they
                            * are marked */
  uint32_t *shadow_result; /* result of the background model or filter; NULL: none */
  const uint32_t *roi_mask; /* bits of the region of interest; NULL: the whole frame */
  uint32_t row_words;       /* of bits and roi_mask */
  uint32_t invert;          /* 0 or all ones */
  uint8_t *mask;
  uint64_t mask_stride;  /* bytes */
  uint32_t *copy;        /* bits of the mask, in memory of the host; NULL: none */
  uint32_t mask_aligned; /* mask and stride are multiples of 16 */

  /* The bytes of a pixel of the frame, 1 or 2, and ccl_pixel_luma_byte(). */
  uint32_t pixel_bytes, luma_byte;

  CclWideHistogram *wide_histogram; /* NULL: pixels of 8 bits, or the threshold is given */
} CclForegroundParameters;

#endif /* CUDACCL_FOREGROUND_PARAMETERS_H */
