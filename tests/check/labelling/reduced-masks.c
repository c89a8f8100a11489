/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks that a background model has made at a reduced size are labelled at that size, by `ccl` and
 * `cudaccl` alike. Tables and tracks are those that `ccl` finds in masks of the frame's size, which
 * an attached mask has. */
#include "tests/check/shared/elements.h"

#include <dlfcn.h>
#include <string.h>

#include "simcuda.h"

#define N_FRAMES 40

/* Noise, on which bright and dark rectangles of many sizes move; some touch the frame's edges. */
static GstBuffer *
moving_frame (guint width, guint height, guint number)
{
  const gsize stride = GST_ROUND_UP_4 (width);
  GRand *random = g_rand_new_with_seed (number);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, stride * height, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)g_rand_int_range (random, 98, 103);
  for (guint k = 0; number >= 20 && k < 8; k++) {
    const guint left = (k * 41 + number * (1 + k % 3)) % width, top = (k * 29 + number) % height;
    const guint right = MIN (width, left + 3 + 4 * k), bottom = MIN (height, top + 5 + 3 * k);
    for (guint y = top; y < bottom; y++)
      memset (map.data + y * stride + left, k % 2 ? 20 : 220, right - left);
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  g_rand_free (random);
  return buffer;
}

static GstHarness *
new_line (
    const gchar *element, const gchar *settings, const gchar *tracker, guint width, guint height)
{
  gchar *line = g_strdup_printf ("%s %s%s", element, settings, tracker);
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps ("GRAY8", width, height);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  g_free (line);
  return h;
}

/* Whether two frames have the same rows, bit by bit. Adds to their number. */
static gboolean
are_equal (GstBuffer *a, GstBuffer *b, guint *n_rows)
{
  const GstCclMeta *of_a = gst_buffer_get_ccl_meta (a), *of_b = gst_buffer_get_ccl_meta (b);

  if (gst_ccl_meta_get_n_components (of_a) != gst_ccl_meta_get_n_components (of_b) ||
      gst_ccl_meta_get_n_rows (of_a) != gst_ccl_meta_get_n_rows (of_b))
    return FALSE;
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (of_a); i++) {
    const GstCclComponent *row = gst_ccl_meta_get_component (of_a, i);
    const GstCclComponent *other = gst_ccl_meta_get_component (of_b, i);
    if (row->label != other->label || row->area != other->area || row->x != other->x ||
        row->y != other->y || row->width != other->width || row->height != other->height ||
        row->centroid_x != other->centroid_x || row->centroid_y != other->centroid_y)
      return FALSE;
  }
  *n_rows += gst_ccl_meta_get_n_rows (of_a);
  return TRUE;
}

/* Compares the frames of two lines of elements. Returns the number of their rows. */
static guint
compare (const gchar *settings, const gchar *tracker, guint width, guint height)
{
  GstHarness *reduced = new_line (element_name (), settings, tracker, width, height);
  GstHarness *whole = new_line ("ccl attach-mask=true", settings, tracker, width, height);
  const guint n_frames = width > 400 && !g_str_equal (element_name (), "ccl") ? 26 : N_FRAMES;
  guint n_rows = 0;

  for (guint number = 0; number < n_frames; number++) {
    GstBuffer *a = gst_harness_push_and_pull (reduced, moving_frame (width, height, number));
    GstBuffer *b = gst_harness_push_and_pull (whole, moving_frame (width, height, number));

    fail_unless (are_equal (a, b, &n_rows), "%s, %u×%u, frame %u", settings, width, height, number);
    gst_buffer_unref (a);
    gst_buffer_unref (b);
  }
  gst_harness_teardown (reduced);
  gst_harness_teardown (whole);
  return n_rows;
}

static const guint sizes[][2] = {{160, 96}, {161, 97}, {164, 100}};

