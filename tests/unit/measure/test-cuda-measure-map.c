/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Label maps that are measured and changed on a GPU: equal to the bit to those of the CPU, and
 * equal to the definitions (shape-reference.h).
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cudaccl/device.h>
#include <cudaccl/distance.h>
#include <cudaccl/periodic.h>
#include "cuda/driver/device.h"
#include "shape-reference.h"

static CclCudaDevice *device;

/* A label map, its values and what is measured of it. depth is 0 for a frame. */
typedef struct Map {
  guint32 width, height, depth, columns;
  guint32 *labels; /* without gaps */
  void *values;    /* of the format */
  CclPixelFormat format;
  guint32 greatest;
} Map;

static void
check (CclStatus status, const CclError *error)
{
  if (status != CUDACCL_OK)
    g_error ("%s", error->message);
}

static guint32
slices_of (const Map *map)
{
  return map->depth ? map->depth : 1;
}

static gsize
pixels_of (const Map *map)
{
  return (gsize)map->width * map->height * slices_of (map);
}

static void
map_clear (Map *map)
{
  g_free (map->labels);
  g_free (map->values);
}

/* The components of noise, numbered by the labeller of the CPU. */
static void
label_noise (Map *map, GRand *random)
{
  static const CclVolumeConnectivity connectivities[] = {6, 18, 26};
  const gsize n = pixels_of (map), row = map->width;
  const CclVolumePlan plan = {.width = map->width,
      .height = map->height,
      .depth = slices_of (map),
      .connectivity = connectivities[g_rand_int_range (random, 0, 3)],
      .max_components = 1};
  const gint percent = g_rand_int_range (random, 5, 100);
  guint8 *voxels = g_malloc (n);
  const CclVolume volume = {voxels, row, row * map->height, CUDACCL_LOCATION_HOST};
  const CclVolumeLabels labels = {map->labels, 4 * row, 4 * row * map->height};
  const CclLabellerOptions options = {0};
  CclVolumeTable table;
  CclVolumeLabeller *labeller = ccl_cpu_volume_labeller_new (&plan, NULL);

  for (gsize i = 0; i < n; i++)
    voxels[i] = g_rand_int_range (random, 0, 100) < percent;
  g_assert_cmpint (
      ccl_volume_labeller_run (labeller, &volume, &options, &labels, &table, NULL), ==, CUDACCL_OK);
  ccl_volume_labeller_free (&labeller);
  g_free (voxels);
}

/* Boxes with labels that touch, overlap and have several parts; or a label for each pixel. */
static void
draw_labels (Map *map, GRand *random)
{
  const gsize n = pixels_of (map);
  const gint n_labels = g_rand_int_range (random, 1, 40),
             n_boxes = g_rand_int_range (random, 0, 30);

  memset (map->labels, 0, 4 * n);
  for (gint box = 0; box < n_boxes; box++) {
    const guint32 label = (guint32)g_rand_int_range (random, 0, n_labels + 1);
    const guint32 left = g_rand_int (random) % map->width, top = g_rand_int (random) % map->height;
    const guint32 front = g_rand_int (random) % slices_of (map);
    const guint32 size = (guint32)g_rand_int_range (random, 1, 40);
    for (gsize i = 0; i < n; i++) {
      const guint32 x = (guint32)(i % map->width), y = (guint32)(i / map->width % map->height);
      const guint32 z = (guint32)(i / map->width / map->height);
      if (x - left < size && y - top < size && z - front < size)
        map->labels[i] = label;
    }
  }
  for (gsize i = 0; n_boxes == 0 && i < n; i++)
    map->labels[i] = (guint32)g_rand_int_range (random, 0, n_labels);
}

static void
map_init (Map *map, guint32 width, guint32 height, guint32 depth, GRand *random)
{
  const guint32 all = CUDACCL_ALL_COLUMNS;

  *map = (Map){.width = width, .height = height, .depth = depth};
  map->columns = g_rand_int_range (random, 0, 3) ? all : (guint32)g_rand_int_range (random, 0, 32);
  if (depth)
    map->columns &= ~(guint32)CUDACCL_COLUMN_PERIMETER;
  map->labels = g_new (guint32, pixels_of (map));
  if (g_rand_boolean (random))
    label_noise (map, random);
  else
    draw_labels (map, random);
  for (gsize i = 0; i < pixels_of (map); i++)
    map->greatest = MAX (map->greatest, map->labels[i]);
  if (!(map->columns & CUDACCL_COLUMN_INTENSITY))
    return;
  const gsize bytes = g_rand_boolean (random) ? 1 : 2;
  map->format = bytes == 1 ? CUDACCL_PIXEL_FORMAT_8 : CUDACCL_PIXEL_FORMAT_16;
  map->values = g_malloc (pixels_of (map) * bytes);
  const guint32 mask = g_rand_boolean (random) ? 0xffffffff : 0; /* or all are black */
  for (gsize i = 0; i < pixels_of (map) * bytes; i++)
    ((guint8 *)map->values)[i] = (guint8)(g_rand_int (random) & mask);
}

/* A copy in device memory with gaps between rows and slices, `offset` bytes behind the start of
 * the memory. */
static void *
upload (const Map *map, const void *data, gsize bytes, gsize row_stride, gsize slice_stride,
    gsize offset)
{
  const gsize size = offset + slice_stride * slices_of (map);
  guint8 *host = g_malloc (size);
  void *memory;
  CclError error = {CUDACCL_OK};

  memset (host, 255, size);
  for (guint32 z = 0; z < slices_of (map); z++)
    for (guint32 y = 0; y < map->height; y++)
      memcpy (host + offset + z * slice_stride + y * row_stride,
          (const guint8 *)data + ((gsize)z * map->height + y) * map->width * bytes,
          map->width * bytes);
  check (ccl_cuda_memory_new (device, size, &memory, &error), &error);
  check (ccl_cuda_memory_upload (device, host, memory, size, &error), &error);
  g_free (host);
  return memory;
}

