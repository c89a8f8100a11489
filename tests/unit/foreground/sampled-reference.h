/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference for the second background model (sampled-background.h): a place at a time, windows
 * and cells counted pixel by pixel, cells connected by a search.
 */
#pragma once

#include "core/foreground/sampled-background.h"

typedef struct SampledPlace {
  CclCodebookValue samples[20];
  int restlessness;
  bool is_different, was_different;
  bool is_around;           /* most of the 5×5 places around it are different */
  bool is_unlike, is_faint; /* the same of the lower tolerance (faint.h) */
} SampledPlace;

typedef struct SampledReference {
  uint32_t width, height;
  uint32_t columns, rows; /* of places */
  SampledPlace *places;
  uint64_t nanoseconds;   /* since the first frame */
  uint32_t least_percent; /* the sensitivity, at most 100 */
  bool is_dark;           /* CclCodebookFrame */
  int elapsed;            /* since the frame before, in 1/256 s */
  int faint;              /* how far from samples is faint; G_MAXINT: nothing */
  bool finds_faint;       /* the light is even */
  bool *found;            /* the mask of the last frame */
  /* For how long a cell has been uncovered ground, in 1/256 s; −1: it is not. */
  int uncovered_for[64][64];
} SampledReference;

SampledReference *sampled_reference_new (uint32_t width, uint32_t height);
void sampled_reference_free (SampledReference *reference);

/* Updates the model with a frame in the light of the model. begins: all samples become those of the
 * frame. tolerances: of the codebook, for each level of luma. duration: nanoseconds, or 0. low,
 * high: what a shaking camera brings to each pixel; NULL: it does not shake. */
void sampled_reference_update (SampledReference *reference, const CclCodebookValue *values,
    const uint8_t *tolerances, uint32_t period, uint64_t duration, bool begins, const uint8_t *low,
    const uint8_t *high);

/* Adds the dynamic pixels that are different to the candidates, and takes away those that are not
 * confirmed, those that are uncovered ground, and those that are lit if finds_light is set. Then
 * adds faint objects. adds: there are objects at all. frame, ground: the luma of the frame and of
 * the background. */
void sampled_reference_judge (SampledReference *reference, const bool *is_dynamic, bool adds,
    bool finds_light, const uint8_t *frame, const uint8_t *ground, bool *candidates);
