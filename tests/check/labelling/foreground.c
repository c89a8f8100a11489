/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground of ccl and cudaccl beyond a fixed threshold: Otsu's method, the background model,
 * filters, region of interest masks, the attached mask, and the messages about motion. The
 * components of the drawings are counted by hand.
 */
#include "tests/check/shared/component-data.h"
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"
#include "tests/check/shared/elements.h"

#include <glib/gstdio.h>
#include <png.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An empty scene, and one with two objects. */
static const char scene[] = "22222222\n"
                            "22222222\n"
                            "22222222\n"
                            "22222222\n"
                            "22222222\n"
                            "22222222\n";

static const char things[] = "22222222\n"
                             "28882222\n"
                             "28882222\n"
                             "28882222\n"
                             "22222288\n"
                             "22222288\n";

#define THING                                                                                      \
  {                                                                                                \
    9, 1, 1, 3, 3, 2.0, 2.0                                                                        \
  }
#define CORNER                                                                                     \
  {                                                                                                \
    4, 6, 4, 2, 2, 6.5, 4.5                                                                        \
  }

/* A harness whose element has a background model of the empty scene and a learning rate of 0. */
static GstHarness *
new_surveillance_harness (void)
{
  GstHarness *h = new_gray8_harness (scene);

  g_object_set (h->element, "learning-rate", 0.0, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = label (h, gray8_frame (scene));
    assert_count (out, 0);
    gst_buffer_unref (out);
  }
  return h;
}

static void
push_and_count (GstHarness *h, Drawing drawing, guint n_components)
{
  GstBuffer *out = label (h, gray8_frame (drawing));

  assert_count (out, n_components);
  gst_buffer_unref (out);
}

TEST_OF_DESCRIPTION (test_defaults)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  gint foreground = -1, denoise = -1;
  guint history, mixtures;
  gdouble var_threshold, learning_rate, quiet_time;
  gboolean attach_mask = TRUE, post_motion = TRUE;
  gchar *roi_mask = NULL;

  g_object_get (element, "foreground", &foreground, "denoise", &denoise, "history", &history,
      "mixtures", &mixtures, "var-threshold", &var_threshold, "learning-rate", &learning_rate,
      "quiet-time", &quiet_time, "attach-mask", &attach_mask, "post-motion", &post_motion,
      "roi-mask", &roi_mask, NULL);
  fail_unless_equals_int (foreground, 0);
  fail_unless_equals_int (denoise, 0);
  fail_unless_equals_int (history, 500);
  fail_unless_equals_int (mixtures, 5);
  fail_unless_equals_float (var_threshold, 9.0);
  fail_unless_equals_float (learning_rate, -1.0);
  fail_unless_equals_float (quiet_time, 5.0);
  fail_if (attach_mask);
  fail_if (post_motion);
  fail_unless (roi_mask == NULL);
  gst_object_unref (element);
}
GST_END_TEST

/* Any threshold between the two levels of the drawing separates them. */
TEST (test_otsu)
{
  GstHarness *h = new_gray8_harness (things);
  GstBuffer *out;

  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "otsu");
  g_object_set (h->element, "threshold", 255, NULL); /* has no effect */
  out = label (h, gray8_frame (things));
  assert_components (out, THING, CORNER);
  gst_buffer_unref (out);

  g_object_set (h->element, "invert", TRUE, NULL);
  push_and_count (h, things, 1);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_background)
{
  GstHarness *h = new_surveillance_harness ();
  GstBuffer *out;

  for (guint i = 0; i < 3; i++) {
    out = label (h, gray8_frame (things));
    assert_components (out, THING, CORNER);
    gst_buffer_unref (out);
  }
  push_and_count (h, scene, 0);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Objects that stay become background, and sooner with a shorter history. */
TEST (test_background_learns)
{
  guint frames[2] = {0, 0};
  static const guint history[2] = {20, 100};

  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_surveillance_harness ();
    GstBuffer *out;
    guint count = 1;

    g_object_set (h->element, "learning-rate", -1.0, "history", history[i], "hold", 1, NULL);
    for (guint k = 0; k < 100; k++)
      push_and_count (h, scene, 0);
    while (count > 0 && frames[i] < 1000) {
      out = label (h, gray8_frame (things));
      count = gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out));
      gst_buffer_unref (out);
      frames[i]++;
    }
    gst_harness_teardown (h);
  }
  /* A Gaussian that matches every frame has the weight 1 − (1 − 1/h)ⁿ after n frames; the
   * background ends at a tenth: after about h / 10 frames. */
  fail_unless (frames[0] >= 2 && frames[0] <= 4, "%u frames", frames[0]);
  fail_unless (frames[1] >= 9 && frames[1] <= 14, "%u frames", frames[1]);
}
GST_END_TEST

