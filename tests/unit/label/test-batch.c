/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches on the CPU: masks that are written out, between unreadable memory, and arguments.
 * tests/python/test_batch.py compares noise with scipy. */
#include "tests/unit/guarded-memory.h"

#include <cudaccl/batch.h>
#include <glib.h>
#include <string.h>

enum { WIDTH = 9, HEIGHT = 6, N_MASKS = 3, N_PIXELS = WIDTH * HEIGHT };

/* A ring with a hole of 2 pixels, a bow that is open to the right border, and a pixel. */
static const char drawn[] = "####....#"
                            "#..#..###"
                            "####..#.."
                            "......###"
                            "#........"
                            ".........";

static void
draw (uint8_t *mask, const char *text)
{
  for (int i = 0; i < N_PIXELS; i++)
    mask[i] = text[i] == '#' ? 7 : 0;
}

static CclBatch *
batch_new (CclConnectivity connectivity)
{
  CclBatchPlan plan = CUDACCL_BATCH_PLAN_DEFAULT;
  CclError error;

  plan.n_masks = N_MASKS;
  plan.width = WIDTH;
  plan.height = HEIGHT;
  plan.connectivity = connectivity;
  CclBatch *batch = ccl_cpu_batch_new (&plan, &error);
  g_assert_nonnull (batch);
  return batch;
}

static void
test_label (void)
{
  CclBatch *batch = batch_new (CUDACCL_CONNECTIVITY_8);
  GuardedMemory memory = {0};
  uint32_t labels[N_MASKS][N_PIXELS], areas[N_MASKS][N_PIXELS];
  const CclVolumeLabels maps[] = {
      {labels, 4 * WIDTH, sizeof *labels}, {areas, 4 * WIDTH, sizeof *areas}};
  CclBatchTable table;
  CclError error;

  guarded_memory_resize (&memory, (size_t)N_MASKS * N_PIXELS, true);
  memset (memory.data, 0, memory.size);
  draw (memory.data, drawn);
  draw (memory.data + 2 * N_PIXELS, drawn);
  memory.data[2 * N_PIXELS] = 0;
  guarded_memory_set_read_only (&memory);
  const CclMasks masks = {.data = memory.data, .row_stride = WIDTH, .mask_stride = N_PIXELS};
  for (int i = 0; i < 2; i++) {
    memset (labels, 0xff, sizeof labels);
    memset (areas, 0xff, sizeof areas);
    g_assert_cmpint (
        ccl_batch_label (batch, &masks, &maps[0], &maps[1], &table, &error), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_masks, ==, N_MASKS);
    g_assert_cmpuint (table.offsets[0], ==, 0);
    g_assert_cmpuint (table.offsets[1], ==, 3);
    g_assert_cmpuint (table.offsets[2], ==, 3); /* an empty mask */
    g_assert_cmpuint (table.offsets[3], ==, 6);
    g_assert_cmpuint (table.rows[0].area, ==, 10);
    g_assert_cmpuint (table.rows[1].area, ==, 8); /* 1 + 3 + 1 + 3 */
    g_assert_cmpuint (table.rows[2].area, ==, 1);
    g_assert_cmpuint (table.rows[3].area, ==, 9); /* its first pixel is 0 */
    g_assert_cmpuint (table.rows[3].label, ==, 1);
    g_assert_cmpuint (labels[0][8], ==, 2);
    g_assert_cmpuint (areas[0][8], ==, 8);
    g_assert_cmpuint (labels[0][4], ==, 0);
    g_assert_cmpuint (areas[0][4], ==, 0);
    g_assert_cmpuint (labels[1][17], ==, 0);
    g_assert_cmpuint (areas[2][1], ==, table.rows[3].area);
  }
  ccl_batch_free (&batch);
  g_assert_null (batch);
  guarded_memory_clear (&memory);
}

