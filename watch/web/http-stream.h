/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a request into the WebSocket of a camera's stream. Main thread only. */
#pragma once

#include <libsoup/soup.h>

#include "watch/live/streams.h"

/* Answers the request: by the WebSocket, or by an error. */
void watch_http_stream_open (
    SoupServerMessage *message, WatchStreams *streams, const gchar *camera);
