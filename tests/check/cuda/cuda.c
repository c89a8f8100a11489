/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cudaccl only: frames in CUDA memory, contexts, page-locked memory, and failures of a GPU. The
 * tests run on the libcuda.so.1 that is found, a real or a simulated one; failures can be injected
 * into the simulated one.
 */
#include "cuda-frames.h"
#include "tests/check/shared/leaks.h"
#include "tests/check/shared/skips.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <gst/ccl/ccl.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif
#include <gst/cuda/gstcudautils.h>
#include <unistd.h>

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define TEST(name)                                                                                 \
  GST_START_TEST (name)                                                                            \
  if (!can_run ("cudaccl", #name))                                                                 \
    return;

/* A test that runs only on the simulated driver, where the environment variable CCL_SIMULATED is
 * set. The driver reads its environment once, when it is loaded: nothing may load it before. */
#define SIMULATED_TEST(name) GST_START_TEST (name)

static const char blobs[] = "##....#.\n"
                            "##...#..\n"
                            "........\n"
                            ".#.#....\n"
                            ".###...#\n"
                            ".......#\n";

static const char empty[] = "........\n........\n........\n........\n........\n........\n";

#define BLOBS                                                                                      \
  {4, 0, 0, 2, 2, 0.5, 0.5}, {2, 5, 0, 2, 2, 5.5, 0.5}, {5, 1, 3, 3, 2, 2.0, 3.6},                 \
  {                                                                                                \
    2, 7, 4, 1, 2, 7.0, 4.5                                                                        \
  }

static GstCudaContext *
new_context (void)
{
  return new_context_on (0);
}

static GstHarness *
new_cuda_harness (Drawing drawing)
{
  GstHarness *h = gst_harness_new ("cudaccl");

  gst_harness_set_src_caps (
      h, cuda_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing)));
  return h;
}

static GstBuffer *
label (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}

/* Starts an element with that property; it must fail with an error that has that part. */
static void
assert_does_not_start (const char *property, gint value, const char *part)
{
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);
  GstBus *bus = gst_bus_new ();

  fail_unless (element != NULL);
  gst_element_set_bus (element, bus);
  g_object_set (element, property, value, NULL);
  /* A failed start does not affect the next one. */
  for (guint i = 0; i < 2; i++) {
    fail_unless_equals_int (
        gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "the element ccl does the same without a GPU");
    gst_element_set_state (element, GST_STATE_NULL);
  }
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, part);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_START_TEST (test_no_driver)
{
  if (!is_built ("cudaccl", "test_no_driver"))
    return;
  if (gst_cuda_load_library ()) {
    skip ("test_no_driver", "there is a CUDA driver");
    return;
  }
  assert_does_not_start ("cuda-device-id", -1, "no NVIDIA driver");
}
GST_END_TEST

SIMULATED_TEST (test_no_device)
{
  g_setenv ("SIMCUDA_DEVICES", "0", TRUE);
  assert_does_not_start ("cuda-device-id", -1, "no CUDA device");
}
GST_END_TEST

/* The driver on LD_LIBRARY_PATH; NULL if there is none. */
static gchar *
find_driver (void)
{
  gchar **folders = g_strsplit (g_getenv ("LD_LIBRARY_PATH"), ":", -1), *found = NULL;

  for (guint i = 0; folders[i] && !found; i++) {
    found = g_build_filename (folders[i], "libcuda.so.1", NULL);
    if (!g_file_test (found, G_FILE_TEST_EXISTS))
      g_clear_pointer (&found, g_free);
  }
  g_strfreev (folders);
  return found;
}

/* In a process whose LD_LIBRARY_PATH is an empty folder, which gets the driver. */
static void
start_before_and_after_the_driver (const gchar *driver)
{
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);
  gchar *name = g_build_filename (g_getenv ("LD_LIBRARY_PATH"), "libcuda.so.1", NULL);

  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (symlink (driver, name), 0);
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_free (name);
}

/* The linker reads LD_LIBRARY_PATH when a process starts, so this test runs again in a process of
 * its own, where LATE_DRIVER is the driver's path. */
SIMULATED_TEST (test_driver_that_comes_later)
{
  gchar *arguments[] = {"/proc/self/exe", NULL}, **environment;
  gchar *driver, *folder, *name;
  gint status;

  if (g_getenv ("LATE_DRIVER")) {
    if (!dlopen ("libcuda.so.1", RTLD_LAZY)) /* otherwise a driver is installed here */
      start_before_and_after_the_driver (g_getenv ("LATE_DRIVER"));
    return;
  }
  driver = find_driver ();
  folder = g_dir_make_tmp ("late-driver-XXXXXX", NULL);
  environment = g_environ_setenv (g_get_environ (), "LATE_DRIVER", driver, TRUE);
  environment = g_environ_setenv (environment, "LD_LIBRARY_PATH", folder, TRUE);
  environment = g_environ_setenv (environment, "GST_CHECKS", "test_driver_that_comes_later", TRUE);
  fail_unless (g_spawn_sync (
      NULL, arguments, environment, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
  fail_unless (g_spawn_check_wait_status (status, NULL));
  name = g_build_filename (folder, "libcuda.so.1", NULL);
  g_unlink (name);
  g_rmdir (folder);
  g_strfreev (environment);
  g_free (name);
  g_free (folder);
  g_free (driver);
}
GST_END_TEST

TEST (test_unknown_device)
{
  assert_does_not_start ("cuda-device-id", 99, "no CUDA device 99");
}
GST_END_TEST

SIMULATED_TEST (test_device_too_old)
{
  g_setenv ("SIMCUDA_COMPUTE_CAPABILITY", "61", TRUE);
  assert_does_not_start ("cuda-device-id", -1, "6.1");
}
GST_END_TEST

SIMULATED_TEST (test_least_used_of_devices_too_old)
{
  g_setenv ("SIMCUDA_COMPUTE_CAPABILITY", "61", TRUE);
  assert_does_not_start ("cuda-device-choice", 1, "7.5 or later");
}
GST_END_TEST

TEST (test_gray8_buffer)
{
  static const guint sizes[][2] = {{1, 1}, {3, 2}, {4, 4}, {1919, 1081}, {5, 300}};
  GstCudaContext *context = new_context ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint width = sizes[i][0], height = sizes[i][1];
    GstBuffer *buffer = gst_ccl_cuda_buffer_new_gray8 (context, width, height, NULL);
    GstVideoMeta *meta;
    GstMapInfo map;

    fail_unless (buffer != NULL);
    fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0)));
    meta = gst_buffer_get_video_meta (buffer);
    fail_unless_equals_int (meta->format, GST_VIDEO_FORMAT_GRAY8);
    fail_unless_equals_int (meta->width, width);
    fail_unless_equals_int (meta->height, height);
    fail_unless_equals_int (meta->n_planes, 1);
    fail_unless ((guint)meta->stride[0] >= width);
    fail_unless (gst_buffer_get_size (buffer) >= luma_stride (buffer) * (height - 1) + width);

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    for (guint y = 0; y < height; y++)
      memset (map.data + y * luma_stride (buffer), (int)(y + 1), width);
    gst_buffer_unmap (buffer, &map);
    /* Upload and download. */
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE | GST_MAP_CUDA));
    fail_unless (map.data != NULL);
    gst_buffer_unmap (buffer, &map);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (guint y = 0; y < height; y++) {
      const guint8 *row = map.data + y * luma_stride (buffer);
      fail_unless_equals_int (row[0], (guint8)(y + 1));
      fail_unless (memcmp (row, row + 1, width - 1) == 0);
    }
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_object_unref (context);
}
GST_END_TEST