static void
test_fill_and_remove (void)
{
  CclBatch *batch = batch_new (CUDACCL_CONNECTIVITY_8);
  uint8_t pixels[N_MASKS][HEIGHT][WIDTH + 3], expected[N_MASKS][HEIGHT][WIDTH + 3];
  const CclMasks masks = {.data = pixels, .row_stride = WIDTH + 3, .mask_stride = sizeof *pixels};
  CclError error;

  memset (pixels, 0xaa, sizeof pixels); /* bytes between rows stay as they are */
  for (int i = 0; i < N_MASKS; i++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        pixels[i][y][x] = i < 2 && drawn[y * WIDTH + x] == '#' ? 7 : 0;
  memcpy (expected, pixels, sizeof pixels);

  g_assert_cmpint (ccl_batch_fill_holes (batch, &masks, 1, 9, &error), ==, CUDACCL_OK);
  g_assert_cmpmem (pixels, sizeof pixels, expected, sizeof expected); /* the hole has 2 pixels */
  g_assert_cmpint (ccl_batch_fill_holes (batch, &masks, 2, 9, &error), ==, CUDACCL_OK);
  for (int i = 0; i < 2; i++)
    expected[i][1][1] = expected[i][1][2] = 9;
  g_assert_cmpmem (pixels, sizeof pixels, expected, sizeof expected);

  g_assert_cmpint (ccl_batch_remove_small (batch, &masks, 9, &error), ==, CUDACCL_OK);
  for (int i = 0; i < 2; i++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        if (x >= 4 || y >= 3)
          expected[i][y][x] = 0;
  g_assert_cmpmem (pixels, sizeof pixels, expected, sizeof expected);
  ccl_batch_free (&batch);
}

/* Four pixels around one are a ring for 8-connectivity alone. */
static void
test_corners_close_holes (void)
{
  for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
    CclBatch *batch = batch_new ((CclConnectivity)connectivity);
    uint8_t pixels[N_MASKS * N_PIXELS] = {0};
    const CclMasks masks = {pixels, WIDTH, N_PIXELS, CUDACCL_LOCATION_HOST};
    CclError error;

    pixels[WIDTH + 2] = pixels[2 * WIDTH + 1] = pixels[2 * WIDTH + 3] = pixels[3 * WIDTH + 2] = 1;
    g_assert_cmpint (ccl_batch_fill_holes (batch, &masks, 0, 1, &error), ==, CUDACCL_OK);
    g_assert_cmpuint (pixels[2 * WIDTH + 2], ==, connectivity == 8);
    ccl_batch_free (&batch);
  }
}

static void
test_arguments (void)
{
  CclBatchPlan good = {.n_masks = N_MASKS, .width = WIDTH, .height = HEIGHT, .connectivity = 8};
  CclBatchPlan bad[] = {good, good, good, good};
  uint8_t pixels[N_MASKS * N_PIXELS] = {0};
  uint32_t map[N_MASKS * N_PIXELS];
  CclBatchTable table;
  CclError error;

  bad[0].n_masks = 0;
  bad[1].height = 0;
  bad[2].n_masks = UINT32_MAX;
  bad[3].connectivity = (CclConnectivity)6;
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_null (ccl_cpu_batch_new (&bad[i], &error));
    g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  }
  g_assert_null (ccl_cpu_batch_new (NULL, NULL));

  CclBatch *batch = ccl_cpu_batch_new (&good, &error);
  const CclMasks right = {pixels, WIDTH, N_PIXELS, CUDACCL_LOCATION_HOST};
  const CclMasks wrong[] = {{NULL, WIDTH, N_PIXELS, CUDACCL_LOCATION_HOST},
      {pixels, WIDTH - 1, N_PIXELS, CUDACCL_LOCATION_HOST},
      {pixels, WIDTH, N_PIXELS - 1, CUDACCL_LOCATION_HOST},
      {pixels, WIDTH, N_PIXELS, CUDACCL_LOCATION_DEVICE}};
  const CclVolumeLabels maps = {map, 4 * WIDTH, 4 * N_PIXELS};
  const CclVolumeLabels overlapping = {map, 4 * WIDTH, 4 * N_PIXELS - 4};
  for (size_t i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_assert_cmpint (
        ccl_batch_label (batch, &wrong[i], NULL, NULL, &table, NULL), ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_batch_fill_holes (batch, &wrong[i], 0, 1, &error), ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_batch_remove_small (batch, &wrong[i], 2, &error), ==, CUDACCL_ERROR_ARGUMENT);
  }
  g_assert_cmpint (ccl_batch_fill_holes (batch, &right, 0, 0, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_batch_label (batch, &right, NULL, &maps, &table, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_batch_label (batch, &right, &overlapping, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_batch_label (batch, &right, NULL, NULL, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_batch_label (batch, &right, NULL, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.offsets[N_MASKS], ==, 0);
  ccl_batch_free (&batch);
  ccl_batch_free (&batch);
  ccl_batch_free (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/batch/label", test_label);
  g_test_add_func ("/batch/fill-and-remove", test_fill_and_remove);
  g_test_add_func ("/batch/corners-close-holes", test_corners_close_holes);
  g_test_add_func ("/batch/arguments", test_arguments);
  return g_test_run ();
}
