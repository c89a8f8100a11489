/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats that ccl takes without a converter: their results are those of frames whose luma and
 * chroma were computed here, in real numbers by the formula of the documentation. */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gst/allocators/gstdmabuf.h>

#include "tests/check/shared/component-data.h"
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#define WIDTH 37
#define HEIGHT 23

/* Where red, green and blue are in a pixel, and its bytes. */
static const struct {
  const gchar *format;
  guint r, g, b, step;
} colours[] = {
    {"RGB", 0, 1, 2, 3},
    {"BGR", 2, 1, 0, 3},
    {"RGBA", 0, 1, 2, 4},
    {"RGBx", 0, 1, 2, 4},
    {"BGRA", 2, 1, 0, 4},
    {"BGRx", 2, 1, 0, 4},
    {"ARGB", 1, 2, 3, 4},
    {"xRGB", 1, 2, 3, 4},
    {"ABGR", 3, 2, 1, 4},
    {"xBGR", 3, 2, 1, 4},
};

typedef struct {
  GstVideoInfo info;
  GstVideoFrame frame;
} Mapped;

static GstBuffer *
new_frame (const gchar *format, Mapped *mapped)
{
  GstCaps *caps = frame_caps (format, WIDTH, HEIGHT);
  GstBuffer *buffer;

  fail_unless (gst_video_info_from_caps (&mapped->info, caps));
  gst_caps_unref (caps);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&mapped->info), NULL);
  gst_buffer_memset (buffer, 0, 0, (gsize)-1);
  fail_unless (gst_video_frame_map (&mapped->frame, &mapped->info, buffer, GST_MAP_WRITE));
  return buffer;
}

static guint8 *
at (Mapped *mapped, guint component, guint x, guint y)
{
  return component_data (&mapped->frame, component) +
         y * (guint)GST_VIDEO_FRAME_COMP_STRIDE (&mapped->frame, component) +
         x * (guint)GST_VIDEO_FRAME_COMP_PSTRIDE (&mapped->frame, component);
}

/* A colour that depends on place and number. Some are pure red, green and blue. */
static void
pick (GRand *rand, guint8 rgb[3])
{
  const gint kind = g_rand_int_range (rand, 0, 12);

  for (guint i = 0; i < 3; i++)
    rgb[i] = kind < 8 ? (kind >> i & 1) * 255 : (guint8)g_rand_int_range (rand, 0, 256);
}

static guint8
round_down (gdouble value)
{
  return (guint8)CLAMP (floor (value), 0, 255);
}

/* The same picture in the format and as Y444. */
static void
make_colours (guint kind, guint32 seed, GstBuffer **packed, GstBuffer **planar)
{
  GRand *rand = g_rand_new_with_seed (seed);
  Mapped from, to;

  *packed = new_frame (colours[kind].format, &from);
  *planar = new_frame ("Y444", &to);
  for (guint y = 0; y < HEIGHT; y++) {
    guint8 *row = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&from.frame, 0) +
                  y * (guint)GST_VIDEO_FRAME_PLANE_STRIDE (&from.frame, 0);

    for (guint x = 0; x < WIDTH; x++) {
      guint8 rgb[3], *pixel = row + x * colours[kind].step;

      pick (rand, rgb);
      if (colours[kind].step == 4)
        memset (pixel, 99, 4);
      pixel[colours[kind].r] = rgb[0];
      pixel[colours[kind].g] = rgb[1];
      pixel[colours[kind].b] = rgb[2];
      *at (&to, 0, x, y) =
          round_down ((77.0 * rgb[0] + 150.0 * rgb[1] + 29.0 * rgb[2]) / 256 + 0.5);
      *at (&to, 1, x, y) =
          round_down ((-43.0 * rgb[0] - 85.0 * rgb[1] + 128.0 * rgb[2]) / 256 + 128.5);
      *at (&to, 2, x, y) =
          round_down ((128.0 * rgb[0] - 107.0 * rgb[1] - 21.0 * rgb[2]) / 256 + 128.5);
    }
  }
  gst_video_frame_unmap (&from.frame);
  gst_video_frame_unmap (&to.frame);
  g_rand_free (rand);
}

