/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include "error.h"

#include <cudaccl/columns.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of text that are written at once; a row needs less than LONGEST_ROW: 25 for a number, and
 * in JSON its key. */
enum { BUFFER = 1 << 16, LONGEST_ROW = MOST_COLUMNS * (sizeof (Column) + 32) };

/* What a column is in each format, with a comma behind it, and its value behind one. */
#define KEY(field, key) key ","
#define CSV_COUNT(field, key) "%llu,"
#define CSV_REAL(field, key) "%.17g,"
#define JSON_COUNT(field, key) "\"" key "\":%llu,"
#define JSON_REAL(field, key) "\"" key "\":%.17g,"
#define NPY_COUNT(field, key) "('" key "', '@u8'), "
#define NPY_REAL(field, key) "('" key "', '@f8'), "
#define COUNT_VALUE(field, key) , (unsigned long long)r->field
#define REAL_VALUE(field, key) , r->field

#define FRAMES(count, real) CUDACCL_COLUMNS (count, real, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
#define VOLUMES(count, real) CUDACCL_COLUMNS (count, real, count, real)

typedef enum TableFormat { TABLE_CSV, TABLE_NDJSON, TABLE_NPY } TableFormat;

struct Table {
  OutputFormat format;
  TableFormat table_format;
  OutputFile *file;
  uint64_t offset;   /* where the next rows go: in the file, or in the text of this rank */
  bool has_own_text; /* of several ranks: the place of its text is known at the end */
  FILE *own_text;
  char *path;
  char *buffer;
  size_t used;

  /* The columns that were chosen. */
  Column columns[MOST_COLUMNS];
  uint32_t n_columns; /* 0: those of CclTiledComponent */
};

static bool
find_format (const char *name, TableFormat *format)
{
  if (has_suffix (name, ".csv"))
    *format = TABLE_CSV;
  else if (has_suffix (name, ".ndjson") || has_suffix (name, ".jsonl"))
    *format = TABLE_NDJSON;
  else if (has_suffix (name, ".npy"))
    *format = TABLE_NPY;
  else
    return false;
  return true;
}

static void
table_free (Table *table)
{
  if (!table)
    return;
  free (table->path);
  free (table->buffer);
  free (table);
}

Table *
table_open (const char *name, const char *path, const OutputFormat *format, CclError *error)
{
  Table *table = calloc (1, sizeof *table);
  bool succeeded = table != NULL;

  if (succeeded) {
    table->format = *format;
    table->n_columns = columns_expand (format->columns, format->kind, table->columns);
    table->buffer = malloc (BUFFER);
    table->path = strdup (path);
    succeeded = table->buffer && table->path;
  }
  if (!succeeded)
    fail_without_memory (error);
  else if (!find_format (name, &table->table_format))
    succeeded = fail (error, "%s: the name of a table ends in .csv, .ndjson or .npy", name);
  if (processes_agree (succeeded, error)) {
    table->has_own_text = format->processes.n_ranks > 1 && table->table_format != TABLE_NPY;
    table->file = output_file_open (path, error);
    if (table->file)
      return table;
  }
  table_free (table);
  return NULL;
}

/* Writes to the table or, if there are several ranks, to this rank's text. */
static bool
append (Table *table, const void *bytes, size_t size, CclError *error)
{
  if (table->own_text) {
    if (!own_part_write (table->own_text, bytes, size, error))
      return false;
  } else if (!output_file_write (table->file, table->offset, bytes, size, error)) {
    return false;
  }
  table->offset += size;
  return true;
}

static bool
flush (Table *table, CclError *error)
{
  const size_t used = table->used;
  table->used = 0;
  return used == 0 || append (table, table->buffer, used, error);
}

/* Replaces the comma behind a row's last column. */
static void
end_row (Table *table, const char *end)
{
  table->used += (size_t)sprintf (table->buffer + table->used - 1, "%s", end) - 1;
}

/* The bytes of a row in an NPY file. */
static size_t
row_bytes (const Table *table)
{
  return table->n_columns ? table->n_columns * sizeof (ColumnValue) : sizeof (CclTiledComponent);
}

static uint32_t
header_bytes (const Table *table)
{
  return table->n_columns ? NPY_LONG_HEADER : NPY_HEADER;
}

static bool
write_npy_header (Table *table, uint64_t n_components, CclError *error)
{
  char header[NPY_LONG_HEADER], shape[32];
  char type[LONGEST_ROW] = "[" VOLUMES (NPY_COUNT, NPY_REAL);
  size_t used = 1;

  for (uint32_t i = 0; i < table->n_columns; i++)
    used += (size_t)sprintf (type + used, "('%s', '@%s'), ", table->columns[i].name,
        table->columns[i].is_real ? "f8" : "i8");
  memcpy (strrchr (type, ','), "]", 2);
  snprintf (shape, sizeof shape, "%llu,", (unsigned long long)n_components);
  npy_header (header, header_bytes (table), type, shape);
  return output_file_write (table->file, 0, header, header_bytes (table), error);
}

