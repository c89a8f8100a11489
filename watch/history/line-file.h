/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines in a file of the folder of pictures and clips, so that what they say survives a restart. A
 * thread reads the file at the start, then adds lines every few seconds, and writes the file anew
 * when most of its lines are of no use any more. Nobody else waits for the disk. */
#pragma once

#include <json-glib/json-glib.h>

#include "watch/supervisor/watch.h"

typedef struct _WatchLineFile WatchLineFile;

/* The kind of the lines. Functions are called in the file's thread, which does not hold a lock. */
typedef struct {
  const gchar *camera; /* the member that names the camera of a line's object */
  /* Makes an object of a line whose camera exists. Members of the line may be damaged. NULL: the
   * line is of no use. */
  gpointer (*read) (JsonObject *object, const gchar *line);
  /* Takes the objects of all lines. Returns a number that their numbers do not exceed. */
  gint64 (*take) (gpointer data, GPtrArray *read);
  /* The lines of objects with numbers greater than `last`, which becomes the greatest of them; with
   * -1, of all objects that the file should have. */
  GString *(*format) (gpointer data, gint64 *last, guint *n_lines);
  /* How many lines the file would have if it were written anew. */
  guint (*count) (gpointer data);
} WatchLineFileFunctions;

/* Starts the thread. The folder is that of the watch, which may change; without one, nothing is
 * read or written. Main thread only.
 * @name: of the file; a static string, as that of the thread
 * @data: for the functions, which are static; it must outlive the file */
WatchLineFile *watch_line_file_new (Watch *watch, const gchar *name, const gchar *thread_name,
    const WatchLineFileFunctions *functions, gpointer data);

/* The file is written anew, for instance because lines are to be forgotten. Any thread. */
void watch_line_file_rewrite (WatchLineFile *file);

/* Lets the thread write the last lines and end, and returns: files are written at the same time. */
void watch_line_file_stop (WatchLineFile *file);

/* Writes the last lines and frees the object. FALSE, and nothing is freed, if the disk does not
 * answer by the monotonic time: the thread still calls the functions. */
gboolean watch_line_file_free (WatchLineFile *file, gint64 until);

/* A member of a line's object, which may be damaged: NULL or 0 if there is none of that type. */
const gchar *watch_line_get_text (JsonObject *object, const gchar *name);
gdouble watch_line_get_number (JsonObject *object, const gchar *name);

/* The same of a time of day: microseconds since 1970, UTC. */
gint64 watch_line_get_time (JsonObject *object, const gchar *name);