static GstHarness *
open_stream (const gchar *settings, const gchar *format)
{
  GstHarness *h = gst_harness_new_parse (settings);

  gst_harness_set_src_caps (h, frame_caps (format, WIDTH, HEIGHT));
  return h;
}

/* Pushes both frames, and fails the test unless tables and label maps are the same. Returns the
 * number of components. */
static guint
assert_same (GstHarness *expected, GstBuffer *planar, GstHarness *found, GstBuffer *packed,
    const gchar *what)
{
  GstBuffer *a = gst_harness_push_and_pull (expected, planar);
  GstBuffer *b = gst_harness_push_and_pull (found, packed);
  const GstCclMeta *wanted = gst_buffer_get_ccl_meta (a), *got = gst_buffer_get_ccl_meta (b);
  GBytes *one, *other;
  guint n_components;

  fail_unless (wanted && got, "%s", what);
  n_components = (guint)gst_ccl_meta_get_n_components (wanted);
  fail_unless_equals_int (
      gst_ccl_meta_get_n_components (wanted), gst_ccl_meta_get_n_components (got));
  for (guint i = 0; i < gst_ccl_meta_get_n_rows (wanted); i++)
    fail_unless (memcmp (gst_ccl_meta_get_component (wanted, i),
                     gst_ccl_meta_get_component (got, i), sizeof (GstCclComponent)) == 0,
        "%s: row %u", what, i);
  one = gst_ccl_meta_read_labels (wanted);
  other = gst_ccl_meta_read_labels (got);
  fail_unless (g_bytes_equal (one, other), "%s: label maps differ", what);
  g_bytes_unref (one);
  g_bytes_unref (other);
  gst_buffer_unref (a);
  gst_buffer_unref (b);
  return n_components;
}

GST_START_TEST (test_colours)
{
  static const gchar *const settings[] = {"ccl attach-labels=true threshold=128",
      "ccl attach-labels=true threshold=76", "ccl attach-labels=true foreground=otsu invert=true",
      "ccl attach-labels=true foreground=codebook",
      "ccl attach-labels=true foreground=mog2 shadows=remove"};
  const gchar *setting = settings[__i__ % G_N_ELEMENTS (settings)];
  const guint kind = (guint)__i__ / G_N_ELEMENTS (settings);
  GstHarness *expected = open_stream (setting, "Y444");
  GstHarness *found = open_stream (setting, colours[kind].format);

  for (guint i = 0; i < 6; i++) {
    GstBuffer *packed, *planar;

    make_colours (kind, i < 4 ? 1 : i, &packed, &planar); /* still, then all else */
    GST_BUFFER_PTS (packed) = GST_BUFFER_PTS (planar) = i * GST_SECOND / 25;
    assert_same (expected, planar, found, packed, colours[kind].format);
  }
  gst_harness_teardown (expected);
  gst_harness_teardown (found);
}
GST_END_TEST

/* Samples of 10 bits at the lower end of 16, as against P010_10LE, where they are at the upper end.
 */
GST_START_TEST (test_10_bits)
{
  static const gchar *const settings[] = {
      "ccl attach-labels=true threshold=32767", "ccl attach-labels=true foreground=codebook"};
  const gchar *setting = settings[__i__];
  GstHarness *expected = open_stream (setting, "P010_10LE");
  GstHarness *found = open_stream (setting, "I420_10LE");

  for (guint i = 0; i < 6; i++) {
    GRand *rand = g_rand_new_with_seed (i < 4 ? 1 : i);
    Mapped from, to;
    GstBuffer *low = new_frame ("I420_10LE", &from), *high = new_frame ("P010_10LE", &to);

    for (guint component = 0; component < 3; component++)
      for (guint y = 0; y < (guint)GST_VIDEO_FRAME_COMP_HEIGHT (&from.frame, component); y++)
        for (guint x = 0; x < (guint)GST_VIDEO_FRAME_COMP_WIDTH (&from.frame, component); x++) {
          const guint16 sample = (guint16)g_rand_int_range (rand, 0, 1024);

          GST_WRITE_UINT16_LE (at (&from, component, x, y), sample);
          GST_WRITE_UINT16_LE (at (&to, component, x, y), sample * 64);
        }
    gst_video_frame_unmap (&from.frame);
    gst_video_frame_unmap (&to.frame);
    g_rand_free (rand);
    GST_BUFFER_PTS (low) = GST_BUFFER_PTS (high) = i * GST_SECOND / 25;
    assert_same (expected, high, found, low, setting);
  }
  gst_harness_teardown (expected);
  gst_harness_teardown (found);
}
GST_END_TEST

