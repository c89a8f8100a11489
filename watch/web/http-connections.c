/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>

#include "watch/system/log.h"
#include "watch/system/process-limits.h"

#define BACKLOG 256
#define CHECK_SECONDS 1
#define PAUSE_SECONDS 1
#define SOCKET "ccl-watch-socket"
#define CLIENT "ccl-watch-client"

struct _WatchConnections {
  SoupServer *server;
  GSocket *socket;
  guint accepting, resuming;             /* ids of sources; one of them is 0 */
  GHashTable *connections;               /* remote GSocketAddress → Connection */
  gint64 timeout;                        /* microseconds */
  guint most, most_of_client;            /* connections at a time */
  guint checking;                        /* id of a source */
  WatchLogLimit close_limit, wait_limit; /* of messages */
};

typedef struct {
  WatchConnections *all;
  GSocketConnection *stream; /* of libsoup: not owned */
  GSocketAddress *remote;
  gchar *client;        /* see client_of() */
  gint64 progress_time; /* monotonic */
  guint64 n_taken;      /* bytes that the client had acknowledged when the kernel was last asked */
  gboolean is_busy;     /* a request is being answered */
  gboolean is_closing;
} Connection;

static void resume (WatchConnections *self);

/* The address of a client. A host with IPv6 usually has a network of 64 bits. */
static gchar *
client_of (GSocketAddress *remote)
{
  static const guint8 mapped[12] = {[10] = 0xff, 0xff};
  GInetAddress *address = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (remote));
  const guint8 *bytes = g_inet_address_to_bytes (address);
  gsize size = g_inet_address_get_native_size (address);

  if (size == 16 && memcmp (bytes, mapped, sizeof mapped) == 0)
    return g_base64_encode (bytes + sizeof mapped, 4);
  return g_base64_encode (bytes, size == 16 ? 8 : size);
}

static Connection *
find_connection (WatchConnections *self, SoupServerMessage *message)
{
  return g_hash_table_lookup (self->connections, soup_server_message_get_remote_address (message));
}

/* Progress. */

static void
note_progress (Connection *connection, gboolean is_busy)
{
  if (!connection)
    return;
  connection->progress_time = g_get_monotonic_time ();
  connection->is_busy = is_busy;
}

static void
on_written (SoupServerMessage *message, guint size, gpointer data)
{
  note_progress (find_connection (data, message), TRUE);
}

/* The connection becomes a WebSocket. It counts as one that waits for a request, so it may be
 * closed for a new client; the page goes on without it. */
static void
on_switched (SoupServerMessage *message, gpointer data)
{
  note_progress (find_connection (data, message), FALSE);
}

static void
on_request (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  Connection *connection = find_connection (data, message);

  note_progress (connection, TRUE);
  if (connection)
    g_object_set_data_full (G_OBJECT (message), CLIENT, g_strdup (connection->client), g_free);
  if (connection)
    g_object_set_data_full (G_OBJECT (message), SOCKET,
        g_object_ref (g_socket_connection_get_socket (connection->stream)), g_object_unref);
  g_signal_connect (message, "wrote-body-data", G_CALLBACK (on_written), data);
  g_signal_connect (message, "wrote-informational", G_CALLBACK (on_switched), data);
}

static void
on_answered (SoupServer *server, SoupServerMessage *message, gpointer data)
{
  note_progress (find_connection (data, message), FALSE);
}

/* The end of a connection. */

/* libsoup sees the end of the connection, and frees it. */
static void
close_connection (Connection *connection)
{
  connection->is_closing = TRUE;
  g_socket_shutdown (g_socket_connection_get_socket (connection->stream), TRUE, TRUE, NULL);
}

static void
on_closed (gpointer data, GObject *stream)
{
  Connection *connection = data;
  WatchConnections *self = connection->all;

  g_hash_table_remove (self->connections, connection->remote);
  watch_limits_set_clients (g_hash_table_size (self->connections));
}

