/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which request gets which answer: page, JSON API, pictures and clips, /healthz, /metrics. Main
 * thread only. */
#pragma once

#include <libsoup/soup.h>

#include "watch/supervisor/watch.h"

typedef struct _WatchHttpRoutes WatchHttpRoutes;

/* Adds observers; must be called before watch_start(). */
WatchHttpRoutes *watch_http_routes_new (Watch *watch);
/* After watch_stop(), when no connection is left. Waits for answers that are being made. FALSE, and
 * not all is freed, if a disk does not answer by the monotonic time. */
gboolean watch_http_routes_free (WatchHttpRoutes *routes, gint64 until);

/* Answers a request, now or later. `query` has the parameters of the path, or is NULL. */
void watch_http_routes_handle (
    WatchHttpRoutes *routes, SoupServerMessage *message, const gchar *path, GHashTable *query);
