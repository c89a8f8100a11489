/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cclcombiner: the mask used for each video frame, and the metadata attached to the frame. */
#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 64
#define HEIGHT 48

/* A mask of half the width and height of the video. */
#define MASK_WIDTH 32
#define MASK_HEIGHT 24

typedef struct {
  GstHarness *video; /* and its output */
  GstHarness *mask;
} Harnesses;

static Harnesses
new_harnesses (void)
{
  Harnesses h;

  h.video = gst_harness_new_with_padnames ("cclcombiner", "video", "src");
  h.mask = gst_harness_new_with_element (h.video->element, "mask", NULL);
  gst_harness_set_src_caps (h.video, frame_caps ("I420", WIDTH, HEIGHT));
  gst_harness_set_src_caps (h.mask, frame_caps ("GRAY8", MASK_WIDTH, MASK_HEIGHT));
  return h;
}

static void
teardown (Harnesses *h)
{
  gst_harness_teardown (h->mask);
  gst_harness_teardown (h->video);
}

static GstBuffer *
frame_at (GstClockTime time)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3 / 2, NULL);

  GST_BUFFER_PTS (frame) = time;
  GST_BUFFER_DURATION (frame) = GST_SECOND;
  return frame;
}

/* A mask with n components: the number identifies the mask. */
static GstBuffer *
mask_at (GstClockTime time, guint n_components)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, MASK_WIDTH * MASK_HEIGHT, NULL);

  GST_BUFFER_PTS (mask) = time;
  GST_BUFFER_DURATION (mask) = GST_SECOND;
  gst_buffer_add_ccl_meta (mask, MASK_WIDTH, MASK_HEIGHT, n_components, NULL, 0, NULL, 0);
  return mask;
}

/* Pulls a frame and fails the test unless it has that time and that many components; -1: no
 * metadata. */
static void
assert_frame (Harnesses *h, GstClockTime time, gint n_components)
{
  GstBuffer *out = gst_harness_pull (h->video);

  fail_unless (out != NULL);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), time);
  if (n_components < 0)
    fail_unless (gst_buffer_get_ccl_meta (out) == NULL);
  else
    assert_count (out, (guint)n_components);
  gst_buffer_unref (out);
}

/* A gap on its way to a pad, which a Pusher pushes as an event. */
static GstBuffer *
gap_at (GstClockTime time, GstClockTime duration)
{
  GstBuffer *gap = gst_buffer_new ();

  GST_BUFFER_PTS (gap) = time;
  GST_BUFFER_DURATION (gap) = duration;
  GST_BUFFER_FLAG_SET (gap, GST_BUFFER_FLAG_GAP);
  return gap;
}

/* Pushes into the mask pad from a thread: a pad blocks on its second buffer until the first one is
 * consumed. A gap without a time is pushed as it is: an event must have one. */
typedef struct {
  GstHarness *h;
  GstBuffer *buffers[8];
} Pusher;

static gpointer
push_all (gpointer data)
{
  Pusher *pusher = data;

  for (guint i = 0; pusher->buffers[i]; i++) {
    GstBuffer *buffer = pusher->buffers[i];

    if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && GST_BUFFER_PTS_IS_VALID (buffer)) {
      gst_harness_push_event (
          pusher->h, gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
      gst_buffer_unref (buffer);
    } else {
      gst_harness_push (pusher->h, buffer);
    }
  }
  gst_harness_push_event (pusher->h, gst_event_new_eos ());
  return NULL;
}

/* Pushes videos and masks at the same time, to their ends. */
typedef struct {
  Pusher video, mask;
  GThread *threads[2];
} Run;

static void
start (Run *run, Harnesses *h)
{
  run->video.h = h->video;
  run->mask.h = h->mask;
  run->threads[0] = g_thread_new ("video", push_all, &run->video);
  run->threads[1] = g_thread_new ("mask", push_all, &run->mask);
}

