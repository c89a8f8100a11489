/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a run reports: problems and progress on standard error, the machine, and tables.
 *
 * A problem is reported at once in one line and remembered: the run goes on, and the exit status at
 * the end is 1. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <json-glib/json-glib.h>

/* Reports a problem, unless the same line was reported before. */
void problem_report (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints a line that is worth knowing but no problem. */
void problem_remark (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* The lines of the problems so far; owned by this file. */
JsonArray *problems_reported (void);
unsigned problems_count (void);

/* Shows a progress bar where standard error is a terminal, with done of all steps and the current
 * one; done == all removes it. */
void progress_show (unsigned done, unsigned all, const char *current);

/* "command", "date", "version", "compiler", "cpu", "threads" and "system" with their values.
 * Devices and peers add theirs. */
JsonObject *machine_describe (int argc, char **argv);
void machine_add (JsonObject *machine, const char *name, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Rows of text and numbers, which are written as CSV or JSON. */
typedef struct Table {
  const char *const *columns; /* static; ended by NULL */
  JsonArray *rows;            /* an object a row; empty cells are left out */
  guint n_cells;              /* of the last row */
} Table;

Table *table_new (const char *const *columns);
void table_free (Table *table);

/* Begins a row. Its cells follow, column by column. */
void table_row (Table *table);

/* The next cell of the row. A number that is NAN leaves the cell empty. */
void table_text (Table *table, const char *format, ...) G_GNUC_PRINTF (2, 3);
void table_number (Table *table, double number, int decimals);

/* Appends the rows as CSV. A head line with an empty line before it comes first, unless the table
 * before (may be NULL) has the same columns. */
void table_append_csv (const Table *table, const Table *before, GString *csv);

/* Prints the rows as CSV, and an empty line. */
void table_print (const Table *table);

#endif /* BENCH_REPORT_H */