TEST (test_gray8_frames_in_cuda_memory)
{
  GstCudaContext *context = new_context ();
  GstHarness *h = new_cuda_harness (blobs);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = device_frame (context, blobs), *out = label (h, frame);
    fail_unless (out == frame);
    assert_components (out, BLOBS);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  gst_object_unref (context);
}
GST_END_TEST

typedef struct {
  guint x, y, width, height;
} Rectangle;

#define STREET_WIDTH 320
#define STREET_HEIGHT 120

/* Two thick bars, each with a thin tail beside the other one: their boxes overlap, their pixels do
 * not. */
static GstBuffer *
bars_frame (GstCudaContext *context, guint x)
{
  const Rectangle bars[] = {
      {x, 10, 100, 50}, {x, 60, 5, 50}, {x + 25, 65, 100, 45}, {x + 120, 10, 5, 55}};
  gchar *drawing = g_strnfill ((STREET_WIDTH + 1) * STREET_HEIGHT, '.');
  GstBuffer *frame;

  for (guint y = 0; y < STREET_HEIGHT; y++)
    drawing[y * (STREET_WIDTH + 1) + STREET_WIDTH] = '\n';
  for (guint i = 0; i < G_N_ELEMENTS (bars); i++)
    for (guint y = bars[i].y; y < bars[i].y + bars[i].height; y++)
      memset (&drawing[y * (STREET_WIDTH + 1) + bars[i].x], '#', bars[i].width);
  frame = device_frame (context, drawing);
  g_free (drawing);
  return frame;
}

/* The label of the component that the first track is in. After a rest, both bars move at once, so
 * that the upper one's box is where the lower one's was. */
static guint
label_after_jump (GstCudaContext *context, const char *line)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstCaps *caps = cuda_caps ("GRAY8", STREET_WIDTH, STREET_HEIGHT);
  guint label_of_first = 0;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 10, 1, NULL);
  gst_harness_set_src_caps (h, caps);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *frame = bars_frame (context, i < 19 ? 100 : 125), *out;

    GST_BUFFER_PTS (frame) = i * (GST_SECOND / 10);
    out = label (h, frame);
    if (i >= 2) {
      fail_unless_equals_int (gst_ccl_meta_get_n_rows (gst_buffer_get_ccl_meta (out)), 2);
      label_of_first = gst_ccl_meta_get_component (gst_buffer_get_ccl_meta (out), 0)->label;
    }
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  return label_of_first;
}

/* ccltrack gets rows of the frame, or of the mask that is made of it, from device memory. Tracks
 * are confirmed though nothing travels. */
TEST (test_tracks_of_frames_in_cuda_memory)
{
  GstCudaContext *context = new_context ();

  fail_unless_equals_int (
      label_after_jump (context, "cudaccl threshold=128 ! ccltrack least-way=0 use-mask=false"), 2);
  fail_unless_equals_int (
      label_after_jump (context, "cudaccl threshold=128 ! ccltrack least-way=0"), 1);
  fail_unless_equals_int (
      label_after_jump (context, "cudaccl foreground=otsu ! ccltrack least-way=0"), 1);
  gst_object_unref (context);
}
GST_END_TEST

/* A frame in CUDA memory of a format that GStreamer's allocator may not know. */
static GstBuffer *
described_frame (GstCudaContext *context, const char *format, Drawing drawing)
{
  const guint width = drawing_width (drawing), height = drawing_height (drawing);
  GstBuffer *source = luma_frame (format, drawing), *frame;
  GstMapInfo from, to;
  GstVideoInfo info;
  GstVideoMeta *meta;
  guint n_rows;

  fail_unless (
      gst_video_info_set_format (&info, gst_video_format_from_string (format), width, height));
  n_rows = (guint)GST_VIDEO_INFO_SIZE (&info) / (guint)GST_VIDEO_INFO_PLANE_STRIDE (&info, 0);
  frame = gst_ccl_cuda_buffer_new_gray8 (
      context, (guint)GST_VIDEO_INFO_PLANE_STRIDE (&info, 0), n_rows, NULL);
  meta = gst_buffer_get_video_meta (frame);
  fail_unless (gst_buffer_map (source, &from, GST_MAP_READ));
  fail_unless (gst_buffer_map (frame, &to, GST_MAP_WRITE));
  for (guint y = 0; y < n_rows; y++)
    memcpy (to.data + y * (gsize)meta->stride[0],
        from.data + y * (gsize)GST_VIDEO_INFO_PLANE_STRIDE (&info, 0),
        (gsize)GST_VIDEO_INFO_PLANE_STRIDE (&info, 0));
  gst_buffer_unmap (frame, &to);
  gst_buffer_unmap (source, &from);
  meta->format = GST_VIDEO_INFO_FORMAT (&info);
  meta->width = width;
  meta->height = height;
  meta->n_planes = GST_VIDEO_INFO_N_PLANES (&info);
  meta->stride[1] = meta->stride[0];
  meta->offset[1] = meta->offset[0] + (gsize)meta->stride[0] * height;
  gst_buffer_unref (source);
  return frame;
}