static void
finish (Run *run)
{
  g_thread_join (run->threads[0]);
  g_thread_join (run->threads[1]);
}

GST_START_TEST (test_same_times)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (GST_SECOND), frame_at (2 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), mask_at (GST_SECOND, 11),
                   mask_at (2 * GST_SECOND, 12)}},
  };

  start (&run, &h);
  assert_frame (&h, 0, 10);
  assert_frame (&h, GST_SECOND, 11);
  assert_frame (&h, 2 * GST_SECOND, 12);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Masks without a frame are dropped, frames without a mask go on. */
GST_START_TEST (test_missing_frames_and_masks)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (GST_SECOND), frame_at (2 * GST_SECOND),
                    frame_at (3 * GST_SECOND), frame_at (5 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), mask_at (GST_SECOND, 11), mask_at (3 * GST_SECOND, 13),
                   mask_at (4 * GST_SECOND, 14), mask_at (5 * GST_SECOND, 15)}},
  };

  start (&run, &h);
  assert_frame (&h, GST_SECOND, 11);
  assert_frame (&h, 2 * GST_SECOND, -1);
  assert_frame (&h, 3 * GST_SECOND, 13);
  assert_frame (&h, 5 * GST_SECOND, 15);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Masks at a third of the rate. */
GST_START_TEST (test_maximum_age)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (1 * GST_SECOND), frame_at (2 * GST_SECOND),
                    frame_at (3 * GST_SECOND), frame_at (4 * GST_SECOND),
                    frame_at (6 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), mask_at (3 * GST_SECOND, 13)}},
  };

  g_object_set (h.video->element, "max-age", (guint64)2 * GST_SECOND, NULL);
  start (&run, &h);
  assert_frame (&h, 0, 10);
  assert_frame (&h, 1 * GST_SECOND, 10);
  assert_frame (&h, 2 * GST_SECOND, 10);
  assert_frame (&h, 3 * GST_SECOND, 13);
  assert_frame (&h, 4 * GST_SECOND, 13);
  assert_frame (&h, 6 * GST_SECOND, -1);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* A mask with a later time than the frame is not used, whatever max-age is. */
GST_START_TEST (test_masks_that_start_late)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (GST_SECOND), frame_at (2 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (GST_SECOND, 11)}},
  };

  g_object_set (h.video->element, "max-age", G_MAXUINT64, NULL);
  start (&run, &h);
  assert_frame (&h, 0, -1);
  assert_frame (&h, GST_SECOND, 11);
  assert_frame (&h, 2 * GST_SECOND, 11);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

GST_START_TEST (test_no_masks_at_all)
{
  Harnesses h = new_harnesses ();
  Run run = {.video = {.buffers = {frame_at (0), frame_at (GST_SECOND)}}};

  start (&run, &h);
  assert_frame (&h, 0, -1);
  assert_frame (&h, GST_SECOND, -1);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

GST_START_TEST (test_times_may_lack)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (GST_CLOCK_TIME_NONE), frame_at (GST_SECOND)}},
      .mask = {.buffers = {mask_at (GST_CLOCK_TIME_NONE, 9), mask_at (GST_SECOND, 11)}},
  };

  start (&run, &h);
  assert_frame (&h, GST_CLOCK_TIME_NONE, -1);
  assert_frame (&h, GST_SECOND, 11);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Running time counts, not the time stamp: here the masks' segment starts at one hour. */
GST_START_TEST (test_segments)
{
  Harnesses h = new_harnesses ();
  GstSegment segment;
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (GST_SECOND)}},
      .mask = {.buffers = {mask_at (3600 * GST_SECOND, 10), mask_at (3601 * GST_SECOND, 11)}},
  };

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 3600 * GST_SECOND;
  gst_harness_push_event (h.mask, gst_event_new_segment (&segment));
  start (&run, &h);
  assert_frame (&h, 0, 10);
  assert_frame (&h, GST_SECOND, 11);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Pushes one frame and its mask, and returns the output. */
