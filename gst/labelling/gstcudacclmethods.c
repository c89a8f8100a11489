/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcudacclmethods.h"

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <cudaccl/device.h>

#include "labelling/frame/gstcclpicture.h"
#include "labelling/frame/gstcclsampler.h"
#include "gstcudacclsite.h"
#include "gstcudapinnedpool.h"
#include "shared/gstcclerror.h"
#include "shared/gstccli18n.h"

static CclLabeller *
plan_labeller (GstElement *element, GstCclSite *site, const CclLabellerPlan *plan, CclError *error)
{
  return ccl_cuda_labeller_new (((GstCudaCclSite *)site)->device, plan, error);
}

/* Runs on the stream that writes the frame are queued behind the writes. Without such a stream runs
 * are queued behind the legacy default stream. Frames of another GPU or context are copied, unless
 * their layout is out of range or they are spread over several memories: these are read through
 * system memory. */
static gboolean
locate (GstElement *element, GstCclSite *site, GstBuffer *buffer, const GstVideoInfo *info,
    gboolean with_chroma, CclLabeller *labeller, GstCclPlanes *planes, CclError *error)
{
  GstCudaCclSite *self = (GstCudaCclSite *)site;
  GstCudaMemory *memory = gst_cuda_ccl_memory_of (buffer);
  const gboolean is_here = memory && memory->context == self->context;
  gsize size;

  if (ccl_cuda_labeller_set_stream (
          labeller, is_here ? gst_cuda_ccl_stream_of (memory) : NULL, error) != CUDACCL_OK)
    return FALSE;
  if (!memory)
    return TRUE;
  gst_ccl_planes_init (planes, &memory->info);
  size = gst_ccl_planes_get_end (planes, info, buffer, with_chroma);
  if (!is_here && (gst_buffer_n_memory (buffer) != 1 || size > gst_buffer_get_size (buffer)))
    return TRUE;
  planes->map_flags = GST_MAP_READ | GST_MAP_CUDA;
  planes->location = CUDACCL_LOCATION_DEVICE;
  if (!is_here)
    planes->copy =
        gst_cuda_ccl_site_copy (self, memory, size, ccl_cuda_labeller_get_stream (labeller), error);
  return is_here || planes->copy;
}

static gboolean
copy_bits (GstElement *element, CclForeground *foreground, gpointer memory)
{
  return ccl_cuda_foreground_copy_bits (foreground, memory, NULL) == CUDACCL_OK;
}

static void
finish (GstElement *element, CclForeground *foreground)
{
  ccl_cuda_foreground_set_finished (foreground, NULL);
}

static CclForeground *
plan_foreground (
    GstElement *element, GstCclSite *site, const CclForegroundPlan *plan, CclError *error)
{
  return ccl_cuda_foreground_new (((GstCudaCclSite *)site)->device, plan, error);
}

static void
connect_foreground (GstElement *element, CclForeground *foreground, CclLabeller *labeller)
{
  ccl_cuda_foreground_set_stream (foreground, ccl_cuda_labeller_get_stream (labeller), NULL);
}

/* The copy is queued on the labeller's stream, before the mask or between mask and labels: the wait
 * for the table is a wait for it, too. Only page-locked memory is copied to without a wait. */
static gboolean
copy_rows (GstElement *element, GstCclSite *site, CclLabeller *labeller, const GstCclRowCopy *copy,
    CclError *error)
{
  const gboolean is_upload = copy->from.location == CUDACCL_LOCATION_HOST;
  const CUDA_MEMCPY2D rows = {
      .srcMemoryType = is_upload ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
      .srcHost = copy->from.data,
      .srcDevice = (CUdeviceptr)(guintptr)copy->from.data,
      /* The pitch of a single row has no meaning, but the driver refuses one above its limit. */
      .srcPitch = copy->n_rows > 1 ? copy->from.stride : copy->row_size,
      .dstMemoryType = is_upload ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
      .dstHost = copy->to,
      .dstDevice = (CUdeviceptr)(guintptr)copy->to,
      .dstPitch = copy->to_stride,
      .WidthInBytes = copy->row_size,
      .Height = copy->n_rows,
  };
  gboolean is_queued = gst_cuda_context_push (((GstCudaCclSite *)site)->context);

  if (is_queued) {
    is_queued =
        CuMemcpy2DAsync (&rows, (CUstream)ccl_cuda_labeller_get_stream (labeller)) == CUDA_SUCCESS;
    gst_cuda_context_pop (NULL);
  }
  if (!is_queued)
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE,
        is_upload ? N_ ("The luma of a frame cannot be copied to device memory")
                  : N_ ("A sample of the foreground or of the picture cannot be copied from device "
                        "memory"));
  return is_queued;
}

