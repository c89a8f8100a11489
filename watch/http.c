/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http.h"

#include <libsoup/soup.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "api.h"
#include "folder.h"
#include "history.h"
#include "live.h"
#include "log.h"
#include "metrics.h"

#define MAX_BODY_BYTES 65536
#define MIN_TOKEN_LENGTH 16
#define BACKLOG 64
#define COOKIE_NAME "ccl-watch"
#define COOKIE_SECONDS (90 * 86400)
#define HTTP_RESOURCES "/org/cudaccl/watch"

struct _WatchHttp {
  Watch *watch;
  WatchHistory *history;
  WatchLive *live;
  SoupServer *server;
  GSocketService *service;
  gchar *session; /* value of the cookie of browsers that sent the token; NULL without a token */
  gchar *token_digest;
};

typedef void (*Handler) (
    WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query);

/* Responses */

static void
respond (SoupServerMessage *message, guint status, const gchar *type, const gchar *text)
{
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, SOUP_MEMORY_COPY, text, strlen (text));
}

static void
respond_json (SoupServerMessage *message, gchar *text)
{
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_server_message_set_response (
      message, "application/json", SOUP_MEMORY_TAKE, text, strlen (text));
}

static void
respond_bytes (SoupServerMessage *message, const gchar *type, GBytes *bytes)
{
  soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
  soup_message_headers_set_content_type (
      soup_server_message_get_response_headers (message), type, NULL);
  soup_message_body_append_bytes (soup_server_message_get_response_body (message), bytes);
}

static void
respond_error (SoupServerMessage *message, guint status, const gchar *text)
{
  g_autofree gchar *line = g_strdup_printf ("%s\n", text);

  respond (message, status, "text/plain; charset=utf-8", line);
}

static void
respond_wrong_method (SoupServerMessage *message, const gchar *allowed)
{
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Allow", allowed);
  respond_error (message, SOUP_STATUS_METHOD_NOT_ALLOWED, "this method is not possible here");
}

/* What browsers must not do with any response. */
static void
add_protection (SoupServerMessage *message)
{
  static const struct {
    const gchar *name, *value;
  } headers[] = {
      {"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'"},
      {"Cache-Control", "no-store"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (headers); i++)
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), headers[i].name, headers[i].value);
}

/* Access control */

static gboolean
is_change (SoupServerMessage *message)
{
  const gchar *method = soup_server_message_get_method (message);

  return method != SOUP_METHOD_GET && method != SOUP_METHOD_HEAD;
}

static const gchar *
get_header (SoupServerMessage *message, const gchar *name)
{
  return soup_message_headers_get_one (soup_server_message_get_request_headers (message), name);
}

static gchar *
digest (const gchar *key, const gchar *text)
{
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)key, strlen (key), text, -1);
}

/* Compares secrets in a time that does not depend on where they differ. */
static gboolean
is_equal_secret (const gchar *a, const gchar *b)
{
  g_autofree gchar *first = digest ("compare", a);
  g_autofree gchar *second = digest ("compare", b);
  guint difference = 0;

  for (gsize i = 0; first[i]; i++)
    difference |= (guint)(first[i] ^ second[i]);
  return difference == 0;
}

static gboolean
is_token (WatchHttp *self, const gchar *token)
{
  g_autofree gchar *given = digest ("token", token);

  return is_equal_secret (given, self->token_digest);
}

static gboolean
has_bearer_token (WatchHttp *self, SoupServerMessage *message)
{
  const gchar *authorization = get_header (message, "Authorization");

  return authorization && g_ascii_strncasecmp (authorization, "Bearer ", 7) == 0 &&
         is_token (self, authorization + 7);
}

static gboolean
has_session (WatchHttp *self, SoupServerMessage *message)
{
  const gchar *header = get_header (message, "Cookie");
  g_auto (GStrv) cookies = header ? g_strsplit (header, ";", 0) : NULL;

  for (gchar **cookie = cookies; cookie && *cookie; cookie++) {
    const gchar *text = g_strstrip (*cookie);

    if (g_str_has_prefix (text, COOKIE_NAME "=") &&
        is_equal_secret (text + strlen (COOKIE_NAME "="), self->session))
      return TRUE;
  }
  return FALSE;
}

