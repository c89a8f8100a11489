/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sparse linear assignment problem: each row gets at most one column and each column goes to at
 * most one row, with the least sum of costs. */
#pragma once

#include <stdint.h>

#define CUDACCL_UNASSIGNED UINT32_MAX

/* The entries of row r are those from first[r] to first[r + 1] - 1; a column appears at most once
 * in a row. A row without a column costs `unassigned`. */
typedef struct CclAssignmentProblem {
  uint32_t n_rows, n_columns;
  const uint32_t *first; /* n_rows + 1 */
  const uint32_t *column;
  const double *cost; /* ≥ 0 */
  double unassigned;  /* ≥ 0 */
} CclAssignmentProblem;

/* Memory for problems of up to so many rows and columns. */
typedef struct CclAssignmentScratch {
  double *row_price;       /* rows */
  double *column_price;    /* columns + rows */
  double *distance;        /* columns + rows */
  uint32_t *previous;      /* columns + rows */
  uint32_t *row_of_column; /* columns + rows */
  uint32_t *touched;       /* columns + rows */
  uint8_t *done;           /* columns + rows */
} CclAssignmentScratch;

/* Fills column_of_row (n_rows elements; CUDACCL_UNASSIGNED where a row gets none). Among
 * assignments of equal cost the choice depends on the order of rows and entries alone.
 *
 * Method: successive shortest paths with prices (R. Jonker, A. Volgenant, "A shortest augmenting
 * path algorithm for dense and sparse linear assignment problems", 1987, without its
 * initialisation). */
void ccl_assign (const CclAssignmentProblem *problem, const CclAssignmentScratch *scratch,
    uint32_t *column_of_row);
