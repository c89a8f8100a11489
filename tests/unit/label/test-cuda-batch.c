/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches on the GPU against batches on the CPU: the same tables, maps and masks.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include "cuda/driver/device.h"
#include "tests/unit/label/masks.h"

#include <cudaccl/device.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

static CclCudaDevice *device;

/* Masks of one size, in host and device memory. Pixels between rows and masks are foreground. */
typedef struct Batch {
  CclBatchPlan plan;
  CclBatch *cpu, *gpu;
  size_t size;
  uint8_t *pixels; /* host */
  CclMasks host, device;
} Batch;

typedef struct Size {
  const char *name;
  uint32_t n_masks, width, height;
  uint32_t padding; /* bytes between rows */
} Size;

static const Size sizes[] = {
    {"1x1", 3, 1, 1, 0},
    {"16x5", 7, 16, 5, 0},
    {"128x64", 4, 128, 64, 0},
    {"129x65", 5, 129, 65, 0},
    {"260x150", 3, 260, 150, 12},
    {"264x70", 3, 264, 70, 8}, /* the last 16 bytes of a row reach behind it */
    {"512x40", 2, 512, 40, 0},
};

static void
fill (Batch *batch, uint32_t seed)
{
  static const uint32_t densities[] = {50, 0, 85, 100, 20, 60};
  static const uint32_t granularities[] = {1, 2, 40, 3, 150};
  const CclBatchPlan *plan = &batch->plan;

  memset (batch->pixels, 1, batch->size);
  for (uint32_t i = 0; i < plan->n_masks; i++) {
    Mask *mask = mask_new_from_noise (plan->width, plan->height, granularities[(i + seed) % 5],
        densities[(i + seed) % G_N_ELEMENTS (densities)], seed * 31 + i);
    for (uint32_t y = 0; y < plan->height; y++)
      for (uint32_t x = 0; x < plan->width; x++)
        batch->pixels[i * batch->host.mask_stride + y * batch->host.row_stride + x] =
            mask->pixels[y * plan->width + x] ? 1 + (x + y) % 255 : 0;
    mask_free (mask);
  }
  g_assert_cmpint (
      ccl_cuda_memory_upload (device, batch->pixels, batch->device.data, batch->size, NULL), ==, 0);
}

static Batch *
batch_new (const Size *size, CclConnectivity connectivity)
{
  Batch *batch = g_new0 (Batch, 1);
  CclError error = {CUDACCL_OK};

  batch->plan = (CclBatchPlan)CUDACCL_BATCH_PLAN_DEFAULT;
  batch->plan.n_masks = size->n_masks;
  batch->plan.width = size->width;
  batch->plan.height = size->height;
  batch->plan.connectivity = connectivity;
  batch->cpu = ccl_cpu_batch_new (&batch->plan, &error);
  batch->gpu = ccl_cuda_batch_new (device, &batch->plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  batch->host.row_stride = size->width + size->padding;
  batch->host.mask_stride = batch->host.row_stride * size->height + 2 * size->padding;
  batch->size = batch->host.mask_stride * size->n_masks;
  batch->pixels = g_malloc (batch->size);
  batch->device = batch->host;
  batch->host.data = batch->pixels;
  batch->device.location = CUDACCL_LOCATION_DEVICE;
  g_assert_cmpint (
      ccl_cuda_memory_new (device, batch->size, &batch->device.data, &error), ==, CUDACCL_OK);
  return batch;
}

static void
batch_free (Batch *batch)
{
  ccl_batch_free (&batch->cpu);
  ccl_batch_free (&batch->gpu);
  ccl_cuda_memory_free (device, &batch->device.data);
  g_free (batch->pixels);
  g_free (batch);
}

static void
assert_same_tables (const CclBatchTable *table, const CclBatchTable *expected)
{
  const uint32_t n = expected->n_masks;

  g_assert_cmpuint (table->n_masks, ==, n);
  g_assert_cmpmem (table->offsets, (n + 1) * sizeof *table->offsets, expected->offsets,
      (n + 1) * sizeof (uint64_t));
  for (uint64_t i = 0; i < expected->offsets[n]; i++)
    g_assert_cmpmem (&table->rows[i], sizeof *table->rows, &expected->rows[i], sizeof *table->rows);
}

/* Labels with and without maps. Bytes of maps between rows stay as they are. */
static void
check_labels (Batch *batch)
{
  const CclBatchPlan *plan = &batch->plan;
  const size_t row = 4 * ((size_t)plan->width + batch->host.row_stride % 7);
  const size_t slice = row * plan->height + 8, size = slice * plan->n_masks;
  g_autofree uint8_t *expected = g_malloc (2 * size), *found = g_malloc (2 * size);
  void *memory = NULL;
  CclBatchTable table, expected_table;

  memset (expected, 0xa5, 2 * size);
  g_assert_cmpint (ccl_cuda_memory_new (device, 2 * size, &memory, NULL), ==, CUDACCL_OK);
  const CclVolumeLabels host[] = {{expected, row, slice}, {expected + size, row, slice}};
  const CclVolumeLabels maps[] = {{memory, row, slice}, {(uint8_t *)memory + size, row, slice}};
  g_assert_cmpint (
      ccl_batch_label (batch->cpu, &batch->host, &host[0], &host[1], &expected_table, NULL), ==, 0);
  for (uint32_t n_maps = 0; n_maps < 3; n_maps++) {
    memset (found, 0xa5, 2 * size);
    g_assert_cmpint (ccl_cuda_memory_upload (device, found, memory, 2 * size, NULL), ==, 0);
    g_assert_cmpint (ccl_batch_label (batch->gpu, &batch->device, n_maps > 0 ? &maps[0] : NULL,
                         n_maps > 1 ? &maps[1] : NULL, &table, NULL),
        ==, CUDACCL_OK);
    assert_same_tables (&table, &expected_table);
    g_assert_cmpint (ccl_cuda_memory_download (device, memory, found, 2 * size, NULL), ==, 0);
    g_assert_cmpmem (found, n_maps * size, expected, n_maps * size);
  }
  ccl_cuda_memory_free (device, &memory);
}

static void
test_label (const void *data)
{
  for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
    Batch *batch = batch_new (data, (CclConnectivity)connectivity);
    for (uint32_t seed = 0; seed < 3; seed++) {
      fill (batch, seed);
      check_labels (batch);
    }
    batch_free (batch);
  }
}

