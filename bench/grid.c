/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "grid.h"

struct Grid {
  char *title;
  GPtrArray *rows; /* of GPtrArray of char * */
};

Grid *
grid_new (const char *title)
{
  Grid *grid = g_new (Grid, 1);
  grid->title = g_strdup (title);
  grid->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  return grid;
}

void
grid_row (Grid *grid)
{
  g_ptr_array_add (grid->rows, g_ptr_array_new_with_free_func (g_free));
}

void
grid_cell (Grid *grid, const char *format, ...)
{
  GPtrArray *row = grid->rows->pdata[grid->rows->len - 1];
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (row, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

void
grid_time (Grid *grid, double seconds, double unit)
{
  const double value = seconds / unit;

  if (seconds <= 0)
    grid_cell (grid, "-");
  else
    grid_cell (grid, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
}

void
grid_print (const Grid *grid, FILE *file)
{
  g_autoptr (GArray) widths = g_array_new (FALSE, TRUE, sizeof (glong));

  for (guint r = 0; r < grid->rows->len; r++) {
    const GPtrArray *row = grid->rows->pdata[r];
    if (row->len > widths->len)
      g_array_set_size (widths, row->len);
    for (guint c = 0; c < row->len; c++) {
      glong *width = &g_array_index (widths, glong, c);
      *width = MAX (*width, g_utf8_strlen (row->pdata[c], -1));
    }
  }
  if (grid->title)
    fprintf (file, "%s\n", grid->title);
  for (guint r = 0; r < grid->rows->len; r++) {
    const GPtrArray *row = grid->rows->pdata[r];
    for (guint c = 0; c < row->len; c++) {
      const char *text = row->pdata[c];
      const int padding = (int)(g_array_index (widths, glong, c) - g_utf8_strlen (text, -1));
      if (c == 0)
        fprintf (file, row->len > 1 ? "%s%*s" : "%s", text, padding, "");
      else
        fprintf (file, "  %*s%s", padding, "", text);
    }
    fputc ('\n', file);
  }
  fputc ('\n', file);
}

void
grid_free (Grid *grid)
{
  if (!grid)
    return;
  g_ptr_array_unref (grid->rows);
  g_free (grid->title);
  g_free (grid);
}

void
grid_print_and_free (Grid *grid, FILE *file)
{
  grid_print (grid, file);
  grid_free (grid);
}

guint
grid_n_rows (const Grid *grid)
{
  return grid->rows->len;
}

const GPtrArray *
grid_get_row (const Grid *grid, guint row)
{
  return grid->rows->pdata[row];
}
