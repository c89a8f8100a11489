/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference for a frame's codebooks (codebook.h): one pixel at a time, windows counted pixel by
 * pixel, at the size at which the model works.
 */
#pragma once

#include "core/foreground/camera/camera.h"
#include "core/foreground/codebook-frame.h"
#include "tests/unit/foreground/sampled-reference.h"

typedef struct CodebookReference {
  uint32_t width, height, n_pixels;
  CclCodeword (*words)[CUDACCL_CODEBOOK_WORDS]; /* of the pixels in raster order */
  CclCodebookState *states;                     /* of each pixel */
  CclPixelClass *classes;                       /* before the filter */
  uint8_t *background;                          /* the luma of each pixel's heaviest word */
  bool sways;                                   /* the camera shakes */
  uint32_t n_swaying;                           /* frames in which it does */
  uint8_t *low, *high;    /* the range of the background that it brings to a pixel */
  bool *recurrent;        /* whether a word beside it is recurrent */
  CclCodebookNoise noise; /* of the last frame */
  CclCodebookLevel levels[CUDACCL_CODEBOOK_LEVELS];
  int quiet, caution; /* ccl_faint_next(), in hundredths of a level; in steps */
  bool is_white;      /* the noise of the last frame */
  CclCodebookFrame frame;
  CclLightGrid grid;
  CclLightCell *cells;
  uint16_t *factors;        /* of each cell */
  bool has_edges;           /* the light of cells has edges */
  int *rows;                /* the light of each row of samples */
  bool has_rows;            /* and whether it is removed from the frame */
  uint32_t *lost, *settled; /* pixels of each cell that are not background; and match a word */
  CclCodebookSums sums;
  CclCodebookScene scene;
  CclCamera *camera;
  CclSceneChange noted;  /* that the last frame is the first one of, but for the camera's */
  CclSceneChange change; /* of the last frame */
  uint32_t n_scene_changes;
  bool has_light;
  CclShadows shadows;
  uint64_t n_frames;
  SampledReference *sampled; /* the second model */
  CclCodebookValue *values;  /* of the last frame, in the model's light */
  uint32_t hold;             /* these are CclForegroundOptions */
  uint64_t frame_duration, absorb_after;
  uint32_t sensitivity; /* percent; 0: 100 */
  uint64_t now, rest;   /* nanoseconds; and of object_gain what is left of a weight of 1 */
  uint8_t *mask;        /* of the last frame */
} CodebookReference;

/* Free with codebook_reference_free(). */
CodebookReference *codebook_reference_new (uint32_t width, uint32_t height);
void codebook_reference_free (CodebookReference *reference);

/* Computes the mask of the next frame, before openings, closings and inversion, from width × height
 * values of 8 bits each. */
void codebook_reference_run (
    CodebookReference *reference, const uint8_t *luma, const uint8_t *u, const uint8_t *v);
