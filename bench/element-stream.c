/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element-stream.h"

#include <stdlib.h>

#if HAVE_CUDA
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif

void
end_program (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  gchar *line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("%s: %s\n", g_get_prgname (), g_strdelimit (line, "\n", ' '));
  exit (1);
}

GstElement *
parse_pipeline (const gchar *text)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (!pipeline || error)
    end_program ("%s", error->message);
  return pipeline;
}

gpointer
element_stream_open_cuda (const gchar *elements, guint device, GstCaps *caps)
{
  gpointer context = NULL;

#if HAVE_CUDA
  if (g_str_has_prefix (elements, "cudaccl")) {
    if (!gst_cuda_load_library () || !(context = gst_cuda_context_new (device)))
      end_program ("there is no CUDA device %u that works on this machine", device);
    gst_cuda_memory_init_once ();
    gst_caps_set_features (
        caps, 0, gst_caps_features_new_single (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY));
  }
#endif
  return context;
}

ElementStream
element_stream_start (const gchar *elements, GstCaps *caps, gpointer const *cuda_contexts)
{
  g_autofree gchar *text = g_strdup_printf ("%s ! fakesink name=sink sync=false", elements);
  ElementStream stream = {parse_pipeline (text), gst_pad_new ("source", GST_PAD_SRC)};
  g_autoptr (GstPad) sink = gst_bin_find_unlinked_pad (GST_BIN (stream.pipeline), GST_PAD_SINK);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
#if HAVE_CUDA
  /* An element takes the one of its device. */
  for (; *cuda_contexts; cuda_contexts++) {
    g_autoptr (GstContext) context = gst_context_new_cuda_context (*cuda_contexts);

    gst_element_set_context (stream.pipeline, context);
  }
#endif
  gst_element_set_state (stream.pipeline, GST_STATE_PLAYING);
  gst_pad_set_active (stream.source, TRUE);
  if (!sink || gst_pad_link (stream.source, sink) != GST_PAD_LINK_OK)
    end_program ("%s: not linked", elements);
  gst_pad_push_event (stream.source, gst_event_new_stream_start ("frames"));
  gst_pad_push_event (stream.source, gst_event_new_caps (caps));
  gst_pad_push_event (stream.source, gst_event_new_segment (&segment));
  return stream;
}

void
element_stream_stop (ElementStream *stream)
{
  gst_element_set_state (stream->pipeline, GST_STATE_NULL);
  gst_pad_set_active (stream->source, FALSE);
  gst_object_unref (stream->source);
  gst_object_unref (stream->pipeline);
}
