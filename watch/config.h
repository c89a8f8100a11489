/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration, from command line and configuration file. */
#pragma once

#include <gio/gio.h>

#define WATCH_CONFIG_ERROR (watch_config_error_quark ())
GQuark watch_config_error_quark (void);

/* Sets the error and returns FALSE. */
gboolean watch_fail (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

typedef enum {
  WATCH_RESULTS_COMPONENTS, /* a line per frame, without tracks */
  WATCH_RESULTS_TRACKS,     /* a line per frame, and event lines of tracks */
  WATCH_RESULTS_EVENTS,     /* event lines alone */
} WatchResults;

/* One camera; the group [camera NAME] of the file. Immutable and reference-counted, so that all
 * threads may read it. */
typedef struct {
  gchar *name;            /* letters, digits, '.', '_' and '-' */
  gchar *uri;             /* with credentials: never show it, use watch_redact() */
  WatchResults results;   /* key `results` */
  gboolean pace;          /* key `pace`: a file is played at its own speed, like a camera */
  gboolean loop;          /* key `loop`: a file begins again at its end */
  gdouble timeout;        /* key `timeout`, seconds without a frame until the camera is silent */
  gdouble frozen;         /* key `frozen`, seconds of identical frames; 0 = not checked */
  gdouble max_fps;        /* key `max-fps`, frames per second that are labelled; 0 = all */
  gdouble retry_min;      /* key `retry-min`, seconds until the first attempt to connect again */
  gdouble retry_max;      /* key `retry-max`, and the most seconds between attempts */
  GHashTable *keys;       /* as they were given, text → text */
  GHashTable *properties; /* "ELEMENT.PROPERTY" → text, for instance "ccl.min-area" → "200" */

  /* Pictures and clips. */
  gboolean pictures;      /* key `pictures` */
  gboolean picture_boxes; /* key `picture-boxes` */
  gboolean clips;         /* key `clips` */
  gdouble clip_pre;       /* key `clip-pre`, seconds before the motion */
  gdouble clip_post;      /* key `clip-post`, seconds after the motion */
} WatchCameraConfig;

WatchCameraConfig *watch_camera_config_ref (WatchCameraConfig *config);
void watch_camera_config_unref (WatchCameraConfig *config);
gboolean watch_camera_config_equal (const WatchCameraConfig *a, const WatchCameraConfig *b);

/* Reads a camera from key/value pairs as they stand in a group of the file (`uri` is required;
 * keys as above, others are "ELEMENT.PROPERTY"). The error's message is one line without
 * credentials. For the HTTP interface: text → text. */
WatchCameraConfig *watch_camera_config_new (const gchar *name, GHashTable *keys, GError **error);

/* One output; the group [output NAME] of the file. */
typedef struct {
  gchar *name;
  gchar *uri;          /* "-", a path, tcp://, mqtt://, mqtts:// or kafka:// */
  GHashTable *options; /* the other keys of the group, text → text */
} WatchOutputConfig;

typedef struct {
  GPtrArray *cameras; /* WatchCameraConfig */
  GPtrArray *outputs; /* WatchOutputConfig */
  gchar *device;      /* "auto", "cpu", "gpu", or the number of a GPU */

  /* HTTP server; NULL without one. */
  gchar *http;       /* "ADDRESS:PORT" */
  gchar *http_token; /* NULL if none is required */

  /* Where pictures and clips are stored, and how long. NULL: nowhere. */
  gchar *folder;
  gdouble keep_days;  /* key `keep-days`; 0 = for ever */
  guint64 keep_bytes; /* key `keep-bytes`, of all files together; 0 = no limit */

  gchar *state; /* where changes of cameras are kept (changes.h); NULL: in memory alone */
} WatchConfig;

WatchOutputConfig *watch_output_config_new (const gchar *name, const gchar *uri);
void watch_output_config_free (WatchOutputConfig *config);

/* Sizes such as "100M", durations such as "7d". */
gboolean watch_parse_size (const gchar *text, guint64 *bytes, GError **error);
gboolean watch_parse_duration (const gchar *text, gdouble *seconds, GError **error);

WatchConfig *watch_config_new (void); /* no camera, no output */
void watch_config_free (WatchConfig *config);

/* Sets a key of the group [ccl-watch]. */
gboolean watch_config_set (
    WatchConfig *config, const gchar *key, const gchar *value, GError **error);

/* Reads a file of groups and keys. Refuses one that other users may read if it holds a password or
 * a token. NULL and a message of one line if something is wrong. */
GKeyFile *watch_key_file_load (const gchar *path, GError **error);
/* The keys of a group, text → text, and those of `defaults` (or NULL) that it does not have. */
GHashTable *watch_key_file_get_keys (
    GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error);

/* Reads a configuration file by watch_key_file_load(). */
WatchConfig *watch_config_load (const gchar *path, GError **error);
