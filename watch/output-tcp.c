/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines sent to a TCP server: tcp://HOST:PORT. When a connection is lost, the line that was being
 * sent is sent again from its beginning. Lines that the kernel had taken but not sent are lost. */
#include <gio/gio.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "output.h"

#define TIMEOUT 5 /* seconds for a connection, and for a line */

typedef struct {
  WatchOutput *output;
  gchar *host; /* and port */
  GSocketConnection *connection;
  gboolean peer_closed;
} TcpOutput;

static void
tcp_free (gpointer data)
{
  TcpOutput *self = data;

  g_clear_object (&self->connection);
  g_free (self->host);
  g_free (self);
}

static gpointer
tcp_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  const gchar *host = config->uri + strlen ("tcp://");
  GSocketConnectable *address = g_network_address_parse (host, 0, error);
  TcpOutput *self;

  if (!address)
    return NULL;
  if (g_network_address_get_port (G_NETWORK_ADDRESS (address)) == 0) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the URI must be tcp://HOST:PORT");
    g_object_unref (address);
    return NULL;
  }
  g_object_unref (address);
  self = g_new0 (TcpOutput, 1);
  self->output = output;
  self->host = g_strdup (host);
  return self;
}

static gboolean
tcp_open (gpointer data, GError **error)
{
  TcpOutput *self = data;
  GSocketClient *client = g_socket_client_new ();
  GSocket *socket;

  g_socket_client_set_timeout (client, TIMEOUT);
  self->connection = g_socket_client_connect_to_host (client, self->host, 0, NULL, error);
  g_object_unref (client);
  if (!self->connection)
    return FALSE;
  self->peer_closed = FALSE;
  socket = g_socket_connection_get_socket (self->connection);
  g_socket_set_timeout (socket, TIMEOUT);
  g_socket_set_keepalive (socket, TRUE);
  /* A machine that is gone without a word is noticed after this many milliseconds. */
  g_socket_set_option (socket, IPPROTO_TCP, TCP_USER_TIMEOUT, TIMEOUT * 1000, NULL);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  watch_output_set_connected (self->output, TRUE);
  return TRUE;
}

static void
tcp_close (gpointer data)
{
  TcpOutput *self = data;

  g_clear_object (&self->connection);
  watch_output_set_connected (self->output, FALSE);
}

static WatchSend
tcp_send (gpointer data, const WatchLine *line, GError **error)
{
  TcpOutput *self = data;
  GOutputStream *stream = g_io_stream_get_output_stream (G_IO_STREAM (self->connection));

  if (self->peer_closed) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "the receiver closed the connection");
    return WATCH_SEND_FAILED;
  }
  if (!g_output_stream_write_all (stream, line->text, line->length, NULL, NULL, error))
    return WATCH_SEND_FAILED;
  return WATCH_SEND_DELIVERED;
}

/* What the receiver sends is ignored; the end of its stream is noticed before the next line. */
static void
tcp_poll (gpointer data)
{
  TcpOutput *self = data;
  gchar buffer[256];
  gssize n;

  if (!self->connection || self->peer_closed)
    return;
  do
    n = recv (g_socket_get_fd (g_socket_connection_get_socket (self->connection)), buffer,
        sizeof buffer, MSG_DONTWAIT);
  while (n > 0);
  self->peer_closed = n == 0;
}

static gboolean
tcp_flush (gpointer data)
{
  TcpOutput *self = data;
  gint n = 0;

  /* Bytes that the receiver's machine has not acknowledged. */
  return self->peer_closed ||
         ioctl (g_socket_get_fd (g_socket_connection_get_socket (self->connection)), SIOCOUTQ,
             &n) != 0 ||
         n == 0;
}

const WatchOutputClass watch_output_tcp = {
    .new = tcp_new,
    .free = tcp_free,
    .open = tcp_open,
    .close = tcp_close,
    .send = tcp_send,
    .poll = tcp_poll,
    .flush = tcp_flush,
};
