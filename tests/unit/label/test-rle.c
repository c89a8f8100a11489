/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-length encodings, packed masks and crops, against pixels that are looked at one by one. */
#include "tests/unit/label/masks.h"
#include "tests/unit/label/reference.h"

#include <cudaccl/rle.h>
#include <glib.h>
#include <string.h>

/* The counts of a mask, from a list of its pixels by columns. */
static GArray *
count_runs (const uint32_t *labels, uint32_t label, uint32_t width, uint32_t height)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  bool before = false;
  uint32_t n = 0;

  for (uint32_t i = 0; i < width * height; i++) {
    const bool now = labels[i % height * width + i / height] == label;
    if (now != before) {
      g_array_append_val (counts, n);
      n = 0;
    }
    before = now;
    n++;
  }
  g_array_append_val (counts, n);
  return counts;
}

static void
check_component (const Reference *labelled, const CclComponent *row, const CclLabels *labels,
    uint32_t width, uint32_t height)
{
  const uint64_t most = ccl_rle_most_counts (row);
  g_autofree uint32_t *counts = g_new (uint32_t, most);
  const uint64_t n = ccl_rle_encode (labels, width, height, row, counts);
  g_autoptr (GArray) expected = count_runs (labelled->labels, row->label, width, height);

  g_assert_cmpuint (n, <=, most);
  g_assert_cmpmem (counts, n * 4, expected->data, expected->len * 4);

  g_autofree char *text = g_new (char, ccl_rle_most_characters (n));
  const uint64_t length = ccl_rle_compress (counts, n, text);
  g_autofree uint32_t *again = g_new (uint32_t, length + 1);
  uint64_t n_again;
  g_assert_cmpuint (strlen (text), ==, length);
  g_assert_cmpint (ccl_rle_decompress (text, length, again, &n_again, NULL), ==, CUDACCL_OK);
  g_assert_cmpmem (again, n_again * 4, counts, n * 4);

  g_autofree uint8_t *mask = g_new (uint8_t, width * height);
  g_autofree uint8_t *crop = g_new (uint8_t, row->width * row->height);
  g_assert_cmpint (ccl_rle_decode (again, n, width, height, mask, width, NULL), ==, CUDACCL_OK);
  ccl_mask_crop (labels, row, crop, row->width);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      const bool is_label = labelled->labels[y * width + x] == row->label;
      const uint32_t left = x - row->x, above = y - row->y;
      g_assert_cmpuint (mask[y * width + x], ==, is_label);
      if (left < row->width && above < row->height)
        g_assert_cmpuint (crop[above * row->width + left], ==, is_label);
    }
}

static void
test_components (void)
{
  for (uint32_t i = 0; i < 30; i++) {
    Mask *mask = mask_new_from_noise (1 + 3 * i, 40 - i, 1 + i % 4, 20 + 3 * i % 70, i);
    const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
    Reference *labelled = reference_new ((const uint8_t *)mask->pixels, mask->width, mask->height,
        mask->width, CUDACCL_CONNECTIVITY_8, &options);
    const CclLabels labels = {labelled->labels, 4 * (size_t)mask->width};
    for (uint32_t j = 0; j < labelled->n_components; j++)
      check_component (labelled, &labelled->rows[j], &labels, mask->width, mask->height);
    reference_free (labelled);
    mask_free (mask);
  }
}

/* The runs of a label map, each divided in two if it can be and `divides` says so. */
static GArray *
find_runs (const uint32_t *labels, uint32_t width, uint32_t height, bool divides)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (CclLabelRun));
  uint32_t before = 0;

  for (uint32_t i = 0; i < width * height; i++) {
    const uint32_t label = labels[i % height * width + i / height];
    const CclLabelRun run = {i, label};
    if (label != before || divides)
      g_array_append_val (runs, run);
    before = label;
  }
  return runs;
}

static void
test_grouped_runs (void)
{
  for (uint32_t i = 0; i < 40; i++) {
    const uint32_t width = 1 + i % 13, height = 1 + i % 7, n = width * height;
    const uint32_t most = i % 2 ? 3 : UINT32_MAX - 1;
    g_autofree uint32_t *labels = g_new (uint32_t, n);
    for (uint32_t j = 0; j < n; j++)
      labels[j] = g_random_int () % 3 ? (uint32_t)(g_random_int () % 4) * (most / 3) : 0;
    g_autoptr (GArray) runs = find_runs (labels, width, height, i % 3 == 0);
    CclRleMasks masks;
    g_assert_cmpint (
        ccl_rle_group_runs ((CclLabelRun *)(void *)runs->data, runs->len, n, &masks, NULL), ==,
        CUDACCL_OK);
    g_autoptr (GHashTable) there = g_hash_table_new (NULL, NULL);
    for (uint32_t j = 0; j < n; j++)
      if (labels[j])
        g_hash_table_add (there, GUINT_TO_POINTER (labels[j]));
    g_assert_cmpuint (masks.n_masks, ==, g_hash_table_size (there));
    for (uint32_t j = 0; j < masks.n_masks; j++) {
      g_autoptr (GArray) expected = count_runs (labels, masks.labels[j], width, height);
      const uint64_t first = masks.first_count[j];
      g_assert_true (j == 0 || masks.labels[j] > masks.labels[j - 1]);
      g_assert_cmpmem (masks.counts + first, (masks.first_count[j + 1] - first) * 4, expected->data,
          expected->len * 4);
    }
    ccl_rle_masks_free (&masks);
    g_assert_null (masks.counts);
    ccl_rle_masks_free (&masks);
  }
  ccl_rle_masks_free (NULL);
}

