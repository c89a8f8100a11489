/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/volume/volume-checks.h"

#include "tests/unit/guarded-memory.h"
#include "tests/unit/volume/volume-reference.h"

#include <glib.h>
#include <string.h>

/* The bytes of a label map before it is written. */
#define UNTOUCHED_BYTE 0xa5

static const CclLabellerOptions no_options = {0};

/* The layout of a volume and its label map in memory: gaps after rows and after slices. */
typedef struct Padding {
  uint32_t row, slice;             /* bytes */
  uint32_t label_row, label_slice; /* voxels */
  bool at_start;                   /* right after a guard page instead of right before one */
} Padding;

static const Padding compact = {0};

/* Whether a voxel is foreground. */
typedef bool (*Shape) (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan);

/* The backend of the case that runs. */
static const VolumeBackend *backend;

static GuardedMemory volume_memory;
static GuardedMemory labels_memory;
static GRand *noise;

/* Writes the mask as a volume: random values on the right side of the threshold, in memory that
 * ends or begins at an unreadable page. */
static CclVolume
lay_out_volume (const bool *mask, const CclVolumePlan *plan, const CclLabellerOptions *options,
    const Padding *padding)
{
  const size_t row_stride = plan->width + padding->row;
  const size_t slice_stride = row_stride * (plan->height - 1) + plan->width + padding->slice;
  const size_t slice_size = row_stride * (plan->height - 1) + plan->width;

  guarded_memory_resize (
      &volume_memory, slice_stride * (plan->depth - 1) + slice_size, !padding->at_start);
  memset (volume_memory.data, g_rand_int_range (noise, 0, 256), volume_memory.size);
  for (uint32_t z = 0; z < plan->depth; z++) {
    for (uint32_t y = 0; y < plan->height; y++) {
      uint8_t *row = volume_memory.data + z * slice_stride + y * row_stride;
      for (uint32_t x = 0; x < plan->width; x++) {
        const bool above = *mask++ != options->invert;
        row[x] = above ? (uint8_t)g_rand_int_range (noise, (gint)options->threshold + 1, 256)
                       : (uint8_t)g_rand_int_range (noise, 0, (gint)options->threshold + 1);
      }
    }
  }
  guarded_memory_set_read_only (&volume_memory);
  return (CclVolume){volume_memory.data, row_stride, slice_stride};
}

static CclVolumeLabels
lay_out_labels (const CclVolumePlan *plan, const Padding *padding)
{
  const size_t row_stride = 4 * ((size_t)plan->width + padding->label_row);
  const size_t slice_size = row_stride * (plan->height - 1) + 4 * (size_t)plan->width;
  const size_t slice_stride = slice_size + 4 * (size_t)padding->label_slice;

  guarded_memory_resize (
      &labels_memory, slice_stride * (plan->depth - 1) + slice_size, !padding->at_start);
  memset (labels_memory.data, UNTOUCHED_BYTE, labels_memory.size);
  return (CclVolumeLabels){labels_memory.data, row_stride, slice_stride};
}

/* Describes the first difference of a table from the reference, or NULL. Free with g_free(). */
static char *
compare_tables (
    const CclVolumeTable *table, const VolumeReference *reference, uint32_t max_components)
{
  if (table->n_components != reference->n_components)
    return g_strdup_printf (
        "%u components instead of %u", table->n_components, reference->n_components);
  if (table->n_rows != MIN (reference->n_components, max_components))
    return g_strdup_printf ("%u rows of %u components", table->n_rows, table->n_components);
  for (uint32_t i = 0; i < table->n_rows; i++) {
    const CclVolumeComponent *a = &table->rows[i], *b = &reference->rows[i];
    if (a->label != b->label || a->n_voxels != b->n_voxels || a->x != b->x || a->y != b->y ||
        a->z != b->z || a->width != b->width || a->height != b->height || a->depth != b->depth ||
        a->centroid_x != b->centroid_x || a->centroid_y != b->centroid_y ||
        a->centroid_z != b->centroid_z)
      return g_strdup_printf ("row %u: %u voxels in %u,%u,%u %u×%u×%u around %.17g,%.17g,%.17g"
                              " instead of %u in %u,%u,%u %u×%u×%u around %.17g,%.17g,%.17g",
          i, a->n_voxels, a->x, a->y, a->z, a->width, a->height, a->depth, a->centroid_x,
          a->centroid_y, a->centroid_z, b->n_voxels, b->x, b->y, b->z, b->width, b->height,
          b->depth, b->centroid_x, b->centroid_y, b->centroid_z);
  }
  return NULL;
}

