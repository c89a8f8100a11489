/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines sent to a TCP server: tcp://HOST:PORT. A line is delivered when the receiver's machine has
 * acknowledged all its bytes; lines that were not are sent again by the next connection. Key
 * "timeout": how long the receiver may take nothing. */
#include <errno.h>
#include <gio/gio.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "output.h"

#define CONNECT_TIMEOUT 5   /* seconds */
#define DEFAULT_TIMEOUT 120 /* seconds */
#define KEEPALIVE_IDLE 30   /* seconds */
#define KEEPALIVE_INTERVAL 10
#define MAX_READS 16 /* of what the receiver sends, which is ignored */

typedef struct {
  const WatchLine *line;
  guint64 end; /* bytes of the connection up to its end */
} SentLine;

typedef struct {
  WatchOutput *output;
  gchar *host; /* and port */
  gdouble timeout;
  GSocketConnection *connection;
  gint fd;
  GQueue sent;       /* SentLine, the oldest first */
  const gchar *rest; /* of the last line, for the kernel to take */
  gsize rest_length; /* 0: it has taken all */
  guint64 n_taken;   /* bytes that it has taken since the connection */
} TcpOutput;

static void
tcp_free (gpointer data)
{
  TcpOutput *self = data;

  g_queue_clear_full (&self->sent, g_free);
  g_clear_object (&self->connection);
  g_free (self->host);
  g_free (self);
}

static gboolean
configure (TcpOutput *self, GError **error)
{
  const gchar *timeout = watch_output_option (self->output, "timeout");
  g_autoptr (GSocketConnectable) address = g_network_address_parse (self->host, 0, error);

  if (!address)
    return FALSE;
  if (g_network_address_get_port (G_NETWORK_ADDRESS (address)) == 0)
    return watch_fail (error, "the URI must be tcp://HOST:PORT");
  if (timeout && !watch_parse_duration (timeout, &self->timeout, error))
    return watch_fail_at (error, "timeout");
  if (self->timeout < 1 || self->timeout > 86400)
    return watch_fail (error, "timeout: it must be 1 s to 1 d");
  return TRUE;
}

static gpointer
tcp_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  TcpOutput *self = g_new0 (TcpOutput, 1);

  self->output = output;
  self->host = g_strdup (config->uri + strlen ("tcp://"));
  self->timeout = DEFAULT_TIMEOUT;
  g_queue_init (&self->sent);
  if (!configure (self, error)) {
    tcp_free (self);
    return NULL;
  }
  return self;
}

static gboolean
tcp_open (gpointer data, GError **error)
{
  TcpOutput *self = data;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  GSocket *socket;

  g_socket_client_set_timeout (client, CONNECT_TIMEOUT);
  self->connection = g_socket_client_connect_to_host (client, self->host, 0, NULL, error);
  if (!self->connection)
    return FALSE;
  socket = g_socket_connection_get_socket (self->connection);
  self->fd = g_socket_get_fd (socket);
  self->rest_length = 0;
  self->n_taken = 0;
  /* The kernel ends the connection if sent bytes are not acknowledged for so long, or the receiver
   * has no room for others. */
  g_socket_set_option (socket, IPPROTO_TCP, TCP_USER_TIMEOUT, self->timeout * 1000, NULL);
  /* While there is nothing to send, the kernel ends the connection if the receiver's machine does
   * not answer. */
  g_socket_set_keepalive (socket, TRUE);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE, NULL);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL, NULL);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  return TRUE;
}

/* Acknowledges the lines whose bytes have arrived. */
static void
acknowledge (TcpOutput *self)
{
  gint n_unacknowledged = 0;
  SentLine *sent;

  if (ioctl (self->fd, SIOCOUTQ, &n_unacknowledged) != 0)
    return;
  while (
      (sent = g_queue_peek_head (&self->sent)) && sent->end + n_unacknowledged <= self->n_taken) {
    watch_output_acknowledge (self->output, sent->line);
    g_free (g_queue_pop_head (&self->sent));
  }
}

static void
tcp_close (gpointer data)
{
  TcpOutput *self = data;

  acknowledge (self);
  g_queue_clear_full (&self->sent, g_free);
  g_clear_object (&self->connection);
}

static gboolean
fail (TcpOutput *self, GError **error)
{
  if (errno == ETIMEDOUT)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "%s has taken nothing for %g s",
        self->host, self->timeout);
  else
    g_set_error (
        error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", self->host, g_strerror (errno));
  return FALSE;
}

/* Gives the kernel as much of the last line as it takes. */
static gboolean
write_rest (TcpOutput *self, GError **error)
{
  while (self->rest_length > 0) {
    const gssize n = send (self->fd, self->rest, self->rest_length, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno == EAGAIN || fail (self, error);
    self->rest += n;
    self->rest_length -= n;
    self->n_taken += n;
  }
  return TRUE;
}

static WatchSend
tcp_send (gpointer data, const WatchLine *line, GError **error)
{
  TcpOutput *self = data;
  SentLine *sent;

  if (!write_rest (self, error))
    return WATCH_SEND_FAILED;
  if (self->rest_length > 0)
    return WATCH_SEND_AGAIN;
  sent = g_new (SentLine, 1);
  *sent = (SentLine){line, self->n_taken + line->length};
  g_queue_push_tail (&self->sent, sent);
  self->rest = line->text;
  self->rest_length = line->length;
  return write_rest (self, error) ? WATCH_SEND_PENDING : WATCH_SEND_FAILED;
}

/* What the receiver sends is ignored, but shows that it is connected. */
static gboolean
tcp_poll (gpointer data, GError **error)
{
  TcpOutput *self = data;
  gchar buffer[4096];
  gssize n = 1;

  for (guint i = 0; i < MAX_READS && n > 0; i++)
    n = recv (self->fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s closed the connection", self->host);
    return FALSE;
  }
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    return fail (self, error);
  if (!write_rest (self, error))
    return FALSE;
  acknowledge (self);
  return TRUE;
}

const WatchOutputClass watch_output_tcp = {
    .new = tcp_new,
    .free = tcp_free,
    .open = tcp_open,
    .close = tcp_close,
    .send = tcp_send,
    .poll = tcp_poll,
    .is_slow_to_open = TRUE,
};
