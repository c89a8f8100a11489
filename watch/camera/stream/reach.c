/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reach.h"

#include <string.h>

#define TIMEOUT 3 /* s: of the connection and of each answer */
#define RTSP "RTSP/"

typedef struct {
  gchar *host;
  guint16 port;
  gboolean is_rtsp; /* without TLS */
  GSocketConnection *connection;
  GCancellable *cancellable;
  gchar *request;
  gchar answer[sizeof RTSP - 1];
  WatchReachFunc function;
  gpointer data;
} Question;

static const struct {
  const gchar *scheme;
  guint16 port;
  gboolean is_rtsp;
} schemes[] = {
    {"rtsp", 554, TRUE},
    {"rtspt", 554, TRUE},
    {"rtspu", 554, TRUE},
    {"rtsps", 322, FALSE},
    {"http", 80, FALSE},
    {"https", 443, FALSE},
    {"rtmp", 1935, FALSE},
};

/* FALSE if the URI has no host. The host is freed by the caller. */
static gboolean
parse_uri (const gchar *text, gchar **host, guint16 *port, gboolean *is_rtsp)
{
  g_autoptr (GUri) uri =
      g_uri_parse (text, G_URI_FLAGS_PARSE_RELAXED | G_URI_FLAGS_HAS_PASSWORD, NULL);
  gboolean is_found = FALSE;

  for (guint i = 0; uri && g_uri_get_host (uri) && i < G_N_ELEMENTS (schemes); i++)
    if (g_str_equal (g_uri_get_scheme (uri), schemes[i].scheme)) {
      *host = g_strdup (g_uri_get_host (uri));
      *port = g_uri_get_port (uri) > 0 ? g_uri_get_port (uri) : schemes[i].port;
      *is_rtsp = schemes[i].is_rtsp;
      is_found = **host != 0;
      if (!is_found)
        g_clear_pointer (host, g_free);
    }
  return is_found;
}

gboolean
watch_reach_parse (const gchar *uri, gchar **host, guint16 *port)
{
  gboolean is_rtsp;

  return parse_uri (uri, host, port, &is_rtsp);
}

gboolean
watch_reach_can_ask (const gchar *uri)
{
  g_autofree gchar *host = NULL;
  guint16 port;

  return watch_reach_parse (uri, &host, &port);
}

/* Calls the function with the reason, which it takes, and frees the question. */
static void
answer (Question *question, gchar *reason)
{
  const gboolean is_reached = question->connection != NULL;

  if (g_cancellable_is_cancelled (question->cancellable))
    g_clear_pointer (&reason, g_free);
  if (is_reached) {
    g_io_stream_close (G_IO_STREAM (question->connection), NULL, NULL);
    g_object_unref (question->connection);
  }
  question->function (is_reached, reason, question->data);
  g_object_unref (question->cancellable);
  g_free (question->request);
  g_free (question->host);
  g_free (question);
}

static gchar *
reason_of_failure (const Question *question, const GError *error)
{
  const gchar *host = question->host;
  const guint port = question->port;

  if (g_error_matches (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND))
    return g_strdup_printf ("there is no host named %s", host);
  if (error->domain == G_RESOLVER_ERROR)
    return g_strdup_printf ("the address of the host %s cannot be found now", host);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    return g_strdup_printf ("%s refuses connections to port %u", host, port);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE) ||
      g_error_matches (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE))
    return g_strdup_printf ("there is no route to %s", host);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    return g_strdup_printf ("%s does not answer on port %u", host, port);
  return g_strdup_printf ("port %u of %s: %s", port, host, error->message);
}

static void
on_read (GObject *stream, GAsyncResult *result, gpointer data)
{
  Question *question = data;
  g_autoptr (GError) error = NULL;
  gchar *reason = NULL;
  gsize n = 0;

  g_input_stream_read_all_finish (G_INPUT_STREAM (stream), result, &n, &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    reason = g_strdup_printf (
        "%s accepts connections to port %u and sends nothing", question->host, question->port);
  else if (n < sizeof question->answer || memcmp (question->answer, RTSP, n) != 0)
    reason = g_strdup_printf ("port %u of %s does not speak RTSP", question->port, question->host);
  answer (question, reason);
}

static void
on_written (GObject *stream, GAsyncResult *result, gpointer data)
{
  Question *question = data;

  /* If that failed, nothing can be read either. */
  g_output_stream_write_all_finish (G_OUTPUT_STREAM (stream), result, NULL, NULL);
  g_input_stream_read_all_async (g_io_stream_get_input_stream (G_IO_STREAM (question->connection)),
      question->answer, sizeof question->answer, G_PRIORITY_DEFAULT, question->cancellable, on_read,
      question);
}

static void
on_connected (GObject *client, GAsyncResult *result, gpointer data)
{
  Question *question = data;
  g_autoptr (GError) error = NULL;

  question->connection =
      g_socket_client_connect_to_host_finish (G_SOCKET_CLIENT (client), result, &error);
  if (error)
    answer (question, reason_of_failure (question, error));
  else if (!question->is_rtsp)
    answer (question, NULL);
  else
    g_output_stream_write_all_async (
        g_io_stream_get_output_stream (G_IO_STREAM (question->connection)), question->request,
        strlen (question->request), G_PRIORITY_DEFAULT, question->cancellable, on_written,
        question);
}

void
watch_reach_ask (
    const gchar *uri, GCancellable *cancellable, WatchReachFunc function, gpointer data)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  Question *question = g_new0 (Question, 1);
  gboolean is_address;

  question->cancellable = g_object_ref (cancellable);
  question->function = function;
  question->data = data;
  parse_uri (uri, &question->host, &question->port, &question->is_rtsp);
  is_address = strchr (question->host, ':') != NULL;
  question->request = g_strdup_printf ("OPTIONS rtsp://%s%s%s:%u/ RTSP/1.0\r\nCSeq: 1\r\n\r\n",
      is_address ? "[" : "", question->host, is_address ? "]" : "", question->port);
  g_socket_client_set_timeout (client, TIMEOUT);
  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_connect_to_host_async (
      client, question->host, question->port, cancellable, on_connected, question);
}