/* Describes the first difference of a label map from the reference, padding included, or NULL. */
static char *
compare_labels (
    const CclVolumeLabels *labels, const VolumeReference *reference, const CclVolumePlan *plan)
{
  const uint8_t *data = labels->data;

  for (size_t at = 0; at < labels_memory.size; at += 4) {
    const size_t z = at / labels->slice_stride;
    const size_t y = at % labels->slice_stride / labels->row_stride;
    const size_t x = at % labels->slice_stride % labels->row_stride / 4;
    uint32_t label, expected;
    memset (&expected, UNTOUCHED_BYTE, sizeof expected);
    if (x < plan->width && y < plan->height)
      expected = reference->labels[(z * plan->height + y) * plan->width + x];
    memcpy (&label, data + at, sizeof label);
    if (label != expected)
      return g_strdup_printf ("%u instead of %u at %zu,%zu,%zu", label, expected, x, y, z);
  }
  return NULL;
}

/* Labels a mask with and without a label map and compares everything with the reference. On the
 * first difference, fails the test case and returns false. */
static bool
check_mask (CclVolumeLabeller *labeller, const bool *mask, const CclVolumePlan *plan,
    const CclLabellerOptions *options, const Padding *padding, const char *name)
{
  const CclVolume volume = lay_out_volume (mask, plan, options, padding);
  const CclVolumeLabels labels = lay_out_labels (plan, padding);
  VolumeReference *reference = volume_reference_new (&volume, plan, options);
  char *difference = NULL;

  for (int with_labels = 1; with_labels >= 0 && !difference; with_labels--) {
    CclError error = {0};
    CclVolumeTable table = {0};
    if (backend->run (labeller, &volume, options, with_labels ? &labels : NULL, &table, &error) !=
        CUDACCL_OK)
      difference = g_strdup (error.message);
    else
      difference = compare_tables (&table, reference, plan->max_components);
    if (with_labels && !difference)
      difference = compare_labels (&labels, reference, plan);
  }
  volume_reference_free (reference);
  if (!difference)
    return true;
  g_test_fail_printf ("%s, %u×%u×%u %d-connected, padding %u %u %u %u at %s, threshold %u, "
                      "invert %d, area %u…%u, %u rows: %s",
      name, plan->width, plan->height, plan->depth, (int)plan->connectivity, padding->row,
      padding->slice, padding->label_row, padding->label_slice, padding->at_start ? "start" : "end",
      options->threshold, options->invert, options->min_area, options->max_area,
      plan->max_components, difference);
  g_free (difference);
  return false;
}