/* The host of a "Host" header, without its port. */
static gchar *
host_without_port (const gchar *host)
{
  const gchar *colon = strrchr (host, ':');
  const gchar *bracket = strrchr (host, ']');

  if (colon && (!bracket || colon > bracket))
    return g_strndup (host, colon - host);
  return g_strdup (host);
}

/* Without a token, a page of another site must not reach this server under a name of its own that
 * leads to the loopback address. */
static gboolean
is_local_host (SoupServerMessage *message)
{
  const gchar *header = get_header (message, "Host");
  g_autofree gchar *host = header ? host_without_port (header) : NULL;
  g_autoptr (GInetAddress) address = NULL;

  if (!host)
    return FALSE;
  if (g_ascii_strcasecmp (host, "localhost") == 0 || g_str_equal (host, "[::1]"))
    return TRUE;
  address = g_inet_address_new_from_string (host);
  return address && g_inet_address_get_is_loopback (address);
}

/* Whether a change comes from our own page or from a program: a page of another site cannot set
 * this header, and its requests carry another origin. */
static gboolean
is_own_request (SoupServerMessage *message)
{
  const gchar *origin = get_header (message, "Origin");
  const gchar *host = get_header (message, "Host");
  const gchar *origin_host = origin ? strstr (origin, "://") : NULL;

  if (!get_header (message, "X-CCL-Watch"))
    return FALSE;
  return !origin || (origin_host && host && g_ascii_strcasecmp (origin_host + 3, host) == 0);
}

/* Answers a request that is not allowed and returns FALSE. */
static gboolean
check_access (WatchHttp *self, SoupServerMessage *message, gboolean public)
{
  gboolean bearer = self->session && has_bearer_token (self, message);

  if (!self->session && !is_local_host (message)) {
    respond_error (message, SOUP_STATUS_FORBIDDEN, "the host of the request is not this machine");
  } else if (self->session && !public && !bearer && !has_session (self, message)) {
    soup_message_headers_replace (
        soup_server_message_get_response_headers (message), "WWW-Authenticate", "Bearer");
    respond_error (message, SOUP_STATUS_UNAUTHORIZED, "a token is required");
  } else if (is_change (message) && !bearer && !is_own_request (message)) {
    respond_error (message, SOUP_STATUS_FORBIDDEN,
        "a change needs the header X-CCL-Watch and no foreign origin");
  } else {
    return TRUE;
  }
  return FALSE;
}

/* Called when the headers are here: a body that is too long is not kept. */
static void
check_length (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
    gpointer data)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);

  add_protection (message);
  if (soup_message_headers_get_encoding (headers) != SOUP_ENCODING_CHUNKED &&
      soup_message_headers_get_content_length (headers) <= MAX_BODY_BYTES)
    return;
  soup_message_body_set_accumulate (soup_server_message_get_request_body (message), FALSE);
  soup_message_headers_replace (
      soup_server_message_get_response_headers (message), "Connection", "close");
  respond_error (message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "the body is too long");
}

/* A number of the query within bounds. */
static guint
get_number (GHashTable *query, const gchar *name, guint fallback, guint least, guint greatest)
{
  const gchar *text = query ? g_hash_table_lookup (query, name) : NULL;
  guint64 value = text ? g_ascii_strtoull (text, NULL, 10) : fallback;

  return CLAMP (value, least, greatest);
}

/* Cameras */

/* A change was refused, or the state file cannot be written. */
static void
respond_refused (SoupServerMessage *message, const GError *error)
{
  g_autofree gchar *reason = watch_redact (error->message);

  respond_error (message,
      error->domain == WATCH_CONFIG_ERROR ? SOUP_STATUS_BAD_REQUEST
                                          : SOUP_STATUS_INTERNAL_SERVER_ERROR,
      reason);
}

static void
list_cameras (WatchHttp *self, SoupServerMessage *message)
{
  if (is_change (message))
    respond_wrong_method (message, "GET, HEAD");
  else
    respond_json (message, watch_api_cameras (self->watch));
}

