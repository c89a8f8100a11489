/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layouts of frames in memory: strides, offsets, several memories, and frames that are too small.
 */
#include "blobs.h"
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

/* One component of 2×2 pixels. */
static const char blob[] = "......\n"
                           "..##..\n"
                           "..##..\n"
                           "......\n";

#include <sys/mman.h>
#include <unistd.h>

/* The output is the input buffer, with the same bytes. */
TEST (test_pixels_are_untouched)
{
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *in = gray8_frame (blobs), *out;
  guint8 before[8 * 6], after[8 * 6];

  fail_unless_equals_int (gst_buffer_extract (in, 0, before, sizeof before), sizeof before);
  out = label (h, in);
  fail_unless (out == in);
  fail_unless_equals_int (gst_buffer_extract (out, 0, after, sizeof after), sizeof after);
  fail_unless (memcmp (before, after, sizeof before) == 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A frame inside a larger picture whose other pixels are foreground; they must not be read. */
TEST (test_stride_and_offset_of_video_meta)
{
  const gsize stride = 8 + 13, offset = 2 * stride + 5;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, stride * 10, NULL), *out;
  GstMapInfo map;

  gst_buffer_memset (frame, 0, 255, stride * 10);
  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  draw (blobs, map.data + offset, stride);
  gst_buffer_unmap (frame, &map);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
  out = label (h, frame);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The luma plane is spread over two memories. */
TEST (test_several_memories)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {3};
  gint strides[GST_VIDEO_MAX_PLANES] = {8};
  GstHarness *h = new_gray8_harness (blobs);
  GstBuffer *whole = gray8_frame (blobs), *frame = gst_buffer_new (), *out;
  guint8 pixels[48];

  gst_buffer_extract (whole, 0, pixels, sizeof pixels);
  gst_buffer_unref (whole);
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 3, NULL));
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 20, NULL));
  gst_buffer_append_memory (frame, gst_allocator_alloc (NULL, 28, NULL));
  fail_unless_equals_int (gst_buffer_fill (frame, 3, pixels, sizeof pixels), sizeof pixels);
  gst_buffer_add_video_meta_full (
      frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
  out = label (h, frame);
  assert_components (out, BLOBS_8);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

typedef struct {
  guint8 *start;
  gsize size;
} Mapping;

static void
unmap_guarded (gpointer data)
{
  Mapping *mapping = data;

  munmap (mapping->start, mapping->size);
  g_free (mapping);
}

/* A buffer followed by an inaccessible page. */
static GstBuffer *
guarded_buffer (gsize size)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);
  gsize usable = (size + page - 1) / page * page;
  Mapping *mapping = g_new (Mapping, 1);

  mapping->size = usable + page;
  mapping->start =
      mmap (NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fail_unless (mapping->start != MAP_FAILED);
  fail_unless (mprotect (mapping->start + usable, page, PROT_NONE) == 0);
  return gst_buffer_new_wrapped_full (
      0, mapping->start + usable - size, size, 0, size, mapping, unmap_guarded);
}

/* The last row of a frame may be without padding. */
TEST (test_nothing_is_read_past_the_end)
{
  for (guint padding = 0; padding < 40; padding += 13) {
    const gsize stride = 8 + padding, size = stride * 5 + 8;
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
    gint strides[GST_VIDEO_MAX_PLANES] = {(gint)stride};
    GstHarness *h = new_gray8_harness (blobs);
    GstBuffer *frame = guarded_buffer (size), *out;
    GstMapInfo map;

    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    draw (blobs, map.data, stride);
    gst_buffer_unmap (frame, &map);
    gst_buffer_add_video_meta_full (
        frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 6, 1, offsets, strides);
    out = label (h, frame);
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

/* A frame that contradicts its caps or its GstVideoMeta is an error; the next good frame is
 * labelled. */
TEST (test_frames_smaller_than_their_caps)
{
  static const struct {
    gsize size;
    gboolean meta;
    guint width, height;
    gsize offset;
    gint stride;
  } cases[] = {
      {0, FALSE, 0, 0, 0, 0}, {47, FALSE, 0, 0, 0, 0}, {1, FALSE, 0, 0, 0, 0},
      {47, TRUE, 8, 6, 0, 8},                                 /* one byte short */
      {48, TRUE, 8, 6, 1, 8},                                 /* starts too late */
      {48, TRUE, 8, 6, 1000, 8},                              /* starts behind the end */
      {48, TRUE, 8, 6, G_MAXSIZE, 8}, {48, TRUE, 8, 6, 0, 9}, /* rows too far apart */
      {48, TRUE, 8, 6, 0, 7},                                 /* rows overlap */
      {48, TRUE, 8, 6, 0, 0}, {48, TRUE, 8, 6, 0, -8}, {48, TRUE, 8, 6, 0, G_MAXINT},
      {48, TRUE, 7, 6, 0, 8}, /* not as wide as the caps say */
      {48, TRUE, 8, 5, 0, 8}, /* not as high */
  };
  GstHarness *h = new_gray8_harness (blobs);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gsize offsets[GST_VIDEO_MAX_PLANES] = {cases[i].offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {cases[i].stride};
    GstBuffer *frame = cases[i].size ? guarded_buffer (cases[i].size) : gst_buffer_new (), *out;

    if (cases[i].meta)
      gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
          cases[i].width, cases[i].height, 1, offsets, strides);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
    assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "The frame");

    out = label (h, gray8_frame (blobs));
    assert_components (out, BLOBS_8);
    gst_buffer_unref (out);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static guint n_mapped;

/* Maps planes elsewhere, as pools of tiled or hidden memory do. */
static gboolean
map_elsewhere (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data, gint *stride,
    GstMapFlags flags)
{
  *stride = 32;
  *data = g_malloc0 (32 * meta->height);
  draw (blob, *data, 32);
  info->user_data[0] = *data;
  n_mapped++;
  return TRUE;
}

static gboolean
unmap_elsewhere (GstVideoMeta *meta, guint plane, GstMapInfo *info)
{
  g_free (info->user_data[0]);
  n_mapped--;
  return TRUE;
}

/* The pixels are those that the pool's own function maps. The memory of the buffer is empty. */
TEST (test_map_function_of_a_pool)
{
  GstHarness *h = new_gray8_harness (blob);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 4096, NULL), *out;
  GstVideoMeta *meta = gst_buffer_add_video_meta (frame, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_GRAY8, drawing_width (blob), drawing_height (blob));

  gst_buffer_memset (frame, 0, 0, 4096);
  meta->map = map_elsewhere;
  meta->unmap = unmap_elsewhere;
  out = label (h, frame);
  assert_components (out, {4, 2, 1, 2, 2, 2.5, 1.5});
  fail_unless_equals_int (n_mapped, 0);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

static Suite *
layouts_suite (void)
{
  Suite *suite = suite_create ("layouts");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_map_function_of_a_pool);
  tcase_add_test (tcase, test_pixels_are_untouched);
  tcase_add_test (tcase, test_stride_and_offset_of_video_meta);
  tcase_add_test (tcase, test_several_memories);
  tcase_add_test (tcase, test_nothing_is_read_past_the_end);
  tcase_add_test (tcase, test_frames_smaller_than_their_caps);
  return suite;
}

GST_CHECK_MAIN (layouts);
