/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks shared by all labellers, for every algorithm on the GPU, with frames in host memory
 * and in device memory; and tests of the GPU labeller's errors, streams and threads.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 * --algorithms NAME[,NAME…] restricts it to some algorithms.
 *
 * The library's algorithms are checked with frames in host memory, under /cuda-host-frames, and in
 * device memory, under /cuda-device-frames; the papers' other algorithms with frames in device
 * memory, under /cuda-papers.
 */
#include "tests/unit/label/feature-checks.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include <cudaccl/device.h>
#include "research/cuda/research.h"
#include "cuda/label/algorithms.h"

#include "tests/unit/label/masks.h"
#include "tests/unit/label/reference.h"
#include "cuda/driver/tuning.h"

static CclCudaDevice *device;

/* A copy of host memory in device memory. */
static CUdeviceptr
upload (const void *data, size_t size)
{
  CUdeviceptr memory = 0;
  CclError error = {CUDACCL_OK};
  if (ccl_cuda_device_allocate (device, size, &memory, &error) != CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error, cuMemcpyHtoDAsync (memory, data, size, NULL)) !=
          CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)) != CUDACCL_OK)
    g_error ("%s", error.message);
  return memory;
}

static void
download (void *data, CUdeviceptr memory, size_t size)
{
  CclError error = {CUDACCL_OK};
  if (ccl_cuda_call (device->driver, &error, cuMemcpyDtoHAsync (data, memory, size, NULL)) !=
          CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)) != CUDACCL_OK)
    g_error ("%s", error.message);
}

static CclLabeller *
labeller_new (void *data, const CclLabellerPlan *plan, CclError *error)
{
  return ccl_research_labeller_new (device, plan, error);
}

/* Runs with the label map in device memory and downloads it, padding included. */
static CclStatus
run_with_frame (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  if (!labels)
    return ccl_labeller_run (labeller, frame, options, NULL, table, error);
  size_t size = labels->stride * (labeller->plan.height - 1) + 4 * (size_t)labeller->plan.width;
  CUdeviceptr memory = upload (labels->data, size);
  CclLabels on_device = {(void *)memory, labels->stride};
  CclStatus status = ccl_labeller_run (labeller, frame, options, &on_device, table, error);
  download (labels->data, memory, size);
  ccl_cuda_device_release (device, &memory);
  return status;
}

static CclStatus
run_on_host_frame (void *data, CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclTable *table, CclError *error)
{
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CclStatus status = run_with_frame (labeller, frame, options, labels, table, error);
  ccl_cuda_device_leave (device);
  return status;
}

static CclStatus
run_on_device_frame (void *data, CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclTable *table, CclError *error)
{
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CUdeviceptr memory = upload (
      frame->data, frame->stride * (labeller->plan.height - 1) +
                       (size_t)ccl_pixel_bytes (labeller->plan.format) * labeller->plan.width);
  CclFrame on_device = {(void *)memory, frame->stride, CUDACCL_LOCATION_DEVICE};
  CUdeviceptr values = 0;
  on_device.intensity = frame->intensity;
  if (frame->intensity.data) {
    values = upload (frame->intensity.data,
        frame->intensity.stride * (labeller->plan.height - 1) +
            (size_t)ccl_pixel_bytes (frame->intensity.format) * labeller->plan.width);
    on_device.intensity.data = (void *)values;
  }
  CclStatus status = run_with_frame (labeller, &on_device, options, labels, table, error);
  ccl_cuda_device_release (device, &values);
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_leave (device);
  return status;
}

static CclLabellerPlan
small_plan (void)
{
  return (CclLabellerPlan){
      .width = 64, .height = 48, .connectivity = CUDACCL_CONNECTIVITY_8, .max_components = 100};
}

/* Devices get the same share of blocks for each multiprocessor. An H200 has 132. */
static void
test_blocks_of_multiprocessors (void)
{
  g_assert_cmpuint (ccl_cuda_blocks_of (132, 512), ==, 512);
  g_assert_cmpuint (ccl_cuda_blocks_of (66, 512), ==, 256);
  g_assert_cmpuint (ccl_cuda_blocks_of (264, 256), ==, 512);
  g_assert_cmpuint (ccl_cuda_blocks_of (1, 256), ==, 2);
}

/* Tables in device memory have the rows and features of those in host memory, also after the
 * frame's size has changed, and the addresses for kernels are theirs. */
static void
test_tables_stay_on_the_device (void)
{
  CclLabellerPlan plan = small_plan ();
  g_autofree uint8_t *pixels = g_malloc0 (200 * 100);
  const CclLabellerOptions options = {0};
  const CclLocation locations[] = {CUDACCL_LOCATION_HOST, CUDACCL_LOCATION_DEVICE};

  for (uint32_t i = 0; i < 200 * 100; i++)
    pixels[i] = g_random_int_range (0, 3) == 0;
  plan.columns = CUDACCL_COLUMN_SUMS | CUDACCL_COLUMN_MOMENTS;
  for (const char *const *name = ccl_cuda_algorithms (); *name; name++) {
    CclLabeller *labellers[2];
    plan.algorithm = *name;
    for (int i = 0; i < 2; i++) {
      plan.table_location = locations[i];
      labellers[i] = ccl_cuda_labeller_new (device, &plan, NULL);
      g_assert_nonnull (labellers[i]);
    }
    for (uint32_t width = 64; width <= 200; width += 136) {
      const CclFrame frame = {pixels, 200, CUDACCL_LOCATION_HOST};
      CclComponent rows[100];
      CclFeatures features[100];
      CclCudaTable addresses;
      CclTable tables[2];
      uint32_t n;
      for (int i = 0; i < 2; i++) {
        g_assert_cmpint (ccl_labeller_resize (labellers[i], width, width / 2, NULL), ==, 0);
        g_assert_cmpint (
            ccl_labeller_run (labellers[i], &frame, &options, NULL, &tables[i], NULL), ==, 0);
      }
      g_assert_cmpuint (tables[0].n_rows, ==, MIN (tables[0].n_components, 100));
      g_assert_cmpuint (tables[1].n_rows, ==, tables[0].n_rows);
      g_assert_cmpint (ccl_cuda_labeller_get_table (labellers[1], &addresses, NULL), ==, 0);
      g_assert_true (addresses.rows == tables[1].rows);
      g_assert_true (addresses.features == tables[1].features);
      g_assert_cmpuint (addresses.max_rows, ==, 100);
      ccl_cuda_memory_download (device, addresses.n_components, &n, sizeof n, NULL);
      ccl_cuda_memory_download (device, addresses.rows, rows, sizeof rows, NULL);
      ccl_cuda_memory_download (device, addresses.features, features, sizeof features, NULL);
      g_assert_cmpuint (n, ==, tables[0].n_components);
      for (uint32_t i = 0; i < tables[0].n_rows; i++) {
        g_assert_cmpmem (&rows[i], sizeof rows[i], &tables[0].rows[i], sizeof rows[i]);
        g_assert_cmpuint (features[i].sum_x, ==, tables[0].features[i].sum_x);
        g_assert_cmpuint (features[i].sum_xy, ==, tables[0].features[i].sum_xy);
      }
    }
    for (int i = 0; i < 2; i++)
      ccl_labeller_free (&labellers[i]);
  }
}

