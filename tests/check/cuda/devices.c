/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cudaccl on several GPUs. The tests need a driver with at least two devices, a real or a simulated
 * one. Results are compared with those of ccl.
 */
#include "cuda-frames.h"
#include "tests/check/shared/leaks.h"
#include "tests/check/shared/skips.h"

#include <gst/ccl/ccl.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define TEST(name)                                                                                 \
  GST_START_TEST (name)                                                                            \
  if (!has_several_devices (#name))                                                                \
    return;

#define WIDTH 321
#define HEIGHT 243

static gint
count_devices (void)
{
  gint n_devices = 0;

  if (!gst_cuda_load_library () || CuInit (0) != CUDA_SUCCESS ||
      CuDeviceGetCount (&n_devices) != CUDA_SUCCESS)
    return 0;
  return n_devices;
}

static gboolean
has_several_devices (const char *test)
{
  if (!can_run ("cudaccl", test))
    return FALSE;
  if (count_devices () >= 2)
    return TRUE;
  skip (test, "one GPU, two are needed");
  return FALSE;
}

/* Rectangles that move, of luma and chroma of their own, on a background with noise. */
static void
paint (guint8 *pixels, const GstVideoInfo *info, guint number)
{
  guint32 noise = number + 1;

  memset (pixels, 128, GST_VIDEO_INFO_SIZE (info));
  for (guint y = 0; y < HEIGHT; y++) {
    guint8 *row = pixels + y * (gsize)GST_VIDEO_INFO_PLANE_STRIDE (info, 0);

    for (guint x = 0; x < WIDTH; x++) {
      noise = noise * 1664525 + 1013904223;
      row[x] = (guint8)(60 + (noise >> 29));
      if ((x + 3 * number) % 40 < 15 && (y + 20 - number % 20) % 30 < 11)
        row[x] = 200;
    }
  }
}

static GstBuffer *
new_system_frame (const char *format, guint number)
{
  GstCaps *caps = frame_caps (format, WIDTH, HEIGHT);
  GstVideoInfo info;
  GstBuffer *frame;
  GstMapInfo map;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  frame = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  paint (map.data, &info, number);
  gst_buffer_unmap (frame, &map);
  GST_BUFFER_PTS (frame) = number * GST_SECOND / 25;
  return frame;
}

static GstBufferPool *
new_cuda_pool (GstCudaContext *context, const char *format)
{
  GstCaps *caps = cuda_caps (format, WIDTH, HEIGHT);
  GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, 0, 0, 0);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  gst_caps_unref (caps);
  return pool;
}

static void
free_pool (GstBufferPool *pool)
{
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

/* The frame of that number in CUDA memory, which is padded. */
static GstBuffer *
new_cuda_frame (GstBufferPool *pool, const char *format, guint number)
{
  GstCaps *caps = frame_caps (format, WIDTH, HEIGHT);
  GstVideoInfo info;
  GstBuffer *frame;
  GstVideoFrame from, to;
  GstBuffer *system_frame = new_system_frame (format, number);
  GstVideoMeta *meta;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
  meta = gst_buffer_get_video_meta (frame);
  fail_unless (meta != NULL);
  fail_unless (gst_video_frame_map (&from, &info, system_frame, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&to, &info, frame, GST_MAP_WRITE));
  fail_unless (gst_video_frame_copy (&to, &from));
  gst_video_frame_unmap (&to);
  gst_video_frame_unmap (&from);
  GST_BUFFER_PTS (frame) = GST_BUFFER_PTS (system_frame);
  gst_buffer_unref (system_frame);
  return frame;
}

/* Fails the test unless both frames have the same components, columns and label maps. */
static void
assert_same_labels (GstBuffer *expected, GstBuffer *found)
{
  GstCclMeta *metas[2] = {gst_buffer_get_ccl_meta (expected), gst_buffer_get_ccl_meta (found)};
  GstBuffer *labels[2];
  GstMapInfo maps[2];
  gsize strides[2];
  guint n_components;

  fail_unless (metas[0] && metas[1]);
  n_components = gst_ccl_meta_get_n_components (metas[0]);
  fail_unless (n_components > 0);
  fail_unless_equals_int (gst_ccl_meta_get_n_components (metas[1]), n_components);
  assert_same_columns (expected, found);
  for (guint i = 0; i < 2; i++) {
    labels[i] = gst_ccl_meta_get_labels (metas[i], &strides[i]);
    fail_unless (gst_buffer_map (labels[i], &maps[i], GST_MAP_READ));
  }
  for (guint y = 0; y < HEIGHT; y++)
    fail_unless (memcmp (maps[0].data + y * strides[0], maps[1].data + y * strides[1],
                     WIDTH * sizeof (guint32)) == 0,
        "row %u differs", y);
  for (guint i = 0; i < 2; i++)
    gst_buffer_unmap (labels[i], &maps[i]);
}

/* Labels the same frame with ccl, then with cudaccl, and returns the latter's output. */
static GstBuffer *
label_and_compare (GstHarness *cpu, GstHarness *gpu, GstBuffer *frame, const char *format)
{
  const guint number = (guint)(GST_BUFFER_PTS (frame) * 25 / GST_SECOND);
  GstBuffer *expected = gst_harness_push_and_pull (cpu, new_system_frame (format, number));
  GstBuffer *found = gst_harness_push_and_pull (gpu, frame);

  fail_unless (expected && found);
  assert_same_labels (expected, found);
  assert_same_contours (expected, found, "contours");
  gst_buffer_unref (expected);
  return found;
}

static GstHarness *
new_harness (const char *element, const char *properties, GstCaps *caps)
{
  gchar *launch = g_strconcat (
      element, " threshold=128 attach-labels=true attach-contours=pixels ", properties, NULL);
  GstHarness *h = gst_harness_new_parse (launch);

  gst_harness_set_src_caps (h, caps);
  g_free (launch);
  return h;
}

static guint
device_of_element (GstElement *element)
{
  GstCudaContext *context = query_context (element);
  guint device;

  fail_unless (context != NULL);
  device = device_of (context);
  gst_object_unref (context);
  return device;
}

TEST (test_frames_of_system_memory_on_each_device)
{
  for (gint device = 0; device < count_devices (); device++) {
    GstHarness *cpu = new_harness ("ccl", "", frame_caps ("GRAY8", WIDTH, HEIGHT));
    gchar *properties = g_strdup_printf ("cuda-device-id=%d", device);
    GstHarness *gpu = new_harness ("cudaccl", properties, frame_caps ("GRAY8", WIDTH, HEIGHT));

    for (guint i = 0; i < 3; i++) {
      GstBuffer *out = label_and_compare (cpu, gpu, new_system_frame ("GRAY8", i), "GRAY8");
      fail_unless_equals_int (device_of (context_of_labels (out)), device);
      gst_buffer_unref (out);
    }
    g_free (properties);
    gst_harness_teardown (gpu);
    gst_harness_teardown (cpu);
  }
}
GST_END_TEST

/* Without a named device, each frame is labelled on the device that holds it. */
TEST (test_frames_are_labelled_where_they_are)
{
  static const char *const choices[] = {
      "", "cuda-device-choice=least-used", "foreground=otsu denoise=median-3x3"};

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    GstCudaContext *contexts[] = {new_context_on (0), new_context_on (1)};
    GstBufferPool *pools[] = {
        new_cuda_pool (contexts[0], "NV12"), new_cuda_pool (contexts[1], "NV12")};
    const gboolean is_choice = strstr (choices[i], "choice") != NULL;
    GstHarness *cpu =
        new_harness ("ccl", is_choice ? "" : choices[i], frame_caps ("NV12", WIDTH, HEIGHT));
    GstHarness *gpu = new_harness ("cudaccl", choices[i], cuda_caps ("NV12", WIDTH, HEIGHT));

    for (guint number = 0; number < 6; number++) {
      const guint device = number / 2 % 2;
      GstBuffer *frame = new_cuda_frame (pools[device], "NV12", number);
      GstBuffer *out = label_and_compare (cpu, gpu, frame, "NV12");
      fail_unless (context_of_labels (out) == contexts[device]);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (gpu);
    gst_harness_teardown (cpu);
    for (guint device = 0; device < 2; device++) {
      free_pool (pools[device]);
      gst_object_unref (contexts[device]);
    }
  }
}
GST_END_TEST

/* Frames of another device than the named one are copied, with a single warning; the results are
 * the same, also those of a background model and of colours, which read chroma too. */
TEST (test_frames_of_another_device_are_copied)
{
  static const char *const uses[] = {"", "foreground=otsu", "foreground=mog2 closing-width=3",
      "attach-columns=moments+luma+color", "foreground=otsu attach-columns=luma"};

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    GstCudaContext *contexts[] = {new_context_on (0), new_context_on (1)};
    GstBufferPool *pools[] = {
        new_cuda_pool (contexts[0], "NV12"), new_cuda_pool (contexts[1], "NV12")};
    gchar *properties = g_strconcat (uses[i], " cuda-device-id=1", NULL);
    GstHarness *cpu = new_harness ("ccl", uses[i], frame_caps ("NV12", WIDTH, HEIGHT));
    GstHarness *gpu = new_harness ("cudaccl", properties, cuda_caps ("NV12", WIDTH, HEIGHT));
    const gboolean has_model = strstr (uses[i], "mog2") != NULL;
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (gpu->element, bus);
    for (guint number = 0; number < 8; number++) {
      /* A model stays with one context, so its frames are all of the other device. */
      const guint device = has_model ? 0 : number % 2;
      GstBuffer *frame = new_cuda_frame (pools[device], "NV12", number);
      GstBuffer *out;

      if (has_model && number == 0) {
        gst_buffer_unref (gst_harness_push_and_pull (cpu, new_system_frame ("NV12", 0)));
        out = gst_harness_push_and_pull (gpu, frame);
      } else {
        out = label_and_compare (cpu, gpu, frame, "NV12");
      }
      fail_unless_equals_int (device_of (context_of_labels (out)), 1);
      fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (out, 0)));
      gst_buffer_unref (out);
    }
    assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "CUDA device 0");
    assert_warning (bus, 0, 0, NULL);

    gst_element_set_bus (gpu->element, NULL);
    gst_object_unref (bus);
    g_free (properties);
    gst_harness_teardown (gpu);
    gst_harness_teardown (cpu);
    for (guint device = 0; device < 2; device++) {
      free_pool (pools[device]);
      gst_object_unref (contexts[device]);
    }
  }
}
GST_END_TEST

