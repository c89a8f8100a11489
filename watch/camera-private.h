/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files camera*.c, pipeline.c and the supervisor share. */
#pragma once

#include "../gst/gstcclutc.h"
#include "camera.h"

/* Of the supervisor; outlives the cameras. */
typedef struct {
  /* Takes a line to the outputs; with `cancelled` it waits for room in their queues. */
  void (*line) (
      gpointer data, WatchCamera *camera, const gchar *text, gsize length, gint *cancelled);
  /* A file was read to its end, or cannot be played. */
  void (*ended) (gpointer data, WatchCamera *camera, gboolean failed);
  gpointer data;
  GRWLock observers_lock;
  GPtrArray *observers;  /* const WatchObserver; guarded by its lock */
  const gchar *labeller; /* "ccl" or "cudaccl" */
  gint gpu;              /* its number; -1: cameras are spread over all GPUs */

  GMutex lock;
  GPtrArray *contexts; /* GstContext, guarded by the lock: shared by all pipelines */
} WatchHub;

#define WATCH_FPS_SECONDS 5

struct _WatchCamera {
  gchar *name;
  WatchHub *hub;
  WatchCameraConfig *config;
  gboolean is_file; /* it ends, and it may wait for the outputs */
  gboolean is_live; /* it cannot wait: a camera, or a file at its own speed */

  GMainContext *context;
  gint stopping; /* atomic */
  gint has_room; /* atomic: what a connection takes is reserved, see process-limits.h */
  GCond stopped;
  gboolean is_stopped; /* no thread runs; guarded by the lock */
  gint64 alive_time;   /* monotonic, guarded by the lock */

  /* The main thread takes it, too, to serve the web page: held only for a moment, and never while a
   * frame is freed, which may take seconds on a busy GPU. */
  GMutex lock;
  WatchStatus status;
  GstSample *frame;
  guint64 fps_counts[WATCH_FPS_SECONDS + 1]; /* frames in each of the last seconds */
  gint64 fps_second;                         /* the second of the latest count, monotonic */
  gint64 active_time;                        /* monotonic: of the connection or of the last frame */
  gint64 play_time; /* monotonic: of the connection's first frame; 0 before */
  guint n_data;     /* buffers that arrived since the last frame */
  gint pushing;     /* atomic: a line waits for room in an output */

  /* Of the camera's thread. */
  GstElement *pipeline;
  GSource *timer, *retry;
  guint n_attempts; /* without a lasting connection */

  /* Set before the streaming threads start. */
  GstElement *analysis; /* labeller, tracker, ccljson and appsink; used by each connection */
  GstElement *queue;    /* in front of the labeller; the analysis holds it */
  GstElement *sink;     /* the appsink; the analysis holds it */
  gint cancelled;       /* atomic: lines must not wait, because the pipeline stops */

  /* Of the streaming thread behind the labeller. */
  const gchar *motion; /* "motion-begin" or "motion-end" of the frame on its way, or NULL */
  guint motion_count;
  GstClockTime arrival;      /* monotonic, of the frame on its way */
  GstClockTime next_time;    /* running time before which frames are skipped, for max-fps */
  guint64 checksum;          /* of an earlier frame */
  gint64 checksum_time;      /* monotonic, when it was computed */
  gint64 changed_time;       /* monotonic, when it was last another one */
  GstClockTime running_time; /* of the last frame */
  GstCclUtc utc;             /* of the last frame */
};

/* pipeline.c */

/* Makes the camera's analysis elements. NULL and an error if an element is missing. */
GstElement *watch_pipeline_new_analysis (WatchCamera *camera, GError **error);
/* A pipeline with the analysis elements in it; the caller starts it. */
GstElement *watch_pipeline_new (WatchCamera *camera);
/* Stops the pipeline, takes the analysis elements out and frees the rest. */
void watch_pipeline_free (WatchCamera *camera, GstElement *pipeline);

/* camera.c, called by the supervisor */

WatchCamera *watch_camera_new (WatchCameraConfig *config, WatchHub *hub);
/* Starts the thread, unless it runs. If the limits of the process do not allow it, the camera is
 * lost, and the function may be called again. Main thread only. */
void watch_camera_start (WatchCamera *camera);
/* Tells the thread to stop; returns at once. */
void watch_camera_stop (WatchCamera *camera);
/* Whether the thread stopped until the monotonic time. */
gboolean watch_camera_wait (WatchCamera *camera, gint64 until);

/* Microseconds since the thread last did something; 0 without a thread. */
gint64 watch_camera_get_silence (WatchCamera *camera);

/* The connection has all that it takes, or ended. */
void watch_camera_release_room (WatchCamera *camera);

/* camera-status.c */

/* Keeps the frame, which it takes, or none, in place of the one before. */
void watch_camera_set_frame (WatchCamera *camera, GstSample *frame);
/* Decoded frames wait for the labeller. */
void watch_camera_set_waiting (WatchCamera *camera, guint n_waiting);
/* Keeps the frame and counts it. TRUE if its size is another than before. */
gboolean watch_camera_store_frame (WatchCamera *camera, GstSample *sample, guint n_components);
/* Whether no frame of this connection was stored yet. */
gboolean watch_camera_is_first_frame (WatchCamera *camera);
/* Counts the time since the arrival of the frame on its way. */
void watch_camera_count_latency (WatchCamera *camera);

/* camera-lines.c */

/* Changes the state and emits its event, unless it is the same. `detail` may be NULL and hold
 * credentials, which are removed. */
void watch_camera_set_state (WatchCamera *camera, WatchState state, const gchar *detail);
/* The labeller reported the beginning or end of motion for the frame on its way. */
void watch_camera_motion (WatchCamera *camera, const gchar *kind, guint count);
/* Emits the motion that was reported, if any. `frame` is its frame; NULL at the end of the stream.
 */
void watch_camera_emit_motion (WatchCamera *camera, GstSample *frame);
/* A line of ccljson: of a frame or of an event. */
void watch_camera_line (WatchCamera *camera, const gchar *text, gsize length, gboolean is_frame,
    GstClockTime running_time);

/* camera-frames.c, called by pipeline.c in streaming threads */

/* Data arrived, which may be of a frame. */
void watch_camera_data (WatchCamera *camera);
void watch_camera_encoded (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTimeDiff running_time);
void watch_camera_frame (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time);
void watch_camera_frame_skipped (WatchCamera *camera);

/* Calls a function of all observers. watch_stop() removes them when it has waited long enough for a
 * camera, whose thread may go on. */
#define CALL_OBSERVERS(camera, function, ...)                                                      \
  do {                                                                                             \
    WatchHub *hub = (camera)->hub;                                                                 \
                                                                                                   \
    g_rw_lock_reader_lock (&hub->observers_lock);                                                  \
    for (guint i = 0; i < hub->observers->len; i++) {                                              \
      const WatchObserver *observer = g_ptr_array_index (hub->observers, i);                       \
                                                                                                   \
      if (observer->function)                                                                      \
        observer->function (observer->data, camera, ##__VA_ARGS__);                                \
    }                                                                                              \
    g_rw_lock_reader_unlock (&hub->observers_lock);                                                \
  } while (0)
