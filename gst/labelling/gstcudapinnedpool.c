/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcudapinnedpool.h"

#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/video/gstvideopool.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (pinned_allocator_debug);
#define GST_CAT_DEFAULT pinned_allocator_debug

struct _GstCudaPinnedAllocator {
  GstAllocator parent;
  GstCudaContext *context;
};

#define GST_TYPE_CUDA_PINNED_ALLOCATOR (gst_cuda_pinned_allocator_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaPinnedAllocator, gst_cuda_pinned_allocator, GST, CUDA_PINNED_ALLOCATOR, GstAllocator)
G_DEFINE_TYPE_WITH_CODE (GstCudaPinnedAllocator, gst_cuda_pinned_allocator, GST_TYPE_ALLOCATOR,
    GST_DEBUG_CATEGORY_INIT (
        pinned_allocator_debug, "cudapinnedallocator", 0, "page-locked memory of cudaccl"))

/* The alignment that the driver guarantees, as a mask. */
#define ALIGNMENT_MASK ((gsize)255)

/* A block of page-locked memory. */
typedef struct {
  GstCudaContext *context;
  gpointer data;
} PinnedBlock;

static void
pinned_block_free (gpointer data)
{
  PinnedBlock *block = data;

  if (gst_cuda_context_push (block->context)) {
    CuMemFreeHost (block->data);
    gst_cuda_context_pop (NULL);
  }
  gst_object_unref (block->context);
  g_free (block);
}

static gpointer
alloc_pinned (GstCudaContext *context, gsize size)
{
  gpointer data = NULL;

  /* The size has 32 bits in GStreamer 1.22. */
  if (size == 0 || size > G_MAXUINT || !gst_cuda_context_push (context))
    return NULL;
  if (CuMemAllocHost (&data, (guint)size) != CUDA_SUCCESS)
    data = NULL;
  gst_cuda_context_pop (NULL);
  return data;
}

static GstMemory *
gst_cuda_pinned_allocator_alloc (GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstCudaPinnedAllocator *self = GST_CUDA_PINNED_ALLOCATOR (allocator);
  gsize whole = params->prefix + size + params->padding;
  gpointer data = NULL;
  PinnedBlock *block;

  if ((params->align & ~ALIGNMENT_MASK) == 0)
    data = alloc_pinned (self->context, whole);
  if (!data) {
    GST_INFO_OBJECT (self, "no page-locked memory for %" G_GSIZE_FORMAT " bytes", whole);
    return gst_allocator_alloc (NULL, size, params);
  }

  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset ((guint8 *)data + params->prefix + size, 0, params->padding);

  block = g_new (PinnedBlock, 1);
  block->context = gst_object_ref (self->context);
  block->data = data;
  return gst_memory_new_wrapped (
      params->flags, data, whole, params->prefix, size, block, pinned_block_free);
}

static void
gst_cuda_pinned_allocator_finalize (GObject *object)
{
  gst_clear_object (&GST_CUDA_PINNED_ALLOCATOR (object)->context);
  G_OBJECT_CLASS (gst_cuda_pinned_allocator_parent_class)->finalize (object);
}

static void
gst_cuda_pinned_allocator_class_init (GstCudaPinnedAllocatorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_cuda_pinned_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc = gst_cuda_pinned_allocator_alloc;
}

static void
gst_cuda_pinned_allocator_init (GstCudaPinnedAllocator *self)
{
  /* The memory is of the type of system memory, whose allocator does all but the allocation. */
  GST_ALLOCATOR_CAST (self)->mem_type = GST_ALLOCATOR_SYSMEM;
}

static GstAllocator *
gst_cuda_pinned_allocator_new (GstCudaContext *context)
{
  GstCudaPinnedAllocator *self = g_object_new (GST_TYPE_CUDA_PINNED_ALLOCATOR, NULL);

  self->context = gst_object_ref (context);
  return GST_ALLOCATOR (gst_object_ref_sink (self));
}

GstBufferPool *
gst_cuda_pinned_pool_new (
    GstCudaContext *context, GstCaps *caps, guint size, const GstAllocationParams *params)
{
  GstBufferPool *pool = caps ? gst_video_buffer_pool_new () : gst_buffer_pool_new ();
  g_autoptr (GstAllocator) allocator = gst_cuda_pinned_allocator_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, params);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_clear_object (&pool);
  return pool;
}
