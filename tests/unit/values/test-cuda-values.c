/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labeller of values on the GPU against a flood fill: every type and connectivity, sizes around
 * those of tiles, rows and slices with gaps; and large pictures against the CPU.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include "tests/unit/values/values-reference.h"

#include <cudaccl/device.h>
#include <stdio.h>
#include <string.h>

/* What is written between rows and slices before a run, and must be there after it. */
#define GAP 0xabababab

static CclCudaDevice *device;

/* A picture and its label map with gaps behind rows and slices, in host and device memory. */
typedef struct Memory {
  CclValuesPlan plan;
  uint32_t value_bytes;
  size_t row, slice, n; /* elements from one to the next, and all */
  uint8_t *values;      /* host */
  uint32_t *labels;
  void *device_values, *device_labels;
} Memory;

static void
memory_init (Memory *memory, const Picture *picture, const CclValuesPlan *plan, uint32_t gap)
{
  CclError error = {CUDACCL_OK};

  memory->plan = *plan;
  memory->value_bytes = values_bytes_of_types[plan->type];
  memory->row = picture->width + gap;
  memory->slice = memory->row * picture->height + 3 * gap;
  memory->n = memory->slice * picture->depth;
  memory->values = g_malloc (memory->n * memory->value_bytes);
  memory->labels = g_new (uint32_t, memory->n);
  /* Gaps have the value of the picture's first pixel, with which nothing may be joined. */
  for (size_t i = 0; i < memory->n; i++) {
    const size_t z = i / memory->slice, y = i % memory->slice / memory->row;
    const size_t x = i % memory->slice % memory->row;
    const bool is_inside = x < picture->width && y < picture->height;
    values_store (memory->values + i * memory->value_bytes, plan->type,
        picture->values[is_inside ? (z * picture->height + y) * picture->width + x : 0]);
  }
  ccl_cuda_memory_new (device, memory->n * memory->value_bytes, &memory->device_values, &error);
  ccl_cuda_memory_new (device, memory->n * 4, &memory->device_labels, &error);
  ccl_cuda_memory_upload (
      device, memory->values, memory->device_values, memory->n * memory->value_bytes, &error);
  g_assert_cmpstr (error.message, ==, "");
}

static void
memory_clear (Memory *memory)
{
  ccl_cuda_memory_free (device, &memory->device_values);
  ccl_cuda_memory_free (device, &memory->device_labels);
  g_free (memory->values);
  g_free (memory->labels);
}

static CclValues
values_of (const Memory *memory)
{
  return (CclValues){memory->device_values, memory->row * memory->value_bytes,
      memory->slice * memory->value_bytes, CUDACCL_LOCATION_DEVICE};
}

static CclVolumeLabels
labels_of (const Memory *memory)
{
  return (CclVolumeLabels){memory->device_labels, memory->row * 4, memory->slice * 4};
}

/* Labels the picture in the memory. Returns the number of components. */
static uint32_t
run (Memory *memory, CclValuesLabeller *labeller)
{
  const CclValues values = values_of (memory);
  const CclVolumeLabels labels = labels_of (memory);
  CclError error = {CUDACCL_OK};
  uint32_t n_components = 0;

  for (size_t i = 0; i < memory->n; i++)
    memory->labels[i] = GAP;
  ccl_cuda_memory_upload (device, memory->labels, memory->device_labels, memory->n * 4, &error);
  ccl_values_labeller_run (labeller, &values, &labels, &n_components, &error);
  ccl_cuda_memory_download (device, memory->device_labels, memory->labels, memory->n * 4, &error);
  g_assert_cmpstr (error.message, ==, "");
  return n_components;
}

static void
check_labels (const Memory *memory, const uint32_t *expected)
{
  const CclValuesPlan *plan = &memory->plan;

  for (size_t i = 0; i < memory->n; i++) {
    const size_t z = i / memory->slice, y = i % memory->slice / memory->row;
    const size_t x = i % memory->slice % memory->row;
    const bool is_inside = x < plan->width && y < plan->height;
    const size_t pixel = (z * plan->height + y) * plan->width + x;
    const uint32_t wanted = is_inside ? expected[pixel] : GAP;
    if (memory->labels[i] != wanted)
      g_error ("%ux%ux%u type %d connectivity %u: label %u at %zu, %zu, %zu instead of %u",
          plan->width, plan->height, plan->depth, (int)plan->type, plan->connectivity,
          memory->labels[i], x, y, z, wanted);
  }
}

