/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcudacclsite.h"

#include <gst/cuda/gstcudabufferpool.h>
#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif

#include "shared/gstcclerror.h"

static void
close_peer (GstCudaCclSite *site)
{
  ccl_cuda_peer_free (&site->peer);
  gst_clear_object (&site->peer_context);
}

static void
drop_copies (GstCudaCclSite *site)
{
  if (site->copies)
    gst_buffer_pool_set_active (site->copies, FALSE);
  gst_clear_object (&site->copies);
}

static void
site_free (GstCclSite *parent)
{
  GstCudaCclSite *site = (GstCudaCclSite *)parent;

  *site->list = g_slist_remove (*site->list, site);
  close_peer (site);
  drop_copies (site);
  ccl_cuda_device_unref (&site->device);
  gst_object_unref (site->context);
  g_free (site);
}

guint
gst_cuda_ccl_device_of (GstCudaContext *context)
{
  guint device_id = 0;

  g_object_get (context, "cuda-device-id", &device_id, NULL);
  return device_id;
}

GstCudaMemory *
gst_cuda_ccl_memory_of (GstBuffer *buffer)
{
  GstMemory *memory = gst_buffer_n_memory (buffer) > 0 ? gst_buffer_peek_memory (buffer, 0) : NULL;

  return gst_is_cuda_memory (memory) ? GST_CUDA_MEMORY_CAST (memory) : NULL;
}

GstCudaCclSite *
gst_cuda_ccl_site_open (GSList **list, GstCudaContext *context, CclError *error)
{
  GstCudaCclSite *site;
  CclCudaDevice *device;

  for (GSList *link = *list; link; link = link->next) {
    site = link->data;
    if (site->context == context)
      return (GstCudaCclSite *)gst_ccl_site_ref (&site->parent);
  }
  device = ccl_cuda_device_open_in_context (gst_cuda_context_get_handle (context), error);
  if (!device)
    return NULL;
  ccl_cuda_device_set_capture_check (device, false); /* nothing captures GStreamer's streams */
  site = g_new0 (GstCudaCclSite, 1);
  site->parent = (GstCclSite){1, site_free};
  site->device = device;
  site->context = gst_object_ref (context);
  site->device_id = gst_cuda_ccl_device_of (context);
  site->list = list;
  *list = g_slist_prepend (*list, site);
  return site;
}

GstBufferPool *
gst_cuda_ccl_site_new_pool (const GstCudaCclSite *site, gint width, gint height)
{
  GstBufferPool *pool = gst_cuda_buffer_pool_new (site->context);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps =
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "RGBA", "width", G_TYPE_INT,
          width, "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);

  gst_caps_set_features_simple (
      caps, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
  gst_buffer_pool_config_set_params (config, caps, 0, 0, 0);
  if (!gst_buffer_pool_set_config (pool, config) || !gst_buffer_pool_set_active (pool, TRUE))
    gst_clear_object (&pool);
  return pool;
}

gpointer
gst_cuda_ccl_stream_of (GstCudaMemory *memory)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *stream = gst_cuda_memory_get_stream (memory);

  return stream ? gst_cuda_stream_get_handle (stream) : NULL;
#else
  return NULL;
#endif
}

/* A buffer for a copy of size bytes; NULL after an error. */
static GstBuffer *
acquire_copy (GstCudaCclSite *site, gsize size, CclError *error)
{
  const gint row = 1024;
  GstBuffer *copy = NULL;

  if (site->copy_size < size)
    drop_copies (site);
  if (!site->copies) {
    site->copies = gst_cuda_ccl_site_new_pool (site, row, (gint)(size / (4 * (gsize)row) + 1));
    site->copy_size = size;
  }
  if (!site->copies || gst_buffer_pool_acquire_buffer (site->copies, &copy, NULL) != GST_FLOW_OK)
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "No device memory for the copy of a frame of %zu bytes", size);
  return copy;
}