static CclContours *
plan_contours (GstElement *element, GstCclSite *site, const CclContoursPlan *plan, CclError *error)
{
  CclContours *contours = gst_cuda_ccl_site_get_contours ((GstCudaCclSite *)site, plan, error);

  if (!contours && error->status == CUDACCL_ERROR_NO_MEMORY)
    GST_INFO_OBJECT (element, "contours are found on the CPU: %s", error->message);
  return contours;
}

static void
release_contours (GstCclSite *site, CclContours *contours)
{
  gst_cuda_ccl_site_return_contours ((GstCudaCclSite *)site, contours);
}

static gboolean
connect_contours (CclContours *contours, CclLabeller *labeller, CclError *error)
{
  return ccl_cuda_contours_set_stream (contours, ccl_cuda_labeller_get_stream (labeller), error) ==
         CUDACCL_OK;
}

/* An active pool of page-locked memory. */
static GstBufferPool *
new_sample_pool (const GstCudaCclSite *site, gsize size)
{
  GstBufferPool *pool = gst_cuda_pinned_pool_new (site->context, NULL, (guint)size, NULL);

  if (pool && !gst_buffer_pool_set_active (pool, TRUE))
    gst_clear_object (&pool);
  return pool;
}

/* Four bytes are one label, four pixels of a mask, or two or four of luma. */
static GstBufferPool *
new_map_pool (GstElement *element, GstCclSite *site, const GstVideoInfo *info, GstCclMapKind kind)
{
  const gint width = GST_VIDEO_INFO_WIDTH (info);
  gint n_pixels = 4; /* in four bytes */

  if (kind == GST_CCL_MAP_SAMPLE)
    return new_sample_pool ((GstCudaCclSite *)site, gst_ccl_sampler_size (info));
  if (kind == GST_CCL_MAP_PICTURE)
    return new_sample_pool ((GstCudaCclSite *)site, gst_ccl_picture_size (info));
  if (kind == GST_CCL_MAP_LABELS)
    n_pixels = 1;
  else if (kind == GST_CCL_MAP_LUMA &&
           gst_ccl_planes_pixel_format (info) == CUDACCL_PIXEL_FORMAT_16)
    n_pixels = 2;
  return gst_cuda_ccl_site_new_pool ((GstCudaCclSite *)site,
      width / n_pixels + (width % n_pixels > 0), GST_VIDEO_INFO_HEIGHT (info));
}

static void
locate_map (GstElement *element, const GstVideoInfo *info, GstCclMapKind kind, GstCclMap *map)
{
  GstCudaMemory *memory = gst_cuda_ccl_memory_of (map->buffer);

  if (kind == GST_CCL_MAP_SAMPLE || kind == GST_CCL_MAP_PICTURE) {
    *map = (GstCclMap){map->buffer, .map_flags = GST_MAP_WRITE, .location = CUDACCL_LOCATION_HOST};
    return;
  }
#if GST_CHECK_VERSION(1, 24, 0)
  /* The previous user of the map may have queued work on its stream. */
  gst_cuda_memory_sync (memory);
#endif
  map->offset = GST_VIDEO_INFO_PLANE_OFFSET (&memory->info, 0);
  map->stride = (gsize)GST_VIDEO_INFO_PLANE_STRIDE (&memory->info, 0);
  map->map_flags = GST_MAP_WRITE | GST_MAP_CUDA;
  map->location = CUDACCL_LOCATION_DEVICE;
}

const GstCclMethods gst_cuda_ccl_methods = {
    .plan = plan_labeller,
    .locate = locate,
    .plan_foreground = plan_foreground,
    .connect = connect_foreground,
    .copy_bits = copy_bits,
    .queue_with_mask = ccl_cuda_labeller_queue_with_mask,
    .finish = finish,
    .copy_rows = copy_rows,
    .plan_contours = plan_contours,
    .release_contours = release_contours,
    .connect_contours = connect_contours,
    .new_map_pool = new_map_pool,
    .locate_map = locate_map,
    .map_memory = N_ ("device memory"),
};
