/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream-viewer.h"

#include <netinet/in.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#define MAX_BEHIND (2 * 1000 * 1000) /* bytes that the client has not taken */
#define PING_SECONDS 10
#define MAX_INCOMING                                                                               \
  125 /* bytes of a message from a client; no message of a client has an effect */

struct _WatchStreamViewer {
  SoupWebsocketConnection *connection;
  GSocket *socket;
  void (*closed) (gpointer data, WatchStreamViewer *viewer);
  gpointer data;
  gboolean has_head;
  gboolean is_behind;  /* or has got no fragment yet: it waits for a key frame */
  guint64 n_sent;      /* bytes of all messages */
  guint64 n_forgotten; /* acknowledged bytes that were not of messages */
};

/* How many bytes the client's system has acknowledged since it was connected. */
static guint64
get_acknowledged (WatchStreamViewer *viewer)
{
  struct tcp_info info = {0};
  socklen_t size = sizeof info;

  getsockopt (g_socket_get_fd (viewer->socket), IPPROTO_TCP, TCP_INFO, &info, &size);
  return info.tcpi_bytes_acked;
}

/* Bytes of messages that the client has not acknowledged, whether they wait in libsoup's queue or
 * in the kernel's. The client acknowledges headers and libsoup's own messages, too, which n_sent
 * does not count: if it has acknowledged more than was sent, the difference is forgotten. */
static guint64
get_behind (WatchStreamViewer *viewer)
{
  const guint64 taken = get_acknowledged (viewer) - viewer->n_forgotten;

  if (taken <= viewer->n_sent)
    return viewer->n_sent - taken;
  viewer->n_forgotten += taken - viewer->n_sent;
  return 0;
}

static gboolean
is_open (WatchStreamViewer *viewer)
{
  return soup_websocket_connection_get_state (viewer->connection) == SOUP_WEBSOCKET_STATE_OPEN;
}

static void
send_text (WatchStreamViewer *viewer, const gchar *text)
{
  if (!is_open (viewer))
    return;
  soup_websocket_connection_send_text (viewer->connection, text);
  viewer->n_sent += strlen (text);
}

static void
send_bytes (WatchStreamViewer *viewer, GBytes *bytes)
{
  if (!is_open (viewer))
    return;
  soup_websocket_connection_send_message (viewer->connection, SOUP_WEBSOCKET_DATA_BINARY, bytes);
  viewer->n_sent += g_bytes_get_size (bytes);
}

static void
on_closed (SoupWebsocketConnection *connection, gpointer data)
{
  WatchStreamViewer *viewer = data;

  viewer->closed (viewer->data, viewer);
}

WatchStreamViewer *
watch_stream_viewer_new (SoupWebsocketConnection *connection, GSocket *socket,
    void (*closed) (gpointer data, WatchStreamViewer *viewer), gpointer data)
{
  WatchStreamViewer *viewer = g_new0 (WatchStreamViewer, 1);

  viewer->connection = connection;
  viewer->socket = g_object_ref (socket);
  viewer->closed = closed;
  viewer->data = data;
  viewer->is_behind = TRUE;
  viewer->n_forgotten = get_acknowledged (viewer);
  soup_websocket_connection_set_keepalive_interval (connection, PING_SECONDS);
  soup_websocket_connection_set_max_incoming_payload_size (connection, MAX_INCOMING);
  g_signal_connect (connection, "closed", G_CALLBACK (on_closed), viewer);
  return viewer;
}

void
watch_stream_viewer_free (WatchStreamViewer *viewer)
{
  g_signal_handlers_disconnect_by_data (viewer->connection, viewer);
  g_io_stream_close (soup_websocket_connection_get_io_stream (viewer->connection), NULL, NULL);
  g_object_unref (viewer->connection);
  g_object_unref (viewer->socket);
  g_free (viewer);
}

void
watch_stream_viewer_send_head (WatchStreamViewer *viewer, const gchar *text, GBytes *head)
{
  viewer->has_head = TRUE;
  send_text (viewer, text);
  send_bytes (viewer, head);
}

gboolean
watch_stream_viewer_has_head (WatchStreamViewer *viewer)
{
  return viewer->has_head;
}

void
watch_stream_viewer_send_fragment (
    WatchStreamViewer *viewer, GBytes *fragment, gboolean begins_with_key_frame)
{
  const gboolean has_room = get_behind (viewer) <= MAX_BEHIND;

  viewer->is_behind = !has_room || (viewer->is_behind && !begins_with_key_frame);
  if (!viewer->is_behind)
    send_bytes (viewer, fragment);
}

void
watch_stream_viewer_send_result (WatchStreamViewer *viewer, const gchar *text)
{
  if (!viewer->is_behind)
    send_text (viewer, text);
}

void
watch_stream_viewer_end (WatchStreamViewer *viewer)
{
  if (is_open (viewer))
    soup_websocket_connection_close (
        viewer->connection, SOUP_WEBSOCKET_CLOSE_GOING_AWAY, "the stream has ended");
}
