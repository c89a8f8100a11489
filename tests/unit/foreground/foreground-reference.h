/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference for all foreground methods: one pixel at a time, windows counted pixel by pixel.
 * The background models of a pixel are computed by mixture.h and codebook.h, which define their
 * bits; light is measured cell by cell with sorted lists.
 */
#pragma once

#include <cudaccl/foreground.h>

#include "tests/unit/foreground/codebook-reference.h"

/* The background models of a frame's pixels, in units of mixture.h: [k × pixels + pixel]. */
typedef struct ModelState {
  uint16_t *weights, *means, *variances, *chroma;
} ModelState;

typedef struct ForegroundReference {
  uint32_t width, height;
  CclForegroundMethod method;
  CclPixelFormat format;
  bool *roi_mask; /* width × height, NULL without one */
  bool has_chroma;
  ModelState model;            /* for CUDACCL_FOREGROUND_MOG2 */
  CodebookReference *codebook; /* for CUDACCL_FOREGROUND_CODEBOOK */
  uint64_t n_frames;
  bool *held; /* width × height: the foreground of the last frame that was run with hold > 1 */
  bool has_held;
  uint8_t *mask; /* of the last frame, width × height */
  CclSceneChange scene_change;
} ForegroundReference;

ModelState model_state_new (uint32_t width, uint32_t height);
void model_state_clear (ModelState *state);

/* Free with foreground_reference_free(). */
ForegroundReference *foreground_reference_new (const CclForegroundPlan *plan);

/* As ccl_foreground_set_roi_mask(). */
void foreground_reference_set_roi_mask (ForegroundReference *self, const CclFrame *roi_mask);
void foreground_reference_free (ForegroundReference *reference);

/* Computes the mask of the next frame. To reset the background model, set n_frames to 0. */
void foreground_reference_run (
    ForegroundReference *reference, const CclFrame *frame, const CclForegroundOptions *options);
