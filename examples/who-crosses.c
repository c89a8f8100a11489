/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says who crosses which line, and how many are where then. All of it is in the frame's metadata.
 * Build: cc -o who-crosses who-crosses.c \
 *          $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-ccl-1.0)
 * Usage: who-crosses 'filesrc location=VIDEO ! decodebin ! videoconvert ! ccl … ! ccltrack
 * regions=…' */
#include <gst/app/gstappsink.h>
#include <gst/ccl/ccl.h>
#include <stdio.h>

static void
print_frame (GstBuffer *frame)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);
  GstCclRegionState *state = meta ? gst_ccl_meta_get_region_state (meta) : NULL;
  GstCclClasses *classes = meta ? gst_ccl_meta_get_classes (meta) : NULL;
  for (guint r = 0; state && r < gst_ccl_region_state_get_n_regions (state); r++)
    for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++) {
      const gchar *name = classes ? gst_ccl_classes_get_name (classes, row) : NULL;
      const gint crossing = gst_ccl_region_state_get_crossing (state, r, row);
      if (crossing == 0)
        continue;
      printf ("%.3f s: %s %" G_GUINT64_FORMAT " crosses %s %s", GST_BUFFER_PTS (frame) / 1e9,
          name ? name : "object", gst_ccl_meta_get_track (meta, row)->id,
          gst_ccl_region_state_get_region (state, r)->name, crossing > 0 ? "forward" : "backward");
      for (guint k = 0; k < gst_ccl_region_state_get_n_regions (state); k++)
        if (!gst_ccl_region_state_get_region (state, k)->is_line)
          printf (", %u in %s", gst_ccl_region_state_get_region (state, k)->inside,
              gst_ccl_region_state_get_region (state, k)->name);
      printf ("\n");
    }
  g_clear_pointer (&state, gst_ccl_region_state_unref);
  g_clear_pointer (&classes, gst_ccl_classes_unref);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  gchar *line = g_strdup_printf ("%s ! appsink name=sink sync=false", argc > 1 ? argv[1] : "");
  GstElement *pipeline = gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
  GstElement *sink = pipeline ? gst_bin_get_by_name (GST_BIN (pipeline), "sink") : NULL;
  GstBus *bus = pipeline ? gst_element_get_bus (pipeline) : NULL;
  gboolean failed = !sink;

  if (sink)
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!failed && !gst_app_sink_is_eos (GST_APP_SINK (sink))) {
    GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 100 * GST_MSECOND);
    if (sample)
      print_frame (gst_sample_get_buffer (sample));
    g_clear_pointer (&sample, gst_sample_unref);
    failed = gst_bus_have_pending (bus) && gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  }
  if (failed)
    fprintf (stderr, "who-crosses: this pipeline does not play: %s\n", line);
  return failed;
}
