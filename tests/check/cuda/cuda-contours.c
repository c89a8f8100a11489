/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cudaccl only: contours of frames, found on the GPU, are those that ccl finds. On the simulated
 * driver, calls are counted: which processor found them.
 */
#include "cuda-frames.h"
#include "tests/check/shared/leaks.h"
#include "simcuda.h"
#include "tests/check/shared/skips.h"

#include <dlfcn.h>

#define TEST(name)                                                                                 \
  GST_START_TEST (name)                                                                            \
  if (!can_run ("cudaccl", #name))                                                                 \
    return;

/* A test that runs only on the simulated driver, where the environment variable CCL_SIMULATED is
 * set. The driver reads its environment once, when it is loaded: nothing may load it before. */
#define SIMULATED_TEST(name) GST_START_TEST (name)

/* A component in the hole of another one, one at the frame's edge, and pixels that touch at
 * corners.
 */
static const char nested[] = "#########..\n"
                             "#.......#.#\n"
                             "#.###...#..\n"
                             "#.#.#.#.#.#\n"
                             "#.###..##..\n"
                             "#......##.#\n"
                             "#########..\n";
static const char dot[] = "#\n";
static const char nothing[] = ".....\n.....\n";

/* A frame of noise, of which that part in 100 is foreground. */
static gchar *
draw_noise (guint width, guint height, guint percent)
{
  GRand *random = g_rand_new_with_seed (width + percent);
  gchar *drawing = g_strnfill ((width + 1) * height, '.');

  for (guint y = 0; y < height; y++) {
    gchar *row = drawing + y * (width + 1);
    for (guint x = 0; x < width; x++)
      if ((guint)g_rand_int_range (random, 0, 100) < percent)
        row[x] = '#';
    row[width] = '\n';
  }
  g_rand_free (random);
  return drawing;
}

static GstBuffer *
label (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}

static GstHarness *
new_harness (const gchar *element, const gchar *properties, GstCaps *caps)
{
  gchar *line = g_strdup_printf ("%s %s", element, properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_set_src_caps (h, caps);
  return h;
}

static GstCaps *
gray8_caps (Drawing drawing)
{
  return frame_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing));
}

/* Compares the contours of a frame that cudaccl has labelled, which it takes, with those of ccl. */
static void
compare_with_ccl (GstBuffer *found, const gchar *properties, Drawing drawing)
{
  GstHarness *h = new_harness ("ccl", properties, gray8_caps (drawing));
  GstBuffer *expected = label (h, gray8_frame (drawing));

  assert_same_contours (expected, found, properties);
  gst_buffer_unref (expected);
  gst_buffer_unref (found);
  gst_harness_teardown (h);
}

/* Two frames in system memory and two in device memory. */
static void
compare (GstCudaContext *context, const gchar *properties, const gchar *of_cudaccl, Drawing drawing)
{
  gchar *all = g_strdup_printf ("%s %s", properties, of_cudaccl);

  for (guint in_device = 0; in_device < 2; in_device++) {
    GstHarness *h = new_harness ("cudaccl", all,
        in_device ? cuda_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing))
                  : gray8_caps (drawing));

    for (guint i = 0; i < 2; i++) {
      GstBuffer *frame = in_device ? device_frame (context, drawing) : gray8_frame (drawing);
      compare_with_ccl (label (h, frame), properties, drawing);
    }
    gst_harness_teardown (h);
  }
  g_free (all);
}

enum { N_DRAWINGS = 5 };

TEST (test_contours_of_ccl)
{
  static const gchar *const uses[] = {
      "",
      "contour-tolerance=0",
      "contour-tolerance=1.5 min-area=3",
      "attach-labels=true max-components=2",
      "foreground=otsu",
      "foreground=otsu denoise=median-3x3 attach-mask=true",
  };
  gchar *sparse = draw_noise (67, 21, 25), *dense = draw_noise (33, 17, 55);
  const Drawing drawings[N_DRAWINGS] = {nested, dot, nothing, sparse, dense};
  GstCudaContext *context = new_context_on (0);

  for (guint i = 0; i < 4 * G_N_ELEMENTS (uses); i++) {
    gchar *properties = g_strdup_printf ("attach-contours=%s connectivity=%d %s",
        i & 1 ? "cracks" : "pixels", i & 2 ? 4 : 8, uses[i / 4]);

    compare (context, properties, i < 2 ? "algorithm=bke" : "", drawings[__i__]);
    g_free (properties);
  }
  g_free (sparse);
  g_free (dense);
  gst_object_unref (context);
}
GST_END_TEST

