/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-routes.h"

#include <string.h>

#include "api.h"
#include "http-access.h"
#include "http-changes.h"
#include "http-media.h"
#include "http-respond.h"
#include "http-stream.h"
#include "watch/live/live.h"
#include "watch/history/metrics.h"
#include "watch/history/objects.h"
#include "watch/history/traffic.h"

#define HTTP_RESOURCES "/org/cudaccl/watch"

struct _WatchHttpRoutes {
  Watch *watch;
  WatchHttpAccess *access;
  WatchHistory *history;
  WatchObjects *objects;
  WatchTraffic *traffic;
  WatchLineFile *files[3]; /* of these */
  WatchLive *live;
  WatchStreams *streams;
};

typedef void (*Handler) (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query);

static const gchar *
get_text (GHashTable *query, const gchar *name)
{
  return query ? g_hash_table_lookup (query, name) : NULL;
}

/* A number of the query within bounds. */
static guint
get_number (GHashTable *query, const gchar *name, guint fallback, guint least, guint greatest)
{
  const gchar *text = get_text (query, name);
  guint64 value = text ? g_ascii_strtoull (text, NULL, 10) : fallback;

  return CLAMP (value, least, greatest);
}

/* Cameras */

static void
list_cameras (WatchHttpRoutes *self, SoupServerMessage *message)
{
  if (watch_http_is_change (message))
    watch_respond_wrong_method (message, "GET, HEAD");
  else
    watch_respond_json (message, watch_api_cameras (self->watch));
}

static void
on_removed (gpointer data, const gchar *name)
{
  WatchHttpRoutes *self = data;

  watch_history_forget (self->history, name);
  watch_objects_forget (self->objects, name);
  watch_traffic_forget (self->traffic, name);
  for (guint i = 0; i < G_N_ELEMENTS (self->files); i++)
    watch_line_file_rewrite (self->files[i]);
}

static void
handle_one_camera (WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name)
{
  const gchar *method = soup_server_message_get_method (message);
  g_autofree gchar *camera = NULL;

  if (method == SOUP_METHOD_PUT || method == SOUP_METHOD_DELETE || g_str_equal (method, "PATCH")) {
    watch_http_change_camera (message, self->watch, name, on_removed, self);
    return;
  }
  camera = watch_api_camera (self->watch, name);
  if (!camera)
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such camera");
  else if (watch_http_is_change (message))
    watch_respond_wrong_method (message, "GET, HEAD, PUT, PATCH, DELETE");
  else
    watch_respond_json (message, g_steal_pointer (&camera));
}

static void
send_picture (gpointer data, GBytes *jpeg)
{
  SoupServerMessage *message = data;

  if (jpeg)
    watch_respond_bytes (message, "image/jpeg", jpeg);
  else
    watch_respond_error (message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "encoding failed");
  soup_server_message_unpause (message);
  g_object_unref (message);
}

/* The last frame of a camera as JPEG. */
static void
handle_live_picture (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name, GHashTable *query)
{
  const JpegLook look = get_number (query, "foreground", 0, 0, 1) ? JPEG_FOREGROUND
                        : get_number (query, "boxes", 1, 0, 1)    ? JPEG_BOXES
                                                                  : JPEG_PLAIN;
  gint width = get_number (query, "width", 0, 0, 8192);

  soup_server_message_pause (message);
  switch (
      watch_live_request (self->live, name, look, width, send_picture, g_object_ref (message))) {
  case WATCH_LIVE_TAKEN:
    return;
  case WATCH_LIVE_NO_FRAME:
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no frame of such a camera");
    break;
  case WATCH_LIVE_BUSY:
    watch_respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "too many pictures at a time");
    break;
  }
  soup_server_message_unpause (message);
  g_object_unref (message);
}

static void
handle_counts (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name, GHashTable *query)
{
  guint seconds = get_number (query, "seconds", 600, 1, WATCH_HISTORY_SECONDS);

  watch_respond_json (message,
      watch_api_counts (self->history, name, seconds, get_number (query, "points", 300, 1, 2000)));
}