/* A change of properties does not discard the background model. */
TEST (test_model_survives_properties)
{
  GstHarness *h = new_surveillance_harness ();

  g_object_set (h->element, "min-area", 5, NULL);
  push_and_count (h, things, 1);
  g_object_set (h->element, "min-area", 1, "max-components", 10, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "connectivity", "4");
  push_and_count (h, things, 2);
  g_object_set (h->element, "attach-labels", TRUE, "attach-mask", TRUE, NULL);
  push_and_count (h, things, 2);
  g_object_set (h->element, "history", 10, "var-threshold", 20.0, "mixtures", 3, NULL);
  push_and_count (h, things, 2);
  gst_util_set_object_arg (G_OBJECT (h->element), "denoise", "median-3x3");
  push_and_count (h, scene, 0);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_reset_signal)
{
  GstHarness *h = new_surveillance_harness ();

  push_and_count (h, things, 2);
  g_signal_emit_by_name (h->element, "reset");
  push_and_count (h, things, 0);
  push_and_count (h, scene, 2);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_flush_resets)
{
  GstHarness *h = new_surveillance_harness ();
  GstSegment segment;

  push_and_count (h, things, 2);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  push_and_count (h, things, 0);
  push_and_count (h, scene, 2);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_new_caps_reset)
{
  GstHarness *h = new_surveillance_harness ();
  GstBuffer *out;

  push_and_count (h, things, 2);
  gst_harness_set_src_caps (h, frame_caps ("I420", 8, 6));
  out = label (h, luma_frame ("I420", things));
  assert_count (out, 0);
  gst_buffer_unref (out);
  out = label (h, luma_frame ("I420", scene));
  assert_count (out, 2);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Caps that differ in neither size nor format keep the background model. */
TEST (test_other_caps_keep_the_model)
{
  static const char *const changes[] = {
      "framerate=10/1", "framerate=0/1", "pixel-aspect-ratio=4/3", "colorimetry=bt709"};
  GstHarness *h = new_surveillance_harness ();

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    gchar *text =
        g_strdup_printf ("video/x-raw,format=GRAY8,width=8,height=6,framerate=25/1,%s", changes[i]);

    gst_harness_set_src_caps (h, gst_caps_from_string (text));
    push_and_count (h, things, 2);
    g_free (text);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_stopping_resets)
{
  GstHarness *h = new_surveillance_harness ();

  push_and_count (h, things, 2);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_harness_play (h);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  push_and_count (h, things, 0);
  gst_harness_teardown (h);
}
GST_END_TEST

static const char specks[] = "#.......\n"
                             "....###.\n"
                             "....###.\n"
                             "....###.\n"
                             "........\n"
                             "#......#\n";

TEST (test_denoise)
{
  GstHarness *h = new_gray8_harness (specks);
  GstBuffer *out;

  push_and_count (h, specks, 4);

  gst_util_set_object_arg (G_OBJECT (h->element), "denoise", "opening-3x3");
  out = label (h, gray8_frame (specks));
  assert_components (out, {9, 4, 1, 3, 3, 5.0, 2.0});
  gst_buffer_unref (out);

  /* The square loses its corners. A speck in the frame's corner is four of nine, as the edge is
   * continued outside. */
  gst_util_set_object_arg (G_OBJECT (h->element), "denoise", "median-3x3");
  out = label (h, gray8_frame (specks));
  assert_components (out, {5, 4, 1, 3, 3, 5.0, 2.0});
  gst_buffer_unref (out);

  gst_util_set_object_arg (G_OBJECT (h->element), "denoise", "opening-5x5");
  push_and_count (h, specks, 0);
  gst_harness_teardown (h);
}
GST_END_TEST

static void
assert_mask_is (GstBuffer *buffer, Drawing drawing)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint width = drawing_width (drawing), height = drawing_height (drawing);
  guint8 *expected = g_malloc (width * height);
  GstBuffer *mask;
  GstMapInfo map;
  gsize stride;

  draw (drawing, expected, width);
  mask = gst_ccl_meta_get_mask (meta, &stride);
  fail_unless (mask != NULL, "no mask");
  fail_unless (stride >= width);
  fail_unless (gst_buffer_map (mask, &map, GST_MAP_READ));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      fail_unless_equals_int (map.data[y * stride + x], expected[y * width + x]);
  gst_buffer_unmap (mask, &map);
  g_free (expected);
}

TEST (test_attach_mask)
{
  static const char mask[] = "........\n"
                             ".###....\n"
                             ".###....\n"
                             ".###....\n"
                             "......##\n"
                             "......##\n";
  GstHarness *h = new_gray8_harness (things);
  GstBuffer *out, *copy;

  g_object_set (h->element, "threshold", 60, "min-area", 5, NULL);
  out = label (h, gray8_frame (things));
  fail_unless (gst_ccl_meta_get_mask (gst_buffer_get_ccl_meta (out), NULL) == NULL);
  gst_buffer_unref (out);

  g_object_set (h->element, "attach-mask", TRUE, NULL);
  out = label (h, gray8_frame (things));
  assert_components (out, THING);
  assert_mask_is (out, mask); /* with components that are too small for the table */
  copy = gst_buffer_copy (out);
  gst_buffer_unref (out);
  assert_mask_is (copy, mask);
  gst_buffer_unref (copy);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Writes a PGM file of the drawing; the caller deletes and frees. */
static gchar *
write_pgm (Drawing drawing)
{
  guint width = drawing_width (drawing), height = drawing_height (drawing);
  gchar *path = NULL;
  gchar *header = g_strdup_printf ("P5 %u %u 255\n", width, height);
  gsize header_size = strlen (header);
  guint8 *file = g_malloc (header_size + width * height);
  gint descriptor = g_file_open_tmp ("roi-mask-XXXXXX.pgm", &path, NULL);

  fail_unless (descriptor >= 0);
  close (descriptor);
  memcpy (file, header, header_size);
  draw (drawing, file + header_size, width);
  fail_unless (g_file_set_contents (path, (gchar *)file, header_size + width * height, NULL));
  g_free (header);
  g_free (file);
  return path;
}

static const char roi_mask[] = "11111111\n"
                               "11111111\n"
                               "11..1111\n"
                               "11..1111\n"
                               "11111...\n"
                               "11111...\n";

TEST (test_roi_mask)
{
  GstHarness *h = new_harness ();
  gchar *path = write_pgm (roi_mask);
  GstBuffer *out;

  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_set (h->element, "roi-mask", path, "threshold", 60, NULL);
  gst_harness_play (h);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (things));
  assert_components (out, {5, 1, 1, 3, 3, 1.6, 1.6});
  gst_buffer_unref (out);

  /* With invert, pixels outside of the region are background, too. */
  g_object_set (h->element, "invert", TRUE, NULL);
  push_and_count (h, things, 1);
  out = label (h, gray8_frame (roi_mask));
  assert_components (out, {38, 0, 0, 8, 6, 122.0 / 38, 83.0 / 38});
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_unlink (path);
  g_free (path);
}
GST_END_TEST

