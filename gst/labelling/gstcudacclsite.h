/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A GPU on which cudaccl labels frames, in one CUDA context, and copies of frames that are in
 * another context of that GPU or on another GPU. */
#pragma once

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/gst.h>

#include <cudaccl/device.h>

#include "labelling/frame/gstcclsite.h"

/* Belongs to the streaming thread. */
typedef struct {
  GstCclSite parent;
  CclCudaDevice *device;
  GstCudaContext *context;
  guint device_id;

  /* Of the latest frame that was copied. */
  CclCudaPeer *peer;
  GstCudaContext *peer_context;
  GstBufferPool *copies; /* buffers of copy_size bytes at least */
  gsize copy_size;

  GSList *contours; /* objects that streams use */

  GSList **list; /* all open sites of an element, without references */
} GstCudaCclSite;

/* The site of that context, with a new reference: one of the list, or a new one, which is added to
 * the list. The list must outlive the site. NULL after an error. */
GstCudaCclSite *gst_cuda_ccl_site_open (GSList **list, GstCudaContext *context, CclError *error);

/* An active pool of buffers in the device's memory of width × height pixels of four bytes:
 * GStreamer's allocator has no format for labels, masks or bytes. NULL if there is no memory. */
GstBufferPool *gst_cuda_ccl_site_new_pool (const GstCudaCclSite *site, gint width, gint height);

/* Queues a copy of the first `size` bytes of a memory of another context, with the same layout, on
 * a CUstream of the site's context. Returns a new reference to the copy, NULL after an error. */
GstBuffer *gst_cuda_ccl_site_copy (
    GstCudaCclSite *site, GstCudaMemory *memory, gsize size, gpointer stream, CclError *error);

/* An object that finds contours on the site's GPU. Streams of the same plan share one, as it takes
 * some 78 bytes of device memory for each pixel: each reads its table before the next one runs.
 * NULL after an error. Return it before the site is freed. */
CclContours *gst_cuda_ccl_site_get_contours (
    GstCudaCclSite *site, const CclContoursPlan *plan, CclError *error);
void gst_cuda_ccl_site_return_contours (GstCudaCclSite *site, CclContours *contours);

guint gst_cuda_ccl_device_of (GstCudaContext *context);

/* The CUDA memory that a frame begins in; NULL if it is in another kind of memory. */
GstCudaMemory *gst_cuda_ccl_memory_of (GstBuffer *buffer);

/* The CUstream on which memory is written, or NULL: the legacy default stream. */
gpointer gst_cuda_ccl_stream_of (GstCudaMemory *memory);
