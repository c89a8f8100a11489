/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines sent to a webhook: http://[USER:PASSWORD@]HOST[:PORT]/PATH, https:// with TLS. Each line,
 * or with "lines" so many of them, is the body of a POST, and delivered when the answer's status is
 * 2xx. One request after the other, so lines stay in order. Keys: "key-file", whose key signs the
 * bodies; "cafile"; "timeout" of a request. The path may be a secret, so messages name the host
 * alone. */
#include <libsoup/soup.h>
#include <string.h>

#include "watch/config/key-file.h"
#include "output.h"

#define CONNECT_TIMEOUT (5 * G_TIME_SPAN_SECOND)
#define DEFAULT_TIMEOUT 10.0 /* seconds */
#define MAX_LINES 1000       /* a request */
#define ANSWER_TIMEOUT 20    /* ms to wait for an answer when the next line is there */
#define MAX_ANSWER 65536     /* bytes that are read of an answer, which is ignored */
#define SIGNATURE_HEADER "X-Ccl-Signature-256"

typedef struct {
  WatchOutput *output;
  GUri *uri;            /* without credentials */
  gchar *place;         /* scheme, host and port, for messages */
  gchar *authorization; /* of user and password, or NULL */
  gchar *key_file, *key;
  GTlsDatabase *authorities; /* NULL: those of the system */
  gdouble timeout;
  guint64 most;          /* lines a request */
  GMainContext *context; /* of all requests, run by this file's functions */
  gchar *failure;        /* why the last line was not taken, until one is */

  /* Of a connection. */
  SoupSession *session;
  GPtrArray *lines; /* const WatchLine that were given and not answered, the oldest first */
  guint n_sent;     /* of these, with the request, until the answer's status is known */
  guint n_alone;    /* of these, to be sent one by one, because they were refused together */
  /* Of a request; NULL or 0 without one. */
  SoupMessage *message;
  GCancellable *cancellable;
  gint64 deadline;
  gchar *answer; /* its text, as far as it was read */
  gsize n_answer;
  GError *error; /* of the last request */
} HttpOutput;

static void
http_free (gpointer data)
{
  HttpOutput *self = data;

  g_clear_pointer (&self->uri, g_uri_unref);
  g_clear_object (&self->authorities);
  g_ptr_array_unref (self->lines);
  g_main_context_unref (self->context);
  g_clear_error (&self->error);
  g_free (self->answer);
  g_free (self->failure);
  g_free (self->authorization);
  g_free (self->place);
  g_free (self->key_file);
  g_free (self->key);
  g_free (self);
}

/* The configuration. */

static gboolean
parse_uri (HttpOutput *self, const gchar *text, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (text, SOUP_HTTP_URI_FLAGS, NULL);
  const gchar *host = uri ? g_uri_get_host (uri) : NULL;
  const gchar *user = uri ? g_uri_get_user (uri) : NULL;
  const gchar *password = uri ? g_uri_get_password (uri) : NULL;

  if (!host || !*host)
    return watch_fail (error, "the URI must be http://HOST/PATH or https://HOST/PATH");
  if (user) {
    g_autofree gchar *pair = g_strconcat (user, ":", password ? password : "", NULL);
    g_autofree gchar *code = g_base64_encode ((const guchar *)pair, strlen (pair));

    self->authorization = g_strconcat ("Basic ", code, NULL);
  }
  self->uri = g_uri_build (SOUP_HTTP_URI_FLAGS, g_uri_get_scheme (uri), NULL, host,
      g_uri_get_port (uri), g_uri_get_path (uri), g_uri_get_query (uri), NULL);
  self->place = watch_output_place (text);
  return TRUE;
}

static gboolean
read_key (gpointer data, GError **error)
{
  HttpOutput *self = data;
  gchar *key = NULL;

  if (self->key_file && !watch_token_read (self->key_file, &key, error))
    return watch_fail_at (error, "key-file");
  g_free (self->key);
  self->key = key;
  return TRUE;
}

