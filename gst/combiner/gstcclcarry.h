/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Carries the metadata of a mask over to the video frame that the mask belongs to. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

/* Adds the mask's GstCclMeta, regions of interest and analytics metadata to the frame, which must
 * be writable. Coordinates are scaled from the size `from` to the size `to`; where they are equal,
 * metadata is copied as it is.
 *
 * What both branches have from before the tee stays as the frame has it: regions of interest that
 * are alike, and a GstCclMeta of the same labeller. If that of the mask has been changed since, as
 * ccltrack does, it replaces the frame's.
 *
 * Returns FALSE if the frame's analytics metadata and the mask's cannot be merged; then the mask's
 * is left out. */
gboolean gst_ccl_carry_meta (
    GstBuffer *mask, GstBuffer *frame, const GstVideoInfo *from, const GstVideoInfo *to);
