/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GStreamer's CUDA allocator cannot copy wrapped memory of a format that it does not support, and
 * version 1.22 cannot wrap memory at all. So wrapped memory comes from an allocator derived from
 * it, which
 *
 * - copies memory and keeps the stride, because the GstVideoMeta of a copied buffer names it,
 * - with GStreamer 1.22, also maps and frees: GST_MAP_CUDA returns the device pointer, other maps
 *   return a copy in system memory, which is downloaded or uploaded when it is out of date. */
#include "gstcclcudamemory.h"

typedef GstCudaAllocator GstCclWrappedAllocator;
typedef GstCudaAllocatorClass GstCclWrappedAllocatorClass;

static GType gst_ccl_wrapped_allocator_get_type (void);
G_DEFINE_TYPE (GstCclWrappedAllocator, gst_ccl_wrapped_allocator, GST_TYPE_CUDA_ALLOCATOR)

static gsize
row_size (const GstVideoInfo *info)
{
  return (gsize)GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) * (gsize)GST_VIDEO_INFO_WIDTH (info);
}

/* Copies and waits for the end of the copy. The driver requires memory for the whole pitch of the
 * last row, too, and refuses a copy where the memory ends with the last pixel: so the last row is
 * copied separately, with a pitch of its width. */
static gboolean
run_copy (GstCudaContext *context, const CUDA_MEMCPY2D *copy)
{
  CUDA_MEMCPY2D rows = *copy, last = *copy;
  gboolean copied = TRUE;

  rows.Height--;
  last.Height = 1;
  if (last.srcMemoryType == CU_MEMORYTYPE_HOST)
    last.srcHost = (const guint8 *)last.srcHost + rows.Height * copy->srcPitch;
  else
    last.srcDevice += rows.Height * copy->srcPitch;
  if (last.dstMemoryType == CU_MEMORYTYPE_HOST)
    last.dstHost = (guint8 *)last.dstHost + rows.Height * copy->dstPitch;
  else
    last.dstDevice += rows.Height * copy->dstPitch;
  last.srcPitch = last.dstPitch = last.WidthInBytes;

  if (!gst_cuda_context_push (context))
    return FALSE;
  if (rows.Height > 0)
    copied = CuMemcpy2D (&rows) == CUDA_SUCCESS;
  copied = copied && CuMemcpy2D (&last) == CUDA_SUCCESS;
  gst_cuda_context_pop (NULL);
  return copied;
}

typedef struct {
  GstCudaContext *context;
  CUdeviceptr data;
} DeviceCopy;

static void
device_copy_free (gpointer data)
{
  DeviceCopy *copy = data;

  if (copy->data && gst_cuda_context_push (copy->context)) {
    CuMemFree (copy->data);
    gst_cuda_context_pop (NULL);
  }
  gst_object_unref (copy->context);
  g_free (copy);
}

/* NULL if the device has no memory left. */
static DeviceCopy *
device_copy_new (GstCudaContext *context, gsize size)
{
  DeviceCopy *copy = g_new0 (DeviceCopy, 1);

  copy->context = gst_object_ref (context);
  /* CuMemAlloc() of GStreamer takes 32 bits. */
  if (size <= G_MAXUINT && gst_cuda_context_push (context)) {
    if (CuMemAlloc (&copy->data, (guint)size) != CUDA_SUCCESS)
      copy->data = 0;
    gst_cuda_context_pop (NULL);
  }
  if (!copy->data)
    g_clear_pointer (&copy, device_copy_free);
  return copy;
}

static GstMemory *
gst_ccl_wrapped_memory_copy (GstMemory *memory, gssize offset, gssize size)
{
  GstCudaMemory *self = GST_CUDA_MEMORY_CAST (memory);
  gsize stride = (gsize)GST_VIDEO_INFO_PLANE_STRIDE (&self->info, 0);
  CUDA_MEMCPY2D parameters = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcPitch = stride,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstPitch = stride,
      .WidthInBytes = row_size (&self->info),
      .Height = (gsize)GST_VIDEO_INFO_HEIGHT (&self->info),
  };
  DeviceCopy *copy;
  GstMapInfo map;
  gboolean copied;

  /* Only the whole memory can be copied, as with GStreamer's own CUDA memory. */
  if (offset != 0 || (size != -1 && (gsize)size != memory->size))
    return NULL;
  copy = device_copy_new (self->context, memory->maxsize);
  if (!copy)
    return NULL;
  if (!gst_memory_map (memory, &map, GST_MAP_READ | GST_MAP_CUDA)) {
    device_copy_free (copy);
    return NULL;
  }
  parameters.srcDevice = (CUdeviceptr)(guintptr)map.data;
  parameters.dstDevice = copy->data;
  copied = run_copy (self->context, &parameters);
  gst_memory_unmap (memory, &map);

  if (!copied) {
    device_copy_free (copy);
    return NULL;
  }
  return gst_ccl_cuda_memory_new_wrapped (
      self->context, &self->info, copy->data, copy, device_copy_free);
}

static GstAllocator *
wrapped_allocator (void)
{
  static GstAllocator *allocator = NULL;

  if (g_once_init_enter (&allocator)) {
    GstAllocator *made = g_object_new (gst_ccl_wrapped_allocator_get_type (), NULL);
    gst_object_ref_sink (made);
    GST_OBJECT_FLAG_SET (made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&allocator, made);
  }
  return allocator;
}

#if GST_CHECK_VERSION(1, 24, 0)