/* The same pixels as in the drawing of the region of interest mask. */
#define MASKS "mask \"a tree\" 25%,33.4% 50%,33.4% 50%,66.6% 25%,66.6%; mask b 5,4 9,4 9,20 5,20"

static void
assert_warning_of_masks (GstBus *bus, const gchar *text)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  GError *error = NULL;

  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, text) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
}

TEST (test_masks)
{
  GstHarness *h = new_gray8_harness (things);
  GstBus *bus = gst_bus_new ();
  GstBuffer *out;

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "threshold", 60, NULL);
  push_and_count (h, things, 2);
  g_object_set (h->element, "masks", MASKS, NULL);
  out = label (h, gray8_frame (things));
  assert_components (out, {5, 1, 1, 3, 3, 1.6, 1.6});
  gst_buffer_unref (out);
  g_object_set (h->element, "masks", MASKS "; mask c 0,0 8,0", NULL);
  assert_warning_of_masks (
      bus, "mask \"c\" has 2 points; 3 to 1024 are possible; the former masks stay");
  out = label (h, gray8_frame (things));
  assert_components (out, {5, 1, 1, 3, 3, 1.6, 1.6});
  gst_buffer_unref (out);
  g_object_set (h->element, "masks", "", NULL);
  push_and_count (h, things, 2);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Centres of pixels decide: those of a triangle whose legs are 4 pixels long are 4 × 3 / 2 of them,
 * and the hypotenuse's own. Where a polygon covers itself twice, it masks nothing. */
TEST (test_masks_of_every_shape)
{
  static const struct {
    const gchar *masks;
    guint area;
  } shapes[] = {
      {"mask triangle 0,0 4,0 0,4", 48 - 6},
      {"mask triangle 0,0 4.01,0 0,4.01", 48 - 10},
      {"mask outside -9,-9 -1,-9 -1,-1", 48},
      {"mask frame -1000000,-1000000 1000000,-1000000 1000000,1000000 -1000000,1000000", 0},
      {"mask twice 0,0 4,0 4,4 0,4 0,0 4,0 4,4 0,4", 48},
      {"mask bow 0%,0% 100%,100% 100%,0% 0%,100%", 48 - 24},
  };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    GstHarness *h = new_gray8_harness (things);
    guint area = 0;
    GstBuffer *out;
    const GstCclMeta *meta;

    g_object_set (h->element, "threshold", 10, "masks", shapes[i].masks, NULL);
    out = label (h, gray8_frame (things));
    meta = gst_buffer_get_ccl_meta (out);
    for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++)
      area += gst_ccl_meta_get_component (meta, row)->area;
    fail_unless_equals_int (area, shapes[i].area);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* A model that began anew would find nothing in its first frame. */
