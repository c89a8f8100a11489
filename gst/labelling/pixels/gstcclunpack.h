/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats that no backend reads as they are: frames are copied to one that is read, without a
 * converter in the pipeline.
 *
 * Colours become luma and chroma of full range with the coefficients of BT.601 in 256ths; samples
 * of 10 bits move to the top of their 16 bits, as those of P010_10LE; big-endian samples are
 * swapped. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

#define GST_CCL_UNPACKED_FORMATS                                                                   \
  "I420_10LE, GRAY16_BE, RGB, BGR, RGBA, BGRA, ARGB, ABGR, RGBx, BGRx, xRGB, xBGR"

/* Whether frames of a format are unpacked, and then the description of unpacked ones: Y444,
 * GRAY16_LE or P010_10LE. */
gboolean gst_ccl_unpack_describe (const GstVideoInfo *packed, GstVideoInfo *unpacked);

/* A frame with the unpacked pixels, and nothing else. with_chroma: otherwise only luma is written.
 * pool: of such frames, made where it is NULL. NULL with the error filled if the frame contradicts
 * its caps or cannot be mapped. */
GstBuffer *gst_ccl_unpack (GstBufferPool **pool, const GstVideoInfo *packed,
    const GstVideoInfo *unpacked, GstBuffer *frame, gboolean with_chroma, CclError *error);