/* Without a named device, the background model starts anew where frames are on another device, with
 * a single warning. */
TEST (test_background_starts_anew_on_another_device)
{
  GstCudaContext *contexts[] = {new_context_on (0), new_context_on (1)};
  GstBufferPool *pools[] = {
      new_cuda_pool (contexts[0], "NV12"), new_cuda_pool (contexts[1], "NV12")};
  GstHarness *gpu = new_harness ("cudaccl", "foreground=mog2", cuda_caps ("NV12", WIDTH, HEIGHT));
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (gpu->element, bus);
  for (guint number = 0; number < 8; number++) {
    const guint device = number / 2 % 2;
    GstBuffer *frame = new_cuda_frame (pools[device], "NV12", number);
    GstBuffer *out = gst_harness_push_and_pull (gpu, frame);

    fail_unless (context_of_labels (out) == contexts[device]);
    if (number % 2 == 0)
      assert_count (out, 0);
    else
      fail_unless (gst_ccl_meta_get_n_components (gst_buffer_get_ccl_meta (out)) > 0);
    gst_buffer_unref (out);
    if (number == 1)
      assert_warning (bus, 0, 0, NULL);
  }
  assert_warning (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "starts anew");
  assert_warning (bus, 0, 0, NULL);

  gst_element_set_bus (gpu->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (gpu);
  for (guint device = 0; device < 2; device++) {
    free_pool (pools[device]);
    gst_object_unref (contexts[device]);
  }
}
GST_END_TEST

/* The same for GRAY8 frames of the library's own helper, whose memory GStreamer takes for RGBA. */
TEST (test_gray8_frames_of_another_device_are_copied)
{
  static const char drawing[] = "##..#\n"
                                "....#\n";
  GstCudaContext *context = new_context_on (0);
  GstHarness *h = new_harness ("cudaccl", "cuda-device-id=1", cuda_caps ("GRAY8", 5, 2));

  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = gst_harness_push_and_pull (h, device_frame (context, drawing));

    fail_unless (out != NULL);
    assert_components (out, {2, 0, 0, 2, 1, 0.5, 0.0}, {2, 4, 0, 1, 2, 4.0, 0.5});
    fail_unless_equals_int (device_of (context_of_labels (out)), 1);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  gst_object_unref (context);
}
GST_END_TEST

/* A frame of another device is copied when the work on it has ended, here a copy on the legacy
 * default stream of that device, which the simulated driver does not start before a caller waits
 * for it; and without a copy in system memory, of which its memory has none. */
TEST (test_copies_wait_for_the_other_device)
{
  static const char nothing[] = ".....\n.....\n", drawing[] = "##..#\n....#\n";
  static const char *const uses[] = {"cudaccl cuda-device-id=1 attach-labels=true",
      "cudaccl cuda-device-id=1 attach-labels=true foreground=otsu"};
  const gsize stride = 8;

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    GstCudaContext *context = new_context_on (0);
    GstHarness *h = gst_harness_new_parse (uses[i]);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcPitch = stride,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .WidthInBytes = 5,
        .Height = 2,
    };
    GstBuffer *frame = device_frame (context, nothing), *out;
    gpointer pixels;
    GstMapInfo map;

    gst_harness_set_src_caps (h, cuda_caps ("GRAY8", 5, 2));
    /* What the first frame allocates would wait for all devices. */
    gst_buffer_unref (gst_harness_push_and_pull (h, device_frame (context, drawing)));
    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE | GST_MAP_CUDA));
    fail_unless (gst_cuda_context_push (context));
    fail_unless_equals_int (CuMemAllocHost (&pixels, 2 * (guint)stride), CUDA_SUCCESS);
    draw (drawing, pixels, stride);
    copy.srcHost = pixels;
    copy.dstDevice = (CUdeviceptr)map.data;
    copy.dstPitch = luma_stride (frame);
    fail_unless_equals_int (CuMemcpy2DAsync (&copy, NULL), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);
    gst_buffer_unmap (frame, &map);

    out = gst_harness_push_and_pull (h, frame);
    fail_unless (out != NULL);
    assert_components (out, {2, 0, 0, 2, 1, 0.5, 0.0}, {2, 4, 0, 1, 2, 4.0, 0.5});
    fail_unless_equals_int (device_of (context_of_labels (out)), 1);
    fail_unless (GST_MEMORY_FLAG_IS_SET (
        gst_buffer_peek_memory (out, 0), GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD));
    gst_buffer_unref (out);

    fail_unless (gst_cuda_context_push (context));
    fail_unless_equals_int (CuMemFreeHost (pixels), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);
    gst_harness_teardown (h);
    gst_object_unref (context);
  }
}
GST_END_TEST

