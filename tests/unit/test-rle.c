/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-length encodings, packed masks and crops, against pixels that are looked at one by one. */
#include "masks.h"
#include "reference.h"

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
  g_test_add_func ("/rle/components", test_components);
  g_test_add_func ("/rle/compressed-form", test_compressed_form);
  g_test_add_func ("/rle/arguments", test_arguments);
  g_test_add_func ("/rle/packed-masks", test_packed_masks);
  return g_test_run ();
}
