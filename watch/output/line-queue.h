/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of an output, and their counts. A line waits, is sent, and then is delivered, dropped,
 * or waits again because the connection ended first. Not thread-safe. */
#pragma once

#include <gio/gio.h>

/* Lines of one camera, in all outputs together. */
typedef struct {
  guint n_queued; /* lines that wait to be sent */
  guint64 n_dropped;
} WatchLineCounts;

typedef struct {
  gchar *text; /* a JSON object and a newline */
  gsize length;
  gchar *kind;      /* of the event; "" for a frame */
  gchar *camera;    /* its name: the key of the message, where a broker has keys */
  gint64 time;      /* when it was made, monotonic */
  gboolean is_past; /* it came before the output, which notes it and does not send it */
} WatchLine;

/* Lines are immutable and may be in several outputs. */
WatchLine *watch_line_new (const gchar *text, gsize length, const gchar *camera);
WatchLine *watch_line_new_past (const WatchLine *line);
WatchLine *watch_line_ref (WatchLine *line);
void watch_line_unref (WatchLine *line);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchLine, watch_line_unref)

/* The event's name in the text of a line, or "" for that of a frame; free with g_free(). */
gchar *watch_line_get_kind (const gchar *text);

typedef struct {
  GQueue waiting;      /* WatchLine, the oldest first */
  GQueue sent;         /* the same */
  GHashTable *links;   /* line in `sent` → its GList */
  GHashTable *cameras; /* name → WatchLineCounts */
  guint64 n_delivered, n_dropped;
} WatchLineQueue;

void watch_line_queue_init (WatchLineQueue *queue);
void watch_line_queue_clear (WatchLineQueue *queue);

/* Lines that wait or were sent. */
guint watch_line_queue_length (const WatchLineQueue *queue);

/* Adds a reference to the line. A line can be in a queue once. */
void watch_line_queue_push (WatchLineQueue *queue, WatchLine *line);
/* Counts a line that is not in the queue as dropped. */
void watch_line_queue_refuse (WatchLineQueue *queue, const WatchLine *line);
/* Drops the oldest line that waits. */
void watch_line_queue_drop_oldest (WatchLineQueue *queue);
/* Drops all lines, sent ones, too. */
void watch_line_queue_drop_all (WatchLineQueue *queue);

/* The oldest line that waits is now sent. It stays the queue's. NULL if none waits. */
const WatchLine *watch_line_queue_send (WatchLineQueue *queue);
/* The functions below ignore a line that was not sent. */
void watch_line_queue_deliver (WatchLineQueue *queue, const WatchLine *line);
void watch_line_queue_drop (WatchLineQueue *queue, const WatchLine *line);
/* The line waits again, before all others. */
void watch_line_queue_take_back (WatchLineQueue *queue, const WatchLine *line);
/* All sent lines wait again, in their order, before all others. */
void watch_line_queue_take_back_all (WatchLineQueue *queue);

/* Adds the lines of a camera to the counts. */
void watch_line_queue_add_counts (
    const WatchLineQueue *queue, const gchar *camera, WatchLineCounts *counts);
