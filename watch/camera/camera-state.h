/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files camera*.c, pipeline.c and the supervisor share. */
#pragma once

#include <gst/ccl/ccl.h>

#include "watch/camera/motion/armed.h"
#include "camera.h"
#include "watch/camera/motion/motion.h"
#include "watch/system/heartbeat.h"
#include "watch/camera/stream/rate.h"
typedef struct _WatchRecord WatchRecord; /* record.h */

/* A time of day. */
typedef struct {
  gint64 time;          /* microseconds since 1970, UTC */
  gboolean from_sender; /* by the sender's clock; otherwise the time of arrival */
} WatchUtc;

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
  gdouble late_shares; /* the sum of the cameras' shares of late frames; guarded by the lock */
  guint n_late_shares; /* the number of these cameras */
} WatchHub;

/* The property `leaky` of a queue. */
enum { NOT_LEAKY = 0, LEAKY_DOWNSTREAM = 2 };

#define WATCH_FPS_SECONDS 5 /* of which the frames per second are the mean */

/* See backlog.h. Times are monotonic. */
typedef struct {
  gboolean has_source; /* it is known when packets arrive */
  gint64 arrival;      /* of the newest data */
  gint64 taken; /* arrival of the frame that went to the decoder last, or before, of the first
                   packets */
  gboolean is_skipping;
  gint64 skip_time;   /* when that began */
  gdouble share;      /* of late frames, as the hub knows it; below 0: it does not */
  gint64 share_time;  /* when that was told */
  gdouble preference; /* the share minus the mean of all cameras */
} WatchBacklog;

/* See sockets.h. Guarded by the lock of that file. */
typedef struct {
  guint number;       /* of the camera's connection; 0 without one */
  GPtrArray *sockets; /* GSocket that may be closed; NULL without a connection */
  gchar *host;        /* of the URI, or NULL */
  guint16 port;
  guint n_connections; /* since the connection began */
  gboolean is_shut_down;
  guint64 n_pushed; /* bytes that the source handed on */
  guint64 n_frames; /* at the last check */
  guint64 n_bytes;  /* received until the last frame */
} WatchSockets;

/* Why lines must not wait for room in the outputs. */
enum {
  WATCH_PIPELINE_STOPS = 1,
  WATCH_CAMERA_STOPS = 2, /* for ever */
};

/* Of any thread, guarded by the camera's lock. */
typedef struct {
  gboolean is_stopped; /* no thread of the camera runs */
  WatchStatus status;
  GstSample *frame;
  WatchRate labelled, late; /* frames; the late ones not in the first seconds of a connection */
  gint64 utc_offset;        /* of UTC to running time, microseconds */
  gint64 labelled_arrival;  /* monotonic: of the last labelled frame; at first of the camera */
  gint64 active_time;       /* monotonic: of the connection or of the last frame */
  gint64 play_time;         /* monotonic: of the connection's first frame; 0 before */
  guint n_data;             /* buffers that arrived since the last frame */
  gint64 data_time;         /* monotonic: when the last one arrived */
  GstClockTime key_time;    /* PTS of the last key frame of a stream that has others, too */
  gboolean has_other_frames;
  WatchBacklog backlog;
  GHashTable *arming; /* by watch_camera_set_arming(); or NULL */
  gchar **regions;    /* names of the last frame's regions and lines; or NULL */
  WatchArmed *armed;  /* what follows for now */
  GPtrArray *configs; /* all WatchCameraConfig that the camera has had: threads may use them */
} WatchLocked;

