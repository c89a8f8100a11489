/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration, from command line and configuration file. */
#pragma once

#include <gio/gio.h>

#include "config-camera.h"
#include "watch/system/config-values.h"
#include "web-rules.h"

/* One output; the group [output NAME] of the file. */
typedef struct {
  gchar *name;
  gchar *uri;          /* "-", a path, tcp://, mqtt(s)://, kafka:// or http(s):// */
  GHashTable *options; /* the other keys of the group, text → text */
} WatchOutputConfig;

typedef struct {
  GPtrArray *cameras; /* WatchCameraConfig */
  GPtrArray *outputs; /* WatchOutputConfig */
  gchar *device;      /* "auto", "cpu", "gpu", or the number of a GPU */

  /* HTTP server; NULL without one. */
  gchar *http;          /* "ADDRESS:PORT" */
  gchar *http_token;    /* NULL if none is required */
  gchar *read_token;    /* key `read-token`: of clients that change nothing; or NULL */
  gdouble http_timeout; /* key `http-timeout`, seconds without progress until a client is dropped */

  WatchWebRules *web_rules; /* what cameras from the page may name */
  GPtrArray *hosts;         /* gchar *: of cameras and outputs, without those from the page */

  /* Where pictures and clips are stored, and how long. NULL: nowhere. */
  gchar *folder;
  gdouble keep_days;  /* key `keep-days`; 0 = for ever */
  guint64 keep_bytes; /* key `keep-bytes`, of all files together; 0 = no limit */

  gchar *state; /* where changes of cameras are kept (changes.h); NULL: in memory alone */
} WatchConfig;

WatchOutputConfig *watch_output_config_new (const gchar *name, const gchar *uri);
void watch_output_config_free (WatchOutputConfig *config);

WatchConfig *watch_config_new (void); /* no camera, no output */
void watch_config_free (WatchConfig *config);

/* The set of the cameras' names; free with g_hash_table_unref(). */
GHashTable *watch_config_get_camera_names (const WatchConfig *config);

/* Sets a key of the group [ccl-watch]. */
gboolean watch_config_set (
    WatchConfig *config, const gchar *key, const gchar *value, GError **error);

/* Reads a configuration file by watch_key_file_load(). */
WatchConfig *watch_config_load (const gchar *path, GError **error);
