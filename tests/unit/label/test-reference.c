/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reference itself, against results worked out by hand. */
#include "tests/unit/label/reference.h"

#include <glib.h>
#include <string.h>

/* Three components 8-connected, six 4-connected, numbered as they are met row by row. */
static const char drawing[] = "...#..."
                              "#.#...#"
                              "##..#.#"
                              "...#..#";

static void
check (CclConnectivity connectivity, const char *expected_labels, const CclComponent *expected,
    uint32_t n_expected, const CclLabellerOptions *options)
{
  uint8_t frame[4 * 9];
  Reference *reference;

  memset (frame, 77, sizeof frame);
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 7; x++)
      frame[9 * y + x] = drawing[7 * y + x] == '.' ? 0 : 200;

  reference = reference_new (frame, 7, 4, 9, connectivity, options);
  g_assert_cmpuint (reference->n_components, ==, n_expected);
  for (int i = 0; i < 28; i++)
    g_assert_cmpuint (reference->labels[i], ==,
        expected_labels[i] == '.' ? 0 : (uint32_t)(expected_labels[i] - '0'));
  for (uint32_t i = 0; i < n_expected; i++) {
    const CclComponent *row = &reference->rows[i];
    g_assert_cmpuint (row->label, ==, i + 1);
    g_assert_cmpuint (row->area, ==, expected[i].area);
    g_assert_cmpuint (row->x, ==, expected[i].x);
    g_assert_cmpuint (row->y, ==, expected[i].y);
    g_assert_cmpuint (row->width, ==, expected[i].width);
    g_assert_cmpuint (row->height, ==, expected[i].height);
    g_assert_cmpfloat (row->centroid_x, ==, expected[i].centroid_x);
    g_assert_cmpfloat (row->centroid_y, ==, expected[i].centroid_y);
  }
  reference_free (reference);
}

static void
test_8_connected (void)
{
  static const CclComponent expected[] = {
      {1, 5, 0, 0, 4, 3, 6 / 5.0, 6 / 5.0},
      {2, 3, 6, 1, 1, 3, 6, 2},
      {3, 2, 3, 2, 2, 2, 3.5, 2.5},
  };
  check (CUDACCL_CONNECTIVITY_8,
      "...1..."
      "1.1...2"
      "11..3.2"
      "...3..2",
      expected, G_N_ELEMENTS (expected), &(CclLabellerOptions){0});
}

static void
test_4_connected (void)
{
  static const CclComponent expected[] = {
      {1, 1, 3, 0, 1, 1, 3, 0},
      {2, 3, 0, 1, 2, 2, 1 / 3.0, 5 / 3.0},
      {3, 1, 2, 1, 1, 1, 2, 1},
      {4, 3, 6, 1, 1, 3, 6, 2},
      {5, 1, 4, 2, 1, 1, 4, 2},
      {6, 1, 3, 3, 1, 1, 3, 3},
  };
  check (CUDACCL_CONNECTIVITY_4,
      "...1..."
      "2.3...4"
      "22..5.4"
      "...6..4",
      expected, G_N_ELEMENTS (expected), &(CclLabellerOptions){0});
}

static void
test_threshold_is_exclusive (void)
{
  check (CUDACCL_CONNECTIVITY_8,
      "......."
      "......."
      "......."
      ".......",
      NULL, 0, &(CclLabellerOptions){.threshold = 200});
}

static void
test_filtered_components_get_no_label (void)
{
  static const CclComponent expected[] = {
      {1, 3, 0, 1, 2, 2, 1 / 3.0, 5 / 3.0},
      {2, 3, 6, 1, 1, 3, 6, 2},
  };
  check (CUDACCL_CONNECTIVITY_4,
      "......."
      "1.....2"
      "11....2"
      "......2",
      expected, G_N_ELEMENTS (expected), &(CclLabellerOptions){.min_area = 2, .threshold = 199});
}

static void
test_inverted (void)
{
  static const CclComponent expected[] = {{1, 18, 0, 0, 7, 4, 53 / 18.0, 25 / 18.0}};
  check (CUDACCL_CONNECTIVITY_8,
      "111.111"
      ".1.111."
      "..11.1."
      "111.11.",
      expected, 1, &(CclLabellerOptions){.invert = true});
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reference/8-connected", test_8_connected);
  g_test_add_func ("/reference/4-connected", test_4_connected);
  g_test_add_func ("/reference/threshold-is-exclusive", test_threshold_is_exclusive);
  g_test_add_func ("/reference/filtered-get-no-label", test_filtered_components_get_no_label);
  g_test_add_func ("/reference/inverted", test_inverted);
  return g_test_run ();
}
