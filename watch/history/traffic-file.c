/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "traffic-file.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#include "line-file.h"
#include "watch/system/json.h"

struct _WatchTrafficFile {
  WatchTraffic *traffic;
  WatchLineFile *file;

  /* Of the file's thread. */
  GHashTable *cameras;     /* names of those that there were at the start */
  JsonParser *parser;      /* NULL after reading */
  GPtrArray *rows;         /* WatchTrafficRow, of the lines that were read */
  gint64 written, waiting; /* number of the last change in the file, and in the last text */
};

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

/* The row of a line; NULL if the line is damaged. */
static WatchTrafficRow *
parse_line (JsonParser *parser, const gchar *line)
{
  JsonObject *object;
  const gchar *camera, *name, *kind, *begin;
  g_autoptr (GDateTime) time = NULL;
  WatchTrafficRow *row;

  if (!json_parser_load_from_data (parser, line, -1, NULL) ||
      !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    return NULL;
  object = json_node_get_object (json_parser_get_root (parser));
  camera = watch_line_get_text (object, "camera");
  kind = watch_line_get_text (object, "kind");
  name = watch_line_get_text (object, "name");
  begin = watch_line_get_text (object, "begin");
  time = begin ? g_date_time_new_from_iso8601 (begin, NULL) : NULL;
  if (!camera || !kind || !name || !time)
    return NULL;
  row =
      watch_traffic_row_new (camera, g_date_time_to_unix (time), g_str_equal (kind, "line"), name);
  for (guint i = 0; i < WATCH_TRAFFIC_N_COUNTS; i++)
    row->counts[i] = get_count (object, watch_traffic_columns[i]);
  row->speed = get_mean (object, "speed_sum", "speeds");
  row->dwell = get_mean (object, "dwell_sum", "dwells");
  return row;
}

static void
read_line (gpointer data, const gchar *line)
{
  WatchTrafficFile *self = data;
  WatchTrafficRow *row = parse_line (self->parser, line);

  if (row && g_hash_table_contains (self->cameras, row->camera))
    g_ptr_array_add (self->rows, g_steal_pointer (&row));
  g_clear_pointer (&row, watch_traffic_row_free);
}

static void
has_read (gpointer data)
{
  WatchTrafficFile *self = data;

  watch_traffic_add_past (self->traffic, self->rows);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_object (&self->parser);
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
format (gpointer data, gboolean all, guint *n_lines)
{
  WatchTrafficFile *self = data;
  g_autoptr (GPtrArray) rows =
      watch_traffic_get_rows (self->traffic, all ? -1 : self->written, &self->waiting);
  GString *text = g_string_new (NULL);

  *n_lines = rows->len;
  for (guint i = 0; i < rows->len; i++)
    append_row (text, rows->pdata[i]);
  return text;
}

static void
written (gpointer data)
{
  WatchTrafficFile *self = data;

  self->written = self->waiting;
}

static guint
count (gpointer data)
{
  return watch_traffic_count_rows (((WatchTrafficFile *)data)->traffic);
}

/* The interface. */

WatchTrafficFile *
watch_traffic_file_new (Watch *watch, WatchTraffic *traffic)
{
  WatchTrafficFile *self = g_new0 (WatchTrafficFile, 1);
  const WatchLineFileFunctions functions = {read_line, has_read, format, written, count, self};

  self->traffic = traffic;
  self->cameras = watch_config_get_camera_names (watch_get_config (watch));
  self->parser = json_parser_new ();
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_traffic_row_free);
  self->file = watch_line_file_new (watch, "traffic.ndjson", "traffic", &functions);
  return self;
}

void
watch_traffic_file_rewrite (WatchTrafficFile *self)
{
  watch_line_file_rewrite (self->file);
}

void
watch_traffic_file_stop (WatchTrafficFile *self)
{
  watch_line_file_stop (self->file);
}

gboolean
watch_traffic_file_free (WatchTrafficFile *self, gint64 until)
{
  if (!watch_line_file_free (self->file, until))
    return FALSE;
  g_hash_table_unref (self->cameras);
  g_free (self);
  return TRUE;
}