static void
set_camera (WatchHttp *self, SoupServerMessage *message, const gchar *name, gboolean exists)
{
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  gboolean merge = g_str_equal (soup_server_message_get_method (message), "PATCH");
  g_autoptr (GBytes) bytes = soup_message_body_flatten (body);
  g_autoptr (GError) error = NULL;

  if (merge && !exists) {
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such camera");
  } else if (!watch_api_set_camera (self->watch, name, g_bytes_get_data (bytes, NULL),
                 g_bytes_get_size (bytes), merge, &error)) {
    respond_refused (message, error);
  } else {
    respond_json (message, watch_api_camera (self->watch, name));
    soup_server_message_set_status (message, exists ? SOUP_STATUS_OK : SOUP_STATUS_CREATED, NULL);
  }
}

static void
remove_camera (WatchHttp *self, SoupServerMessage *message, const gchar *name)
{
  g_autoptr (GError) error = NULL;

  if (watch_discard_camera (self->watch, name, &error)) {
    watch_history_forget (self->history, name);
    soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
  } else {
    respond_refused (message, error);
  }
}

static void
handle_one_camera (WatchHttp *self, SoupServerMessage *message, const gchar *name)
{
  const gchar *method = soup_server_message_get_method (message);
  gchar *camera = watch_api_camera (self->watch, name);

  if (method == SOUP_METHOD_PUT || g_str_equal (method, "PATCH")) {
    set_camera (self, message, name, camera != NULL);
  } else if (!camera) {
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such camera");
  } else if (method == SOUP_METHOD_DELETE) {
    remove_camera (self, message, name);
  } else if (is_change (message)) {
    respond_wrong_method (message, "GET, HEAD, PUT, PATCH, DELETE");
  } else {
    respond_json (message, g_steal_pointer (&camera));
  }
  g_free (camera);
}

static void
send_picture (gpointer data, GBytes *jpeg)
{
  SoupServerMessage *message = data;

  if (jpeg)
    respond_bytes (message, "image/jpeg", jpeg);
  else
    respond_error (message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "encoding failed");
  soup_server_message_unpause (message);
  g_object_unref (message);
}

/* The last frame of a camera as JPEG. */
static void
handle_live_picture (
    WatchHttp *self, SoupServerMessage *message, const gchar *name, GHashTable *query)
{
  gboolean boxes = get_number (query, "boxes", 1, 0, 1);
  gint width = get_number (query, "width", 0, 0, 8192);

  soup_server_message_pause (message);
  switch (
      watch_live_request (self->live, name, boxes, width, send_picture, g_object_ref (message))) {
  case WATCH_LIVE_TAKEN:
    return;
  case WATCH_LIVE_NO_FRAME:
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no frame of such a camera");
    break;
  case WATCH_LIVE_BUSY:
    respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too many pictures at a time");
    break;
  }
  soup_server_message_unpause (message);
  g_object_unref (message);
}

static void
handle_counts (WatchHttp *self, SoupServerMessage *message, const gchar *name, GHashTable *query)
{
  guint seconds = get_number (query, "seconds", 600, 1, WATCH_HISTORY_SECONDS);

  respond_json (message,
      watch_api_counts (self->history, name, seconds, get_number (query, "points", 300, 1, 2000)));
}

/* /api/cameras, /api/cameras/NAME, /api/cameras/NAME/picture, /api/cameras/NAME/counts */
static void
handle_cameras (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_auto (GStrv) parts = g_strsplit (rest, "/", 3);
  guint n = g_strv_length (parts);

  if (n == 0)
    list_cameras (self, message);
  else if (n == 1)
    handle_one_camera (self, message, parts[0]);
  else if (is_change (message))
    respond_wrong_method (message, "GET, HEAD");
  else if (n == 2 && g_str_equal (parts[1], "picture"))
    handle_live_picture (self, message, parts[0], query);
  else if (n == 2 && g_str_equal (parts[1], "counts"))
    handle_counts (self, message, parts[0], query);
  else
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such resource");
}

/* Everything else */

static void
handle_events (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  const gchar *kinds = query ? g_hash_table_lookup (query, "kinds") : NULL;
  const gchar *after = query ? g_hash_table_lookup (query, "after") : NULL;
  const gchar *camera = query ? g_hash_table_lookup (query, "camera") : NULL;
  g_auto (GStrv) list = kinds ? g_strsplit (kinds, ",", 0) : NULL;

  respond_json (
      message, watch_api_events (self->watch, self->history, camera, (const gchar *const *)list,
                   after ? g_ascii_strtoull (after, NULL, 10) : 0,
                   get_number (query, "limit", 50, 1, 1000)));
}

