/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCudaMemory made the same way with every version of GStreamer. Not installed. */
#pragma once

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/* Allocates memory for a format that GStreamer's CUDA allocator supports; the memory's own info has
 * the strides. NULL if the device has no memory left. */
GstMemory *gst_ccl_cuda_memory_new (GstCudaContext *context, const GstVideoInfo *info);

/* Wraps the caller's memory: one plane of any format, laid out as info describes. */
GstMemory *gst_ccl_cuda_memory_new_wrapped (GstCudaContext *context, const GstVideoInfo *info,
    CUdeviceptr data, gpointer user_data, GDestroyNotify notify);
