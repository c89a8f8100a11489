/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of codebook.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "core/foreground/camera/camera.h"
#include "core/foreground/codebook-frame.h"
#include "core/foreground/faint.h"
#include "core/foreground/sampled-cells.h"
#include "core/foreground/uncovered.h"
#include "cuda/foreground/foreground-parameters.h"
#include "cuda/foreground/light/light-parameters.h"

enum {
  CUDACCL_CODEBOOK_THREADS = 32 * CUDACCL_CODEBOOK_WARPS,
  CUDACCL_CODEBOOK_ROW_PAIRS = CUDACCL_CODEBOOK_WARPS / 2, /* of rows of words, in a block */
  /* For each row of a block a warp for each of six windows around pixels, and one that judges the
   * frame. Blocks have several rows, so that the next kernel's find multiprocessors without any. */
  CUDACCL_CODEBOOK_OBJECT_WARPS = 7,
  CUDACCL_CODEBOOK_OBJECT_ROWS = 4,
  CUDACCL_CODEBOOK_OBJECT_THREADS =
      32 * CUDACCL_CODEBOOK_OBJECT_WARPS * CUDACCL_CODEBOOK_OBJECT_ROWS,
  CUDACCL_CONFIRM_THREADS = 32 * CUDACCL_CONFIRM_WARPS,
  CUDACCL_CODEBOOK_FEW_WORDS = 4,  /* a shorter path for warps whose pixels have no more */
  CUDACCL_CODEBOOK_PLACE_BITS = 3, /* of the place of a word */
  /* In a cell of the light's grid. */
  CUDACCL_CODEBOOK_CELL_BOXES =
      CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX * (CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX),
};

/* The tolerances of the next frame, if its sensitivity is this one, so that the blocks of the
 * update need not compute them. */
typedef struct CclCodebookTolerances {
  uint32_t sensitivity;                     /* 0: they are not known */
  uint32_t faint;                           /* of faint.h, where such objects are sought */
  uint32_t levels[CUDACCL_CODEBOOK_LEVELS]; /* from the lowest byte on: the tolerance, the weak one,
                                             * that of white noise, that of calm places */
} CclCodebookTolerances;

/* What the frames so far determine for the next one. Zero before the first frame. */
typedef struct CclCodebookHistory {
  CclCodebookScene scene;
  uint32_t has_rows; /* rows have light of their own */
  uint32_t is_white; /* the noise */
  uint32_t is_dark;  /* the frame */
  CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS];
  CclCodebookLevel all_levels; /* together, for faint objects */
  CclCodebookTolerances tolerances;
} CclCodebookHistory;

/* Pixels of a cell that are not background; and of these, those that are settled. */
typedef struct CclCodebookCell {
  uint32_t lost, settled;
} CclCodebookCell;

/* The counts for CclCodebookSums, in the order of its fields from `dark` on, then those for
 * ccl_codebook_is_white(). */
enum {
  CUDACCL_CODEBOOK_DARK,
  CUDACCL_CODEBOOK_BRIGHT,
  CUDACCL_CODEBOOK_MODEL_DARK,
  CUDACCL_CODEBOOK_MODEL_BRIGHT,
  CUDACCL_CODEBOOK_CHROMA_SUM,
  CUDACCL_CODEBOOK_MODEL_CHROMA_SUM,
  CUDACCL_CODEBOOK_PAIRS,
  CUDACCL_CODEBOOK_ALIKE,
  CUDACCL_CODEBOOK_SUMS,
};

/* What is counted of a frame's light. */
typedef struct CclCodebookLightCounts {
  uint32_t measured, uniform; /* cells */
  uint32_t has_edges;         /* whether the light has, from these and CclFrameLight */
  uint32_t most, least;       /* of the factors; least: less than UINT16_MAX by so much */
  CclLightRowSums rows;
} CclCodebookLightCounts;

/* What is counted in a frame. Zero when a frame starts. */
typedef struct CclCodebookCounts {
  unsigned long long sums[CUDACCL_CODEBOOK_SUMS];
  CclCodebookNoise noise;
  CclCodebookLightCounts light;
  uint32_t elapsed; /* CclCodebookTime */
} CclCodebookCounts;

/* Pixels of a cell that are candidates, and of these, those that confirm it; and pairs of them. */
typedef struct CclSampledCell {
  uint32_t candidates, confirming;
  CclTexturePairs pairs;
} CclSampledCell;

/* ---- what several kernels have ---- */

/* The pixels of a frame and of the background, and the light between them. */
typedef struct CclCodebookPixels {
  CclExtent extent;
  CclFrameParameters frame;
  uint32_t is_wide;      /* luma has 16 bits */
  uint32_t sensitivity;  /* from ccl_codebook_sensitivity() */
  uint32_t sample_shift; /* a sample of light each 1 << sample_shift pixels, in both directions */
  uint8_t *background;   /* luma of each pixel; rows of 32 × row_words */
  CclCodebookHistory *history;
  CclCodebookCounts *counts;
  CclLightGrid grid;
  CclFrameLight *light; /* of which only the counts are used; NULL: the frame is not corrected */
  uint16_t *factors;    /* of the cells of the grid */
  int16_t *rows;        /* light of the rows of samples */
} CclCodebookPixels;

/* What a shaking camera may bring to a pixel (sway.h). */
typedef struct CclCodebookSway {
  uint32_t distance;   /* pixels that the camera displaces the frame by; 0: it does not shake */
  uint8_t *low, *high; /* the least and the greatest background around each pixel */
} CclCodebookSway;