static void
gst_ccl_wrapped_allocator_class_init (GstCclWrappedAllocatorClass *klass)
{
}

static void
gst_ccl_wrapped_allocator_init (GstCclWrappedAllocator *self)
{
  GST_ALLOCATOR_CAST (self)->mem_copy = gst_ccl_wrapped_memory_copy;
}

/* Without any function GStreamer would free memory that it does not own. */
static void
leave_alone (gpointer data)
{
}

GstMemory *
gst_ccl_cuda_memory_new_wrapped (GstCudaContext *context, const GstVideoInfo *info,
    CUdeviceptr data, gpointer user_data, GDestroyNotify notify)
{
  gst_cuda_memory_init_once ();
  return gst_cuda_allocator_alloc_wrapped (GST_CUDA_ALLOCATOR_CAST (wrapped_allocator ()), context,
      NULL, info, data, user_data, notify ? notify : leave_alone);
}

GstMemory *
gst_ccl_cuda_memory_new (GstCudaContext *context, const GstVideoInfo *info)
{
  gst_cuda_memory_init_once ();
  return gst_cuda_allocator_alloc (NULL, context, NULL, info);
}

#else

typedef struct {
  GstCudaMemory parent;

  CUdeviceptr data;
  gpointer user_data;
  GDestroyNotify notify;

  GMutex lock;
  guint8 *staging; /* the copy in system memory, laid out as on the device */
} GstCclWrappedMemory;

/* Uploads the staging copy to the device, or downloads it. */
static gboolean
transfer (GstCclWrappedMemory *self, gboolean upload)
{
  const GstVideoInfo *info = &self->parent.info;
  gsize stride = (gsize)GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = upload ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
      .srcHost = self->staging,
      .srcDevice = self->data,
      .srcPitch = stride,
      .dstMemoryType = upload ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
      .dstHost = self->staging,
      .dstDevice = self->data,
      .dstPitch = stride,
      .WidthInBytes = row_size (info),
      .Height = (gsize)GST_VIDEO_INFO_HEIGHT (info),
  };

  return run_copy (self->parent.context, &copy);
}

static gpointer
map_device (GstCclWrappedMemory *self, GstMapFlags flags)
{
  if (GST_MEMORY_FLAG_IS_SET (self, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD)) {
    if (!transfer (self, TRUE))
      return NULL;
    GST_MINI_OBJECT_FLAG_UNSET (self, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD);
  }
  if (flags & GST_MAP_WRITE)
    GST_MINI_OBJECT_FLAG_SET (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
  return (gpointer)(guintptr)self->data;
}

static gpointer
map_staging (GstCclWrappedMemory *self, GstMapFlags flags)
{
  if (!self->staging) {
    self->staging = g_try_malloc (GST_MEMORY_CAST (self)->maxsize);
    if (!self->staging)
      return NULL;
    GST_MINI_OBJECT_FLAG_SET (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
  }
  if (GST_MEMORY_FLAG_IS_SET (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD)) {
    if (!transfer (self, FALSE))
      return NULL;
    GST_MINI_OBJECT_FLAG_UNSET (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
  }
  if (flags & GST_MAP_WRITE)
    GST_MINI_OBJECT_FLAG_SET (self, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD);
  return self->staging;
}

static gpointer
gst_ccl_wrapped_memory_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstCclWrappedMemory *self = (GstCclWrappedMemory *)memory;
  gpointer data;

  g_mutex_lock (&self->lock);
  data =
      (flags & GST_MAP_CUDA) == GST_MAP_CUDA ? map_device (self, flags) : map_staging (self, flags);
  g_mutex_unlock (&self->lock);
  return data;
}

static void
gst_ccl_wrapped_memory_unmap (GstMemory *memory, GstMapInfo *info)
{
}

static void
gst_ccl_wrapped_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  GstCclWrappedMemory *self = (GstCclWrappedMemory *)memory;

  if (self->notify)
    self->notify (self->user_data);
  gst_object_unref (self->parent.context);
  g_free (self->staging);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
gst_ccl_wrapped_allocator_class_init (GstCclWrappedAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = gst_ccl_wrapped_allocator_free;
}

static void
gst_ccl_wrapped_allocator_init (GstCclWrappedAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_map = gst_ccl_wrapped_memory_map;
  allocator->mem_unmap_full = gst_ccl_wrapped_memory_unmap;
  allocator->mem_copy = gst_ccl_wrapped_memory_copy;
}

GstMemory *
gst_ccl_cuda_memory_new_wrapped (GstCudaContext *context, const GstVideoInfo *info,
    CUdeviceptr data, gpointer user_data, GDestroyNotify notify)
{
  GstCclWrappedMemory *self = g_new0 (GstCclWrappedMemory, 1);
  gsize size = GST_VIDEO_INFO_SIZE (info);

  gst_memory_init (GST_MEMORY_CAST (self), 0, wrapped_allocator (), NULL, size, 0, 0, size);
  self->parent.context = gst_object_ref (context);
  self->parent.info = *info;
  self->data = data;
  self->user_data = user_data;
  self->notify = notify;
  g_mutex_init (&self->lock);
  return GST_MEMORY_CAST (self);
}

GstMemory *
gst_ccl_cuda_memory_new (GstCudaContext *context, const GstVideoInfo *info)
{
  g_autoptr (GstAllocator) allocator = NULL;

  gst_cuda_memory_init_once ();
  allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  return gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR_CAST (allocator), context, info);
}

#endif
