/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The web server: page, JSON API, pictures and clips, /healthz, /metrics. It runs in the main
 * thread's default main context. */
#pragma once

#include "watch.h"

typedef struct _WatchHttp WatchHttp;

/* Listens at the address of the configuration. NULL and an error of one line if that is not
 * possible, or if others than this machine can connect and there is no token of 16 characters or
 * more. Adds observers; must be called before watch_start(), also without a server: then it does
 * nothing and returns an object that may be freed. */
WatchHttp *watch_http_new (Watch *watch, GError **error);

/* Closes all connections; must be called after watch_stop(). */
void watch_http_free (WatchHttp *http);