TEST (test_masks_leave_the_model)
{
  GstHarness *h = new_surveillance_harness ();
  GstBuffer *out;

  push_and_count (h, things, 2);
  g_object_set (h->element, "masks", "mask corner 60%,60% 100%,60% 100%,100% 60%,100%", NULL);
  out = label (h, gray8_frame (things));
  assert_components (out, THING);
  gst_buffer_unref (out);
  g_object_set (h->element, "masks", NULL, NULL);
  push_and_count (h, things, 2);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_masks_with_mistakes)
{
  static const struct {
    const gchar *masks, *message;
  } mistakes[] = {
      {"region a 0,0 1,0 1,1", "masks, line 1, column 1: expected \"mask\", found \"region\""},
      {"mask a 0,0 1,0 1,1; mask b 0,0 1,x", "line 1, column 34: expected a number"},
      {"mask a 0,0 1,1 2,2 3,3", "all points of mask \"a\" are on one line"},
      {"mask a 0,0 1%,1% 2,2", "pixels and % are mixed"},
      {"mask a 0,0 1e7,1 2,2", "point 2 of mask \"a\" is too far from the frame"},
      {"mask a 0,0 nan,1 2,2", "expected a number"},
      {"mask 'a 0,0 1,1 2,2", "the quoted name has no end"},
      {"mask", "expected a name"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    GstElement *pipeline = gst_pipeline_new (NULL);
    GstElement *element = gst_element_factory_make (element_name (), NULL);
    GstBus *bus = gst_element_get_bus (pipeline);

    g_object_set (element, "masks", mistakes[i].masks, NULL);
    gst_bin_add (GST_BIN (pipeline), element);
    fail_unless_equals_int (
        gst_element_set_state (pipeline, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, mistakes[i].message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST

TEST (test_roi_mask_that_is_not_there)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  g_object_set (element, "roi-mask", "/nowhere/mask.png", NULL);
  gst_bin_add (GST_BIN (pipeline), element);
  fail_unless_equals_int (
      gst_element_set_state (pipeline, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, "/nowhere/mask.png");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST

static GstHarness *
new_roi_mask_harness (const char *path, GstBus *bus)
{
  GstHarness *h = new_harness ();

  gst_element_set_bus (h->element, bus);
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_set (h->element, "roi-mask", path, "threshold", 60, NULL);
  gst_harness_play (h);
  return h;
}

static void
teardown_roi_mask (GstHarness *h, GstBus *bus, gchar *path)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  g_unlink (path);
  g_free (path);
}

/* A mask of another size is scaled to the nearest pixels, with one warning, and follows the frames
 * to a new size. */
TEST (test_roi_mask_of_another_size)
{
  static const char twice[] = "8888888888888888\n"
                              "8888888888888888\n"
                              "2222222222222222\n"
                              "8888888888888888\n";
  gchar *path = write_pgm ("1.\n11\n");
  GstBus *bus = gst_bus_new ();
  GstHarness *h = new_roi_mask_harness (path, bus);
  GstBuffer *out;

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (things));
  assert_components (out, THING, CORNER);
  gst_buffer_unref (out);
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "2×2 pixels");

  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 16, 4));
  out = label (h, gray8_frame (twice));
  assert_components (out, {16, 0, 0, 8, 2, 3.5, 0.5}, {16, 0, 3, 16, 1, 7.5, 3.0});
  gst_buffer_unref (out);
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, NULL);
  teardown_roi_mask (h, bus, path);
}
GST_END_TEST

/* PNG files with two columns, of which the left one is outside of the region. */
static const struct {
  int colour_type, depth;
  gsize row_size;
  guint8 row[8];
} png_files[] = {
    {PNG_COLOR_TYPE_GRAY, 1, 1, {0x40}},
    {PNG_COLOR_TYPE_GRAY, 8, 2, {0, 1}},
    {PNG_COLOR_TYPE_GRAY, 16, 4, {0, 0, 0, 1}},
    {PNG_COLOR_TYPE_GRAY, 16, 4, {0, 0, 1, 0}},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 4, {255, 0, 255, 255}},
    {PNG_COLOR_TYPE_RGB, 8, 6, {0, 0, 0, 255, 0, 0}},
    {PNG_COLOR_TYPE_RGB, 8, 6, {0, 0, 0, 0, 0, 255}},
    {PNG_COLOR_TYPE_RGB_ALPHA, 8, 8, {255, 255, 255, 0, 0, 255, 0, 255}},
};

static gchar *
write_png (guint i)
{
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  gchar *path = NULL;
  FILE *file = fdopen (g_file_open_tmp ("roi-mask-XXXXXX.png", &path, NULL), "wb");

  fail_unless (file != NULL);
  png_init_io (png, file);
  png_set_IHDR (png, info, 2, 1, png_files[i].depth, png_files[i].colour_type, PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info (png, info);
  png_write_row (png, png_files[i].row);
  png_write_end (png, NULL);
  png_destroy_write_struct (&png, &info);
  fclose (file);
  return path;
}

TEST (test_roi_mask_kinds_of_png)
{
  for (guint i = 0; i < G_N_ELEMENTS (png_files); i++) {
    gchar *path = write_png (i);
    GstBus *bus = gst_bus_new ();
    GstHarness *h = new_roi_mask_harness (path, bus);
    GstBuffer *out;

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", 2, 1));
    out = label (h, gray8_frame ("88\n"));
    assert_components (out, {1, 1, 0, 1, 1, 1.0, 0.0});
    gst_buffer_unref (out);
    teardown_roi_mask (h, bus, path);
  }
}
GST_END_TEST

static gchar *
write_file (const char *content, gsize size)
{
  gchar *path = NULL;
  gint descriptor = g_file_open_tmp ("roi-mask-XXXXXX", &path, NULL);

  fail_unless (descriptor >= 0);
  close (descriptor);
  fail_unless (g_file_set_contents (path, content, (gssize)size, NULL));
  return path;
}

TEST (test_roi_mask_kinds_of_pnm)
{
#define PNM(text)                                                                                  \
  {                                                                                                \
    text, sizeof text - 1                                                                          \
  }
  static const struct {
    const char *content;
    gsize size;
  } files[] = {PNM ("P1 2 1 10"), PNM ("P1 # left\n2 1 1 0 "), PNM ("P2 2 1 15 0 7"),
      PNM ("P3 2 1 9  0 0 0  0 1 0"), PNM ("P4 2 1\n\x80"), PNM ("P5 2 1 255\n\0\x01"),
      PNM ("P5 2 1 65535\n\0\0\0\x01"), PNM ("P6 2 1 255\n\0\0\0\x01\0\0")};
#undef PNM

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    gchar *path = write_file (files[i].content, files[i].size);
    GstBus *bus = gst_bus_new ();
    GstHarness *h = new_roi_mask_harness (path, bus);
    GstBuffer *out;

    gst_harness_set_src_caps (h, frame_caps ("GRAY8", 2, 1));
    out = label (h, gray8_frame ("88\n"));
    assert_components (out, {1, 1, 0, 1, 1, 1.0, 0.0});
    gst_buffer_unref (out);
    teardown_roi_mask (h, bus, path);
  }
}
GST_END_TEST