static CclVolumeLabeller *
labeller_new (const CclVolumePlan *plan)
{
  CclError error = {0};
  CclVolumeLabeller *labeller = backend->labeller_new (plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  g_assert_nonnull (labeller);
  return labeller;
}

static size_t
n_voxels_of (const CclVolumePlan *plan)
{
  return (size_t)plan->width * plan->height * plan->depth;
}

/* The same with a new labeller. */
static bool
check_mask_alone (const bool *mask, const CclVolumePlan *plan, const CclLabellerOptions *options,
    const Padding *padding, const char *name)
{
  CclVolumeLabeller *labeller = labeller_new (plan);
  bool passed = check_mask (labeller, mask, plan, options, padding, name);
  ccl_volume_labeller_free (&labeller);
  return passed;
}

/* Cubes of granularity³ voxels, each foreground with a probability of density per cent. */
static bool *
draw_noise (const CclVolumePlan *plan, uint32_t granularity, uint32_t density, uint32_t seed)
{
  bool *mask = g_new (bool, n_voxels_of (plan)), *voxel = mask;

  for (uint32_t z = 0; z < plan->depth; z++)
    for (uint32_t y = 0; y < plan->height; y++)
      for (uint32_t x = 0; x < plan->width; x++) {
        uint32_t hash = seed * 2654435761u + x / granularity;
        hash = (hash ^ hash >> 15) * 2246822519u + y / granularity;
        hash = (hash ^ hash >> 13) * 3266489917u + z / granularity;
        hash = (hash ^ hash >> 16) * 668265263u;
        *voxel++ = (hash ^ hash >> 15) % 100 < density;
      }
  return mask;
}

static bool
check_noise (const CclVolumePlan *plan, uint32_t granularity, uint32_t density, uint32_t seed,
    const CclLabellerOptions *options, const Padding *padding)
{
  bool *mask = draw_noise (plan, granularity, density, seed);
  char *name = g_strdup_printf ("noise (g %u, d %u, seed %u)", granularity, density, seed);
  bool passed = check_mask_alone (mask, plan, options, padding, name);
  g_free (name);
  g_free (mask);
  return passed;
}

static CclVolumePlan
plan_of (gconstpointer connectivity, uint32_t width, uint32_t height, uint32_t depth)
{
  return (CclVolumePlan){
      .width = width,
      .height = height,
      .depth = depth,
      .connectivity = (CclVolumeConnectivity)GPOINTER_TO_INT (connectivity),
      .max_components = 100000,
  };
}

/* Every mask of a size, without padding. */
static void
check_all_masks_of (gconstpointer connectivity, uint32_t width, uint32_t height, uint32_t depth)
{
  const CclVolumePlan plan = plan_of (connectivity, width, height, depth);
  const size_t n_voxels = n_voxels_of (&plan);
  CclVolumeLabeller *labeller = labeller_new (&plan);
  uint8_t voxels[32];
  uint32_t map[32];
  const CclVolume volume = {voxels, width, (size_t)width * height};
  const CclVolumeLabels labels = {map, 4 * (size_t)width, 4 * (size_t)width * height};

  for (uint32_t bits = 0; bits < 1u << n_voxels; bits++) {
    CclVolumeTable table;
    char *difference;
    for (size_t i = 0; i < n_voxels; i++)
      voxels[i] = bits >> i & 1;
    g_assert_cmpint (
        backend->run (labeller, &volume, &no_options, &labels, &table, NULL), ==, CUDACCL_OK);
    VolumeReference *reference = volume_reference_new (&volume, &plan, &no_options);
    difference = compare_tables (&table, reference, plan.max_components);
    if (!difference && memcmp (map, reference->labels, 4 * n_voxels) != 0)
      difference = g_strdup ("another label map");
    volume_reference_free (reference);
    if (difference) {
      g_test_fail_printf ("%u×%u×%u, bits %#x: %s", width, height, depth, bits, difference);
      g_free (difference);
      break;
    }
  }
  ccl_volume_labeller_free (&labeller);
}

static void
test_all_masks_of_2x2x2 (gconstpointer connectivity)
{
  check_all_masks_of (connectivity, 2, 2, 2);
}

static void
test_all_masks_of_3x3x2 (gconstpointer connectivity)
{
  check_all_masks_of (connectivity, 3, 3, 2);
}

static void
test_all_masks_of_3x2x3 (gconstpointer connectivity)
{
  check_all_masks_of (connectivity, 3, 2, 3);
}

static void
test_all_masks_of_2x3x3 (gconstpointer connectivity)
{
  check_all_masks_of (connectivity, 2, 3, 3);
}

static void
test_every_small_size (gconstpointer connectivity)
{
  for (uint32_t i = 0; i < 7 * 7 * 7 * 4; i++) {
    const CclVolumePlan plan = plan_of (connectivity, 1 + i % 7, 1 + i / 7 % 7, 1 + i / 49 % 7);
    const Padding padding = {.at_start = i / 343 % 2};
    if (!check_noise (&plan, 1, 15 + i / 343 * 20, i, &no_options, &padding))
      return;
  }
}

/* Widths close to the size of machine words. */
static void
test_word_widths (gconstpointer connectivity)
{
  static const uint32_t widths[] = {63, 64, 65, 127, 128, 129, 191, 192, 193};

  for (size_t i = 0; i < G_N_ELEMENTS (widths); i++)
    for (uint32_t density = 5; density < 100; density += 15) {
      const CclVolumePlan plan = plan_of (connectivity, widths[i], 7, 5);
      const Padding padding = {.row = density, .at_start = density % 2};
      if (!check_noise (&plan, 1, density, widths[i], &no_options, &padding))
        return;
    }
}

/* Volumes that are lines or sheets, and rows of many words. */
static void
test_flat_volumes (gconstpointer connectivity)
{
  static const uint32_t sizes[][3] = {{1001, 1, 1}, {1, 1001, 1}, {1, 1, 1001}, {201, 99, 1},
      {201, 1, 99}, {1, 201, 99}, {64, 64, 1}, {1, 1, 1}, {2100, 3, 3}};

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (uint32_t density = 10; density <= 100; density += 15) {
      const CclVolumePlan plan = plan_of (connectivity, sizes[i][0], sizes[i][1], sizes[i][2]);
      if (!check_noise (&plan, 1, density, density, &no_options, &compact))
        return;
    }
}

static void
test_larger_noise (gconstpointer connectivity)
{
  static const uint32_t cases[][2] = {{1, 5}, {1, 20}, {1, 31}, {1, 50}, {1, 90}, {3, 30}, {4, 60}};

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    const CclVolumePlan plan = plan_of (connectivity, 65, 66, 67);
    if (!check_noise (&plan, cases[i][0], cases[i][1], (uint32_t)i, &no_options, &compact))
      return;
  }
}

