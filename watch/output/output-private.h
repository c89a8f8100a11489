/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What output.c, which implements output.h, and output-thread.c share. */
#pragma once

#include "watch/system/heartbeat.h"
#include "event-kinds.h"
#include "output.h"

#define WATCH_OUTPUT_POLL_INTERVAL (50 * G_TIME_SPAN_MILLISECOND)
#define WATCH_OUTPUT_RETRY_MIN (G_TIME_SPAN_SECOND / 4)

struct _WatchOutput {
  gchar *name;
  gchar *uri; /* without credentials */
  GHashTable *options;
  GHashTable *used_options;
  const WatchOutputClass *class;
  gpointer destination;
  guint capacity;
  gdouble stuck_after; /* seconds without progress */
  gboolean wants_events_alone;
  WatchEventKinds wanted, taken; /* kinds that the configuration wants, and that the destination
                                    takes for itself: it gets the lines of both */

  GMutex lock;
  GCond changed; /* the queue, a flag, or a count */
  WatchLineQueue lines;
  GHashTable
      *pictures; /* name of the camera → GBytes, the last one, which waits; NULL: not wanted */
  WatchCommandFunc command; /* or NULL */
  gpointer command_data;
  gboolean reopen, ended, abandoned, closed, finished;
  gboolean connected;
  gint64 progress_time; /* when a connection was made, a line left, or a line entered an empty
                           queue: the latest of these */
  gchar *refusal;       /* why the last line was refused; NULL after it was reported */

  /* Of watch_output_report(), and guarded by the lock. */
  gint64 check_time;       /* its last call */
  gboolean stuck, stalled; /* what it found */
  guint64 n_reported;      /* of the dropped lines */
  gint64 drop_report_time;

  /* Of the thread. */
  WatchHeartbeat *heartbeat;
  gboolean is_open, is_ending;
  gchar *trouble; /* the last failure, until it works again */
  gint64 open_time, retry_time, retry_delay;
  WatchLine *first_line; /* that was not acknowledged when the last connection was lost */
  guint n_hang_ups;      /* connections that were lost with this line as the first one */
};

/* The thread; the data is a reference to the output. */
gpointer watch_output_run (gpointer data);