/* The library offers these algorithms and no other, so that every run waits for the device once. */
static void
test_the_library_offers_three_algorithms (void)
{
  const char *const expected[] = {"strips", "bke", "ke", NULL};
  g_assert_true (g_strv_equal (ccl_cuda_algorithms (), expected));
  for (int i = 0; i < 4; i++)
    g_assert_cmpstr (ccl_cuda_algorithm_table[i].name, ==, expected[i]);
  CclLabellerPlan plan = small_plan ();
  for (int i = 0; ccl_research_table[i].row.name; i++) {
    CclError error = {CUDACCL_OK};
    plan.algorithm = ccl_research_table[i].row.name;
    g_assert_null (ccl_cuda_labeller_new (device, &plan, &error));
    g_assert_cmpint (error.status, ==, CUDACCL_ERROR_UNSUPPORTED);
  }
}

/* Every name in the list offers a connectivity; "auto" and NULL can be planned with both. */
static void
test_every_algorithm_offers_a_connectivity (void)
{
  CclError error = {CUDACCL_OK};
  g_assert_true (ccl_cuda_algorithm_offers ("bke", CUDACCL_CONNECTIVITY_8));
  g_assert_false (ccl_cuda_algorithm_offers ("bke", CUDACCL_CONNECTIVITY_4));
  g_assert_false (ccl_cuda_algorithm_offers ("no such", CUDACCL_CONNECTIVITY_8));
  for (const char *const *name = ccl_cuda_algorithms (); *name; name++) {
    g_assert_true (ccl_cuda_algorithm_offers (*name, CUDACCL_CONNECTIVITY_4) ||
                   ccl_cuda_algorithm_offers (*name, CUDACCL_CONNECTIVITY_8));
    g_assert_nonnull (ccl_cuda_algorithm_title (*name));
  }
  for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
    for (int i = 0; i < 2; i++) {
      CclLabellerPlan plan = small_plan ();
      plan.connectivity = connectivity;
      plan.algorithm = i ? "auto" : NULL;
      CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
      g_assert_nonnull (labeller);
      g_assert_true (ccl_cuda_algorithm_offers (labeller->plan.algorithm, connectivity));
      ccl_labeller_free (&labeller);
      g_assert_null (labeller);
    }
  }
}

static void
assert_plan_fails (const CclLabellerPlan *plan, CclStatus status, const char *words)
{
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_labeller_new (device, plan, &error));
  g_assert_cmpint (error.status, ==, status);
  if (!strstr (error.message, words))
    g_error ("\"%s\" does not say \"%s\"", error.message, words);
  g_assert_null (ccl_cuda_labeller_new (device, plan, NULL));
}

/* strips pads a line of 2^26 pixels to rows of tiles, which is too large: auto selects the next
 * algorithm of the table. */
static void
test_auto_goes_on_to_an_algorithm_that_can (void)
{
  CclLabellerPlan plan = {
      .width = 1,
      .height = 1u << 26,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 1,
      .algorithm = "strips",
  };
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_labeller_new (device, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_UNSUPPORTED);
  plan.algorithm = "auto";
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  if (!labeller)
    g_error ("%s", error.message);
  g_assert_cmpstr (labeller->plan.algorithm, !=, "strips");
  ccl_labeller_free (&labeller);

  plan.width = plan.height = 64;
  labeller = ccl_cuda_labeller_new (device, &plan, &error);
  g_assert_nonnull (labeller);
  g_assert_cmpstr (labeller->plan.algorithm, ==, "strips");
  ccl_labeller_free (&labeller);
}