static void
handle_traffic (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name, GHashTable *query)
{
  const guint longest = WATCH_TRAFFIC_SECONDS;
  const guint seconds = get_number (query, "seconds", longest, 60, longest);
  const guint step = get_number (query, "step", 60, 60, longest);
  g_autofree gchar *csv = watch_traffic_csv (self->traffic, name, seconds, step / 60 * 60);

  watch_respond (message, SOUP_STATUS_OK, "text/csv; charset=utf-8", csv);
}

static void
handle_stream (WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name)
{
  if (watch_http_access_check_origin (self->access, message))
    watch_http_stream_open (message, self->streams, name);
}

static void
handle_arming (WatchHttpRoutes *self, SoupServerMessage *message, const gchar *name)
{
  if (soup_server_message_get_method (message) == SOUP_METHOD_PUT)
    watch_http_arm_camera (message, self->watch, name);
  else
    watch_respond_wrong_method (message, "PUT");
}

/* /api/cameras, /api/cameras/NAME, and its arming, picture, stream, counts and traffic.csv */
static void
handle_cameras (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_auto (GStrv) parts = g_strsplit (rest, "/", 3);
  guint n = g_strv_length (parts);

  if (n == 0)
    list_cameras (self, message);
  else if (n == 1)
    handle_one_camera (self, message, parts[0]);
  else if (n == 2 && g_str_equal (parts[1], "arming"))
    handle_arming (self, message, parts[0]);
  else if (watch_http_is_change (message))
    watch_respond_wrong_method (message, "GET, HEAD");
  else if (n == 2 && g_str_equal (parts[1], "picture"))
    handle_live_picture (self, message, parts[0], query);
  else if (n == 2 && g_str_equal (parts[1], "stream"))
    handle_stream (self, message, parts[0]);
  else if (n == 2 && g_str_equal (parts[1], "counts"))
    handle_counts (self, message, parts[0], query);
  else if (n == 2 && g_str_equal (parts[1], "traffic.csv"))
    handle_traffic (self, message, parts[0], query);
  else
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such resource");
}

/* Everything else */

static void
handle_events (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  const gchar *kinds = get_text (query, "kinds"), *after = get_text (query, "after");
  g_auto (GStrv) list = kinds ? g_strsplit (kinds, ",", 0) : NULL;

  watch_respond_json (
      message, watch_api_events (self->watch, self->history, get_text (query, "camera"),
                   (const gchar *const *)list, after ? g_ascii_strtoull (after, NULL, 10) : 0,
                   get_number (query, "limit", 50, 1, 1000)));
}

/* A time such as 2026-11-27T08:00:00Z; 0 if there is none. FALSE if it is no time. */
static gboolean
get_time (GHashTable *query, const gchar *name, gint64 *utc)
{
  const gchar *text = get_text (query, name);

  *utc = 0;
  return !text || watch_parse_time (text, utc);
}

static void
handle_objects (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  WatchObjectQuery wanted = {
      .camera = get_text (query, "camera"),
      .place = get_text (query, "region"),
      .limit = get_number (query, "limit", 100, 1, 2000),
  };

  if (!get_time (query, "from", &wanted.from) || !get_time (query, "to", &wanted.to))
    watch_respond_error (
        message, SOUP_STATUS_BAD_REQUEST, "from and to must be times such as 2026-11-27T08:00:00Z");
  else
    watch_respond_json (message, watch_api_objects (self->watch, self->objects, &wanted));
}

static void
handle_settings (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  watch_respond_json (message, watch_api_live_settings ());
}

static void
handle_outputs (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  watch_respond_json (message, watch_api_outputs (self->watch));
}

static void
handle_metrics (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_autofree gchar *text = watch_metrics (self->watch);

  watch_respond (message, SOUP_STATUS_OK, "text/plain; version=0.0.4; charset=utf-8", text);
}

static void
handle_health (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  if (watch_is_healthy (self->watch))
    watch_respond (message, SOUP_STATUS_OK, "text/plain; charset=utf-8", "ok\n");
  else
    watch_respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "the program ends");
}

static void
handle_login (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  watch_http_access_login (self->access, message);
}

static void
handle_logout (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  watch_http_access_logout (message);
}

static void
handle_session (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  watch_respond_json (message, watch_http_access_describe (self->access, message));
}

