/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorts the rows of a table by a column of it, or finds the largest. The rows stay where they are:
 * the result is a list of their indices.
 *
 *   size_t indices[5];
 *   if (table.n_rows > 0)
 *     ccl_order_rows (&table.rows->area, sizeof *table.rows, CUDACCL_COLUMN_TYPE_UINT32,
 *         table.n_rows, true, 5, indices, &error); // the five largest components
 *
 * Since: 0.3
 */
#ifndef CUDACCL_ORDER_H
#define CUDACCL_ORDER_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a column's values. Since: 0.3 */
typedef enum CclColumnType {
  CUDACCL_COLUMN_TYPE_UINT32,
  CUDACCL_COLUMN_TYPE_UINT64,
  CUDACCL_COLUMN_TYPE_DOUBLE
} CclColumnType;

/* Sorts rows by a column. Rows with equal values stay in the order of the table, and those whose
 * value is not a number come last.
 *
 * values: the column in the first of the rows, in host memory, aligned as its type. stride: bytes
 * from a row to the next: sizeof *rows. n: rows; with 0, values may be NULL. descending: the
 * greatest value comes first. n_wanted: the most indices to return. indices: [the smaller of n and
 * n_wanted] filled with the indices of the rows, counted from 0, in their new order.
 *
 * It allocates 16 bytes per row. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_order_rows (const void *values, size_t stride, CclColumnType type, size_t n,
    bool descending, size_t n_wanted, size_t *indices, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_ORDER_H */
