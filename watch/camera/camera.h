/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One camera: a pipeline of its own, run by a thread of its own, and connected again for as long
 * as the camera exists. All functions may be called in any thread. */
#pragma once

#include <gst/gst.h>
#include <json-glib/json-glib.h>

#include "watch/config/arming.h"
#include "watch/config/config-camera.h"

typedef struct _WatchCamera WatchCamera;

typedef enum {
  WATCH_STATE_CONNECTING, /* the first connection has no frame yet */
  WATCH_STATE_PLAYING,
  WATCH_STATE_LOST,       /* the connection failed or ended; another follows */
  WATCH_STATE_SILENT,     /* connected, but no frame within the timeout */
  WATCH_STATE_FROZEN,     /* frames arrive, all of them identical */
  WATCH_STATE_GARBAGE,    /* data arrive that cannot be decoded */
  WATCH_STATE_OVERLOADED, /* the machine is too slow: many frames are skipped */
  WATCH_STATE_RESIZED,    /* frames have another size than before; `playing` follows */
  WATCH_STATE_ENDED,      /* the file was read to its end */
  WATCH_STATE_STUCK,      /* the camera's thread does not answer */
  WATCH_N_STATES
} WatchState;

/* "connecting", "playing", ... */
const gchar *watch_state_name (WatchState state);

/* Upper bounds of the latency histogram in seconds; the last bucket, without a bound, follows. */
#define WATCH_N_LATENCIES 10
extern const gdouble watch_latencies[WATCH_N_LATENCIES];

typedef struct {
  WatchState state;
  gint64 since;          /* time of the last change of state, microseconds since 1970, UTC */
  gchar *detail;         /* reason of the state, without credentials; may be NULL */
  gchar *uri;            /* without credentials */
  const gchar *labeller; /* "ccl" or "cudaccl"; NULL before the first connection */
  const gchar *decoder;  /* the element that decodes; NULL before the first frame */
  gint gpu;              /* the number of the labeller's GPU; -1 without one */
  gboolean has_stream;   /* H.264 arrives at its own speed, so that a browser can play it */
  gint width, height;    /* of the last frame, in pixels; 0 before the first */
  gdouble fps;           /* over the last five seconds */
  guint64 n_frames;      /* labelled since the program started */
  guint64 n_skipped; /* frames that were not labelled, because of max-fps or of a slow machine */
  guint64 n_late;    /* of the skipped ones: because of a slow machine */
  guint64 n_reconnects;
  gdouble backlog; /* seconds by which the decoder is behind the arrival of the data */
  gdouble age; /* seconds since the last labelled frame arrived, or since the camera was added */
  guint n_waiting;    /* decoded frames that wait for the labeller */
  guint n_components; /* in the last frame */
  gboolean motion;
  gboolean is_armed;  /* it raises alerts */
  const gchar *scene; /* watch_scene_after() */
  gdouble latency;    /* of the last frame, seconds from its arrival to its line */
  guint64 latency_counts[WATCH_N_LATENCIES + 1]; /* frames per bucket, not cumulative */
  gdouble latency_sum;                           /* of all frames, seconds */
} WatchStatus;

void watch_camera_get_status (WatchCamera *camera, WatchStatus *status);
void watch_status_clear (WatchStatus *status);

WatchCamera *watch_camera_ref (WatchCamera *camera);
void watch_camera_unref (WatchCamera *camera);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchCamera, watch_camera_unref)
const gchar *watch_camera_get_name (WatchCamera *camera);
/* The camera was removed; until its thread ends, its last events still come. */
void watch_camera_set_removed (WatchCamera *camera);
gboolean watch_camera_is_removed (WatchCamera *camera);
/* Returns a reference. */
WatchCameraConfig *watch_camera_get_config (WatchCamera *camera);

/* How a camera or one of its regions is armed. */
typedef struct {
  gchar *region; /* or line; "": the camera */
  gboolean is_on;
  WatchArmingMode mode;
  gint64 paused_until; /* microseconds since 1970, UTC; 0: it is not paused */
} WatchArmingStatus;

/* WatchArmingStatus of the camera, then of the regions and lines of its last frame; free with
 * g_array_unref(). */
GArray *watch_camera_get_arming (WatchCamera *camera);
/* Adds such a list to the object that is open; format() gives the text of a time, to be freed. */
typedef gchar *(*WatchFormatTime) (gint64 utc);
void watch_camera_add_arming (JsonBuilder *builder, const GArray *list, WatchFormatTime format);
/* Sets by hand what is armed: name of a region or line, or "" for the camera → WatchArming, of what
 * is not as the schedule says. Takes the table, which nobody changes any more; it may be NULL. */
void watch_camera_set_arming (WatchCamera *camera, GHashTable *arming);

/* The next frames have the foreground mask, for some seconds after the last call. It costs time. */
void watch_camera_attach_mask (WatchCamera *camera);

/* The last labelled frame with its GstCclMeta, in host or CUDA memory; NULL before the first. Keep
 * it briefly: it holds a buffer of the decoder. */
GstSample *watch_camera_get_frame (WatchCamera *camera);

typedef struct {
  const gchar *kind;   /* "motion-begin", "motion-end", "state", "appeared", "vanished", ... */
  const gchar *camera; /* its name */
  gint64 utc;          /* microseconds since 1970 */
  GstClockTime running_time;
  GstSample *frame;  /* the frame of the event, with components; NULL for "state" and tracks */
  const gchar *line; /* the JSON object that was written, without the newline */
  gboolean is_muted; /* the camera or the region is not armed: no alert, and no line was written */
} WatchEvent;

/* Called in threads of cameras, so functions must be fast and thread-safe. Arguments belong to the
 * caller. Any of the functions may be NULL. */
typedef struct {
  void (*event) (gpointer data, WatchCamera *camera, const WatchEvent *event);
  /* Each encoded frame in decoding order, also those that are not decoded because the machine is
   * too slow, with its caps (video/x-h264, video/x-h265, image/jpeg, ...). `running_time` is that
   * of the buffer's DTS or PTS: negative where a file's first decoding times are before its
   * beginning, GST_CLOCK_STIME_NONE if unknown. */
  void (*encoded) (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
      GstClockTimeDiff running_time);
  /* The same of the stream that is analysed, which may be another one than that which is recorded,
   * if it is H.264 and no file that is read faster than it plays. */
  void (*analysed) (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
      GstClockTimeDiff running_time);
  /* Each labelled frame. */
  void (*frame) (gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps,
      GstClockTime running_time);
  /* The JPEG of the best view of a track, which has vanished, and the time of that view. */
  void (*picture) (gpointer data, WatchCamera *camera, guint64 id, gint64 utc, GstBuffer *jpeg);
  /* The pipeline stopped: no `encoded`, `analysed` and `frame` until the next connection, whose
   * running time begins anew. */
  void (*stopped) (gpointer data, WatchCamera *camera);
  /* Whether something waits to be written, for which the program waits when all cameras ended. */
  gboolean (*is_busy) (gpointer data);
  /* The length of a queue of the observer, for the metrics, with their name and description. A
   * name that ends in "_total" is that of a counter. */
  gdouble (*queue_length) (gpointer data);
  const gchar *queue_metric, *queue_help;
  gpointer data;
} WatchObserver;