/* Page-locked memory that an element of one device proposed, labelled on the other. */
TEST (test_page_locked_memory_of_another_device)
{
  GstCaps *caps = frame_caps ("GRAY8", WIDTH, HEIGHT);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstHarness *first = new_harness ("cudaccl", "cuda-device-id=0", gst_caps_ref (caps));
  GstHarness *second = new_harness ("cudaccl", "cuda-device-id=1", gst_caps_ref (caps));
  GstHarness *cpu = new_harness ("ccl", "", gst_caps_ref (caps));
  GstPad *pad = gst_element_get_static_pad (first->element, "sink");
  GstBuffer *frame, *pixels = new_system_frame ("GRAY8", 5);
  GstBufferPool *pool;
  GstMapInfo map;

  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
  fail_unless (gst_buffer_map (pixels, &map, GST_MAP_READ));
  gst_buffer_fill (frame, 0, map.data, map.size);
  gst_buffer_unmap (pixels, &map);
  GST_BUFFER_PTS (frame) = GST_BUFFER_PTS (pixels);
  gst_buffer_unref (pixels);
  gst_buffer_unref (label_and_compare (cpu, second, frame, "GRAY8"));

  free_pool (pool);
  gst_object_unref (pad);
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (cpu);
  gst_harness_teardown (second);
  gst_harness_teardown (first);
}
GST_END_TEST

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)