static CclValuesPlan
plan_of (const Picture *picture, CclValueType type, uint32_t connectivity, bool zero_is_background,
    CclNanRule nan)
{
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;

  plan.width = picture->width;
  plan.height = picture->height;
  plan.depth = picture->depth;
  plan.connectivity = connectivity;
  plan.type = type;
  plan.zero_is_background = zero_is_background;
  plan.nan = nan;
  return plan;
}

static void
check_picture (const Picture *picture, CclValueType type, uint32_t connectivity,
    bool zero_is_background, CclNanRule nan, uint32_t gap)
{
  const CclValuesPlan plan = plan_of (picture, type, connectivity, zero_is_background, nan);
  const size_t n = (size_t)plan.width * plan.height * plan.depth;
  g_autofree uint32_t *expected = g_new (uint32_t, n);
  const uint32_t n_expected =
      values_reference (picture, connectivity, zero_is_background, nan, expected);
  CclError error = {CUDACCL_OK};
  Memory memory = {.n = 0};
  uint32_t n_counted = 0;

  memory_init (&memory, picture, &plan, gap);
  CclValuesLabeller *labeller = ccl_cuda_values_labeller_new (device, &plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  for (int i = 0; i < 2; i++) { /* the second run finds the memory of the first */
    g_assert_cmpuint (run (&memory, labeller), ==, n_expected);
    check_labels (&memory, expected);
  }
  const CclValues values = values_of (&memory);
  g_assert_cmpint (
      ccl_values_labeller_run (labeller, &values, NULL, &n_counted, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (n_counted, ==, n_expected);
  ccl_values_labeller_free (&labeller);
  memory_clear (&memory);
}

static const uint32_t connectivities[] = {4, 8, 6, 18, 26};

/* Pictures of one tile and of several, of less than a chunk and of several. */
static void
test_noise (gconstpointer data)
{
  const CclValueType type = (CclValueType)GPOINTER_TO_INT (data);
  GRand *random = g_rand_new_with_seed (28);

  for (int i = 0; i < 50; i++) {
    const uint32_t connectivity = connectivities[i % 5];
    const bool is_flat = connectivity == 4 || connectivity == 8;
    Picture picture = {.width = (uint32_t)g_rand_int_range (random, 1, is_flat ? 140 : 80),
        .height = (uint32_t)g_rand_int_range (random, 1, is_flat ? 150 : 20),
        .depth = is_flat ? 1 : (uint32_t)g_rand_int_range (random, 1, 20)};
    g_autofree double *values = g_new (double, picture.width *picture.height *picture.depth);
    picture.values = values;
    values_draw (random, &picture, type);
    check_picture (&picture, type, connectivity, g_rand_boolean (random), i / 5 % 2,
        (uint32_t)g_rand_int_range (random, 0, 4));
  }
  g_rand_free (random);
}

/* Cubes of three values whose corners are those of tiles: each pair of pixels across a face, an
 * edge or a corner of tiles is joined or not. The rest of the picture is background. */
static void
test_corners_of_tiles (void)
{
  GRand *random = g_rand_new_with_seed (29);
  double values[34 * 10 * 10];
  const Picture picture = {34, 10, 10, values};

  for (int i = 0; i < 150; i++) {
    memset (values, 0, sizeof values);
    for (uint32_t k = 0; k < 64; k++) {
      const uint32_t x = 30 + k % 4, y = 6 + k / 4 % 4, z = 6 + k / 16;
      values[(z * 10 + y) * 34 + x] = g_rand_int_range (random, 0, 3);
    }
    check_picture (&picture, CUDACCL_VALUE_TYPE_8, connectivities[2 + i % 3], true, 0, 0);
  }
  g_rand_free (random);
}

/* A line of one value that winds through the picture between lines of another one. */
static void
draw_serpentine (const Picture *picture)
{
  for (uint32_t i = 0; i < picture->width * picture->height * picture->depth; i++) {
    const uint32_t x = i % picture->width, row = i / picture->width;
    const uint32_t gap = row / 2 % 2 ? 0 : picture->width - 1;
    picture->values[i] = row % 2 == 0 || x == gap ? 7 : 9;
  }
}

/* One value, a serpentine, and noise: against the CPU. */
static void
test_large (gconstpointer data)
{
  const uint32_t connectivity = GPOINTER_TO_UINT (data);
  const bool is_flat = connectivity == 4 || connectivity == 8;
  Picture picture = {
      .width = is_flat ? 1999 : 203, .height = is_flat ? 1301 : 131, .depth = is_flat ? 1 : 117};
  const size_t n = (size_t)picture.width * picture.height * picture.depth;
  g_autofree double *values = g_new (double, n);
  g_autofree uint32_t *expected = g_new (uint32_t, n);
  GRand *random = g_rand_new_with_seed (30);
  CclError error = {CUDACCL_OK};

  picture.values = values;
  for (int kind = 0; kind < 6; kind++) {
    const CclValuesPlan plan = plan_of (&picture, CUDACCL_VALUE_TYPE_16, connectivity, kind % 2, 0);
    const CclVolumeLabels map = {
        expected, 4 * (size_t)picture.width, 4 * (size_t)picture.width * picture.height};
    Memory memory = {.n = 0};
    uint32_t n_expected = 0;
    if (kind == 0)
      draw_serpentine (&picture);
    else
      for (size_t i = 0; i < n; i++)
        values[i] = kind == 1 ? 3 : g_rand_int_range (random, 0, kind);
    memory_init (&memory, &picture, &plan, 0);
    CclValuesLabeller *cpu = ccl_cpu_values_labeller_new (&plan, &error);
    CclValuesLabeller *gpu = ccl_cuda_values_labeller_new (device, &plan, &error);
    const CclValues of_host = {
        memory.values, 2 * (size_t)picture.width, 2 * (size_t)picture.width * picture.height};
    ccl_values_labeller_run (cpu, &of_host, &map, &n_expected, &error);
    for (int i = 0; i < 3; i++) {
      g_assert_cmpuint (run (&memory, gpu), ==, n_expected);
      g_assert_cmpmem (memory.labels, n * 4, expected, n * 4);
    }
    ccl_values_labeller_free (&cpu);
    ccl_values_labeller_free (&gpu);
    memory_clear (&memory);
  }
  g_rand_free (random);
}

static void
test_arguments (void)
{
  double value = 5;
  const Picture picture = {1, 1, 1, &value};
  const CclValuesPlan plan = plan_of (&picture, CUDACCL_VALUE_TYPE_REAL_64, 8, true, 0);
  CclValuesPlan wrong = plan;
  CclError error = {CUDACCL_OK};
  Memory memory = {.n = 0};
  uint32_t n = 0;

  wrong.width = 0;
  g_assert_null (ccl_cuda_values_labeller_new (device, &wrong, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_null (ccl_cuda_values_labeller_new (NULL, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);

  memory_init (&memory, &picture, &plan, 0);
  CclValuesLabeller *cpu = ccl_cpu_values_labeller_new (&plan, NULL);
  CclValuesLabeller *gpu = ccl_cuda_values_labeller_new (device, &plan, NULL);
  const CclValues on_device = values_of (&memory);
  const CclValues on_host = {memory.values, 8, 8, CUDACCL_LOCATION_HOST};
  g_assert_cmpint (
      ccl_values_labeller_run (gpu, &on_host, NULL, &n, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpstr (error.message, ==, "this labeller takes pictures in device memory");
  g_assert_cmpint (
      ccl_values_labeller_run (cpu, &on_device, NULL, &n, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpstr (error.message, ==, "this labeller takes pictures in host memory");
  g_assert_cmpint (
      ccl_cuda_values_labeller_set_stream (cpu, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_cuda_values_labeller_set_stream (NULL, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_values_labeller_set_stream (gpu, NULL, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_values_labeller_run (gpu, &on_device, NULL, &n, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, 1);
  ccl_values_labeller_free (&cpu);
  ccl_values_labeller_free (&gpu);
  memory_clear (&memory);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {"8", "16", "32", "64", "real-32", "real-64"};
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (0, &error);
  if (!device) {
    printf ("1..0 # SKIP no GPU: %s\n", error.message);
    return error.status == CUDACCL_ERROR_NOT_FOUND ? 0 : 1;
  }
  for (int i = 0; i < 6; i++) {
    g_autofree char *path = g_strdup_printf ("/cuda-values/noise/%s", names[i]);
    g_test_add_data_func (path, GINT_TO_POINTER (i), test_noise);
  }
  g_test_add_func ("/cuda-values/corners-of-tiles", test_corners_of_tiles);
  for (int i = 0; i < 5; i++) {
    g_autofree char *path = g_strdup_printf ("/cuda-values/large/%u", connectivities[i]);
    g_test_add_data_func (path, GUINT_TO_POINTER (connectivities[i]), test_large);
  }
  g_test_add_func ("/cuda-values/arguments", test_arguments);
  const int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