static bool
is_full (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return true;
}

static bool
is_empty (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return false;
}

/* Voxels that touch at edges only: one component, or one for each voxel. */
static bool
is_chequered (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return (x + y + z) % 2 == 0;
}

/* Voxels that touch at corners only. */
static bool
is_chequered_in_pairs (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return x % 2 == y % 2 && y % 2 == z % 2;
}

static bool
is_dot (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return x % 2 == 0 && y % 2 == 0 && z % 2 == 0;
}

/* Boxes inside each other. */
static bool
is_shell (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  uint32_t from_edge = MIN (x, plan->width - 1 - x);
  from_edge = MIN (from_edge, MIN (y, plan->height - 1 - y));
  from_edge = MIN (from_edge, MIN (z, plan->depth - 1 - z));
  return from_edge % 2 == 0;
}

/* Columns in z that the last slice connects, so that all unions happen at the end. */
static bool
is_comb (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return (x % 2 == 0 && y % 2 == 0) || z == plan->depth - 1;
}

/* Diagonals opposite to the direction of the scan, in all planes. */
static bool
is_slanted (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  return (x + y) % 7 == 0 || (x + z) % 11 == 0 || (y + z) % 13 == 0;
}

/* One line through the volume: along x, then a step in y, then back, and up a slice. */
static bool
is_meander (uint32_t x, uint32_t y, uint32_t z, const CclVolumePlan *plan)
{
  if (z % 2)
    return y == (z / 2 % 2 ? 0 : (plan->height - 1) / 2 * 2) && x == 0;
  if (y % 2)
    return x == (y / 2 % 2 ? 0 : plan->width - 1);
  return true;
}

static const struct {
  const char *name;
  Shape is_foreground;
} shapes[] = {
    {"full", is_full},
    {"empty", is_empty},
    {"chequered", is_chequered},
    {"chequered in pairs", is_chequered_in_pairs},
    {"dots", is_dot},
    {"shells", is_shell},
    {"comb", is_comb},
    {"slanted", is_slanted},
    {"meander", is_meander},
};

static void
test_shapes (gconstpointer connectivity)
{
  static const uint32_t sizes[][3] = {
      {1, 1, 1}, {2, 2, 2}, {3, 4, 5}, {9, 8, 7}, {33, 31, 32}, {64, 5, 9}, {65, 17, 16}};

  for (size_t s = 0; s < G_N_ELEMENTS (shapes); s++)
    for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
      const CclVolumePlan plan = plan_of (connectivity, sizes[i][0], sizes[i][1], sizes[i][2]);
      bool *mask = g_new (bool, n_voxels_of (&plan)), *voxel = mask;
      for (uint32_t z = 0; z < plan.depth; z++)
        for (uint32_t y = 0; y < plan.height; y++)
          for (uint32_t x = 0; x < plan.width; x++)
            *voxel++ = shapes[s].is_foreground (x, y, z, &plan);
      bool passed = check_mask_alone (mask, &plan, &no_options, &compact, shapes[s].name);
      g_free (mask);
      if (!passed)
        return;
    }
}

