/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One view of an object in a mapped frame: how good it is, and its pixels. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* A part of a frame, in pixels of it. */
typedef struct {
  guint x, y, width, height;
} GstCclView;

/* The box of a component as a part of a frame of another size, cut at the frame's edges; its width
 * is 0 if nothing is left. meta_width, meta_height: of the frame that the box refers to. */
GstCclView gst_ccl_view_of_box (
    const GstCclComponent *box, guint meta_width, guint meta_height, const GstVideoInfo *info);

/* How good the view is: size × sharpness × place.
 *
 * - size: the square root of the number of pixels
 * - sharpness: the standard deviation of the Laplacian of the luma plus one, with 4 neighbours, at
 *   64 × 64 pixels at most; 1 where the format packs pixels
 * - place: 0.25 for a box that touches the edge of the frame, since part of the object may be
 *   outside, up to 1 for one whose distance from it is a tenth of its longer side */
gdouble gst_ccl_view_measure (const GstCclView *view, const GstVideoFrame *frame);

/* The view with a margin on each side, as a part of its width and height. */
GstCclView gst_ccl_view_enlarge (const GstCclView *view, gdouble margin, const GstVideoInfo *info);

/* The pixels as a sample of I420 in system memory, made smaller if a side is longer than max_size
 * pixels. NULL if the format cannot be converted. */
GstSample *gst_ccl_view_copy (const GstCclView *view, const GstVideoFrame *frame, guint max_size);
