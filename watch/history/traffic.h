/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What passed the regions and lines of each camera, minute by minute: counts of events, mean speeds
 * and mean dwell of the last day. Functions may be called in any thread. */
#pragma once

#include "line-file.h"

typedef struct _WatchTraffic WatchTraffic;

#define WATCH_TRAFFIC_SECONDS 86400
#define WATCH_TRAFFIC_N_COUNTS 7

/* The names of the counts: those of the CSV file's columns. */
extern const gchar *const watch_traffic_columns[WATCH_TRAFFIC_N_COUNTS];

typedef struct {
  gdouble sum;
  guint n;
} WatchTrafficMean;

/* A region or line in an interval. */
typedef struct {
  gchar *camera;
  gint64 begin; /* seconds since 1970 */
  gchar *name;
  gboolean is_line;
  guint counts[WATCH_TRAFFIC_N_COUNTS];
  WatchTrafficMean speed; /* km/h: of crossings, and of visits that have ended */
  WatchTrafficMean dwell; /* seconds */
  gint64 change;          /* number of its last change since the program started, or 0 */
} WatchTrafficRow;

WatchTrafficRow *watch_traffic_row_new (
    const gchar *camera, gint64 begin, gboolean is_line, const gchar *name);
void watch_traffic_row_free (WatchTrafficRow *row);

/* Adds an observer to the watch; must be called before watch_start() and freed after
 * watch_stop(). */
WatchTraffic *watch_traffic_new (Watch *watch);
void watch_traffic_free (WatchTraffic *traffic);

/* A camera was removed, watch_camera_is_removed(): its rows go, and later ones do not come in. */
void watch_traffic_forget (WatchTraffic *traffic, const gchar *camera);

/* The last @seconds as CSV, a row for each interval of @step seconds and each region and line that
 * had an event in it, the oldest first; docs/watch-page.md has the columns. The step is a multiple
 * of 60. Free with g_free(). */
gchar *watch_traffic_csv (WatchTraffic *traffic, const gchar *camera, guint seconds, guint step);

/* Rows (WatchTrafficRow) whose last change has a greater number than @after, each camera's oldest
 * first; -1 for all, also those that were added by watch_traffic_add_past(). Free with
 * g_ptr_array_unref().
 * @last: the number of the last change of all */
GPtrArray *watch_traffic_get_rows (WatchTraffic *traffic, gint64 after, gint64 *last);
guint watch_traffic_count_rows (WatchTraffic *traffic);

/* Adds rows from before the program started (WatchTrafficRow), minute by minute; takes the array
 * and the rows. Of rows of the same minute and region or line, the last one holds. */
void watch_traffic_add_past (WatchTraffic *traffic, GPtrArray *rows);

/* Keeps the rows in FOLDER/traffic.ndjson, so that they survive a restart: a JSON object for each
 * row, again when it has changed; the last one holds. First reads those of the cameras that there
 * are. Main thread only. */
WatchLineFile *watch_traffic_file_new (Watch *watch, WatchTraffic *traffic);
