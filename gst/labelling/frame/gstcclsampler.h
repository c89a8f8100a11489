/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the sample of a frame's foreground that ccltrack asks for. */
#pragma once

#include <gst/video/video.h>

#include "gstcclbackend.h"
#include "shared/gstcclsample.h"

/* The most bytes that the rows of a sample have. */
gsize gst_ccl_sampler_size (const GstVideoInfo *info);

/* Describes a mask in system memory as the sample, which refers to its buffer. scale: each of its
 * pixels stands for scale × scale of the frame, a divisor of the step. */
void gst_ccl_sampler_share (
    const GstVideoInfo *info, guint scale, GstBuffer *mask, gsize stride, GstCclSample *sample);

/* Has the bits of the foreground's next mask written to system memory of that size, and describes
 * them: FALSE if the mask, each of whose pixels stands for scale × scale of the frame, does not
 * have the sample's size, or the foreground cannot do so. sample: all but its buffer is set. */
gboolean gst_ccl_sampler_take_bits (const GstCclOwner *owner, CclForeground *foreground,
    const GstVideoInfo *info, guint scale, gpointer memory, GstCclSample *sample);

/* Copies rows from system memory at once, or queues their copy from device memory. */
gboolean gst_ccl_sampler_copy_rows (const GstCclOwner *owner, GstCclSite *site,
    CclLabeller *labeller, const GstCclRowCopy *copy, CclError *error);

/* Queues the copy of the rows to system memory of that size, and describes them. pixels: what the
 * labeller reads, in that format, the mask or the frame. scale: each of them stands for scale ×
 * scale pixels of the frame, a divisor of the step. sample: all but its buffer is set. */
gboolean gst_ccl_sampler_queue (const GstCclOwner *owner, GstCclSite *site, CclLabeller *labeller,
    const GstVideoInfo *info, const CclFrame *pixels, CclPixelFormat format, guint scale,
    const CclLabellerOptions *options, gpointer memory, GstCclSample *sample, CclError *error);
