/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks behind cudaccl are those behind ccl, bit for bit: identities, boxes, states and events. */
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#define WIDTH 160
#define HEIGHT 96
#define N_FRAMES 80

static GstHarness *
new_tracker (const char *element, const char *foreground)
{
  gchar *line = g_strdup_printf ("%s %s min-area=20 ! ccltrack lost=true tentative=true "
                                 "regions=\"line middle 80,0 80,96\"",
      element, foreground);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  g_free (line);
  return h;
}

static void
draw_rectangle (guint8 *pixels, gint left, gint top, gint width, gint height)
{
  for (gint y = MAX (top, 0); y < MIN (top + height, HEIGHT); y++)
    for (gint x = MAX (left, 0); x < MIN (left + width, WIDTH); x++)
      pixels[y * WIDTH + x] = 220;
}

/* A chequered ground with noise, where two walkers enter and cross, one of them in two pieces, and
 * a third one passes. The first frames are empty, for the background model. */
static GstBuffer *
new_frame (gint index, GRand *random)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  const gint step = 3 * (index - 10);
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    map.data[i] = (guint8)((i / 16 + i / WIDTH / 16) % 2 * 60 + g_rand_int_range (random, 40, 60));
  draw_rectangle (map.data, -12 + step, 20, 12, 30);
  draw_rectangle (map.data, 160 - step, 30, 12, 14);
  draw_rectangle (map.data, 160 - step, 46, 12, 14);
  draw_rectangle (map.data, 60, 110 - step, 10, 20);
  gst_buffer_unmap (frame, &map);
  GST_BUFFER_PTS (frame) = (guint)index * (GST_SECOND / 10);
  return frame;
}

/* The rows with their tracks, and the events since the last call, as text. */
static gchar *
describe (GstHarness *h, GstBuffer *frame)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);
  GString *text = g_string_new (NULL);
  GstEvent *event;

  for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, row);
    const GstCclTrackInfo *t = gst_ccl_meta_get_track (meta, row);
    guint n_ids;
    const guint64 *ids = gst_ccl_meta_get_ids (meta, row, &n_ids);

    g_string_append_printf (text, "%u %u %u,%u %ux%u %a,%a: %u %u %u %u %a,%a", c->label, c->area,
        c->x, c->y, c->width, c->height, c->centroid_x, c->centroid_y, (guint)t->id,
        (guint)t->parent_id, (guint)t->state, t->age, t->velocity_x, t->velocity_y);
    for (guint i = 0; i < n_ids; i++)
      g_string_append_printf (text, " #%u", (guint)ids[i]);
    g_string_append_c (text, '\n');
  }
  while ((event = gst_harness_try_pull_event (h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM) {
      gchar *structure = gst_structure_to_string (gst_event_get_structure (event));
      g_string_append_printf (text, "%s\n", structure);
      g_free (structure);
    }
    gst_event_unref (event);
  }
  return g_string_free (text, FALSE);
}

/* That event must happen, so that there is something to compare. */
static void
check_twins (const char *foreground, const char *event)
{
  GstHarness *h = new_tracker ("ccl", foreground), *twin = new_tracker ("cudaccl", foreground);
  GRand *random = g_rand_new_with_seed (13);
  gboolean has_event = FALSE;

  for (gint i = 0; i < N_FRAMES; i++) {
    GstBuffer *frame = new_frame (i, random);
    GstBuffer *out = label (h, gst_buffer_copy_deep (frame)), *twin_out = label (twin, frame);
    gchar *text = describe (h, out), *twin_text = describe (twin, twin_out);

    fail_unless (
        g_str_equal (text, twin_text), "frame %d:\n%sbut with cudaccl:\n%s", i, text, twin_text);
    has_event |= strstr (text, event) != NULL;
    g_free (text);
    g_free (twin_text);
    gst_buffer_unref (out);
    gst_buffer_unref (twin_out);
  }
  fail_unless (has_event);
  g_rand_free (random);
  gst_harness_teardown (h);
  gst_harness_teardown (twin);
}

TEST (test_thresholded_frames)
{
  check_twins ("threshold=150", "event=(string)split");
}
GST_END_TEST

TEST (test_label_maps)
{
  check_twins ("threshold=150 attach-labels=true", "event=(string)split");
}
GST_END_TEST

/* The mask is in device memory, from where ccltrack gets a part of its rows. */
TEST (test_masks)
{
  check_twins ("threshold=150 denoise=median-3x3", "event=(string)split");
}
GST_END_TEST

TEST (test_background_model)
{
  check_twins (
      "foreground=mog2 history=50 denoise=median-3x3 light=false", "event=(string)crossed");
}
GST_END_TEST

static Suite *
tracks_suite (void)
{
  Suite *suite = suite_create ("tracks");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_thresholded_frames);
  tcase_add_test (tcase, test_label_maps);
  tcase_add_test (tcase, test_masks);
  tcase_add_test (tcase, test_background_model);
  return suite;
}

GST_CHECK_MAIN (tracks);
