/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of values on the CPU against a flood fill: every type, connectivity and instruction
 * set, at the end of readable memory; and its arguments. */
#include "tests/unit/guarded-memory.h"
#include "tests/unit/values/values-reference.h"

#include <glib.h>
#include <string.h>

/* Labels a picture whose last value is the last one of readable memory. */
static void
check_picture (const Picture *picture, CclValueType type, uint32_t connectivity,
    bool zero_is_background, CclNanRule nan)
{
  const size_t n = (size_t)picture->width * picture->height * picture->depth;
  const size_t row = (size_t)picture->width * values_bytes_of_types[type];
  g_autofree uint32_t *expected = g_new (uint32_t, n);
  g_autofree uint32_t *found = g_new (uint32_t, n);
  GuardedMemory memory = {0};
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
  CclError error;
  uint32_t n_components = 0, n_counted = 0;

  guarded_memory_resize (&memory, n * values_bytes_of_types[type], true);
  for (size_t i = 0; i < n; i++)
    values_store (memory.data + i * values_bytes_of_types[type], type, picture->values[i]);
  guarded_memory_set_read_only (&memory);
  plan.width = picture->width;
  plan.height = picture->height;
  plan.depth = picture->depth;
  plan.connectivity = connectivity;
  plan.type = type;
  plan.zero_is_background = zero_is_background;
  plan.nan = nan;
  CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&plan, &error);
  g_assert_nonnull (labeller);
  const CclValues values = {memory.data, row, row * picture->height};
  const CclVolumeLabels labels = {
      found, 4 * (size_t)picture->width, 4 * (size_t)picture->width * picture->height};
  const uint32_t n_expected =
      values_reference (picture, connectivity, zero_is_background, nan, expected);
  for (int i = 0; i < 2; i++) { /* the second run finds the memory of the first */
    memset (found, 0xff, n * sizeof *found);
    g_assert_cmpint (ccl_values_labeller_run (labeller, &values, &labels, &n_components, &error),
        ==, CUDACCL_OK);
    g_assert_cmpuint (n_components, ==, n_expected);
    g_assert_cmpmem (found, n * sizeof *found, expected, n * sizeof *expected);
  }
  g_assert_cmpint (
      ccl_values_labeller_run (labeller, &values, NULL, &n_counted, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (n_counted, ==, n_expected);
  ccl_values_labeller_free (&labeller);
  g_assert_null (labeller);
  guarded_memory_clear (&memory);
}

static const char *const instructions[] = {"portable", "avx2", "avx512"};

static void
test_noise (gconstpointer data)
{
  const CclValueType type = (CclValueType)GPOINTER_TO_INT (data);
  const uint32_t connectivities[] = {4, 8, 6, 18, 26};
  GRand *random = g_rand_new_with_seed (27);
  CclError error;

  for (int i = 0; i < 3; i++) {
    CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;
    plan.width = plan.height = 1;
    plan.connectivity = 8;
    g_setenv ("CCL_CPU_INSTRUCTIONS", instructions[i], TRUE);
    CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&plan, &error);
    if (!labeller) {
      g_assert_cmpint (error.status, ==, CUDACCL_ERROR_UNSUPPORTED);
      continue;
    }
    ccl_values_labeller_free (&labeller);
    for (int k = 0; k < 160; k++) {
      const uint32_t connectivity = connectivities[k % 5];
      Picture picture = {.width = (uint32_t)g_rand_int_range (random, 1, k % 2 ? 12 : 150),
          .height = (uint32_t)g_rand_int_range (random, 1, 9),
          .depth = connectivity > 8 || connectivity == 6 ? (uint32_t)g_rand_int_range (random, 1, 6)
                                                         : 1};
      g_autofree double *values = g_new (double, picture.width *picture.height *picture.depth);
      picture.values = values;
      values_draw (random, &picture, type);
      check_picture (&picture, type, connectivity, g_rand_boolean (random), k / 5 % 2);
    }
  }
  g_unsetenv ("CCL_CPU_INSTRUCTIONS");
  g_rand_free (random);
}

