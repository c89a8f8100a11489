/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Aligned tables of text: the first column left, the others right. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <glib.h>
#include <stdio.h>

typedef struct Grid Grid;

/* The title may be NULL. */
Grid *grid_new (const char *title);

/* Begins a row; the first one is the head. */
void grid_row (Grid *grid);

/* The next cell of the row. */
void grid_cell (Grid *grid, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* A time as the next cell, in the unit of so many seconds, with three or more digits; a dash for
 * 0 and less. */
void grid_time (Grid *grid, double seconds, double unit);

/* Prints the title, the rows and an empty line. */
void grid_print (const Grid *grid, FILE *file);

/* Prints and frees. */
void grid_print_and_free (Grid *grid, FILE *file);

void grid_free (Grid *grid);

/* The rows for other forms; each is an array of text. */
guint grid_n_rows (const Grid *grid);
const GPtrArray *grid_get_row (const Grid *grid, guint row);

#endif /* BENCH_GRID_H */