TEST (test_tables)
{
  static const gchar *const settings[] = {
      "foreground=mog2 reduction=2",
      "foreground=mog2 reduction=4 min-area=65",
      "foreground=mog2 reduction=4 min-area=64 max-area=160 connectivity=4",
      "foreground=mog2 reduction=4 max-area=15",
      "foreground=mog2 reduction=2 invert=true",
      "foreground=mog2 reduction=2 max-components=2 denoise=median-3x3",
      "foreground=codebook reduction=2",
      "foreground=codebook reduction=4 closing-width=9",
      /* Objects of fewer than eight pixels of the model are not confirmed. */
      "foreground=codebook reduction=8 closing-width=9",
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      const guint n_rows = compare (settings[i], "", sizes[k][0], sizes[k][1]);
      fail_unless (
          n_rows > 0 || strstr (settings[i], "max-area=15") || strstr (settings[i], "reduction=8"),
          "%s", settings[i]);
    }
}
GST_END_TEST

/* Trackers take samples of the mask: at every second or fourth pixel of frames of these sizes. */
TEST (test_tracks)
{
  fail_unless (compare ("foreground=codebook", " ! ccltrack", 640, 480) > 0);
  if (g_str_equal (element_name (), "ccl")) { /* the simulated driver is slow */
    fail_unless (compare ("foreground=mog2 reduction=2", " ! ccltrack", 640, 480) > 0);
    fail_unless (compare ("foreground=mog2 reduction=4", " ! ccltrack", 640, 480) > 0);
    fail_unless (compare ("foreground=mog2 reduction=2", " ! ccltrack", 1280, 800) > 0);
  }
}
GST_END_TEST

/* What is attached may change at any time; the model stays. */
TEST (test_attachments_change)
{
  const gchar *settings = "foreground=mog2 reduction=4";
  GstHarness *h = new_line (element_name (), settings, "", 160, 96);
  GstHarness *whole = new_line ("ccl attach-mask=true", settings, "", 160, 96);
  GstElement *element = gst_harness_find_element (h, element_name ());
  guint n_rows = 0;

  for (guint number = 0; number < N_FRAMES; number++) {
    GstBuffer *a, *b;

    g_object_set (element, "attach-mask", number % 3 == 1, "attach-labels", number % 4 == 1, NULL);
    a = gst_harness_push_and_pull (h, moving_frame (160, 96, number));
    b = gst_harness_push_and_pull (whole, moving_frame (160, 96, number));
    fail_unless (are_equal (a, b, &n_rows), "frame %u", number);
    fail_unless (
        (gst_ccl_meta_get_mask (gst_buffer_get_ccl_meta (a), NULL) != NULL) == (number % 3 == 1));
    gst_buffer_unref (a);
    gst_buffer_unref (b);
  }
  fail_unless (n_rows > 0);
  gst_object_unref (element);
  gst_harness_teardown (h);
  gst_harness_teardown (whole);
}
GST_END_TEST

/* The threads of all kernels that a few frames take, on the simulated driver. */
static guint64
count_threads (const gchar *settings, void (*get_statistics) (SimcudaStatistics *))
{
  GstHarness *h = new_line ("cudaccl", settings, "", 640, 480);
  SimcudaStatistics before, after;

  gst_buffer_unref (gst_harness_push_and_pull (h, moving_frame (640, 480, 0)));
  get_statistics (&before);
  for (guint number = 1; number < 4; number++)
    gst_buffer_unref (gst_harness_push_and_pull (h, moving_frame (640, 480, number)));
  get_statistics (&after);
  gst_harness_teardown (h);
  return after.threads - before.threads;
}

/* A mask of a quarter of the size is neither enlarged nor labelled at the frame's size. */
TEST (test_work)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW);
  void (*get_statistics) (SimcudaStatistics *) = NULL;

  if (driver)
    *(void **)&get_statistics = dlsym (driver, "simcuda_get_statistics");
  if (get_statistics && g_str_equal (element_name (), "cudaccl"))
    fail_unless (3 * count_threads ("foreground=mog2 reduction=4", get_statistics) <
                 count_threads ("foreground=mog2 reduction=4 attach-mask=true", get_statistics));
}
GST_END_TEST

static Suite *
reduced_masks_suite (void)
{
  Suite *suite = suite_create ("reduced-masks");
  TCase *tcase = tcase_create ("reduced-masks");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_tables);
  tcase_add_test (tcase, test_tracks);
  tcase_add_test (tcase, test_attachments_change);
  tcase_add_test (tcase, test_work);
  return suite;
}

GST_CHECK_MAIN (reduced_masks);