/* Packed frames and frames of 16 bits, labelled as they are and through a foreground mask. */
TEST (test_pixels_of_two_bytes_in_cuda_memory)
{
  static const char *const formats[] = {
      "YUY2", "UYVY", "YVYU", "VYUY", "GRAY16_LE", "P010_10LE", "P012_LE", "P016_LE"};
  GstCudaContext *context = new_context ();

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstHarness *h = gst_harness_new ("cudaccl");
    GstBuffer *out;

    gst_harness_set_src_caps (h, cuda_caps (formats[i / 2], 8, 6));
    g_object_set (h->element, "attach-mask", i % 2 == 1, "threshold", 254, NULL);
    out = label (h, described_frame (context, formats[i / 2], blobs));
    assert_components (out, BLOBS);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
  gst_object_unref (context);
}
GST_END_TEST

/* The background model reads luma and chroma of 16 bits. */
TEST (test_background_of_16_bits_in_cuda_memory)
{
  static const char *const formats[] = {"GRAY16_LE", "P010_10LE", "P012_LE", "P016_LE"};
  GstCudaContext *context = new_context ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = gst_harness_new ("cudaccl");
    GstBuffer *out;

    gst_harness_set_src_caps (h, cuda_caps (formats[i], 8, 6));
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
    for (guint k = 0; k < 3; k++) {
      out = label (h, described_frame (context, formats[i], empty));
      assert_count (out, 0);
      gst_buffer_unref (out);
    }
    out = label (h, described_frame (context, formats[i], blobs));
    assert_components (out, BLOBS);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
  }
  gst_object_unref (context);
}
GST_END_TEST

/* Decoders output these formats; only the luma plane is read. */
TEST (test_planar_frames_in_cuda_memory)
{
  static const char *const formats[] = {"NV12", "I420", "YV12", "Y42B", "Y444"};
  GstCudaContext *context = new_context ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstCaps *caps = cuda_caps (formats[i], 8, 6);
    GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
    GstStructure *config = gst_buffer_pool_get_config (pool);
    GstHarness *h = gst_harness_new ("cudaccl");
    GstBuffer *frame, *out;
    GstMapInfo map;

    gst_buffer_pool_config_set_params (config, caps, 0, 0, 0);
    fail_unless (gst_buffer_pool_set_config (pool, config));
    fail_unless (gst_buffer_pool_set_active (pool, TRUE));
    for (guint with_meta = 0; with_meta < 2; with_meta++) {
      fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
      fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
      memset (map.data, 255, map.size);
      gst_buffer_unmap (frame, &map);
      draw_on_device (blobs, frame);
      /* Without a GstVideoMeta, the layout is that of the memory. */
      if (!with_meta) {
        GstBuffer *bare = gst_buffer_new ();
        gst_buffer_append_memory (bare, gst_buffer_get_memory (frame, 0));
        gst_buffer_unref (frame);
        frame = bare;
      }
      gst_harness_set_src_caps (h, gst_caps_ref (caps));
      out = label (h, frame);
      assert_components (out, BLOBS);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (h);
    gst_buffer_pool_set_active (pool, FALSE);
    gst_object_unref (pool);
    gst_caps_unref (caps);
  }
  gst_object_unref (context);
}
GST_END_TEST

/* Luma is measured in CUDA memory, chroma of a download: ccl measures the same in a copy. The mask
 * of a filter is in CUDA memory, too. */
TEST (test_columns_of_frames_in_cuda_memory)
{
  static const char *const formats[] = {"NV12", "I420", "Y444", "P010_10LE"};
  static const char *const properties[] = {"threshold=180", "threshold=128 denoise=median-3x3"};
  GstCudaContext *context = new_context ();

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (properties); i++) {
    GstCaps *caps = cuda_caps (formats[i / 2], 43, 29);
    GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
    GstStructure *config = gst_buffer_pool_get_config (pool);
    gchar *line = g_strdup_printf (
        "%s attach-columns=moments+perimeter+topology+luma+color", properties[i % 2]);
    gchar *gpu_line = g_strconcat ("cudaccl ", line, NULL),
          *cpu_line = g_strconcat ("ccl ", line, NULL);
    GstHarness *gpu = gst_harness_new_parse (gpu_line), *cpu = gst_harness_new_parse (cpu_line);
    GstBuffer *frame, *copy, *on_gpu, *on_cpu;
    GRand *random = g_rand_new_with_seed (i);
    GstVideoMeta *meta;
    GstMapInfo map;

    gst_buffer_pool_config_set_params (config, caps, 0, 0, 0);
    fail_unless (gst_buffer_pool_set_config (pool, config));
    fail_unless (gst_buffer_pool_set_active (pool, TRUE));
    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    for (gsize k = 0; k < map.size; k++)
      map.data[k] = (guint8)g_rand_int_range (random, 0, 256);
    copy = gst_buffer_new_memdup (map.data, map.size);
    gst_buffer_unmap (frame, &map);
    meta = gst_buffer_get_video_meta (frame);
    gst_buffer_add_video_meta_full (copy, GST_VIDEO_FRAME_FLAG_NONE, meta->format, meta->width,
        meta->height, meta->n_planes, meta->offset, meta->stride);
    gst_harness_set_src_caps (gpu, caps);
    gst_harness_set_src_caps (cpu, frame_caps (formats[i / 2], 43, 29));
    on_gpu = label (gpu, frame);
    on_cpu = label (cpu, copy);
    fail_unless (assert_same_columns (on_gpu, on_cpu) > 0);
    gst_buffer_unref (on_gpu);
    gst_buffer_unref (on_cpu);
    gst_harness_teardown (gpu);
    gst_harness_teardown (cpu);
    gst_buffer_pool_set_active (pool, FALSE);
    gst_object_unref (pool);
    g_rand_free (random);
    g_free (gpu_line);
    g_free (cpu_line);
    g_free (line);
  }
  gst_object_unref (context);
}
GST_END_TEST

