/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cameras' own video for browsers: H.264 as it came, in fragments of MP4, and the results of
 * its frames, by WebSockets. A stream exists only while it has viewers; all share it.
 *
 *     camera's thread ──frames──> stream-muxer.h ──fragments──> main thread ──> stream-viewer.h
 *            └─────────────────────────results─────────────────────┘
 *
 * No thread waits for another one: where one is too slow, fragments and results are left out. */
#pragma once

#include <libsoup/soup.h>

#include "watch/supervisor/watch.h"

typedef struct _WatchStreams WatchStreams;

/* Adds an observer to the watch; must be called before watch_start() and freed after watch_stop().
 * Main thread only, as all functions. */
WatchStreams *watch_streams_new (Watch *watch);
/* Ends the connections of all viewers. */
void watch_streams_free (WatchStreams *streams);

typedef enum {
  WATCH_STREAM_POSSIBLE,
  WATCH_STREAM_NO_CAMERA,
  WATCH_STREAM_NOT_H264, /* or it is a file that is read faster than it plays */
  WATCH_STREAM_TOO_MANY, /* viewers */
} WatchStreamAnswer;

/* Whether a viewer of the camera may be added for the client. */
WatchStreamAnswer watch_streams_ask (
    WatchStreams *streams, const gchar *camera, const gchar *client);
/* Adds a viewer; takes the connection. It ends with the camera's connection.
 * @socket: that of the connection */
void watch_streams_add_viewer (WatchStreams *streams, const gchar *camera,
    SoupWebsocketConnection *connection, GSocket *socket, const gchar *client);
