/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of text and numbers, which are written as CSV or JSON. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <json-glib/json-glib.h>
#include <stdio.h>

typedef struct Table Table;

/* A table without rows. columns: the names, ended by NULL. */
Table *table_new (const char *const *columns);
void table_free (Table *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Table, table_free)

/* Begins a row. Its cells follow, column by column. */
void table_row (Table *table);

/* The next cell of the row. A number that is NAN leaves the cell empty. */
void table_text (Table *table, const char *format, ...) G_GNUC_PRINTF (2, 3);
void table_number (Table *table, double number, int decimals);

guint table_n_rows (const Table *table);

/* The text of a cell; empty if the row has none there. */
const char *table_cell (const Table *table, guint row, guint column);

/* Appends the rows as CSV. A head line with an empty line before it comes first, unless the table
 * before (may be NULL) has the same columns. */
void table_append_csv (const Table *table, const Table *before, GString *csv);

/* Prints the rows as CSV, and an empty line. */
void table_print (const Table *table, FILE *file);

/* One object a row; cells of numbers are numbers, empty cells are left out. */
JsonArray *table_to_json (const Table *table);

#endif /* BENCH_TABLE_H */