static GstBuffer *
combine (Harnesses *h, GstBuffer *frame, GstBuffer *mask)
{
  Run run = {.video = {.buffers = {frame}}, .mask = {.buffers = {mask}}};
  GstBuffer *out;

  start (&run, h);
  out = gst_harness_pull (h->video);
  finish (&run);
  fail_unless (out != NULL);
  return out;
}

GST_START_TEST (test_coordinates_are_scaled)
{
  const GstCclComponent component = {1, 5, 3, 4, 6, 7, 5.5, 7.0};
  Harnesses h = new_harnesses ();
  GstBuffer *mask = gst_buffer_new_allocate (NULL, MASK_WIDTH * MASK_HEIGHT, NULL);
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 4 * MASK_WIDTH * MASK_HEIGHT, NULL), *out;
  GstVideoRegionOfInterestMeta *roi;
  GstCclMeta *meta;

  GST_BUFFER_PTS (mask) = 0;
  gst_buffer_add_ccl_meta (mask, MASK_WIDTH, MASK_HEIGHT, 1, &component, 1, labels, 4 * MASK_WIDTH);
  gst_buffer_unref (labels);
  gst_buffer_add_video_region_of_interest_meta (mask, "component", 3, 4, 6, 7);
  out = combine (&h, frame_at (0), mask);
  assert_components (out, {5, 6, 8, 12, 14, 11.5, 14.5});
  meta = gst_buffer_get_ccl_meta (out);
  fail_unless_equals_int (gst_ccl_meta_get_frame_width (meta), WIDTH);
  fail_unless_equals_int (gst_ccl_meta_get_frame_height (meta), HEIGHT);
  fail_unless (gst_ccl_meta_get_labels (meta, NULL) == NULL);
  roi = (GstVideoRegionOfInterestMeta *)gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  fail_unless (roi != NULL);
  fail_unless_equals_int (roi->x, 6);
  fail_unless_equals_int (roi->y, 8);
  fail_unless_equals_int (roi->w, 12);
  fail_unless_equals_int (roi->h, 14);
  gst_buffer_unref (out);
  teardown (&h);
}
GST_END_TEST

/* If the sizes are equal, all metadata is copied. */
GST_START_TEST (test_label_map_of_the_same_size)
{
  Harnesses h = new_harnesses ();
  GstBuffer *mask = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstBuffer *labels = gst_buffer_new_allocate (NULL, 4 * WIDTH * HEIGHT, NULL), *out;

  GST_BUFFER_PTS (mask) = 0;
  gst_buffer_add_ccl_meta (mask, WIDTH, HEIGHT, 0, NULL, 0, labels, 4 * WIDTH);
  gst_harness_set_src_caps (h.mask, frame_caps ("GRAY8", WIDTH, HEIGHT));
  out = combine (&h, frame_at (0), mask);
  fail_unless (gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), NULL) == labels);
  gst_buffer_unref (out);
  gst_buffer_unref (labels);
  teardown (&h);
}
GST_END_TEST

GST_START_TEST (test_video_is_unchanged)
{
  Harnesses h = new_harnesses ();
  GstBuffer *frame = frame_at (0), *out;
  GstCaps *caps, *expected = frame_caps ("I420", WIDTH, HEIGHT);
  GstMemory *memory = gst_buffer_peek_memory (frame, 0);

  out = combine (&h, frame, mask_at (0, 1));
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_SECOND);
  caps = gst_pad_get_current_caps (h.video->sinkpad);
  fail_unless (gst_caps_is_equal (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_buffer_unref (out);
  teardown (&h);
}
GST_END_TEST

/* The thread that pushes masks must not wait for a combiner that has ended. */
GST_START_TEST (test_masks_go_on_after_the_video)
{
  Harnesses h = new_harnesses ();
  Run run = {{.buffers = {frame_at (0)}}, {NULL}};

  for (guint i = 0; i < 7; i++)
    run.mask.buffers[i] = mask_at (i * GST_SECOND, 1);
  start (&run, &h);
  assert_frame (&h, 0, 1);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

typedef struct {
  GstClockTime time;
  gboolean is_gap;
} Seen;

static GstPadProbeReturn
remember (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GArray *seen = data;
  Seen item = {GST_CLOCK_TIME_NONE, FALSE};

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    item.time = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));
  } else {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
    GstClockTime duration;

    if (GST_EVENT_TYPE (event) != GST_EVENT_GAP)
      return GST_PAD_PROBE_OK;
    item.is_gap = TRUE;
    gst_event_parse_gap (event, &item.time, &duration);
    fail_unless_equals_uint64 (duration, GST_SECOND);
    fail_unless (gst_pad_has_current_caps (pad));
  }
  g_array_append_val (seen, item);
  return GST_PAD_PROBE_OK;
}