/* The memory for contours on the GPU is that of the present kind, connectivity and size. */
TEST (test_changes_while_playing)
{
  static const gchar *const kinds[] = {"none", "pixels", "cracks", "none", "cracks"};
  gchar *noise = draw_noise (50, 20, 40);
  GstHarness *h = new_harness ("cudaccl", "", gray8_caps (nested));

  for (guint i = 0; i < 20; i++) {
    const Drawing drawing = i / 5 % 2 ? noise : nested;
    const gint connectivity = i / 2 % 2 ? 4 : 8;
    gchar *properties = g_strdup_printf (
        "attach-contours=%s connectivity=%d", kinds[i % G_N_ELEMENTS (kinds)], connectivity);
    GstElement *element = gst_harness_find_element (h, "cudaccl");
    GstBuffer *out;

    gst_util_set_object_arg (
        G_OBJECT (element), "attach-contours", kinds[i % G_N_ELEMENTS (kinds)]);
    g_object_set (element, "connectivity", connectivity, NULL);
    gst_object_unref (element);
    gst_harness_set_src_caps (h, gray8_caps (drawing));
    out = label (h, gray8_frame (drawing));
    if (g_str_equal (kinds[i % G_N_ELEMENTS (kinds)], "none")) {
      fail_unless (gst_ccl_meta_get_contours (gst_buffer_get_ccl_meta (out)) == NULL);
      gst_buffer_unref (out);
    } else {
      compare_with_ccl (out, properties, drawing);
    }
    g_free (properties);
  }
  gst_harness_teardown (h);
  g_free (noise);
}
GST_END_TEST

static void
read_statistics (SimcudaStatistics *statistics)
{
  static void (*get_statistics) (SimcudaStatistics *);

  if (!get_statistics) {
    void *driver = dlopen ("libcuda.so.1", RTLD_NOW);
    fail_unless (driver != NULL, "no CUDA driver: %s", dlerror ());
    *(void **)&get_statistics = dlsym (driver, "simcuda_get_statistics");
    fail_unless (get_statistics != NULL, "this is not the simulated driver");
  }
  get_statistics (statistics);
}

/* The calls for one frame in device memory, after the first one, which plans. */
static SimcudaStatistics
count_calls (GstCudaContext *context, const gchar *properties, Drawing drawing)
{
  GstHarness *h = new_harness ("cudaccl", properties,
      cuda_caps ("GRAY8", drawing_width (drawing), drawing_height (drawing)));
  SimcudaStatistics before, after;
  GstBuffer *frame = device_frame (context, drawing);

  gst_buffer_unref (label (h, device_frame (context, drawing)));
  read_statistics (&before);
  frame = label (h, frame);
  read_statistics (&after);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
  after.copies -= before.copies;
  after.launches -= before.launches;
  after.synchronisations -= before.synchronisations;
  after.allocations -= before.allocations;
  return after;
}

/* Only rows and points leave the GPU, which its kernels write: the label map is not copied. One
 * graph more is launched, and there is no other wait. */
SIMULATED_TEST (test_contours_are_found_on_the_gpu)
{
  GstCudaContext *context = new_context_on (0);
  const SimcudaStatistics without = count_calls (context, "attach-labels=true", nested);
  const SimcudaStatistics with = count_calls (context, "attach-contours=pixels", nested);

  fail_unless_equals_uint64 (with.copies, without.copies);
  fail_unless_equals_uint64 (with.launches, without.launches + 1);
  fail_unless_equals_uint64 (with.synchronisations, without.synchronisations);
  fail_unless_equals_uint64 (with.allocations, 0);
  gst_object_unref (context);
}
GST_END_TEST

/* What only contours need is freed when they are not asked for any more. */
SIMULATED_TEST (test_memory_is_freed)
{
  GstHarness *h = new_harness ("cudaccl", "attach-labels=true", gray8_caps (nested));
  SimcudaStatistics before, with, after;

  gst_buffer_unref (label (h, gray8_frame (nested)));
  read_statistics (&before);
  for (gint i = 1; i >= 0; i--) {
    GstElement *element = gst_harness_find_element (h, "cudaccl");

    g_object_set (element, "attach-contours", i, NULL);
    gst_object_unref (element);
    gst_buffer_unref (label (h, gray8_frame (nested)));
    read_statistics (i ? &with : &after);
  }
  fail_unless (with.device_allocations > before.device_allocations);
  fail_unless (with.pinned_allocations > before.pinned_allocations);
  fail_unless_equals_uint64 (after.device_allocations, before.device_allocations);
  fail_unless_equals_uint64 (after.pinned_allocations, before.pinned_allocations);
  gst_harness_teardown (h);
}
GST_END_TEST

/* What the GPU has no memory for is found on the CPU, from a copy of the label map. */
SIMULATED_TEST (test_gpu_without_memory_for_contours)
{
  gchar *noise = draw_noise (512, 512, 10);
  GstCudaContext *context;
  SimcudaStatistics without, with;

  g_setenv ("SIMCUDA_MEMORY_MIB", "16", TRUE);
  context = new_context_on (0);
  without = count_calls (context, "attach-labels=true", noise);
  with = count_calls (context, "attach-contours=pixels", noise);
  fail_unless_equals_uint64 (with.launches, without.launches);
  fail_unless (with.copies > without.copies);
  compare (context, "attach-contours=cracks", "", noise);
  gst_object_unref (context);
  g_free (noise);
}
GST_END_TEST

static Suite *
contours_suite (void)
{
  Suite *suite = suite_create ("cuda-contours");
  TCase *tcase = tcase_create ("cuda-contours");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_object_leaks);
  tcase_add_loop_test (tcase, test_contours_of_ccl, 0, N_DRAWINGS);
  tcase_add_test (tcase, test_changes_while_playing);
  if (g_getenv ("CCL_SIMULATED")) {
    tcase_add_test (tcase, test_contours_are_found_on_the_gpu);
    tcase_add_test (tcase, test_memory_is_freed);
    tcase_add_test (tcase, test_gpu_without_memory_for_contours);
  }
  return suite;
}

GST_CHECK_MAIN (contours);