static gboolean
configure (HttpOutput *self, GError **error)
{
  const gchar *timeout = watch_output_option (self->output, "timeout");
  const gchar *cafile = watch_output_option (self->output, "cafile");
  const gchar *lines = watch_output_option (self->output, "lines");

  if (lines && !g_ascii_string_to_unsigned (lines, 10, 1, MAX_LINES, &self->most, error))
    return watch_fail_at (error, "lines");
  self->key_file = g_strdup (watch_output_option (self->output, "key-file"));
  if (timeout && !watch_parse_duration (timeout, &self->timeout, error))
    return watch_fail_at (error, "timeout");
  if (self->timeout < 0.5 || self->timeout > 3600)
    return watch_fail (error, "timeout: it must be 0.5 s to 1 h");
  if (cafile) {
    g_autofree gchar *path = g_canonicalize_filename (cafile, NULL);

    self->authorities = g_tls_file_database_new (path, error);
    if (!self->authorities)
      return watch_fail_at (error, "cafile");
  }
  return read_key (self, error);
}

static gpointer
http_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  HttpOutput *self = g_new0 (HttpOutput, 1);

  self->output = output;
  self->timeout = DEFAULT_TIMEOUT;
  self->most = 1;
  self->lines = g_ptr_array_new ();
  self->context = g_main_context_new ();
  self->answer = g_malloc (MAX_ANSWER);
  if (!parse_uri (self, config->uri, error) || !configure (self, error)) {
    http_free (self);
    return NULL;
  }
  return self;
}

/* A request. */

static SoupMessage *
new_message (HttpOutput *self)
{
  SoupMessage *message = soup_message_new_from_uri (SOUP_METHOD_POST, self->uri);

  /* Another host gets neither the line nor the password. */
  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT);
  /* A line may be sent twice, so the connection of the line before is used. */
  soup_message_add_flags (message, SOUP_MESSAGE_IDEMPOTENT);
  return message;
}

static void
begin_request (HttpOutput *self, SoupMessage *message, gint64 time)
{
  self->message = message;
  self->cancellable = g_cancellable_new ();
  self->deadline = g_get_monotonic_time () + time;
  self->n_answer = 0;
  g_clear_error (&self->error);
}

static void
end_request (HttpOutput *self)
{
  g_clear_object (&self->message);
  g_clear_object (&self->cancellable);
  self->n_sent = 0;
}

