/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in CUDA memory, and the contexts that they are in. */
#pragma once

#include <cuda.h>

#include <gst/cuda/gstcudacontext.h>

#include "tests/check/shared/frames.h"

/* A context on the GPU of that number. */
GstCudaContext *new_context_on (guint device);

guint device_of (GstCudaContext *context);

/* Caps of frames in CUDA memory of that size. */
GstCaps *cuda_caps (const char *format, guint width, guint height);

/* The stride of a frame's GstVideoMeta. */
gsize luma_stride (GstBuffer *buffer);

/* Draws through a CPU map, which uploads. */
void draw_on_device (Drawing drawing, GstBuffer *buffer);

/* A GRAY8 frame in CUDA memory. */
GstBuffer *device_frame (GstCudaContext *context, Drawing drawing);

/* The context of the label map of a labelled frame; no reference is added. */
GstCudaContext *context_of_labels (GstBuffer *buffer);

/* The context with which an element answers a context query; a reference, or NULL. */
GstCudaContext *query_context (GstElement *element);

/* Fails unless two frames have the same columns, bit for bit, or none. Returns their number of
 * rows.
 */
guint assert_same_columns (GstBuffer *a, GstBuffer *b);
