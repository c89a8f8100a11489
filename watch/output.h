/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An output: a bounded queue of lines, and a thread that delivers them to a destination. */
#pragma once

#include "config.h"
#include "watch.h"

typedef struct _WatchOutput WatchOutput;

typedef struct {
  gchar *text; /* a JSON object and a newline */
  gsize length;
  gchar *camera; /* its name: the key of the message, where a broker has keys */
} WatchLine;

WatchLine *watch_line_new (const gchar *text, gsize length, const gchar *camera);
WatchLine *watch_line_ref (WatchLine *line);
void watch_line_unref (WatchLine *line);

typedef enum {
  WATCH_SEND_DELIVERED, /* the line is written */
  WATCH_SEND_PENDING,   /* watch_output_acknowledge() follows */
  WATCH_SEND_AGAIN,     /* not now: the same line is given again a little later */
  WATCH_SEND_FAILED,    /* the connection is lost: open() and the same line follow */
  WATCH_SEND_CLOSED,    /* nothing can ever be sent again */
} WatchSend;

/* A kind of destination. All functions but new() and free() are called in the output's thread. */
typedef struct {
  /* Reads the configuration and connects nothing. */
  gpointer (*new) (WatchOutput *output, const WatchOutputConfig *config, GError **error);
  void (*free) (gpointer self);
  /* Connects; called again after WATCH_SEND_FAILED. At most a few seconds. */
  gboolean (*open) (gpointer self, GError **error);
  void (*close) (gpointer self);
  WatchSend (*send) (gpointer self, const WatchLine *line, GError **error);
  /* Called several times a second; may be NULL. */
  void (*poll) (gpointer self);
  /* FALSE while sent lines may still be on their way. May be NULL. */
  gboolean (*flush) (gpointer self);
  /* SIGHUP; may be NULL. */
  void (*reopen) (gpointer self);
} WatchOutputClass;

extern const WatchOutputClass watch_output_file; /* and the standard output */
extern const WatchOutputClass watch_output_tcp;
extern const WatchOutputClass watch_output_mqtt;
extern const WatchOutputClass watch_output_kafka;

/* Whether watch_output_new() would accept the configuration. */
gboolean watch_output_check (const WatchOutputConfig *config, GError **error);

/* The thread holds a reference until it ends, after watch_output_end() or watch_output_abandon().
 */
WatchOutput *watch_output_new (const WatchOutputConfig *config, GError **error);
WatchOutput *watch_output_ref (WatchOutput *output);
void watch_output_unref (WatchOutput *output);

/* Adds a line. If the queue is full, the oldest line is dropped, or, with `cancelled` not NULL, the
 * call waits until there is room or `*cancelled` becomes nonzero. */
void watch_output_push (WatchOutput *output, WatchLine *line, gint *cancelled);

/* Lines sent as WATCH_SEND_PENDING arrived. Any thread. */
void watch_output_acknowledge (WatchOutput *output, guint n_lines);
/* Lines sent as WATCH_SEND_PENDING will never arrive. Any thread. */
void watch_output_lose (WatchOutput *output, guint n_lines, const gchar *reason);
/* The connection is there or not, for destinations that notice by themselves. Any thread. */
void watch_output_set_connected (WatchOutput *output, gboolean connected);

void watch_output_reopen (WatchOutput *output);

/* No line is accepted any more; those that wait are delivered. */
void watch_output_end (WatchOutput *output);
/* The thread ends without delivering the waiting lines. */
void watch_output_abandon (WatchOutput *output);
/* Whether the thread ended, after watch_output_end(), until the monotonic time. */
gboolean watch_output_wait (WatchOutput *output, gint64 until);

void watch_output_get_status (WatchOutput *output, WatchOutputStatus *status);
/* Adds the lines of a camera to the counts. */
void watch_output_add_counts (WatchOutput *output, const gchar *camera, WatchLineCounts *counts);
/* Whether it is broken for ever: a standard output that nobody reads. */
gboolean watch_output_is_closed (WatchOutput *output);

/* For destinations: an option of the group, taken from the set of unknown ones. */
const gchar *watch_output_option (WatchOutput *output, const gchar *key);
guint watch_output_capacity (WatchOutput *output);
const gchar *watch_output_name (WatchOutput *output);