static void
handle_outputs (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  respond_json (message, watch_api_outputs (self->watch));
}

static void
handle_metrics (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_autofree gchar *text = watch_metrics (self->watch);

  respond (message, SOUP_STATUS_OK, "text/plain; version=0.0.4; charset=utf-8", text);
}

static void
handle_health (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  if (watch_is_healthy (self->watch))
    respond (message, SOUP_STATUS_OK, "text/plain; charset=utf-8", "ok\n");
  else
    respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "a thread is stuck");
}

/* Gives a browser that sent the token a cookie. */
static void
handle_login (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  g_autofree gchar *token = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));

  if (soup_server_message_get_method (message) != SOUP_METHOD_POST) {
    respond_wrong_method (message, "POST");
  } else if (self->session && !is_token (self, token)) {
    respond_error (message, SOUP_STATUS_UNAUTHORIZED, "this is not the token");
  } else {
    if (self->session) {
      g_autofree gchar *cookie =
          g_strdup_printf ("%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict", COOKIE_NAME,
              self->session, COOKIE_SECONDS);

      soup_message_headers_replace (
          soup_server_message_get_response_headers (message), "Set-Cookie", cookie);
    }
    soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
  }
}

/* A picture or a clip from the folder; soup answers requests for a range of it. */
static void
handle_media (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  const gchar *folder = watch_get_config (self->watch)->folder;
  g_autofree gchar *path = NULL;
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (folder && watch_folder_is_name (rest)) {
    path = g_build_filename (folder, rest, NULL);
    file = g_mapped_file_new (path, FALSE, NULL);
  }
  if (!file) {
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such file");
    return;
  }
  bytes = g_mapped_file_get_bytes (file);
  respond_bytes (message, g_str_has_suffix (rest, ".jpg") ? "image/jpeg" : "video/mp4", bytes);
}

/* The page's files. */
static void
handle_page (WatchHttp *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  const gchar *name = *rest ? rest : "index.html";
  g_autofree gchar *path = g_strdup_printf (HTTP_RESOURCES "/%s", name);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  const gchar *type = "text/html; charset=utf-8";

  if (!bytes) {
    respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such resource");
    return;
  }
  if (g_str_has_suffix (name, ".js"))
    type = "text/javascript; charset=utf-8";
  else if (g_str_has_suffix (name, ".css"))
    type = "text/css; charset=utf-8";
  else if (g_str_has_suffix (name, ".svg"))
    type = "image/svg+xml";
  respond_bytes (message, type, bytes);
}

/* Paths, the longer ones first. */
static const struct {
  const gchar *path;
  Handler handler;
  gboolean public;  /* without a token */
  gboolean changes; /* takes other methods than GET and HEAD */
} routes[] = {
    {"/api/cameras", handle_cameras, FALSE, TRUE},
    {"/api/events", handle_events},
    {"/api/outputs", handle_outputs},
    {"/api/login", handle_login, TRUE, TRUE},
    {"/media", handle_media},
    {"/metrics", handle_metrics},
    {"/healthz", handle_health, TRUE},
    {"", handle_page, TRUE},
};

static void
handle_request (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
    gpointer data)
{
  WatchHttp *self = data;
  guint r = 0;
  const gchar *rest;

  for (;; r++) {
    rest = path + strlen (routes[r].path);
    if (g_str_has_prefix (path, routes[r].path) && (*rest == '/' || *rest == '\0'))
      break;
  }
  rest += *rest == '/';
  if (!check_access (self, message, routes[r].public))
    return;
  if (is_change (message) && !routes[r].changes)
    respond_wrong_method (message, "GET, HEAD");
  else
    routes[r].handler (self, message, rest, query);
}

/* "ADDRESS:PORT", where an IPv6 address stands in brackets. */
static GSocketAddress *
parse_address (const gchar *text, GError **error)
{
  g_autoptr (GSocketConnectable) connectable = g_network_address_parse (text, 0, NULL);
  GNetworkAddress *network = connectable ? G_NETWORK_ADDRESS (connectable) : NULL;
  const gchar *host = network ? g_network_address_get_hostname (network) : "";
  guint16 port = network ? g_network_address_get_port (network) : 0;
  GSocketAddress *address = g_inet_socket_address_new_from_string (
      g_str_equal (host, "localhost") ? "127.0.0.1" : host, port);

  if (address && strrchr (text, ':') && !g_str_has_suffix (text, "]"))
    return address;
  g_clear_object (&address);
  g_set_error (error, WATCH_CONFIG_ERROR, 0,
      "\"%s\" is no address and port, such as 127.0.0.1:8080 or [::1]:8080", text);
  return NULL;
}

