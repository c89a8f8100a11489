/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the connected components of every frame of a video. Pixels brighter than a threshold are
 * foreground. Shows how an application reads the metadata of frames from an appsink.
 *
 * Build: cc -o print-components print-components.c \
 *          $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-ccl-1.0)
 * Usage: print-components VIDEO [THRESHOLD] */
#include <gst/app/gstappsink.h>
#include <gst/ccl/ccl.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_frame (GstBuffer *frame)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);

  if (!meta)
    return;
  printf ("%.3f s: %u components%s\n", GST_BUFFER_PTS (frame) / (double)GST_SECOND,
      gst_ccl_meta_get_n_components (meta),
      gst_ccl_meta_is_truncated (meta) ? ", of which the first are" : "");
  /* The metadata and its rows are valid as long as the frame. */
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    printf ("  %u: %u pixels, %u×%u at (%u, %u), centroid (%.1f, %.1f)\n", c->label, c->area,
        c->width, c->height, c->x, c->y, c->centroid_x, c->centroid_y);
  }
}

/* Prints the pipeline's error, if there is one. */
static gboolean
has_failed (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error;

  gst_object_unref (bus);
  if (!message)
    return FALSE;
  gst_message_parse_error (message, &error, NULL);
  fprintf (stderr, "print-components: %s\n", error->message);
  g_error_free (error);
  gst_message_unref (message);
  return TRUE;
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *source, *labeller, *sink;
  GError *error = NULL;
  GstSample *sample;
  gboolean failed = FALSE;

  gst_init (&argc, &argv);
  if (argc < 2) {
    fprintf (stderr, "usage: print-components VIDEO [THRESHOLD]\n");
    return 2;
  }
  pipeline = gst_parse_launch ("filesrc name=source ! decodebin ! videoconvert ! "
                               "video/x-raw,format=GRAY8 ! ccl name=labeller ! "
                               "appsink name=sink sync=false max-buffers=4",
      &error);
  if (!pipeline) {
    fprintf (stderr, "print-components: %s\n", error->message);
    g_error_free (error);
    return 1;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  labeller = gst_bin_get_by_name (GST_BIN (pipeline), "labeller");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (source, "location", argv[1], NULL);
  g_object_set (labeller, "threshold", argc > 2 ? (guint)atoi (argv[2]) : 127, NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  /* After an error there may be no end of stream, so the wait has a time limit. */
  while (!failed && !gst_app_sink_is_eos (GST_APP_SINK (sink))) {
    sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 100 * GST_MSECOND);
    if (sample) {
      print_frame (gst_sample_get_buffer (sample));
      gst_sample_unref (sample);
    } else {
      failed = has_failed (pipeline);
    }
  }

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (source);
  gst_object_unref (labeller);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return failed ? 1 : 0;
}
