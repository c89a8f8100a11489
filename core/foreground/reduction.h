/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Analysis at a reduced size: the background model works on means of factor × factor pixels, and
 * the mask is enlarged by repeating its pixels. Where the frame ends inside such a square, its last
 * row and column are repeated. Means are rounded to the nearest integer, so CPU and GPU give
 * identical bits.
 */
#pragma once

#include "foreground-class.h"
#include "core/label/labeller-class.h"

#include <cudaccl/foreground.h>

/* How one axis of the chroma is reduced: the factor, and the shift of the reduced chroma. */
typedef struct CclChromaReduction {
  uint32_t factor, shift;
} CclChromaReduction;

static inline uint32_t
ccl_reduced (uint32_t size, uint32_t factor)
{
  return size / factor + (size % factor != 0);
}

/* The factor of a plan. */
static inline uint32_t
ccl_reduction_factor (const CclForegroundPlan *plan)
{
  const CclMethod *method = ccl_find_method (plan->method);
  if (!method->has_model)
    return 1;
  if (plan->reduction != CUDACCL_REDUCTION_AUTO)
    return plan->reduction;
  uint32_t factor = 1;
  while (factor < CUDACCL_MAX_REDUCTION &&
         (uint64_t)ccl_reduced (plan->width, factor) * ccl_reduced (plan->height, factor) >
             method->most_pixels)
    factor *= 2;
  return factor;
}

/* A reduction undoes the subsampling of chroma first: what is subsampled already is reduced the
 * less. */
static inline CclChromaReduction
ccl_reduce_chroma (uint32_t factor, uint32_t shift)
{
  CclChromaReduction reduction = {.factor = factor, .shift = shift};
  while (reduction.factor > 1 && reduction.shift > 0) {
    reduction.factor /= 2;
    reduction.shift--;
  }
  return reduction;
}

/* The chroma of a reduced frame, whose planes have the stride of its luma. */
static inline CclChroma
ccl_reduced_chroma (
    const CclChroma *chroma, uint32_t factor, const void *u, const void *v, size_t stride)
{
  return (CclChroma){
      .u = u,
      .v = v,
      .u_stride = stride,
      .v_stride = stride,
      .step = 1,
      .shift_x = ccl_reduce_chroma (factor, chroma->shift_x).shift,
      .shift_y = ccl_reduce_chroma (factor, chroma->shift_y).shift,
  };
}

/* Writes a region of interest mask of the frames of a plan, without gaps: 255 inside, 0 outside. */
static inline void
ccl_copy_roi_mask (const CclForegroundPlan *plan, const CclFrame *roi_mask, uint8_t *copy)
{
  for (size_t y = 0; y < plan->height; y++, copy += plan->width)
    for (size_t x = 0; x < plan->width; x++)
      copy[x] = ((const uint8_t *)roi_mask->data)[y * roi_mask->stride + x] ? UINT8_MAX : 0;
}

/* The plan of the model of reduced frames: planar, of one or two bytes. */
static inline CclForegroundPlan
ccl_reduced_plan (const CclForegroundPlan *plan, uint32_t factor)
{
  CclForegroundPlan reduced = *plan;
  reduced.size = sizeof reduced; /* a newer program's struct may be larger */
  reduced.width = ccl_reduced (plan->width, factor);
  reduced.height = ccl_reduced (plan->height, factor);
  reduced.format =
      plan->format == CUDACCL_PIXEL_FORMAT_16 ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
  reduced.reduction = 1;
  reduced.roi_mask = NULL;
  return reduced;
}

/* The options of the model of reduced frames. A mask that is enlarged is inverted then, and
 * closings reach as far in the frame as without reduction. */
static inline CclForegroundOptions
ccl_reduced_options (const CclForegroundOptions *options, uint32_t factor)
{
  CclForegroundOptions reduced = *options;
  reduced.size = sizeof reduced;
  reduced.invert = options->invert && options->reduced_mask;
  reduced.reduced_mask = false;
  reduced.closing_width = ccl_reduced (options->closing_width, factor);
  reduced.closing_height = ccl_reduced (options->closing_height, factor);
  return reduced;
}

/* Whether the mask of a model of reduced frames may have their size. */
static inline CclStatus
ccl_reduced_mask_check (const CclForegroundOptions *options, bool has_roi_mask, CclError *error)
{
  return options->reduced_mask && has_roi_mask
             ? ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
                   "a reduced mask cannot have a region of interest mask, whose pixels are the "
                   "frame's")
             : CUDACCL_OK;
}