/* Device memory of an application, and the number of calls of its destroy notify. */
typedef struct {
  GstCudaContext *context;
  CUdeviceptr data;
  guint n_notified;
} ApplicationMemory;

static void
free_application_memory (gpointer data)
{
  ApplicationMemory *memory = data;

  memory->n_notified++;
  fail_unless (gst_cuda_context_push (memory->context));
  fail_unless_equals_int (CuMemFree (memory->data), CUDA_SUCCESS);
  gst_cuda_context_pop (NULL);
}

/* The memory ends with the last pixel. */
static GstBuffer *
wrapped_frame (ApplicationMemory *memory, Drawing drawing, gsize stride)
{
  guint width = drawing_width (drawing), height = drawing_height (drawing);
  guint8 *pixels = g_malloc (stride * height);
  CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_HOST,
      .srcPitch = width,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstPitch = width,
      .WidthInBytes = width,
      .Height = 1,
  };
  GstBuffer *buffer;

  draw (drawing, pixels, stride);
  fail_unless (gst_cuda_context_push (memory->context));
  fail_unless_equals_int (
      CuMemAlloc (&memory->data, (guint)(stride * (height - 1) + width)), CUDA_SUCCESS);
  /* Row by row: a copy of all rows at once needs memory for the full pitch of the last row. */
  for (guint y = 0; y < height; y++) {
    copy.srcHost = pixels + y * stride;
    copy.dstDevice = memory->data + y * stride;
    fail_unless_equals_int (CuMemcpy2D (&copy), CUDA_SUCCESS);
  }
  gst_cuda_context_pop (NULL);
  g_free (pixels);

  buffer = gst_ccl_cuda_buffer_new_gray8_wrapped (
      memory->context, memory->data, stride, width, height, memory, free_application_memory, NULL);
  fail_unless (buffer != NULL);
  return buffer;
}

TEST (test_wrapped_device_pointer)
{
  for (gsize stride = 8; stride < 40; stride += 7) {
    ApplicationMemory memory = {.context = new_context ()};
    GstBuffer *frame = wrapped_frame (&memory, blobs, stride), *out;
    GstHarness *h = new_cuda_harness (blobs);
    GstMapInfo map;

    fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (frame, 0)));
    fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ | GST_MAP_CUDA));
    fail_unless (map.data == (guint8 *)(guintptr)memory.data);
    gst_buffer_unmap (frame, &map);
    out = label (h, frame);
    assert_components (out, BLOBS);
    gst_harness_teardown (h);
    fail_unless_equals_int (memory.n_notified, 0);
    gst_buffer_unref (out);
    fail_unless_equals_int (memory.n_notified, 1);
    gst_object_unref (memory.context);
  }
}
GST_END_TEST

#if GST_CHECK_VERSION(1, 24, 0)

/* Memory may have a stream on which it is still being written. The simulated driver does not start
 * the copy before a caller waits for it. */
