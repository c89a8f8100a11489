/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances to the borders of components, peaks and floods: maps with padding at the end of
 * readable memory against their definitions, and arguments. tests/python/test_split.py has more of
 * them. */
#include "tests/unit/guarded-memory.h"

#include <cudaccl/distance.h>
#include <glib.h>

/* A map whose last word is the last one of readable memory. */
typedef struct Map {
  GuardedMemory memory;
  CclVolumeLabels view;
  uint32_t width, height, depth;
} Map;

static void
make_map (Map *map, uint32_t width, uint32_t height, uint32_t depth, uint32_t padding)
{
  const size_t row = 4 * (size_t)(width + padding), slice = row * height + 4 * padding;

  *map = (Map){.width = width, .height = height, .depth = depth};
  guarded_memory_resize (&map->memory, slice * (depth - 1) + row * (height - 1) + 4 * width, true);
  memset (map->memory.data, 0x5a, slice * (depth - 1) + row * (height - 1) + 4 * width);
  map->view = (CclVolumeLabels){map->memory.data, row, slice};
}

static uint32_t *
at (const Map *map, uint32_t x, uint32_t y, uint32_t z)
{
  return (uint32_t *)((uint8_t *)map->view.data + z * map->view.slice_stride +
                      y * map->view.row_stride) +
         x;
}

/* The least squared distance to a pixel with another label, pixel by pixel. */
static uint32_t
distance_by_definition (const Map *labels, uint32_t x, uint32_t y, uint32_t z)
{
  const uint32_t label = *at (labels, x, y, z);
  uint32_t nearest = CUDACCL_NO_DISTANCE;

  if (!label)
    return 0;
  for (uint32_t k = 0; k < labels->depth; k++)
    for (uint32_t j = 0; j < labels->height; j++)
      for (uint32_t i = 0; i < labels->width; i++) {
        const uint32_t squared = (i - x) * (i - x) + (j - y) * (j - y) + (k - z) * (k - z);
        if (*at (labels, i, j, k) != label && squared < nearest)
          nearest = squared;
      }
  return nearest;
}

static void
check_distances (GRand *random, bool is_volume)
{
  const uint32_t width = (uint32_t)g_rand_int_range (random, 1, is_volume ? 9 : 40);
  const uint32_t height = (uint32_t)g_rand_int_range (random, 1, is_volume ? 9 : 20);
  const uint32_t depth = is_volume ? (uint32_t)g_rand_int_range (random, 1, 9) : 1;
  const int n_labels = g_rand_int_range (random, 1, 4), share = g_rand_int_range (random, 1, 12);
  Map labels, squared;
  CclError error;

  make_map (&labels, width, height, depth, (uint32_t)g_rand_int_range (random, 0, 3));
  make_map (&squared, width, height, depth, (uint32_t)g_rand_int_range (random, 0, 3));
  for (uint32_t z = 0; z < depth; z++)
    for (uint32_t y = 0; y < height; y++)
      for (uint32_t x = 0; x < width; x++)
        *at (&labels, x, y, z) = g_rand_int_range (random, 0, 12) < share
                                     ? 1
                                     : (uint32_t)g_rand_int_range (random, 0, n_labels);
  g_assert_cmpint (ccl_label_distances (&labels.view, width, height, depth, &squared.view, &error),
      ==, CUDACCL_OK);
  for (uint32_t z = 0; z < depth; z++)
    for (uint32_t y = 0; y < height; y++)
      for (uint32_t x = 0; x < width; x++)
        g_assert_cmpuint (*at (&squared, x, y, z), ==, distance_by_definition (&labels, x, y, z));
  guarded_memory_clear (&labels.memory);
  guarded_memory_clear (&squared.memory);
}

static void
test_distances (void)
{
  GRand *random = g_rand_new_with_seed (27);

  for (int i = 0; i < 200; i++)
    check_distances (random, i % 2);
  g_rand_free (random);
}