/* Frames of both devices in one batch: labelled where they are, or all on the named device. */
TEST (test_batches_of_frames_of_two_devices)
{
  static const char *const choices[] = {"", "cuda-device-id=1", "foreground=otsu"};

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    GstCudaContext *contexts[] = {new_context_on (0), new_context_on (1)};
    GstBufferPool *pools[] = {
        new_cuda_pool (contexts[0], "NV12"), new_cuda_pool (contexts[1], "NV12")};
    GstCaps *caps = gst_caps_from_string (
        "multistream/x-analytics-batch(" GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META ")");
    GstHarness *gpu = new_harness ("cudaccl", choices[i], caps);
    GstHarness *cpu =
        new_harness ("ccl", i == 2 ? choices[i] : "", frame_caps ("NV12", WIDTH, HEIGHT));
    GstBuffer *batch = gst_buffer_new ();
    GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

    meta->n_streams = 4;
    meta->streams = g_new0 (GstAnalyticsBatchStream, 4);
    for (guint k = 0; k < 4; k++) {
      GstAnalyticsBatchStream *stream = &meta->streams[k];

      caps = cuda_caps ("NV12", WIDTH, HEIGHT);
      stream->index = k;
      stream->n_sticky_events = stream->n_objects = 1;
      stream->sticky_events = g_new (GstEvent *, 1);
      stream->sticky_events[0] = gst_event_new_caps (caps);
      stream->objects = g_new (GstMiniObject *, 1);
      stream->objects[0] = GST_MINI_OBJECT_CAST (new_cuda_frame (pools[k / 2], "NV12", k));
      gst_caps_unref (caps);
    }
    batch = gst_harness_push_and_pull (gpu, batch);
    fail_unless (batch != NULL);
    meta = gst_buffer_get_analytics_batch_meta (batch);
    for (guint k = 0; k < 4; k++) {
      GstBuffer *found = GST_BUFFER_CAST (meta->streams[k].objects[0]);
      GstBuffer *expected = gst_harness_push_and_pull (cpu, new_system_frame ("NV12", k));

      assert_same_labels (expected, found);
      fail_unless_equals_int (device_of (context_of_labels (found)), i == 1 ? 1 : k / 2);
      gst_buffer_unref (expected);
    }
    gst_buffer_unref (batch);
    gst_harness_teardown (cpu);
    gst_harness_teardown (gpu);
    for (guint device = 0; device < 2; device++) {
      free_pool (pools[device]);
      gst_object_unref (contexts[device]);
    }
  }
}
GST_END_TEST

