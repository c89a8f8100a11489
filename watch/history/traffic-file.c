/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "traffic.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#include "watch/system/json.h"

/* Reading. */

static guint
get_count (JsonObject *object, const gchar *name)
{
  return CLAMP (watch_line_get_number (object, name), 0, G_MAXUINT);
}

static WatchTrafficMean
get_mean (JsonObject *object, const gchar *sum, const gchar *number)
{
  return (WatchTrafficMean){watch_line_get_number (object, sum), get_count (object, number)};
}

static gpointer
read_line (JsonObject *object, const gchar *line)
{
  const gchar *kind = watch_line_get_text (object, "kind");
  const gchar *name = watch_line_get_text (object, "name");
  const gint64 begin = watch_line_get_time (object, "begin");
  WatchTrafficRow *row;

  if (!kind || !name || begin == 0)
    return NULL;
  row = watch_traffic_row_new (watch_line_get_text (object, "camera"), begin / G_USEC_PER_SEC,
      g_str_equal (kind, "line"), name);
  for (guint i = 0; i < WATCH_TRAFFIC_N_COUNTS; i++)
    row->counts[i] = get_count (object, watch_traffic_columns[i]);
  row->speed = get_mean (object, "speed_sum", "speeds");
  row->dwell = get_mean (object, "dwell_sum", "dwells");
  return row;
}

static gint64
take (gpointer traffic, GPtrArray *rows)
{
  watch_traffic_add_past (traffic, rows);
  return 0; /* changes are numbered from the start of the program on */
}

/* Writing. */

static void
add_count (JsonBuilder *builder, const gchar *name, guint count)
{
  if (count > 0)
    watch_json_add_int (builder, name, count);
}

static void
add_mean (JsonBuilder *builder, const gchar *sum, const gchar *number, const WatchTrafficMean *mean)
{
  if (mean->n == 0)
    return;
  watch_json_add_double (builder, sum, mean->sum);
  add_count (builder, number, mean->n);
}

static void
append_row (GString *text, const WatchTrafficRow *row)
{
  JsonBuilder *builder = watch_json_begin ();
  g_autofree gchar *begin = gst_ccl_utc_format (row->begin * G_USEC_PER_SEC);
  g_autofree gchar *line = NULL;

  watch_json_add_text (builder, "camera", row->camera);
  watch_json_add_text (builder, "begin", begin);
  watch_json_add_text (builder, "kind", row->is_line ? "line" : "region");
  watch_json_add_text (builder, "name", row->name);
  for (guint i = 0; i < WATCH_TRAFFIC_N_COUNTS; i++)
    add_count (builder, watch_traffic_columns[i], row->counts[i]);
  add_mean (builder, "speed_sum", "speeds", &row->speed);
  add_mean (builder, "dwell_sum", "dwells", &row->dwell);
  line = watch_json_end (builder);
  g_string_append (text, line);
  g_string_append_c (text, '\n');
}

static GString *
format (gpointer traffic, gint64 *last, guint *n_lines)
{
  g_autoptr (GPtrArray) rows = watch_traffic_get_rows (traffic, *last, last);
  GString *text = g_string_new (NULL);

  *n_lines = rows->len;
  for (guint i = 0; i < rows->len; i++)
    append_row (text, rows->pdata[i]);
  return text;
}

static guint
count (gpointer traffic)
{
  return watch_traffic_count_rows (traffic);
}

/* The interface. */

WatchLineFile *
watch_traffic_file_new (Watch *watch, WatchTraffic *traffic)
{
  static const WatchLineFileFunctions functions = {"camera", read_line, take, format, count};

  return watch_line_file_new (watch, "traffic.ndjson", "traffic", &functions, traffic);
}