TEST (test_frames_still_being_written)
{
  guint width = drawing_width (blobs), height = drawing_height (blobs);
  GstHarness *h = new_cuda_harness (blobs);

  for (guint i = 0; i < 3; i++) {
    ApplicationMemory memory = {.context = new_context ()};
    GstCudaStream *stream = gst_cuda_stream_new (memory.context);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .WidthInBytes = width,
        .Height = height,
    };
    GstBuffer *frame = gst_buffer_new (), *out;
    GstMemory *mapped;
    GstVideoInfo info;
    gpointer pixels;

    fail_unless (gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height));
    copy.srcPitch = copy.dstPitch = (gsize)GST_VIDEO_INFO_PLANE_STRIDE (&info, 0);
    fail_unless (gst_cuda_context_push (memory.context));
    fail_unless_equals_int (
        CuMemAlloc (&memory.data, (guint)GST_VIDEO_INFO_SIZE (&info)), CUDA_SUCCESS);
    fail_unless_equals_int (
        CuMemAllocHost (&pixels, (guint)GST_VIDEO_INFO_SIZE (&info)), CUDA_SUCCESS);
    draw (blobs, pixels, copy.srcPitch);
    copy.srcHost = pixels;
    copy.dstDevice = memory.data;
    fail_unless_equals_int (
        CuMemcpy2DAsync (&copy, gst_cuda_stream_get_handle (stream)), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);

    mapped = gst_cuda_allocator_alloc_wrapped (
        NULL, memory.context, stream, &info, memory.data, &memory, free_application_memory);
    fail_unless (mapped != NULL);
    GST_MINI_OBJECT_FLAG_SET (mapped, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
    gst_buffer_append_memory (frame, mapped);
    out = label (h, frame);
    assert_components (out, BLOBS);
    gst_buffer_unref (out);

    fail_unless (gst_cuda_context_push (memory.context));
    fail_unless_equals_int (CuMemFreeHost (pixels), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);
    gst_cuda_stream_unref (stream);
    gst_object_unref (memory.context);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

#endif

#if GST_CHECK_VERSION(1, 26, 0)

/* Memory of a pool that allocates and frees it in the order of a stream. A frame that is given back
 * is allocated anew, while its labels are in use. */
TEST (test_stream_ordered_frames)
{
  GstCudaContext *context = new_context ();
  GstCudaStream *stream = gst_cuda_stream_new (context);
  GstCaps *caps = cuda_caps ("NV12", 8, 6);
  GstHarness *h = gst_harness_new_parse ("cudaccl attach-labels=true");

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  for (guint round = 0; round < 2; round++) {
    GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
    GstStructure *config = gst_buffer_pool_get_config (pool);

    gst_buffer_pool_config_set_params (config, caps, 0, 0, 0);
    gst_buffer_pool_config_set_cuda_stream (config, stream);
    gst_buffer_pool_config_set_cuda_stream_ordered_alloc (config, TRUE);
    fail_unless (gst_buffer_pool_set_config (pool, config));
    fail_unless (gst_buffer_pool_set_active (pool, TRUE));
    for (guint i = 0; i < 3; i++) {
      GstBuffer *frame, *out;
      GstMapInfo map;

      fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
      fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
      memset (map.data, 0, map.size);
      gst_buffer_unmap (frame, &map);
      draw_on_device (blobs, frame);
      out = label (h, frame);
      assert_components (out, BLOBS);
      gst_buffer_unref (out);
    }
    gst_buffer_pool_set_active (pool, FALSE);
    gst_object_unref (pool);
  }
  gst_harness_teardown (h);
  gst_caps_unref (caps);
  gst_cuda_stream_unref (stream);
  gst_object_unref (context);
}
GST_END_TEST

#endif

/* Memory without a stream may still be written on the legacy default stream, here by a copy that
 * the simulated driver does not start before a caller waits for it. */
TEST (test_frames_being_written_on_the_legacy_stream)
{
  static const char *const uses[] = {
      "cudaccl", "cudaccl attach-mask=true", "cudaccl foreground=otsu"};

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    ApplicationMemory memory = {.context = new_context ()};
    GstHarness *h = gst_harness_new_parse (uses[i]);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcPitch = 8,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstPitch = 8,
        .WidthInBytes = 8,
        .Height = 6,
    };
    GstBuffer *frame, *out;
    gpointer pixels;

    gst_harness_set_src_caps (h, cuda_caps ("GRAY8", 8, 6));
    fail_unless (gst_cuda_context_push (memory.context));
    fail_unless_equals_int (CuMemAlloc (&memory.data, 8 * 6), CUDA_SUCCESS);
    fail_unless_equals_int (CuMemAllocHost (&pixels, 8 * 6), CUDA_SUCCESS);
    draw (blobs, pixels, 8);
    copy.srcHost = pixels;
    copy.dstDevice = memory.data;
    fail_unless_equals_int (CuMemcpy2DAsync (&copy, NULL), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);

    frame = gst_ccl_cuda_buffer_new_gray8_wrapped (
        memory.context, memory.data, 8, 8, 6, &memory, free_application_memory, NULL);
    out = label (h, frame);
    assert_components (out, BLOBS);
    gst_buffer_unref (out);

    fail_unless (gst_cuda_context_push (memory.context));
    fail_unless_equals_int (CuMemFreeHost (pixels), CUDA_SUCCESS);
    gst_cuda_context_pop (NULL);
    gst_harness_teardown (h);
    gst_object_unref (memory.context);
  }
}
GST_END_TEST

TEST (test_wrapped_memory_on_the_cpu)
{
  static const char other[] = "........\n........\n........\n........\n........\n......##\n";
  ApplicationMemory memory = {.context = new_context ()};
  GstBuffer *frame = wrapped_frame (&memory, blobs, 19), *out;
  GstHarness *h = new_cuda_harness (blobs);
  guint8 expected[19 * 6];
  GstMapInfo map;

  draw (blobs, expected, 19);
  fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ));
  for (guint y = 0; y < 6; y++)
    fail_unless (memcmp (map.data + 19 * y, expected + 19 * y, 8) == 0);
  gst_buffer_unmap (frame, &map);

  /* Pixels that the CPU writes are uploaded. */
  draw_on_device (other, frame);
  out = label (h, frame);
  assert_components (out, {2, 6, 5, 2, 1, 6.5, 5.0});
  gst_buffer_unref (out);
  fail_unless_equals_int (memory.n_notified, 1);
  gst_harness_teardown (h);
  gst_object_unref (memory.context);
}
GST_END_TEST

TEST (test_copy_of_wrapped_memory)
{
  ApplicationMemory memory = {.context = new_context ()};
  guint64 n_before = count_device_memory ();
  GstBuffer *frame = wrapped_frame (&memory, blobs, 19);
  GstBuffer *copy = gst_buffer_copy_deep (frame), *out;
  GstHarness *h = new_cuda_harness (blobs);

  fail_unless (copy != NULL);
  gst_buffer_unref (frame);
  fail_unless_equals_int (memory.n_notified, 1);
  fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (copy, 0)));
  out = label (h, copy);
  assert_components (out, BLOBS);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  fail_unless_equals_uint64 (count_device_memory (), n_before);
  gst_object_unref (memory.context);
}
GST_END_TEST

/* Without a notify, the memory belongs to the caller throughout. */
TEST (test_wrapped_memory_without_notify)
{
  GstCudaContext *context = new_context ();
  GstBuffer *buffer;
  CUdeviceptr data;

  fail_unless (gst_cuda_context_push (context));
  fail_unless_equals_int (CuMemAlloc (&data, 64), CUDA_SUCCESS);
  buffer = gst_ccl_cuda_buffer_new_gray8_wrapped (context, data, 8, 8, 8, NULL, NULL, NULL);
  fail_unless (buffer != NULL);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (CuMemFree (data), CUDA_SUCCESS);
  gst_cuda_context_pop (NULL);
  gst_object_unref (context);
}
GST_END_TEST

TEST (test_helpers_check_their_arguments)
{
  GstCudaContext *context = new_context ();

  ASSERT_CRITICAL (gst_ccl_cuda_buffer_new_gray8 (NULL, 8, 6, NULL));
  ASSERT_CRITICAL (gst_ccl_cuda_buffer_new_gray8 (context, 0, 6, NULL));
  ASSERT_CRITICAL (gst_ccl_cuda_buffer_new_gray8 (context, 8, 0, NULL));
  ASSERT_CRITICAL (gst_ccl_cuda_buffer_new_gray8_wrapped (context, 0, 8, 8, 6, NULL, NULL, NULL));
  ASSERT_CRITICAL (gst_ccl_cuda_buffer_new_gray8_wrapped (context, 256, 7, 8, 6, NULL, NULL, NULL));
  gst_object_unref (context);
}
GST_END_TEST