/* Starts an element with a region of interest mask that cannot be read. */
static void
assert_roi_mask_fails (const char *path, const char *message)
{
  GstElement *element = gst_element_factory_make (element_name (), NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_object_set (element, "roi-mask", path, NULL);
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
}

/* The error for a file that is no image differs from that for a damaged image. */
TEST (test_roi_mask_files_that_fail)
{
  static const struct {
    const char *content, *part;
  } files[] = {
      {"GIF89a", "neither PNG nor"},
      {"", "neither PNG nor"},
      {"P5 2 1 255\n1", "damaged"},
      {"P5 0 1 255\n", "damaged"},
      {"P5 99999 99999 255\n", "too large"},
      {"P5 16384 16384 255\n", "too large"},
      {"\x89PNG\r\n\x1a\nrest", "libpng"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    gchar *path = write_file (files[i].content, strlen (files[i].content));

    assert_roi_mask_fails (path, files[i].part);
    g_unlink (path);
    g_free (path);
  }
}
GST_END_TEST

/* A file that is no regular one is refused without waiting for its data; so is a very large one. */
TEST (test_roi_mask_kinds_of_files)
{
  gchar *fifo = g_strdup_printf ("%s/roi-mask-%d", g_get_tmp_dir (), getpid ());
  gchar *large = write_file ("P5 ", 3);

  fail_unless_equals_int (mkfifo (fifo, 0600), 0);
  fail_unless_equals_int (truncate (large, 1 << 29), 0);
  assert_roi_mask_fails (fifo, "not a regular file");
  assert_roi_mask_fails ("/dev/zero", "not a regular file");
  assert_roi_mask_fails ("/", "not a regular file");
  assert_roi_mask_fails (large, "larger than 268435456 bytes");
  g_unlink (fifo);
  g_unlink (large);
  g_free (fifo);
  g_free (large);
}
GST_END_TEST

/* Pushes a frame with a timestamp; returns the motion message that was posted. */
static const char *
motion_at (GstHarness *h, GstBus *bus, guint seconds, Drawing drawing)
{
  GstBuffer *frame = gray8_frame (drawing);
  GstMessage *message;
  const GstStructure *structure;
  GstClockTime timestamp;
  const char *what;

  GST_BUFFER_PTS (frame) = seconds * GST_SECOND;
  gst_buffer_unref (label (h, frame));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  if (!message)
    return NULL;
  structure = gst_message_get_structure (message);
  what = g_intern_string (gst_structure_get_name (structure));
  fail_unless (gst_structure_get_clock_time (structure, "timestamp", &timestamp));
  fail_unless_equals_uint64 (timestamp, seconds * GST_SECOND);
  gst_message_unref (message);
  return what;
}

/* Motion begins with the last of min-frames consecutive frames with components. */
TEST (test_motion_needs_consecutive_frames)
{
  GstHarness *h = new_gray8_harness (things);
  GstBus *bus = gst_bus_new ();
  guint min_frames, second = 0;

  gst_element_set_bus (h->element, bus);
  g_object_get (h->element, "min-frames", &min_frames, NULL);
  fail_unless_equals_int (min_frames, 3);
  g_object_set (h->element, "threshold", 60, "quiet-time", 3.0, "post-motion", TRUE, NULL);
  for (guint i = 0; i < 5; i++) {
    fail_unless (motion_at (h, bus, second++, things) == NULL);
    fail_unless (motion_at (h, bus, second++, things) == NULL);
    fail_unless (motion_at (h, bus, second++, scene) == NULL);
  }
  fail_unless (motion_at (h, bus, second++, things) == NULL);
  fail_unless (motion_at (h, bus, second++, things) == NULL);
  fail_unless (!g_strcmp0 (motion_at (h, bus, second++, things), "motion-begin"));
  /* Once there is motion, one frame keeps it. */
  fail_unless (motion_at (h, bus, second + 1, scene) == NULL);
  fail_unless (motion_at (h, bus, second + 2, things) == NULL);
  fail_unless (motion_at (h, bus, second + 4, scene) == NULL);
  fail_unless (!g_strcmp0 (motion_at (h, bus, second + 5, scene), "motion-end"));
  fail_unless (motion_at (h, bus, second + 6, things) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_motion_messages)
{
  GstHarness *h = new_gray8_harness (things);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "threshold", 60, "quiet-time", 3.0, NULL);
  fail_unless (motion_at (h, bus, 0, scene) == NULL);
  fail_unless (motion_at (h, bus, 1, things) == NULL); /* off by default */
  for (guint i = 2; i < 8; i++)
    fail_unless (motion_at (h, bus, i, scene) == NULL);

  g_object_set (h->element, "post-motion", TRUE, "min-frames", 1, NULL);
  fail_unless (motion_at (h, bus, 10, scene) == NULL);
  fail_unless (!g_strcmp0 (motion_at (h, bus, 11, things), "motion-begin"));
  fail_unless (motion_at (h, bus, 12, things) == NULL);
  fail_unless (motion_at (h, bus, 13, scene) == NULL);
  fail_unless (motion_at (h, bus, 14, scene) == NULL);
  fail_unless (motion_at (h, bus, 14, things) == NULL); /* not quiet for long enough */
  fail_unless (motion_at (h, bus, 16, scene) == NULL);
  fail_unless (!g_strcmp0 (motion_at (h, bus, 17, scene), "motion-end"));
  fail_unless (motion_at (h, bus, 18, scene) == NULL);
  fail_unless (!g_strcmp0 (motion_at (h, bus, 19, things), "motion-begin"));

  /* The end of the stream ends motion, too. */
  gst_harness_push_event (h, gst_event_new_eos ());
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  fail_unless (gst_message_has_name (message, "motion-end"));
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame whose luma is the drawing and whose chroma has one value per plane of samples. In samples
 * of 16 bits the lower byte is 255. */
static GstBuffer *
colour_frame (const char *format, Drawing drawing, guint8 u, guint8 v)
{
  GstBuffer *buffer = luma_frame (format, drawing);
  GstCaps *caps = frame_caps (format, drawing_width (drawing), drawing_height (drawing));
  GstVideoFrame frame;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
  for (guint component = 1; component < 3; component++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, component); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, component); x++)
        component_data (&frame, component)[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, component) +
                                           x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, component) +
                                           (info.finfo->bits > 8 ? 1 : 0)] = component == 1 ? u : v;
  gst_video_frame_unmap (&frame);
  gst_caps_unref (caps);
  return buffer;
}

