/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What passed the regions and lines of each camera, minute by minute, in memory: counts of events,
 * mean speeds and mean dwell. Functions may be called in any thread. */
#pragma once

#include "watch.h"

typedef struct _WatchTraffic WatchTraffic;

#define WATCH_TRAFFIC_SECONDS 86400

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