static gboolean
end_source (gpointer data)
{
  *(gboolean *)data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Runs the request's callbacks, at most so many milliseconds, and cancels it when it is late. */
static void
exchange (HttpOutput *self, guint timeout)
{
  g_autoptr (GSource) source = g_timeout_source_new (timeout);
  gboolean is_over = FALSE;

  g_source_set_callback (source, end_source, &is_over, NULL);
  g_source_attach (source, self->context);
  while (self->message && !is_over)
    g_main_context_iteration (self->context, TRUE);
  g_source_destroy (source);
  while (g_main_context_iteration (self->context, FALSE)) {
  }
  if (self->message && g_get_monotonic_time () > self->deadline)
    g_cancellable_cancel (self->cancellable);
}

/* What soup and GIO say of a failure; the certificate's errors are in the message. */
static void
take_error (HttpOutput *self, GError *error)
{
  const GTlsCertificateFlags flags = soup_message_get_tls_peer_certificate_errors (self->message);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_set_error (&self->error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "%s does not answer", self->place);
  else if (flags != 0)
    g_set_error (&self->error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
        "%s: the certificate is not valid%s", self->place,
        flags & G_TLS_CERTIFICATE_UNKNOWN_CA     ? ": its authority is unknown"
        : flags & G_TLS_CERTIFICATE_BAD_IDENTITY ? ": it is of another host"
        : flags & G_TLS_CERTIFICATE_EXPIRED      ? ": it has expired"
                                                 : "");
  else
    g_set_error (&self->error, error->domain, error->code, "%s: %s", self->place, error->message);
  g_error_free (error);
}

/* Whether the same line would always get this answer, whatever is repaired at the receiver. */
static gboolean
is_of_line (guint status)
{
  return status == SOUP_STATUS_BAD_REQUEST || status == SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE ||
         status == SOUP_STATUS_UNSUPPORTED_MEDIA_TYPE || status == SOUP_STATUS_UNPROCESSABLE_ENTITY;
}

/* The lines of the request have arrived, or never will. */
static void
end_lines (HttpOutput *self, const gchar *refusal)
{
  for (guint i = 0; i < self->n_sent; i++)
    if (refusal)
      watch_output_lose (self->output, self->lines->pdata[i], refusal);
    else
      watch_output_acknowledge (self->output, self->lines->pdata[i]);
  g_ptr_array_remove_range (self->lines, 0, self->n_sent);
}

/* The lines are delivered, refused, or to be sent again. */
static void
take_status (HttpOutput *self)
{
  const guint status = soup_message_get_status (self->message);
  g_autofree gchar *text =
      g_strdup_printf ("%s answers %u %s", self->place, status, soup_status_get_phrase (status));

  if (SOUP_STATUS_IS_SUCCESSFUL (status)) {
    g_clear_pointer (&self->failure, g_free);
    end_lines (self, NULL);
  } else if (is_of_line (status) && self->n_sent > 1) {
    self->n_alone = self->n_sent;
  } else if (is_of_line (status)) {
    end_lines (self, text);
  } else {
    g_set_error_literal (&self->error, G_IO_ERROR, G_IO_ERROR_BUSY, text);
  }
  self->n_sent = 0;
}

static void read_answer (HttpOutput *self, GInputStream *stream);

/* An answer that does not end is cut: the next request gets another connection. */
static void
on_read (GObject *object, GAsyncResult *result, gpointer data)
{
  GInputStream *stream = G_INPUT_STREAM (object);
  const gssize n = g_input_stream_read_finish (stream, result, NULL);
  HttpOutput *self = data;

  if (n > 0)
    self->n_answer += n;
  if (n > 0 && self->n_answer < MAX_ANSWER) {
    read_answer (self, stream);
  } else {
    if (n != 0)
      soup_session_abort (self->session);
    end_request (self);
  }
}

static void
read_answer (HttpOutput *self, GInputStream *stream)
{
  g_input_stream_read_async (stream, self->answer, MAX_ANSWER - self->n_answer, G_PRIORITY_DEFAULT,
      self->cancellable, on_read, self);
}

static void
on_status (GObject *session, GAsyncResult *result, gpointer data)
{
  HttpOutput *self = data;
  GError *error = NULL;
  g_autoptr (GInputStream) stream =
      soup_session_send_finish (SOUP_SESSION (session), result, &error);

  if (stream) {
    take_status (self);
    read_answer (self, stream);
  } else {
    take_error (self, error);
    end_request (self);
  }
}

/* The connection. */

static void
http_close (gpointer data)
{
  HttpOutput *self = data;

  g_main_context_push_thread_default (self->context);
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  while (self->message)
    g_main_context_iteration (self->context, TRUE);
  g_ptr_array_set_size (self->lines, 0);
  self->n_alone = 0;
  soup_session_abort (self->session);
  g_clear_object (&self->session);
  while (g_main_context_iteration (self->context, FALSE)) {
  }
  g_main_context_pop_thread_default (self->context);
}

static void
on_connected (GObject *session, GAsyncResult *result, gpointer data)
{
  HttpOutput *self = data;
  GError *error = NULL;

  if (!soup_session_preconnect_finish (SOUP_SESSION (session), result, &error))
    take_error (self, error);
  end_request (self);
}

static gboolean
http_open (gpointer data, GError **error)
{
  HttpOutput *self = data;

  if (!read_key (self, error))
    return FALSE;
  g_main_context_push_thread_default (self->context);
  self->session = soup_session_new_with_options (
      "user-agent", "ccl-watch", "max-conns", 1, "max-conns-per-host", 1, NULL);
  if (self->authorities)
    soup_session_set_tls_database (self->session, self->authorities);
  begin_request (self, new_message (self), CONNECT_TIMEOUT);
  soup_session_preconnect_async (
      self->session, self->message, G_PRIORITY_DEFAULT, self->cancellable, on_connected, self);
  while (self->message)
    exchange (self, 50);
  g_main_context_pop_thread_default (self->context);
  if (!self->error)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->error));
  http_close (self);
  return FALSE;
}