/* A gap of the video is a gap event behind the element, in its place among the frames, also before
 * the first of them. */
GST_START_TEST (test_gaps_of_the_video)
{
  static const Seen expected[] = {
      {0, TRUE}, {GST_SECOND, FALSE}, {2 * GST_SECOND, TRUE}, {3 * GST_SECOND, FALSE}};
  GArray *seen = g_array_new (FALSE, FALSE, sizeof (Seen));
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {gap_at (0, GST_SECOND), frame_at (GST_SECOND),
                    gap_at (2 * GST_SECOND, GST_SECOND), frame_at (3 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), mask_at (GST_SECOND, 11), mask_at (2 * GST_SECOND, 12),
                   mask_at (3 * GST_SECOND, 13)}},
  };

  gst_pad_add_probe (h.video->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, remember, seen, NULL);
  start (&run, &h);
  assert_frame (&h, GST_SECOND, 11);
  assert_frame (&h, 3 * GST_SECOND, 13);
  finish (&run);
  fail_unless_equals_int (seen->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < seen->len; i++) {
    fail_unless_equals_int (g_array_index (seen, Seen, i).is_gap, expected[i].is_gap);
    fail_unless_equals_uint64 (g_array_index (seen, Seen, i).time, expected[i].time);
  }
  g_array_unref (seen);
  teardown (&h);
}
GST_END_TEST

/* Nothing is sent on for a gap whose time is not known. */
GST_START_TEST (test_gap_without_a_time)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {gap_at (GST_CLOCK_TIME_NONE, GST_SECOND), frame_at (GST_SECOND)}},
      .mask = {.buffers = {mask_at (GST_SECOND, 11)}},
  };

  start (&run, &h);
  assert_frame (&h, GST_SECOND, 11);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* From a mask without pixels nothing can be scaled. */
GST_START_TEST (test_mask_without_pixels)
{
  Harnesses h = new_harnesses ();
  GstBuffer *mask = gst_buffer_new (), *out;
  Run run = {
      .video = {.buffers = {frame_at (0)}},
      .mask = {.buffers = {mask}},
  };

  gst_harness_set_src_caps (h.mask, frame_caps ("GRAY8", 0, 0));
  GST_BUFFER_PTS (mask) = 0;
  gst_buffer_add_video_region_of_interest_meta (mask, "thing", 1, 2, 3, 4);
  start (&run, &h);
  out = gst_harness_pull (h.video);
  fail_unless (gst_buffer_get_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == NULL);
  gst_buffer_unref (out);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Frames in a gap of the masks have no components, however old masks may be. */
GST_START_TEST (test_gaps_of_the_masks)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (GST_SECOND), frame_at (2 * GST_SECOND),
                    frame_at (3 * GST_SECOND), frame_at (4 * GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), gap_at (GST_SECOND, 2 * GST_SECOND),
                   mask_at (3 * GST_SECOND, 13)}},
  };

  g_object_set (h.video->element, "max-age", (guint64)GST_SECOND, NULL);
  start (&run, &h);
  assert_frame (&h, 0, 10);
  assert_frame (&h, GST_SECOND, 0);
  assert_frame (&h, 2 * GST_SECOND, 0);
  assert_frame (&h, 3 * GST_SECOND, 13);
  assert_frame (&h, 4 * GST_SECOND, 13);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

