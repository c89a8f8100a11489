/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the rows of a frame that tell ccltrack the colours of objects. */
#pragma once

#include <gst/video/video.h>

#include "gstcclbackend.h"
#include "shared/gstcclsample.h"

/* The most bytes that the rows of a picture have. */
gsize gst_ccl_picture_size (const GstVideoInfo *info);

/* Copies the rows of a frame, of its luma and, where it is mapped, of its chroma, to system memory
 * of that size, or queues the copy if the frame is in device memory, and describes them. picture:
 * all but its buffer is set. */
gboolean gst_ccl_picture_queue (const GstCclOwner *owner, GstCclSite *site, CclLabeller *labeller,
    const GstVideoInfo *info, const CclFrame *frame, gpointer memory, GstCclPicture *picture,
    CclError *error);
