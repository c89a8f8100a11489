/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The web server: page, JSON API, pictures and clips, /healthz, /metrics. It runs in the main
 * thread's default main context. */
#pragma once

#include "watch/supervisor/watch.h"

typedef struct _WatchHttp WatchHttp;

/* Listens at the address of the configuration, as soon as that is possible. NULL and an error of
 * one line if it is no address. Adds observers, so it must be called before watch_start(). Without
 * an address in the configuration, the object does nothing. */
WatchHttp *watch_http_new (Watch *watch, GError **error);

/* Closes all connections; must be called after watch_stop(). FALSE if a thread waits for a disk
 * that does not answer by the monotonic time, and may still use the watch. */
gboolean watch_http_free (WatchHttp *http, gint64 until);
