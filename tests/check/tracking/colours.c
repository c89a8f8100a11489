/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The colours of objects reach ccltrack from frames of every format. */
#include "tests/check/shared/component-data.h"
#include "gstcclpicture.h"

#include "people.h"

static void
fill_with_noise (GstBuffer *buffer)
{
  guint32 state = 1;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++) {
    state = state * 1664525 + 1013904223;
    map.data[i] = (guint8)(state >> 24);
  }
  gst_buffer_unmap (buffer, &map);
}

/* What stands in for a GPU: its memory is the host's. */
static gboolean
copy_rows (GstElement *element, GstCclSite *site, CclLabeller *labeller, const GstCclRowCopy *copy,
    CclError *error)
{
  for (guint y = 0; y < copy->n_rows; y++)
    memcpy ((guint8 *)copy->to + y * copy->to_stride,
        (const guint8 *)copy->from.data + y * copy->from.stride, copy->row_size);
  return TRUE;
}

/* Every plane of a picture has the values of the frame at its pixels; of 16 bits, the upper ones.
 */
static void
check_picture (GstVideoFormat format, guint width, guint height, CclLocation location)
{
  const GstCclMethods methods = {.copy_rows = copy_rows};
  const GstCclOwner owner = {.methods = &methods};
  GstVideoInfo info;
  GstCclMappedPlanes mapped;
  GstCclPicture picture = {0};
  GstCclPlanes planes;
  GstVideoFrame frame;
  GstBuffer *buffer;
  CclFrame pixels;
  CclError error;
  guint8 *memory;
  gboolean has_chroma;

  fail_unless (gst_video_info_set_format (&info, format, width, height));
  has_chroma = GST_VIDEO_INFO_N_COMPONENTS (&info) > 1;
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  fill_with_noise (buffer);
  gst_ccl_planes_init (&planes, &info);
  fail_unless (gst_ccl_planes_map (&planes, &info, buffer, has_chroma, &mapped, &pixels, &error));
  pixels.location = location;
  memory = g_malloc (gst_ccl_picture_size (&info));
  fail_unless (
      gst_ccl_picture_queue (&owner, NULL, NULL, &info, &pixels, memory, &picture, &error));
  gst_ccl_planes_unmap (&mapped);
  fail_unless_equals_int (picture.n_planes, has_chroma ? 3 : 1);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint i = 0; i < picture.n_planes; i++)
    for (guint y = 0; y < height; y += picture.step_y)
      for (guint x = 0; x < width; x += picture.step_x) {
        const guint8 *expected = component_data (&frame, i) +
                                 (y >> GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, i)) *
                                     (gsize)GST_VIDEO_FRAME_COMP_STRIDE (&frame, i) +
                                 (x >> GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, i)) *
                                     (gsize)GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, i) +
                                 (info.finfo->bits > 8);
        const GstCclPicturePlane *plane = &picture.planes[i];
        fail_unless_equals_int (memory[plane->offset + y / picture.step_y * plane->stride +
                                       x / picture.step_x * plane->distance],
            *expected);
      }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);
  g_free (memory);
}

GST_START_TEST (test_pictures_have_the_pixels_of_frames)
{
  static const guint sizes[][2] = {{1, 1}, {9, 7}, {8, 9}, {1, 1}, {1025, 245}, {1026, 246}};
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  fail_unless (gst_value_deserialize (&list, GST_CCL_FORMATS));
  for (guint i = 0; i < gst_value_list_get_size (&list); i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
      check_picture (
          gst_video_format_from_string (g_value_get_string (gst_value_list_get_value (&list, i))),
          sizes[k][0], sizes[k][1], k % 2 ? CUDACCL_LOCATION_DEVICE : CUDACCL_LOCATION_HOST);
  g_value_unset (&list);
}
GST_END_TEST

static GstBuffer *
new_frame (gpointer data, guint number, gboolean turn)
{
  const GstVideoInfo *info = data;
  GstBuffer *frame = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  draw_people (info, map.data, number, turn);
  gst_buffer_unmap (frame, &map);
  return frame;
}

static gboolean
keep_identities (const char *line, const char *format, gboolean turn)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = frame_caps (format, PEOPLE_WIDTH, PEOPLE_HEIGHT);
  GstVideoInfo info;
  gboolean same;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, PEOPLE_RATE, 1, NULL);
  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps (h, caps);
  same = people_keep_identities (h, new_frame, &info, turn);
  gst_harness_teardown (h);
  return same;
}

/* Without colours the tracks are the same whether people turn or not. */
GST_START_TEST (test_people_who_meet_are_known_by_colours)
{
  static const char *const formats[] = {"NV12", "GRAY8"};

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint turn = 0; turn < 2; turn++)
      fail_unless (keep_identities ("ccl foreground=codebook ! ccltrack", formats[i], turn),
          "%s, turn %u", formats[i], turn);
  fail_if (keep_identities ("ccl foreground=codebook ! ccltrack use-mask=false", "I420", FALSE) &&
           keep_identities ("ccl foreground=codebook ! ccltrack use-mask=false", "I420", TRUE));
}
GST_END_TEST

