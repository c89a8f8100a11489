/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The drawings of ccloverlay, pixel by pixel where they are geometry, and the frames that it does
 * not change. The metadata is made by hand, without a labeller. */
#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#include <math.h>

#define WIDTH 96
#define HEIGHT 64

#define BLACK 0x000000
#define GREEN 0x00ff00

static const GstCclComponent box = {1, 200, 10, 20, 30, 12, 24.5, 25.5};

static GstHarness *
new_harness (const char *properties, const char *format, guint width, guint height)
{
  gchar *line = g_strdup_printf ("ccloverlay %s", properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_set_src_caps (h, frame_caps (format, width, height));
  return h;
}

/* The fourth byte is 255: GStreamer blends as if it were the frame's alpha. */
static GstBuffer *
black_frame (void)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 4, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  for (gsize i = 3; i < WIDTH * HEIGHT * 4; i += 4)
    gst_buffer_memset (frame, i, 255, 1);
  return frame;
}

static GstBuffer *
frame_with (const GstCclComponent *components, guint n)
{
  GstBuffer *frame = black_frame ();

  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, n, components, n, NULL, 0);
  return frame;
}

/* The pixels of a BGRx frame as 0xRRGGBB. Takes the frame. */
static guint32 *
pixels_of (GstBuffer *frame)
{
  guint32 *pixels = g_new (guint32, WIDTH * HEIGHT);

  fail_unless (frame != NULL);
  fail_unless_equals_int (
      gst_buffer_extract (frame, 0, pixels, WIDTH * HEIGHT * 4), WIDTH * HEIGHT * 4);
  gst_buffer_unref (frame);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    pixels[i] = GUINT32_FROM_LE (pixels[i]) & 0xffffff;
  return pixels;
}

/* Draws one frame with an element of these properties. */
static guint32 *
drawn (const char *properties, GstBuffer *frame)
{
  GstHarness *h = new_harness (properties, "BGRx", WIDTH, HEIGHT);
  guint32 *pixels = pixels_of (gst_harness_push_and_pull (h, frame));

  gst_harness_teardown (h);
  return pixels;
}

static gboolean
inside (gint x, gint y, gint left, gint top, gint width, gint height)
{
  return x >= left && x < left + width && y >= top && y < top + height;
}

/* Fails the test unless exactly the frame of the box, that many pixels wide, has the colour. */
static void
assert_box (
    const guint32 *pixels, gint left, gint top, gint width, gint height, gint line, guint32 color)
{
  for (gint y = 0; y < HEIGHT; y++) {
    for (gint x = 0; x < WIDTH; x++) {
      gboolean on = inside (x, y, left, top, width, height) &&
                    !inside (x, y, left + line, top + line, width - 2 * line, height - 2 * line);
      guint32 expected = on ? color : BLACK;
      fail_unless (pixels[y * WIDTH + x] == expected, "(%d, %d) is %06x instead of %06x", x, y,
          pixels[y * WIDTH + x], expected);
    }
  }
}

GST_START_TEST (test_box)
{
  guint32 *pixels = drawn ("", frame_with (&box, 1));

  assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_box_color_and_width)
{
  guint32 *pixels = drawn ("box-color=0xff3366cc box-width=1", frame_with (&box, 1));

  assert_box (pixels, 10, 20, 30, 12, 1, 0x3366cc);
  g_free (pixels);

  pixels = drawn ("box-color=0xff3366cc box-width=5", frame_with (&box, 1));
  assert_box (pixels, 10, 20, 30, 12, 5, 0x3366cc);
  g_free (pixels);

  /* As wide as the box is high: all of it. */
  pixels = drawn ("box-width=100", frame_with (&box, 1));
  assert_box (pixels, 10, 20, 30, 12, 6, GREEN);
  g_free (pixels);
}
GST_END_TEST

/* A box too small for an interior between its border lines is filled. */
/* Whether a line of 2 pixels along that rectangle covers a pixel: 1 yes, 0 no, -1 in part, as at
 * the round corners. */
static gint
on_rectangle (gint x, gint y, gint left, gint top, gint right, gint bottom)
{
  if ((x == left - 1 || x == right) && (y == top - 1 || y == bottom))
    return -1;
  return inside (x, y, left - 1, top - 1, right - left + 2, bottom - top + 2) &&
         !inside (x, y, left + 1, top + 1, right - left - 2, bottom - top - 2);
}

static GstBuffer *
frame_with_outline (GstCclContourKind kind)
{
  /* Inside the box, so that box and outline have no pixel in common. */
  static const gfloat rectangle[] = {14, 24, 14, 28, 36, 28, 36, 24};
  static const GstCclContour contour = {1, GST_CCL_NO_CONTOUR, 0, 4, 0};
  GstBuffer *frame = frame_with (&box, 1);
  GstCclContours *contours = new_contours (kind, &contour, 1, rectangle, 4);

  gst_ccl_meta_set_contours (gst_buffer_get_ccl_meta (frame), contours);
  gst_ccl_contours_unref (contours);
  return frame;
}

GST_START_TEST (test_outlines)
{
  static const char *const styles[] = {"boxes", "outline", "both"};

  for (guint i = 0; i < G_N_ELEMENTS (styles); i++) {
    gchar *properties = g_strdup_printf ("style=%s box-width=2", styles[i]);
    guint32 *pixels = drawn (properties, frame_with_outline (GST_CCL_CONTOUR_KIND_CRACKS));

    for (gint y = 0; y < HEIGHT; y++) {
      for (gint x = 0; x < WIDTH; x++) {
        const gint on_outline = i == 0 ? 0 : on_rectangle (x, y, 14, 24, 36, 28);
        const gboolean on_box =
            i != 1 && inside (x, y, 10, 20, 30, 12) && !inside (x, y, 12, 22, 26, 8);

        if (on_outline >= 0)
          fail_unless (pixels[y * WIDTH + x] == (on_outline || on_box ? GREEN : BLACK),
              "%s: (%d, %d) is %06x", styles[i], x, y, pixels[y * WIDTH + x]);
      }
    }
    g_free (pixels);
    g_free (properties);
  }
}
GST_END_TEST

