/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "traffic.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#include "watch/system/json.h"

#define MINUTE 60
#define MAX_ROWS 20000 /* of a camera; a region or line that events come from has one a minute */

typedef enum { ENTERED, LEFT, STAYED, FORWARD, BACKWARD, FASTER, SLOWER } Count;

#define N_COUNTS WATCH_TRAFFIC_N_COUNTS

const gchar *const watch_traffic_columns[N_COUNTS] = {
    "entered", "left", "stayed", "forward", "backward", "faster", "slower"};

static const gchar header[] = "begin,kind,name,entered,left,stayed,forward,backward,faster,slower,"
                              "mean_speed,mean_dwell\r\n";

typedef WatchTrafficRow Row;
typedef WatchTrafficMean Mean;

struct _WatchTraffic {
  WatchObserver observer;
  GMutex lock;
  GHashTable *cameras; /* name → GQueue of Row, the newest first */
  gint64 n_changes;
};

Row *
watch_traffic_row_new (const gchar *camera, gint64 begin, gboolean is_line, const gchar *name)
{
  Row *row = g_new0 (Row, 1);

  row->camera = g_strdup (camera);
  row->begin = begin;
  row->is_line = is_line;
  row->name = g_strdup (name);
  return row;
}

void
watch_traffic_row_free (Row *row)
{
  g_free (row->camera);
  g_free (row->name);
  g_free (row);
}

static void
rows_free (gpointer rows)
{
  g_queue_free_full (rows, (GDestroyNotify)watch_traffic_row_free);
}

/* The row of an interval, which is added where missing. The clock may have been set back. */
static Row *
get_row (GQueue *rows, const gchar *camera, gint64 begin, gboolean is_line, const gchar *name)
{
  GList *at = rows->head;
  Row *row;

  for (; at && ((Row *)at->data)->begin >= begin; at = at->next) {
    row = at->data;
    if (row->begin == begin && row->is_line == is_line && g_str_equal (row->name, name))
      return row;
  }
  row = watch_traffic_row_new (camera, begin, is_line, name);
  g_queue_insert_before (rows, at, row);
  return row;
}

/* Which count an event adds to; N_COUNTS: none. */
static Count
count_of (const gchar *kind, JsonObject *line)
{
  static const gchar *const kinds[N_COUNTS] = {[ENTERED] = "entered",
      [LEFT] = "left",
      [STAYED] = "stayed",
      [FORWARD] = "crossed",
      [FASTER] = "faster",
      [SLOWER] = "slower"};
  Count count = ENTERED;

  while (count < N_COUNTS && g_strcmp0 (kinds[count], kind) != 0)
    count++;
  if (count == FORWARD &&
      strcmp (json_object_get_string_member_with_default (line, "direction", ""), "backward") == 0)
    return BACKWARD;
  return count;
}

static void
add_to_mean (Mean *mean, JsonObject *line, const gchar *member)
{
  if (!json_object_has_member (line, member))
    return;
  mean->sum += json_object_get_double_member_with_default (line, member, 0);
  mean->n++;
}

/* With the lock: the rows of a camera. */
static GQueue *
get_rows (WatchTraffic *traffic, const gchar *camera)
{
  GQueue *rows = g_hash_table_lookup (traffic->cameras, camera);

  if (!rows) {
    rows = g_queue_new ();
    g_hash_table_insert (traffic->cameras, g_strdup (camera), rows);
  }
  return rows;
}

/* Forgets rows that are too old or too many. */
static void
trim_rows (GQueue *rows, gint64 now)
{
  while (rows->length > MAX_ROWS ||
         (rows->tail && ((Row *)rows->tail->data)->begin < now - WATCH_TRAFFIC_SECONDS))
    watch_traffic_row_free (g_queue_pop_tail (rows));
}

static void
add_event (WatchTraffic *traffic, WatchCamera *camera, const WatchEvent *event, JsonObject *line)
{
  const gchar *region = json_object_get_string_member_with_default (line, "region", NULL);
  const gchar *crossed = json_object_get_string_member_with_default (line, "line", NULL);
  const Count count = count_of (event->kind, line);
  const gint64 minute = event->utc / G_USEC_PER_SEC / MINUTE * MINUTE;
  GQueue *rows;
  Row *row;

  if (count == N_COUNTS || (!region && !crossed))
    return;
  g_mutex_lock (&traffic->lock);
  if (watch_camera_is_removed (camera)) {
    g_mutex_unlock (&traffic->lock);
    return;
  }
  rows = get_rows (traffic, event->camera);
  row = get_row (rows, event->camera, minute, !region, region ? region : crossed);
  row->change = ++traffic->n_changes;
  row->counts[count]++;
  if (count == LEFT || count == FORWARD || count == BACKWARD)
    add_to_mean (&row->speed, line, "speed");
  if (count == LEFT)
    add_to_mean (&row->dwell, line, "dwell");
  trim_rows (rows, minute);
  g_mutex_unlock (&traffic->lock);
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  g_autoptr (JsonNode) node = NULL;

  /* Other events are of tracks and cameras. */
  if (!strstr (event->line, "\"region\":") && !strstr (event->line, "\"line\":"))
    return;
  node = json_from_string (event->line, NULL);
  if (node && JSON_NODE_HOLDS_OBJECT (node))
    add_event (data, camera, event, json_node_get_object (node));
}

WatchTraffic *
watch_traffic_new (Watch *watch)
{
  WatchTraffic *traffic = g_new0 (WatchTraffic, 1);

  g_mutex_init (&traffic->lock);
  traffic->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, rows_free);
  traffic->observer = (WatchObserver){.event = on_event, .data = traffic};
  watch_add_observer (watch, &traffic->observer);
  return traffic;
}