TEST (test_label_map_is_in_cuda_memory)
{
  GstHarness *h = gst_harness_new ("cudaccl");
  GstBuffer *out, *labels;
  GstMapInfo map;
  gsize stride;

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (blobs));
  labels = gst_ccl_meta_get_labels (gst_buffer_get_ccl_meta (out), &stride);
  fail_unless (gst_is_cuda_memory (gst_buffer_peek_memory (labels, 0)));
  fail_unless (gst_buffer_map (labels, &map, GST_MAP_READ));
  fail_unless_equals_int (((guint32 *)map.data)[6], 2);
  fail_unless_equals_int (((guint32 *)(map.data + 5 * stride))[7], 4);
  fail_unless_equals_int (((guint32 *)(map.data + 5 * stride))[6], 0);
  gst_buffer_unmap (labels, &map);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Frames of two contexts in turn, and of system memory in between. A frame is labelled in the
 * context of its memory, which is also that of its label map. */
TEST (test_frames_of_several_contexts)
{
  GstCudaContext *contexts[] = {new_context (), new_context ()};
  GstHarness *h = new_cuda_harness (blobs);

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *frame = i % 3 == 2 ? gray8_frame (blobs) : device_frame (contexts[i % 3], blobs);
    GstBuffer *out = label (h, frame);
    assert_components (out, BLOBS);
    if (i % 3 != 2)
      fail_unless (context_of_labels (out) == contexts[i % 3]);
    else
      fail_if (context_of_labels (out) == contexts[0] || context_of_labels (out) == contexts[1]);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  gst_object_unref (contexts[0]);
  gst_object_unref (contexts[1]);
}
GST_END_TEST

/* A frame of the first or second context, or of system memory. */
static GstBuffer *
frame_of_turn (GstCudaContext *const contexts[2], guint turn, Drawing drawing)
{
  return turn % 3 == 2 ? gray8_frame (drawing) : device_frame (contexts[turn % 3], drawing);
}

/* Frames of two contexts of one GPU in turn, as from decoders with contexts of their own, and of
 * system memory in between: the background model stays. */
TEST (test_background_of_frames_of_several_contexts)
{
  GstCudaContext *contexts[] = {new_context (), new_context ()};

  for (guint last = 6; last < 9; last++) {
    GstHarness *h = new_cuda_harness (blobs);
    GstBus *bus = gst_bus_new ();
    GstBuffer *out;

    gst_element_set_bus (h->element, bus);
    gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
    for (guint turn = 0; turn < last; turn++) {
      out = label (h, frame_of_turn (contexts, turn, empty));
      assert_count (out, 0);
      gst_buffer_unref (out);
    }
    out = label (h, frame_of_turn (contexts, last, blobs));
    assert_components (out, BLOBS);
    gst_buffer_unref (out);
    assert_warning (bus, 0, 0, NULL);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
  }
  gst_object_unref (contexts[0]);
  gst_object_unref (contexts[1]);
}
GST_END_TEST

#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)

/* A batch of a frame of each context, as from decoders with contexts of their own. */
static GstBuffer *
new_batch (GstCudaContext *const contexts[2], Drawing drawing)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

  meta->n_streams = 2;
  meta->streams = g_new0 (GstAnalyticsBatchStream, 2);
  for (guint i = 0; i < 2; i++) {
    GstAnalyticsBatchStream *stream = &meta->streams[i];
    GstCaps *caps = cuda_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing));

    stream->index = i;
    stream->n_sticky_events = stream->n_objects = 1;
    stream->sticky_events = g_new (GstEvent *, 1);
    stream->sticky_events[0] = gst_event_new_caps (caps);
    stream->objects = g_new (GstMiniObject *, 1);
    stream->objects[0] = GST_MINI_OBJECT_CAST (device_frame (contexts[i], drawing));
    gst_caps_unref (caps);
  }
  return batch;
}

/* Each stream of a batch has a background model in the context of its frames. */
TEST (test_background_of_a_batch_of_several_contexts)
{
  GstCudaContext *contexts[] = {new_context (), new_context ()};
  GstHarness *h = gst_harness_new ("cudaccl");
  GstAnalyticsBatchMeta *meta;
  GstBuffer *out;

  g_object_set (h->element, "attach-labels", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "foreground", "mog2");
  gst_harness_set_src_caps_str (
      h, "multistream/x-analytics-batch(" GST_CAPS_FEATURE_META_GST_ANALYTICS_BATCH_META ")");
  for (guint turn = 0; turn < 4; turn++)
    gst_buffer_unref (label (h, new_batch (contexts, empty)));
  out = label (h, new_batch (contexts, blobs));
  meta = gst_buffer_get_analytics_batch_meta (out);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *frame = GST_BUFFER_CAST (meta->streams[i].objects[0]);

    assert_components (frame, BLOBS);
    fail_unless (context_of_labels (frame) == contexts[i]);
  }
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  gst_object_unref (contexts[0]);
  gst_object_unref (contexts[1]);
}
GST_END_TEST

#endif

/* The context of an application is used, and passed on to other elements. */
TEST (test_context_is_shared)
{
  GstCudaContext *context = new_context (), *found;
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);
  GstContext *offer = gst_context_new (GST_CUDA_CONTEXT_TYPE, TRUE);

  gst_structure_set (gst_context_writable_structure (offer), GST_CUDA_CONTEXT_TYPE,
      GST_TYPE_CUDA_CONTEXT, context, "cuda-device-id", G_TYPE_UINT, 0, NULL);
  gst_element_set_context (element, offer);
  gst_context_unref (offer);
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  found = query_context (element);
  fail_unless (found == context);
  gst_object_unref (found);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (context);
}
GST_END_TEST

static GstQuery *
query_allocation (GstHarness *h, GstCaps *caps)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");

  fail_unless (gst_pad_query (sink, query));
  gst_object_unref (sink);
  return query;
}