/* A pixel is drawn where its middle is: between the edges that a line of one pixel has. */
GST_START_TEST (test_outlines_along_pixels)
{
  guint32 *pixels =
      drawn ("style=outline box-width=1", frame_with_outline (GST_CCL_CONTOUR_KIND_PIXELS));

  for (gint y = 0; y < HEIGHT; y++) {
    for (gint x = 0; x < WIDTH; x++) {
      const gboolean on = inside (x, y, 14, 24, 23, 5) && !inside (x, y, 15, 25, 21, 3);
      const gboolean is_corner = (x == 14 || x == 36) && (y == 24 || y == 28);

      if (!is_corner)
        fail_unless (pixels[y * WIDTH + x] == (on ? GREEN : BLACK), "(%d, %d)", x, y);
    }
  }
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_outlines_without_contours)
{
  for (guint i = 0; i < 2; i++) {
    guint32 *pixels = drawn (i ? "style=both" : "style=outline", frame_with (&box, 1));

    assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
    g_free (pixels);
  }
}
GST_END_TEST

/* Coordinates from elsewhere, of any size. */
GST_START_TEST (test_outlines_far_outside)
{
  static const gfloat points[] = {-1e30f, 5, 1e30f, 5, 1e30f, G_MAXFLOAT, -G_MAXFLOAT, 1e30f};
  static const GstCclContour contour = {1, GST_CCL_NO_CONTOUR, 0, 4, 0};
  GstBuffer *frame = frame_with (&box, 1);
  GstCclContours *contours = new_contours (GST_CCL_CONTOUR_KIND_CRACKS, &contour, 1, points, 4);
  guint32 *pixels;

  gst_ccl_meta_set_contours (gst_buffer_get_ccl_meta (frame), contours);
  gst_ccl_contours_unref (contours);
  pixels = drawn ("style=outline box-width=2", frame);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      fail_unless_equals_int (pixels[y * WIDTH + x], y == 4 || y == 5 ? GREEN : BLACK);
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_thin_boxes)
{
  static const guint boxes[][2] = {{1, 1}, {1, 20}, {20, 1}, {3, 3}, {39, 3}, {3, 39}, {4, 9}};

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    gint width = (gint)boxes[i][0], height = (gint)boxes[i][1];
    GstCclComponent component = {1, 1, 11, 13, boxes[i][0], boxes[i][1], 0, 0};
    guint32 *pixels = drawn ("", frame_with (&component, 1));
    assert_box (pixels, 11, 13, width, height, 2, GREEN);
    g_free (pixels);
  }
}
GST_END_TEST

/* Half of white on black. */
GST_START_TEST (test_transparent_box)
{
  guint32 *pixels = drawn ("box-color=0x80ffffff", frame_with (&box, 1));
  guint32 grey = pixels[20 * WIDTH + 10] & 255;

  fail_unless (grey >= 126 && grey <= 130, "grey is %u", grey);
  assert_box (pixels, 10, 20, 30, 12, 2, grey * 0x010101);
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_boxes_at_the_edges)
{
  static const guint boxes[][4] = {{0, 0, 96, 64}, {0, 0, 1, 1}, {95, 63, 1, 1}, {95, 0, 1, 64},
      {0, 63, 96, 1}, {3, 3, 2, 2}, {3, 3, 3, 3}, {40, 30, 2, 9}};

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    const guint *b = boxes[i];
    GstCclComponent component = {1, 1, b[0], b[1], b[2], b[3], 0, 0};
    guint32 *pixels = drawn ("box-width=1", frame_with (&component, 1));
    assert_box (pixels, (gint)b[0], (gint)b[1], (gint)b[2], (gint)b[3], 1, GREEN);
    g_free (pixels);
  }
}
GST_END_TEST

/* The metadata was made for frames of half the width and a quarter of the height. */
GST_START_TEST (test_metadata_of_another_size)
{
  const GstCclComponent small = {1, 1, 5, 5, 15, 3, 0, 0};
  GstBuffer *frame = black_frame ();
  guint32 *pixels;

  gst_buffer_add_ccl_meta (frame, WIDTH / 2, HEIGHT / 4, 1, &small, 1, NULL, 0);
  pixels = drawn ("", frame);
  assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_centroid)
{
  const GstCclComponent component = {1, 1, 0, 0, 96, 64, 24.4, 30.6};
  guint32 *pixels = drawn (
      "draw-boxes=false draw-centroids=true centroid-color=0xffff8800", frame_with (&component, 1));

  for (gint y = 0; y < HEIGHT; y++) {
    for (gint x = 0; x < WIDTH; x++) {
      gboolean on = (y == 31 && ABS (x - 24) <= 3) || (x == 24 && ABS (y - 31) <= 3);
      fail_unless_equals_int (pixels[y * WIDTH + x], on ? 0xff8800 : BLACK);
    }
  }
  g_free (pixels);
}
GST_END_TEST

/* How many pixels inside or outside of a part of the frame are not black. */
static guint
count_drawn (const guint32 *pixels, gint left, gint top, gint width, gint height, gboolean outside)
{
  guint n = 0;

  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      n += pixels[y * WIDTH + x] != BLACK && inside (x, y, left, top, width, height) != outside;
  return n;
}

/* The look of a text depends on the font; its place and its length are the element's. */
GST_START_TEST (test_texts)
{
  const GstCclComponent component = {7, 123456, 10, 30, 30, 12, 24.5, 25.5};
  guint32 *label = drawn ("draw-boxes=false draw-labels=true", frame_with (&component, 1));
  guint32 *area = drawn ("draw-boxes=false draw-areas=true", frame_with (&component, 1));
  guint32 *both =
      drawn ("draw-boxes=false draw-areas=true draw-labels=true", frame_with (&component, 1));
  guint n_label = count_drawn (label, 10, 10, 86, 20, FALSE);
  guint n_area = count_drawn (area, 10, 10, 86, 20, FALSE);
  guint n_both = count_drawn (both, 0, 10, 96, 20, FALSE);

  fail_unless (n_label > 5 && n_area > 3 * n_label && n_both > n_area);
  fail_unless_equals_int (count_drawn (label, 9, 10, 87, 20, TRUE), 0);
  fail_unless_equals_int (count_drawn (area, 9, 10, 87, 20, TRUE), 0);
  g_free (label);
  g_free (area);
  g_free (both);
}
GST_END_TEST

/* At the frame's edges it is moved inside. */
GST_START_TEST (test_texts_at_the_edges)
{
  const GstCclComponent component = {1, 123456, 90, 0, 6, 5, 92, 2};
  const GstCclComponent middle = {1, 123456, 10, 30, 6, 5, 92, 2};
  guint32 *edge = drawn ("draw-boxes=false draw-areas=true", frame_with (&component, 1));
  guint32 *inner = drawn ("draw-boxes=false draw-areas=true", frame_with (&middle, 1));

  fail_unless_equals_int (count_drawn (edge, 0, 0, WIDTH, HEIGHT, FALSE),
      count_drawn (inner, 0, 0, WIDTH, HEIGHT, FALSE));
  g_free (edge);
  g_free (inner);
}
GST_END_TEST