/* One line without the newline, as JSON, or where several are allowed, lines. */
static GBytes *
make_body (HttpOutput *self)
{
  const WatchLine *first = self->lines->pdata[0];
  GString *text;

  if (self->most == 1)
    return g_bytes_new (first->text, first->length - 1);
  text = g_string_new (NULL);
  for (guint i = 0; i < self->n_sent; i++) {
    const WatchLine *line = self->lines->pdata[i];

    g_string_append_len (text, line->text, line->length);
  }
  return g_string_free_to_bytes (text);
}

/* Adds the body and its signature. */
static void
set_body (HttpOutput *self, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  g_autoptr (GBytes) body = make_body (self);

  soup_message_set_request_body_from_bytes (
      message, self->most == 1 ? "application/json" : "application/x-ndjson", body);
  if (self->authorization)
    soup_message_headers_replace (headers, "Authorization", self->authorization);
  if (self->key) {
    g_autofree gchar *code = g_compute_hmac_for_data (G_CHECKSUM_SHA256, (const guchar *)self->key,
        strlen (self->key), g_bytes_get_data (body, NULL), g_bytes_get_size (body));
    g_autofree gchar *signature = g_strconcat ("sha256=", code, NULL);

    soup_message_headers_replace (headers, SIGNATURE_HEADER, signature);
  }
}

static void
send_request (HttpOutput *self)
{
  begin_request (self, new_message (self), self->timeout * G_TIME_SPAN_SECOND);
  self->n_sent = self->n_alone > 0 ? 1 : self->lines->len;
  self->n_alone -= self->n_alone > 0;
  set_body (self, self->message);
  /* The connection alone does not show that the receiver takes lines again. */
  if (self->failure)
    watch_output_disconnected (self->output, self->failure);
  soup_session_send_async (
      self->session, self->message, G_PRIORITY_DEFAULT, self->cancellable, on_status, self);
}

/* Takes a line for the next request, which begins when it has as many lines as it may have;
 * http_poll() begins it when no more come. */
static WatchSend
http_send (gpointer data, const WatchLine *line, GError **error)
{
  HttpOutput *self = data;
  gboolean is_taken;

  g_main_context_push_thread_default (self->context);
  if (self->message)
    exchange (self, ANSWER_TIMEOUT);
  is_taken = !self->message && !self->error && self->lines->len < self->most;
  if (is_taken)
    g_ptr_array_add (self->lines, (gpointer)line);
  if (!self->message && !self->error && self->lines->len == self->most)
    send_request (self);
  g_main_context_pop_thread_default (self->context);
  return is_taken ? WATCH_SEND_PENDING : WATCH_SEND_AGAIN;
}

static gboolean
http_poll (gpointer data, GError **error)
{
  HttpOutput *self = data;

  g_main_context_push_thread_default (self->context);
  exchange (self, 0);
  if (!self->message && !self->error && self->lines->len > 0)
    send_request (self);
  g_main_context_pop_thread_default (self->context);
  if (!self->error)
    return TRUE;
  g_free (self->failure);
  self->failure = g_strdup (self->error->message);
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

const WatchOutputClass watch_output_http = {
    .new = http_new,
    .free = http_free,
    .open = http_open,
    .close = http_close,
    .send = http_send,
    .poll = http_poll,
    .reopen = read_key, /* it may be another one */
    .is_slow_to_open = TRUE,
    .may_hang_up = TRUE,
    .is_stateless = TRUE,
    .is_for_persons = TRUE,
};