/* Calls of GstAggregatorClass::aggregate. */
static gint n_aggregated;
static GstFlowReturn (*counted_aggregate) (GstAggregator *aggregator, gboolean timeout);

static GstFlowReturn
count_and_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  g_atomic_int_inc (&n_aggregated);
  return counted_aggregate (aggregator, timeout);
}

/* A live pipeline in which the present time is long after that of all frames. */
static Harnesses
new_live_harnesses (void)
{
  Harnesses h = new_harnesses ();
  GstAggregatorClass *klass = GST_AGGREGATOR_GET_CLASS (h.video->element);
  GstClock *clock = gst_system_clock_obtain ();

  if (klass->aggregate != count_and_aggregate)
    counted_aggregate = klass->aggregate;
  klass->aggregate = count_and_aggregate;
  gst_harness_set_live (h.video, TRUE);
  gst_harness_set_live (h.mask, TRUE);
  gst_element_set_clock (h.video->element, clock);
  gst_element_set_base_time (h.video->element, gst_clock_get_time (clock) - 3600 * GST_SECOND);
  gst_object_unref (clock);
  return h;
}

/* Fails the test if the element works while nothing arrives. */
static void
assert_idle (void)
{
  gint before = g_atomic_int_get (&n_aggregated);

  g_usleep (G_USEC_PER_SEC / 10);
  fail_unless (g_atomic_int_get (&n_aggregated) - before <= 2, "%d calls without a buffer",
      g_atomic_int_get (&n_aggregated) - before);
}

/* While the next time lies in the past, the element waits for buffers. It does not poll. */
GST_START_TEST (test_live_element_waits_while_a_camera_is_silent)
{
  Harnesses h = new_live_harnesses ();
  GstBuffer *frame = frame_at (GST_SECOND);

  assert_idle ();
  gst_harness_push (h.mask, mask_at (0, 10));
  gst_harness_push (h.video, frame_at (0));
  assert_frame (&h, 0, 10);
  assert_idle ();
  GST_BUFFER_DURATION (frame) = GST_CLOCK_TIME_NONE;
  gst_harness_push (h.video, frame); /* its mask is late */
  assert_frame (&h, GST_SECOND, -1);
  assert_idle ();
  gst_harness_push (h.mask, mask_at (2 * GST_SECOND, 12));
  assert_idle ();
  gst_harness_push (h.video, frame_at (2 * GST_SECOND));
  assert_frame (&h, 2 * GST_SECOND, 12);
  teardown (&h);
}
GST_END_TEST

/* Frames that need no mask wait for none, however far in the future their time is. */
GST_START_TEST (test_live_frames_that_need_no_mask_pass_at_once)
{
  const GstClockTime future = 7200 * GST_SECOND;
  Harnesses h = new_live_harnesses ();

  gst_harness_push_event (h.mask, gst_event_new_gap (future, GST_SECOND));
  gst_harness_push (h.video, frame_at (future));
  assert_frame (&h, future, 0);
  gst_harness_push (h.video, frame_at (future + GST_SECOND / 2)); /* the gap covers it, too */
  assert_frame (&h, future + GST_SECOND / 2, 0);
  gst_harness_push (h.video, frame_at (GST_CLOCK_TIME_NONE));
  assert_frame (&h, GST_CLOCK_TIME_NONE, -1);
  teardown (&h);
}
GST_END_TEST

