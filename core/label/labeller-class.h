/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/labeller.h>. */
#pragma once

#include "core/base/status.h"

#include <cudaccl/labeller.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclLabellerClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*run) (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
      const CclLabels *labels, CclTable *table, CclError *error);
  /* The two halves of run(); NULL in backends whose run() does not wait for another processor. */
  CclStatus (*queue) (CclLabeller *labeller, const CclFrame *frame,
      const CclLabellerOptions *options, const CclLabels *labels, CclError *error);
  CclStatus (*wait) (CclLabeller *labeller, CclTable *table, CclError *error);
  bool (*is_done) (CclLabeller *labeller); /* of the queued frame; NULL with queue */
  /* Prepares for frames of another size, which is inside the documented range. Sets plan.width and
   * plan.height, unless it fails. */
  CclStatus (*resize) (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error);
  void (*free) (CclLabeller *labeller);
} CclLabellerClass;

/* The first member of every backend's struct. */
struct CclLabeller {
  const CclLabellerClass *klass;
  CclLabellerPlan plan; /* algorithm: the name of the one that is used, a static string */

  bool is_queued; /* a frame, which the next call waits for */
  CclTable table; /* of the queued frame, in backends without queue() */

  /* If some_labels is set, only these two rows of a label map are read, and run() need not write
   * the others (label-rows.h). */
  bool some_labels;
  uint32_t label_rows[2];
};

/* The bytes of a pixel, and its greatest value. */
static inline uint32_t
ccl_pixel_bytes (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
}

static inline uint32_t
ccl_pixel_max (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_16 ? UINT16_MAX : UINT8_MAX;
}

/* The byte of a pixel that has its luma in 8 bits: of 16 bits the upper half. */
static inline uint32_t
ccl_pixel_luma_byte (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_16 || format == CUDACCL_PIXEL_FORMAT_8_SECOND;
}

/* The threshold of pixels of two bytes. They are little-endian words of 16 bits, and a pixel is
 * foreground where (word & mask) > threshold, in all formats. */
typedef struct CclWordThreshold {
  uint16_t mask, threshold;
} CclWordThreshold;

static inline CclWordThreshold
ccl_word_threshold (CclPixelFormat format, uint32_t threshold)
{
  switch (format) {
  case CUDACCL_PIXEL_FORMAT_8_FIRST:
    return (CclWordThreshold){0x00ff, (uint16_t)threshold};
  case CUDACCL_PIXEL_FORMAT_8_SECOND:
    return (CclWordThreshold){0xff00, (uint16_t)(threshold << 8 | 0xff)};
  default:
    return (CclWordThreshold){0xffff, (uint16_t)threshold};
  }
}

/* Checks format, data, address and stride of a frame of rows of `width` pixels. */
CclStatus ccl_frame_check (
    const CclFrame *frame, uint32_t width, CclPixelFormat format, CclError *error);

/* Checks address and stride of a label map of rows of `width` pixels. NULL is refused. */
CclStatus ccl_labels_check (const CclLabels *labels, uint32_t width, CclError *error);

/* Checks the connectivity of frames. */
CclStatus ccl_connectivity_check (CclConnectivity connectivity, CclError *error);

/* Checks the threshold of frames of a format. */
CclStatus ccl_threshold_check (uint32_t threshold, CclPixelFormat format, CclError *error);

/* Checks that a plan is inside the documented ranges, except for the algorithm's name. Fills the
 * error and returns CUDACCL_ERROR_ARGUMENT if it is not. */
CclStatus ccl_plan_check (const CclLabellerPlan *plan, CclError *error);

/* Checks the arguments of a frame to be labelled, as ccl_labeller_queue() does. */
CclStatus ccl_labeller_check_run (const CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error);

/* The most components that a frame of the plan can have, which is the most rows of a table: one
 * isolated pixel in each 2×2, or every second pixel with 4-connectivity. */
uint32_t ccl_plan_most_components (const CclLabellerPlan *plan);