/* v: of a square; all other samples are equal. */
static GstBuffer *
new_red_frame (const gchar *format, guint16 v, guint shift)
{
  Mapped to;
  GstBuffer *buffer = new_frame (format, &to);

  for (guint component = 0; component < 3; component++)
    for (guint y = 0; y < (guint)GST_VIDEO_FRAME_COMP_HEIGHT (&to.frame, component); y++)
      for (guint x = 0; x < (guint)GST_VIDEO_FRAME_COMP_WIDTH (&to.frame, component); x++)
        GST_WRITE_UINT16_LE (at (&to, component, x, y),
            (guint16)((component == 2 && x > 4 && x < 11 && y > 2 && y < 9 ? v : 512) << shift));
  gst_video_frame_unmap (&to.frame);
  return buffer;
}

/* Something that has the background's luma, and differs in V alone. */
GST_START_TEST (test_v_of_10_bits)
{
  const gchar *setting = "ccl attach-labels=true foreground=codebook";
  GstHarness *expected = open_stream (setting, "I420_10LE");
  GstHarness *found = open_stream (setting, "P010_10LE");

  for (guint i = 0; i < 60; i++) {
    const guint16 v = i < 50 ? 512 : 800;
    GstBuffer *planar = new_red_frame ("I420_10LE", v, 0);
    GstBuffer *packed = new_red_frame ("P010_10LE", v, 6);

    GST_BUFFER_PTS (planar) = GST_BUFFER_PTS (packed) = i * GST_SECOND / 25;
    fail_unless_equals_int (assert_same (expected, planar, found, packed, setting), i >= 50);
  }
  gst_harness_teardown (expected);
  gst_harness_teardown (found);
}
GST_END_TEST

GST_START_TEST (test_big_endian)
{
  const gchar *setting = "ccl attach-labels=true threshold=30000";
  GstHarness *expected = open_stream (setting, "GRAY16_LE");
  GstHarness *found = open_stream (setting, "GRAY16_BE");
  GRand *rand = g_rand_new_with_seed (7);
  Mapped from, to;
  GstBuffer *big = new_frame ("GRAY16_BE", &from), *little = new_frame ("GRAY16_LE", &to);

  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      const guint16 sample = (guint16)g_rand_int_range (rand, 0, 65536);

      GST_WRITE_UINT16_BE (at (&from, 0, x, y), sample);
      GST_WRITE_UINT16_LE (at (&to, 0, x, y), sample);
    }
  gst_video_frame_unmap (&from.frame);
  gst_video_frame_unmap (&to.frame);
  g_rand_free (rand);
  assert_same (expected, little, found, big, setting);
  gst_harness_teardown (expected);
  gst_harness_teardown (found);
}
GST_END_TEST