/* Frames of the proposed pool are labelled, and outlive the element. */
TEST (test_page_locked_pool)
{
  GstHarness *h = gst_harness_new ("cudaccl");
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);
  GstBuffer *frame, *out;
  GstBufferPool *pool;
  GstQuery *query;
  GstMapInfo map;
  guint size;

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  query = query_allocation (h, caps);
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 1);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, NULL, NULL);
  fail_unless_equals_int (size, 48);
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  draw (blobs, map.data, 8);
  gst_buffer_unmap (frame, &map);
  out = label (h, frame);
  assert_components (out, BLOBS);
  gst_harness_teardown (h);
  gst_query_unref (query);

  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  fail_unless_equals_int (map.data[0], 255);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_caps_unref (caps);
}
GST_END_TEST

TEST (test_page_locked_memory_is_ordinary_memory)
{
  GstHarness *h = gst_harness_new ("cudaccl");
  GstCaps *caps = frame_caps ("GRAY8", 8, 6);
  GstAllocationParams params = {.align = 63,
      .prefix = 10,
      .padding = 20,
      .flags = GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED};
  guint64 n_before;
  GstAllocationParams strict = {.align = 65535};
  GstAllocator *allocator;
  GstMemory *memory, *part;
  GstMapInfo map;
  GstQuery *query;

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  query = query_allocation (h, caps);
  fail_unless (gst_query_get_n_allocation_params (query) >= 1);
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);

  n_before = count_device_memory ();
  memory = gst_allocator_alloc (allocator, 100, &params);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READWRITE));
  fail_unless_equals_int (map.size, 100);
  fail_unless_equals_int (map.data[-10] + map.data[-1] + map.data[100] + map.data[119], 0);
  memset (map.data, 7, 100);
  gst_memory_unmap (memory, &map);
  part = gst_memory_share (memory, 40, 10);
  gst_memory_unref (memory);
  fail_unless (gst_memory_map (part, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, 10);
  fail_unless_equals_int (map.data[9], 7);
  gst_memory_unmap (part, &map);
  gst_memory_unref (part);
  fail_unless_equals_uint64 (count_device_memory (), n_before);

  /* Memory that the driver does not offer is ordinary memory. */
  memory = gst_allocator_alloc (allocator, 100, &strict);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  fail_unless_equals_int ((guintptr)map.data % 65536, 0);
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);

  gst_object_unref (allocator);
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

TEST (test_no_pool_for_cuda_memory)
{
  GstHarness *h = gst_harness_new ("cudaccl");
  GstCaps *caps = cuda_caps ("NV12", 8, 6);
  GstQuery *query;

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  query = query_allocation (h, caps);
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 0);
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

/* videotestsrc uses the proposed pool. */
TEST (test_pipeline_from_system_memory)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=321,height=243 ! cudaccl ! "
      "ccljson ! fakesink",
      NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST

/* Memory that was allocated as RGBA and has no GstVideoMeta is a quarter as wide. */
TEST (test_cuda_frames_smaller_than_their_caps)
{
  GstCudaContext *context = new_context ();
  GstHarness *h = new_cuda_harness (blobs);
  GstBus *bus = gst_bus_new ();
  GstBuffer *frame = device_frame (context, blobs), *out;

  gst_element_set_bus (h->element, bus);
  gst_buffer_remove_meta (frame, (GstMeta *)gst_buffer_get_video_meta (frame));
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "2×6");

  frame = device_frame (context, blobs);
  gst_buffer_get_video_meta (frame)->offset[0] = gst_buffer_get_size (frame) - 1;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  assert_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "smaller than its caps");

  out = label (h, device_frame (context, blobs));
  assert_components (out, BLOBS);
  gst_buffer_unref (out);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  gst_object_unref (context);
}
GST_END_TEST

/* An algorithm that lacks the connectivity is an error of the settings. */
TEST (test_algorithm_without_the_connectivity)
{
  GstHarness *h = gst_harness_new_parse ("cudaccl algorithm=bke connectivity=4");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  fail_unless_equals_int (gst_harness_push (h, gray8_frame (blobs)), GST_FLOW_ERROR);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "bke");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

static GstFlowReturn
push_large_frame (GstHarness *h, guint width, guint height)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, (gsize)width * height, NULL);

  gst_buffer_memset (frame, 0, 0, (gsize)-1);
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", width, height));
  return gst_harness_push (h, frame);
}

SIMULATED_TEST (test_device_memory_exhausted)
{
  GstHarness *h;
  GstBus *bus;
  GstBuffer *out;

  g_setenv ("SIMCUDA_MEMORY_MIB", "16", TRUE);
  h = gst_harness_new ("cudaccl");
  bus = gst_bus_new ();
  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (push_large_frame (h, 8192, 4096), GST_FLOW_ERROR);
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, NULL);

  /* No memory stays allocated, so a small frame fits. */
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  out = label (h, gray8_frame (blobs));
  assert_components (out, BLOBS);
  gst_buffer_unref (out);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The device has memory for two labellers: a leak of a labeller or label map would be an error. */
SIMULATED_TEST (test_state_cycles_leak_no_device_memory)
{
  GstElement *element;

  g_setenv ("SIMCUDA_MEMORY_MIB", "24", TRUE);
  element = gst_element_factory_make ("cudaccl", NULL);
  g_object_set (element, "attach-labels", TRUE, NULL);
  for (guint round = 0; round < 20; round++) {
    GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
    fail_unless_equals_int (push_large_frame (h, 640, 480), GST_FLOW_OK);
    fail_unless_equals_int (push_large_frame (h, 480, 640), GST_FLOW_OK);
    gst_harness_teardown (h);
  }
  gst_object_unref (element);
}
GST_END_TEST

static const char *const fault_kinds[] = {"allocate", "copy", "launch", "synchronise", "create"};
#define N_FAULTS_OF_A_KIND 12

/* Starts the element, labels three frames and stops it; returns whether there was no error. Errors
 * are on the bus. */