static GstBuffer *
frame_with_labels (guint width, guint height)
{
  const gsize stride = 4 * width + 16;
  GstBuffer *frame = black_frame ();
  GstBuffer *labels = gst_buffer_new_allocate (NULL, stride * height, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (labels, &map, GST_MAP_WRITE));
  memset (map.data, 0xff, map.size);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      ((guint32 *)(map.data + y * stride))[x] = y < 20 ? 0 : y < 40 ? 1 : 2;
  gst_buffer_unmap (labels, &map);
  gst_buffer_add_ccl_meta (frame, width, height, 2, NULL, 0, labels, stride);
  gst_buffer_unref (labels);
  return frame;
}

GST_START_TEST (test_filled_components)
{
  guint32 *pixels = drawn (
      "draw-boxes=false fill-components=true fill-alpha=1", frame_with_labels (WIDTH, HEIGHT));
  guint32 upper = pixels[20 * WIDTH], lower = pixels[40 * WIDTH];

  fail_if (upper == BLACK || lower == BLACK || upper == lower);
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      fail_unless_equals_int (pixels[y * WIDTH + x], y < 20 ? BLACK : y < 40 ? upper : lower);
  g_free (pixels);
}
GST_END_TEST

/* A label map of another size than the frame is not drawn. */
GST_START_TEST (test_label_map_of_another_size)
{
  guint32 *pixels =
      drawn ("draw-boxes=false fill-components=true", frame_with_labels (WIDTH / 2, HEIGHT / 2));

  fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
  g_free (pixels);
}
GST_END_TEST

/* A mask with a stride is painted; a colour of half opacity on black has half its value. */
GST_START_TEST (test_mask)
{
  const gsize stride = WIDTH + 5;
  GstBuffer *frame = black_frame (), *mask = gst_buffer_new_allocate (NULL, stride * HEIGHT, NULL);
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 0, NULL, 0, NULL, 0);
  guint32 *pixels;

  gst_buffer_memset (mask, 0, 0, (gsize)-1);
  for (guint x = 3; x < WIDTH; x += 7)
    gst_buffer_memset (mask, stride * (x % HEIGHT) + x, 255, 1);
  gst_ccl_meta_set_mask (meta, mask, stride);
  gst_buffer_unref (mask);
  pixels = drawn ("draw-mask=true mask-color=0x80ff0000", frame);
  for (guint y = 0; y < HEIGHT; y++) {
    for (guint x = 0; x < WIDTH; x++) {
      guint32 pixel = pixels[y * WIDTH + x];
      if (x % 7 == 3 && y == x % HEIGHT)
        fail_unless (ABS ((gint)(pixel >> 16) - 128) <= 1 && (pixel & 0xffff) == 0);
      else
        fail_unless_equals_int (pixel, BLACK);
    }
  }
  g_free (pixels);
}
GST_END_TEST

/* Fails the test unless frames pass as they are, with one warning that has that part. */
static void
assert_nothing_is_drawn (guint width, guint height, GstBuffer *frame, const char *part)
{
  GstHarness *h = new_harness ("", "BGRx", width, height);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out;

    fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
    out = gst_harness_pull (h);
    fail_unless (gst_buffer_memcmp (out, 0, "\0\0\0", 3) == 0);
    gst_buffer_unref (out);
  }
  assert_warning (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED, part);
  fail_unless (gst_bus_peek (bus) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}

/* The pixels from 0,0 on are not the area of the frame that the boxes refer to. */
GST_START_TEST (test_crop_metadata)
{
  const GstCclComponent component = {.area = 9, .x = 0, .y = 0, .width = 3, .height = 3};
  GstBuffer *frame = frame_with (&component, 1);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

  crop->x = crop->y = 1;
  crop->width = WIDTH;
  crop->height = HEIGHT;
  assert_nothing_is_drawn (WIDTH, HEIGHT, frame, "GstVideoCropMeta");
}
GST_END_TEST

GST_START_TEST (test_frames_too_wide_to_draw)
{
  const GstCclComponent component = {.area = 9, .x = 0, .y = 0, .width = 3, .height = 3};

  for (guint i = 0; i < 2; i++) {
    const guint width = i ? 1 : 32768, height = i ? 32768 : 1;
    GstBuffer *frame = gst_buffer_new_allocate (NULL, 4 * 32768, NULL);

    gst_buffer_memset (frame, 0, 0, 4 * 32768);
    gst_buffer_add_ccl_meta (frame, width, height, 1, &component, 1, NULL, 0);
    assert_nothing_is_drawn (width, height, frame, "more than 32767 pixels");
  }
}
GST_END_TEST

/* The drawing on one frame is not on the next. */
GST_START_TEST (test_frame_after_frame)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);

  for (guint i = 0; i < 40; i++) {
    GstCclComponent component = {1, 1, i, i / 2, 20 + i, 9, 0, 0};
    guint32 *pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (&component, 1)));
    assert_box (pixels, (gint)i, (gint)i / 2, 20 + (gint)i, 9, 2, GREEN);
    g_free (pixels);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_properties_while_playing)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstElement *overlay = gst_harness_find_element (h, "ccloverlay");

  for (guint i = 1; i < 5; i++) {
    guint32 *pixels;
    g_object_set (overlay, "box-width", i, "box-color", 0xff000000u + i, NULL);
    pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (&box, 1)));
    assert_box (pixels, 10, 20, 30, 12, (gint)i, i);
    g_free (pixels);
  }
  gst_object_unref (overlay);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame with nothing to draw is passed on unchanged, even if it is shared. */
