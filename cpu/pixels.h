/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the foreground does with the pixels of a row, compiled once for each instruction set.
 *
 * Between the steps a mask is one bit a pixel: a row is n_words words of 64 columns, the first
 * column in the lowest bit. Denoising reads rows of its neighbours and columns around its own; for
 * that a row has a word before and one behind, and extend_row() in denoise.h continues its edges.
 */
#ifndef CCL_CPU_PIXELS_H
#define CCL_CPU_PIXELS_H

#include "mixture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixels whose weights lie together, a cache line, and so do means and variances. */
#define BLOCK_PIXELS 32

typedef struct WeightBlock {
  uint16_t weights[BLOCK_PIXELS];
} WeightBlock;

typedef struct GaussianBlock {
  uint16_t means[BLOCK_PIXELS];
  uint16_t variances[BLOCK_PIXELS];
} GaussianBlock;

/* Which Gaussians of a block matter. */
typedef struct BlockUse {
  uint8_t most;     /* no pixel has more */
  uint8_t compared; /* so many of a pixel were compared with its value in the last frame */
  bool lone;        /* each pixel has one, which weighs all */
} BlockUse;

/* The background model. Memory that is all zeros is a model that has seen nothing.
 *
 * Most pixels have only one or two Gaussians, so what pixels have first lies apart from what they
 * have second and so on; what none has is never touched. Weights lie apart from the rest because
 * those of lone Gaussians are known. */
typedef struct Model {
  WeightBlock *weights;     /* k × n_blocks + block */
  GaussianBlock *gaussians; /* k × n_blocks + block */
  size_t n_blocks;
  BlockUse *uses; /* of each block */
  size_t blocks_per_row;
} Model;

typedef enum Filter {
  FILTER_MEDIAN_3, /* of rows y − 1 … y + 1 */
  FILTER_MEDIAN_5, /* of rows y − 2 … y + 2 */
  FILTER_ERODE_3,
  FILTER_ERODE_5,
  FILTER_DILATE_3,
  FILTER_DILATE_5,
} Filter;

/* Rows of scratch memory that filters need. */
#define FILTER_SCRATCH_ROWS 3

typedef struct PixelCode {
  const char *name;

  /* Foreground where a pixel is greater than the threshold. */
  void (*threshold_row) (
      const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground);

  /* Foreground where the model does not explain a pixel of row y; the pixels are taken into the
   * model. Rows up to end_row are for the same thread. */
  void (*background_row) (const uint8_t *pixels, uint32_t width,
      const CclMixtureParameters *parameters, const Model *model, uint32_t y, uint32_t end_row,
      uint64_t *foreground);

  /* rows: the 3 or 5 rows of the window, from the top, edges continued. scratch: memory for
   * FILTER_SCRATCH_ROWS rows, with a word before and one behind each. */
  void (*filter_row) (Filter filter, const uint64_t *const rows[], size_t n_words,
      uint64_t *scratch, uint64_t *filtered);

  /* 255 for foreground, 0 for background. */
  void (*write_row) (const uint64_t *foreground, uint32_t width, uint8_t *mask);
} PixelCode;

extern const PixelCode pixel_code_portable, pixel_code_avx2, pixel_code_avx512;

#endif /* CCL_CPU_PIXELS_H */