void
watch_traffic_free (WatchTraffic *traffic)
{
  g_hash_table_unref (traffic->cameras);
  g_mutex_clear (&traffic->lock);
  g_free (traffic);
}

void
watch_traffic_forget (WatchTraffic *traffic, const gchar *camera)
{
  g_mutex_lock (&traffic->lock);
  g_hash_table_remove (traffic->cameras, camera);
  g_mutex_unlock (&traffic->lock);
}

/* A field of CSV as in RFC 4180. */
static void
append_name (GString *text, const gchar *name)
{
  g_string_append_c (text, '"');
  for (const gchar *c = name; *c; c++) {
    if (*c == '"')
      g_string_append_c (text, '"');
    g_string_append_c (text, *c);
  }
  g_string_append_c (text, '"');
}

static void
append_mean (GString *text, const Mean *mean)
{
  g_string_append_c (text, ',');
  if (mean->n > 0)
    watch_json_append_number (text, "%.2f", mean->sum / mean->n);
}

static void
append_row (GString *text, const Row *row)
{
  g_autofree gchar *begin = gst_ccl_utc_format (row->begin * G_USEC_PER_SEC);

  g_string_append_printf (text, "%s,%s,", begin, row->is_line ? "line" : "region");
  append_name (text, row->name);
  for (guint i = 0; i < N_COUNTS; i++) {
    const gboolean of_line = i == FORWARD || i == BACKWARD, of_both = i == FASTER || i == SLOWER;

    g_string_append_c (text, ',');
    if (of_both || of_line == row->is_line)
      g_string_append_printf (text, "%u", row->counts[i]);
  }
  append_mean (text, &row->speed);
  append_mean (text, &row->dwell);
  g_string_append (text, "\r\n");
}

static void
add_row (Row *sum, const Row *row)
{
  for (guint i = 0; i < N_COUNTS; i++)
    sum->counts[i] += row->counts[i];
  sum->speed.sum += row->speed.sum;
  sum->speed.n += row->speed.n;
  sum->dwell.sum += row->dwell.sum;
  sum->dwell.n += row->dwell.n;
}

gchar *
watch_traffic_csv (WatchTraffic *traffic, const gchar *camera, guint seconds, guint step)
{
  const gint64 first = g_get_real_time () / G_USEC_PER_SEC - seconds;
  GString *text = g_string_new (header);
  GQueue *rows, *sums = g_queue_new ();

  g_mutex_lock (&traffic->lock);
  rows = g_hash_table_lookup (traffic->cameras, camera);
  for (GList *l = rows ? rows->tail : NULL; l; l = l->prev) {
    const Row *row = l->data;

    if (row->begin + MINUTE > first)
      add_row (get_row (sums, camera, row->begin / step * step, row->is_line, row->name), row);
  }
  g_mutex_unlock (&traffic->lock);
  for (GList *l = sums->tail; l; l = l->prev)
    append_row (text, l->data);
  rows_free (sums);
  return g_string_free (text, FALSE);
}

/* The past. */

static Row *
copy_row (const Row *row)
{
  Row *copy = g_memdup2 (row, sizeof *row);

  copy->camera = g_strdup (row->camera);
  copy->name = g_strdup (row->name);
  return copy;
}

GPtrArray *
watch_traffic_get_rows (WatchTraffic *traffic, gint64 after, gint64 *last)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_traffic_row_free);
  GHashTableIter iter;
  gpointer queue;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&traffic->lock);

  g_hash_table_iter_init (&iter, traffic->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &queue))
    for (GList *l = ((GQueue *)queue)->tail; l; l = l->prev)
      if (((Row *)l->data)->change > after)
        g_ptr_array_add (rows, copy_row (l->data));
  *last = traffic->n_changes;
  return rows;
}

guint
watch_traffic_count_rows (WatchTraffic *traffic)
{
  GHashTableIter iter;
  gpointer queue;
  guint n = 0;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&traffic->lock);

  g_hash_table_iter_init (&iter, traffic->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &queue))
    n += ((GQueue *)queue)->length;
  return n;
}

/* The last row of each minute and each region or line: camera → GQueue of Row. */
static GHashTable *
collect_last (const GPtrArray *rows)
{
  GHashTable *cameras = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, rows_free);

  for (guint i = 0; i < rows->len; i++) {
    const Row *row = rows->pdata[i];
    GQueue *past = g_hash_table_lookup (cameras, row->camera);
    Row *same;

    if (!past) {
      past = g_queue_new ();
      g_hash_table_insert (cameras, row->camera, past);
    }
    same = get_row (past, row->camera, row->begin, row->is_line, row->name);
    memcpy (same->counts, row->counts, sizeof row->counts);
    same->speed = row->speed;
    same->dwell = row->dwell;
  }
  return cameras;
}

void
watch_traffic_add_past (WatchTraffic *traffic, GPtrArray *rows)
{
  g_autoptr (GHashTable) past = collect_last (rows);
  const gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  GHashTableIter iter;
  gpointer camera, queue;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&traffic->lock);

  g_hash_table_iter_init (&iter, past);
  while (g_hash_table_iter_next (&iter, &camera, &queue)) {
    GQueue *present = get_rows (traffic, camera);

    for (GList *l = ((GQueue *)queue)->tail; l; l = l->prev) {
      const Row *old = l->data;
      Row *row = get_row (present, camera, old->begin, old->is_line, old->name);

      add_row (row, old);
      if (row->change > 0) /* events came since the start: the file has another sum */
        row->change = ++traffic->n_changes;
    }
    trim_rows (present, now);
  }
  g_ptr_array_set_free_func (rows, (GDestroyNotify)watch_traffic_row_free);
  g_ptr_array_unref (rows);
}