/* Begins a CSV file. */
static void
print_names (Table *table)
{
  const char *names = table->format.is_volume ? VOLUMES (KEY, KEY) : FRAMES (KEY, KEY);

  if (table->n_columns == 0)
    table->used = (size_t)sprintf (table->buffer, "%s", names);
  for (uint32_t i = 0; i < table->n_columns; i++)
    table->used += (size_t)sprintf (table->buffer + table->used, "%s,", table->columns[i].name);
  end_row (table, "\n");
}

bool
table_begin (Table *table, uint64_t n_components, uint64_t first_label, CclError *error)
{
  if (table->has_own_text) {
    table->own_text = own_part_new (table->path, &table->format.processes, error);
    if (!table->own_text)
      return false;
  }
  if (table->table_format == TABLE_NPY) {
    table->offset = header_bytes (table) + (first_label - 1) * row_bytes (table);
    return table->format.processes.rank != 0 || write_npy_header (table, n_components, error);
  }
  if (table->table_format == TABLE_CSV && table->format.processes.rank == 0)
    print_names (table);
  return true;
}

/* Appends a row of text to the buffer. */
static void
print_row (Table *table, const CclTiledComponent *r)
{
  static const char *const formats[2][2] = {
      {FRAMES (CSV_COUNT, CSV_REAL), VOLUMES (CSV_COUNT, CSV_REAL)},
      {"{" FRAMES (JSON_COUNT, JSON_REAL), "{" VOLUMES (JSON_COUNT, JSON_REAL)},
  };
  const bool is_json = table->table_format == TABLE_NDJSON, is_volume = table->format.is_volume;
  const char *format = formats[is_json][is_volume];
  char *to = table->buffer + table->used;

  if (is_volume)
    table->used += (size_t)sprintf (to, format VOLUMES (COUNT_VALUE, REAL_VALUE));
  else
    table->used += (size_t)sprintf (to, format FRAMES (COUNT_VALUE, REAL_VALUE));
  end_row (table, is_json ? "}\n" : "\n");
}

/* Appends a row of the chosen columns to the buffer. JSON has null where a number is not finite. */
static void
print_values (Table *table, const ColumnValue *values)
{
  const bool is_json = table->table_format == TABLE_NDJSON;
  char *to = table->buffer + table->used;

  if (is_json)
    *to++ = '{';
  for (uint32_t i = 0; i < table->n_columns; i++) {
    if (is_json)
      to += sprintf (to, "\"%s\":", table->columns[i].name);
    if (!table->columns[i].is_real)
      to += sprintf (to, "%lld,", (long long)values[i].count);
    else if (is_json && !isfinite (values[i].real))
      to += sprintf (to, "null,");
    else if (isnan (values[i].real)) /* which may have a sign */
      to += sprintf (to, "nan,");
    else
      to += sprintf (to, "%.17g,", values[i].real);
  }
  table->used = (size_t)(to - table->buffer);
  end_row (table, is_json ? "}\n" : "\n");
}

/* Appends a row of the chosen columns. */
static bool
write_values (
    Table *table, const CclTiledComponent *row, const CclVolumeShape *shapes, CclError *error)
{
  ColumnValue values[MOST_COLUMNS];

  if (table->used > BUFFER - LONGEST_ROW && !flush (table, error))
    return false;
  columns_fill (table->format.columns, table->format.kind, row, shapes, values);
  if (table->table_format == TABLE_NPY) {
    memcpy (table->buffer + table->used, values, row_bytes (table));
    table->used += row_bytes (table);
  } else {
    print_values (table, values);
  }
  return true;
}

bool
table_write (Table *table, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  if (table->table_format == TABLE_NPY && !table->n_columns)
    return append (table, rows, n * sizeof *rows, error);
  for (size_t i = 0; i < n; i++) {
    if (table->n_columns) {
      const CclVolumeShape *of_row = shapes ? &shapes[i * table->format.kind->n_planes] : NULL;
      if (!write_values (table, &rows[i], of_row, error))
        return false;
      continue;
    }
    if (table->used > BUFFER - LONGEST_ROW && !flush (table, error))
      return false;
    print_row (table, &rows[i]);
  }
  return true;
}

bool
table_close (Table *table, bool failed, CclError *error)
{
  if (!table)
    return true;
  if (!failed)
    failed = !flush (table, error);
  if (table->has_own_text) {
    const uint64_t offset = processes_sum_before (table->offset);
    if (!failed)
      failed = !own_part_copy (table->own_text, table->file, offset, error);
    if (table->own_text)
      fclose (table->own_text);
  }
  const bool succeeded = output_file_close (table->file, failed, error);
  table_free (table);
  return succeeded;
}