/* Tells where the server listens: the port may have been 0. */
static void
log_address (GSocketAddress *address)
{
  GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS (address);
  g_autofree gchar *host = g_inet_address_to_string (g_inet_socket_address_get_address (inet));
  gboolean is_ipv6 = g_socket_address_get_family (address) == G_SOCKET_FAMILY_IPV6;

  watch_log_info ("web page at http://%s%s%s:%u/", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
      g_inet_socket_address_get_port (inet));
}

gboolean
watch_http_check (const WatchConfig *config, GError **error)
{
  g_autoptr (GSocketAddress) address = NULL;
  GInetAddress *inet;

  if (!config->http)
    return TRUE;
  address = parse_address (config->http, error);
  if (!address)
    return FALSE;
  inet = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address));
  if (!g_inet_address_get_is_loopback (inet) &&
      (!config->http_token || strlen (config->http_token) < MIN_TOKEN_LENGTH)) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0,
        "%s can be reached from other machines, which requires a token of %d characters or more",
        config->http, MIN_TOKEN_LENGTH);
    return FALSE;
  }
  return TRUE;
}

static gboolean
listen_at (WatchHttp *self, const WatchConfig *config, GError **error)
{
  g_autoptr (GSocketAddress) address = parse_address (config->http, error);
  g_autoptr (GSocketAddress) effective = NULL;

  if (!address)
    return FALSE;
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address,
          G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &effective, error)) {
    g_prefix_error (error, "cannot listen at %s: ", config->http);
    return FALSE;
  }
  log_address (effective);
  return TRUE;
}

/* A client connects. libsoup 3.2 leaks the sockets that it accepts itself. */
static gboolean
on_connection (
    GSocketService *service, GSocketConnection *connection, GObject *source, gpointer data)
{
  WatchHttp *self = data;
  g_autoptr (GSocketAddress) local = g_socket_connection_get_local_address (connection, NULL);
  g_autoptr (GSocketAddress) remote = g_socket_connection_get_remote_address (connection, NULL);
  g_autoptr (GError) error = NULL;

  g_socket_set_option (
      g_socket_connection_get_socket (connection), IPPROTO_TCP, TCP_NODELAY, TRUE, NULL);
  if (!soup_server_accept_iostream (self->server, G_IO_STREAM (connection), local, remote, &error))
    watch_log_warning ("web server: %s", error->message);
  return TRUE;
}

WatchHttp *
watch_http_new (Watch *watch, GError **error)
{
  const WatchConfig *config = watch_get_config (watch);
  WatchHttp *self = g_new0 (WatchHttp, 1);

  self->watch = watch;
  if (!config->http)
    return self;
  self->history = watch_history_new (watch);
  self->live = watch_live_new (watch);
  if (config->http_token) {
    self->session = digest (config->http_token, "session");
    self->token_digest = digest ("token", config->http_token);
  }
  self->server = soup_server_new ("server-header", "ccl-watch", NULL);
  soup_server_add_early_handler (self->server, NULL, check_length, self, NULL);
  soup_server_add_handler (self->server, NULL, handle_request, self, NULL);
  self->service = g_socket_service_new ();
  g_socket_listener_set_backlog (G_SOCKET_LISTENER (self->service), BACKLOG);
  g_signal_connect (self->service, "incoming", G_CALLBACK (on_connection), self);
  if (!listen_at (self, config, error)) {
    watch_http_free (self);
    return NULL;
  }
  return self;
}

void
watch_http_free (WatchHttp *self)
{
  if (self->service) {
    g_socket_service_stop (self->service);
    g_socket_listener_close (G_SOCKET_LISTENER (self->service));
    g_clear_object (&self->service);
  }
  if (self->server)
    soup_server_disconnect (self->server);
  g_clear_pointer (&self->live, watch_live_free);
  g_clear_object (&self->server);
  g_clear_pointer (&self->history, watch_history_free);
  g_free (self->session);
  g_free (self->token_digest);
  g_free (self);
}