static void
test_runs_that_are_refused (void)
{
  static const struct {
    CclLabelRun runs[2];
    uint64_t n, n_pixels;
  } wrong[] = {{{{5, 1}, {5, 2}}, 2, 9}, {{{5, 1}, {4, 2}}, 2, 9}, {{{9, 1}}, 1, 9},
      {{{2, 1}, {12, 0}}, 2, 9}, {{{0, 1}}, 1, (uint64_t)CUDACCL_MAX_PIXELS + 1}};
  CclRleMasks masks;

  for (uint32_t i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_cmpint (
        ccl_rle_group_runs (wrong[i].runs, wrong[i].n, wrong[i].n_pixels, &masks, NULL), ==,
        CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_group_runs (NULL, 1, 9, &masks, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_group_runs (NULL, 0, 9, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_group_runs (NULL, 0, 0, &masks, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (masks.n_masks, ==, 0);
  ccl_rle_masks_free (&masks);
}

/* Strings from pycocotools: of a mask of 3×4 pixels, all foreground but the first; and of counts
 * whose differences are negative. */
static void
test_compressed_form (void)
{
  static const uint32_t counts[][6] = {{1, 11}, {6, 1, 40, 4, 5, 4}, {0, 100000, 3, 7, 2, 9}};
  static const uint32_t n[] = {2, 6, 6};
  static const char *const texts[] = {"1;", "61X13mN0", "0PeQ33W[nLO2"};
  for (uint32_t i = 0; i < G_N_ELEMENTS (n); i++) {
    char text[64];
    ccl_rle_compress (counts[i], n[i], text);
    g_assert_cmpstr (text, ==, texts[i]);
  }
}

static void
test_arguments (void)
{
  static const char *const wrong[] = {"X", "/", "q", "O", "PPPPPPPPP0"};
  const uint32_t counts[] = {3, 4};
  uint32_t read[16];
  uint8_t mask[8];
  uint64_t n;

  for (uint32_t i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_cmpint (ccl_rle_decompress (wrong[i], strlen (wrong[i]), read, &n, NULL), ==,
        CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_decompress ("", 0, read, &n, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpint (ccl_rle_decompress (NULL, 1, read, &n, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_decode (counts, 2, 4, 2, mask, 4, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_decode (counts, 2, 3, 2, mask, 3, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_decode (NULL, 2, 7, 1, mask, 7, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_rle_decode (counts, 2, 7, 1, mask, 7, NULL), ==, CUDACCL_OK);
}

static void
test_packed_masks (void)
{
  for (uint32_t width = 1; width < 40; width++) {
    Mask *mask = mask_new_from_noise (width, 5, 1, 50, width);
    uint8_t bits[5][8], again[5][41];
    memset (bits, 0xff, sizeof bits);
    ccl_mask_pack ((const uint8_t *)mask->pixels, width, width, 5, bits[0], 8);
    ccl_mask_unpack (bits[0], 8, width, 5, again[0], 41);
    for (uint32_t y = 0; y < 5; y++) {
      for (uint32_t x = 0; x < (width + 7) / 8 * 8; x++)
        g_assert_cmpuint (
            bits[y][x / 8] >> x % 8 & 1, ==, x < width && mask->pixels[y * width + x]);
      for (uint32_t x = 0; x < width; x++)
        g_assert_cmpuint (again[y][x], ==, mask->pixels[y * width + x]);
    }
    mask_free (mask);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rle/grouped-runs", test_grouped_runs);
  g_test_add_func ("/rle/runs-that-are-refused", test_runs_that_are_refused);
  g_test_add_func ("/rle/components", test_components);
  g_test_add_func ("/rle/compressed-form", test_compressed_form);
  g_test_add_func ("/rle/arguments", test_arguments);
  g_test_add_func ("/rle/packed-masks", test_packed_masks);
  return g_test_run ();
}