static void
connection_free (gpointer data)
{
  Connection *connection = data;

  g_object_unref (connection->remote);
  g_free (connection->client);
  g_free (connection);
}

/* It is progress, too, when the client has acknowledged more of what the kernel has to send. */
static void
check_taken (Connection *connection, gint64 now)
{
  GSocket *socket = g_socket_connection_get_socket (connection->stream);
  struct tcp_info info = {0};
  socklen_t size = sizeof info;

  if (getsockopt (g_socket_get_fd (socket), IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return;
  if (info.tcpi_bytes_acked != connection->n_taken)
    connection->progress_time = now;
  connection->n_taken = info.tcpi_bytes_acked;
}

static gboolean
check_connections (gpointer data)
{
  WatchConnections *self = data;
  gint64 now = g_get_monotonic_time ();
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->connections);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Connection *connection = value;

    check_taken (connection, now);
    if (now - connection->progress_time > self->timeout)
      close_connection (connection);
  }
  return G_SOURCE_CONTINUE;
}

/* New connections. */

/* The connection that has waited longest for a request; NULL if none does. Of one client, or of
 * all (NULL). */
static Connection *
find_idle (WatchConnections *self, const gchar *client)
{
  Connection *oldest = NULL;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->connections);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Connection *connection = value;

    if (!connection->is_busy && !connection->is_closing &&
        (!client || g_str_equal (connection->client, client)) &&
        (!oldest || connection->progress_time < oldest->progress_time))
      oldest = connection;
  }
  return oldest;
}

static guint
count_of_client (WatchConnections *self, const gchar *client)
{
  GHashTableIter iter;
  gpointer connection;
  guint n = 0;

  g_hash_table_iter_init (&iter, self->connections);
  while (g_hash_table_iter_next (&iter, NULL, &connection))
    n += g_str_equal (((Connection *)connection)->client, client);
  return n;
}

/* FALSE if the client has too many connections, none of which waits for a request. */
static gboolean
make_room (WatchConnections *self, const gchar *client)
{
  gboolean client_has_too_many = count_of_client (self, client) >= self->most_of_client;
  Connection *idle;

  if (!client_has_too_many && g_hash_table_size (self->connections) < self->most)
    return TRUE;
  watch_log_warning_limited (
      &self->close_limit, "web server: a connection was closed, because there were too many");
  idle = find_idle (self, client_has_too_many ? client : NULL);
  if (idle)
    close_connection (idle);
  return idle != NULL;
}

static void
take_connection (WatchConnections *self, GSocket *socket)
{
  g_autoptr (GSocketConnection) stream = g_socket_connection_factory_create_connection (socket);
  g_autoptr (GSocketAddress) local = g_socket_get_local_address (socket, NULL);
  g_autoptr (GSocketAddress) remote = g_socket_get_remote_address (socket, NULL);
  g_autofree gchar *client = remote ? client_of (remote) : NULL;
  g_autoptr (GError) error = NULL;
  Connection *connection;

  /* A client that is gone has no address any more. */
  if (!local || !remote || !make_room (self, client))
    return;
  connection = g_new0 (Connection, 1);
  connection->all = self;
  connection->stream = stream;
  connection->remote = g_object_ref (remote);
  connection->client = g_steal_pointer (&client);
  note_progress (connection, FALSE);
  g_hash_table_insert (self->connections, remote, connection);
  watch_limits_set_clients (g_hash_table_size (self->connections));
  g_object_weak_ref (G_OBJECT (stream), on_closed, connection);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, TRUE, NULL);
  if (!soup_server_accept_iostream (self->server, G_IO_STREAM (stream), local, remote, &error))
    watch_log_warning ("web server: %s", error->message);
}

static gboolean
on_resume (gpointer data)
{
  resume (data);
  return G_SOURCE_REMOVE;
}

/* New clients wait in the kernel's queue until on_resume(). */
static void
pause_accepting (WatchConnections *self)
{
  g_clear_handle_id (&self->accepting, g_source_remove);
  self->resuming = g_timeout_add_seconds (PAUSE_SECONDS, on_resume, self);
}

