/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "assignment.h"

#include <math.h>
#include <stdbool.h>

/* An unassigned row has a column of its own, n_columns + row. */

/* Shortens the paths to the columns of a row at `distance`. Returns the new number of columns with
 * a path. */
static uint32_t
relax_row (const CclAssignmentProblem *p, const CclAssignmentScratch *s, uint32_t row,
    double distance, uint32_t n_touched)
{
  const uint32_t n_entries = p->first[row + 1] - p->first[row];
  for (uint32_t i = 0; i <= n_entries; i++) {
    const bool own = i == n_entries;
    const uint32_t column = own ? p->n_columns + row : p->column[p->first[row] + i];
    const double cost = own ? p->unassigned : p->cost[p->first[row] + i];
    const double length = distance + (cost - s->row_price[row] - s->column_price[column]);
    if (s->done[column] || length >= s->distance[column])
      continue;
    if (s->distance[column] == INFINITY)
      s->touched[n_touched++] = column;
    s->distance[column] = length;
    s->previous[column] = row;
  }
  return n_touched;
}

static uint32_t
nearest (const CclAssignmentScratch *s, uint32_t n_touched)
{
  uint32_t best = CUDACCL_UNASSIGNED;
  for (uint32_t i = 0; i < n_touched; i++) {
    const uint32_t column = s->touched[i];
    if (!s->done[column] && (best == CUDACCL_UNASSIGNED || s->distance[column] < s->distance[best]))
      best = column;
  }
  return best;
}

/* Finds the shortest alternating path from a row to a free column, and swaps along it. */
static void
augment (const CclAssignmentProblem *p, const CclAssignmentScratch *s, uint32_t start,
    uint32_t *column_of_row)
{
  uint32_t n_touched = relax_row (p, s, start, 0, 0);
  uint32_t end = nearest (s, n_touched);
  while (s->row_of_column[end] != CUDACCL_UNASSIGNED) {
    s->done[end] = true;
    n_touched = relax_row (p, s, s->row_of_column[end], s->distance[end], n_touched);
    end = nearest (s, n_touched);
  }

  /* Prices keep all reduced costs ≥ 0 and those of assigned entries 0. */
  const double length = s->distance[end];
  s->row_price[start] += length;
  for (uint32_t i = 0; i < n_touched; i++) {
    const uint32_t column = s->touched[i];
    if (s->done[column]) {
      s->column_price[column] += s->distance[column] - length;
      s->row_price[s->row_of_column[column]] += length - s->distance[column];
    }
    s->distance[column] = INFINITY;
    s->done[column] = false;
  }

  for (uint32_t row = CUDACCL_UNASSIGNED, column = end; row != start;) {
    row = s->previous[column];
    const uint32_t next = column_of_row[row];
    s->row_of_column[column] = row;
    column_of_row[row] = column;
    column = next;
  }
}

void
ccl_assign (const CclAssignmentProblem *problem, const CclAssignmentScratch *scratch,
    uint32_t *column_of_row)
{
  const uint32_t n_all = problem->n_columns + problem->n_rows;
  for (uint32_t i = 0; i < n_all; i++) {
    scratch->column_price[i] = 0;
    scratch->distance[i] = INFINITY;
    scratch->row_of_column[i] = CUDACCL_UNASSIGNED;
    scratch->done[i] = false;
  }
  for (uint32_t row = 0; row < problem->n_rows; row++) {
    scratch->row_price[row] = 0;
    column_of_row[row] = CUDACCL_UNASSIGNED;
  }
  for (uint32_t row = 0; row < problem->n_rows; row++)
    augment (problem, scratch, row, column_of_row);
  for (uint32_t row = 0; row < problem->n_rows; row++)
    if (column_of_row[row] >= problem->n_columns)
      column_of_row[row] = CUDACCL_UNASSIGNED;
}