GST_START_TEST (test_nothing_to_draw)
{
  GstBuffer *frames[] = {black_frame (), frame_with (NULL, 0), frame_with (&box, 1)};
  static const char *const properties[] = {"", "fill-components=true", "draw-boxes=false"};

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstHarness *h = new_harness (properties[i], "BGRx", WIDTH, HEIGHT);
    GstBuffer *out = gst_harness_push_and_pull (h, gst_buffer_ref (frames[i]));
    fail_unless (out == frames[i]);
    gst_buffer_unref (out);
    gst_buffer_unref (frames[i]);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* A shared frame is copied before it is drawn on. */
GST_START_TEST (test_frames_in_use_stay)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstBuffer *frame = frame_with (&box, 1);
  guint32 *pixels = pixels_of (gst_harness_push_and_pull (h, gst_buffer_ref (frame)));

  assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
  g_free (pixels);
  pixels = pixels_of (frame);
  fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

static const char *const formats[] = {"GRAY8", "GRAY16_LE", "I420", "YV12", "NV12", "NV21", "YUY2",
    "UYVY", "Y42B", "Y444", "RGB", "BGR", "RGBx", "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB",
    "ABGR", "AYUV", "RGB16", "P010_10LE", "I420_10LE", "v210"};

/* White on black in the first component: 255 in RGB, the range's white level in luma. */
GST_START_TEST (test_a_format)
{
  GstCaps *caps = frame_caps (formats[__i__], WIDTH, HEIGHT);
  GstHarness *h = new_harness ("box-color=0xffffffff", formats[__i__], WIDTH, HEIGHT);
  GstBuffer *frame, *out;
  GstVideoInfo info;
  GstVideoFrame before, after;
  guint n_same = 0, n_changed = 0;

  fail_unless (gst_video_info_from_caps (&info, caps));
  frame = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (frame, 0, 0, info.size);
  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, &box, 1, NULL, 0);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (frame));
  fail_unless (out != NULL);

  fail_unless (gst_video_frame_map (&before, &info, frame, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&after, &info, out, GST_MAP_READ));
  for (guint y = 0; y < HEIGHT; y++) {
    const guint8 *a = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&before, 0) +
                      y * GST_VIDEO_FRAME_PLANE_STRIDE (&before, 0);
    const guint8 *b = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&after, 0) +
                      y * GST_VIDEO_FRAME_PLANE_STRIDE (&after, 0);
    gboolean same = memcmp (a, b, (gsize)GST_VIDEO_FRAME_PLANE_STRIDE (&after, 0)) == 0;
    n_same += same && (y < 20 || y >= 32);
    n_changed += !same && y >= 20 && y < 32;
  }
  gst_video_frame_unmap (&before);
  gst_video_frame_unmap (&after);
  fail_unless_equals_int (n_changed, 12);
  fail_unless_equals_int (n_same, HEIGHT - 12);
  gst_buffer_unref (frame);
  gst_buffer_unref (out);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_short_frame)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstBus *bus = gst_bus_new ();
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 4 - 1, NULL);

  gst_element_set_bus (h->element, bus);
  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, &box, 1, NULL, 0);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Layouts of a GstVideoMeta in a buffer of WIDTH × HEIGHT pixels: GStreamer does not check them. */
static const struct {
  gsize offset;
  gint stride;
  guint width, height;
} unsound_layouts[] = {
    {4, 4 * WIDTH, WIDTH, HEIGHT},
    {0, 4 * WIDTH + 4, WIDTH, HEIGHT},
    {0, 4 * WIDTH - 4, WIDTH, HEIGHT},
    {0, -4 * WIDTH, WIDTH, HEIGHT},
    {0, 4 * WIDTH, WIDTH + 1, HEIGHT},
    {0, 4 * WIDTH, WIDTH - 1, HEIGHT},
    {0, 4 * WIDTH, WIDTH, HEIGHT + 1},
    {0, 4 * WIDTH, WIDTH, HEIGHT - 1},
    {0, 4 * WIDTH, 1u << 31, HEIGHT},
    {0, 4 * WIDTH, 1u << 30, HEIGHT},
    {G_MAXSIZE, 4 * WIDTH, WIDTH, HEIGHT},
};

GST_START_TEST (test_unsound_layout)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstBus *bus = gst_bus_new ();
  GstBuffer *frame = frame_with (&box, 1);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {unsound_layouts[__i__].offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {unsound_layouts[__i__].stride};

  gst_element_set_bus (h->element, bus);
  gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRx,
      unsound_layouts[__i__].width, unsound_layouts[__i__].height, 1, offsets, strides);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "does not fit its caps");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A GstVideoMeta whose layout fits the buffer gives the same drawing as none. */
GST_START_TEST (test_layout_with_padding)
{
  const gint stride = 4 * WIDTH + 20;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {64};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 64 + stride * HEIGHT, NULL);
  guint8 pixel[4];

  gst_buffer_memset (frame, 0, 255, (gsize)-1);
  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, &box, 1, NULL, 0);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT, 1, offsets, strides);
  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (frame != NULL);
  gst_buffer_extract (frame, 64 + box.y * stride + 4 * box.x, pixel, sizeof pixel);
  fail_unless_equals_int (pixel[0], 0);
  fail_unless_equals_int (pixel[1], 255);
  fail_unless_equals_int (pixel[2], 0);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Components far outside the frame, as metadata made by hand may have them, are not drawn. */
GST_START_TEST (test_components_outside)
{
  const GstCclComponent outside[] = {
      {1, 1, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, 1e300, -1e300},
      {2, 1, WIDTH, HEIGHT, 3, 3, NAN, NAN},
  };
  guint32 *pixels = drawn ("draw-labels=true draw-centroids=true", frame_with (outside, 2));

  for (guint i = 0; i < WIDTH * (HEIGHT - 20); i++) /* numbers are kept inside */
    fail_unless_equals_int (pixels[i], BLACK);
  g_free (pixels);
}
GST_END_TEST

GST_START_TEST (test_renegotiation)
{
  GstHarness *h = new_harness ("draw-labels=true", "BGRx", WIDTH, HEIGHT);
  static const guint sizes[][2] = {{WIDTH, HEIGHT}, {200, 17}, {1, 1}, {17, 300}};

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint width = sizes[i][0], height = sizes[i][1];
    GstCclComponent all = {1, 1, 0, 0, width, height, 0, 0};
    GstBuffer *frame = gst_buffer_new_allocate (NULL, width * height * 4, NULL), *out;
    guint8 corner[4];

    gst_buffer_memset (frame, 0, 0, (gsize)-1);
    gst_buffer_add_ccl_meta (frame, width, height, 1, &all, 1, NULL, 0);
    gst_harness_set_src_caps (h, frame_caps ("BGRx", width, height));
    out = gst_harness_push_and_pull (h, frame);
    fail_unless (out != NULL);
    gst_buffer_extract (out, (gsize)width * height * 4 - 4, corner, 4);
    fail_if (corner[0] == 0 && corner[1] == 0 && corner[2] == 0);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

#define WITH_OVERLAYS(memory, format)                                                              \
  "video/x-raw(memory:" memory ",meta:GstVideoOverlayComposition),format=" format

/* An element whose peer takes overlay compositions, as video sinks do; format and memory of the
 * frames as in caps. */
static GstHarness *
new_compositing_harness (const char *line, const char *frames, gboolean in_allocation)
{
  GstHarness *h = gst_harness_new_parse (line);
  gchar *caps = g_strdup_printf ("%s,width=%d,height=%d,framerate=25/1", frames, WIDTH, HEIGHT);

  gst_harness_set_sink_caps_str (h, WITH_OVERLAYS ("SystemMemory", "BGRx") ";" WITH_OVERLAYS (
                                        "CUDAMemory", "NV12") ";video/x-raw");
  if (in_allocation)
    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);
  return h;
}

