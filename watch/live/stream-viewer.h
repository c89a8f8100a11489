/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A viewer of a camera's stream: a WebSocket to which nothing more is given while its client has
 * not taken what it got, so that it costs bounded memory. Main thread only. */
#pragma once

#include <libsoup/soup.h>

typedef struct _WatchStreamViewer WatchStreamViewer;

/* Takes the connection.
 * @closed: called once, when the connection has ended, but not by watch_stream_viewer_free() */
WatchStreamViewer *watch_stream_viewer_new (SoupWebsocketConnection *connection, GSocket *socket,
    void (*closed) (gpointer data, WatchStreamViewer *viewer), gpointer data);
void watch_stream_viewer_free (WatchStreamViewer *viewer);

/* Sends a JSON object and the head, which come before the first fragment. */
void watch_stream_viewer_send_head (WatchStreamViewer *viewer, const gchar *text, GBytes *head);
gboolean watch_stream_viewer_has_head (WatchStreamViewer *viewer);
/* A fragment, unless the viewer is behind: then it gets none before the next one that begins with a
 * key frame. */
void watch_stream_viewer_send_fragment (
    WatchStreamViewer *viewer, GBytes *fragment, gboolean begins_with_key_frame);
/* The result of a frame, unless the viewer gets no fragments. */
void watch_stream_viewer_send_result (WatchStreamViewer *viewer, const gchar *text);

/* Tells the client that the stream has ended; `closed` follows. */
void watch_stream_viewer_end (WatchStreamViewer *viewer);