static guint
count_regions_of_interest (GstBuffer *frame)
{
  return gst_buffer_get_n_meta (frame, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* What was attached before the tee comes in both branches. A region that is new in the branch of
 * the mask is carried, also if another one is at the same place. */
GST_START_TEST (test_metadata_from_before_the_tee_is_not_doubled)
{
  Harnesses h = new_harnesses ();
  GstBuffer *frame = frame_at (0), *mask = mask_at (0, 2), *out;
  GstVideoRegionOfInterestMeta *roi;
  GstCclLabeller *before = gst_ccl_labeller_new ("before", NULL);

  /* At half the size, edges are rounded: (3, 5) to (10, 12) becomes (1, 2) to (5, 6). */
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 3, 5, 7, 7);
  gst_buffer_add_video_region_of_interest_meta (mask, "face", 1, 2, 4, 4);
  gst_ccl_meta_set_labeller (
      gst_buffer_add_ccl_meta (frame, WIDTH, HEIGHT, 5, NULL, 0, NULL, 0), before);
  gst_ccl_meta_set_labeller (
      gst_buffer_add_ccl_meta (mask, MASK_WIDTH, MASK_HEIGHT, 5, NULL, 0, NULL, 0), before);
  gst_buffer_add_video_region_of_interest_meta (mask, "hand", 1, 2, 4, 4);
  roi = gst_buffer_add_video_region_of_interest_meta (mask, "face", 1, 2, 4, 4);
  roi->id = 7;
  gst_buffer_add_video_region_of_interest_meta (mask, "face", 20, 10, 4, 4);

  out = combine (&h, frame, mask);
  fail_unless_equals_int (count_regions_of_interest (out), 4);
  fail_unless_equals_int (gst_buffer_get_n_meta (out, GST_CCL_META_API_TYPE), 2);
  fail_unless_equals_int (
      gst_ccl_meta_get_n_components (gst_buffer_get_ccl_meta_by_name (out, "before")), 5);
  gst_buffer_unref (out);
  gst_ccl_labeller_unref (before);
  teardown (&h);
}
GST_END_TEST

GST_START_TEST (test_metadata_from_before_the_tee_of_the_same_size)
{
  Harnesses h = new_harnesses ();
  GstBuffer *frame = frame_at (0), *mask, *out;

  gst_harness_set_src_caps (h.mask, frame_caps ("I420", WIDTH, HEIGHT));
  gst_buffer_add_video_region_of_interest_meta (frame, "face", 3, 5, 7, 7);
  mask = gst_buffer_copy (frame);
  gst_buffer_add_video_region_of_interest_meta (mask, "face", 4, 5, 7, 7);
  gst_buffer_add_ccl_meta (mask, WIDTH, HEIGHT, 9, NULL, 0, NULL, 0);
  out = combine (&h, frame, mask);
  fail_unless_equals_int (count_regions_of_interest (out), 2);
  assert_count (out, 9);
  gst_buffer_unref (out);
  teardown (&h);
}
GST_END_TEST

#if HAVE_ANALYTICS

static void
add_detection (GstBuffer *buffer, const char *type, gint x, gint y)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;

  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  fail_unless (gst_analytics_relation_meta_add_od_mtd (
      relations, g_quark_from_string (type), x, y, 4, 4, 1, &detection));
}

static gsize
count_detections (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);

  return relations ? gst_analytics_relation_get_length (relations) : 0;
}

/* A frame and its mask are copies of one buffer with a detection. GStreamer cannot merge what was
 * added to both. */