/* Of any thread, read and written by atomic operations alone. */
typedef struct {
  GThread *thread;         /* the camera's thread; only to be compared */
  gint has_room;           /* what a connection takes is reserved, see process-limits.h */
  gint is_stuck;           /* the supervisor reported that the thread does not answer */
  gint is_removed;         /* no configuration has the camera any more */
  gint cancelled;          /* flags WATCH_PIPELINE_STOPS and WATCH_CAMERA_STOPS */
  gint pushing;            /* a line waits for room in an output */
  gint has_failed_decoder; /* the one that the configuration asks for */
  gint quiet_time;         /* of the labeller, milliseconds */
  gint is_arming_new;      /* what is armed may have changed */
  gint mask_until;         /* seconds, monotonic: frames have the foreground mask */
  gint is_mask_followed;   /* the camera's thread will see when that is */
  gint is_decimated;       /* no more frames are decoded than max-fps allows */
} WatchAtomic;

/* Of the camera's thread. */
typedef struct {
  GstElement *pipeline;
  GSource *timer, *retry;
  WatchRecord *record;   /* of the stream `record-uri`, while there is a pipeline; or NULL */
  GCancellable *asking;  /* NULL unless the reason of a failure is being asked for */
  WatchState lost_state; /* of that failure */
  gchar *lost_detail;
  gint pipe;              /* the open file of a named pipe; -1 without one */
  GSource *pipe_source;   /* waits for its first data */
  guint n_attempts;       /* to connect, since the last connection that lasted */
  gint64 arming_time;     /* monotonic: when the schedule was followed last */
  gchar *reported_arming; /* what the last event says; NULL: there was none */
} WatchConnection;

/* Of the camera's thread; streaming threads read it, and while they run it stays. */
typedef struct {
  GstElement *elements; /* labeller, tracker, ccljson and appsink; used by each connection */
  GstElement *queue;    /* in front of the labeller; `elements` holds these three */
  GstElement *sink;     /* the appsink */
  GstElement *labeller;
  GstElement *track;               /* or NULL */
  const WatchCameraConfig *config; /* that the elements have */
} WatchAnalysis;

/* See damage.h. */
typedef struct {
  gpointer decoder; /* that got the last frame; only to be compared */
  gboolean awaits_key_frame;
  gint64 wait_time; /* monotonic: when that began */
} WatchDamage;

/* Of the streaming threads in front of the decoder (damage) and behind it; the camera's thread
 * resets it before they start. */
typedef struct {
  WatchDamage damage;
  GstClockTime next_time; /* running time before which frames are skipped, for max-fps */
} WatchDecoding;

/* Of the streaming thread behind the labeller; the camera's thread resets it before that starts. */
typedef struct {
  /* Of the frame on its way, or of the last one. */
  GstClockTime arrival; /* monotonic */
  GstClockTime running_time;
  WatchUtc utc;
  gboolean has_moving_components; /* the labeller says */
  gboolean has_frames;            /* of this connection */
  gdouble foreground_share;       /* of the picture, from 0 to 1 */
  WatchMotion motion;
  GstStructure *scene_change; /* or NULL; owned */

  /* Of frames that show one picture. Times are monotonic. */
  guint64 checksum;        /* of an earlier frame */
  gint64 checksum_time;    /* when it was computed */
  gint64 changed_time;     /* when it was last another one */
  guint64 key_checksum;    /* of the last key frame's picture; 0: none yet */
  gint64 key_changed_time; /* when it was last another one */
  guint n_same_keys;       /* since then */
} WatchDelivery;

/* Each member says which thread, or which lock, it belongs to. */
struct _WatchCamera {
  /* Of any thread: set when the camera is made. */
  gchar *name;
  WatchHub *hub;
  WatchCameraConfig *config; /* atomic: camera_config() */
  gboolean is_file;          /* it ends, and it may wait for the outputs */
  gboolean is_live;          /* it cannot wait: a camera, or a file at its own speed */
  GMainContext *context;
  WatchHeartbeat *heartbeat;

  /* The main thread takes it, too, to serve the web page: held only for a moment, and never while a
   * frame is freed, which may take seconds on a busy GPU. */
  GMutex lock;
  GCond stopped; /* locked.is_stopped is set */
  WatchLocked locked;
  WatchAtomic atomic;
  WatchSockets sockets;

  WatchConnection connection;
  WatchAnalysis analysis;
  WatchDecoding decoding;
  WatchDelivery delivery;
};

