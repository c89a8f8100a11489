/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The foreground's operations on the pixels of a row, compiled once for each instruction set.
 *
 * Between the operations a mask has one bit per pixel: a row is n_words words of 64 columns, the
 * first column in the lowest bit. Filters also read the columns left and right of a word; for that,
 * a row has one more word before and after, which extend_row() in bit-rows.h fills with
 * copies of the edge pixels.
 */
#pragma once

#include "core/foreground/codebook-frame.h"
#include "core/foreground/sampled-background.h"
#include "core/label/labeller-class.h"
#include "core/foreground/mixture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixels of a block: 32 consecutive pixels of a row. Their weights fill one cache line, their means
 * and variances two. */
#define BLOCK_PIXELS 32

typedef struct WeightBlock {
  uint16_t weights[BLOCK_PIXELS];
} WeightBlock;

typedef struct GaussianBlock {
  uint16_t means[BLOCK_PIXELS];
  uint16_t variances[BLOCK_PIXELS];
} GaussianBlock;

typedef struct ChromaBlock {
  uint16_t chroma[BLOCK_PIXELS]; /* u + 256 × v */
} ChromaBlock;

/* Which Gaussians of a block are in use. */
typedef struct BlockUse {
  uint8_t most;     /* the most Gaussians that a pixel has */
  uint8_t compared; /* the most that the last frame was compared with; for prefetching */
  bool single;      /* each pixel has exactly one, of full weight */
} BlockUse;

/* The background model. Memory of zeros is a model that has learnt from no frame.
 *
 * Most pixels have only one or two Gaussians, so the first Gaussians of all pixels are stored
 * together, then the second ones and so on: memory of Gaussians that no pixel has is never touched.
 * Weights are stored apart from means and variances, because the weights of single Gaussians are
 * known without reading them. */
typedef struct Model {
  WeightBlock *weights;     /* k × n_blocks + block */
  GaussianBlock *gaussians; /* k × n_blocks + block */
  ChromaBlock *chroma;      /* k × n_blocks + block; NULL: luma only */
  size_t n_blocks;
  BlockUse *uses; /* of each block */
  size_t blocks_per_row;
} Model;

/* A row of a frame for the background model, and where its classes go. Rows of bits have one bit
 * per pixel. */
typedef struct BackgroundRow {
  const uint8_t *luma;
  bool is_wide;           /* luma has 16 bits per pixel, little-endian, else 8 */
  const uint16_t *chroma; /* u + 256 × v of each pixel, aligned to a cache line, readable up to the
                           * end of the last block. NULL: luma only */
  uint32_t width, y;
  uint32_t end_row; /* the same thread processes the rows up to here, for prefetching */
  const Model *model;
  const CclMixtureParameters *parameters;
  bool tells_shadows;   /* false: shadows are foreground */
  const uint64_t *held; /* pixels whose model is not updated; NULL: none */
  uint64_t *foreground;
  uint64_t *shadow;
} BackgroundRow;

enum {
  CODEBOOK_HISTOGRAMS = 8,
  CODEBOOK_NOT_COUNTED = CUDACCL_CODEBOOK_LEVELS * CUDACCL_CODEBOOK_DISTANCES
};

/* What pixels add to the figures of their frame. */
typedef struct CodebookCounts {
  /* Noise histograms that take turns, so that an increment need not wait for that of an equal pixel
   * before it: level × CUDACCL_CODEBOOK_DISTANCES + distance, and an entry for pixels that are not
   * counted. Their entries are side by side, on few cache lines. */
  uint32_t noise[CODEBOOK_NOT_COUNTED + 1][CODEBOOK_HISTOGRAMS];
  uint64_t chroma, model_chroma;
  uint32_t model_dark, model_bright;
} CodebookCounts;

/* One word of each pixel of a block. The first words of all pixels are stored together, then the
 * second ones and so on: memory of words that no pixel has is never touched. */
typedef struct CodewordBlock {
  _Alignas(64) uint16_t luma[CUDACCL_CODEBOOK_LANES]; /* as in CclCodeword */
  uint16_t u[CUDACCL_CODEBOOK_LANES], v[CUDACCL_CODEBOOK_LANES];
  uint16_t weight[CUDACCL_CODEBOOK_LANES], birth[CUDACCL_CODEBOOK_LANES];
  uint8_t visits[CUDACCL_CODEBOOK_LANES];
} CodewordBlock;