/* One stream whose caps change from one format to the next one. */
GST_START_TEST (test_formats_that_change)
{
  static const gchar *const formats[] = {"RGB", "I420_10LE", "GRAY16_BE", "GRAY8", "BGRA", "NV12"};
  GstHarness *h = gst_harness_new_parse ("ccl threshold=1 attach-columns=luma+color");

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    const gchar *format = formats[i % G_N_ELEMENTS (formats)];
    Mapped mapped;
    GstBuffer *frame = new_frame (format, &mapped);

    gst_video_frame_unmap (&mapped.frame);
    gst_buffer_memset (frame, 0, 200, (gsize)-1);
    gst_harness_set_src_caps (h, frame_caps (format, WIDTH, HEIGHT));
    frame = gst_harness_push_and_pull (h, frame);
    assert_components (
        frame, {WIDTH * HEIGHT, 0, 0, WIDTH, HEIGHT, (WIDTH - 1) / 2.0, (HEIGHT - 1) / 2.0});
    gst_buffer_unref (frame);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame that is smaller than its caps say ends in an error, and no byte behind it is read. */
GST_START_TEST (test_short_frames)
{
  for (guint i = 0; i < G_N_ELEMENTS (colours); i++) {
    GstHarness *h = open_stream ("ccl name=e", colours[i].format);
    GstElement *element = gst_bin_get_by_name (GST_BIN (h->element), "e");
    GstBus *bus = gst_bus_new ();
    Mapped mapped;
    GstBuffer *frame = new_frame (colours[i].format, &mapped);

    gst_video_frame_unmap (&mapped.frame);
    gst_buffer_set_size (frame, (gssize)gst_buffer_get_size (frame) - 4);
    gst_element_set_bus (element, bus);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
    assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "smaller than its caps");
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* Memory of another driver that comes as a file descriptor. */
GST_START_TEST (test_dmabuf)
{
  const gint fd = memfd_create ("frame", 0);
  GstAllocator *allocator = gst_dmabuf_allocator_new ();
  GstHarness *h = open_stream ("ccl threshold=100", "GRAY8");
  GstBuffer *frame = gst_buffer_new ();
  guint8 pixels[WIDTH * 8];

  memset (pixels, 0, sizeof pixels);
  memset (pixels + WIDTH + 5, 200, 4);
  fail_unless (ftruncate (fd, GST_ROUND_UP_4 (WIDTH) * HEIGHT) == 0);
  for (guint y = 2; y < 5; y++)
    fail_unless (pwrite (fd, pixels + WIDTH + 5, 4, y * GST_ROUND_UP_4 (WIDTH) + 7) == 4);
  gst_buffer_append_memory (
      frame, gst_dmabuf_allocator_alloc (allocator, fd, GST_ROUND_UP_4 (WIDTH) * HEIGHT));
  frame = gst_harness_push_and_pull (h, frame);
  assert_components (frame, {12, 7, 2, 4, 3, 8.5, 3});
  gst_buffer_unref (frame);
  gst_object_unref (allocator);
  gst_harness_teardown (h);
}
GST_END_TEST

/* VA memory: the plane is where the pool's map function says, with the stride that it says. */

static guint8 surface[HEIGHT][64];

static gboolean
map_surface (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data, gint *stride,
    GstMapFlags flags)
{
  *data = surface;
  *stride = sizeof surface[0];
  return TRUE;
}

static gboolean
unmap_surface (GstVideoMeta *meta, guint plane, GstMapInfo *info)
{
  return TRUE;
}

GST_START_TEST (test_va_memory)
{
  GstHarness *h = gst_harness_new ("ccl");
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstVideoMeta *meta = gst_buffer_add_video_meta (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);

  gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:VAMemory", NULL));
  gst_harness_set_src_caps (h, caps);
  meta->map = map_surface;
  meta->unmap = unmap_surface;
  memset (surface, 0, sizeof surface);
  for (guint y = 2; y < 5; y++)
    memset (surface[y] + 7, 200, 4);
  frame = gst_harness_push_and_pull (h, frame);
  assert_components (frame, {12, 7, 2, 4, 3, 8.5, 3});
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
formats_suite (void)
{
  Suite *suite = suite_create ("formats");
  TCase *tcase = tcase_create ("ccl");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_loop_test (tcase, test_colours, 0, 5 * G_N_ELEMENTS (colours));
  tcase_add_loop_test (tcase, test_10_bits, 0, 2);
  tcase_add_test (tcase, test_v_of_10_bits);
  tcase_add_test (tcase, test_big_endian);
  tcase_add_test (tcase, test_formats_that_change);
  tcase_add_test (tcase, test_short_frames);
  tcase_add_test (tcase, test_dmabuf);
  tcase_add_test (tcase, test_va_memory);
  return suite;
}

GST_CHECK_MAIN (formats);