/* A bit for each pixel. */
typedef struct CclCodebookBits {
  uint32_t *place[CUDACCL_CODEBOOK_PLACE_BITS];       /* CclCodebookState */
  uint32_t *object, *dynamic;                         /* CclCodebookState */
  uint32_t *strong, *foreground, *shadow, *recurrent; /* CclCodebookResult */
  uint32_t *settled;                                  /* CclCodebookResult */
  uint32_t *agrees, *differs;                         /* the first ones of pairs (texture.h) */
  uint32_t *ended, *begun; /* first ones of pairs: the model alone, the frame alone has an edge */
} CclCodebookBits;

/* What the second model knows of its places: a bit for each, in words of 32, row_words in a row. */
typedef struct CclSampledPlaces {
  CclSampledGrid grid;
  uint32_t row_words;
  uint32_t *different, *restless;
  uint32_t *unlike;          /* faint.h; where places are not restless */
  CclSampledCell *cells;     /* CUDACCL_SAMPLED_CELLS in a row */
  CclOutlinePairs *outlines; /* of each cell */
  uint32_t *faint_cells;     /* of each cell: faint pixels */
} CclSampledPlaces;

/* Ground that objects have uncovered (uncovered.h). */
typedef struct CclUncoveredCells {
  uint32_t *bits; /* of each cell, set at the end of a frame */
  uint16_t *ages; /* of each cell: the age that it has if its bit is set again in this frame */
  uint32_t *old;  /* bits of the cells that are old enough with that age */
} CclUncoveredCells;

/* What both models find, a bit for each pixel. */
typedef struct CclCodebookCandidates {
  uint32_t *objects, *shadows;
  uint32_t *faint;
  uint32_t *counts; /* of the 32 words of bits that a warp has in a row: pixels of objects, and in
                     * the upper half those that have changed; rows of divide_up (row_words, 32) */
  uint32_t finds_light; /* cells that are lit are told from objects */
} CclCodebookCandidates;

/* What a frame says of the scene. */
typedef struct CclCodebookEvidence {
  CclExtent extent;
  CclLightGrid grid;
  CclCodebookCell *cells; /* of the grid; zero when a frame starts */
  CclCodebookCounts *counts;
  uint32_t judges_scene; /* changes of the scene are looked for */
} CclCodebookEvidence;

/* ---- parameters of the kernels ---- */

/* Of the two that measure the light of a frame. */
typedef struct CclCodebookLightParameters {
  CclCodebookPixels pixels;
  CclLightCell *cells;
  /* Log ratios of the rows of samples, CUDACCL_LIGHT_MAX_COLUMNS × CUDACCL_LIGHT_SAMPLES of each,
   * less the row's light if rows have one. */
  int16_t *ratios;
  uint8_t *boxes; /* of each cell those of the frame, then of the model (camera.h); of the host;
                   * NULL: nobody reads them */
} CclCodebookLightParameters;

/* Of the one that finds what a shaking camera may bring. */
typedef struct CclCodebookSwayParameters {
  CclExtent extent;
  const uint8_t *background;
  CclCodebookSway sway;
} CclCodebookSwayParameters;

/* Of the update of the second model. */
typedef struct CclSampledParameters {
  CclSampledPlaces places;
  CclSampledTime time;
  uint32_t period;  /* from ccl_sampled_period() */
  uint32_t renews;  /* this is the first frame of a model */
  uint8_t *samples; /* planes of bytes: luma, u and v of the first sample of all places, then of the
                     * second one */
  uint64_t plane;   /* bytes */
  uint8_t *restlessness;
  const uint32_t *found; /* the mask of the frame before, a bit for each pixel */
  CclUncoveredCells uncovered;
} CclSampledParameters;

/* Of the update of both models. */
typedef struct CclCodebookParameters {
  CclCodebookPixels pixels;
  CclCodebookSway sway;
  CclCodebookBits bits;
  CclCodebookTime time;
  CclCodebookBlock *blocks; /* of the 32 pixels of each word; row_words of them in a row */
  CclCodebookEvidence evidence;
  CclSampledParameters sampled;
} CclCodebookParameters;

/* Of the one that finds the candidates of both models. */
typedef struct CclCandidateParameters {
  CclExtent extent;
  CclCodebookBits bits;
  CclSampledPlaces places;
  CclCodebookCandidates candidates;
  CclCodebookEvidence evidence;
  uint32_t keeps_shadows; /* as foreground */
  uint32_t hides_objects; /* the mask is empty */
} CclCandidateParameters;

/* Of the last one, which takes away candidates in cells that nothing confirms, writes the mask, and
 * gives the host what others have found: a kernel that writes memory of the host ends later. A
 * block of its own prepares the next frame. */
typedef struct CclConfirmParameters {
  CclExtent extent;
  CclMaskParameters mask;
  CclSampledGrid grid;
  const CclSampledCell *cells;
  const CclOutlinePairs *outlines;
  const uint32_t *faint_cells;
  CclCodebookCandidates candidates;
  CclUncoveredCells uncovered;
  CclCodebookEvidence evidence;
  CclCodebookHistory *history;
  CclFrameLight *light;            /* CclCodebookPixels */
  uint32_t sensitivity;            /* the same */
  uint32_t *found;                 /* a bit for each pixel: the mask */
  uint32_t *counts, *scene_change; /* those of the candidates, and CclSceneChange; of the host */
} CclConfirmParameters;