GST_START_TEST (test_analytics_from_before_the_tee)
{
  static const struct {
    gboolean of_both, of_frame, of_mask;
    gsize expected;
    const gchar *warning;
  } cases[] = {
      {FALSE, FALSE, FALSE, 0, NULL},
      {FALSE, FALSE, TRUE, 1, NULL},
      {TRUE, FALSE, FALSE, 1, NULL},
      {TRUE, FALSE, TRUE, 2, NULL},
      {TRUE, TRUE, TRUE, 2, "both cannot be merged"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Harnesses h = new_harnesses ();
    GstBuffer *frame = frame_at (0), *mask, *out;
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (h.video->element, bus);
    gst_harness_set_src_caps (h.mask, frame_caps ("I420", WIDTH, HEIGHT));
    if (cases[i].of_both)
      add_detection (frame, "face", 8, 8);
    mask = gst_buffer_copy (frame);
    if (cases[i].of_frame)
      add_detection (frame, "car", 20, 20);
    if (cases[i].of_mask)
      add_detection (mask, "hand", 30, 30);
    out = combine (&h, frame, mask);
    fail_unless_equals_int (count_detections (out), cases[i].expected);
    assert_warning (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, cases[i].warning);
    gst_buffer_unref (out);
    gst_element_set_bus (h.video->element, NULL);
    gst_object_unref (bus);
    teardown (&h);
  }
}
GST_END_TEST

#endif

/* A segment that has no times has no frame to which a mask could belong. */
GST_START_TEST (test_segments_of_bytes)
{
  Harnesses h = new_harnesses ();
  Run run = {
      .video = {.buffers = {frame_at (0), frame_at (GST_SECOND)}},
      .mask = {.buffers = {mask_at (0, 10), mask_at (GST_SECOND, 11)}},
  };
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (h.video, gst_event_new_segment (&segment));
  gst_harness_push_event (h.mask, gst_event_new_segment (&segment));
  start (&run, &h);
  assert_frame (&h, 0, -1);
  assert_frame (&h, GST_SECOND, -1);
  finish (&run);
  teardown (&h);
}
GST_END_TEST

static void
check_frame (GstElement *sink, GstBuffer *buffer, GstPad *pad, guint *n)
{
  assert_count (buffer, 1);
  (*n)++;
}

/* A whole pipeline, played twice: a tee, a mask of half the size, boxes on the original. */
GST_START_TEST (test_pipeline)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=320,height=240 ! "
      "tee name=t t. ! queue ! combiner.video "
      "t. ! queue ! videoconvertscale ! video/x-raw,format=GRAY8,width=160,height=120 ! "
      "ccl threshold=128 ! combiner.mask "
      "cclcombiner name=combiner ! fakesink name=sink signal-handoffs=true",
      NULL);
  GstElement *sink;
  guint n = 0;

  fail_unless (pipeline != NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (check_frame), &n);
  gst_object_unref (sink);
  for (guint round = 1; round <= 2; round++) {
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message =
        gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    fail_unless_equals_int (n, 30 * round);
  }
  gst_object_unref (pipeline);
}
GST_END_TEST

/* Without a mask pad the video passes at once. */
GST_START_TEST (test_no_mask_pad)
{
  GstHarness *h = gst_harness_new_with_padnames ("cclcombiner", "video", "src");
  GstPad *pad;

  gst_harness_set_src_caps (h, frame_caps ("I420", WIDTH, HEIGHT));
  fail_unless_equals_int (gst_harness_push (h, frame_at (0)), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  pad = gst_element_request_pad_simple (h->element, "mask");
  fail_unless_equals_string (GST_OBJECT_NAME (pad), "mask");
  gst_harness_push (h, frame_at (GST_SECOND)); /* waits for a mask */
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_element_release_request_pad (h->element, pad);
  gst_object_unref (pad);
  gst_buffer_unref (gst_harness_pull (h));
  pad = gst_element_request_pad_simple (h->element, "mask");
  fail_unless (pad != NULL);
  gst_element_release_request_pad (h->element, pad);
  gst_object_unref (pad);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (test_caps_of_the_template)
{
  Harnesses h = new_harnesses ();
  GstPad *video = gst_element_get_static_pad (h.video->element, "video");
  GstCaps *audio = gst_caps_new_empty_simple ("audio/x-raw");
  GstCaps *found = gst_pad_query_caps (video, audio);

  fail_unless (gst_caps_is_empty (found));
  fail_unless (!gst_pad_query_accept_caps (video, audio));
  gst_caps_unref (found);
  gst_caps_unref (audio);
  gst_object_unref (video);
  teardown (&h);
}
GST_END_TEST

/* Counts the frames that have a mask, which the samples are. */
static void
count_samples (GstAggregator *combiner, GstSegment *segment, guint64 pts, guint64 dts,
    guint64 duration, GstStructure *info, gpointer data)
{
  const char *names[] = {"video", "mask"};
  guint *counts = data;

  for (guint i = 0; i < 2; i++) {
    GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (combiner), names[i]);
    GstSample *sample = gst_aggregator_peek_next_sample (combiner, GST_AGGREGATOR_PAD (pad));

    if (sample) {
      fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)), pts);
      counts[i]++;
      gst_sample_unref (sample);
    }
    gst_object_unref (pad);
  }
}

