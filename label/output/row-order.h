/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a table that are kept in memory, to be written in the order of a column, or of which only
 * the greatest are written. */
#pragma once

#include "output.h"

typedef struct RowOrder RowOrder;

/* sort_by: "area" or the name of a column; NULL: "area". largest: the most rows, those with the
 * greatest values, greatest first; 0: all rows in ascending order. Rows with equal values keep the
 * order of labels, and NaN comes last. columns and picture must outlive the object. Returns NULL
 * with the error filled. */
RowOrder *row_order_new (const ColumnList *columns, const ColumnPicture *picture,
    const char *sort_by, uint64_t largest, CclError *error);

/* How many of n rows are written. */
uint64_t row_order_count (const RowOrder *order, uint64_t n);

/* Keeps copies of rows. shapes: [n_planes] of each row; NULL if none are measured. */
bool row_order_add (RowOrder *order, const CclTiledComponent *rows, const CclVolumeShape *shapes,
    size_t n, CclError *error);

bool row_order_write (RowOrder *order, Table *table, CclError *error);

void row_order_free (RowOrder *order); /* NULL is allowed */