static gboolean
label_three (GstElement *element, GstBus *bus)
{
  gboolean is_labelled = TRUE;
  GstHarness *h;

  gst_element_set_bus (element, bus);
  if (gst_element_set_state (element, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE) {
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    return FALSE;
  }
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps (h, frame_caps ("GRAY8", 8, 6));
  for (guint i = 0; i < 3 && is_labelled; i++) {
    is_labelled = gst_harness_push (h, gray8_frame (blobs)) == GST_FLOW_OK;
    if (is_labelled) {
      GstBuffer *out = gst_harness_pull (h);
      assert_components (out, BLOBS);
      gst_buffer_unref (out);
    }
  }
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (h);
  return is_labelled;
}

/* One call of the driver fails once. The element posts an error of the domain RESOURCE, which names
 * CUDA's error if the call was the library's, and works again after the state NULL. */
SIMULATED_TEST (test_a_call_fails)
{
  /* An unknown error, which does not destroy the context. */
  gchar *fault = g_strdup_printf (
      "%s:%d:999", fault_kinds[__i__ / N_FAULTS_OF_A_KIND], __i__ % N_FAULTS_OF_A_KIND + 1);
  GstBus *bus = gst_bus_new ();
  GstElement *element;

  g_setenv ("SIMCUDA_FAULT", fault, TRUE);
  element = gst_element_factory_make ("cudaccl", NULL);
  g_object_set (element, "attach-labels", TRUE, NULL);
  /* A run with fewer calls of that kind has no fault. */
  if (!label_three (element, bus)) {
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    GError *error;

    fail_unless (message != NULL, "%s: no error", fault);
    gst_message_parse_error (message, &error, NULL);
    GST_INFO ("%s: %s", fault, error->message);
    fail_unless (error->domain == GST_RESOURCE_ERROR, "%s: %s", fault, error->message);
    fail_unless (strstr (error->message, "CUDA_ERROR_UNKNOWN") ||
                     strstr (error->message, "no CUDA device that works") ||
                     strstr (error->message, "No device memory for a label map"),
        "%s: %s", fault, error->message);
    g_error_free (error);
    gst_message_unref (message);
    fail_unless (label_three (element, bus), "%s: the element does not recover", fault);
  }
  gst_object_unref (element);
  gst_object_unref (bus);
  g_free (fault);
}
GST_END_TEST

/* A device that is lost causes errors, but no crash and no hang. */
SIMULATED_TEST (test_device_is_lost)
{
  GstElement *element;
  GstBus *bus = gst_bus_new ();

  g_setenv ("SIMCUDA_FAULT", "synchronise:1:700:lost", TRUE);
  element = gst_element_factory_make ("cudaccl", NULL);
  fail_if (label_three (element, bus));
  assert_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS");
  gst_element_set_bus (element, bus);
  fail_unless_equals_int (
      gst_element_set_state (element, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST

static TCase *
simulated_tcase (void)
{
  TCase *tcase = tcase_create ("simulated");

  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_no_device);
  tcase_add_test (tcase, test_driver_that_comes_later);
  tcase_add_test (tcase, test_device_too_old);
  tcase_add_test (tcase, test_least_used_of_devices_too_old);
  tcase_add_test (tcase, test_device_memory_exhausted);
  tcase_add_test (tcase, test_state_cycles_leak_no_device_memory);
  tcase_add_loop_test (
      tcase, test_a_call_fails, 0, (int)G_N_ELEMENTS (fault_kinds) * N_FAULTS_OF_A_KIND);
  return tcase;
}

static TCase *
lost_device_tcase (void)
{
  TCase *tcase = tcase_create ("lost device");

  tcase_add_checked_fixture (tcase, NULL, assert_no_object_leaks);
  tcase_add_test (tcase, test_device_is_lost);
  return tcase;
}

static Suite *
cuda_suite (void)
{
  Suite *suite = suite_create ("cuda");
  TCase *tcase = tcase_create ("cuda");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_no_driver);
  tcase_add_test (tcase, test_unknown_device);
  tcase_add_test (tcase, test_gray8_buffer);
  tcase_add_test (tcase, test_gray8_frames_in_cuda_memory);
  tcase_add_test (tcase, test_tracks_of_frames_in_cuda_memory);
  tcase_add_test (tcase, test_planar_frames_in_cuda_memory);
  tcase_add_test (tcase, test_columns_of_frames_in_cuda_memory);
  tcase_add_test (tcase, test_pixels_of_two_bytes_in_cuda_memory);
  tcase_add_test (tcase, test_background_of_16_bits_in_cuda_memory);
  tcase_add_test (tcase, test_wrapped_device_pointer);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tcase, test_frames_still_being_written);
#endif
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tcase, test_stream_ordered_frames);
#endif
  tcase_add_test (tcase, test_frames_being_written_on_the_legacy_stream);
  tcase_add_test (tcase, test_wrapped_memory_on_the_cpu);
  tcase_add_test (tcase, test_copy_of_wrapped_memory);
  tcase_add_test (tcase, test_wrapped_memory_without_notify);
  tcase_add_test (tcase, test_helpers_check_their_arguments);
  tcase_add_test (tcase, test_label_map_is_in_cuda_memory);
  tcase_add_test (tcase, test_frames_of_several_contexts);
  tcase_add_test (tcase, test_background_of_frames_of_several_contexts);
#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_background_of_a_batch_of_several_contexts);
#endif
  tcase_add_test (tcase, test_context_is_shared);
  tcase_add_test (tcase, test_page_locked_pool);
  tcase_add_test (tcase, test_page_locked_memory_is_ordinary_memory);
  tcase_add_test (tcase, test_no_pool_for_cuda_memory);
  tcase_add_test (tcase, test_pipeline_from_system_memory);
  tcase_add_test (tcase, test_cuda_frames_smaller_than_their_caps);
  tcase_add_test (tcase, test_algorithm_without_the_connectivity);
  if (g_getenv ("CCL_SIMULATED")) {
    suite_add_tcase (suite, simulated_tcase ());
    suite_add_tcase (suite, lost_device_tcase ());
  }
  return suite;
}

GST_CHECK_MAIN (cuda);