/* Random sizes, layouts, options and table sizes; each labeller runs on several volumes. */
static void
test_random_everything (gconstpointer connectivity)
{
  for (uint32_t i = 0; i < 150; i++) {
    CclVolumePlan plan = plan_of (connectivity, (uint32_t)g_rand_int_range (noise, 1, 80),
        (uint32_t)g_rand_int_range (noise, 1, 20), (uint32_t)g_rand_int_range (noise, 1, 20));
    plan.max_components = 1u << g_rand_int_range (noise, 0, 12);
    CclVolumeLabeller *labeller = labeller_new (&plan);
    bool passed = true;
    for (uint32_t j = 0; j < 4 && passed; j++) {
      const CclLabellerOptions options = {
          .threshold = (uint32_t)g_rand_int_range (noise, 0, 255),
          .invert = g_rand_boolean (noise),
          .min_area = g_rand_boolean (noise) ? (uint32_t)g_rand_int_range (noise, 0, 9) : 0,
          .max_area = g_rand_boolean (noise) ? (uint32_t)g_rand_int_range (noise, 0, 99) : 0,
      };
      const Padding padding = {
          .row = (uint32_t)g_rand_int_range (noise, 0, 70),
          .slice = (uint32_t)g_rand_int_range (noise, 0, 70),
          .label_row = (uint32_t)g_rand_int_range (noise, 0, 9),
          .label_slice = (uint32_t)g_rand_int_range (noise, 0, 9),
          .at_start = g_rand_boolean (noise),
      };
      bool *mask = draw_noise (&plan, (uint32_t)g_rand_int_range (noise, 1, 4),
          (uint32_t)g_rand_int_range (noise, 0, 101), 4 * i + j);
      passed = check_mask (labeller, mask, &plan, &options, &padding, "noise");
      g_free (mask);
    }
    ccl_volume_labeller_free (&labeller);
    if (!passed)
      return;
  }
}

/* Computed by hand: one voxel in each slice of 3×3, each touching the one before at a corner, and a
 * separate voxel. */
static void
test_by_hand (void)
{
  static const uint8_t voxels[3][3][3] = {
      {{9, 0, 0}, {0, 0, 0}, {0, 0, 0}},
      {{0, 0, 0}, {0, 9, 0}, {0, 0, 0}},
      {{0, 0, 0}, {0, 9, 0}, {9, 0, 0}},
  };
  static const struct {
    CclVolumeConnectivity connectivity;
    uint32_t n;
    CclVolumeComponent rows[3];
  } expected[] = {
      {CUDACCL_CONNECTIVITY_6, 3,
          {{1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}, {2, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1.5},
              {3, 1, 0, 2, 2, 1, 1, 1, 0, 2, 2}}},
      {CUDACCL_CONNECTIVITY_18, 2,
          {{1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0}, {2, 3, 0, 1, 1, 2, 2, 2, 2 / 3.0, 4 / 3.0, 5 / 3.0}}},
      {CUDACCL_CONNECTIVITY_26, 1, {{1, 4, 0, 0, 0, 2, 3, 3, 0.5, 1, 1.25}}},
  };

  for (size_t i = 0; i < G_N_ELEMENTS (expected); i++) {
    const CclVolumePlan plan = {.width = 3,
        .height = 3,
        .depth = 3,
        .connectivity = expected[i].connectivity,
        .max_components = 10};
    const CclVolume volume = {voxels, 3, 9};
    CclVolumeLabeller *labeller = labeller_new (&plan);
    VolumeReference *reference = volume_reference_new (&volume, &plan, &no_options);
    CclVolumeTable table;
    g_assert_cmpint (
        backend->run (labeller, &volume, &no_options, NULL, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_rows, ==, expected[i].n);
    g_assert_cmpuint (reference->n_components, ==, expected[i].n);
    g_assert_cmpmem (table.rows, table.n_rows * sizeof *table.rows, expected[i].rows,
        expected[i].n * sizeof *expected[i].rows);
    g_assert_cmpmem (reference->rows, table.n_rows * sizeof *table.rows, expected[i].rows,
        expected[i].n * sizeof *expected[i].rows);
    volume_reference_free (reference);
    ccl_volume_labeller_free (&labeller);
  }
}

static void
assert_error (const CclError *error, CclStatus status, const char *word)
{
  g_assert_cmpint (error->status, ==, status);
  g_assert_nonnull (strstr (error->message, word));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_false (g_str_has_suffix (error->message, "."));
}

static void
test_plans_out_of_range_are_refused (void)
{
  static const struct {
    CclVolumePlan plan;
    const char *word;
  } cases[] = {
      {{0, 0, 2, 3, CUDACCL_CONNECTIVITY_6, 1}, "0×2×3"},
      {{0, 2, 0, 3, CUDACCL_CONNECTIVITY_6, 1}, "2×0×3"},
      {{0, 2, 3, 0, CUDACCL_CONNECTIVITY_6, 1}, "2×3×0"},
      {{0, 2048, 1024, 1024, CUDACCL_CONNECTIVITY_6, 1}, "too large"},
      {{0, UINT32_MAX, UINT32_MAX, UINT32_MAX, CUDACCL_CONNECTIVITY_6, 1}, "too large"},
      {{0, 2, 2, 2, (CclVolumeConnectivity)8, 1}, "not 8"},
      {{0, 2, 2, 2, CUDACCL_CONNECTIVITY_6, 0}, "table"},
  };

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    CclError error = {0};
    g_assert_null (backend->labeller_new (&cases[i].plan, &error));
    assert_error (&error, CUDACCL_ERROR_ARGUMENT, cases[i].word);
    g_assert_null (backend->labeller_new (&cases[i].plan, NULL));
  }
  CclError error = {0};
  g_assert_null (backend->labeller_new (NULL, &error));
  assert_error (&error, CUDACCL_ERROR_ARGUMENT, "plan");
}