/* The present configuration. It may become another one at any time, and stays valid. */
static inline const WatchCameraConfig *
camera_config (WatchCamera *camera)
{
  return g_atomic_pointer_get (&camera->config);
}

/* pipeline.c */

/* Makes the camera's analysis elements. NULL and an error if an element is missing. */
GstElement *watch_pipeline_new_analysis (WatchCamera *camera, GError **error);
/* Gives the elements what is different in a configuration. Camera's thread. */
void watch_pipeline_change_analysis (WatchCamera *camera, const WatchCameraConfig *config);
/* Whether the frames have the foreground mask, which they have anyway if the configuration says so.
 * Camera's thread. */
void watch_pipeline_attach_mask (WatchCamera *camera, gboolean is_wanted);
/* A pipeline with the analysis elements in it, which plays the URI; the caller starts it. */
GstElement *watch_pipeline_new (WatchCamera *camera, const gchar *uri);
/* Ends the tracks, stops the pipeline, takes the analysis elements out and frees the rest. */
void watch_pipeline_free (WatchCamera *camera, GstElement *pipeline);

/* camera.c, called by the supervisor */

WatchCamera *watch_camera_new (WatchCameraConfig *config, WatchHub *hub);
/* Starts the thread, unless it runs. If the limits of the process do not allow it, the camera is
 * lost, and the function may be called again. Main thread only. */
void watch_camera_start (WatchCamera *camera);
/* Tells the thread to stop; returns at once. */
void watch_camera_stop (WatchCamera *camera);
/* Whether the thread stopped by the monotonic time. */
gboolean watch_camera_wait (WatchCamera *camera, gint64 until);

/* Whether the thread ends, or has ended. */
gboolean watch_camera_is_stopping (WatchCamera *camera);
/* Reports a thread that does not answer, by the camera's state. TRUE if it has not answered for so
 * long that another thread should do its work. Main thread only. */
gboolean watch_camera_check_thread (WatchCamera *camera);
/* The thread is left alone: from now on it does not count as stuck. */
void watch_camera_abandon (WatchCamera *camera);
/* The camera's own thread goes on. */
void watch_camera_note_alive (WatchCamera *camera);

/* Reserves what a connection takes. FALSE and an error if the limits of the process do not allow
 * it; the error may stay NULL while others connect. */
gboolean watch_camera_reserve_room (WatchCamera *camera, GError **error);
/* The connection has all that it takes, or ended. */
void watch_camera_release_room (WatchCamera *camera);
/* The camera must wait until a connection is possible; takes the error, which may be NULL. */
void watch_camera_report_limit (WatchCamera *camera, GError *error);

/* Runs a function in the camera's thread after a time in ms. */
GSource *watch_camera_call_later (WatchCamera *camera, guint delay, GSourceFunc function);
/* Destroys and frees the source, if there is one. */
void watch_camera_remove_source (GSource **source);
/* A file was read to its end, or nothing more is tried. `detail` may be NULL. */
void watch_camera_end (WatchCamera *camera, WatchState state, const gchar *detail);

/* camera-connection.c, called in the camera's thread */

/* Connects the camera, again and again until it is closed. */
gboolean watch_connection_open (gpointer camera);
void watch_connection_close (WatchCamera *camera);

/* camera-status.c */

/* Keeps the frame, which it takes, or none, in place of the one before. */
void watch_camera_set_frame (WatchCamera *camera, GstSample *frame);
/* Decoded frames wait for the labeller. */
void watch_camera_set_waiting (WatchCamera *camera, guint n_waiting);
/* Keeps the frame and counts it. TRUE if its size is another than before. */
gboolean watch_camera_store_frame (WatchCamera *camera, GstSample *sample, guint n_components);
/* Whether no frame of this connection was stored yet. */
gboolean watch_camera_is_first_frame (WatchCamera *camera);
/* With the camera's lock: which part of the last frames was not labelled because the machine is too
 * slow, from 0 to 1. */