/* Two squares of 5×5 pixels that touch at a bridge. */
static void
test_split (void)
{
  Map labels, squared, objects;
  CclError error;
  uint32_t n;

  make_map (&labels, 13, 7, 1, 1);
  make_map (&squared, 13, 7, 1, 0);
  make_map (&objects, 13, 7, 1, 2);
  for (uint32_t y = 0; y < 7; y++)
    for (uint32_t x = 0; x < 13; x++)
      *at (&labels, x, y, 0) =
          (y >= 1 && y <= 5 && x >= 1 && x <= 11 && x != 6) || (x == 6 && y == 3);
  g_assert_cmpint (
      ccl_label_distances (&labels.view, 13, 7, 1, &squared.view, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (*at (&squared, 3, 3, 0), ==, 9);
  g_assert_cmpint (
      ccl_distance_peaks (&labels.view, &squared.view, 13, 7, 1, 3, &objects.view, &n, &error), ==,
      CUDACCL_OK);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (*at (&objects, 3, 3, 0), ==, 1);
  g_assert_cmpuint (*at (&objects, 9, 3, 0), ==, 2);
  g_assert_cmpuint (*at (&objects, 4, 3, 0), ==, 0);
  g_assert_cmpint (
      ccl_flood_objects (&labels.view, &squared.view, 13, 7, 1, 4, &objects.view, &error), ==,
      CUDACCL_OK);
  for (uint32_t y = 0; y < 7; y++)
    for (uint32_t x = 0; x < 13; x++)
      if (x != 6)
        g_assert_cmpuint (
            *at (&objects, x, y, 0), ==, *at (&labels, x, y, 0) ? (x < 6 ? 1 : 2) : 0);
  /* Peaks within the radius of each other are one object. */
  g_assert_cmpint (
      ccl_distance_peaks (&labels.view, &squared.view, 13, 7, 1, 6, &objects.view, &n, &error), ==,
      CUDACCL_OK);
  g_assert_cmpuint (n, ==, 1);
  guarded_memory_clear (&labels.memory);
  guarded_memory_clear (&squared.memory);
  guarded_memory_clear (&objects.memory);
}

static void
test_arguments (void)
{
  uint32_t words[12] = {0}, others[12], n;
  const CclVolumeLabels good = {words, 16, 0}, other = {others, 16, 0};
  const CclVolumeLabels bad[] = {
      {NULL, 16, 0}, {words, 12, 0}, {words, 17, 0}, {(uint8_t *)words + 1, 16, 0}};
  CclError error;

  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_cmpint (
        ccl_label_distances (&bad[i], 4, 3, 1, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_label_distances (&good, 4, 3, 1, &bad[i], NULL), ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (ccl_distance_peaks (&good, &other, 4, 3, 1, 2, &bad[i], &n, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_flood_objects (&good, &other, 4, 3, 1, 4, &bad[i], &error), ==, CUDACCL_ERROR_ARGUMENT);
  }
  g_assert_cmpint (
      ccl_label_distances (&good, 0, 3, 1, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_label_distances (&good, 70000, 2, 1, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_label_distances (&good, 65536, 65536, 1, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_distance_peaks (&good, &other, 4, 3, 1, 0, &other, &n, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_distance_peaks (&good, &other, 4, 3, 1, 2, &other, NULL, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_flood_objects (&good, &other, 4, 3, 1, 5, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_flood_objects (&good, &other, 1, 3, 4, 8, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_fill_label_holes (&good, 4, 3, 0, 4, 1, 0, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_fill_label_holes (&good, 4, 3, 0, 6, 1, 0, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_fill_label_holes (&good, 4, 1, 3, 8, 1, 0, &other, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_fill_label_holes (&good, 4, 3, 1, 4, 1, 0, &other, &error), ==, CUDACCL_OK);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/distance/definition", test_distances);
  g_test_add_func ("/distance/split", test_split);
  g_test_add_func ("/distance/arguments", test_arguments);
  return g_test_run ();
}
