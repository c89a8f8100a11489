/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

JsonArray *
problems_reported (void)
{
  static JsonArray *problems;

  if (!problems)
    problems = json_array_new ();
  return problems;
}

unsigned
problems_count (void)
{
  return json_array_get_length (problems_reported ());
}

static void
clear_progress (void)
{
  if (isatty (STDERR_FILENO))
    fputs ("\r\033[K", stderr);
}

void
problem_remark (const char *format, ...)
{
  va_list arguments;

  clear_progress ();
  fputs ("ccl-bench: ", stderr);
  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fputc ('\n', stderr);
}

void
problem_report (const char *format, ...)
{
  va_list arguments;
  g_autofree char *line = NULL;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  for (guint i = 0; i < problems_count (); i++)
    if (g_str_equal (json_array_get_string_element (problems_reported (), i), line))
      return;
  problem_remark ("%s", line);
  json_array_add_string_element (problems_reported (), line);
}

void
progress_show (unsigned done, unsigned all, const char *current)
{
  static const char full[] = "##############################";
  enum { WIDTH = sizeof full - 1 };

  if (!isatty (STDERR_FILENO) || !all)
    return;
  clear_progress ();
  if (done < all) {
    const int filled = (int)((unsigned long)done * WIDTH / all);
    fprintf (stderr, "[%.*s%*s] %u/%u %.60s", filled, full, WIDTH - filled, "", done, all, current);
    fflush (stderr);
  }
}

void
machine_add (JsonObject *machine, const char *name, const char *format, ...)
{
  va_list arguments;
  g_autofree char *value = NULL;

  va_start (arguments, format);
  value = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  json_object_set_string_member (machine, name, value);
}

/* The processor's name from the kernel. */
static char *
read_cpu_model (void)
{
  g_autofree char *text = NULL;
  g_autoptr (GRegex) regex = g_regex_new ("^model name\\s*: (.*)$", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL) ||
      !g_regex_match (regex, text, 0, &match))
    return g_strdup ("unknown");
  return g_match_info_fetch (match, 1);
}

JsonObject *
machine_describe (int argc, char **argv)
{
  JsonObject *machine = json_object_new ();
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format_iso8601 (now);
  g_autoptr (GString) command = g_string_new ("ccl-bench");
  g_autofree char *cpu = read_cpu_model ();
  struct utsname system;

  for (int i = 1; i < argc; i++) {
    g_autofree char *quoted = g_shell_quote (argv[i]);
    const bool is_plain = *argv[i] && !strpbrk (argv[i], " \t\n'\"\\$&;|<>()*?[]#~`!{}");
    g_string_append_printf (command, " %s", is_plain ? argv[i] : quoted);
  }
  machine_add (machine, "command", "%s", command->str);
  machine_add (machine, "date", "%s", date);
  machine_add (machine, "version", "cudaccl %s", BENCH_VERSION);
#ifdef __clang__
  machine_add (machine, "compiler", "%s", __VERSION__);
#else
  machine_add (machine, "compiler", "GCC %s", __VERSION__);
#endif
  machine_add (machine, "cpu", "%s", cpu);
  machine_add (machine, "threads", "%u", g_get_num_processors ());
  if (uname (&system) == 0)
    machine_add (machine, "system", "%s %s %s", system.sysname, system.release, system.machine);
  return machine;
}

Table *
table_new (const char *const *columns)
{
  Table *table = g_new (Table, 1);
  *table = (Table){.columns = columns, .rows = json_array_new ()};
  return table;
}

void
table_free (Table *table)
{
  json_array_unref (table->rows);
  g_free (table);
}

void
table_row (Table *table)
{
  json_array_add_object_element (table->rows, json_object_new ());
  table->n_cells = 0;
}

/* The row that is being written. */
static JsonObject *
last_row (Table *table)
{
  return json_array_get_object_element (table->rows, json_array_get_length (table->rows) - 1);
}

void
table_text (Table *table, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  json_object_set_string_member (last_row (table), table->columns[table->n_cells++], text);
}

void
table_number (Table *table, double number, int decimals)
{
  const char *column = table->columns[table->n_cells++];
  const double scale = pow (10, decimals);

  if (!isnan (number))
    json_object_set_double_member (last_row (table), column, rint (number * scale) / scale);
}

static void
append_csv_text (GString *csv, const char *text)
{
  if (strpbrk (text, ",\"\n")) {
    g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
    g_autofree char *escaped = g_strjoinv ("\"\"", parts);
    g_string_append_printf (csv, "\"%s\"", escaped);
  } else {
    g_string_append (csv, text);
  }
}

static void
append_csv_row (GString *csv, const char *const *columns, JsonObject *row)
{
  for (guint i = 0; columns[i]; i++) {
    JsonNode *cell = row ? json_object_get_member (row, columns[i]) : NULL;
    if (i)
      g_string_append_c (csv, ',');
    if (!row)
      append_csv_text (csv, columns[i]);
    else if (cell && json_node_get_value_type (cell) == G_TYPE_STRING)
      append_csv_text (csv, json_node_get_string (cell));
    else if (cell)
      g_string_append_printf (csv, "%.15g", json_node_get_double (cell));
  }
  g_string_append_c (csv, '\n');
}

void
table_append_csv (const Table *table, const Table *before, GString *csv)
{
  if (!before || before->columns != table->columns) {
    if (csv->len)
      g_string_append_c (csv, '\n');
    append_csv_row (csv, table->columns, NULL);
  }
  for (guint i = 0; i < json_array_get_length (table->rows); i++)
    append_csv_row (csv, table->columns, json_array_get_object_element (table->rows, i));
}

void
table_print (const Table *table)
{
  g_autoptr (GString) csv = g_string_new (NULL);

  table_append_csv (table, NULL, csv);
  puts (csv->str);
}