/* Pixels of a vector at rest (codebook-rest.h); zeros: they are not. */
typedef struct CodebookRest {
  uint16_t gained, most; /* weight since the last one was written, and until one passes */
  uint8_t place;         /* of the heaviest words */
} CodebookRest;

/* The least pixels of a vector. */
enum { CODEBOOK_LEAST_LANES = 8 };

/* A row of a frame for the codebook model. Rows of values are readable, and rows of results are
 * writable, up to the end of the last block; bits beyond the width are undefined. */
typedef struct CodebookRow {
  const uint8_t *luma;    /* 8 bits per pixel, in the model's light */
  const uint8_t *slack;   /* of each pixel */
  const uint16_t *chroma; /* u + 256 × v of each pixel. NULL: luma only */
  uint32_t width;
  const CclCodebookFrame *frame;
  CodewordBlock *words; /* the first ones of each block; `distance` further: the next ones */
  size_t distance;
  uint8_t *n_words;           /* of each block: words from this place on have weight 0 */
  CodebookRest *rests;        /* of each vector */
  uint8_t *margins;           /* of pixels at rest */
  uint8_t *places;            /* of the words that the pixels match or have made */
  const uint64_t *in_object;  /* the mask of the frame before */
  const uint64_t *is_dynamic; /* from the frame before */
  uint64_t *strong;           /* of the frame before, replaced by this frame's */
  uint64_t *foreground, *shadow, *recurrent, *settled;
  uint8_t *background; /* the luma of the heaviest words */
  CodebookCounts *counts;
} CodebookRow;

/* The samples of 64 places: for each sample the luma, u and v of all of them. */
enum { SAMPLED_LANES = 64 };
typedef struct SampleBlock {
  uint8_t values[CUDACCL_SAMPLED_VALUES][3][SAMPLED_LANES];
} SampleBlock;

/* A row of places for the second background model (sampled-background.h). Rows of values are
 * readable, and rows of results writable, up to a multiple of 64 places; results beyond the columns
 * are undefined. */
typedef struct SampledRow {
  const uint8_t *luma[2];       /* the two rows of pixels, in the model's light */
  const uint16_t *chroma;       /* u + 256 × v of each pixel of the upper row. NULL: luma only */
  const uint8_t *const *ranges; /* of a shaking camera: the least luma of both rows, then the
                                 * greatest. NULL: it does not shake */
  uint32_t y, columns;          /* of places */
  CclSampledTime time;
  bool begins;               /* all samples become those of this frame */
  uint32_t period;           /* seconds from sample to sample where an object is */
  const uint8_t *tolerances; /* of near samples, for each level of luma */
  uint8_t faint;             /* ccl_faint_tolerance() */
  const uint64_t *found;     /* the pixels of the upper row in the mask of the frame before */
  SampleBlock *samples;
  uint8_t *restlessness;
  uint64_t *different; /* of the frame before, replaced by this frame's */
  uint64_t *restless;
  uint64_t *unlike; /* faint.h; where places are not restless */
} SampledRow;

/* Rows of one plane of a frame, to be reduced to one row of means of factor × n_rows samples. */
typedef struct ReducedRow {
  const uint8_t *const *rows;
  uint32_t n_rows, factor; /* powers of two, at most CUDACCL_MAX_REDUCTION */
  uint32_t n_samples;      /* of a row; the last one is repeated as far as means need it */
  uint32_t step;           /* bytes from sample to sample */
  uint32_t n_means;
  ptrdiff_t ahead; /* bytes from the rows to those that are reduced soon, to be loaded; or 0 */
  uint16_t *sums;  /* scratch memory: n_means × factor × step entries */
  uint8_t *means;
} ReducedRow;

typedef enum Filter {
  FILTER_MEDIAN_3, /* of rows y − 1 … y + 1 */
  FILTER_MEDIAN_5, /* of rows y − 2 … y + 2 */
  FILTER_STRONG_5, /* at least CUDACCL_CODEBOOK_LEAST_STRONG of the window */
  FILTER_ERODE_3,
  FILTER_ERODE_5,
  FILTER_DILATE_3,
  FILTER_DILATE_5,
} Filter;

/* Rows of scratch memory that filters need. */
#define FILTER_SCRATCH_ROWS 6

#define NO_LOG_RATIO INT16_MAX

