/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of a camera. */
#pragma once

#include <gio/gio.h>

#include "schedule.h"

typedef enum {
  WATCH_RESULTS_COMPONENTS, /* a line per frame, without tracks */
  WATCH_RESULTS_TRACKS,     /* a line per frame, and event lines of tracks */
  WATCH_RESULTS_EVENTS,     /* event lines alone */
} WatchResults;

/* The key `deinterlace`. */
typedef enum {
  WATCH_DEINTERLACE_NEVER,
  WATCH_DEINTERLACE_AUTO,   /* frames that the stream calls interlaced */
  WATCH_DEINTERLACE_ALWAYS, /* all frames: some cameras do not tell */
} WatchDeinterlace;

/* One camera; the group [camera NAME] of the file. Immutable and reference-counted, so that all
 * threads may read it. */
typedef struct {
  gchar *version;       /* no other configuration of a camera has it, in no run of the program */
  gchar *name;          /* letters, digits, '.', '_' and '-' */
  gchar *uri;           /* with credentials: never show it, use watch_redact() */
  gchar *record_uri;    /* key `record-uri`: of the stream for clips; NULL: `uri`. As secret */
  gchar *decoder;       /* key `decoder` (decoder.h); NULL: auto */
  WatchResults results; /* key `results` */
  gboolean pace;        /* key `pace`: a file is played at its own speed, like a camera */
  gboolean loop;        /* key `loop`: a file begins again at its end */
  gdouble timeout;      /* key `timeout`, seconds without a frame until the camera is silent */
  gdouble frozen;       /* key `frozen`, seconds of identical frames; 0 = not checked */
  gdouble
      max_delay; /* key `max-delay`, seconds until a frame is too old to be decoded; 0 = none is */
  gdouble stuck; /* key `stuck`, seconds without an answer of the camera's thread */
  gdouble max_fps;              /* key `max-fps`, frames per second that are labelled; 0 = all */
  WatchDeinterlace deinterlace; /* key `deinterlace` */
  gchar *rotate;          /* key `rotate`: a value of videoflip's video-direction; NULL: none */
  gdouble retry_min;      /* key `retry-min`, seconds until the first attempt to connect again */
  gdouble retry_max;      /* key `retry-max`, and the most seconds between attempts */
  GHashTable *keys;       /* as they were given, text → text */
  GHashTable *properties; /* "ELEMENT.PROPERTY" → text, for instance "ccl.min-area" → "200" */

  /* Alerts. */
  WatchSchedule *schedule;      /* key `schedule`: when they are raised; NULL: always */
  GHashTable *region_schedules; /* keys `schedule.NAME`: name of a region → WatchSchedule */
  GTimeZone *time_zone;         /* key `time-zone`; without it, that of the machine */
  gboolean has_track_motion;    /* key `motion`: of tracks, not of components */
  gdouble least_motion;         /* key `least-motion`, seconds for which something must move */
  gdouble cooldown;             /* key `cooldown`, seconds after a motion in which none begins */
  gdouble settle_time; /* key `settle-time`, seconds after a change of the whole picture in which no
                          motion begins; below 0: as usual */
  gdouble most_motion; /* key `most-motion`, the share of the picture beyond which it is a change */

  /* Pictures and clips. */
  gboolean pictures;        /* key `pictures` */
  gboolean picture_boxes;   /* key `picture-boxes` */
  gboolean object_pictures; /* key `object-pictures`: of the best view of each object */
  gboolean clips;           /* key `clips` */
  gdouble clip_pre;         /* key `clip-pre`, seconds before the motion */
  gdouble clip_post;        /* key `clip-post`, seconds after the motion */
} WatchCameraConfig;

WatchCameraConfig *watch_camera_config_ref (WatchCameraConfig *config);
void watch_camera_config_unref (WatchCameraConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchCameraConfig, watch_camera_config_unref)
gboolean watch_camera_config_equal (const WatchCameraConfig *a, const WatchCameraConfig *b);

/* Reads a camera from key/value pairs as they stand in a group of the file (`uri` is required;
 * keys as above, others are "ELEMENT.PROPERTY"). The error's message is one line without
 * credentials. For the HTTP interface: text → text. */
WatchCameraConfig *watch_camera_config_new (const gchar *name, GHashTable *keys, GError **error);

/* The URI that a text stands for, which is a URI, the name of a device or the path of a file; free
 * with g_free(). Does not look at the file. */
gchar *watch_camera_uri (const gchar *text, GError **error);
