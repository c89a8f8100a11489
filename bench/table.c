/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Cell {
  char *text;
  bool is_number;
} Cell;

struct Table {
  GPtrArray *columns; /* char * */
  GPtrArray *rows;    /* GArray of Cell */
};

static void
cell_clear (Cell *cell)
{
  g_free (cell->text);
}

Table *
table_new (const char *const *columns)
{
  Table *table = g_new (Table, 1);

  *table = (Table){
      .columns = g_ptr_array_new_with_free_func (g_free),
      .rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref),
  };
  for (; *columns; columns++)
    g_ptr_array_add (table->columns, g_strdup (*columns));
  return table;
}

void
table_free (Table *table)
{
  if (!table)
    return;
  g_ptr_array_unref (table->columns);
  g_ptr_array_unref (table->rows);
  g_free (table);
}

void
table_row (Table *table)
{
  GArray *row = g_array_new (FALSE, FALSE, sizeof (Cell));

  g_array_set_clear_func (row, (GDestroyNotify)cell_clear);
  g_ptr_array_add (table->rows, row);
}

static void
add_cell (Table *table, Cell cell)
{
  GArray *row = table->rows->pdata[table->rows->len - 1];

  g_assert (row->len < table->columns->len);
  g_array_append_val (row, cell);
}

void
table_text (Table *table, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  add_cell (table, (Cell){g_strdup_vprintf (format, arguments), false});
  va_end (arguments);
}

void
table_number (Table *table, double number, int decimals)
{
  add_cell (table,
      (Cell){isnan (number) ? g_strdup ("") : g_strdup_printf ("%.*f", decimals, number), true});
}

guint
table_n_rows (const Table *table)
{
  return table->rows->len;
}

static const Cell *
get_cell (const Table *table, guint row, guint column)
{
  static const Cell empty = {(char *)"", true};
  const GArray *cells = table->rows->pdata[row];

  return column < cells->len ? &g_array_index (cells, Cell, column) : &empty;
}

const char *
table_cell (const Table *table, guint row, guint column)
{
  return get_cell (table, row, column)->text;
}

static void
append_csv_cell (GString *csv, const char *text, bool is_first)
{
  if (!is_first)
    g_string_append_c (csv, ',');
  if (strpbrk (text, ",\"\n")) {
    g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
    g_autofree char *escaped = g_strjoinv ("\"\"", parts);
    g_string_append_printf (csv, "\"%s\"", escaped);
  } else {
    g_string_append (csv, text);
  }
}

static bool
have_same_columns (const Table *a, const Table *b)
{
  bool same = a->columns->len == b->columns->len;

  for (guint column = 0; same && column < a->columns->len; column++)
    same = g_str_equal (a->columns->pdata[column], b->columns->pdata[column]);
  return same;
}

void
table_append_csv (const Table *table, const Table *before, GString *csv)
{
  const guint n_columns = table->columns->len;

  if (!before || !have_same_columns (table, before)) {
    if (csv->len)
      g_string_append_c (csv, '\n');
    for (guint column = 0; column < n_columns; column++)
      append_csv_cell (csv, table->columns->pdata[column], column == 0);
    g_string_append_c (csv, '\n');
  }
  for (guint row = 0; row < table->rows->len; row++) {
    for (guint column = 0; column < n_columns; column++)
      append_csv_cell (csv, table_cell (table, row, column), column == 0);
    g_string_append_c (csv, '\n');
  }
}

void
table_print (const Table *table, FILE *file)
{
  g_autoptr (GString) csv = g_string_new (NULL);

  table_append_csv (table, NULL, csv);
  fprintf (file, "%s\n", csv->str);
}

JsonArray *
table_to_json (const Table *table)
{
  JsonArray *array = json_array_new ();

  for (guint row = 0; row < table->rows->len; row++) {
    JsonObject *object = json_object_new ();
    for (guint column = 0; column < table->columns->len; column++) {
      const Cell *cell = get_cell (table, row, column);
      const char *name = table->columns->pdata[column];
      if (!cell->is_number)
        json_object_set_string_member (object, name, cell->text);
      else if (*cell->text)
        json_object_set_double_member (object, name, g_ascii_strtod (cell->text, NULL));
    }
    json_array_add_object_element (array, object);
  }
  return array;
}
