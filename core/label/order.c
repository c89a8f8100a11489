/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts the rows of tables. */
#include "labeller-class.h"

#include <cudaccl/order.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
  uint64_t key; /* the least comes first */
  size_t index;
} Entry;

/* Maps doubles to integers in the same order. NaN has the greatest, both zeros have the same. */
static uint64_t
key_of_double (double value)
{
  const uint64_t sign = UINT64_C (1) << 63;
  uint64_t bits;

  if (isnan (value))
    return UINT64_MAX;
  value += 0.0; /* makes -0 a +0 */
  memcpy (&bits, &value, sizeof bits);
  return bits & sign ? ~bits : bits | sign;
}

/* Doubles are negated instead of their keys, so that NaN comes last in both orders. */
static uint64_t
key_of (const void *value, CclColumnType type, bool descending)
{
  if (type == CUDACCL_COLUMN_TYPE_DOUBLE) {
    const double number = *(const double *)value;
    return key_of_double (descending ? -number : number);
  }
  const uint64_t number =
      type == CUDACCL_COLUMN_TYPE_UINT32 ? *(const uint32_t *)value : *(const uint64_t *)value;
  return descending ? ~number : number;
}

static int
compare (const void *first, const void *second)
{
  const Entry *a = first, *b = second;

  if (a->key != b->key)
    return a->key < b->key ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

CclStatus
ccl_order_rows (const void *values, size_t stride, CclColumnType type, size_t n, bool descending,
    size_t n_wanted, size_t *indices, CclError *error)
{
  const bool is_known = type == CUDACCL_COLUMN_TYPE_UINT32 || type == CUDACCL_COLUMN_TYPE_UINT64 ||
                        type == CUDACCL_COLUMN_TYPE_DOUBLE;
  const size_t n_indices = n < n_wanted ? n : n_wanted;

  if (!is_known)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "%d is no value of CclColumnType", (int)type);
  if (n_indices == 0)
    return CUDACCL_OK;
  if (!values || !indices)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "values and indices must not be NULL");
  Entry *entries = n <= SIZE_MAX / sizeof *entries ? malloc (n * sizeof *entries) : NULL;
  if (!entries)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to sort %zu rows", n);
  for (size_t i = 0; i < n; i++)
    entries[i] = (Entry){key_of ((const char *)values + i * stride, type, descending), i};
  qsort (entries, n, sizeof *entries, compare);
  for (size_t i = 0; i < n_indices; i++)
    indices[i] = entries[i].index;
  free (entries);
  return CUDACCL_OK;
}
