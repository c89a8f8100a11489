/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "row-order.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
  double key; /* the least comes first; NaN comes last */
  CclTiledComponent row;
  CclVolumeShape shape;
} Entry;

struct RowOrder {
  const ColumnList *columns;
  const ColumnPicture *picture;
  uint32_t column; /* by which rows are sorted */
  bool by_area, is_real, has_shapes;
  uint64_t largest;
  Entry *entries;
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
key_of (const RowOrder *self, const CclTiledComponent *row, const CclVolumeShape *shape)
{
  ColumnValue values[MOST_COLUMNS];
  double value = (double)row->area;

  if (!self->by_area) {
    columns_fill (self->columns, self->picture, row, shape, values);
    value = self->is_real ? values[self->column].real : (double)values[self->column].count;
  }
  return self->largest ? -value : value;
}

bool
row_order_add (RowOrder *self, const CclTiledComponent *rows, const CclVolumeShape *shapes,
    size_t n, CclError *error)
{
  if (self->n + n > self->capacity) {
    const size_t capacity = 2 * (self->n + n);
    Entry *entries = realloc (self->entries, capacity * sizeof *entries);
    if (!entries)
      return fail_without_memory (error);
    self->entries = entries;
    self->capacity = capacity;
  }
  self->has_shapes = shapes != NULL;
  for (size_t i = 0; i < n; i++) {
    Entry *entry = &self->entries[self->n++];
    entry->row = rows[i];
    if (shapes)
      entry->shape = shapes[i];
    entry->key = key_of (self, &rows[i], shapes ? &shapes[i] : NULL);
  }
  return true;
}

static int
compare (const void *first, const void *second)
{
  const Entry *a = first, *b = second;

  if (isnan (a->key) != isnan (b->key))
    return isnan (a->key) ? 1 : -1;
  if (a->key != b->key && !isnan (a->key))
    return a->key < b->key ? -1 : 1;
  return a->row.label < b->row.label ? -1 : a->row.label > b->row.label;
}

bool
row_order_write (RowOrder *self, Table *table, CclError *error)
{
  const uint64_t n = row_order_count (self, self->n);

  if (self->n > 0)
    qsort (self->entries, self->n, sizeof *self->entries, compare);
  for (uint64_t i = 0; i < n; i++) {
    const Entry *entry = &self->entries[i];
    if (!table_write (table, &entry->row, self->has_shapes ? &entry->shape : NULL, 1, error))
      return false;
  }
  return true;
}

void
row_order_free (RowOrder *self)
{
  if (!self)
    return;
  free (self->entries);
  free (self);
}
