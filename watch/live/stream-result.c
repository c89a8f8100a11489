/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream-result.h"

#include <gst/ccl/ccl.h>

#include "watch/system/json.h"

#define MAX_BOXES 500

static void
append_box (GString *text, const GstCclComponent *component, const GstCclTrackInfo *track)
{
  gdouble speed, deviation;

  g_string_append_printf (text, "[%" G_GUINT64_FORMAT ",%u,%u,%u,%u", track ? track->id : 0,
      component->x, component->y, component->width, component->height);
  if (track && gst_ccl_track_info_get_speed (track, &speed, &deviation)) {
    g_string_append_c (text, ',');
    watch_json_append_number (text, "%.1f", speed);
  }
  g_string_append_c (text, ']');
}

gchar *
watch_stream_result (GstBuffer *frame, GstClockTimeDiff time)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);
  GString *text;

  if (!meta)
    return NULL;
  text = g_string_new ("{\"time\":");
  watch_json_append_number (text, "%.6f", (gdouble)time / GST_SECOND);
  g_string_append_printf (text, ",\"width\":%u,\"height\":%u,\"boxes\":[",
      gst_ccl_meta_get_frame_width (meta), gst_ccl_meta_get_frame_height (meta));
  for (guint i = 0; i < MIN (gst_ccl_meta_get_n_rows (meta), MAX_BOXES); i++) {
    if (i > 0)
      g_string_append_c (text, ',');
    append_box (text, gst_ccl_meta_get_component (meta, i), gst_ccl_meta_get_track (meta, i));
  }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}