static void
test_arguments_out_of_range_are_refused (void)
{
  static const uint8_t voxels[27];
  static uint32_t map[27];
  const CclVolumePlan plan = {.width = 3,
      .height = 3,
      .depth = 3,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 1};
  static const struct {
    CclVolume volume;
    CclLabellerOptions options;
    CclVolumeLabels labels;
    const char *word;
  } cases[] = {
      {{NULL, 3, 9}, {0}, {map, 12, 36}, "no data"},
      {{voxels, 2, 9}, {0}, {map, 12, 36}, "row stride of 2"},
      {{voxels, 3, 8}, {0}, {map, 12, 36}, "slice stride of 8"},
      {{voxels, 3, 9}, {.threshold = 256}, {map, 12, 36}, "256"},
      {{voxels, 3, 9}, {0}, {NULL, 12, 36}, "label map"},
      {{voxels, 3, 9}, {0}, {map, 8, 36}, "label map"},
      {{voxels, 3, 9}, {0}, {map, 13, 48}, "label map"},
      {{voxels, 3, 9}, {0}, {map, 12, 32}, "label map"},
      {{voxels, 3, 9}, {0}, {map, 12, 38}, "label map"},
      {{voxels, 3, 9}, {0}, {(uint8_t *)map + 1, 12, 36}, "label map"},
  };
  CclVolumeLabeller *labeller = labeller_new (&plan);
  const CclVolume volume = {voxels, 3, 9};
  CclVolumeTable table = {.n_components = 77};
  CclError error;

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_cmpint (ccl_volume_labeller_run (labeller, &cases[i].volume, &cases[i].options,
                         &cases[i].labels, &table, &error),
        ==, CUDACCL_ERROR_ARGUMENT);
    assert_error (&error, CUDACCL_ERROR_ARGUMENT, cases[i].word);
    g_assert_cmpuint (table.n_components, ==, 77);
  }
  g_assert_cmpint (ccl_volume_labeller_run (NULL, &volume, &no_options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_volume_labeller_run (labeller, NULL, &no_options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_volume_labeller_run (labeller, &volume, NULL, NULL, &table, NULL), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_volume_labeller_run (labeller, &volume, &no_options, NULL, NULL, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  assert_error (&error, CUDACCL_ERROR_ARGUMENT, "NULL");
  g_assert_cmpint (
      backend->run (labeller, &volume, &no_options, NULL, &table, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 0);

  ccl_volume_labeller_free (&labeller);
  g_assert_null (labeller);
  ccl_volume_labeller_free (&labeller);
  ccl_volume_labeller_free (NULL);
}

/* The largest volume is planned or takes too much memory. */
static void
test_largest_plan (void)
{
  const CclVolumePlan largest = {.width = 1,
      .height = CUDACCL_MAX_PIXELS,
      .depth = 1,
      .connectivity = CUDACCL_CONNECTIVITY_6,
      .max_components = 1};
  CclError error = {0};
  CclVolumeLabeller *labeller = backend->labeller_new (&largest, &error);

  if (!labeller)
    assert_error (&error, CUDACCL_ERROR_NO_MEMORY, "memory");
  ccl_volume_labeller_free (&labeller);
}

/* Sums of coordinates need more than 32 bits. */
static void
test_large_sums (void)
{
  const CclVolumePlan plan = {.width = 1u << 22,
      .height = 4,
      .depth = 4,
      .connectivity = CUDACCL_CONNECTIVITY_6,
      .max_components = 1};
  uint8_t *voxels = g_malloc (n_voxels_of (&plan));
  CclVolumeLabeller *labeller = labeller_new (&plan);
  CclVolumeTable table;

  memset (voxels, 1, n_voxels_of (&plan));
  const CclVolume volume = {voxels, plan.width, 4 * (size_t)plan.width};
  g_assert_cmpint (
      backend->run (labeller, &volume, &no_options, NULL, &table, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 1);
  g_assert_cmpuint (table.rows[0].n_voxels, ==, 1u << 26);
  g_assert_cmpfloat (table.rows[0].centroid_x, ==, ((1u << 22) - 1) / 2.0);
  g_assert_cmpfloat (table.rows[0].centroid_y, ==, 1.5);
  g_assert_cmpfloat (table.rows[0].centroid_z, ==, 1.5);
  ccl_volume_labeller_free (&labeller);
  g_free (voxels);
}

/* A test case: a function of one of two types, and its arguments. */
typedef struct Case {
  const VolumeBackend *backend;
  void (*test) (void);
  void (*connected_test) (gconstpointer connectivity);
  int connectivity;
} Case;

static void
run_case (gconstpointer data)
{
  const Case *test_case = data;

  backend = test_case->backend;
  if (test_case->test)
    test_case->test ();
  else
    test_case->connected_test (GINT_TO_POINTER (test_case->connectivity));
}

static void
add_case (Case test_case, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  char *path = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_test_add_data_func_full (path, g_memdup2 (&test_case, sizeof test_case), run_case, g_free);
  g_free (path);
}

void
volume_checks_register (const VolumeBackend *registered)
{
  static const struct {
    const char *name;
    void (*test) (gconstpointer connectivity);
  } connected_tests[] = {
      {"all-masks-of-2x2x2", test_all_masks_of_2x2x2},
      {"all-masks-of-3x3x2", test_all_masks_of_3x3x2},
      {"all-masks-of-3x2x3", test_all_masks_of_3x2x3},
      {"all-masks-of-2x3x3", test_all_masks_of_2x3x3},
      {"every-size-up-to-7x7x7", test_every_small_size},
      {"word-widths", test_word_widths},
      {"lines-and-sheets", test_flat_volumes},
      {"larger-noise", test_larger_noise},
      {"shapes", test_shapes},
      {"random-sizes-options-and-layouts", test_random_everything},
  };
  static const struct {
    const char *name;
    void (*test) (void);
  } tests[] = {
      {"by-hand", test_by_hand},
      {"plans-out-of-range-are-refused", test_plans_out_of_range_are_refused},
      {"arguments-out-of-range-are-refused", test_arguments_out_of_range_are_refused},
      {"largest-plan", test_largest_plan},
      {"large-sums", test_large_sums},
  };
  static const int connectivities[] = {6, 18, 26};

  if (!noise)
    noise = g_rand_new_with_seed (1);
  for (size_t c = 0; c < G_N_ELEMENTS (connectivities); c++)
    for (size_t i = 0; i < G_N_ELEMENTS (connected_tests); i++)
      add_case ((Case){.backend = registered,
                    .connected_test = connected_tests[i].test,
                    .connectivity = connectivities[c]},
          "/%s/%d-connected/%s", registered->name, connectivities[c], connected_tests[i].name);
  for (size_t i = 0; i < G_N_ELEMENTS (tests); i++)
    add_case ((Case){.backend = registered, .test = tests[i].test}, "/%s/%s", registered->name,
        tests[i].name);
}

void
volume_checks_clear (void)
{
  guarded_memory_clear (&volume_memory);
  guarded_memory_clear (&labels_memory);
  g_clear_pointer (&noise, g_rand_free);
}
