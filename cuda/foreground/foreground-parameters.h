/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernels of all foreground methods know of a frame and its mask, and the parameters of
 * the filters (filters.cu), compiled by the host's C and by nvcc. */
#pragma once

#include <stdint.h>

#include "cuda/driver/tuning.h"
#include <cudaccl/foreground.h>

enum {
  CUDACCL_FOREGROUND_THREADS = 32 * CUDACCL_FOREGROUND_WARPS,
  CUDACCL_FOREGROUND_PIXELS = 4, /* consecutive pixels of luma per thread */
  /* Rows that a dilated mask has above and below. Each row has one more word at both ends. */
  CUDACCL_CLOSING_MARGIN = (CUDACCL_MAX_CLOSING + 1) / 2,
};

/* The size of a frame. Its masks in bits are words of 32 pixels, the leftmost lowest; bits beyond
 * the end of a row are 0. */
typedef struct CclExtent {
  uint32_t width, height; /* pixels */
  uint32_t row_words;
} CclExtent;

/* The pixels of a frame. */
typedef struct CclFrameParameters {
  const uint8_t *data;
  uint64_t stride;     /* bytes */
  uint32_t is_aligned; /* data and stride are multiples of the size of a thread's pixels */
  uint32_t pixel_bytes, luma_byte; /* 1 or 2, and ccl_pixel_luma_byte() */
  const uint8_t *u, *v;            /* CclChroma; NULL: no chroma */
  uint64_t u_stride, v_stride;
  uint32_t chroma_step, chroma_shift_x, chroma_shift_y;
  uint32_t chroma_aligned; /* interleaved, two pixels to a sample, and rows at multiples of 4; where
                            * luma has 16 bits, samples of 16 bits in rows at multiples of 8 */
} CclFrameParameters;

/* Where a kernel writes what it has found. */
typedef struct CclMaskParameters {
  uint32_t *result;         /* bits for a filter that follows; NULL: the kernel writes the mask */
  uint32_t *shadow_result;  /* the shadows for a filter; NULL: none */
  const uint32_t *roi_mask; /* bits of the region of interest; NULL: the whole frame */
  uint8_t *data;            /* the mask */
  uint64_t stride;          /* bytes */
  uint32_t is_aligned;      /* data and stride are multiples of 16 */
  uint32_t invert;          /* 0 or all ones */
  uint32_t marks_shadows;   /* in the mask */
  uint32_t *copy;           /* bits of the mask, in memory of the host; NULL: none */
} CclMaskParameters;

typedef struct CclFilterParameters {
  CclExtent extent;
  CclMaskParameters mask;
  const uint32_t *bits;   /* to be filtered */
  const uint32_t *shadow; /* read by a filter that looks at shadows, and by the last one if they are
                           * marked */
  uint32_t *kept;         /* a copy of the result of the noise filter; NULL: none */
  uint32_t *dilated;      /* result of the dilation; its first bit is 32 pixels left and
                           * CUDACCL_CLOSING_MARGIN rows above the frame */
  uint32_t closing_width, closing_height; /* at least 1 */
} CclFilterParameters;
