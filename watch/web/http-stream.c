/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-stream.h"

#include "http-connections.h"
#include "http-respond.h"

#define STATUS_UPGRADE_REQUIRED 426

typedef struct {
  WatchStreams *streams;
  gchar *camera;
} Opening;

static void
opening_free (gpointer data, GClosure *closure)
{
  Opening *opening = data;

  g_free (opening->camera);
  g_free (opening);
}

/* The answer 101 was sent: from now on, the connection is a WebSocket. */
static void
on_switched (SoupServerMessage *message, gpointer data)
{
  const Opening *opening = data;
  g_autoptr (GIOStream) stream = soup_server_message_steal_connection (message);
  SoupWebsocketConnection *connection = soup_websocket_connection_new (stream,
      soup_server_message_get_uri (message), SOUP_WEBSOCKET_CONNECTION_SERVER, NULL, NULL, NULL);

  watch_streams_add_viewer (opening->streams, opening->camera, connection,
      watch_connections_get_socket (message), watch_connections_get_client (message));
}

static void
switch_protocol (SoupServerMessage *message, WatchStreams *streams, const gchar *camera)
{
  g_autoptr (GError) error = NULL;
  Opening *opening;

  if (!soup_websocket_server_check_handshake (message, NULL, NULL, NULL, &error)) {
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), "Upgrade", "websocket");
    watch_respond_error (message, STATUS_UPGRADE_REQUIRED, "this is a WebSocket");
    return;
  }
  soup_websocket_server_process_handshake (message, NULL, NULL, NULL, NULL);
  opening = g_new (Opening, 1);
  *opening = (Opening){streams, g_strdup (camera)};
  g_signal_connect_data (
      message, "wrote-informational", G_CALLBACK (on_switched), opening, opening_free, 0);
}

void
watch_http_stream_open (SoupServerMessage *message, WatchStreams *streams, const gchar *camera)
{
  switch (watch_streams_ask (streams, camera, watch_connections_get_client (message))) {
  case WATCH_STREAM_POSSIBLE:
    switch_protocol (message, streams, camera);
    break;
  case WATCH_STREAM_NO_CAMERA:
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such camera");
    break;
  case WATCH_STREAM_NOT_H264:
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "the camera sends no H.264 at present");
    break;
  case WATCH_STREAM_TOO_MANY:
    watch_respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too many viewers at a time");
    break;
  }
}
