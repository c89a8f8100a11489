/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An output: a bounded queue of lines, and a thread that delivers them to a destination. */
#pragma once

#include "watch/config/config.h"
#include "line-queue.h"

typedef struct _WatchOutput WatchOutput;

/* Counters of one output. */
typedef struct {
  gchar *name;
  gchar *uri;         /* without credentials */
  gboolean connected; /* and it takes lines, if there are any */
  gboolean stuck; /* the disk or the reader hangs: it has not answered for the seconds of `stuck` */
  guint64 n_delivered; /* lines written, or acknowledged by the receiver */
  guint64 n_dropped;
  guint n_queued; /* lines that wait or are not acknowledged yet */
  gdouble age;    /* of the oldest of these lines, seconds; 0 if there is none */
  guint capacity;
} WatchOutputStatus;

typedef enum {
  WATCH_SEND_DELIVERED, /* the line is written */
  WATCH_SEND_PENDING,   /* watch_output_acknowledge() follows, or the connection is lost */
  WATCH_SEND_AGAIN,     /* not now, and nothing of it: this or another line is given later */
  WATCH_SEND_REFUSED,   /* the line can never be sent; the error says why */
  WATCH_SEND_FAILED,    /* the connection is lost; the error says why */
  WATCH_SEND_CLOSED,    /* nothing can ever be sent again; the error says why */
} WatchSend;

/* A kind of destination. All functions but new() and free() are called in the output's thread. */
typedef struct {
  /* Reads the configuration and connects nothing. */
  gpointer (*new) (WatchOutput *output, const WatchOutputConfig *config, GError **error);
  void (*free) (gpointer self);
  /* Connects; called again after a failure, with longer and longer pauses. */
  gboolean (*open) (gpointer self, GError **error);
  /* Ends the connection. Lines that were not acknowledged are given to the next one. */
  void (*close) (gpointer self);
  /* The line is the output's. It stays until it is acknowledged or lost, or close() returns. */
  WatchSend (*send) (gpointer self, const WatchLine *line, GError **error);
  /* Called several times a second while it is open; FALSE if the connection is lost; or NULL. */
  gboolean (*poll) (gpointer self, GError **error);
  /* SIGHUP; FALSE if the connection is lost. May be NULL. */
  gboolean (*reopen) (gpointer self, GError **error);
  /* open() looks up names and connects: the thread is not stuck if that takes minutes. */
  gboolean is_slow_to_open;
  /* The receiver may end the connection because a line is too long for it. Errors that never mean
   * this: G_IO_ERROR_BUSY, the receiver has answered, and G_IO_ERROR_TIMED_OUT. */
  gboolean may_hang_up;
  /* Lines are requests of their own: one that is acknowledged shows that the receiver works, and
   * the pause after a failure is the shortest again. */
  gboolean is_stateless;
  /* Persons read it, so by default it gets only the events of the kinds "usual" (event-kinds.h). */
  gboolean is_for_persons;
} WatchOutputClass;

extern const WatchOutputClass watch_output_file; /* and the standard output */
extern const WatchOutputClass watch_output_tcp;
extern const WatchOutputClass watch_output_mqtt;
extern const WatchOutputClass watch_output_kafka;
extern const WatchOutputClass watch_output_http;

/* Whether watch_output_new() would accept the configuration. */
gboolean watch_output_check (const WatchOutputConfig *config, GError **error);

/* The thread holds a reference until watch_output_end() or watch_output_abandon() ends it. */
WatchOutput *watch_output_new (const WatchOutputConfig *config, GError **error);
WatchOutput *watch_output_ref (WatchOutput *output);
void watch_output_unref (WatchOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchOutput, watch_output_unref)

/* Adds a line. If the queue is full, the oldest line that waits is dropped, or, with `cancelled`
 * not NULL, the call waits until there is room or `*cancelled` becomes nonzero. */
void watch_output_push (WatchOutput *output, WatchLine *line, gint *cancelled);

/* A command for a camera, or for a region of it (or NULL), in the output's thread. */
typedef void (*WatchCommandFunc) (gpointer data, const gchar *output, const gchar *camera,
    const gchar *region, const gchar *command);
void watch_output_set_commands (WatchOutput *output, WatchCommandFunc function, gpointer data);

/* Whether it takes pictures. */
gboolean watch_output_wants_pictures (WatchOutput *output);
/* Gives it the last picture of a camera, a JPEG, in place of one that waits. */
void watch_output_push_picture (WatchOutput *output, const gchar *camera, GBytes *jpeg);

void watch_output_reopen (WatchOutput *output);

/* No line is accepted any more; those that wait are delivered. */
void watch_output_end (WatchOutput *output);
/* The thread ends without delivering the waiting lines. */
void watch_output_abandon (WatchOutput *output);
/* Whether the thread ended, after watch_output_end(), by the monotonic time. */
gboolean watch_output_wait (WatchOutput *output, gint64 until);

/* Logs what changed since the last call: lines were dropped, or the destination takes none any
 * more. To be called about every second by a thread that no output can block. */
void watch_output_report (WatchOutput *output);

void watch_output_get_status (WatchOutput *output, WatchOutputStatus *status);
/* Adds the lines of a camera to the counts. */
void watch_output_add_counts (WatchOutput *output, const gchar *camera, WatchLineCounts *counts);
/* Whether it is broken for ever: a standard output that nobody reads. */
gboolean watch_output_is_closed (WatchOutput *output);

/* For destinations, in the output's thread unless they say otherwise. */

/* A line sent as WATCH_SEND_PENDING arrived. */
void watch_output_acknowledge (WatchOutput *output, const WatchLine *line);
/* The peer has refused a line that was sent as WATCH_SEND_PENDING; it is dropped. */
void watch_output_lose (WatchOutput *output, const WatchLine *line, const gchar *reason);
/* For destinations that connect again by themselves: the connection is lost. The next
 * watch_output_acknowledge() says that there is one again. */
void watch_output_disconnected (WatchOutput *output, const gchar *reason);

/* Somebody has sent a command. */
void watch_output_command (
    WatchOutput *output, const gchar *camera, const gchar *region, const gchar *command);

/* In new(): it takes pictures. */
void watch_output_want_pictures (WatchOutput *output);
/* A picture that waits; free both with g_free() and g_bytes_unref(). FALSE if there is none. */
gboolean watch_output_take_picture (WatchOutput *output, gchar **camera, GBytes **jpeg);

/* In new(): the destination gets the lines of these kinds (event-kinds.h), too, for its own use. It
 * sends those alone for which watch_output_wants() is TRUE. */
void watch_output_take_kinds (WatchOutput *output, const gchar *kinds);
/* Whether the configuration wants the line to be sent. */
gboolean watch_output_wants (WatchOutput *output, const WatchLine *line);

/* The value of a key of the group, or NULL. A key that nothing asks for is an error. */
const gchar *watch_output_option (WatchOutput *output, const gchar *key);

/* Scheme, host and port of a URI: all of a webhook's that is no secret. Free with g_free(). */
gchar *watch_output_place (const gchar *uri);
