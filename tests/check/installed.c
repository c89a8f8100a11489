/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An application outside the tree: it counts the components that the installed plugin finds. */
#include <gst/ccl/ccl.h>

#include <stdio.h>

static guint n_components;

static void
on_frame (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  if (meta)
    n_components += gst_ccl_meta_get_n_components (meta);
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *sink;
  GstMessage *message;
  GstBus *bus;

  gst_init (&argc, &argv);
  pipeline = gst_parse_launch ("videotestsrc pattern=ball num-buffers=5 ! "
                               "video/x-raw,format=GRAY8 ! ccl threshold=128 ! "
                               "fakesink name=sink signal-handoffs=true",
      NULL);
  if (!pipeline)
    return 1;
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (on_frame), NULL);
  gst_object_unref (sink);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  if (!message || GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS)
    return 1;
  gst_message_unref (message);
  printf ("%u\n", n_components);
  return 0;
}
