/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-frames.h"

#include <gst/ccl/ccl.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

GstCudaContext *
new_context_on (guint device)
{
  GstCudaContext *context;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  context = gst_cuda_context_new (device);
  fail_unless (context != NULL);
  return context;
}

guint
device_of (GstCudaContext *context)
{
  guint device;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return device;
}

GstCaps *
cuda_caps (const char *format, guint width, guint height)
{
  GstCaps *caps = frame_caps (format, width, height);

  gst_caps_set_features_simple (
      caps, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
  return caps;
}

gsize
luma_stride (GstBuffer *buffer)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  fail_unless (meta != NULL);
  return (gsize)meta->stride[0];
}

void
draw_on_device (Drawing drawing, GstBuffer *buffer)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  draw (drawing, map.data, luma_stride (buffer));
  gst_buffer_unmap (buffer, &map);
}

GstBuffer *
device_frame (GstCudaContext *context, Drawing drawing)
{
  GstBuffer *frame = gst_ccl_cuda_buffer_new_gray8 (
      context, drawing_width (drawing), drawing_height (drawing), NULL);

  fail_unless (frame != NULL);
  draw_on_device (drawing, frame);
  return frame;
}

GstCudaContext *
context_of_labels (GstBuffer *buffer)
{
  GstBuffer *labels = gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (buffer), NULL);

  fail_unless (labels != NULL);
  return GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (labels, 0))->context;
}

GstCudaContext *
query_context (GstElement *element)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCudaContext *found = NULL;
  GstContext *context = NULL;

  if (gst_pad_query (pad, query))
    gst_query_parse_context (query, &context);
  if (context)
    gst_structure_get (gst_context_get_structure (context), GST_CUDA_CONTEXT_TYPE,
        GST_TYPE_CUDA_CONTEXT, &found, NULL);
  gst_object_unref (pad);
  gst_query_unref (query);
  return found;
}

guint
assert_same_columns (GstBuffer *a, GstBuffer *b)
{
  GstCclColumns *of_a = gst_ccl_meta_get_columns (gst_buffer_get_ccl_meta (a));
  GstCclColumns *of_b = gst_ccl_meta_get_columns (gst_buffer_get_ccl_meta (b));
  guint n_columns, n_rows = 0, n;

  fail_unless ((of_a != NULL) == (of_b != NULL));
  if (!of_a)
    return 0;
  n_columns = gst_ccl_columns_get_n_columns (of_a);
  fail_unless_equals_int (gst_ccl_columns_get_n_columns (of_b), n_columns);
  for (guint i = 0; i < n_columns; i++) {
    const gdouble *values = gst_ccl_columns_get_values (of_a, i, &n_rows);
    const gdouble *others = gst_ccl_columns_get_values (of_b, i, &n);
    const gchar *key = gst_ccl_columns_get_key (of_a, i);

    fail_unless_equals_string (gst_ccl_columns_get_key (of_b, i), key);
    fail_unless_equals_int (n, n_rows);
    fail_unless (n == 0 || !memcmp (values, others, n * sizeof *values), "%s", key);
  }
  gst_ccl_columns_unref (of_a);
  gst_ccl_columns_unref (of_b);
  return n_rows;
}
