/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device memory without CUDA headers.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include <cudaccl/device.h>

#include <glib.h>
#include <stdio.h>
#include <string.h>

static CclCudaDevice *device;
static CclError error;

#define assert_ok(call)                                                                            \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_assert_cmpint ((call), ==, CUDACCL_OK);                                                      \
  }                                                                                                \
  G_STMT_END

#define assert_refused(call)                                                                       \
  G_STMT_START                                                                                     \
  {                                                                                                \
    error = (CclError){CUDACCL_OK, ""};                                                            \
    g_assert_cmpint ((call), ==, CUDACCL_ERROR_ARGUMENT);                                          \
    g_assert_cmpstr (error.message, !=, "");                                                       \
  }                                                                                                \
  G_STMT_END

static void
test_there_and_back (void)
{
  guint8 there[1000], back[1000];
  void *memory;

  for (guint i = 0; i < sizeof there; i++)
    there[i] = (guint8)(i * 7);
  assert_ok (ccl_cuda_memory_new (device, sizeof there, &memory, &error));
  g_assert_nonnull (memory);
  assert_ok (ccl_cuda_memory_upload (device, there, memory, sizeof there, &error));
  assert_ok (ccl_cuda_memory_download (device, memory, back, sizeof back, &error));
  g_assert_cmpmem (there, sizeof there, back, sizeof back);
  g_assert_cmpint (ccl_cuda_find_device_of (memory, &error), ==, 0);
  g_assert_cmpint (ccl_cuda_find_device_of ((char *)memory + 999, &error), ==, 0);
  g_assert_cmpint (ccl_cuda_find_device_of (there, &error), ==, -1);
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  ccl_cuda_memory_free (device, &memory);
  g_assert_null (memory);
  ccl_cuda_memory_free (device, &memory);
}

/* A picture of 3×5 words is transposed and reversed. */
static void
test_arrays (void)
{
  guint16 there[15], back[15];
  void *from, *to;

  for (guint i = 0; i < G_N_ELEMENTS (there); i++)
    there[i] = (guint16)(i * 4099);
  assert_ok (ccl_cuda_memory_new (device, sizeof there, &from, &error));
  assert_ok (ccl_cuda_memory_new (device, sizeof there, &to, &error));
  assert_ok (ccl_cuda_memory_upload (device, there, from, sizeof there, &error));
  CclCudaArrayCopy copy = {.item_bytes = 2,
      .shape = {1, 1, 5, 3},
      .from = (guint16 *)from + 14,
      .from_strides = {0, 0, -2, -10},
      .to = to,
      .to_strides = {0, 0, 6, 2}};
  assert_ok (ccl_cuda_array_copy (device, &copy, NULL, &error));
  assert_ok (ccl_cuda_memory_download (device, to, back, sizeof back, &error));
  for (guint x = 0; x < 5; x++)
    for (guint y = 0; y < 3; y++)
      g_assert_cmpuint (back[x * 3 + y], ==, there[(2 - y) * 5 + 4 - x]);
  assert_ok (ccl_cuda_stream_wait (device, NULL, &error));

  assert_refused (ccl_cuda_stream_wait (NULL, NULL, &error));
  assert_refused (ccl_cuda_array_copy (NULL, &copy, NULL, &error));
  assert_refused (ccl_cuda_array_copy (device, NULL, NULL, &error));
  copy.item_bytes = 3;
  assert_refused (ccl_cuda_array_copy (device, &copy, NULL, &error));
  copy.item_bytes = 2;
  copy.shape[0] = copy.shape[1] = UINT64_MAX / 2;
  assert_refused (ccl_cuda_array_copy (device, &copy, NULL, &error));
  copy.shape[0] = 0;
  assert_ok (ccl_cuda_array_copy (device, &copy, NULL, &error));
  copy.shape[0] = copy.shape[1] = 1;
  copy.from = NULL;
  assert_refused (ccl_cuda_array_copy (device, &copy, NULL, &error));
  ccl_cuda_memory_free (device, &from);
  ccl_cuda_memory_free (device, &to);
}