static gboolean
has_overlay_caps (GstHarness *h)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  gboolean has = gst_caps_features_contains (
      gst_caps_get_features (caps, 0), GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION);

  gst_caps_unref (caps);
  return has;
}

/* The pixels of a frame with its overlay composition drawn into it. Takes the frame. */
static guint32 *
composed (GstBuffer *out)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (out);
  GstBuffer *frame = gst_buffer_copy_deep (out);
  GstVideoFrame video;
  GstVideoInfo info;

  fail_unless (meta != NULL);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT);
  fail_unless (gst_video_frame_map (&video, &info, frame, GST_MAP_READWRITE));
  fail_unless (gst_video_overlay_composition_blend (meta->overlay, &video));
  gst_video_frame_unmap (&video);
  gst_buffer_unref (out);
  return pixels_of (frame);
}

/* If the peer supports overlay compositions, the drawing is attached and the pixels stay. */
GST_START_TEST (test_overlay_composition)
{
  GstHarness *h = new_compositing_harness ("ccloverlay", "video/x-raw,format=BGRx", TRUE);

  for (guint i = 0; i < 3; i++) {
    GstCclComponent component = {1, 1, i, 3 * i, 20 + i, 9, 0, 0};
    GstBuffer *out = gst_harness_push_and_pull (h, frame_with (&component, 1));
    guint32 *pixels;

    fail_unless (has_overlay_caps (h));
    pixels = pixels_of (gst_buffer_ref (out));
    fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
    g_free (pixels);
    pixels = composed (out);
    assert_box (pixels, (gint)i, 3 * (gint)i, 20 + (gint)i, 9, 2, GREEN);
    g_free (pixels);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* Caps alone are not enough: the peer must name the metadata in its answer to the allocation query.
 */
GST_START_TEST (test_overlay_composition_that_the_peer_does_not_allocate_for)
{
  GstHarness *h = new_compositing_harness ("ccloverlay", "video/x-raw,format=BGRx", FALSE);
  GstBuffer *out = gst_harness_push_and_pull (h, frame_with (&box, 1));
  guint32 *pixels;

  fail_unless (gst_buffer_get_video_overlay_composition_meta (out) == NULL);
  pixels = pixels_of (out);
  assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Two overlays in a row draw into one composition. */
GST_START_TEST (test_overlay_composition_of_two)
{
  GstHarness *h = new_compositing_harness ("ccloverlay box-width=1 ! ccloverlay draw-boxes=false "
                                           "draw-centroids=true",
      "video/x-raw,format=BGRx", TRUE);
  const GstCclComponent component = {1, 1, 10, 20, 30, 12, 50, 50};
  GstBuffer *out = gst_harness_push_and_pull (h, frame_with (&component, 1));
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (out);
  guint32 *pixels;

  fail_unless (meta != NULL);
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (meta->overlay), 2);
  pixels = composed (out);
  fail_unless_equals_int (pixels[20 * WIDTH + 10], GREEN);
  fail_unless_equals_int (pixels[50 * WIDTH + 50], 0xff0000);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Frames in device memory, whose pixels the element cannot access; here ordinary memory that only
 * claims to be device memory. */
GST_START_TEST (test_overlay_composition_in_device_memory)
{
  GstHarness *h =
      new_compositing_harness ("ccloverlay", "video/x-raw(memory:CUDAMemory),format=NV12", TRUE);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 1, NULL), *out;
  GstVideoOverlayCompositionMeta *meta;
  GstVideoOverlayRectangle *rectangle;
  gint x, y;
  guint width, height;

  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, &box, 1, NULL, 0);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless (out != NULL && has_overlay_caps (h));
  meta = gst_buffer_get_video_overlay_composition_meta (out);
  fail_unless (meta != NULL);
  rectangle = gst_video_overlay_composition_get_rectangle (meta->overlay, 0);
  fail_unless (
      gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height));
  fail_unless (x == 10 && y <= 20 && width == 30 && y + (gint)height >= 32);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Frames that the element cannot draw on are refused when caps are negotiated. */
GST_START_TEST (test_device_memory_without_overlays)
{
  GstHarness *h = gst_harness_new ("ccloverlay");
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstCaps *device = gst_caps_from_string ("video/x-raw(memory:CUDAMemory),format=NV12,width=96,"
                                          "height=64,framerate=25/1");
  GstCaps *system = frame_caps ("NV12", WIDTH, HEIGHT);

  gst_harness_set_sink_caps_str (h, "video/x-raw; video/x-raw(memory:CUDAMemory)");
  gst_harness_play (h);
  fail_if (gst_pad_query_accept_caps (sink, device) &&
           gst_pad_send_event (sink, gst_event_new_caps (device)));
  fail_unless (gst_pad_query_accept_caps (sink, system));
  gst_caps_unref (device);
  gst_caps_unref (system);
  gst_object_unref (sink);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A property that has no effect because no map is attached causes one warning. */
GST_START_TEST (test_warnings_of_missing_maps)
{
  static const struct {
    const char *properties, *part;
  } cases[] = {
      {"draw-mask=true", "attach-mask=true"},
      {"fill-components=true", "attach-labels=true"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (cases[i].properties, "BGRx", WIDTH, HEIGHT);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;
    GError *warning;

    gst_element_set_bus (h->element, bus);
    gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
    gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (&box, 1)));
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
    fail_unless (message != NULL);
    gst_message_parse_warning (message, &warning, NULL);
    fail_unless (strstr (warning->message, cases[i].part) != NULL, "%s", warning->message);
    g_error_free (warning);
    gst_message_unref (message);
    gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (&box, 1)));
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

static void
add_meta_of (GstBuffer *frame, const char *name, const GstCclComponent *component)
{
  GstCclLabeller *labeller = gst_ccl_labeller_new (name, NULL);

  gst_ccl_meta_set_labeller (
      gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, component, 1, NULL, 0), labeller);
  gst_ccl_labeller_unref (labeller);
}

