/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a foreground segmenter on the CPU, its steps, and the interface of its methods, a
 * file each. foreground.c explains the steps. */
#pragma once

#include "core/foreground/foreground-class.h"
#include "core/foreground/foreground-list.h"
#include "core/label/labeller-class.h"
#include "cpu/base/mapping.h"
#include "cpu/base/workers.h"
#include "cpu/pixels/bit-rows.h"
#include "cpu/pixels/pixels.h"

/* A closing's window reaches so far from its middle. */
#define CLOSING_MARGIN ((CUDACCL_MAX_CLOSING + 1) / 2)

typedef struct ForegroundBand {
  uint32_t first_row, end_row;
  uint64_t *scratch;      /* for filters */
  uint64_t *row, *shadow; /* one row of the mask */
  uint8_t *packed_luma;   /* one row: the luma of packed pixels */
} ForegroundBand;

/* The frame at work, for all threads. */
typedef struct FrameJob {
  const CclFrame *frame;
  const CclMask *mask;
  const CclForegroundOptions *options;
  CclDenoise denoise; /* the noise filter that follows the method */
} FrameJob;

typedef struct CpuForeground CpuForeground;

/* What a method does. Functions that are NULL have nothing to do. */
typedef struct CpuMethod {
  /* Makes CpuForeground.model. Code, workers and bands are there. false: there is no memory. */
  bool (*prepare) (CpuForeground *foreground);
  /* Has the model forget what it has learnt: before its first frame, and whenever n_frames is 0. */
  CclStatus (*reset) (CpuForeground *foreground, CclError *error);
  /* Does what a frame needs before its rows, with all threads. */
  CclStatus (*begin) (CpuForeground *foreground, CclError *error);
  /* Finds the foreground of row y and, with a model, its shadows. Each row once in a frame, by the
   * thread of its band. */
  void (*find_row) (
      const CpuForeground *foreground, uint32_t band, uint32_t y, uint64_t *row, uint64_t *shadow);
  /* Gets a row after the noise filter, before the closing. */
  void (*keep_row) (const CpuForeground *foreground, uint32_t y, const uint64_t *row);
  /* Is called when the mask of a frame is written. */
  void (*end) (CpuForeground *foreground);
  void (*free) (void *model); /* which may be incomplete */
} CpuMethod;

#define DECLARE(number, name, ...) extern const CpuMethod cpu_##name;
CCL_FOREGROUND_METHODS (DECLARE)
#undef DECLARE

struct CpuForeground {
  CclForeground base;
  const CpuMethod *method;
  void *model; /* of the method */
  const PixelCode *code;
  Workers *workers;
  FrameJob job;
  size_t n_words; /* of a row */
  uint32_t n_bands;
  ForegroundBand *bands;
  BitRows foreground;       /* of step 2 */
  BitRows eroded, filtered; /* of steps 3 and 4 */
  BitRows dilated;          /* of step 5, with CLOSING_MARGIN rows more above and below */
  BitRows filtered_shadow;  /* of step 4, if it filters shadows, too */
  BitRows shadow;           /* of step 2, if shadows are marked */
  BitRows roi_mask;         /* words: NULL without one */
  Mapping roi_mapping;      /* its memory */
  Mapping mapping;
};

static inline bool
is_denoised (const CpuForeground *self)
{
  return self->job.denoise != CUDACCL_DENOISE_NONE;
}

static inline bool
is_opened (const CpuForeground *self)
{
  return is_denoised (self) && !ccl_denoise_is_median (self->job.denoise);
}

static inline bool
has_shadows (const CpuForeground *self)
{
  return ccl_foreground_method_has_model (self->base.plan.method) &&
         self->job.options->shadows != CUDACCL_SHADOWS_KEEP;
}

static inline bool
marks_shadows (const CpuForeground *self)
{
  return has_shadows (self) && self->job.options->shadows == CUDACCL_SHADOWS_MARK;
}

/* Whether the noise filter is a median of foreground and shadow together. */
static inline bool
filters_classes (const CpuForeground *self)
{
  return has_shadows (self) && ccl_denoise_is_median (self->job.denoise);
}

static inline bool
is_closed (const CpuForeground *self)
{
  return ccl_is_closed (self->job.options);
}

static inline const uint8_t *
frame_row (const CpuForeground *self, uint32_t y)
{
  return (const uint8_t *)self->job.frame->data + y * self->job.frame->stride;
}

static inline bool
is_wide (const CpuForeground *self)
{
  return self->base.plan.format == CUDACCL_PIXEL_FORMAT_16;
}

/* A row of the frame's luma, one byte per pixel, two where it is wide. */
static inline const uint8_t *
luma_row (const CpuForeground *self, const ForegroundBand *band, uint32_t y)
{
  const CclPixelFormat format = self->base.plan.format;

  if (format == CUDACCL_PIXEL_FORMAT_8 || is_wide (self))
    return frame_row (self, y);
  self->code->copy_bytes (frame_row (self, y), self->base.plan.width,
      format == CUDACCL_PIXEL_FORMAT_8_SECOND, band->packed_luma);
  return band->packed_luma;
}

/* The pixels of row y that are greater than a threshold. */
void cpu_foreground_compare_row (
    const CpuForeground *self, uint32_t y, uint32_t threshold, uint64_t *row);

/* Gives the method a row after the noise filter. */
static inline void
cpu_foreground_keep_row (const CpuForeground *self, uint32_t y, const uint64_t *row)
{
  if (self->method->keep_row)
    self->method->keep_row (self, y, row);
}

/* Inverts a row if asked, clears the pixels outside the region of interest, and writes the mask.
 * shadow: the row's shadows, if they are marked. */
void cpu_foreground_finish_row (
    const CpuForeground *self, uint32_t y, uint64_t *row, uint64_t *shadow);

/* The noise filter and the closing, after the foreground has been found. */
void cpu_foreground_filter (CpuForeground *self);
