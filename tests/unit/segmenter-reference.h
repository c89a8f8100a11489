/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference that every segmenter is compared with: one pixel at a time, windows counted pixel
 * by pixel. The background model of a pixel is mixture.h as it stands, as it defines the bits.
 */
#ifndef CCL_TEST_SEGMENTER_REFERENCE_H
#define CCL_TEST_SEGMENTER_REFERENCE_H

#include "segmenter.h"

#include "mixture.h"

/* The background models of a frame's pixels in steps as mixture.h has them: [k × pixels + pixel].
 */
typedef struct ModelState {
  uint16_t *weights, *means, *variances;
} ModelState;

typedef struct SegmenterReference {
  uint32_t width, height;
  CclForeground foreground;
  bool *zone;       /* width × height, NULL without one */
  ModelState model; /* for CCL_FOREGROUND_BACKGROUND */
  uint64_t n_frames;
  uint8_t *mask; /* of the last frame, width × height */
} SegmenterReference;

ModelState model_state_new (uint32_t width, uint32_t height);
void model_state_clear (ModelState *state);

/* Free with segmenter_reference_free(). */
SegmenterReference *segmenter_reference_new (const CclSegmenterPlan *plan);
void segmenter_reference_free (SegmenterReference *reference);

/* Makes the mask of the next frame. To begin anew, set n_frames to 0. */
void segmenter_reference_run (
    SegmenterReference *reference, const CclFrame *frame, const CclSegmenterOptions *options);

#endif /* CCL_TEST_SEGMENTER_REFERENCE_H */