static void
test_impossible_plans_say_why (void)
{
  CclLabellerPlan plan = small_plan ();
  plan.algorithm = "no such";
  assert_plan_fails (&plan, CUDACCL_ERROR_UNSUPPORTED, "no such");
  plan.algorithm = "bke";
  plan.connectivity = CUDACCL_CONNECTIVITY_4;
  assert_plan_fails (&plan, CUDACCL_ERROR_UNSUPPORTED, "4-connectivity");
  plan = small_plan ();
  plan.width = 0;
  assert_plan_fails (&plan, CUDACCL_ERROR_ARGUMENT, "0×48");
  plan = small_plan ();
  plan.width = plan.height = 1u << 16;
  assert_plan_fails (&plan, CUDACCL_ERROR_ARGUMENT, "too large");

  CclError error = {CUDACCL_OK};
  plan = small_plan ();
  g_assert_null (ccl_cuda_labeller_new (NULL, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
}

static void
test_unknown_devices_are_not_found (void)
{
  for (int i = 0; i < 2; i++) {
    CclError error = {CUDACCL_OK};
    g_assert_null (ccl_cuda_device_open (i ? -2 : 1000, &error));
    g_assert_cmpint (error.status, ==, CUDACCL_ERROR_NOT_FOUND);
    g_assert_nonnull (strstr (error.message, i ? "-2" : "1000"));
  }
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_device_open_in_context (NULL, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
}

/* Of one device that is the first. check-devices tests several. */
static void
test_least_used_device (void)
{
  CclError error = {CUDACCL_OK};
  const int n_devices = ccl_cuda_count_devices (&error);
  g_assert_cmpint (n_devices, >=, 1);
  g_assert_cmpint (ccl_cuda_find_least_used_device (&error), >=, 0);
  g_assert_cmpint (ccl_cuda_find_least_used_device (&error), <, n_devices);
  g_assert_cmpint (error.status, ==, CUDACCL_OK);
}

/* A labeller holds a reference to its device. */
static void
test_labellers_keep_their_device (void)
{
  CclError error = {CUDACCL_OK};
  CclCudaDevice *other = ccl_cuda_device_open_in_context (device->context, &error);
  g_assert_nonnull (other);
  g_assert_cmpstr (ccl_cuda_device_name (other), ==, ccl_cuda_device_name (device));
  CclLabellerPlan plan = small_plan ();
  CclLabeller *labeller = ccl_cuda_labeller_new (other, &plan, &error);
  g_assert_nonnull (labeller);
  ccl_cuda_device_unref (&other);
  g_assert_null (other);
  ccl_cuda_device_unref (&other);

  uint8_t pixels[48 * 64];
  memset (pixels, 9, sizeof pixels);
  CclTable table;
  g_assert_cmpint (ccl_labeller_run (labeller, &(CclFrame){pixels, 64}, &(CclLabellerOptions){0},
                       NULL, &table, &error),
      ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 1);
  g_assert_cmpuint (table.rows[0].area, ==, 48 * 64);
  ccl_labeller_free (&labeller);
}

/* Arguments that labeller.h forbids are refused and do no harm. */
static void
test_bad_arguments_leave_the_labeller_usable (void)
{
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = small_plan ();
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  uint8_t pixels[48 * 64] = {1, 1, 0, 1};
  CclFrame frame = {pixels, 64};
  CclLabellerOptions options = {0};
  CclTable table;

  CclFrame narrow = {pixels, 63}, nothing = {NULL, 64};
  CclLabellerOptions above = {.threshold = 256};
  CclLabels odd = {(void *)(uintptr_t)4096, 4 * 64 + 2};
  g_assert_cmpint (ccl_labeller_run (labeller, &narrow, &options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_run (labeller, &nothing, &options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_run (labeller, &frame, &above, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_run (labeller, &frame, &options, &odd, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);

  g_assert_cmpint (
      ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);
  ccl_labeller_free (&labeller);
}

/* More frames than a labeller keeps addresses of, in any order and with changing options. */
static void
test_frames_are_at_many_addresses (void)
{
  enum { N_FRAMES = 13, N_RUNS = 100, WIDTH = 200, HEIGHT = 70, SIZE = WIDTH * HEIGHT };
  const CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 5000};
  CclError error = {CUDACCL_OK};
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  uint8_t *pixels = g_malloc (N_FRAMES * SIZE);
  GRand *random = g_rand_new_with_seed (11);
  CclTable table;

  for (uint32_t i = 0; i < N_FRAMES * SIZE; i++)
    pixels[i] = (uint8_t)g_rand_int_range (random, 0, 4);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CUdeviceptr memory = upload (pixels, N_FRAMES * SIZE);
  ccl_cuda_device_leave (device);
  for (uint32_t i = 0; i < N_RUNS; i++) {
    /* Two frames in turns, then a pool in a circle, then any. */
    const uint32_t frame = i < 20   ? i % 2
                           : i < 60 ? i % 7
                                    : (uint32_t)g_rand_int_range (random, 0, N_FRAMES);
    const CclLabellerOptions options = {.threshold = 1 + i / 10 % 2, .min_area = i / 15 % 3};
    Reference *reference =
        reference_new (pixels + frame * SIZE, WIDTH, HEIGHT, WIDTH, plan.connectivity, &options);
    g_assert_cmpint (ccl_labeller_run (labeller,
                         &(CclFrame){.data = (void *)(uintptr_t)(memory + frame * SIZE),
                             .stride = WIDTH,
                             .location = CUDACCL_LOCATION_DEVICE},
                         &options, NULL, &table, &error),
        ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_components, ==, reference->n_components);
    g_assert_cmpmem (table.rows, table.n_rows * sizeof (CclComponent), reference->rows,
        reference->n_components * sizeof (CclComponent));
    reference_free (reference);
  }
  ccl_labeller_free (&labeller);
  ccl_cuda_device_release (device, &memory);
  g_rand_free (random);
  g_free (pixels);
}

/* strips counts components by chunks of 64 groups of 128 pixels, and by larger ones in such a
 * frame. A line joins pieces of all tiles; noise lies in the first, middle and last rows. */
static void
test_chunks_of_a_tall_frame (void)
{
  enum { WIDTH = 129, HEIGHT = 40000, SIZE = WIDTH * HEIGHT };
  const CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 20000,
      .algorithm = "strips"};
  static const CclLabellerOptions all[] = {{0}, {.min_area = 2}};
  CclError error = {CUDACCL_OK};
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  uint8_t *pixels = g_malloc0 (SIZE);
  uint32_t *data = g_new (uint32_t, SIZE);
  GRand *random = g_rand_new_with_seed (5);
  g_assert_nonnull (labeller);
  for (uint32_t y = 0; y < HEIGHT; y++) {
    pixels[y * WIDTH + 128] = 1;
    for (uint32_t x = 0; x < 127 && y % (HEIGHT / 2 - 90) < 180; x++)
      pixels[y * WIDTH + x] = g_rand_int_range (random, 0, 4) == 0;
  }
  for (size_t i = 0; i < G_N_ELEMENTS (all); i++) {
    Reference *reference = reference_new (pixels, WIDTH, HEIGHT, WIDTH, plan.connectivity, &all[i]);
    const CclLabels labels = {data, WIDTH * sizeof (uint32_t)};
    CclTable table;
    g_assert_cmpint (run_on_host_frame (NULL, labeller, &(CclFrame){pixels, WIDTH}, &all[i],
                         &labels, &table, &error),
        ==, CUDACCL_OK);
    g_assert_cmpuint (reference->n_components, >, 1000);
    g_assert_cmpmem (table.rows, table.n_rows * sizeof (CclComponent), reference->rows,
        reference->n_components * sizeof (CclComponent));
    g_assert_cmpmem (data, SIZE * sizeof *data, reference->labels, SIZE * sizeof *data);
    reference_free (reference);
  }
  ccl_labeller_free (&labeller);
  g_rand_free (random);
  g_free (pixels);
  g_free (data);
}

/* Frames are queued on all labellers before any is waited for; the last one first. */
static void
test_frames_are_queued_on_several_labellers (void)
{
  enum { N_LABELLERS = 5 };
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = small_plan ();
  CclLabeller *labellers[N_LABELLERS];
  uint8_t pixels[N_LABELLERS][48 * 64] = {{0}};
  CclLabellerOptions options = {0};
  CclTable table;

  for (int i = 0; i < N_LABELLERS; i++) {
    labellers[i] = ccl_cuda_labeller_new (device, &plan, &error);
    for (int k = 0; k <= i; k++)
      pixels[i][2 * k] = 1;
  }
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < N_LABELLERS; i++)
      g_assert_cmpint (
          ccl_labeller_queue (labellers[i], &(CclFrame){pixels[i], 64}, &options, NULL, &error), ==,
          CUDACCL_OK);
    for (int i = N_LABELLERS - 1; i >= 0; i--) {
      g_assert_cmpint (ccl_labeller_wait (labellers[i], &table, &error), ==, CUDACCL_OK);
      g_assert_cmpuint (table.n_components, ==, i + 1);
      g_assert_cmpuint (table.rows[i].x, ==, 2 * i);
    }
  }
  for (int i = 0; i < N_LABELLERS; i++)
    ccl_labeller_free (&labellers[i]);
}

/* A program can ask whether its frame is done, without waiting. A GPU may be done before it is
 * asked, where other threads take the processor, but not each time. */
static void
test_frames_are_done_at_some_time (void)
{
  const char *const algorithms[] = {"strips", "bke"}; /* with and without a word that tells it */
  const bool is_simulated = g_getenv ("SIMCUDA_SEED") != NULL; /* runs when it is asked */
  const int n_turns = g_test_slow () && !is_simulated ? 100 : 2;
  uint8_t pixels[48 * 64] = {1, 1, 0, 1};
  CclTable table;

  g_assert_true (ccl_labeller_is_done (NULL));
  for (size_t i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    CclLabellerPlan plan = small_plan ();
    plan.algorithm = algorithms[i];
    CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, NULL);
    g_assert_true (ccl_labeller_is_done (labeller));
    int n_pending = 0;
    for (int turn = 0; turn < n_turns; turn++) {
      g_assert_cmpint (ccl_labeller_queue (
                           labeller, &(CclFrame){pixels, 64}, &(CclLabellerOptions){0}, NULL, NULL),
          ==, CUDACCL_OK);
      n_pending += !ccl_labeller_is_done (labeller);
      while (!ccl_labeller_is_done (labeller))
        g_usleep (100);
      g_assert_cmpint (ccl_labeller_wait (labeller, &table, NULL), ==, CUDACCL_OK);
      g_assert_cmpuint (table.n_components, ==, 2);
      g_assert_true (ccl_labeller_is_done (labeller));
    }
    if (n_turns > 2)
      g_assert_cmpint (n_pending, >, 0);
    ccl_labeller_free (&labeller);
  }
}

/* A run cannot become part of a CUDA graph: nothing is queued, and the capture goes on. */
static void
test_streams_that_are_captured_are_refused (void)
{
  const CclCudaDriver *driver = device->driver;
  const CclForegroundPlan foreground_plan = {.width = 64, .height = 48};
  CclLabellerPlan plan = small_plan ();
  CclError error;
  CUstream stream;
  CUgraph graph;
  CclTable table;

  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (driver->cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING), ==, CUDA_SUCCESS);
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, NULL);
  CclForeground *foreground = ccl_cuda_foreground_new (device, &foreground_plan, NULL);
  CUdeviceptr memory = upload ((uint8_t[48 * 64]){1, 1, 0, 1}, 48 * 64);
  CUdeviceptr mask_memory = upload ((uint8_t[48 * 64]){0}, 48 * 64);
  const CclFrame frame = {(void *)memory, 64, CUDACCL_LOCATION_DEVICE};
  const CclMask mask = {(void *)mask_memory, 64};
  ccl_cuda_labeller_set_stream (labeller, stream, NULL);
  ccl_cuda_foreground_set_stream (foreground, stream, NULL);

  g_assert_cmpint (
      driver->cuStreamBeginCapture (stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), ==, CUDA_SUCCESS);
  g_assert_cmpint (ccl_labeller_queue (labeller, &frame, &(CclLabellerOptions){0}, NULL, &error),
      ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, "captured"));
  g_assert_cmpint (
      ccl_foreground_queue (foreground, &frame, &(CclForegroundOptions){0}, &mask, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, "captured"));
  g_assert_cmpint (driver->cuStreamEndCapture (stream, &graph), ==, CUDA_SUCCESS);
  g_assert_cmpint (driver->cuGraphDestroy (graph), ==, CUDA_SUCCESS);
  g_assert_cmpint (
      ccl_labeller_run (labeller, &frame, &(CclLabellerOptions){0}, NULL, &table, &error), ==,
      CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);

  ccl_foreground_free (&foreground);
  ccl_labeller_free (&labeller);
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_release (device, &mask_memory);
  g_assert_cmpint (driver->cuStreamDestroy (stream), ==, CUDA_SUCCESS);
  ccl_cuda_device_leave (device);
}

