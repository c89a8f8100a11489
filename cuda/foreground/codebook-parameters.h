/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of codebook.cu, compiled by the host's C and by nvcc. */
#ifndef CUDACCL_CODEBOOK_PARAMETERS_H
#define CUDACCL_CODEBOOK_PARAMETERS_H

#include "core/foreground/camera.h"
#include "core/foreground/codebook-frame.h"
#include "core/foreground/sampled-cells.h"
#include "core/foreground/texture.h"
#include "foreground-parameters.h"
#include "light-parameters.h"

enum {
  CUDACCL_CODEBOOK_THREADS = 32 * CUDACCL_CODEBOOK_WARPS,
  CUDACCL_CODEBOOK_LIGHT_THREADS = 32 * CUDACCL_LIGHT_SAMPLES, /* a row of cells */
  CUDACCL_CODEBOOK_FEW_WORDS = 4,  /* a shorter path for warps whose pixels have no more */
  CUDACCL_CODEBOOK_PLACE_BITS = 3, /* of the place of a word */
  /* In a cell of the light's grid. */
  CUDACCL_CODEBOOK_CELL_BOXES =
      CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX * (CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX),
};

/* What the frames so far determine for the next one. Zero before the first frame. */
typedef struct CclCodebookHistory {
  CclCodebookScene scene;
  uint32_t has_rows; /* rows have light of their own */
  CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS];
} CclCodebookHistory;

/* Pixels of a cell that are not background; and of these, those that are settled. */
typedef struct CclCodebookCell {
  uint32_t lost, settled;
} CclCodebookCell;

/* Counts of CclCodebookSums, in its order from `dark` on. */
enum {
  CUDACCL_CODEBOOK_DARK,
  CUDACCL_CODEBOOK_BRIGHT,
  CUDACCL_CODEBOOK_MODEL_DARK,
  CUDACCL_CODEBOOK_MODEL_BRIGHT,
  CUDACCL_CODEBOOK_CHROMA_SUM,
  CUDACCL_CODEBOOK_MODEL_CHROMA_SUM,
  CUDACCL_CODEBOOK_SUMS,
};

/* What is counted of a frame's light. */
typedef struct CclCodebookLightCounts {
  uint32_t measured, uniform; /* cells */
  uint32_t has_edges;         /* whether the light has, from these and CclFrameLight */
  CclLightRowSums rows;
} CclCodebookLightCounts;

/* What is counted in a frame. Zero when a frame starts. */
typedef struct CclCodebookCounts {
  unsigned long long sums[CUDACCL_CODEBOOK_SUMS];
  CclCodebookNoise noise;
  CclCodebookLightCounts light;
  uint32_t n_blocks; /* that have added their counts */
} CclCodebookCounts;

/* Pixels of a cell that are candidates, and of these, those that confirm it; and pairs of them. */
typedef struct CclSampledCell {
  uint32_t candidates, confirming;
  CclTexturePairs pairs;
} CclSampledCell;

/* The second model. Bits of places are words of 32, row_words in a row; bits of pixels are as in
 * CclExtent. */
typedef struct CclSampledParameters {
  CclSampledGrid grid;
  uint32_t row_words;
  CclSampledTime time;
  uint32_t period;  /* from ccl_sampled_period() */
  uint8_t *samples; /* planes of bytes: luma, u and v of the first sample of all places, then of the
                     * second one */
  uint64_t plane;   /* bytes */
  uint8_t *restlessness;
  uint32_t *different, *restless; /* places */
  uint32_t *candidates, *shadows; /* pixels */
  uint32_t *found;                /* pixels: the mask */
  uint32_t finds_light;           /* cells that are lit are told from objects */
  uint32_t *agrees, *differs;     /* pixels: the first ones of pairs (texture.h) */
  CclSampledCell *cells;          /* CUDACCL_SAMPLED_CELLS in a row */
} CclSampledParameters;

typedef struct CclCodebookParameters {
  CclExtent extent;
  CclFrameParameters frame;
  CclMaskParameters mask;
  CclFrameLight *light; /* of which only the counts are used; NULL: the frame is not corrected */
  CclLightGrid grid;
  CclLightCell *light_cells;
  uint16_t *factors;      /* of the cells */
  uint32_t *scene_change; /* CclSceneChange of the frame; memory of the host */
  uint32_t is_wide;       /* luma has 16 bits */
  CclCodebookTime time;
  uint32_t begins;        /* this is the first frame of a model */
  uint32_t judges_scene;  /* changes of the scene are looked for */
  uint32_t keeps_shadows; /* as foreground */
  uint32_t hides_objects; /* the mask is empty */
  uint32_t sway;          /* pixels that a shaking camera displaces the frame by; 0: it does not */

  CclCodebookBlock *blocks; /* of the 32 pixels of each word; row_words of them in a row */
  CclCodebookHistory *history;
  CclCodebookCounts *counts;
  CclCodebookCell *cells; /* of the grid; zero when a frame starts */
  uint8_t *background;    /* luma of each pixel; rows of 32 × row_words */
  uint8_t *low, *high; /* the least and the greatest around it, where the camera shakes (sway.h) */
  /* Of the rows of samples: their log ratios, CUDACCL_LIGHT_MAX_COLUMNS × CUDACCL_LIGHT_SAMPLES of
   * each, less the row's light if rows have one; their light; and the means of those of a row of
   * cells. */
  int16_t *ratios, *rows, *means;
  uint32_t sample_shift; /* a sample each 1 << sample_shift pixels, in both directions */

  /* A bit for each pixel. */
  uint32_t *place[CUDACCL_CODEBOOK_PLACE_BITS];       /* CclCodebookState */
  uint32_t *strong, *foreground, *shadow, *recurrent; /* CclCodebookResult */
  uint32_t *object, *dynamic;                         /* CclCodebookState */
  uint32_t *settled;                                  /* CclCodebookResult */

  /* Of the host: */
  uint8_t *boxes;    /* of each cell of the grid those of the frame, then of the model (camera.h) */
  uint32_t *objects; /* of the 32 words of bits that a warp has in a row: pixels of objects, and in
                      * the upper half those that have changed; rows of divide_up (row_words, 32) */

  CclSampledParameters sampled;
} CclCodebookParameters;

#endif /* CUDACCL_CODEBOOK_PARAMETERS_H */
