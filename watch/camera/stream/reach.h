/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a camera in the network gave no data, in one sentence. GStreamer's sources say the same of an
 * unknown host, a refused connection and a port that belongs to another service. So the host is
 * asked once more, after the pipeline has stopped. */
#pragma once

#include <gio/gio.h>

/* `reason` is the function's own, without credentials; NULL if there is none, because the host can
 * be reached and, for RTSP, speaks it, or because the question was cancelled. */
typedef void (*WatchReachFunc) (gboolean is_reached, gchar *reason, gpointer data);

/* Whether the URI has a host that can be asked: that of RTSP, HTTP and others by TCP. */
gboolean watch_reach_can_ask (const gchar *uri);

/* Its host, to be freed, and its port. FALSE if it has none that can be asked. */
gboolean watch_reach_parse (const gchar *uri, gchar **host, guint16 *port);

/* Connects to the host of such a URI, without credentials, and calls the function in the thread's
 * default context: after at most some seconds, or soon after it was cancelled. */
void watch_reach_ask (
    const gchar *uri, GCancellable *cancellable, WatchReachFunc function, gpointer data);