/* Otsu's method and the background model see 16 bits. No pixel is greater than a threshold beyond
 * the values of a format. */
TEST (test_formats_of_16_bits)
{
  static const char *const formats[] = {"GRAY16_LE", "P010_10LE", "P012_LE", "P016_LE"};
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstBuffer *out;

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gst_harness_set_src_caps (h, frame_caps (formats[i], 8, 6));
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "otsu");
    out = label (h, luma_frame (formats[i], things));
    assert_count (out, 2);
    gst_buffer_unref (out);
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
    for (guint k = 0; k < 5; k++) {
      const gboolean has_things = k == 3;
      out = label (h, luma_frame (formats[i], has_things ? things : scene));
      assert_count (out, has_things ? 2 : 0);
      gst_buffer_unref (out);
    }
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "threshold");
    g_object_set (h->element, "threshold", 100 * 257, NULL);
    out = label (h, luma_frame (formats[i], things));
    assert_count (out, 2);
    gst_buffer_unref (out);
  }
  gst_harness_set_src_caps (h, frame_caps ("NV12", 8, 6));
  out = label (h, luma_frame ("NV12", things)); /* no pixel of 8 bits is greater */
  assert_count (out, 0);
  gst_buffer_unref (out);
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "threshold=25700");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A square that is darker than the scene is a shadow if it has the scene's hue, in every format. */
TEST (test_shadows)
{
  static const char *const formats[] = {"NV12", "NV21", "I420", "YV12", "Y42B", "Y444", "NV16",
      "NV61", "NV24", "Y41B", "YUY2", "UYVY", "YVYU", "VYUY", "P010_10LE", "P012_LE", "P016_LE"};
  static const char bright[] = "66666666\n66666666\n66666666\n66666666\n66666666\n66666666\n";
  static const char dark[] = "66666666\n66666666\n66555566\n66555566\n66555566\n66555566\n";
  static const char mask[] = "........\n........\n..5555..\n..5555..\n..5555..\n..5555..\n";
  static const char *const shadows[] = {"keep", "mark", "remove"};

  for (guint i = 0; i < 3 * G_N_ELEMENTS (formats); i++) {
    const char *format = formats[i / 3];
    GstHarness *h = new_harness ();
    GstBuffer *out;

    gst_harness_set_src_caps (h, frame_caps (format, 8, 6));
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
    gst_util_set_object_arg (G_OBJECT (h->element), "shadows", shadows[i % 3]);
    g_object_set (h->element, "attach-mask", TRUE, NULL);
    for (guint k = 0; k < 30; k++) {
      out = label (h, colour_frame (format, bright, 100, 160));
      assert_count (out, 0);
      gst_buffer_unref (out);
    }
    /* The chroma of the whole frame is a little weaker, which is still background where luma is. */
    out = label (h, colour_frame (format, dark, 102, 158));
    assert_count (out, i % 3 == 0 ? 1 : 0);
    if (i % 3 == 1) {
      GstCclPixels pixels;
      GstCclMeta *meta = gst_buffer_get_ccl_meta (out);
      guint8 expected[48];

      draw (mask, expected, 8);
      fail_unless (gst_ccl_meta_map_mask (meta, &pixels));
      for (guint p = 0; p < 48; p++)
        fail_unless_equals_int (
            ((const guint8 *)pixels.data)[p / 8 * pixels.stride + p % 8], expected[p] ? 127 : 0);
      gst_ccl_pixels_unmap (&pixels);
    }
    gst_buffer_unref (out);
    /* In another hue, it is an object. */
    out = label (h, colour_frame (format, dark, 140, 120));
    fail_unless (gst_ccl_meta_get_n_components (gst_buffer_get_ccl_meta (out)) > 0);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* The name and kind of the next message scene-change; NULL: there is none. */
static gchar *
next_scene_change (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  gchar *kind = NULL;

  if (message) {
    const GstStructure *structure = gst_message_get_structure (message);
    fail_unless (gst_structure_has_name (structure, "scene-change"));
    kind = g_strdup (gst_structure_get_string (structure, "kind"));
    gst_message_unref (message);
  }
  return kind;
}

static GstBuffer *
textured_frame (guint seed, guint darkest, guint brightest)
{
  GRand *random = g_rand_new_with_seed (seed);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 128 * 96, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)g_rand_int_range (random, (gint)darkest, (gint)brightest + 1);
  gst_buffer_unmap (buffer, &map);
  g_rand_free (random);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

TEST (test_scene_change)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  static const struct {
    guint seed, darkest, brightest;
    const char *kind;
  } scenes[] = {{1, 60, 200, NULL}, {2, 60, 200, "moved"}, {2, 5, 15, "covered"},
      {2, 60, 200, "uncovered"}, {2, 240, 250, "blinded"}};

  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 128, 96));
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++) {
    for (guint k = 0; k < 20; k++) {
      GstBuffer *out =
          label (h, textured_frame (scenes[i].seed, scenes[i].darkest, scenes[i].brightest));
      gchar *kind = next_scene_change (bus);
      fail_unless_equals_string (kind, k == 0 ? scenes[i].kind : NULL);
      g_free (kind);
      assert_count (out, 0);
      gst_buffer_unref (out);
    }
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A part of a picture of blurred noise, that many pixels from its left edge. */
static GstBuffer *
moved_frame (GRand *random, const guint8 *picture, guint left, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 128 * 96, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (guint i = 0; i < 128 * 96; i++)
    map.data[i] =
        (guint8)(picture[i / 128 * 256 + i % 128 + left] + g_rand_int_range (random, 0, 5));
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  return buffer;
}

/* The message about a camera that was knocked has the displacement; nothing is found from then on
 * until the model fits, and nothing afterwards. */
TEST (test_camera_moves)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GRand *random = g_rand_new_with_seed (1);
  guint8 *picture = g_malloc (256 * 96);
  guint moved = 0, settled = 0;
  gint dx = 0, dy = 1;

  for (guint i = 0; i < 256 * 96; i++)
    picture[i] = (guint8)(40 + (i % 256 / 5 * 7919 ^ i / 256 / 5 * 104729) % 11 * 15);
  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "codebook");
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 128, 96));
  for (guint i = 0; i < 200; i++) {
    GstBuffer *out = label (h, moved_frame (random, picture, i < 60 ? 0 : 9, i));
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);

    if (i < 60 || moved)
      assert_count (out, 0);
    gst_buffer_unref (out);
    if (!message)
      continue;
    if (!moved) {
      const GstStructure *structure = gst_message_get_structure (message);
      fail_unless_equals_string (gst_structure_get_string (structure, "kind"), "moved");
      fail_unless (gst_structure_get_int (structure, "dx", &dx));
      fail_unless (gst_structure_get_int (structure, "dy", &dy));
      moved = i;
    } else {
      fail_unless_equals_string (
          gst_structure_get_string (gst_message_get_structure (message), "kind"), "settled");
      fail_if (settled);
      settled = i;
    }
    gst_message_unref (message);
  }
  fail_unless (moved > 60 && moved <= 110 && settled > moved && settled <= moved + 75);
  fail_unless (dx >= -11 && dx <= -7 && ABS (dy) <= 1);
  g_free (picture);
  g_rand_free (random);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Ground with noise, and a block that is brighter by some levels and moves. */