/* Without the check a run on a stream that is captured is not refused. What it does is undefined:
 * it is captured, or CUDA refuses one of its calls. */
static void
test_check_for_a_capture_can_be_switched_off (void)
{
  const CclCudaDriver *driver = device->driver;
  CclCudaDevice *unchecked = ccl_cuda_device_open (-1, NULL);
  const CclLabellerPlan plan = small_plan ();
  CclError error;
  CUstream stream;
  CUgraph graph = NULL;
  CclTable table;

  ccl_cuda_device_set_capture_check (unchecked, false);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (driver->cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING), ==, CUDA_SUCCESS);
  CclLabeller *labeller = ccl_cuda_labeller_new (unchecked, &plan, NULL);
  CUdeviceptr memory = upload ((uint8_t[48 * 64]){1, 1, 0, 1}, 48 * 64);
  const CclFrame frame = {(void *)memory, 64, CUDACCL_LOCATION_DEVICE};
  ccl_cuda_labeller_set_stream (labeller, stream, NULL);

  g_assert_cmpint (
      driver->cuStreamBeginCapture (stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), ==, CUDA_SUCCESS);
  g_assert_cmpint (ccl_labeller_queue (labeller, &frame, &(CclLabellerOptions){0}, NULL, &error),
      !=, CUDACCL_ERROR_ARGUMENT);
  if (driver->cuStreamEndCapture (stream, &graph) == CUDA_SUCCESS && graph)
    driver->cuGraphDestroy (graph);
  ccl_labeller_wait (labeller, &table, NULL);

  ccl_labeller_free (&labeller);
  ccl_cuda_device_release (device, &memory);
  g_assert_cmpint (driver->cuStreamDestroy (stream), ==, CUDA_SUCCESS);
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&unchecked);
}