static void
compare_with_cpu (const Map *map, const CclMapTable *table, guint32 n)
{
  const gsize row = map->width, bytes = map->format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1;
  const CclVolumeLabels labels = {map->labels, 4 * row, 4 * row * map->height};
  const CclVolumeIntensity intensity = {
      map->values, row * bytes, row * bytes * map->height, map->format};
  CclVolumeComponent *rows = g_new0 (CclVolumeComponent, n + 1);
  CclVolumeShape *shapes = g_new0 (CclVolumeShape, n + 1);

  g_assert_cmpint (ccl_measure_volume_labels (&labels, map->width, map->height, map->depth,
                       &intensity, map->columns, n, rows, shapes, NULL),
      ==, CUDACCL_OK);
  for (guint32 i = 0; i < n; i++) {
    g_assert_cmpmem (&table->rows[i], sizeof *rows, &rows[i], sizeof *rows);
    if (map->columns && rows[i].n_voxels)
      g_assert_cmpmem (&table->shapes[i], sizeof *shapes, &shapes[i], sizeof *shapes);
  }
  g_free (rows);
  g_free (shapes);
}

static void
compare_with_definitions (const Map *map, const CclMapTable *table, guint32 n)
{
  const CclTiledPlan plan = {.width = map->width,
      .height = map->height,
      .depth = slices_of (map),
      .connectivity = map->depth ? 6 : 4,
      .columns = map->columns,
      .intensity_format = map->format};
  CclVolumeShape *expected = shapes_new (&plan, map->labels, map->values, n);

  for (guint32 i = 0; i < n; i++)
    if (table->rows[i].n_voxels)
      g_assert_true (shapes_are_equal (&table->shapes[i], &expected[i], map->depth > 0));
  free (expected);
}

/* Measures the map on the device, several times with one object. */
static void
check_map (const Map *map, guint32 max_labels, gsize gap, gsize offset)
{
  const gsize bytes = map->format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1;
  const gsize row = map->width + gap, slice = row * map->height + gap;
  CclMapMeasurerPlan plan = CUDACCL_MAP_MEASURER_PLAN_DEFAULT;
  CclVolumeLabels labels = {NULL, 4 * row, 4 * slice};
  CclVolumeIntensity intensity = {NULL, row * bytes + gap, slice * bytes, map->format};
  CclMapTable table = {0};
  CclError error = {CUDACCL_OK};
  void *memory = NULL;

  intensity.slice_stride = intensity.row_stride * map->height;
  plan.width = map->width;
  plan.height = map->height;
  plan.depth = map->depth;
  plan.columns = map->columns;
  plan.max_labels = max_labels;
  CclMapMeasurer *measurer = ccl_cuda_map_measurer_new (device, &plan, &error);
  g_assert_nonnull (measurer);
  labels.data = upload (map, map->labels, 4, labels.row_stride, labels.slice_stride, 0);
  if (map->values) {
    memory = upload (map, map->values, bytes, intensity.row_stride, intensity.slice_stride, offset);
    intensity.data = (guint8 *)memory + offset;
  }
  for (int run = 0; run < 2; run++) {
    if (!map->depth)
      labels.slice_stride = intensity.slice_stride = 0;
    check (ccl_cuda_map_measurer_run (measurer, &labels, &intensity, &table, &error), &error);
    const guint32 n = MIN (map->greatest, max_labels);
    g_assert_cmpuint (table.greatest_label, ==, map->greatest);
    g_assert_cmpuint (table.n_rows, ==, n);
    g_assert_true (!table.shapes == !map->columns);
    compare_with_cpu (map, &table, n);
    if (map->columns && pixels_of (map) < 10000)
      compare_with_definitions (map, &table, n);
  }
  ccl_cuda_map_measurer_free (&measurer);
  ccl_cuda_memory_free (device, &labels.data);
  ccl_cuda_memory_free (device, &memory);
}

static void
test_random_maps (gconstpointer n_cases)
{
  GRand *random = g_rand_new_with_seed (5);

  for (gint i = 0; i < GPOINTER_TO_INT (n_cases); i++) {
    const guint32 depth = i % 2 ? (guint32)g_rand_int_range (random, 1, 9) : 0;
    const guint32 width = (guint32)g_rand_int_range (random, 1, 75);
    Map map;
    map_init (&map, width, (guint32)g_rand_int_range (random, 1, depth ? 9 : 40), depth, random);
    const guint32 most = map.greatest + (guint32)g_rand_int_range (random, 0, 3);
    const guint32 max_labels = g_rand_int_range (random, 0, 3) ? most : most / 2;
    check_map (&map, MAX (max_labels, 1), (gsize)g_rand_int_range (random, 0, 4),
        (gsize)g_rand_int_range (random, 0, 2));
    map_clear (&map);
  }
  g_rand_free (random);
}

/* More labels in a tile than it has slots for, and tiles in all directions. */
static void
test_large_maps (void)
{
  GRand *random = g_rand_new_with_seed (6);
  static const guint32 sizes[][3] = {
      {1, 1, 1500}, {1, 1500, 1}, {1500, 1, 1}, {133, 71, 0}, {70, 17, 9}, {40, 9, 33}};

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Map map;
    map_init (&map, sizes[i][0], sizes[i][1], sizes[i][2], random);
    for (gsize k = 0; k < pixels_of (&map) && i > 2; k++)
      map.labels[k] = g_rand_int (random) % 300;
    map.greatest = 299;
    for (gsize k = 0; k < pixels_of (&map) && i <= 2; k++)
      map.labels[k] = 299;
    check_map (&map, 300, 0, 0);
    map_clear (&map);
  }
  g_rand_free (random);
}

/* Sums of squares above 2^64, to which many blocks add. */
static void
test_large_sums (void)
{
  const Map map = {.width = 1,
      .height = (1u << 22) + 77,
      .depth = 1,
      .columns = CUDACCL_COLUMN_MOMENTS,
      .labels = g_new (guint32, (1u << 22) + 77),
      .greatest = 1};

  for (gsize i = 0; i < pixels_of (&map); i++)
    map.labels[i] = 1;
  check_map (&map, 1, 0, 0);
  g_free (map.labels);
}