static GstBuffer *
faint_frame (GRand *random, guint number, guint levels)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 128 * 96, NULL);
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  for (guint i = 0; i < 128 * 96; i++) {
    const guint x = i % 128 - number % 25 * 4, y = i / 128 - 30;
    map.data[i] = (guint8)(130 + g_rand_int_range (random, 0, 5) + (x < 20 && y < 30 ? levels : 0));
  }
  gst_buffer_unmap (frame, &map);
  GST_BUFFER_PTS (frame) = number * 40 * GST_MSECOND;
  return frame;
}

/* The sensitivity may change while frames pass: what is too faint for 50 is found at 200. */
TEST (test_sensitivity_while_playing)
{
  static const guint percents[] = {50, 200, 50, 200};
  GstHarness *h = new_harness ();
  GRand *random = g_rand_new_with_seed (1);
  guint number = 0;

  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "codebook");
  g_object_set (h->element, "light", FALSE, "min-area", 100, NULL);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 128, 96));
  for (; number < 100; number++)
    gst_buffer_unref (label (h, faint_frame (random, number, 0)));
  for (guint i = 0; i < G_N_ELEMENTS (percents); i++) {
    guint n_found = 0;

    g_object_set (h->element, "sensitivity", percents[i], NULL);
    for (guint k = 0; k < 25; k++) {
      GstBuffer *out = label (h, faint_frame (random, number++, 16));
      n_found += gst_ccl_meta_get_n_components (gst_buffer_get_ccl_meta (out)) > 0;
      gst_buffer_unref (out);
    }
    fail_unless (percents[i] == 200 ? n_found >= 20 : n_found == 0,
        "sensitivity %u: %u of 25 frames", percents[i], n_found);
  }
  g_rand_free (random);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_closing)
{
  static const char pieces[] = "........\n.##..##.\n.##..##.\n........\n.##.....\n........\n";
  GstHarness *h = new_gray8_harness (pieces);

  push_and_count (h, pieces, 3);
  g_object_set (h->element, "closing-height", 2, NULL);
  push_and_count (h, pieces, 2);
  g_object_set (h->element, "closing-height", 1, "closing-width", 3, NULL);
  push_and_count (h, pieces, 2);
  g_object_set (h->element, "closing-height", 2, NULL);
  push_and_count (h, pieces, 1);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Noise in columns that change places, and a bright block that moves. */
static GstBuffer *
noisy_frame (GRand *random, guint width, guint height, guint number)
{
  const gsize stride = GST_ROUND_UP_4 (width);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, stride * height, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (gsize p = 0; p < map.size; p++)
    map.data[p] = (guint8)(p % 7 == number % 7 ? g_rand_int_range (random, 0, 256)
                                               : g_rand_int_range (random, 60, 80));
  for (guint y = 20; number > 4 && y < 32; y++)
    memset (map.data + y * stride + 2 * number, 200, 12);
  gst_buffer_unmap (frame, &map);
  return frame;
}

/* Both elements find the same components in a noisy scene, frame after frame. */
static void
compare_elements (const char *foreground, const char *denoise)
{
  const guint width = 61, height = 43;
  GstHarness *both[] = {new_harness (), gst_harness_new ("ccl")};
  const gboolean is_mog2 = !strcmp (foreground, "mog2");
  GRand *random = g_rand_new_with_seed (7);

  for (guint k = 0; k < 2; k++) {
    gst_util_set_object_arg (G_OBJECT (both[k]->element), "foreground", foreground);
    gst_util_set_object_arg (G_OBJECT (both[k]->element), "denoise", denoise);
    gst_util_set_object_arg (G_OBJECT (both[k]->element), "shadows", "keep");
    g_object_set (both[k]->element, "light", !is_mog2, "hold", is_mog2 ? 1 : 4, NULL);
    gst_harness_set_src_caps (both[k], frame_caps ("GRAY8", width, height));
  }
  for (guint n = 0; n < 20; n++) {
    GstBuffer *frame = noisy_frame (random, width, height, n), *out[2];
    gconstpointer rows[2];
    guint n_rows[2];
    gsize stride;

    for (guint k = 0; k < 2; k++) {
      out[k] = label (both[k], gst_buffer_copy (frame));
      rows[k] = gst_ccl_meta_get_rows (gst_buffer_get_ccl_meta (out[k]), &n_rows[k], &stride);
    }
    fail_unless_equals_int (n_rows[0], n_rows[1]);
    if (n_rows[0])
      fail_unless (!memcmp (rows[0], rows[1], n_rows[0] * stride));
    if (!strcmp (denoise, "none") && n > (is_mog2 ? 0 : 4))
      fail_unless (n_rows[0] > (is_mog2 ? 10 : 0));
    for (guint k = 0; k < 2; k++)
      gst_buffer_unref (out[k]);
    gst_buffer_unref (frame);
  }
  g_rand_free (random);
  for (guint k = 0; k < 2; k++)
    gst_harness_teardown (both[k]);
}

TEST (test_elements_agree)
{
  static const char *const denoise[] = {"none", "median-3x3", "median-5x5", "opening-3x3"};

  for (guint i = 0; i < G_N_ELEMENTS (denoise); i++) {
    compare_elements ("mog2", denoise[i]);
    compare_elements ("codebook", denoise[i]);
  }
}
GST_END_TEST

static Suite *
foreground_suite (void)
{
  Suite *suite = suite_create ("foreground");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_defaults);
  tcase_add_test (tcase, test_otsu);
  tcase_add_test (tcase, test_background);
  tcase_add_test (tcase, test_background_learns);
  tcase_add_test (tcase, test_model_survives_properties);
  tcase_add_test (tcase, test_reset_signal);
  tcase_add_test (tcase, test_flush_resets);
  tcase_add_test (tcase, test_new_caps_reset);
  tcase_add_test (tcase, test_other_caps_keep_the_model);
  tcase_add_test (tcase, test_stopping_resets);
  tcase_add_test (tcase, test_denoise);
  tcase_add_test (tcase, test_attach_mask);
  tcase_add_test (tcase, test_roi_mask);
  tcase_add_test (tcase, test_masks);
  tcase_add_test (tcase, test_masks_of_every_shape);
  tcase_add_test (tcase, test_masks_leave_the_model);
  tcase_add_test (tcase, test_masks_with_mistakes);
  tcase_add_test (tcase, test_roi_mask_that_is_not_there);
  tcase_add_test (tcase, test_roi_mask_of_another_size);
  tcase_add_test (tcase, test_roi_mask_kinds_of_png);
  tcase_add_test (tcase, test_roi_mask_kinds_of_pnm);
  tcase_add_test (tcase, test_roi_mask_files_that_fail);
  tcase_add_test (tcase, test_roi_mask_kinds_of_files);
  tcase_add_test (tcase, test_motion_messages);
  tcase_add_test (tcase, test_motion_needs_consecutive_frames);
  tcase_add_test (tcase, test_elements_agree);
  tcase_add_test (tcase, test_shadows);
  tcase_add_test (tcase, test_formats_of_16_bits);
  tcase_add_test (tcase, test_scene_change);
  tcase_add_test (tcase, test_camera_moves);
  tcase_add_test (tcase, test_sensitivity_while_playing);
  tcase_add_test (tcase, test_closing);
  return suite;
}

GST_CHECK_MAIN (foreground);