/* A labeller has one queued frame at most, may be freed with it, and stays usable after errors. */
static void
test_queued_frames_are_waited_for (void)
{
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = small_plan ();
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  uint8_t pixels[48 * 64] = {1, 1, 0, 1};
  CclFrame frame = {pixels, 64};
  CclLabellerOptions options = {0};
  CclTable table;

  g_assert_cmpint (ccl_labeller_wait (labeller, &table, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_queue (labeller, &frame, &options, NULL, &error), ==, CUDACCL_OK);
  g_assert_cmpint (
      ccl_labeller_queue (labeller, &frame, &options, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_wait (labeller, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_wait (labeller, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);
  g_assert_cmpint (
      ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_labeller_queue (labeller, &frame, &options, NULL, &error), ==, CUDACCL_OK);
  ccl_labeller_free (&labeller);
}

/* A copy from a peer, which may be a context of the same device, starts after the work that writes
 * the memory. */
static void
test_copies_from_a_peer_wait_for_both_streams (void)
{
  const size_t size = 1 << 20;
  const CclCudaDriver *driver = device->driver;
  CclError error = {CUDACCL_OK};
  CUstream streams[2];
  CUdeviceptr memories[2];
  uint8_t *bytes = g_malloc0 (size);

  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CclCudaPeer *peer = ccl_cuda_peer_new (device, device->context, &error);
  g_assert_nonnull (peer);
  for (int i = 0; i < 2; i++) {
    g_assert_cmpint (
        driver->cuStreamCreate (&streams[i], CU_STREAM_NON_BLOCKING), ==, CUDA_SUCCESS);
    memories[i] = upload (bytes, size);
  }
  for (uint8_t value = 1; value <= 20; value++) {
    for (int i = 0; i < 2; i++)
      g_assert_cmpint (
          driver->cuMemsetD8Async (memories[i], i ? 0 : value, size, streams[i]), ==, CUDA_SUCCESS);
    g_assert_cmpint (ccl_cuda_peer_copy (peer, (void *)memories[0], streams[0], (void *)memories[1],
                         streams[1], size, &error),
        ==, CUDACCL_OK);
    g_assert_cmpint (driver->cuStreamSynchronize (streams[1]), ==, CUDA_SUCCESS);
    download (bytes, memories[1], size);
    g_assert_cmpuint (bytes[0], ==, value);
    g_assert_cmpuint (bytes[size - 1], ==, value);
  }
  g_assert_cmpint (
      ccl_cuda_peer_copy (peer, NULL, streams[0], (void *)memories[1], streams[1], size, &error),
      ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_null (ccl_cuda_peer_new (device, NULL, &error));
  ccl_cuda_peer_free (&peer);
  g_assert_null (peer);
  for (int i = 0; i < 2; i++) {
    driver->cuStreamDestroy (streams[i]);
    ccl_cuda_device_release (device, &memories[i]);
  }
  ccl_cuda_device_leave (device);
  g_free (bytes);
}

/* On the caller's stream a labeller runs after the queued work that writes the frame. Afterwards it
 * can return to its own stream. */
static void
test_runs_wait_for_the_callers_stream (void)
{
  const uint32_t width = 640, height = 480;
  const CclCudaDriver *driver = device->driver;
  CclError error = {CUDACCL_OK};
  CUstream stream;
  CclLabellerPlan plan = {.width = width,
      .height = height,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 10};
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (driver->cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING), ==, CUDA_SUCCESS);
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  uint8_t *zeroes = g_malloc0 (width * height);
  CUdeviceptr memory = upload (zeroes, width * height);
  CclFrame frame = {(void *)memory, width, CUDACCL_LOCATION_DEVICE};
  CclTable table;

  g_assert_cmpint (ccl_cuda_labeller_set_stream (labeller, stream, NULL), ==, CUDACCL_OK);
  for (uint32_t value = 1; value <= 20; value++) {
    uint32_t area = 0;
    g_assert_cmpint (driver->cuMemsetD8Async (memory, 0, width * height, stream), ==, CUDA_SUCCESS);
    g_assert_cmpint (
        driver->cuMemsetD8Async (memory, value, value * 1000, stream), ==, CUDA_SUCCESS);
    g_assert_cmpint (
        ccl_labeller_run (labeller, &frame, &(CclLabellerOptions){0}, NULL, &table, &error), ==,
        CUDACCL_OK);
    area = table.n_components == 1 ? table.rows[0].area : 0;
    g_assert_cmpuint (area, ==, value * 1000);
  }
  g_assert_cmpint (ccl_labeller_queue (labeller, &frame, &(CclLabellerOptions){0}, NULL, &error),
      ==, CUDACCL_OK);
  g_assert_cmpint (
      ccl_cuda_labeller_set_stream (labeller, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_true (ccl_cuda_labeller_get_stream (labeller) == stream);
  g_assert_cmpint (ccl_labeller_wait (labeller, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_cuda_labeller_set_stream (labeller, NULL, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (driver->cuStreamDestroy (stream), ==, CUDA_SUCCESS);
  g_assert_cmpint (
      ccl_labeller_run (labeller, &frame, &(CclLabellerOptions){0}, NULL, &table, &error), ==,
      CUDACCL_OK);
  g_assert_cmpuint (table.rows[0].area, ==, 20000);

  ccl_labeller_free (&labeller);
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_leave (device);
  g_free (zeroes);
}

/* Without a stream of the caller, a labeller runs after the work on the legacy default stream that
 * writes the frame. Filling the memory first takes a GPU much longer than labelling. */
static void
test_runs_wait_for_the_legacy_stream (void)
{
  const uint32_t width = 640, height = 480;
  const size_t ballast_size = 32 << 20;
  const CclCudaDriver *driver = device->driver;
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = {.width = width,
      .height = height,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 10};
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CUdeviceptr ballast, memory;
  g_assert_cmpint (
      ccl_cuda_device_allocate (device, ballast_size, &ballast, &error), ==, CUDACCL_OK);
  g_assert_cmpint (
      ccl_cuda_device_allocate (device, width * height, &memory, &error), ==, CUDACCL_OK);

  for (const char *const *name = ccl_cuda_algorithms (); *name; name++) {
    plan.algorithm = *name;
    CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
    g_assert_nonnull (labeller);
    g_assert_cmpint (driver->cuMemsetD8Async (memory, 0, width * height, NULL), ==, CUDA_SUCCESS);
    g_assert_cmpint (driver->cuStreamSynchronize (NULL), ==, CUDA_SUCCESS);
    for (uint32_t value = 1; value <= 2; value++) {
      CclFrame frame = {(void *)memory, width, CUDACCL_LOCATION_DEVICE};
      CclTable table;
      for (int i = 0; i < 32; i++)
        g_assert_cmpint (
            driver->cuMemsetD8Async (ballast, i, ballast_size, NULL), ==, CUDA_SUCCESS);
      g_assert_cmpint (
          driver->cuMemsetD8Async (memory, value, value * 1000, NULL), ==, CUDA_SUCCESS);
      g_assert_cmpint (
          ccl_labeller_run (labeller, &frame, &(CclLabellerOptions){0}, NULL, &table, &error), ==,
          CUDACCL_OK);
      g_assert_cmpuint (table.n_components == 1 ? table.rows[0].area : 0, ==, value * 1000);
    }
    ccl_labeller_free (&labeller);
  }
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_release (device, &ballast);
  ccl_cuda_device_leave (device);
}

/* The task of one of several threads. */
typedef struct Work {
  const char *algorithm;
  CclConnectivity connectivity;
  uint32_t seed;
  char *failure;
} Work;

static gpointer
label_many_frames (gpointer data)
{
  Work *work = data;
  const uint32_t width = 150 + work->seed, height = 90;
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = {.width = width,
      .height = height,
      .connectivity = work->connectivity,
      .max_components = 10000,
      .algorithm = work->algorithm};
  CclLabellerOptions options = {0};
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  if (!labeller) {
    work->failure = g_strdup (error.message);
    return NULL;
  }
  for (uint32_t i = 0; i < 20 && !work->failure; i++) {
    Mask *mask = mask_new_from_noise (width, height, 1 + i % 3, 30 + 5 * (i % 8), work->seed + i);
    uint8_t *pixels = g_malloc (width * height);
    for (uint32_t j = 0; j < width * height; j++)
      pixels[j] = mask->pixels[j];
    Reference *reference =
        reference_new (pixels, width, height, width, work->connectivity, &options);
    CclTable table;
    if (ccl_labeller_run (labeller, &(CclFrame){pixels, width}, &options, NULL, &table, &error) !=
        CUDACCL_OK)
      work->failure = g_strdup (error.message);
    else if (table.n_components != reference->n_components ||
             memcmp (table.rows, reference->rows, table.n_rows * sizeof (CclComponent)))
      work->failure =
          g_strdup_printf ("frame %u of %s came out wrong", i, labeller->plan.algorithm);
    reference_free (reference);
    mask_free (mask);
    g_free (pixels);
  }
  ccl_labeller_free (&labeller);
  return NULL;
}

/* Labellers of several threads share a device; the first one loads the modules. */
static void
test_threads_share_a_device (void)
{
  Work work[4] = {{"bke", CUDACCL_CONNECTIVITY_8, 1}, {"bke", CUDACCL_CONNECTIVITY_8, 2},
      {"ke", CUDACCL_CONNECTIVITY_4, 3}, {"auto", CUDACCL_CONNECTIVITY_8, 4}};
  GThread *threads[4];
  for (int i = 0; i < 4; i++)
    threads[i] = g_thread_new ("labeller", label_many_frames, &work[i]);
  for (int i = 0; i < 4; i++) {
    g_thread_join (threads[i]);
    if (work[i].failure)
      g_test_fail_printf ("%s: %s", work[i].algorithm, work[i].failure);
    g_free (work[i].failure);
  }
}

/* A volume for the algorithms that label in three dimensions. */
typedef struct Volume {
  uint32_t width, height, depth;
  uint8_t *voxels; /* 0 or 1 */
} Volume;

static bool
are_neighbours (uint32_t connectivity, int dx, int dy, int dz)
{
  int n_different = (dx != 0) + (dy != 0) + (dz != 0);
  return n_different >= 1 && n_different <= (connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3);
}

/* The volume's components by flood fill: for each voxel the number of its component, from 1 in
 * raster order of first voxels, or 0. */
static uint32_t *
fill_volume (const Volume *volume, uint32_t connectivity)
{
  uint32_t n_voxels = volume->width * volume->height * volume->depth, n_components = 0;
  uint32_t *components = g_new0 (uint32_t, n_voxels), *stack = g_new (uint32_t, n_voxels);
  for (uint32_t first = 0; first < n_voxels; first++) {
    if (!volume->voxels[first] || components[first])
      continue;
    uint32_t n_stacked = 1;
    stack[0] = first;
    components[first] = ++n_components;
    while (n_stacked > 0) {
      uint32_t voxel = stack[--n_stacked];
      int x = voxel % volume->width, y = voxel / volume->width % volume->height;
      int z = voxel / volume->width / volume->height;
      for (int i = 0; i < 27; i++) {
        int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
        if (!are_neighbours (connectivity, dx, dy, dz) || x + dx < 0 || y + dy < 0 || z + dz < 0 ||
            x + dx >= (int)volume->width || y + dy >= (int)volume->height ||
            z + dz >= (int)volume->depth)
          continue;
        uint32_t other = ((z + dz) * volume->height + y + dy) * volume->width + x + dx;
        if (volume->voxels[other] && !components[other]) {
          components[other] = n_components;
          stack[n_stacked++] = other;
        }
      }
    }
  }
  g_free (stack);
  return components;
}

/* Raw labels: every component has one label, different from all others; background has 0. Where the
 * algorithm guarantees it, the label is that of the component's first voxel. */
static void
check_volume (CclResearchRounds *rounds, CclCudaSequence *labelling, const Volume *volume,
    const char *description)
{
  const CclLabellingParameters *parameters = &labelling->parameters;
  CclError error = {CUDACCL_OK};
  uint32_t n_voxels = volume->width * volume->height * volume->depth;
  CUdeviceptr memory = upload (volume->voxels, n_voxels);
  uint32_t *labels = g_new (uint32_t, labelling->n_elements);
  ccl_cuda_sequence_set_frame (
      labelling, memory, volume->width, volume->width * volume->height, 0, false);
  if (ccl_research_queue (rounds, labelling, 0, labelling->n_steps, NULL, &error) != CUDACCL_OK)
    g_error ("%s: %s", description, error.message);
  download (labels, labelling->labels, labelling->n_elements * sizeof (uint32_t));
  ccl_cuda_device_release (device, &memory);

  uint32_t *components = fill_volume (volume, parameters->connectivity);
  uint32_t *label_of = g_new0 (uint32_t, n_voxels + 1);
  uint32_t *component_of = g_new0 (uint32_t, labelling->n_elements + 1);
  bool is_right = true;
  for (uint32_t voxel = 0; voxel < n_voxels && is_right; voxel++) {
    uint32_t x = voxel % volume->width, y = voxel / volume->width % volume->height;
    uint32_t z = voxel / volume->width / volume->height;
    uint32_t element = z * parameters->label_slice + y * parameters->label_stride + x;
    uint32_t label = labels[element], component = components[voxel];
    is_right = (label == 0) == (component == 0) && label <= labelling->n_elements;
    if (!is_right || !label)
      continue;
    if (!label_of[component]) {
      label_of[component] = label;
      is_right = !component_of[label];
      component_of[label] = component;
      if (labelling->algorithm->roots_are_first_pixels)
        is_right &= label == element + 1;
    }
    is_right &= label_of[component] == label && component_of[label] == component;
  }
  if (!is_right)
    g_test_fail_printf ("%s: wrong labels", description);
  g_free (component_of);
  g_free (label_of);
  g_free (components);
  g_free (labels);
}

/* Every small size, so that all sides are odd and even, and some larger volumes. */
static void
check_volumes (const CclAlgorithm *algorithm, uint32_t connectivity)
{
  GRand *random = g_rand_new_with_seed (3);
  for (uint32_t i = 0; i < 5 * 5 * 5 + 4 && !g_test_failed (); i++) {
    static const Volume larger[4] = {{33, 9, 7}, {8, 20, 12}, {65, 3, 3}, {1, 21, 17}};
    Volume volume = i < 125 ? (Volume){1 + i % 5, 1 + i / 5 % 5, 1 + i / 25} : larger[i - 125];
    uint32_t n_voxels = volume.width * volume.height * volume.depth;
    volume.voxels = g_new (uint8_t, n_voxels);
    CclCudaSequence labelling;
    CclResearchRounds rounds;
    CclError error = {CUDACCL_OK};
    if (ccl_cuda_sequence_init (&labelling, device, algorithm, volume.width, volume.height,
            volume.depth, connectivity, NULL, &error) != CUDACCL_OK ||
        ccl_research_rounds_init (&rounds, &labelling, &error) != CUDACCL_OK)
      g_error ("%s", error.message);
    for (uint32_t density = 10; density <= 100; density += 15) {
      for (uint32_t j = 0; j < n_voxels; j++)
        volume.voxels[j] = g_rand_int_range (random, 0, 100) < (gint32)density;
      char *description = g_strdup_printf ("%s, %u-connected, %u×%u×%u, density %u",
          algorithm->name, connectivity, volume.width, volume.height, volume.depth, density);
      check_volume (&rounds, &labelling, &volume, description);
      g_free (description);
    }
    ccl_research_rounds_clear (&rounds, device);
    ccl_cuda_sequence_clear (&labelling);
    g_free (volume.voxels);
  }
  g_rand_free (random);
}

static void
test_volumes (gconstpointer data)
{
  static const uint32_t connectivities[] = {6, 18, 26};
  const CclAlgorithm *algorithm = data;
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  for (size_t i = 0; i < G_N_ELEMENTS (connectivities); i++) {
    if (ccl_cuda_algorithm_has (algorithm, connectivities[i]))
      check_volumes (algorithm, connectivities[i]);
  }
  ccl_cuda_device_leave (device);
}

static const CclAlgorithm *
algorithm_of_papers (const char *name)
{
  const CclResearchAlgorithm *row = ccl_research_table;
  while (row->row.name && strcmp (row->row.name, name))
    row++;
  return row->row.name ? &row->row : NULL;
}

/* BRB has the links of a row in shared memory: it labels frames of up to 4,096 columns, with two
 * blocks a thread from 2,049 on, and refuses wider ones. */
static void
test_brb_labels_what_shared_memory_holds (void)
{
  static const Volume sizes[] = {
      {2047, 7, 1}, {2048, 6, 1}, {2049, 7, 1}, {4095, 9, 1}, {4096, 8, 1}};
  const CclAlgorithm *brb = algorithm_of_papers ("brb");
  GRand *random = g_rand_new_with_seed (4);
  CclCudaSequence labelling;
  CclResearchRounds rounds;
  CclError error = {CUDACCL_OK};
  g_assert_nonnull (brb);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Volume volume = sizes[i];
    /* A frame with 8 neighbours is a volume of one slice with 26. */
    if (ccl_cuda_sequence_init (&labelling, device, brb, volume.width, volume.height, 1, 26, NULL,
            &error) != CUDACCL_OK ||
        ccl_research_rounds_init (&rounds, &labelling, &error) != CUDACCL_OK)
      g_error ("%s", error.message);
    volume.voxels = g_new (uint8_t, volume.width * volume.height);
    for (uint32_t density = 20; density <= 100; density += 20) {
      for (uint32_t j = 0; j < volume.width * volume.height; j++)
        volume.voxels[j] = g_rand_int_range (random, 0, 100) < (gint32)density;
      char *description = g_strdup_printf ("%u×%u", volume.width, volume.height);
      check_volume (&rounds, &labelling, &volume, description);
      g_free (description);
    }
    g_free (volume.voxels);
    ccl_research_rounds_clear (&rounds, device);
    ccl_cuda_sequence_clear (&labelling);
  }
  ccl_cuda_device_leave (device);
  g_rand_free (random);

  CclLabellerPlan plan = small_plan ();
  plan.algorithm = "brb";
  plan.width = 4097;
  g_assert_null (ccl_research_labeller_new (device, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error.message, "at most 4096 columns"));
}

/* ACCL is in the table where CUDA's device runtime was found at build time. */
static void
test_accl_launches_kernels_from_the_device (void)
{
  g_assert_nonnull (algorithm_of_papers ("accl-union-find"));
  if (!algorithm_of_papers ("accl"))
    g_test_skip ("built without libcudadevrt.a, so there is no algorithm accl");
}

/* The names of the library's algorithms, or of the papers'; of these only those in the list
 * `wanted`, if there is one. */
static const char *const *
list_algorithms (bool of_papers, const char *const *wanted)
{
  GPtrArray *names = g_ptr_array_new ();
  const CclAlgorithm *row;
  for (size_t i = 0; (row = ccl_research_algorithm (i)); i++) {
    if (ccl_research_labels_frames (row) && !ccl_research_details (row) == !of_papers &&
        (!wanted || g_strv_contains (wanted, row->name)))
      g_ptr_array_add (names, (gpointer)row->name);
  }
  g_ptr_array_add (names, NULL);
  return (const char *const *)g_ptr_array_free (names, FALSE);
}

int
main (int argc, char **argv)
{
  const char *const *wanted = NULL;
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  if (argc == 3 && !strcmp (argv[1], "--algorithms"))
    wanted = (const char *const *)g_strsplit (argv[2], ",", 0);
  else if (argc > 1)
    g_error ("unknown argument %s", argv[1]);

  device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    printf ("1..0 # SKIP %s\n", error.message);
    return 0;
  }

  LabellerBackend host = {
      .name = "cuda-host-frames",
      .algorithms = list_algorithms (false, wanted),
      .offers = ccl_research_offers,
      .labeller_new = labeller_new,
      .run = run_on_host_frame,
  };
  LabellerBackend on_device = host;
  on_device.name = "cuda-device-frames";
  on_device.run = run_on_device_frame;
  LabellerBackend papers = on_device;
  papers.name = "cuda-papers";
  papers.algorithms = list_algorithms (true, wanted);
  labeller_checks_register (&host);
  labeller_checks_register (&on_device);
  labeller_checks_register (&papers);
  feature_checks_register (&host);
  feature_checks_register (&on_device);
  g_test_add_func (
      "/cuda/the-library-offers-three-algorithms", test_the_library_offers_three_algorithms);
  g_test_add_func (
      "/cuda/every-algorithm-offers-a-connectivity", test_every_algorithm_offers_a_connectivity);
  g_test_add_func (
      "/cuda/auto-goes-on-to-an-algorithm-that-can", test_auto_goes_on_to_an_algorithm_that_can);
  g_test_add_func ("/cuda/blocks-of-multiprocessors", test_blocks_of_multiprocessors);
  g_test_add_func ("/cuda/impossible-plans-say-why", test_impossible_plans_say_why);
  g_test_add_func ("/cuda/unknown-devices-are-not-found", test_unknown_devices_are_not_found);
  g_test_add_func ("/cuda/least-used-device", test_least_used_device);
  g_test_add_func ("/cuda/labellers-keep-their-device", test_labellers_keep_their_device);
  g_test_add_func ("/cuda/bad-arguments-leave-the-labeller-usable",
      test_bad_arguments_leave_the_labeller_usable);
  g_test_add_func (
      "/cuda/frames-are-queued-on-several-labellers", test_frames_are_queued_on_several_labellers);
  g_test_add_func ("/cuda/queued-frames-are-waited-for", test_queued_frames_are_waited_for);
  g_test_add_func ("/cuda/frames-are-done-at-some-time", test_frames_are_done_at_some_time);
  g_test_add_func (
      "/cuda/captured-streams-are-refused", test_streams_that_are_captured_are_refused);
  g_test_add_func (
      "/cuda/capture-check-can-be-switched-off", test_check_for_a_capture_can_be_switched_off);
  g_test_add_func ("/cuda/copies-from-a-peer-wait-for-both-streams",
      test_copies_from_a_peer_wait_for_both_streams);
  g_test_add_func ("/cuda/runs-wait-for-the-callers-stream", test_runs_wait_for_the_callers_stream);
  g_test_add_func ("/cuda/runs-wait-for-the-legacy-stream", test_runs_wait_for_the_legacy_stream);
  g_test_add_func ("/cuda/frames-are-at-many-addresses", test_frames_are_at_many_addresses);
  g_test_add_func ("/cuda/tables-stay-on-the-device", test_tables_stay_on_the_device);
  g_test_add_func ("/cuda/chunks-of-a-tall-frame", test_chunks_of_a_tall_frame);
  g_test_add_func ("/cuda/threads-share-a-device", test_threads_share_a_device);
  g_test_add_func (
      "/cuda/brb-labels-what-shared-memory-holds", test_brb_labels_what_shared_memory_holds);
  g_test_add_func (
      "/cuda/accl-launches-kernels-from-the-device", test_accl_launches_kernels_from_the_device);
  const CclAlgorithm *row;
  for (size_t i = 0; (row = ccl_research_algorithm (i)); i++) {
    if (ccl_cuda_algorithm_has (row, 6) || ccl_cuda_algorithm_has (row, 26)) {
      char *path = g_strdup_printf ("/cuda/volumes/%s", row->name);
      g_test_add_data_func (path, row, test_volumes);
      g_free (path);
    }
  }
  int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