/* All pictures of 2×2×2 pixels with three values, all connectivities. */
static void
test_all_cubes (void)
{
  double values[8];
  const Picture picture = {2, 2, 2, values};

  for (uint32_t code = 0; code < 6561; code++) {
    for (uint32_t i = 0, rest = code; i < 8; i++, rest /= 3)
      values[i] = rest % 3;
    check_picture (&picture, CUDACCL_VALUE_TYPE_8, 6, true, 0);
    check_picture (&picture, CUDACCL_VALUE_TYPE_8, 18, code % 2, 0);
    check_picture (&picture, CUDACCL_VALUE_TYPE_8, 26, true, 0);
  }
}

static void
test_arguments (void)
{
  const CclValuesPlan good = {
      .width = 5, .height = 4, .depth = 3, .connectivity = 26, .type = CUDACCL_VALUE_TYPE_16};
  CclValuesPlan bad[] = {good, good, good, good, good, good};
  CclError error;
  uint16_t data[60] = {0};
  uint32_t n, map[60];

  bad[0].width = 0;
  bad[1].connectivity = 8; /* of a volume */
  bad[2].connectivity = 5;
  bad[3].depth = 1 << 30;
  bad[4].type = (CclValueType)6;
  bad[5].size = sizeof good;
  bad[5].nan = (CclNanRule)2;
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_null (ccl_cpu_values_labeller_new (&bad[i], &error));
    g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
    if (bad[i].depth == 1 << 30) /* the message has the size as it was given */
      g_assert_nonnull (strstr (error.message, "5×4×1073741824 pixels"));
  }
  g_assert_null (ccl_cpu_values_labeller_new (NULL, &error));
  g_assert_cmpstr (error.message, ==, "the plan must not be NULL");

  CclValuesLabeller *labeller = ccl_cpu_values_labeller_new (&good, &error);
  const CclValues values[] = {
      {data, 8, 40}, {data, 10, 38}, {(uint8_t *)data + 1, 10, 40}, {data, 11, 44}, {NULL, 10, 40}};
  const CclValues right = {data, 10, 40}, on_device = {data, 10, 40, CUDACCL_LOCATION_DEVICE};
  const CclVolumeLabels right_labels = {map, 20, 80};
  const CclVolumeLabels labels[] = {{map, 16, 80}, {map, 20, 76}, {NULL, 20, 80}};
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++) {
    g_assert_cmpint (ccl_values_labeller_run (labeller, &values[i], NULL, &n, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_label_similar_values (&good, &values[i], false, 1, NULL, &right_labels, &n, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (labels); i++) {
    g_assert_cmpint (ccl_values_labeller_run (labeller, &right, &labels[i], &n, NULL), ==,
        CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (ccl_label_similar_values (&good, &right, false, 1, NULL, &labels[i], &n, NULL),
        ==, CUDACCL_ERROR_ARGUMENT);
  }
  g_assert_cmpint (
      ccl_label_similar_values (&good, &on_device, false, 1, NULL, &right_labels, &n, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_label_similar_values (&good, &right, false, 1, NULL, &right_labels, &n, &error), ==,
      CUDACCL_OK);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpint (
      ccl_values_labeller_run (labeller, &right, NULL, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_values_labeller_run (labeller, &right, NULL, &n, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (n, ==, 1); /* zero is not background here */
  ccl_values_labeller_free (&labeller);
  ccl_values_labeller_free (&labeller);
  ccl_values_labeller_free (NULL);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {"8", "16", "32", "64", "real-32", "real-64"};

  g_test_init (&argc, &argv, NULL);
  for (int i = 0; i < 6; i++) {
    g_autofree char *path = g_strdup_printf ("/values/noise/%s", names[i]);
    g_test_add_data_func (path, GINT_TO_POINTER (i), test_noise);
  }
  g_test_add_func ("/values/all-cubes", test_all_cubes);
  g_test_add_func ("/values/arguments", test_arguments);
  return g_test_run ();
}