/* Three people on a wide ground with a wall. Two of them, who come from both sides, stand together
 * for 2 s and turn back or walk on. The third one is behind the wall for 2 s and comes out where he
 * went, or else somebody in other clothes does. */
enum { YARD_WIDTH = 640, WALL = 380, WALL_WIDTH = 60, N_PEOPLE = 3 };

#define COME 3.0  /* seconds */
#define PART 7.5  /* when two people have stood together for 2 s */
#define LEAVE 9.5 /* the end */

/* Where a person's left edge is. A step takes 1/60 s, so that nobody is between two pixels. */
static gint
place_in_yard (guint person, gdouble time, gboolean turn)
{
  const gdouble steps = 60 * (time - COME), apart = MAX (60 * (time - PART), 0);
  const gdouble way = MIN (steps, 140) + (turn ? -apart : apart);

  if (person == 2) /* fully hidden from 1.33 s to 3.33 s after he came */
    return (gint)(300 + MIN (steps, 96) - MAX (steps - 184, 0));
  return (gint)(person == 0 ? way : 296 - way);
}

static GstBuffer *
draw_yard (const GstVideoInfo *info, gdouble time, gboolean turn, gboolean other)
{
  static const guint8 ground[] = {100, 128, 128}, wall[] = {70, 120, 132};
  static const guint8 clothes[N_PEOPLE + 1][3][3] = {
      {{50, 128, 128}, {160, 100, 190}, {60, 120, 130}},
      {{190, 110, 140}, {50, 180, 105}, {170, 128, 128}},
      {{45, 128, 128}, {60, 160, 110}, {180, 120, 140}},
      {{180, 128, 128}, {190, 90, 170}, {40, 128, 128}},
  };
  static const guint tops[] = {52, 60, 80, 100};
  GstBuffer *frame = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  fill_box (info, map.data, 0, 0, YARD_WIDTH, PEOPLE_HEIGHT, ground);
  for (guint person = 0; time >= COME && person < N_PEOPLE; person++)
    for (guint part = 0; part < 3; part++)
      fill_box (info, map.data, (guint)MAX (place_in_yard (person, time, turn), 0), tops[part], 16,
          tops[part + 1] - tops[part],
          clothes[other && person == 2 && time > COME + 2 ? 3 : person][part]);
  fill_box (info, map.data, WALL, 0, WALL_WIDTH, PEOPLE_HEIGHT, wall);
  gst_buffer_unmap (frame, &map);
  return frame;
}

static void
check_yard (const char *format, guint rate, gboolean turn, gboolean other)
{
  static const gdouble known[N_PEOPLE] = {COME + 2, COME + 2, COME + 1.1};
  GstHarness *h = gst_harness_new_parse ("ccl foreground=codebook ! ccltrack lost-time=3");
  GstCaps *caps = frame_caps (format, YARD_WIDTH, PEOPLE_HEIGHT);
  guint64 before[N_PEOPLE] = {0}, after[N_PEOPLE] = {0};
  GstVideoInfo info;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, rate, 1, NULL);
  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < LEAVE * rate; i++) {
    const gdouble time = (gdouble)i / rate;
    GstBuffer *frame = draw_yard (&info, time, turn, other), *out;

    GST_BUFFER_PTS (frame) = i * GST_SECOND / rate;
    out = gst_harness_push_and_pull (h, frame);
    for (guint person = 0; person < N_PEOPLE && time >= COME; person++) {
      after[person] = id_of_person (out, (guint)place_in_yard (person, time, turn));
      if (time <= known[person])
        before[person] = after[person];
    }
    gst_buffer_unref (out);
  }
  for (guint person = 0; person < N_PEOPLE; person++)
    fail_unless (before[person] && after[person] &&
                     (before[person] == after[person]) == !(other && person == 2),
        "%s, %u frames/s, turn %d, other %d: person %u was %u, is %u", format, rate, turn, other,
        person, (guint)before[person], (guint)after[person]);
  fail_unless (before[0] != before[1] && before[1] != before[2] && before[0] != before[2]);
  gst_harness_teardown (h);
}

GST_START_TEST (test_people_stay_themselves_for_two_seconds)
{
  static const guint rates[] = {5, 10, 25};

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    for (guint kind = 0; kind < 4; kind++)
      check_yard ("NV12", rates[i], kind % 2, kind / 2);
}
GST_END_TEST

static Suite *
colours_suite (void)
{
  Suite *suite = suite_create ("colours");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_pictures_have_the_pixels_of_frames);
  tcase_add_test (tests, test_people_who_meet_are_known_by_colours);
  tcase_add_test (tests, test_people_stay_themselves_for_two_seconds);
  return suite;
}

GST_CHECK_MAIN (colours);
