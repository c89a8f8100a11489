/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a component whose sums of coordinates are too large for a double. */
#include "core/measure/measure-parts.h"
#include "tiled/parts/part.h"

#include <glib.h>

#define TWO_TO_THE(n) (G_GUINT64_CONSTANT (1) << (n))

/* Doubles around 2^58 are 64 apart, and those around 2^60 are 256 apart. The whole is 2^60 + 133,
 * which is nearest to 2^60 + 256; if the parts were rounded first, they would add up to
 * 2^60 + 64, and so to 2^60. */
static void
test_sums_beyond_a_double (void)
{
  static const guint64 rests[4] = {31, 31, 31, 40};
  CclPart whole = CCL_EMPTY_PART;

  for (guint32 i = 0; i < 4; i++) {
    const CclPart part = {.area = 256,
        .sum_x = TWO_TO_THE (58) + rests[i],
        .sum_y = i,
        .sum_z = TWO_TO_THE (53) + 1,
        .least_x = 7 - i,
        .least_y = i,
        .greatest_x = G_MAXUINT32 - i,
        .greatest_y = 10 + i};
    ccl_part_add (&whole, &part);
  }
  g_assert_cmpuint (whole.sum_x, ==, TWO_TO_THE (60) + 133);
  g_assert_cmpuint (whole.sum_y, ==, 6);
  g_assert_cmpuint (whole.sum_z, ==, TWO_TO_THE (55) + 4);

  const CclTiledComponent row = part_row (&whole, 5);
  g_assert_cmpuint (row.label, ==, 5);
  g_assert_cmpuint (row.area, ==, 1024);
  g_assert_cmpuint (row.x, ==, 4);
  g_assert_cmpuint (row.y, ==, 0);
  g_assert_cmpuint (row.z, ==, 0);
  g_assert_cmpuint (row.width, ==, (guint64)G_MAXUINT32 - 3);
  g_assert_cmpuint (row.height, ==, 14);
  g_assert_cmpuint (row.depth, ==, 1);
  /* Divisions by 2^10 are exact. */
  g_assert_true (row.centroid_x == (double)TWO_TO_THE (50) + 0.25);
  g_assert_true (row.centroid_y == 6.0 / 1024);
}

/* Six pixels in the last rows of a picture of 2^32 rows: the sum of the squares of their rows needs
 * 67 bits. */
static void
test_moments_beyond_64_bits (void)
{
  static const guint32 labels[6] = {1, 1, 1, 1, 1, 1};
  const guint64 last = G_MAXUINT32;
  const CclPartMap map = {.labels = labels,
      .width = 2,
      .height = 3,
      .depth = 1,
      .row_stride = 2,
      .end_row = 3,
      .end_slice = 1,
      .y = last - 2,
      .picture_height = last + 1};
  const CclMeasuredPicture picture = {2, last + 1, false};
  CclPart part;
  CclMeasures measures;
  CclVolumeShape shape;

  g_assert_cmpint (
      ccl_parts_measure (&map, CUDACCL_COLUMN_MOMENTS, 1, &part, &measures, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint ((guint64)(measures.sum_yy >> 64), ==, 5);
  ccl_measures_derive (&part, &measures, CUDACCL_COLUMN_MOMENTS, &picture, &shape);
  g_assert_cmpfloat (shape.variance_x, ==, 0.25);
  g_assert_cmpfloat (shape.variance_y, ==, 24.0 / 36);
  g_assert_cmpfloat (shape.covariance_xy, ==, 0);
  g_assert_cmpfloat (shape.first_y, ==, (gdouble)last - 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tiled-part/sums-beyond-a-double", test_sums_beyond_a_double);
  g_test_add_func ("/tiled-part/moments-beyond-64-bits", test_moments_beyond_64_bits);
  return g_test_run ();
}
