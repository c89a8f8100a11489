/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of table rows, against an insertion sort of the values. */
#include <cudaccl/order.h>
#include <glib.h>
#include <math.h>
#include <string.h>

typedef struct Row {
  uint32_t small;
  uint64_t large;
  double real;
} Row;

/* Rows with many equal values, and all values that are special. */
static void
fill (GRand *random, Row *rows, size_t n)
{
  const double special[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1e-310, -1e-310};
  const uint64_t large[] = {
      0, 1, UINT32_MAX, (UINT64_C (1) << 53) + 1, UINT64_C (1) << 53, UINT64_MAX, UINT64_MAX - 1};

  for (size_t i = 0; i < n; i++)
    rows[i] = (Row){.small = g_rand_int (random) % (g_rand_boolean (random) ? 4 : UINT32_MAX),
        .large = large[g_rand_int_range (random, 0, G_N_ELEMENTS (large))],
        .real = g_rand_boolean (random)
                    ? special[g_rand_int_range (random, 0, G_N_ELEMENTS (special))]
                    : g_rand_int_range (random, -3, 4) / 2.0};
}

/* Whether a row must come before one that is behind it in the table, which has another value. */
static bool
is_before (const Row *a, const Row *b, CclColumnType type, bool descending)
{
  if (type == CUDACCL_COLUMN_TYPE_UINT32)
    return descending ? a->small > b->small : a->small < b->small;
  if (type == CUDACCL_COLUMN_TYPE_UINT64)
    return descending ? a->large > b->large : a->large < b->large;
  if (isnan (a->real) || isnan (b->real))
    return !isnan (a->real) && isnan (b->real);
  return descending ? a->real > b->real : a->real < b->real;
}

static void
check (const Row *rows, size_t n, CclColumnType type, bool descending)
{
  const void *const columns[] = {&rows->small, &rows->large, &rows->real};
  g_autofree size_t *expected = g_new0 (size_t, n + 1);
  g_autofree size_t *indices = g_new (size_t, n + 1);

  for (size_t i = 0; i < n; i++) {
    size_t at = i;
    for (; at > 0 && is_before (&rows[i], &rows[expected[at - 1]], type, descending); at--)
      expected[at] = expected[at - 1];
    expected[at] = i;
  }
  for (size_t n_wanted = 0; n_wanted <= n + 1; n_wanted += 1 + n / 3) {
    const size_t n_indices = MIN (n, n_wanted);
    indices[n_indices] = 4711;
    g_assert_cmpint (ccl_order_rows (n ? columns[type] : NULL, sizeof *rows, type, n, descending,
                         n_wanted, indices, NULL),
        ==, CUDACCL_OK);
    g_assert_cmpmem (indices, n_indices * sizeof *indices, expected, n_indices * sizeof *expected);
    g_assert_cmpuint (indices[n_indices], ==, 4711);
  }
}

static void
test_random_rows (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (27);
  Row rows[60];

  for (guint repetition = 0; repetition < 300; repetition++) {
    const size_t n = (size_t)g_rand_int_range (random, 0, G_N_ELEMENTS (rows) + 1);
    fill (random, rows, n);
    for (CclColumnType type = 0; type <= CUDACCL_COLUMN_TYPE_DOUBLE; type++)
      for (int descending = 0; descending < 2; descending++)
        check (rows, n, type, descending);
  }
}

static void
test_arguments (void)
{
  const double value = 1;
  size_t index;
  CclError error;

  g_assert_cmpint (
      ccl_order_rows (&value, 8, 3, 1, false, 1, &index, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, "CclColumnType"));
  g_assert_cmpint (ccl_order_rows (NULL, 8, CUDACCL_COLUMN_TYPE_DOUBLE, 1, false, 1, &index, NULL),
      ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_order_rows (&value, 8, CUDACCL_COLUMN_TYPE_DOUBLE, 1, false, 1, NULL, NULL),
      ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_order_rows (&value, 8, CUDACCL_COLUMN_TYPE_DOUBLE, SIZE_MAX / 8, false, 1, &index, NULL),
      ==, CUDACCL_ERROR_NO_MEMORY);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/order/random-rows", test_random_rows);
  g_test_add_func ("/order/arguments", test_arguments);
  return g_test_run ();
}
