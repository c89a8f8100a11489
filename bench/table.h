/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of text and numbers, which are printed for people, or written as CSV or JSON. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <json-glib/json-glib.h>
#include <stdio.h>

typedef struct Table Table;

/* A table without rows. columns: the names, ended by NULL. The title may be NULL. */
Table *table_new (const char *title, const char *const *columns);
void table_free (Table *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Table, table_free)

/* Adds a column behind the others; before the first row only. */
void table_add_column (Table *table, const char *name);

/* Begins a row. Its cells follow, column by column. */
void table_row (Table *table);

/* The next cell of the row. A number that is NAN leaves the cell empty. */
void table_text (Table *table, const char *format, ...) G_GNUC_PRINTF (2, 3);
void table_number (Table *table, double number, int decimals);

/* A time as the next cell, in the given unit (seconds), with three or more digits; empty for 0. */
void table_time (Table *table, double seconds, double unit);

guint table_n_rows (const Table *table);

/* The text of a cell; empty if the row has none there. */
const char *table_cell (const Table *table, guint row, guint column);

/* Prints the title, the aligned rows and an empty line. Empty cells appear as a dash. */
void table_print (const Table *table, FILE *file);

/* Appends the rows as CSV. A head line with an empty line before it comes first, unless the table
 * before (may be NULL) has the same columns. */
void table_append_csv (const Table *table, const Table *before, GString *csv);

/* One object a row; cells of numbers are numbers, empty cells are left out. */
JsonArray *table_to_json (const Table *table);

#endif /* BENCH_TABLE_H */