/* The components of the nearest labeller are drawn, or of the one that the property names. */
GST_START_TEST (test_labeller)
{
  const GstCclComponent other = {1, 9, 60, 5, 9, 9, 0, 0};
  GstBuffer *frame = black_frame ();
  guint32 *pixels;

  add_meta_of (frame, "far", &other);
  add_meta_of (frame, "near", &box);
  pixels = drawn ("", gst_buffer_copy_deep (frame));
  assert_box (pixels, 10, 20, 30, 12, 2, GREEN);
  g_free (pixels);
  pixels = drawn ("labeller=far", gst_buffer_copy_deep (frame));
  assert_box (pixels, 60, 5, 9, 9, 2, GREEN);
  g_free (pixels);
  pixels = drawn ("labeller=nobody", frame);
  fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
  g_free (pixels);
}
GST_END_TEST

/* The element ignores GstVideoCropMeta, so it must not promise that it supports it. */
GST_START_TEST (test_crop_metadata_is_not_proposed)
{
  GstHarness *h = gst_harness_new ("ccloverlay");
  GstCaps *caps = frame_caps ("BGRx", WIDTH, HEIGHT);
  GstQuery *query = gst_query_new_allocation (caps, FALSE);

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_CROP_META_API_TYPE, NULL);
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

/* An empty gap has no pixels to draw on. */
GST_START_TEST (test_empty_gap)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstBuffer *gap = gst_buffer_new (), *out;

  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  gst_buffer_add_ccl_meta (gap, WIDTH, HEIGHT, 1, &box, 1, NULL, 0);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (gap));
  fail_unless (out == gap);
  gst_buffer_unref (out);
  gst_buffer_unref (gap);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame with tracks: box i belongs to the track ids[i]. */
static GstBuffer *
frame_with_tracks (const GstCclComponent *components, const guint64 *ids, guint n)
{
  GstBuffer *frame = black_frame ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 0, NULL, 0, NULL, 0);
  GstCclTrackInfo *tracks = g_new0 (GstCclTrackInfo, n);

  for (guint i = 0; i < n; i++)
    tracks[i] = (GstCclTrackInfo){.id = ids[i], .state = GST_CCL_TRACK_STATE_CONFIRMED};
  gst_ccl_meta_set_table (meta, n, components, n, tracks, NULL, 0);
  g_free (tracks);
  return frame;
}

/* The same with a speed on the ground, in m/s. */
static GstBuffer *
frame_with_speed (const GstCclComponent *component, gfloat speed, gfloat deviation)
{
  GstBuffer *frame = black_frame ();
  GstCclMeta *meta = gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 0, NULL, 0, NULL, 0);
  const GstCclTrackInfo track = {.id = 1,
      .state = GST_CCL_TRACK_STATE_CONFIRMED,
      .position_deviation = deviation,
      .ground_velocity_x = speed};

  gst_ccl_meta_set_table (meta, 1, component, 1, &track, NULL, 0);
  return frame;
}

static guint
count_white (guint32 *pixels)
{
  guint n = 0;

  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    n += (pixels[i] & 0xffffff) == 0xffffff;
  g_free (pixels);
  return n;
}

/* A speed is written where it is known, whatever else is. */
GST_START_TEST (test_speeds)
{
  const GstCclComponent box = {1, 9, 20, 60, 20, 20, 0, 0};
#define WHITE_TEXT "track-colors=false draw-boxes=false draw-ids=false "
  const guint slow = count_white (drawn (WHITE_TEXT, frame_with_speed (&box, 2, 1)));
  const guint fast = count_white (drawn (WHITE_TEXT, frame_with_speed (&box, 222, 1)));

  fail_unless (slow > 0 && fast > slow, "%u, %u", slow, fast);
  fail_unless_equals_int (count_white (drawn (WHITE_TEXT, frame_with_speed (&box, 2, 0))), 0);
  fail_unless_equals_int (
      count_white (drawn (WHITE_TEXT "draw-speeds=false", frame_with_speed (&box, 2, 1))), 0);
#undef WHITE_TEXT
}
GST_END_TEST

/* The colour of a track depends on its identity alone, and differs from that of others. */
GST_START_TEST (test_colors_of_tracks)
{
  const GstCclComponent boxes[] = {{1, 9, 5, 30, 20, 20, 0, 0}, {2, 9, 60, 30, 20, 20, 0, 0}};
  const GstCclComponent swapped[] = {{1, 9, 60, 30, 20, 20, 0, 0}, {2, 9, 5, 30, 20, 20, 0, 0}};
  static const guint64 ids[] = {7, 8}, other_ids[] = {8, 7};
  guint32 *before = drawn ("draw-ids=false", frame_with_tracks (boxes, ids, 2));
  guint32 *after = drawn ("draw-ids=false", frame_with_tracks (swapped, ids, 2));
  guint32 *plain =
      drawn ("draw-ids=false track-colors=false", frame_with_tracks (boxes, other_ids, 2));
  const guint left = 30 * WIDTH + 5, right = 30 * WIDTH + 60;

  fail_unless (before[left] != before[right] && before[left] != BLACK && before[right] != BLACK);
  fail_unless_equals_int (after[left], before[right]);
  fail_unless_equals_int (after[right], before[left]);
  fail_unless (plain[left] == GREEN && plain[right] == GREEN);
  g_free (before);
  g_free (after);
  g_free (plain);
}
GST_END_TEST

/* Identities are written behind a tracker without a property, and have the colour of the box. */
GST_START_TEST (test_identities)
{
  const GstCclComponent component = {1, 9, 10, 30, 30, 12, 0, 0};
  static const guint64 id = 42;
  guint32 *with = drawn ("", frame_with_tracks (&component, &id, 1));
  guint32 *without = drawn ("draw-ids=false", frame_with_tracks (&component, &id, 1));
  guint n_of_color = 0;

  for (guint i = 10 * WIDTH; i < 30 * WIDTH; i++)
    n_of_color += with[i] == with[30 * WIDTH + 10];
  fail_unless (n_of_color > 5);
  fail_unless_equals_int (count_drawn (without, 10, 30, 30, 12, TRUE), 0);
  fail_unless (count_drawn (with, 10, 30, 30, 12, TRUE) > 20);
  g_free (with);
  g_free (without);
}
GST_END_TEST

