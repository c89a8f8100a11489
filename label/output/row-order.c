/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "row-order.h"

#include "error.h"

#include <cudaccl/order.h>
#include <stdlib.h>
#include <string.h>

struct RowOrder {
  const ColumnList *columns;
  const ColumnPicture *picture;
  uint32_t column; /* by which rows are sorted */
  bool by_area, is_real, has_shapes;
  uint64_t largest;

  CclTiledComponent *rows; /* [capacity], as the next two */
  double *keys;            /* the values of the column */
  CclVolumeShape *shapes;  /* [n_planes] of each row */
  size_t n, capacity;
};

/* Finds the column to sort by. */
static bool
find_column (RowOrder *self, const char *name, CclError *error)
{
  Column columns[MOST_COLUMNS];
  const uint32_t n = columns_expand (self->columns, self->picture, columns);

  self->by_area = !name || strcmp (name, "area") == 0;
  if (self->by_area)
    return true;
  for (uint32_t i = 0; i < n; i++)
    if (strcmp (columns[i].name, name) == 0) {
      self->column = i;
      self->is_real = columns[i].is_real;
      return true;
    }
  return fail (error, "--sort-by cannot be '%s': 'area', or one of --columns", name);
}

RowOrder *
row_order_new (const ColumnList *columns, const ColumnPicture *picture, const char *sort_by,
    uint64_t largest, CclError *error)
{
  RowOrder *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  self->columns = columns;
  self->picture = picture;
  self->largest = largest;
  if (find_column (self, sort_by, error))
    return self;
  free (self);
  return NULL;
}

uint64_t
row_order_count (const RowOrder *self, uint64_t n)
{
  return self->largest && self->largest < n ? self->largest : n;
}

static double
key_of (const RowOrder *self, const CclTiledComponent *row, const CclVolumeShape *shapes)
{
  ColumnValue values[MOST_COLUMNS];
  double value = (double)row->area;

  if (!self->by_area) {
    columns_fill (self->columns, self->picture, row, shapes, values);
    value = self->is_real ? values[self->column].real : (double)values[self->column].count;
  }
  return value;
}

/* Makes room for n more rows. */
static bool
grow (RowOrder *self, size_t n, CclError *error)
{
  if (self->n + n <= self->capacity)
    return true;
  const size_t capacity = 2 * (self->n + n),
               n_shapes = self->has_shapes ? self->picture->n_planes : 0;
  CclTiledComponent *rows = reallocarray (self->rows, capacity, sizeof *rows);
  if (rows)
    self->rows = rows;
  double *keys = reallocarray (self->keys, capacity, sizeof *keys);
  if (keys)
    self->keys = keys;
  CclVolumeShape *shapes =
      n_shapes ? reallocarray (self->shapes, capacity, n_shapes * sizeof *shapes) : NULL;
  if (shapes)
    self->shapes = shapes;
  if (!rows || !keys || (n_shapes && !shapes))
    return fail_without_memory (error);
  self->capacity = capacity;
  return true;
}

bool
row_order_add (RowOrder *self, const CclTiledComponent *rows, const CclVolumeShape *shapes,
    size_t n, CclError *error)
{
  const uint32_t n_planes = self->picture->n_planes;

  self->has_shapes = shapes != NULL;
  if (!grow (self, n, error))
    return false;
  for (size_t i = 0; i < n; i++) {
    const CclVolumeShape *of_row = shapes ? &shapes[i * n_planes] : NULL;
    self->rows[self->n] = rows[i];
    self->keys[self->n] = key_of (self, &rows[i], of_row);
    if (of_row)
      memcpy (&self->shapes[self->n * n_planes], of_row, n_planes * sizeof *of_row);
    self->n++;
  }
  return true;
}

bool
row_order_write (RowOrder *self, Table *table, CclError *error)
{
  const size_t n = row_order_count (self, self->n);
  size_t *indices = calloc (n + 1, sizeof *indices);
  bool succeeded = indices || fail_without_memory (error);

  if (succeeded)
    succeeded = ccl_order_rows (self->keys, sizeof *self->keys, CUDACCL_COLUMN_TYPE_DOUBLE, self->n,
                    self->largest > 0, n, indices, error) == CUDACCL_OK;
  for (size_t i = 0; i < n && succeeded; i++) {
    const CclVolumeShape *shapes =
        self->has_shapes ? &self->shapes[indices[i] * self->picture->n_planes] : NULL;
    succeeded = table_write (table, &self->rows[indices[i]], shapes, 1, error);
  }
  free (indices);
  return succeeded;
}

void
row_order_free (RowOrder *self)
{
  if (!self)
    return;
  free (self->rows);
  free (self->keys);
  free (self->shapes);
  free (self);
}