gdouble watch_camera_get_late_share (WatchCamera *camera);
/* With the camera's lock: whether that is so much that the state should be `overloaded`. */
gboolean watch_camera_is_overloaded (WatchCamera *camera);
/* Counts the time since the arrival of the frame on its way. */
void watch_camera_count_latency (WatchCamera *camera);

/* camera-lines.c */

/* Changes the state and emits its event, unless it is the same. `detail` may be NULL and hold
 * credentials, which are removed. */
void watch_camera_set_state (WatchCamera *camera, WatchState state, const gchar *detail);
/* Emits the beginning or the end of a motion in a frame, which is NULL at the end of the stream. */
void watch_camera_emit_motion (
    WatchCamera *camera, gboolean begins, guint n_components, GstSample *frame);
/* Emits how the camera is armed, unless the last event says the same. */
void watch_camera_emit_arming (WatchCamera *camera);
/* The labeller reported a change of the scene for the frame on its way. */
void watch_camera_scene_change (WatchCamera *camera, const GstStructure *change);
/* Emits the change of the scene that was reported, if any, and returns whether there was one.
 * `frame` as above. */
gboolean watch_camera_emit_scene_change (WatchCamera *camera, GstSample *frame);
/* Emits the last line of a camera that was removed and has stopped. */
void watch_camera_emit_removed (WatchCamera *camera);
/* A line of ccljson: of a frame or of an event. */
void watch_camera_line (WatchCamera *camera, const gchar *text, gsize length, gboolean is_frame,
    GstClockTime running_time);

/* camera-config.c */

/* Whether it plays at its own speed and has not ended. Any other camera cannot change: a new one
 * takes its place. */
gboolean watch_camera_can_change (WatchCamera *camera);
/* Takes a configuration that differs from the present one only in keys of live-keys.h. */
void watch_camera_change (WatchCamera *camera, WatchCameraConfig *config);

/* camera-arming.c */

/* A reference. Any thread. */
WatchArmed *watch_camera_get_armed (WatchCamera *camera);

/* The regions and lines of a frame, which are mostly those of the frame before. */
void watch_camera_note_regions (WatchCamera *camera, const GstBuffer *buffer);

/* Follows the schedule and the end of a pause; emits an event where something changed. To be called
 * now and then by the camera's thread. */
void watch_camera_follow_arming (WatchCamera *camera);

/* Before the camera is freed. */
void watch_camera_clear_arming (WatchCamera *camera);

/* camera-motion.c, called in streaming threads, and by the camera's thread while there are none */

void watch_camera_begin_motion (WatchCamera *camera);
/* A frame with its components, before it has tracks. */
void watch_camera_note_foreground (WatchCamera *camera, GstBuffer *buffer);
/* Finds out whether a motion begins or ends with the frame on its way; `is_disturbed`: the scene
 * changes. */
void watch_camera_take_motion (WatchCamera *camera, GstSample *frame, gboolean is_disturbed);
/* The frames end, and so does a motion. */
void watch_camera_end_motion (WatchCamera *camera);

/* camera-frames.c, called by pipeline.c in streaming threads */

/* Data arrived, which may be of a frame. */
void watch_camera_data (WatchCamera *camera);
/* An encoded frame goes to the decoder. */
void watch_camera_note_key_frame (WatchCamera *camera, GstBuffer *buffer);
/* An encoded frame of the stream that is recorded; the time is that of the pipeline of the
 * analysis. */
void watch_camera_encoded (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTimeDiff running_time);
/* An encoded frame of the stream that is analysed. */
void watch_camera_analysed (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTimeDiff running_time);
void watch_camera_frame (
    WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time);
/* The message of cclsnapshot. In its thread. */
void watch_camera_picture (WatchCamera *camera, const GstStructure *message);
void watch_camera_frame_skipped (WatchCamera *camera);
/* A frame is skipped because the machine is too slow. */
void watch_camera_frame_late (WatchCamera *camera);

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