GST_START_TEST (test_tags_and_selected_samples)
{
  Harnesses h = new_harnesses ();
  Run run = {
      {.buffers = {frame_at (0), frame_at (GST_SECOND)}}, {.buffers = {mask_at (GST_SECOND, 1)}}};
  guint counts[2] = {0};
  gboolean found = FALSE;
  GstEvent *event;

  g_object_set (h.video->element, "emit-signals", TRUE, NULL);
  g_signal_connect (h.video->element, "samples-selected", G_CALLBACK (count_samples), counts);
  gst_harness_push_event (
      h.video, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "yard", NULL)));
  start (&run, &h);
  assert_frame (&h, 0, -1);
  assert_frame (&h, GST_SECOND, 1);
  finish (&run);
  fail_unless_equals_int (counts[0], 2);
  fail_unless_equals_int (counts[1], 1);
  while ((event = gst_harness_try_pull_event (h.video))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
      GstTagList *tags;
      gchar *title = NULL;

      gst_event_parse_tag (event, &tags);
      found |= gst_tag_list_get_string (tags, GST_TAG_TITLE, &title) && !strcmp (title, "yard");
      g_free (title);
    }
    gst_event_unref (event);
  }
  fail_unless (found);
  teardown (&h);
}
GST_END_TEST

static Suite *
combiner_suite (void)
{
  Suite *suite = suite_create ("cclcombiner");
  TCase *tcase = tcase_create ("cclcombiner");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_no_mask_pad);
  tcase_add_test (tcase, test_caps_of_the_template);
  tcase_add_test (tcase, test_tags_and_selected_samples);
  tcase_add_test (tcase, test_same_times);
  tcase_add_test (tcase, test_missing_frames_and_masks);
  tcase_add_test (tcase, test_maximum_age);
  tcase_add_test (tcase, test_masks_that_start_late);
  tcase_add_test (tcase, test_no_masks_at_all);
  tcase_add_test (tcase, test_times_may_lack);
  tcase_add_test (tcase, test_segments);
  tcase_add_test (tcase, test_coordinates_are_scaled);
  tcase_add_test (tcase, test_label_map_of_the_same_size);
  tcase_add_test (tcase, test_video_is_unchanged);
  tcase_add_test (tcase, test_masks_go_on_after_the_video);
  tcase_add_test (tcase, test_gaps_of_the_video);
  tcase_add_test (tcase, test_gap_without_a_time);
  tcase_add_test (tcase, test_mask_without_pixels);
  tcase_add_test (tcase, test_gaps_of_the_masks);
  tcase_add_test (tcase, test_live_element_waits_while_a_camera_is_silent);
  tcase_add_test (tcase, test_live_frames_that_need_no_mask_pass_at_once);
  tcase_add_test (tcase, test_metadata_from_before_the_tee_is_not_doubled);
  tcase_add_test (tcase, test_metadata_from_before_the_tee_of_the_same_size);
#if HAVE_ANALYTICS
  tcase_add_test (tcase, test_analytics_from_before_the_tee);
#endif
  tcase_add_test (tcase, test_segments_of_bytes);
  tcase_add_test (tcase, test_pipeline);
  return suite;
}

GST_CHECK_MAIN (combiner);
