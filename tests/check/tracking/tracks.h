/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drawn frames of WIDTH×HEIGHT pixels, which the including file defines, ten in a second, and the
 * events of the tracks in them. */
#pragma once

#include "tests/check/shared/frames.h"

#define FRAME_TIME (GST_SECOND / 10)

typedef struct {
  guint x, y, width, height;
} Rectangle;

static inline GstHarness *
new_harness (const char *line)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  return h;
}

static inline void
draw_rectangle (GstBuffer *frame, Rectangle r)
{
  for (guint y = 0; y < r.height; y++)
    gst_buffer_memset (frame, (gsize)(r.y + y) * WIDTH + r.x, 255, r.width);
}

/* A frame without a time, with the rectangles. */
static inline GstBuffer *
new_frame (const Rectangle *rectangles, guint n)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  for (guint i = 0; i < n; i++)
    draw_rectangle (frame, rectangles[i]);
  return frame;
}

/* The frame at that place of the stream. */
static inline GstBuffer *
frame_at (guint index, const Rectangle *rectangles, guint n)
{
  GstBuffer *frame = new_frame (rectangles, n);

  GST_BUFFER_PTS (frame) = index * FRAME_TIME;
  GST_BUFFER_DURATION (frame) = FRAME_TIME;
  return frame;
}

static inline GstBuffer *
push (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}

/* The ccl-track events since the last call, as "appeared 1, merged 1 2, crossed 1 person gate". */
static inline gchar *
take_events (GstHarness *h)
{
  GString *text = g_string_new (NULL);
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h))) {
    const GstStructure *s = gst_event_get_structure (event);

    if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM &&
        gst_structure_has_name (s, "ccl-track")) {
      const gchar *more[] = {gst_structure_get_string (s, "class"),
          gst_structure_get_string (s, "region"), gst_structure_get_string (s, "line")};
      guint64 id = 0, other = 0;

      fail_unless (gst_structure_get_uint64 (s, "id", &id));
      fail_unless (gst_structure_get_uint64 (s, "other", &other));
      g_string_append_printf (text, "%s%s %" G_GUINT64_FORMAT, text->len > 0 ? ", " : "",
          gst_structure_get_string (s, "event"), id);
      if (other)
        g_string_append_printf (text, " %" G_GUINT64_FORMAT, other);
      for (guint i = 0; i < G_N_ELEMENTS (more); i++)
        if (more[i])
          g_string_append_printf (text, " %s", more[i]);
    }
    gst_event_unref (event);
  }
  return g_string_free (text, FALSE);
}

static inline void
assert_events (GstHarness *h, const char *expected)
{
  gchar *events = take_events (h);

  fail_unless_equals_string (events, expected);
  g_free (events);
}