static gboolean
on_client (GSocket *listening, GIOCondition condition, gpointer data)
{
  WatchConnections *self = data;
  g_autoptr (GSocket) socket = NULL;
  g_autoptr (GError) error = NULL;

  if (g_hash_table_size (self->connections) >= self->most && !find_idle (self, NULL)) {
    pause_accepting (self);
    return G_SOURCE_REMOVE;
  }
  socket = g_socket_accept (listening, NULL, &error);
  if (socket) {
    take_connection (self, socket);
  } else if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK) &&
             !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED)) {
    /* No file can be opened, for instance. */
    watch_log_warning_limited (&self->wait_limit, "web server: clients wait: %s", error->message);
    pause_accepting (self);
    return G_SOURCE_REMOVE;
  }
  return G_SOURCE_CONTINUE;
}

static void
resume (WatchConnections *self)
{
  g_autoptr (GSource) source = g_socket_create_source (self->socket, G_IO_IN, NULL);

  g_clear_handle_id (&self->resuming, g_source_remove);
  g_source_set_callback (source, G_SOURCE_FUNC (on_client), self, NULL);
  self->accepting = g_source_attach (source, NULL);
}

static GSocket *
open_socket (GSocketAddress *address, GError **error)
{
  g_autoptr (GSocket) socket = g_socket_new (
      g_socket_address_get_family (address), G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, error);

  if (!socket)
    return NULL;
  g_socket_set_blocking (socket, FALSE);
  g_socket_set_listen_backlog (socket, BACKLOG);
  if (!g_socket_bind (socket, address, TRUE, error) || !g_socket_listen (socket, error))
    return NULL;
  return g_steal_pointer (&socket);
}

WatchConnections *
watch_connections_new (SoupServer *server, GSocketAddress *address, gdouble timeout, GError **error)
{
  GSocket *socket = open_socket (address, error);
  WatchConnections *self;

  if (!socket)
    return NULL;
  self = g_new0 (WatchConnections, 1);
  self->socket = socket;
  self->server = server;
  self->timeout = (gint64)(timeout * G_TIME_SPAN_SECOND);
  self->most = watch_limits_reserve_clients ();
  self->most_of_client = self->most * 3 / 4;
  self->connections = g_hash_table_new_full (NULL, NULL, NULL, connection_free);
  self->checking = g_timeout_add_seconds (CHECK_SECONDS, check_connections, self);
  g_signal_connect (server, "request-read", G_CALLBACK (on_request), self);
  g_signal_connect (server, "request-finished", G_CALLBACK (on_answered), self);
  g_signal_connect (server, "request-aborted", G_CALLBACK (on_answered), self);
  resume (self);
  return self;
}

void
watch_connections_free (WatchConnections *self)
{
  GHashTableIter iter;
  gpointer connection;

  g_signal_handlers_disconnect_by_data (self->server, self);
  g_clear_handle_id (&self->accepting, g_source_remove);
  g_clear_handle_id (&self->resuming, g_source_remove);
  g_source_remove (self->checking);
  g_hash_table_iter_init (&iter, self->connections);
  while (g_hash_table_iter_next (&iter, NULL, &connection))
    g_object_weak_unref (G_OBJECT (((Connection *)connection)->stream), on_closed, connection);
  g_hash_table_unref (self->connections);
  g_object_unref (self->socket);
  g_free (self);
}

GSocketAddress *
watch_connections_get_address (WatchConnections *self)
{
  return g_socket_get_local_address (self->socket, NULL);
}

GSocket *
watch_connections_get_socket (SoupServerMessage *message)
{
  return g_object_get_data (G_OBJECT (message), SOCKET);
}

const gchar *
watch_connections_get_client (SoupServerMessage *message)
{
  const gchar *client = g_object_get_data (G_OBJECT (message), CLIENT);

  return client ? client : "";
}
