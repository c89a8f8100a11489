/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcudamemory.h"

#if GST_CHECK_VERSION(1, 24, 0)

GstMemory *
gst_ccl_cuda_memory_new (GstCudaContext *context, const GstVideoInfo *info)
{
  gst_cuda_memory_init_once ();
  return gst_cuda_allocator_alloc (NULL, context, NULL, info);
}

GstMemory *
gst_ccl_cuda_memory_new_wrapped (GstCudaContext *context, const GstVideoInfo *info,
    CUdeviceptr data, gpointer user_data, GDestroyNotify notify)
{
  gst_cuda_memory_init_once ();
  return gst_cuda_allocator_alloc_wrapped (NULL, context, NULL, info, data, user_data, notify);
}

#else

GstMemory *
gst_ccl_cuda_memory_new (GstCudaContext *context, const GstVideoInfo *info)
{
  GstAllocator *allocator;
  GstMemory *memory;

  gst_cuda_memory_init_once ();
  allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  memory = gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR_CAST (allocator), context, info);
  gst_object_unref (allocator);
  return memory;
}

/* GStreamer 1.22 cannot wrap a device pointer, so here is a CUDA allocator that can. Its memory
 * behaves as GStreamer's own: GST_MAP_CUDA gives the device pointer, other maps a copy in system
 * memory that is brought up to date in either direction when it is needed. */
typedef struct {
  GstCudaMemory parent;

  CUdeviceptr data;
  gpointer user_data;
  GDestroyNotify notify;

  GMutex lock;
  guint8 *staging; /* the copy; same layout as on the device */
} GstCclWrappedMemory;

typedef GstCudaAllocator GstCclWrappedAllocator;
typedef GstCudaAllocatorClass GstCclWrappedAllocatorClass;

static GType gst_ccl_wrapped_allocator_get_type (void);
G_DEFINE_TYPE (GstCclWrappedAllocator, gst_ccl_wrapped_allocator, GST_TYPE_CUDA_ALLOCATOR)

/* Copies the rows between the device and the staging copy. */
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
      .WidthInBytes =
          (gsize)GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) * (gsize)GST_VIDEO_INFO_WIDTH (info),
      .Height = (gsize)GST_VIDEO_INFO_HEIGHT (info),
  };
  gboolean copied;

  if (!gst_cuda_context_push (self->parent.context))
    return FALSE;
  copied = CuMemcpy2D (&copy) == CUDA_SUCCESS;
  gst_cuda_context_pop (NULL);
  return copied;
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

typedef struct {
  GstCudaContext *context;
  CUdeviceptr data;
} DeviceCopy;

static void
free_device_copy (gpointer data)
{
  DeviceCopy *copy = data;

  if (copy->data && gst_cuda_context_push (copy->context)) {
    CuMemFree (copy->data);
    gst_cuda_context_pop (NULL);
  }
  gst_object_unref (copy->context);
  g_free (copy);
}

/* The copy keeps the stride, because the GstVideoMeta of the buffer that is copied says it. */
static GstMemory *
gst_ccl_wrapped_memory_copy (GstMemory *memory, gssize offset, gssize size)
{
  GstCclWrappedMemory *self = (GstCclWrappedMemory *)memory;
  const GstVideoInfo *info = &self->parent.info;
  CUDA_MEMCPY2D parameters = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcPitch = memory->maxsize,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstPitch = memory->maxsize,
      .WidthInBytes = memory->maxsize,
      .Height = 1,
  };
  DeviceCopy *copy;
  GstMapInfo map;
  gboolean copied = FALSE;

  /* Like GStreamer's own CUDA memory, there are no copies of parts. */
  if (offset != 0 || (size != -1 && (gsize)size != memory->size) || memory->maxsize > G_MAXUINT)
    return NULL;
  if (!gst_memory_map (memory, &map, GST_MAP_READ | GST_MAP_CUDA))
    return NULL;

  copy = g_new0 (DeviceCopy, 1);
  copy->context = gst_object_ref (self->parent.context);
  if (gst_cuda_context_push (copy->context)) {
    if (CuMemAlloc (&copy->data, (guint)memory->maxsize) == CUDA_SUCCESS) {
      parameters.srcDevice = self->data;
      parameters.dstDevice = copy->data;
      copied = CuMemcpy2D (&parameters) == CUDA_SUCCESS;
    }
    gst_cuda_context_pop (NULL);
  }
  gst_memory_unmap (memory, &map);

  if (!copied) {
    free_device_copy (copy);
    return NULL;
  }
  return gst_ccl_cuda_memory_new_wrapped (copy->context, info, copy->data, copy, free_device_copy);
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

#endif