static void
assert_same_masks (const Batch *batch)
{
  g_autofree uint8_t *found = g_malloc (batch->size);
  g_assert_cmpint (
      ccl_cuda_memory_download (device, batch->device.data, found, batch->size, NULL), ==, 0);
  g_assert_cmpmem (found, batch->size, batch->pixels, batch->size);
}

/* Holes filled and components removed, in place; the masks are labelled in between. */
static void
test_replace (const void *data)
{
  static const uint32_t areas[] = {0, 1, 7, 60};

  for (uint32_t i = 0; i < 2 * G_N_ELEMENTS (areas); i++) {
    const uint32_t area = areas[i / 2];
    Batch *batch = batch_new (data, i % 2 ? CUDACCL_CONNECTIVITY_8 : CUDACCL_CONNECTIVITY_4);
    fill (batch, i);
    g_assert_cmpint (ccl_batch_fill_holes (batch->cpu, &batch->host, area, 9, NULL), ==, 0);
    g_assert_cmpint (ccl_batch_fill_holes (batch->gpu, &batch->device, area, 9, NULL), ==, 0);
    assert_same_masks (batch);
    check_labels (batch);
    g_assert_cmpint (ccl_batch_remove_small (batch->cpu, &batch->host, area, NULL), ==, 0);
    g_assert_cmpint (ccl_batch_remove_small (batch->gpu, &batch->device, area, NULL), ==, 0);
    assert_same_masks (batch);
    check_labels (batch);
    batch_free (batch);
  }
}

/* More components than there is room for at first. */
static void
test_many_components (void)
{
  static const Size size = {"dots", 2, 130, 120, 0};
  Batch *batch = batch_new (&size, CUDACCL_CONNECTIVITY_8);

  for (uint32_t i = 0; i < size.n_masks * size.width * size.height; i++)
    batch->pixels[i] = i % size.width % 2 == 0 && i / size.width % 2 == 0;
  g_assert_cmpint (
      ccl_cuda_memory_upload (device, batch->pixels, batch->device.data, batch->size, NULL), ==, 0);
  for (uint32_t again = 0; again < 2; again++) {
    CclBatchTable table;
    g_assert_cmpint (
        ccl_batch_label (batch->gpu, &batch->device, NULL, NULL, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.offsets[1], ==, 65 * 60);
    g_assert_cmpuint (table.offsets[2], ==, 2 * 65 * 60);
    g_assert_cmpuint (table.rows[table.offsets[2] - 1].x, ==, 128);
    check_labels (batch);
  }
  batch_free (batch);
}

/* More masks than a grid has blocks in a dimension. */
static void
test_many_masks (void)
{
  static const Size size = {"pixels", 65536 + 9, 2, 1, 0};
  Batch *batch = batch_new (&size, CUDACCL_CONNECTIVITY_8);
  CclBatchTable table, expected;

  for (uint32_t i = 0; i < 2 * size.n_masks; i++)
    batch->pixels[i] = i % 3 == 0;
  g_assert_cmpint (
      ccl_cuda_memory_upload (device, batch->pixels, batch->device.data, batch->size, NULL), ==, 0);
  g_assert_cmpint (ccl_batch_label (batch->cpu, &batch->host, NULL, NULL, &expected, NULL), ==, 0);
  g_assert_cmpint (ccl_batch_label (batch->gpu, &batch->device, NULL, NULL, &table, NULL), ==, 0);
  assert_same_tables (&table, &expected);
  batch_free (batch);
}

static void
test_arguments (void)
{
  const Size size = {"small", 1, 3, 3, 0};
  Batch *batch = batch_new (&size, CUDACCL_CONNECTIVITY_8);
  CclBatchTable table;

  g_assert_null (ccl_cuda_batch_new (NULL, &batch->plan, NULL));
  g_assert_null (ccl_cuda_batch_new (device, NULL, NULL));
  g_assert_cmpint (ccl_batch_label (batch->gpu, &batch->host, NULL, NULL, &table, NULL), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_batch_set_stream (batch->cpu, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_batch_set_stream (NULL, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_batch_set_stream (batch->gpu, NULL, NULL), ==, CUDACCL_OK);
  batch_free (batch);
}

int
main (int argc, char **argv)
{
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (0, &error);
  if (!device) {
    printf ("1..0 # SKIP no GPU: %s\n", error.message);
    return error.status == CUDACCL_ERROR_NOT_FOUND ? 0 : 1;
  }
  for (uint32_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *label = g_strdup_printf ("/cuda-batch/label/%s", sizes[i].name);
    g_autofree char *replace = g_strdup_printf ("/cuda-batch/replace/%s", sizes[i].name);
    g_test_add_data_func (label, &sizes[i], test_label);
    g_test_add_data_func (replace, &sizes[i], test_replace);
  }
  g_test_add_func ("/cuda-batch/many-components", test_many_components);
  if (g_test_slow ())
    g_test_add_func ("/cuda-batch/many-masks", test_many_masks);
  g_test_add_func ("/cuda-batch/arguments", test_arguments);
  const int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