static void
test_arguments (void)
{
  CclMapMeasurerPlan plan = CUDACCL_MAP_MEASURER_PLAN_DEFAULT;
  guint32 label = 1;
  CclVolumeLabels labels = {&label, 16, 16};
  CclMapTable table;

  g_assert_null (ccl_cuda_map_measurer_new (device, &plan, NULL)); /* it has no size */
  plan.width = 4;
  plan.height = plan.depth = 1;
  g_assert_null (ccl_cuda_map_measurer_new (NULL, &plan, NULL));
  g_assert_null (ccl_cuda_map_measurer_new (device, NULL, NULL));
  plan.columns = CUDACCL_COLUMN_PERIMETER;
  g_assert_null (ccl_cuda_map_measurer_new (device, &plan, NULL));
  plan.columns = CUDACCL_COLUMN_INTENSITY;
  plan.max_labels = 0;
  g_assert_null (ccl_cuda_map_measurer_new (device, &plan, NULL));
  plan.max_labels = 1;
  CclMapMeasurer *measurer = ccl_cuda_map_measurer_new (device, &plan, NULL);
  g_assert_nonnull (measurer);
#define REFUSED(...)                                                                               \
  g_assert_cmpint (ccl_cuda_map_measurer_run (__VA_ARGS__, NULL), ==, CUDACCL_ERROR_ARGUMENT)
  REFUSED (NULL, &labels, NULL, &table);
  REFUSED (measurer, NULL, NULL, &table);
  REFUSED (measurer, &labels, NULL, &table);
  const CclVolumeIntensity thin = {&label, 3, 3, CUDACCL_PIXEL_FORMAT_8};
  REFUSED (measurer, &labels, &thin, &table);
  const CclVolumeIntensity intensity = {&label, 4, 4, CUDACCL_PIXEL_FORMAT_8};
  labels.row_stride = 12;
  REFUSED (measurer, &labels, &intensity, &table);
#undef REFUSED
  g_assert_cmpint (ccl_cuda_map_measurer_set_stream (NULL, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  ccl_cuda_map_measurer_free (&measurer);
  g_assert_null (measurer);
  ccl_cuda_map_measurer_free (&measurer);
  ccl_cuda_map_measurer_free (NULL);
}

/* Labels 0…most in blocks, so that some touch, in rows with padding. */
static void
draw_blocks (guint32 *labels, const guint32 size[3], guint32 pitch, guint32 most, GRand *random)
{
  const guint32 block = (guint32)g_rand_int_range (random, 1, 7);

  for (guint32 z = 0; z < size[2]; z++)
    for (guint32 y = 0; y < size[1]; y++)
      for (guint32 x = 0; x < size[0]; x++) {
        const guint32 place = x / block * 7919 + y / block * 104729 + z / block * 1299709 + block;
        labels[((gsize)z * size[1] + y) * pitch + x] =
            ((place ^ place >> 5) * 2654435761u >> 16) % (most + 1);
      }
}

/* Distances of random maps are those of the CPU. */
static void
test_distances (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (39);

  for (guint i = 0; i < 60; i++) {
    const guint32 size[3] = {(guint32)g_rand_int_range (random, 1, 90),
        (guint32)g_rand_int_range (random, 1, 40),
        i % 3 ? 1 : (guint32)g_rand_int_range (random, 1, 9)};
    const guint32 pitch = size[0] + (guint32)g_rand_int_range (random, 0, 3);
    const gsize n = (gsize)pitch * size[1] * size[2], n_bytes = n * sizeof (guint32);
    g_autofree guint32 *labels = g_new0 (guint32, n), *expected = g_new0 (guint32, n),
                       *found = g_new0 (guint32, n);
    g_autofree gdouble *roots = g_new0 (gdouble, n);
    const CclVolumeLabels map = {labels, 4 * pitch, 4 * (gsize)pitch * size[1]};
    CclVolumeLabels squares = map;
    CclCudaDistances there = {
        .labels = map, .squared = map, .width = size[0], .height = size[1], .depth = size[2]};
    void *memory = NULL;
    CclError error;

    draw_blocks (labels, size, pitch, (guint32)g_rand_int_range (random, 0, 4), random);
    squares.data = expected;
    check (ccl_label_distances (&map, size[0], size[1], size[2], &squares, &error), &error);
    check (ccl_cuda_memory_new (device, n_bytes, &there.labels.data, &error), &error);
    check (ccl_cuda_memory_new (device, n_bytes, &there.squared.data, &error), &error);
    check (ccl_cuda_memory_new (device, n * sizeof *roots, &memory, &error), &error);
    there.roots = i % 2 ? memory : NULL;
    check (ccl_cuda_memory_upload (device, labels, there.labels.data, n_bytes, &error), &error);
    check (ccl_cuda_memory_upload (device, found, there.squared.data, n_bytes, &error), &error);
    check (ccl_cuda_label_distances (device, &there, NULL, &error), &error);
    check (ccl_cuda_memory_download (device, there.squared.data, found, n_bytes, &error), &error);
    g_assert_cmpmem (found, n_bytes, expected, n_bytes);
    if (there.roots) {
      check (ccl_cuda_memory_download (device, memory, roots, n * sizeof *roots, &error), &error);
      for (gsize row = 0, k = 0; row < (gsize)size[1] * size[2]; row++)
        for (guint32 x = 0; x < size[0]; x++, k++) {
          const guint32 square = expected[row * pitch + x];
          const gdouble root = square == CUDACCL_NO_DISTANCE ? INFINITY : sqrt (square);
          g_assert_cmpfloat (roots[k], ==, root);
        }
    }
    ccl_cuda_memory_free (device, &there.labels.data);
    ccl_cuda_memory_free (device, &there.squared.data);
    ccl_cuda_memory_free (device, &memory);
  }
}

enum { MOST_LABELS = 40 };

/* How many sides each two labels share, 1 + , counted pixel by pixel; 0: they do not touch. */
static void
count_sides (const guint32 *labels, const guint32 size[3], guint connectivity,
    guint32 sides[MOST_LABELS + 1][MOST_LABELS + 1])
{
  const gint reach = connectivity == 26 ? 3 : connectivity == 18 || connectivity == 8 ? 2 : 1;
  const gint width = (gint)size[0], height = (gint)size[1], depth = (gint)size[2];

  for (gint place = 0; place < width * height * depth; place++)
    for (gint step = 14; step < 27; step++) { /* half of the neighbours */
      const gint dx = step % 3 - 1, dy = step / 3 % 3 - 1, dz = step / 9 - 1;
      const gint n_axes = abs (dx) + abs (dy) + abs (dz);
      const gint x = place % width + dx, y = place / width % height + dy,
                 z = place / width / height + dz;
      if (n_axes > reach || x < 0 || y < 0 || z < 0 || x >= width || y >= height || z >= depth)
        continue;
      const guint32 a = labels[place], b = labels[(z * height + y) * width + x];
      guint32 *count = &sides[MIN (a, b)][MAX (a, b)];
      if (a && b && a != b)
        *count = MAX (*count, 1) + (n_axes == 1);
    }
}

/* Pairs of labels and the sides that they share are those that are counted pixel by pixel. */
static void
test_contacts (void)
{
  static const guint connectivities[] = {4, 8, 6, 18, 26};
  g_autoptr (GRand) random = g_rand_new_with_seed (40);

  for (guint i = 0; i < 40; i++) {
    const guint connectivity = connectivities[i % 5];
    const guint32 size[3] = {(guint32)g_rand_int_range (random, 1, 70),
        (guint32)g_rand_int_range (random, 1, 30),
        connectivity == 4 || connectivity == 8 ? 1 : (guint32)g_rand_int_range (random, 1, 9)};
    const gsize n = (gsize)size[0] * size[1] * size[2];
    g_autofree guint32 *labels = g_new0 (guint32, n);
    CclVolumeLabels map = {NULL, 4 * size[0], 4 * (gsize)size[0] * size[1]};
    guint32 sides[MOST_LABELS + 1][MOST_LABELS + 1] = {{0}}, n_found = 0, k = 0;
    CclContact found[MOST_LABELS * MOST_LABELS];
    CclError error;

    draw_blocks (labels, size, size[0], MOST_LABELS, random);
    count_sides (labels, size, connectivity, sides);
    check (ccl_cuda_memory_new (device, n * 4, &map.data, &error), &error);
    check (ccl_cuda_memory_upload (device, labels, map.data, n * 4, &error), &error);
    check (ccl_cuda_label_contacts (device, &map, size[0], size[1], size[2], connectivity, found,
               G_N_ELEMENTS (found), &n_found, NULL, &error),
        &error);
    for (guint a = 1; a <= MOST_LABELS; a++)
      for (guint b = a + 1; b <= MOST_LABELS; b++) {
        if (!sides[a][b])
          continue;
        g_assert_cmpuint (k, <, n_found);
        g_assert_cmpuint (found[k].label, ==, a);
        g_assert_cmpuint (found[k].neighbour, ==, b);
        g_assert_cmpuint (found[k++].n_sides, ==, sides[a][b] - 1);
      }
    g_assert_cmpuint (n_found, ==, k);
    if (k > 1) { /* no room */
      check (ccl_cuda_label_contacts (device, &map, size[0], size[1], size[2], connectivity, found,
                 k - 1, &n_found, NULL, &error),
          &error);
      g_assert_cmpuint (n_found, >, k - 1);
    }
    ccl_cuda_memory_free (device, &map.data);
  }
}

#define ASSERT_REFUSED(call) g_assert_cmpint ((call), ==, CUDACCL_ERROR_ARGUMENT)

static void
test_arguments_of_distances_and_contacts (void)
{
  CclVolumeLabels map = {NULL, 16, 64};
  CclContact contact;
  guint32 n;
  CclError error;

  check (ccl_cuda_memory_new (device, 64, &map.data, &error), &error);
  CclCudaDistances there = {.labels = map, .squared = map, .width = 4, .height = 4, .depth = 1};
  ASSERT_REFUSED (ccl_cuda_label_distances (NULL, &there, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_distances (device, NULL, NULL, NULL));
  there.labels.data = NULL;
  ASSERT_REFUSED (ccl_cuda_label_distances (device, &there, NULL, NULL));
  there.labels = map;
  there.squared.row_stride = 12;
  ASSERT_REFUSED (ccl_cuda_label_distances (device, &there, NULL, NULL));
  there.squared = map;
  there.width = 0;
  ASSERT_REFUSED (ccl_cuda_label_distances (device, &there, NULL, NULL));
  there.width = 4;
  there.roots = (gdouble *)((gchar *)map.data + 4);
  ASSERT_REFUSED (ccl_cuda_label_distances (device, &there, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (NULL, &map, 4, 4, 1, 4, &contact, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, NULL, 4, 4, 1, 4, &contact, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, &map, 4, 4, 1, 5, &contact, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, &map, 4, 2, 2, 4, &contact, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, &map, 0, 4, 1, 4, &contact, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, &map, 4, 4, 1, 4, &contact, 0, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_label_contacts (device, &map, 4, 4, 1, 4, NULL, 1, &n, NULL, NULL));
  ASSERT_REFUSED (
      ccl_cuda_label_contacts (device, &map, 4, 4, 1, 4, &contact, 1, NULL, NULL, NULL));
  ccl_cuda_memory_free (device, &map.data);
}

/* A copy of words in device memory. */
static gpointer
upload_words (const guint32 *words, gsize n)
{
  gpointer memory = NULL;
  CclError error;

  check (ccl_cuda_memory_new (device, n * 4, &memory, &error), &error);
  check (ccl_cuda_memory_upload (device, words, memory, n * 4, &error), &error);
  return memory;
}

/* Sides of a random picture: of a frame for the connectivities 4 and 8. */
static void
choose_size (guint32 size[3], guint connectivity, gboolean is_large, GRand *random)
{
  size[0] = (guint32)g_rand_int_range (random, 1, is_large ? 150 : 30);
  size[1] = (guint32)g_rand_int_range (random, 1, 30);
  size[2] = connectivity == 4 || connectivity == 8 ? 1 : (guint32)g_rand_int_range (random, 1, 9);
}

/* Holes of random maps, whose labels touch and are in parts, are filled as on the CPU, into another
 * map or the same one. */
static void
test_holes_of_labels (void)
{
  static const guint connectivities[] = {4, 8, 6, 18, 26};
  g_autoptr (GRand) random = g_rand_new_with_seed (41);
  guint n_changed = 0;

  for (guint i = 0; i < 80; i++) {
    const guint connectivity = connectivities[i % 5], max_area = i / 5 % 4 == 0 ? 4 : 0;
    guint32 size[3];
    choose_size (size, connectivity, i < 10, random);
    const guint32 pitch = size[0] + i % 3;
    const gsize n = (gsize)pitch * size[1] * size[2];
    g_autofree guint32 *labels = g_new0 (guint32, n), *expected = g_new0 (guint32, n),
                       *found = g_new0 (guint32, n);
    CclVolumeLabels map = {labels, 4 * pitch, 4 * (gsize)pitch * size[1]}, to = map;
    const guint32 most = (guint32)g_rand_int_range (random, 1, 4);
    CclError error;

    draw_blocks (labels, size, pitch, most, random);
    for (gsize k = 0; k < n / 8; k++) /* so that labels have holes */
      labels[g_rand_int (random) % n] = g_rand_boolean (random) ? 0 : most + 3;
    to.data = expected;
    check (ccl_fill_label_holes (
               &map, size[0], size[1], size[2], connectivity, most + 3, max_area, &to, &error),
        &error);
    map.data = upload_words (labels, n);
    to.data = i % 2 ? upload_words (found, n) : map.data;
    check (ccl_cuda_fill_label_holes (
               device, &map, size[0], size[1], size[2], connectivity, max_area, &to, NULL, &error),
        &error);
    check (ccl_cuda_memory_download (device, to.data, found, n * 4, &error), &error);
    for (gsize row = 0; row < (gsize)size[1] * size[2]; row++)
      g_assert_cmpmem (found + row * pitch, 4 * size[0], expected + row * pitch, 4 * size[0]);
    n_changed += memcmp (expected, labels, n * 4) != 0;
    if (to.data != map.data)
      ccl_cuda_memory_free (device, &to.data);
    ccl_cuda_memory_free (device, &map.data);
  }
  g_assert_cmpuint (n_changed, >, 20);
}

/* Three objects in each other, by hand: each hole gets the label around it, and objects stay. */
static void
test_nested_objects (void)
{
  static const gchar drawn[] = "aaaaaaa."
                               "a.....a."
                               "a.bbb.a."
                               "a.b.b.a."
                               "a.bbb.ac"
                               "aaaaaaa.";
  static const gchar filled[] = "aaaaaaa."
                                "aaaaaaa."
                                "aabbbaa."
                                "aabbbaa."
                                "aabbbaac"
                                "aaaaaaa.";
  enum { WIDTH = 8, HEIGHT = 6 };
  guint32 labels[WIDTH * HEIGHT];
  CclVolumeLabels map = {NULL, 4 * WIDTH, 4 * WIDTH * HEIGHT};
  CclError error;

  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    labels[i] = drawn[i] == '.' ? 0 : 4000000000u + (guint32)drawn[i];
  map.data = upload_words (labels, WIDTH * HEIGHT);
  check (
      ccl_cuda_fill_label_holes (device, &map, WIDTH, HEIGHT, 1, 4, 0, &map, NULL, &error), &error);
  check (ccl_cuda_memory_download (device, map.data, labels, sizeof labels, &error), &error);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    g_assert_cmpuint (labels[i], ==, filled[i] == '.' ? 0 : 4000000000u + (guint32)filled[i]);
  ccl_cuda_memory_free (device, &map.data);
}

/* Components of noise that touch over borders are joined and measured as on the CPU, to the bit. */
static void
test_periodic_borders (void)
{
  static const guint connectivities[] = {4, 8, 6, 18, 26};
  g_autoptr (GRand) random = g_rand_new_with_seed (42);
  guint n_joined = 0;

  for (guint i = 0; i < 60; i++) {
    const guint connectivity = connectivities[i % 5];
    const guint32 axes = i % 5 < 2 ? i / 5 % 4 : i / 5 % 8;
    guint32 size[3];
    choose_size (size, connectivity, i < 10, random);
    const gsize n = (gsize)size[0] * size[1] * size[2];
    Map noise = {.width = size[0], .height = size[1], .depth = size[2]};
    g_autofree guint32 *found = g_new (guint32, n);
    g_autofree CclVolumeComponent *expected = g_new (CclVolumeComponent, n),
                                  *rows = g_new (CclVolumeComponent, n);
    CclVolumeLabels map = {NULL, 4 * size[0], 4 * (gsize)size[0] * size[1]};
    guint32 n_expected = 0, n_found;
    CclError error;

    noise.labels = g_new (guint32, n);
    label_noise (&noise, random);
    for (gsize k = 0; k < n; k++)
      n_expected = MAX (n_expected, noise.labels[k]);
    n_found = n_expected;
    map.data = upload_words (noise.labels, n);
    check (ccl_cuda_join_borders (device, &map, size[0], size[1], size[2], connectivity, axes,
               &n_found, rows, NULL, &error),
        &error);
    check (ccl_cuda_memory_download (device, map.data, found, n * 4, &error), &error);
    ccl_cuda_memory_free (device, &map.data);
    map.data = noise.labels;
    n_joined += n_expected;
    check (ccl_join_borders (
               &map, size[0], size[1], size[2], connectivity, axes, &n_expected, expected, &error),
        &error);
    n_joined -= n_expected;
    g_assert_cmpmem (found, n * 4, noise.labels, n * 4);
    g_assert_cmpmem (rows, n_found * sizeof *rows, expected, n_expected * sizeof *expected);
    map_clear (&noise);
  }
  g_assert_cmpuint (n_joined, >, 100);
}

/* A picture with more pixels than a device has threads at a time: a sheet with holes, of which some
 * have objects in them, and components at all borders. */
static void
test_large_changes (void)
{
  const guint32 width = 2500, height = 260, n = width * height;
  g_autofree guint32 *labels = g_new (guint32, n), *expected = g_new (guint32, n),
                     *found = g_new (guint32, n);
  g_autofree CclVolumeComponent *rows = g_new (CclVolumeComponent, n),
                                *expected_rows = g_new (CclVolumeComponent, n);
  CclVolumeLabels map = {labels, 4 * width, 4 * (gsize)n}, to = {expected, 4 * width, 4 * (gsize)n};
  guint32 n_found, n_expected = 0;
  CclError error;

  for (guint32 i = 0; i < n; i++) {
    const guint32 x = i % width % 50, y = i / width % 26;
    labels[i] =
        x > 9 && x < 41 && y > 4 && y < 22 ? (x > 19 && x < 31 && y > 9 && y < 17 ? 7 : 0) : 5;
  }
  check (ccl_fill_label_holes (&map, width, height, 1, 8, 7, 0, &to, &error), &error);
  map.data = upload_words (labels, n);
  check (
      ccl_cuda_fill_label_holes (device, &map, width, height, 1, 8, 0, &map, NULL, &error), &error);
  check (ccl_cuda_memory_download (device, map.data, found, 4 * (gsize)n, &error), &error);
  g_assert_cmpmem (found, 4 * (gsize)n, expected, 4 * (gsize)n);

  for (guint32 i = 0; i < n; i++) { /* one after the other, apart from each other */
    const guint32 column = i % width / 50, x = i % width % 50, y = i / width % 26;
    labels[i] = x > 9 && x < 41 && y > 4 && y < 22 ? i / width / 26 * (width / 50) + column + 1 : 0;
  }
  for (guint32 y = 10; y < 20; y++) { /* the first one goes on at the end of the rows */
    for (guint32 x = 0; x < 10; x++)
      labels[y * width + x] = 1;
    for (guint32 x = width - 9; x < width; x++)
      labels[y * width + x] = width / 50;
  }
  n_expected = n_found = height / 26 * (width / 50);
  check (ccl_cuda_memory_upload (device, labels, map.data, 4 * (gsize)n, &error), &error);
  check (ccl_cuda_join_borders (device, &map, width, height, 1, 8, 3, &n_found, rows, NULL, &error),
      &error);
  check (ccl_cuda_memory_download (device, map.data, found, 4 * (gsize)n, &error), &error);
  ccl_cuda_memory_free (device, &map.data);
  map.data = labels;
  check (
      ccl_join_borders (&map, width, height, 1, 8, 3, &n_expected, expected_rows, &error), &error);
  g_assert_cmpuint (n_found, ==, height / 26 * (width / 50) - 1);
  g_assert_cmpmem (found, 4 * (gsize)n, labels, 4 * (gsize)n);
  g_assert_cmpmem (rows, n_found * sizeof *rows, expected_rows, n_expected * sizeof *expected_rows);
}

/* Floods a random map on the CPU and on the device. kind: of the heights: distances, few different
 * ones, none but 0, or any. Returns whether a marker flooded a pixel. */
static gboolean
check_flood (const guint32 size[3], guint connectivity, guint kind, GRand *random)
{
  const guint32 pitch = size[0] + g_rand_int (random) % 3;
  const gsize n = (gsize)pitch * size[1] * size[2], n_bytes = 4 * n;
  g_autofree guint32 *labels = g_new0 (guint32, n), *heights = g_new0 (guint32, n),
                     *objects = g_new0 (guint32, n), *found = g_new0 (guint32, n);
  CclVolumeLabels map = {labels, 4 * pitch, 4 * (gsize)pitch * size[1]}, squared = map, to = map;
  const gint n_markers = 1 + (gint)(n / (gsize)g_rand_int_range (random, 3, 60));
  CclCudaFlood there = {.labels = map,
      .squared = map,
      .objects = map,
      .width = size[0],
      .height = size[1],
      .depth = size[2],
      .connectivity = connectivity};
  CclError error;

  draw_blocks (labels, size, pitch, (guint32)g_rand_int_range (random, 1, 3), random);
  for (gsize k = 0; k < n; k++) {
    labels[k] = kind % 2 ? labels[k] : g_rand_int_range (random, 0, 9) > 0;
    heights[k] = kind == 1 ? g_rand_int (random) % 4 : kind == 2 ? 0 : g_rand_int (random);
  }
  squared.data = heights;
  to.data = objects;
  if (kind == 0)
    check (ccl_label_distances (&map, size[0], size[1], size[2], &squared, &error), &error);
  for (gint k = 0; k < n_markers; k++) /* some are of one object, and on the background */
    objects[g_rand_int (random) % n] = k % 5 ? (guint32)k + 1 : UINT32_MAX - (guint32)k / 10;
  there.labels.data = upload_words (labels, n);
  there.squared.data = upload_words (heights, n);
  there.objects.data = upload_words (objects, n);
  check (ccl_cuda_flood_objects (device, &there, NULL, &error), &error);
  check (ccl_cuda_memory_download (device, there.objects.data, found, n_bytes, &error), &error);
  ccl_cuda_memory_free (device, &there.labels.data);
  ccl_cuda_memory_free (device, &there.squared.data);
  ccl_cuda_memory_free (device, &there.objects.data);
  g_autofree guint32 *markers = g_memdup2 (objects, n_bytes);
  check (ccl_flood_objects (&map, &squared, size[0], size[1], size[2], connectivity, &to, &error),
      &error);
  for (gsize row = 0; row < (gsize)size[1] * size[2]; row++)
    g_assert_cmpmem (found + row * pitch, 4 * size[0], objects + row * pitch, 4 * size[0]);
  return memcmp (markers, objects, n_bytes) != 0;
}

/* Floods are those of the CPU, ties among them. */
static void
test_flood (void)
{
  static const guint connectivities[] = {4, 8, 6, 18, 26};
  g_autoptr (GRand) random = g_rand_new_with_seed (43);
  guint n_changed = 0;

  for (guint i = 0; i < 160; i++) {
    const guint connectivity = connectivities[i % 5];
    guint32 size[3];
    choose_size (size, connectivity, i % 3 == 0, random);
    n_changed += check_flood (size, connectivity, i / 5 % 4, random);
  }
  g_assert_cmpuint (n_changed, >, 100);
}

/* Peaks of random heights are those of the CPU. */
static void
test_peaks (void)
{
  static const guint32 radii[] = {1, 2, 3, 7, CUDACCL_MAX_PEAK_RADIUS};
  g_autoptr (GRand) random = g_rand_new_with_seed (44);
  guint32 most = 0;

  for (guint i = 0; i < 60; i++) {
    guint32 size[3], n_expected = 0, n_found = 0;
    choose_size (size, i % 2 ? 26 : 8, i % 3 == 0, random);
    const gsize n = (gsize)size[0] * size[1] * size[2];
    g_autofree guint32 *labels = g_new (guint32, n), *heights = g_new (guint32, n),
                       *expected = g_new (guint32, n), *found = g_new (guint32, n);
    const CclVolumeLabels map = {labels, 4 * size[0], 4 * (gsize)size[0] * size[1]};
    CclVolumeLabels squared = map, to = map;
    CclCudaFlood there = {map, map, map, size[0], size[1], size[2], 0};
    CclError error;

    draw_blocks (labels, size, size[0], (guint32)g_rand_int_range (random, 1, 4), random);
    for (gsize k = 0; k < n; k++)
      heights[k] = i % 4 == 1 ? g_rand_int (random) : 1 + g_rand_int (random) % 3;
    squared.data = heights;
    to.data = expected;
    if (i % 4 == 0)
      check (ccl_label_distances (&map, size[0], size[1], size[2], &squared, &error), &error);
    check (ccl_distance_peaks (
               &map, &squared, size[0], size[1], size[2], radii[i % 5], &to, &n_expected, &error),
        &error);
    there.labels.data = upload_words (labels, n);
    there.squared.data = upload_words (heights, n);
    there.objects.data = upload_words (labels, n);
    check (ccl_cuda_distance_peaks (device, &there, radii[i % 5], &n_found, NULL, &error), &error);
    check (ccl_cuda_memory_download (device, there.objects.data, found, 4 * n, &error), &error);
    g_assert_cmpuint (n_found, ==, n_expected);
    g_assert_cmpmem (found, 4 * n, expected, 4 * n);
    most = MAX (most, n_found);
    ccl_cuda_memory_free (device, &there.labels.data);
    ccl_cuda_memory_free (device, &there.squared.data);
    ccl_cuda_memory_free (device, &there.objects.data);
  }
  g_assert_cmpuint (most, >, 50);
}

/* Distances of squares and discs, which have many ties, in more tiles than there are blocks. */
static void
test_flood_of_a_large_picture (void)
{
  const guint32 width = 400, height = 300, n = width * height;
  g_autofree guint32 *labels = g_new (guint32, n), *heights = g_new (guint32, n),
                     *objects = g_new0 (guint32, n), *found = g_new (guint32, n);
  const CclVolumeLabels map = {labels, 4 * width, 4 * (gsize)n};
  CclVolumeLabels squared = {heights, 4 * width, 4 * (gsize)n},
                  to = {objects, 4 * width, 4 * (gsize)n};
  CclCudaFlood there = {.labels = map,
      .squared = map,
      .objects = map,
      .width = width,
      .height = height,
      .depth = 1,
      .connectivity = 8};
  guint32 n_objects = 0, n_found = 0;
  CclError error;

  for (guint32 i = 0; i < n; i++) {
    const gint x = (gint)(i % width % 57) - 28, y = (gint)(i / width % 40) - 20;
    labels[i] = i / width < 160 ? ABS (x) < 26 : x * x + y * y < 24 * 24;
  }
  check (ccl_label_distances (&map, width, height, 1, &squared, &error), &error);
  check (ccl_distance_peaks (&map, &squared, width, height, 1, 4, &to, &n_objects, &error), &error);
  g_assert_cmpuint (n_objects, >, 10);
  there.labels.data = upload_words (labels, n);
  there.squared.data = upload_words (heights, n);
  there.objects.data = upload_words (labels, n);
  check (ccl_cuda_distance_peaks (device, &there, 4, &n_found, NULL, &error), &error);
  check (
      ccl_cuda_memory_download (device, there.objects.data, found, 4 * (gsize)n, &error), &error);
  g_assert_cmpuint (n_found, ==, n_objects);
  g_assert_cmpmem (found, 4 * (gsize)n, objects, 4 * (gsize)n);
  check (ccl_cuda_flood_objects (device, &there, NULL, &error), &error);
  check (
      ccl_cuda_memory_download (device, there.objects.data, found, 4 * (gsize)n, &error), &error);
  ccl_cuda_memory_free (device, &there.labels.data);
  ccl_cuda_memory_free (device, &there.squared.data);
  ccl_cuda_memory_free (device, &there.objects.data);
  check (ccl_flood_objects (&map, &squared, width, height, 1, 8, &to, &error), &error);
  g_assert_cmpmem (found, 4 * (gsize)n, objects, 4 * (gsize)n);
}

static void
test_arguments_of_floods (void)
{
  CclVolumeLabels map = {NULL, 16, 64};
  guint32 n;
  CclError error;

  check (ccl_cuda_memory_new (device, 64, &map.data, &error), &error);
  CclCudaFlood there = {map, map, map, 4, 4, 1, 4};
  ASSERT_REFUSED (ccl_cuda_distance_peaks (NULL, &there, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_distance_peaks (device, NULL, 1, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_distance_peaks (device, &there, 0, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_distance_peaks (device, &there, 256, &n, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_distance_peaks (device, &there, 1, NULL, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_flood_objects (NULL, &there, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, NULL, NULL, NULL));
  there.connectivity = 5;
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, &there, NULL, NULL));
  there.connectivity = 8;
  there.height = there.depth = 2;
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, &there, NULL, NULL));
  there.height = 0;
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, &there, NULL, NULL));
  there.height = 4;
  there.depth = 1;
  there.squared.row_stride = 12;
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, &there, NULL, NULL));
  there.squared = map;
  there.objects.data = NULL;
  ASSERT_REFUSED (ccl_cuda_flood_objects (device, &there, NULL, NULL));
  ccl_cuda_memory_free (device, &map.data);
}

/* Labels get the numbers of a table; greater ones stay. */
static void
test_replaced_labels (void)
{
  enum { N = 3 * 5 * 40 };
  guint32 labels[N], replaced[N], expected[N], numbers[10];
  CclVolumeLabels map, to;
  CclError error;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = i * 7 % 5 * 1000;
  for (guint i = 0; i < N; i++) {
    labels[i] = i * i % 13;
    expected[i] = labels[i] < 10 ? numbers[labels[i]] : labels[i];
  }
  map = (CclVolumeLabels){upload_words (labels, N), 4 * 40, 4 * 40 * 5};
  to = (CclVolumeLabels){upload_words (labels, N), 4 * 40, 4 * 40 * 5};
  check (ccl_cuda_replace_labels (device, &map, 40, 5, 3, numbers, 9, &to, NULL, &error), &error);
  check (ccl_cuda_memory_download (device, to.data, replaced, sizeof replaced, &error), &error);
  g_assert_cmpmem (replaced, sizeof replaced, expected, sizeof expected);
  check (ccl_cuda_replace_labels (device, &map, 40, 5, 3, numbers, 9, &map, NULL, &error), &error);
  check (ccl_cuda_memory_download (device, map.data, replaced, sizeof replaced, &error), &error);
  g_assert_cmpmem (replaced, sizeof replaced, expected, sizeof expected);

  ASSERT_REFUSED (ccl_cuda_replace_labels (NULL, &map, 4, 4, 1, numbers, 9, &to, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_replace_labels (device, NULL, 4, 4, 1, numbers, 9, &to, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_replace_labels (device, &map, 4, 4, 1, NULL, 9, &to, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_replace_labels (device, &map, 4, 4, 1, numbers, 9, NULL, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_replace_labels (device, &map, 4, 0, 1, numbers, 9, &to, NULL, NULL));
  ASSERT_REFUSED (
      ccl_cuda_replace_labels (device, &map, 1 << 31, 1 << 31, 4, numbers, 9, &to, NULL, NULL));
  to.row_stride = 12;
  ASSERT_REFUSED (ccl_cuda_replace_labels (device, &map, 4, 4, 1, numbers, 9, &to, NULL, NULL));
  ccl_cuda_memory_free (device, &map.data);
  ccl_cuda_memory_free (device, &to.data);
}

/* The functions refuse what the CPU refuses. */
static void
test_arguments_of_holes_and_borders (void)
{
  guint32 labels[16] = {1, 1, 0, 2, 3, 0, 0, 2};
  const guint32 gap[16] = {1, 3}, reversed[16] = {2, 1};
  CclVolumeLabels map = {upload_words (labels, 16), 16, 64}, there = map;
  CclVolumeComponent rows[3];
  guint32 n = 3;
  CclError error;

  ASSERT_REFUSED (ccl_cuda_fill_label_holes (NULL, &map, 4, 4, 1, 4, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, NULL, 4, 4, 1, 4, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &map, 4, 4, 1, 4, 0, NULL, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &map, 4, 4, 1, 5, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &map, 4, 2, 2, 8, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &map, 0, 4, 1, 4, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &map, 4, 4, 0, 4, 0, &map, NULL, NULL));
  ASSERT_REFUSED (
      ccl_cuda_fill_label_holes (device, &map, 1 << 31, 1 << 31, 4, 6, 0, &map, NULL, NULL));
  there.row_stride = 12;
  ASSERT_REFUSED (ccl_cuda_fill_label_holes (device, &there, 4, 4, 1, 4, 0, &map, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &there, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (NULL, &map, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (device, NULL, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 4, &n, rows, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, NULL, rows, NULL, NULL));
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, &n, NULL, NULL, NULL));
  n = 2; /* there is a label 3 */
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  n = 17; /* more than pixels */
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  n = 3;
  check (ccl_cuda_memory_upload (device, gap, map.data, 64, &error), &error);
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  n = 2;
  check (ccl_cuda_memory_upload (device, reversed, map.data, 64, &error), &error);
  ASSERT_REFUSED (ccl_cuda_join_borders (device, &map, 4, 4, 1, 4, 1, &n, rows, NULL, NULL));
  ccl_cuda_memory_free (device, &map.data);
}

int
main (int argc, char **argv)
{
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    printf ("1..0 # SKIP %s\n", error.message);
    return 0;
  }
  g_test_add_data_func ("/cuda-measure-map/random", GINT_TO_POINTER (40), test_random_maps);
  g_test_add_data_func ("/cuda-measure-map/more-random", GINT_TO_POINTER (400), test_random_maps);
  g_test_add_func ("/cuda-measure-map/large-maps", test_large_maps);
  g_test_add_func ("/cuda-measure-map/large-sums", test_large_sums);
  g_test_add_func ("/cuda-measure-map/arguments", test_arguments);
  g_test_add_func ("/cuda-measure-map/distances", test_distances);
  g_test_add_func ("/cuda-measure-map/contacts", test_contacts);
  g_test_add_func ("/cuda-measure-map/arguments-of-distances-and-contacts",
      test_arguments_of_distances_and_contacts);
  g_test_add_func ("/cuda-measure-map/holes-of-labels", test_holes_of_labels);
  g_test_add_func ("/cuda-measure-map/nested-objects", test_nested_objects);
  g_test_add_func ("/cuda-measure-map/periodic-borders", test_periodic_borders);
  g_test_add_func ("/cuda-measure-map/large-changes", test_large_changes);
  g_test_add_func ("/cuda-measure-map/peaks", test_peaks);
  g_test_add_func ("/cuda-measure-map/flood", test_flood);
  g_test_add_func ("/cuda-measure-map/flood-of-a-large-picture", test_flood_of_a_large_picture);
  g_test_add_func ("/cuda-measure-map/arguments-of-floods", test_arguments_of_floods);
  g_test_add_func ("/cuda-measure-map/replaced-labels", test_replaced_labels);
  g_test_add_func (
      "/cuda-measure-map/arguments-of-holes-and-borders", test_arguments_of_holes_and_borders);
  const int status = g_test_run ();
  ccl_cuda_device_unref (&device);
  return status;
}