static void
test_runs_of_maps (void)
{
  static const uint32_t map[3][2] = {{1, 0}, {1, 2}, {0, 2}};
  static const CclLabelRun expected[] = {{0, 1}, {2, 0}, {4, 2}};
  const CclLabelRun *runs;
  CclLabels labels = {.stride = 8};
  uint64_t n;

  assert_ok (ccl_cuda_memory_new (device, sizeof map, &labels.data, &error));
  assert_ok (ccl_cuda_memory_upload (device, map, labels.data, sizeof map, &error));
  CclMapRuns *finder = ccl_cuda_map_runs_new (device, 2, 3, &error);
  g_assert_nonnull (finder);
  assert_ok (ccl_cuda_map_runs_set_stream (finder, NULL, &error));
  assert_ok (ccl_cuda_map_runs_find (finder, &labels, &runs, &n, &error));
  g_assert_cmpmem (runs, n * sizeof *runs, expected, sizeof expected);

  const CclLabels wrong[] = {
      {NULL, 8}, {labels.data, 4}, {(char *)labels.data + 1, 8}, {labels.data, 9}};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    assert_refused (ccl_cuda_map_runs_find (finder, &wrong[i], &runs, &n, &error));
  assert_refused (ccl_cuda_map_runs_find (finder, &labels, NULL, &n, &error));
  assert_refused (ccl_cuda_map_runs_find (NULL, &labels, &runs, &n, &error));
  assert_refused (ccl_cuda_map_runs_set_stream (NULL, NULL, &error));
  g_assert_null (ccl_cuda_map_runs_new (NULL, 2, 3, &error));
  g_assert_null (ccl_cuda_map_runs_new (device, 0, 3, &error));
  g_assert_null (ccl_cuda_map_runs_new (device, 1u << 16, 1u << 16, &error));
  ccl_cuda_map_runs_free (&finder);
  ccl_cuda_map_runs_free (&finder);
  ccl_cuda_memory_free (device, &labels.data);
}

static void
test_nothing (void)
{
  void *memory = &error;

  assert_ok (ccl_cuda_memory_new (device, 0, &memory, &error));
  g_assert_null (memory);
  assert_ok (ccl_cuda_memory_upload (device, NULL, NULL, 0, &error));
  assert_ok (ccl_cuda_memory_download (device, NULL, NULL, 0, &error));
}

static void
test_too_much (void)
{
  void *memory = &error;

  g_assert_cmpint (
      ccl_cuda_memory_new (device, (size_t)1 << 60, &memory, &error), ==, CUDACCL_ERROR_NO_MEMORY);
  g_assert_null (memory);
}

static void
test_bad_arguments (void)
{
  guint8 bytes[16];
  guint32 labels[4] = {0};
  const CclLabels map = {labels, 8}, narrow = {labels, 4}, absent = {NULL, 8};
  void *memory;

  assert_refused (ccl_cuda_memory_new (NULL, 16, &memory, &error));
  assert_refused (ccl_cuda_memory_new (device, 16, NULL, &error));
  assert_refused (ccl_cuda_memory_upload (NULL, bytes, bytes, 16, &error));
  assert_refused (ccl_cuda_memory_upload (device, bytes, NULL, 16, &error));
  assert_refused (ccl_cuda_memory_upload (device, NULL, bytes, 16, &error));
  assert_refused (ccl_cuda_memory_download (device, NULL, bytes, 16, &error));
  assert_refused (ccl_cuda_labels_download (device, NULL, 2, 2, &map, &error));
  assert_refused (ccl_cuda_labels_download (device, &absent, 2, 2, &map, &error));
  assert_refused (ccl_cuda_labels_download (device, &map, 2, 2, &narrow, &error));
  ccl_cuda_memory_free (NULL, NULL);
  ccl_cuda_memory_free (device, NULL);
}

/* A label map whose strides differ from those of the host's. */
static void
test_label_map (void)
{
  enum { WIDTH = 5, HEIGHT = 4 };
  static const guint8 pixels[HEIGHT * WIDTH] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0};
  static const guint32 expected[HEIGHT][WIDTH] = {
      {1, 1, 0, 0, 2}, {0, 0, 0, 0, 2}, {0, 3, 3, 0, 0}, {0}};
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  const CclFrame frame = {.data = pixels, .stride = WIDTH};
  CclLabels there = {.stride = 32};
  guint32 host[HEIGHT][WIDTH + 2];
  const CclLabels here = {host, sizeof host[0]};
  CclTable table;

  plan.width = WIDTH;
  plan.height = HEIGHT;
  memset (host, 0xab, sizeof host);
  assert_ok (ccl_cuda_memory_new (device, HEIGHT * there.stride, &there.data, &error));
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  assert_ok (ccl_labeller_run (labeller, &frame, &options, &there, &table, &error));
  assert_ok (ccl_cuda_labels_download (device, &there, WIDTH, HEIGHT, &here, &error));
  for (guint y = 0; y < HEIGHT; y++) {
    g_assert_cmpmem (host[y], sizeof expected[y], expected[y], sizeof expected[y]);
    g_assert_cmphex (host[y][WIDTH], ==, 0xabababab);
  }
  ccl_labeller_free (&labeller);
  ccl_cuda_memory_free (device, &there.data);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (0, &error);
  if (!device) {
    printf ("1..0 # SKIP %s\n", error.message);
    return 0;
  }
  g_test_add_func ("/cuda-memory/arrays", test_arrays);
  g_test_add_func ("/cuda-memory/runs-of-maps", test_runs_of_maps);
  g_test_add_func ("/cuda-memory/there-and-back", test_there_and_back);
  g_test_add_func ("/cuda-memory/nothing", test_nothing);
  g_test_add_func ("/cuda-memory/too-much", test_too_much);
  g_test_add_func ("/cuda-memory/bad-arguments", test_bad_arguments);
  g_test_add_func ("/cuda-memory/label-map", test_label_map);
  const int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