typedef struct PixelCode {
  const char *name;

  /* Foreground where a pixel is greater than the threshold. */
  void (*threshold_row) (
      const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground);

  /* The same for pixels of two bytes. */
  void (*threshold_words) (
      const uint8_t *pixels, uint32_t width, CclWordThreshold threshold, uint64_t *foreground);

  /* Copies the first or the second byte of pixels of two bytes. */
  void (*copy_bytes) (const uint8_t *pixels, uint32_t width, bool second, uint8_t *bytes);

  /* Finds foreground and shadow by the model, and updates it. */
  void (*background_row) (const BackgroundRow *row);

  /* Finds the classes of pixels by their codebooks, and updates these. */
  void (*codebook_row) (const CodebookRow *row);

  /* Finds the places that are different from their samples, and updates these. */
  void (*sampled_row) (const SampledRow *row);

  /* Copies the chroma of a row to every pixel: u + 256 × v. */
  void (*spread_chroma) (
      const CclChroma *chroma, uint32_t y, uint32_t width, uint16_t *chroma_of_pixels);

  /* Multiply the luma of 8 or of 16 bits and the chroma of pixels by their factors (light.h).
   * Chroma may be corrected in place. */
  void (*correct_luma) (
      const uint8_t *luma, const uint16_t *factors, uint32_t width, uint8_t *corrected);
  void (*correct_wide_luma) (
      const uint8_t *luma, const uint16_t *factors, uint32_t width, uint8_t *corrected);
  void (*correct_chroma) (
      const uint16_t *chroma, const uint16_t *factors, uint32_t width, uint16_t *corrected);

  /* For each of n samples the log ratio of the frame to the model, −CUDACCL_LIGHT_LIMIT…
   * CUDACCL_LIGHT_LIMIT, or NO_LOG_RATIO where they are not compared. logs: of each luma, less 256;
   * 0 where it is not compared. */
  void (*log_ratios) (
      const uint8_t *logs, const uint8_t *frame, const uint8_t *model, uint32_t n, int16_t *ratios);

  /* The number of a cell's log ratios up to one. stride: from a row of samples to the next. */
  uint32_t (*count_ratios) (const int16_t *ratios, size_t stride, int16_t most);

  /* ccl_codebook_slack() of each pixel. */
  void (*find_slack) (const uint8_t *luma, const uint16_t *spreads, uint32_t width, uint8_t *slack);

  /* Adds the numbers of pixels that are too dark and too bright for the light to be measured. */
  void (*count_extremes) (const uint8_t *luma, uint32_t width, uint32_t *dark, uint32_t *bright);

  /* Dilation by a window of n_rows rows, `left` columns to the left and `right` columns to the
   * right, each at most 63; with complement UINT64_MAX, erosion. Rows, dilated and scratch have a
   * word before and after them, which are columns like others; columns farther away count as
   * background, for erosion as foreground. */
  void (*dilate_row) (const uint64_t *const rows[], int n_rows, int left, int right, size_t n_words,
      uint64_t complement, uint64_t *scratch, uint64_t *dilated);

  /* rows: the 3 or 5 rows of the window, from the top, extended by a word on both sides. scratch:
   * memory for FILTER_SCRATCH_ROWS rows with a word before and after each. */
  void (*filter_row) (Filter filter, const uint64_t *const rows[], size_t n_words,
      uint64_t *scratch, uint64_t *filtered);

  /* Median filter of foreground and shadow together, in a window of 3×3 or, large, 5×5 pixels. If
   * most of its pixels are of either class, the pixel is foreground where 3 times the number of
   * foreground pixels is at least twice that of shadow pixels, and else shadow. Rows and scratch
   * as for filter_row(). */
  void (*median_of_classes) (bool large, const uint64_t *const foreground[],
      const uint64_t *const shadow[], size_t n_words, uint64_t *scratch, uint64_t *filtered,
      uint64_t *filtered_shadow);

  /* 255 for foreground, 0 for background. */
  void (*write_row) (const uint64_t *foreground, uint32_t width, uint8_t *mask);

  /* Means of samples of one byte, and of two bytes, little-endian, with a step of 2. */
  void (*reduce_row) (const ReducedRow *row);
  void (*reduce_wide_row) (const ReducedRow *row);

  /* Repeats each byte `factor` times, up to a width. */
  void (*enlarge_row) (const uint8_t *from, uint32_t factor, uint32_t width, uint8_t *to);
} PixelCode;

extern const PixelCode pixel_code_portable, pixel_code_avx2, pixel_code_avx512, pixel_code_neon;