/* The class of a track is written behind its identity; one that is very long is cut. */
GST_START_TEST (test_classes)
{
  const GstCclComponent component = {1, 9, 10, 30, 30, 12, 0, 0};
  static const guint64 id = 4;
  gchar *long_name = g_strnfill (500, 'i');
  const gchar *names[] = {NULL, "car", long_name};
  guint n_drawn[3];

  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = frame_with_tracks (&component, &id, 1);
    GstCclClasses *classes = gst_ccl_classes_new (&names[i], NULL, 1);
    guint32 *pixels;

    gst_ccl_meta_set_classes (gst_buffer_get_ccl_meta (frame), classes);
    gst_ccl_classes_unref (classes);
    pixels = drawn ("draw-boxes=false", frame);
    n_drawn[i] = count_drawn (pixels, 0, 0, 0, 0, TRUE);
    g_free (pixels);
  }
  fail_unless (
      n_drawn[0] < n_drawn[1] && n_drawn[2] > 0, "%u, %u, %u", n_drawn[0], n_drawn[1], n_drawn[2]);
  g_free (long_name);
}
GST_END_TEST

/* A text on grey of its own colour is readable: its backdrop is dark. */
GST_START_TEST (test_text_on_grey)
{
  const GstCclComponent component = {7, 123456, 10, 30, 30, 12, 0, 0};
  GstBuffer *frame = black_frame ();
  guint n_dark = 0, n_light = 0;
  guint32 *pixels;

  gst_buffer_memset (frame, 0, 200, (gsize)-1);
  gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 1, &component, 1, NULL, 0);
  pixels = drawn ("draw-boxes=false draw-areas=true text-color=0xffc8c8c8", frame);
  for (guint i = 0; i < 30 * WIDTH; i++) {
    n_dark += (pixels[i] & 255) < 100;
    n_light += (pixels[i] & 255) == 200 && i / WIDTH >= 17 && i % WIDTH > 12 && i % WIDTH < 50;
  }
  fail_unless (n_dark > 200, "%u dark pixels", n_dark);
  fail_unless (n_light > 20, "%u pixels of text", n_light);
  g_free (pixels);
}
GST_END_TEST

/* Texts of boxes at one place do not cover each other: together they have as many pixels as alone.
 */
GST_START_TEST (test_texts_keep_clear)
{
  GstCclComponent components[5];
  guint n_alone = 0, n_together;
  guint32 *pixels;

  for (guint i = 0; i < G_N_ELEMENTS (components); i++) {
    components[i] = (GstCclComponent){i + 1, 10, 40 + i, 30 + i, 8, 6, 0, 0};
    pixels = drawn ("draw-boxes=false draw-labels=true", frame_with (&components[i], 1));
    n_alone += count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE);
    g_free (pixels);
  }
  pixels = drawn ("draw-boxes=false draw-labels=true", frame_with (components, 5));
  n_together = count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE);
  g_free (pixels);
  fail_unless_equals_int (n_together, n_alone);
}
GST_END_TEST

/* The height of the drawn part of a column, in a frame of that size with one box in its middle. */
static guint
measure (const char *properties, guint width, guint height, guint column, gboolean text_only)
{
  GstHarness *h = new_harness (properties, "GRAY8", width, height);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, (gsize)width * height, NULL), *out;
  const GstCclComponent component = {1, 8, width / 4, height / 2, width / 2, height / 4, 0, 0};
  guint n = 0;
  GstMapInfo map;

  gst_buffer_memset (frame, 0, 128, (gsize)-1);
  gst_buffer_add_ccl_meta (frame, width, height, 1, &component, 1, NULL, 0);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  for (guint y = text_only ? 0 : height / 2; y < (text_only ? height / 2 : height * 5 / 8); y++)
    n += map.data[(gsize)y * width + column] != 128;
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  return n;
}

GST_START_TEST (test_lines_and_texts_grow_with_the_frame)
{
  fail_unless_equals_int (measure ("", 768, 576, 300, FALSE), 2);
  fail_unless_equals_int (measure ("", 1920, 1080, 900, FALSE), 4);
  fail_unless_equals_int (measure ("", 3840, 2160, 1800, FALSE), 8);
  fail_unless_equals_int (measure ("box-width=3", 3840, 2160, 1800, FALSE), 3);
  /* The backdrop is as high as the text. */
  {
    const guint small = measure ("draw-boxes=false draw-labels=true", 768, 576, 768 / 4 + 2, TRUE);
    const guint large =
        measure ("draw-boxes=false draw-labels=true", 3840, 2160, 3840 / 4 + 2, TRUE);
    fail_unless (small >= 12 && large >= 3 * small && large <= 5 * small, "%u, %u", small, large);
  }
}
GST_END_TEST

/* A track's foot point moves to the right, then the track ends: its trail stays for trail-length
 * frames. */
GST_START_TEST (test_trail)
{
  GstHarness *h =
      new_harness ("draw-ids=false draw-boxes=false trail-length=5", "BGRx", WIDTH, HEIGHT);
  static const guint64 id = 3;
  guint n_before = 0;

  for (guint i = 0; i < 10; i++) {
    const GstCclComponent component = {1, 9, 10 + 6 * i, 20, 10, 20, 0, 0};
    guint32 *pixels =
        pixels_of (gst_harness_push_and_pull (h, frame_with_tracks (&component, &id, 1)));
    const guint foot = 15 + 6 * i, oldest = 15 + 6 * (i < 4 ? 0 : i - 4);

    for (guint x = oldest; x <= foot && i > 0; x++)
      fail_unless (pixels[40 * WIDTH + x] != BLACK, "frame %u: nothing at %u", i, x);
    fail_unless_equals_int (
        count_drawn (pixels, (gint)oldest - 4, 36, (gint)(foot - oldest) + 8, 8, TRUE), 0);
    n_before = count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE);
    g_free (pixels);
  }
  for (guint i = 0; i < 6; i++) {
    guint32 *pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
    const guint n = count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE);

    fail_unless (i < 3 ? n > 0 && n < n_before : n == 0, "frame %u: %u pixels", i, n);
    n_before = n;
    g_free (pixels);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_flush_removes_trails)
{
  GstHarness *h =
      new_harness ("draw-ids=false draw-boxes=false trail-length=5", "BGRx", WIDTH, HEIGHT);
  static const guint64 id = 3;
  GstSegment segment;
  guint32 *pixels;

  for (guint i = 0; i < 3; i++) {
    const GstCclComponent component = {1, 9, 10 + 6 * i, 20, 10, 20, 0, 0};
    gst_buffer_unref (gst_harness_push_and_pull (h, frame_with_tracks (&component, &id, 1)));
  }
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Only time segments have stream times. A critical fails the test. */
GST_START_TEST (test_segment_of_bytes)
{
  GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
  GstSegment segment;
  guint32 *pixels;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (&box, 1)));
  fail_unless_equals_int (pixels[box.y * WIDTH + box.x], GREEN);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