/* The file, or with `from` and `to` a part of the clip. */
static void
send_media (SoupServerMessage *message, WatchFolder *folder, const gchar *name, GHashTable *query)
{
  gint64 from, to;

  if (!get_time (query, "from", &from) || !get_time (query, "to", &to) || !from != !to || from > to)
    watch_respond_error (message, SOUP_STATUS_BAD_REQUEST,
        "from and to must be times such as 2026-11-27T08:00:00Z, the earlier one first");
  else
    watch_http_media_send (message, folder, name, from, to);
}

static void
handle_media (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (self->watch);

  if (!watch_http_is_change (message))
    send_media (message, folder, rest, query);
  else if (soup_server_message_get_method (message) == SOUP_METHOD_PUT)
    watch_http_media_keep (message, folder, rest);
  else
    watch_respond_wrong_method (message, "GET, HEAD, PUT");
}

/* The page's files. */
static void
handle_page (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *rest, GHashTable *query)
{
  const gchar *name = *rest ? rest : "index.html";
  g_autofree gchar *path = g_strdup_printf (HTTP_RESOURCES "/%s", name);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  const gchar *type = "text/html; charset=utf-8";

  if (!bytes) {
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such resource");
    return;
  }
  if (g_str_has_suffix (name, ".js"))
    type = "text/javascript; charset=utf-8";
  else if (g_str_has_suffix (name, ".css"))
    type = "text/css; charset=utf-8";
  else if (g_str_has_suffix (name, ".svg"))
    type = "image/svg+xml";
  watch_respond_bytes (message, type, bytes);
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
    {"/api/settings", handle_settings},
    {"/api/objects", handle_objects},
    {"/api/outputs", handle_outputs},
    {"/api/login", handle_login, TRUE, TRUE},
    {"/api/logout", handle_logout, TRUE, TRUE},
    {"/api/session", handle_session},
    {"/media", handle_media, FALSE, TRUE},
    {"/metrics", handle_metrics},
    {"/healthz", handle_health, TRUE},
    {"", handle_page, TRUE},
};

void
watch_http_routes_handle (
    WatchHttpRoutes *self, SoupServerMessage *message, const gchar *path, GHashTable *query)
{
  guint r = 0;
  const gchar *rest;

  for (;; r++) {
    rest = path + strlen (routes[r].path);
    if (g_str_has_prefix (path, routes[r].path) && (*rest == '/' || *rest == '\0'))
      break;
  }
  rest += *rest == '/';
  if (!watch_http_access_check (self->access, message, routes[r].public))
    return;
  if (watch_http_is_change (message) && !routes[r].changes)
    watch_respond_wrong_method (message, "GET, HEAD");
  else
    routes[r].handler (self, message, rest, query);
}

WatchHttpRoutes *
watch_http_routes_new (Watch *watch)
{
  WatchHttpRoutes *self = g_new0 (WatchHttpRoutes, 1);

  self->watch = watch;
  self->access = watch_http_access_new (
      watch_get_config (watch)->http_token, watch_get_config (watch)->read_token);
  self->history = watch_history_new (watch);
  self->objects = watch_objects_new (watch);
  self->traffic = watch_traffic_new (watch);
  self->files[0] = watch_history_file_new (watch, self->history);
  self->files[1] = watch_objects_file_new (watch, self->objects);
  self->files[2] = watch_traffic_file_new (watch, self->traffic);
  self->live = watch_live_new (watch);
  self->streams = watch_streams_new (watch);
  return self;
}

gboolean
watch_http_routes_free (WatchHttpRoutes *self, gint64 until)
{
  watch_streams_free (self->streams);
  watch_live_free (self->live);
  for (guint i = 0; i < G_N_ELEMENTS (self->files); i++)
    watch_line_file_stop (self->files[i]);
  for (guint i = 0; i < G_N_ELEMENTS (self->files); i++)
    if (!watch_line_file_free (self->files[i], until))
      return FALSE;
  watch_history_free (self->history);
  watch_objects_free (self->objects);
  watch_traffic_free (self->traffic);
  watch_http_access_free (self->access);
  g_free (self);
  return TRUE;
}