#endif

static GstElement *
start_element (const char *property, gint value)
{
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);

  g_object_set (element, property, value, NULL);
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  return element;
}

static GstElement *
start_least_used (void)
{
  return start_element ("cuda-device-choice", 1);
}

static void
stop_element (GstElement **element)
{
  gst_element_set_state (*element, GST_STATE_NULL);
  gst_clear_object (element);
}

TEST (test_least_used_device)
{
  const gint n_devices = count_devices ();
  GstElement *elements[2 * 16] = {NULL}, *named, *another;

  fail_unless (n_devices <= 16);
  for (gint i = 0; i < 2 * n_devices; i++) {
    elements[i] = start_least_used ();
    fail_unless_equals_int (device_of_element (elements[i]), i % n_devices);
  }
  /* The next one is on the device that an element left. */
  stop_element (&elements[1]);
  elements[1] = start_least_used ();
  fail_unless_equals_int (device_of_element (elements[1]), 1);
  /* Elements whose device is named count, too. */
  named = start_element ("cuda-device-id", 0);
  another = start_least_used ();
  fail_unless_equals_int (device_of_element (another), 1);
  /* An element chooses anew at each start. */
  stop_element (&named);
  gst_element_set_state (another, GST_STATE_NULL);
  fail_unless_equals_int (
      gst_element_set_state (another, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  fail_unless_equals_int (device_of_element (another), 0);

  stop_element (&another);
  for (gint i = 0; i < 2 * n_devices; i++)
    stop_element (&elements[i]);
}
GST_END_TEST

static gpointer
start_in_thread (gpointer data)
{
  return start_least_used ();
}

TEST (test_elements_that_start_at_once_are_spread)
{
  const guint n_devices = (guint)count_devices ();
  guint n_elements[16] = {0};
  GThread *threads[3 * 16];

  for (guint i = 0; i < 3 * n_devices; i++)
    threads[i] = g_thread_new ("start", start_in_thread, NULL);
  for (guint i = 0; i < 3 * n_devices; i++) {
    GstElement *element = g_thread_join (threads[i]);
    n_elements[device_of_element (element)]++;
    threads[i] = (gpointer)element;
  }
  for (guint i = 0; i < n_devices; i++)
    fail_unless_equals_int (n_elements[i], 3);
  for (guint i = 0; i < 3 * n_devices; i++)
    stop_element ((GstElement **)&threads[i]);
}
GST_END_TEST

static void
offer_context (GstElement *element, GstCudaContext *context)
{
  GstContext *offer = gst_context_new (GST_CUDA_CONTEXT_TYPE, TRUE);

  gst_structure_set (gst_context_writable_structure (offer), GST_CUDA_CONTEXT_TYPE,
      GST_TYPE_CUDA_CONTEXT, context, "cuda-device-id", G_TYPE_UINT, device_of (context), NULL);
  gst_element_set_context (element, offer);
  gst_context_unref (offer);
}

/* A context that is offered is used if it is on the right device, and only then. */
TEST (test_offered_contexts)
{
  static const struct {
    gint device, choice; /* properties */
    guint used;          /* with the context on device 0 offered, which one element uses */
  } cases[] = {{0, 0, 0}, {1, 0, 1}, {-1, 0, 0}, {-1, 1, 1}};
  GstCudaContext *context = new_context_on (0);
  GstElement *user = start_element ("cuda-device-id", 0);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("cudaccl", NULL);
    GstCudaContext *found;

    g_object_set (
        element, "cuda-device-id", cases[i].device, "cuda-device-choice", cases[i].choice, NULL);
    offer_context (element, context);
    fail_unless_equals_int (
        gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    offer_context (element, context); /* too late */
    found = query_context (element);
    fail_unless_equals_int (device_of (found), cases[i].used);
    fail_unless ((found == context) == (cases[i].used == 0));
    gst_object_unref (found);
    stop_element (&element);
  }
  stop_element (&user);
  gst_object_unref (context);
}
GST_END_TEST

/* Branches of one pipeline, in which the bin passes on the contexts that its elements make. */
TEST (test_branches_of_a_pipeline_are_spread)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=10 ! video/x-raw,format=NV12,width=321,height=243 ! tee name=t "
      "t. ! queue ! cudaccl name=c0 cuda-device-choice=least-used ! fakesink async=false "
      "t. ! queue ! cudaccl name=c1 cuda-device-choice=least-used ! fakesink async=false "
      "t. ! queue ! cudaccl name=c2 cuda-device-choice=least-used ! fakesink async=false "
      "t. ! queue ! cudaccl name=c3 cuda-device-choice=least-used ! fakesink async=false",
      NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  guint n_on_first = 0;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 4; i++) {
    gchar *name = g_strdup_printf ("c%u", i);
    GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

    n_on_first += device_of_element (element) == 0;
    gst_object_unref (element);
    g_free (name);
  }
  if (count_devices () == 2)
    fail_unless_equals_int (n_on_first, 2);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST

/* A thread for each device; half of the frames are copied from the other device. */
static gpointer
label_in_thread (gpointer data)
{
  const guint device = GPOINTER_TO_UINT (data);
  gchar *properties = g_strdup_printf ("foreground=otsu cuda-device-id=%u", device);
  GstCudaContext *contexts[] = {new_context_on (0), new_context_on (1)};
  GstBufferPool *pools[] = {
      new_cuda_pool (contexts[0], "NV12"), new_cuda_pool (contexts[1], "NV12")};
  GstHarness *cpu = new_harness ("ccl", "foreground=otsu", frame_caps ("NV12", WIDTH, HEIGHT));
  GstHarness *gpu = new_harness ("cudaccl", properties, cuda_caps ("NV12", WIDTH, HEIGHT));

  for (guint number = 0; number < 10; number++) {
    GstBuffer *frame = new_cuda_frame (pools[number % 2], "NV12", number);
    GstBuffer *out = label_and_compare (cpu, gpu, frame, "NV12");
    fail_unless_equals_int (device_of (context_of_labels (out)), device);
    gst_buffer_unref (out);
  }
  g_free (properties);
  gst_harness_teardown (gpu);
  gst_harness_teardown (cpu);
  for (guint i = 0; i < 2; i++) {
    free_pool (pools[i]);
    gst_object_unref (contexts[i]);
  }
  return NULL;
}

TEST (test_streams_on_two_devices_at_once)
{
  GThread *threads[2];

  for (guint device = 0; device < 2; device++)
    threads[device] = g_thread_new ("label", label_in_thread, GUINT_TO_POINTER (device));
  for (guint device = 0; device < 2; device++)
    g_thread_join (threads[device]);
}
GST_END_TEST

static Suite *
devices_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tcase = tcase_create ("devices");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_frames_of_system_memory_on_each_device);
  tcase_add_test (tcase, test_frames_are_labelled_where_they_are);
  tcase_add_test (tcase, test_frames_of_another_device_are_copied);
  tcase_add_test (tcase, test_background_starts_anew_on_another_device);
  tcase_add_test (tcase, test_gray8_frames_of_another_device_are_copied);
  tcase_add_test (tcase, test_copies_wait_for_the_other_device);
  tcase_add_test (tcase, test_page_locked_memory_of_another_device);
#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_batches_of_frames_of_two_devices);
#endif
  tcase_add_test (tcase, test_least_used_device);
  tcase_add_test (tcase, test_elements_that_start_at_once_are_spread);
  tcase_add_test (tcase, test_offered_contexts);
  tcase_add_test (tcase, test_branches_of_a_pipeline_are_spread);
  tcase_add_test (tcase, test_streams_on_two_devices_at_once);
  return suite;
}

GST_CHECK_MAIN (devices);