#define TRACKER                                                                                    \
  "ccltrack regions=\"region a 20,40 60,40 60,60 20,60; line b 80,10 80,60; line far "             \
  "2000%,-9000% "                                                                                  \
  "2000%,9000%\" ! ccloverlay draw-ids=false"

static gboolean
is_yellow (guint32 pixel)
{
  return pixel >> 16 > 200 && (pixel >> 8 & 255) > 200 && (pixel & 255) < 60;
}

/* The regions and lines of the tracker upstream, drawn where they are. Downwards, "forward" is to
 * the left. */
static void
check_regions (const guint32 *pixels)
{
  static const guint on[][2] = {{40, 40}, {60, 50}, {40, 59}, {20, 50}, {80, 30}, {72, 35}};
  static const guint off[][2] = {{40, 50}, {70, 60}, {88, 35}, {90, 30}, {5, 50}};

  for (guint i = 0; i < G_N_ELEMENTS (on); i++)
    fail_unless (
        is_yellow (pixels[on[i][1] * WIDTH + on[i][0]]), "nothing at (%u, %u)", on[i][0], on[i][1]);
  for (guint i = 0; i < G_N_ELEMENTS (off); i++)
    fail_unless_equals_int (pixels[off[i][1] * WIDTH + off[i][0]], BLACK);
  fail_unless (count_drawn (pixels, 20, 20, 30, 18, FALSE) > 10); /* its name */
}

GST_START_TEST (test_regions)
{
  GstHarness *h = gst_harness_new_parse (TRACKER);
  GstElement *overlay = gst_harness_find_element (h, "ccloverlay");
  guint32 *pixels;

  gst_harness_set_src_caps (h, frame_caps ("BGRx", WIDTH, HEIGHT));
  gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  check_regions (pixels);
  g_free (pixels);

  g_object_set (overlay, "draw-regions", FALSE, NULL);
  pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
  g_free (pixels);
  gst_object_unref (overlay);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_regions_as_overlay_composition)
{
  GstHarness *h = new_compositing_harness (TRACKER, "video/x-raw,format=BGRx", TRUE);
  guint32 *pixels;

  gst_buffer_unref (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  pixels = composed (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
  check_regions (pixels);
  g_free (pixels);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Events that are not well formed draw nothing. */
GST_START_TEST (test_bad_region_events)
{
  static const char *const events[] = {
      "ccl-regions",
      "ccl-regions, regions=(int)3",
      "ccl-regions, regions=(structure)< [region, name=(string)a] >",
      "ccl-regions, regions=(structure)< [region, name=(string)a, points=(double)< 0.1, 0.2, 0.3 "
      ">] >",
      "ccl-regions, regions=(int)< 1, 2 >",
  };

  for (guint i = 0; i < G_N_ELEMENTS (events); i++) {
    GstHarness *h = new_harness ("", "BGRx", WIDTH, HEIGHT);
    GstStructure *structure = gst_structure_from_string (events[i], NULL);
    guint32 *pixels;

    fail_unless (structure != NULL, "%s", events[i]);
    gst_harness_push_event (
        h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure));
    pixels = pixels_of (gst_harness_push_and_pull (h, frame_with (NULL, 0)));
    fail_unless_equals_int (count_drawn (pixels, 0, 0, WIDTH, HEIGHT, FALSE), 0);
    g_free (pixels);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

static Suite *
overlay_suite (void)
{
  Suite *suite = suite_create ("ccloverlay");
  TCase *tcase = tcase_create ("ccloverlay");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_box);
  tcase_add_test (tcase, test_box_color_and_width);
  tcase_add_test (tcase, test_outlines);
  tcase_add_test (tcase, test_outlines_along_pixels);
  tcase_add_test (tcase, test_outlines_without_contours);
  tcase_add_test (tcase, test_outlines_far_outside);
  tcase_add_test (tcase, test_thin_boxes);
  tcase_add_test (tcase, test_transparent_box);
  tcase_add_test (tcase, test_boxes_at_the_edges);
  tcase_add_test (tcase, test_metadata_of_another_size);
  tcase_add_test (tcase, test_centroid);
  tcase_add_test (tcase, test_texts);
  tcase_add_test (tcase, test_texts_at_the_edges);
  tcase_add_test (tcase, test_filled_components);
  tcase_add_test (tcase, test_label_map_of_another_size);
  tcase_add_test (tcase, test_mask);
  tcase_add_test (tcase, test_crop_metadata);
  tcase_add_test (tcase, test_frames_too_wide_to_draw);
  tcase_add_test (tcase, test_frame_after_frame);
  tcase_add_test (tcase, test_properties_while_playing);
  tcase_add_test (tcase, test_nothing_to_draw);
  tcase_add_test (tcase, test_frames_in_use_stay);
  tcase_add_loop_test (tcase, test_a_format, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tcase, test_short_frame);
  tcase_add_loop_test (tcase, test_unsound_layout, 0, G_N_ELEMENTS (unsound_layouts));
  tcase_add_test (tcase, test_layout_with_padding);
  tcase_add_test (tcase, test_components_outside);
  tcase_add_test (tcase, test_renegotiation);
  tcase_add_test (tcase, test_overlay_composition);
  tcase_add_test (tcase, test_overlay_composition_that_the_peer_does_not_allocate_for);
  tcase_add_test (tcase, test_overlay_composition_of_two);
  tcase_add_test (tcase, test_overlay_composition_in_device_memory);
  tcase_add_test (tcase, test_device_memory_without_overlays);
  tcase_add_test (tcase, test_warnings_of_missing_maps);
  tcase_add_test (tcase, test_labeller);
  tcase_add_test (tcase, test_crop_metadata_is_not_proposed);
  tcase_add_test (tcase, test_empty_gap);
  tcase_add_test (tcase, test_speeds);
  tcase_add_test (tcase, test_colors_of_tracks);
  tcase_add_test (tcase, test_identities);
  tcase_add_test (tcase, test_classes);
  tcase_add_test (tcase, test_text_on_grey);
  tcase_add_test (tcase, test_texts_keep_clear);
  tcase_add_test (tcase, test_lines_and_texts_grow_with_the_frame);
  tcase_add_test (tcase, test_trail);
  tcase_add_test (tcase, test_flush_removes_trails);
  tcase_add_test (tcase, test_segment_of_bytes);
  tcase_add_test (tcase, test_regions);
  tcase_add_test (tcase, test_regions_as_overlay_composition);
  tcase_add_test (tcase, test_bad_region_events);
  return suite;
}

GST_CHECK_MAIN (overlay);