static gboolean
open_peer (GstCudaCclSite *site, GstCudaContext *context, CclError *error)
{
  if (site->peer_context == context)
    return TRUE;
  close_peer (site);
  site->peer = ccl_cuda_peer_new (site->device, gst_cuda_context_get_handle (context), error);
  if (!site->peer)
    return FALSE;
  site->peer_context = gst_object_ref (context);
  return TRUE;
}

static gboolean
queue_copy (GstCudaCclSite *site, GstCudaMemory *memory, gsize size, GstBuffer *copy,
    gpointer stream, CclError *error)
{
  GstMapInfo from, to;
  gboolean is_queued;

  /* Mapping may upload the frame to the GPU that holds it. */
  if (!gst_memory_map (GST_MEMORY_CAST (memory), &from, GST_MAP_READ | GST_MAP_CUDA)) {
    gst_ccl_error_set (
        error, CUDACCL_ERROR_DEVICE, "The frame's memory cannot be mapped for reading");
    return FALSE;
  }
  if (!gst_buffer_map (copy, &to, GST_MAP_WRITE | GST_MAP_CUDA)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE, "The memory of a copy cannot be mapped");
    gst_memory_unmap (GST_MEMORY_CAST (memory), &from);
    return FALSE;
  }
  is_queued = ccl_cuda_peer_copy (site->peer, from.data, gst_cuda_ccl_stream_of (memory), to.data,
                  stream, size, error) == CUDACCL_OK;
  gst_buffer_unmap (copy, &to);
  gst_memory_unmap (GST_MEMORY_CAST (memory), &from);
  return is_queued;
}

GstBuffer *
gst_cuda_ccl_site_copy (
    GstCudaCclSite *site, GstCudaMemory *memory, gsize size, gpointer stream, CclError *error)
{
  GstBuffer *copy = acquire_copy (site, size, error);

  if (copy && (!open_peer (site, memory->context, error) ||
                  !queue_copy (site, memory, size, copy, stream, error)))
    gst_clear_buffer (&copy);
  return copy;
}

/* Frames of 8K. Larger ones would take gigabytes of page-locked memory. */
#define MOST_PIXELS_WITH_CONTOURS (1 << 25)

/* Contours that streams use. */
typedef struct {
  CclContoursPlan plan;
  CclContours *contours;
  guint n_users;
} SharedContours;

static gboolean
is_same_plan (const CclContoursPlan *a, const CclContoursPlan *b)
{
  return a->width == b->width && a->height == b->height && a->connectivity == b->connectivity &&
         a->kind == b->kind;
}

CclContours *
gst_cuda_ccl_site_get_contours (GstCudaCclSite *site, const CclContoursPlan *plan, CclError *error)
{
  SharedContours *shared;
  CclContours *contours;

  for (GSList *link = site->contours; link; link = link->next) {
    shared = link->data;
    if (is_same_plan (&shared->plan, plan)) {
      shared->n_users++;
      return shared->contours;
    }
  }
  if ((guint64)plan->width * plan->height > MOST_PIXELS_WITH_CONTOURS) {
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "Frames of %u×%u pixels are too large for contours on a GPU", plan->width, plan->height);
    return NULL;
  }
  contours = ccl_cuda_contours_new (site->device, plan, error);
  if (!contours)
    return NULL;
  shared = g_new (SharedContours, 1);
  *shared = (SharedContours){*plan, contours, 1};
  site->contours = g_slist_prepend (site->contours, shared);
  return contours;
}

void
gst_cuda_ccl_site_return_contours (GstCudaCclSite *site, CclContours *contours)
{
  for (GSList *link = site->contours; link; link = link->next) {
    SharedContours *shared = link->data;

    if (shared->contours != contours)
      continue;
    if (--shared->n_users == 0) {
      ccl_contours_free (&shared->contours);
      g_free (shared);
      site->contours = g_slist_delete_link (site->contours, link);
    }
    return;
  }
}
