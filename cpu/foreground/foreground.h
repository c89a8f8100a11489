/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a foreground segmenter on the CPU, and its steps, a file each. cpu-foreground.c
 * explains them. */
#ifndef CUDACCL_CPU_FOREGROUND_H
#define CUDACCL_CPU_FOREGROUND_H

#include "cpu/pixels/bit-rows.h"
#include "codebook-frames.h"
#include "core/foreground/foreground-class.h"
#include "frame-light.h"
#include "core/label/labeller-class.h"
#include "cpu/base/mapping.h"
#include "cpu/pixels/pixels.h"
#include "cpu/base/workers.h"

/* A closing's window reaches so far from its middle. */
#define CLOSING_MARGIN ((CUDACCL_MAX_CLOSING + 1) / 2)

/* Histograms that take turns, so that an increment need not wait for that of an equal pixel before
 * it. */
#define N_HISTOGRAMS 4

typedef struct ForegroundBand {
  uint32_t first_row, end_row;
  uint64_t *scratch;      /* for filters */
  uint64_t *row, *shadow; /* one row of the mask */
  uint32_t *histograms;   /* N_HISTOGRAMS of the band's pixels in the region of interest */
  /* One row each: the luma of packed pixels, luma in the model's light in the format's number of
   * bits, the chroma of pixels, the factors of pixels. */
  uint8_t *packed_luma, *luma;
  uint16_t *chroma, *factors;
} ForegroundBand;

/* The frame at work, for all threads. */
typedef struct FrameJob {
  const CclFrame *frame;
  const CclMask *mask;
  const CclForegroundOptions *options;
  uint32_t threshold;
  CclMixtureParameters parameters;
  bool has_light;  /* the frame is corrected by the light's factors */
  bool is_empty;   /* light does not explain the frame: no mask yet */
  bool skips_held; /* the model skips held pixels */
} FrameJob;

typedef struct CpuForeground {
  CclForeground base;
  const PixelCode *code;
  Workers *workers;
  FrameJob job;
  size_t n_words; /* of a row */
  uint32_t n_bands;
  ForegroundBand *bands;
  uint64_t *histogram;      /* of the frame */
  BitRows foreground;       /* of step 2 */
  BitRows eroded, filtered; /* of steps 3 and 4 */
  BitRows dilated;          /* of step 5, with CLOSING_MARGIN rows more above and below */
  BitRows filtered_shadow;  /* of step 4, if it filters shadows, too */
  BitRows shadow;           /* of step 2, if shadows are marked */
  BitRows held;             /* the result of step 4, or 2, of the last frame */
  bool has_held;            /* held has been written since the model began */
  BitRows roi_mask;         /* words: NULL without one */
  Model model;
  Light light;
  Codebooks *codebooks; /* NULL with another method */

  Mapping masks_mapping;
  Mapping model_mapping; /* no memory without a model */
} CpuForeground;

static inline bool
is_mog2 (const CpuForeground *self)
{
  return self->base.plan.method == CUDACCL_FOREGROUND_MOG2;
}

static inline bool
is_opened (const CpuForeground *self)
{
  const CclDenoise denoise = self->job.options->denoise;
  return denoise == CUDACCL_DENOISE_OPENING_3 || denoise == CUDACCL_DENOISE_OPENING_5;
}

/* The codebook has a median filter of its own. */
static inline bool
is_denoised (const CpuForeground *self)
{
  return self->job.options->denoise != CUDACCL_DENOISE_NONE &&
         (!self->codebooks || is_opened (self));
}

static inline bool
marks_shadows (const CpuForeground *self)
{
  return ccl_method_has_model (self->base.plan.method) &&
         self->job.options->shadows == CUDACCL_SHADOWS_MARK;
}

/* Whether the noise filter is a median of foreground and shadow together. */
static inline bool
filters_classes (const CpuForeground *self)
{
  return is_mog2 (self) && self->job.options->shadows != CUDACCL_SHADOWS_KEEP &&
         is_denoised (self) && !is_opened (self);
}

static inline bool
is_closed (const CpuForeground *self)
{
  return self->job.options->closing_width > 1 || self->job.options->closing_height > 1;
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

/* The number of values that pixels may have. */
static inline uint32_t
n_values (const CpuForeground *self)
{
  return ccl_pixel_max (self->base.plan.format) + 1;
}

/* Otsu's threshold of the frame at work. */
uint32_t cpu_foreground_choose_threshold (CpuForeground *self);

/* Keeps the foreground of a row for the next frame. */
void cpu_foreground_hold_row (const CpuForeground *self, uint32_t y, const uint64_t *row);

/* Inverts a row if asked, clears the pixels outside the region of interest, and writes the mask.
 * shadow: the row's shadows, if they are marked. */
void cpu_foreground_finish_row (
    const CpuForeground *self, uint32_t y, uint64_t *row, uint64_t *shadow);

/* The noise filter and the closing, after the foreground has been found. */
void cpu_foreground_filter (CpuForeground *self);

#endif /* CUDACCL_CPU_FOREGROUND_H */
