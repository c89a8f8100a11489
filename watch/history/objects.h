/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The objects that cameras saw: a row for each confirmed track, from its beginning to its end. What
 * a camera sees while it is not armed is left out. Functions may be called in any thread. */
#pragma once

#include "line-file.h"

#define WATCH_OBJECT_POINTS 32
#define WATCH_OBJECTS 20000 /* of all cameras together; of more, the oldest of the busiest go */

typedef struct {
  guint64 number; /* grows with each object that has ended; 0: it has not */
  gchar *camera;
  guint64 id;        /* of the track, unique while the camera plays */
  gint64 begin, end; /* microseconds since 1970, UTC; `end` is that of the last frame so far */
  gint64 motion;     /* when the motion began whose picture and clip have it; 0: none */
  gint64 best;       /* of its best view, of which there is a picture; 0: there is none */
  gfloat path[WATCH_OBJECT_POINTS]
             [2];                 /* the middle of the box's lower edge, percent of the frame */
  guint n_points, step, n_frames; /* a point for each `step` frames */
  GHashTable *places;             /* set of names of regions and lines, which it was in */
  gdouble speed;                  /* the greatest, km/h; below 0: not known */
} WatchObject;

typedef struct _WatchObjects WatchObjects;

/* Adds an observer to the watch, so it is called before watch_start(); freed after watch_stop(). */
WatchObjects *watch_objects_new (Watch *watch);
void watch_objects_free (WatchObjects *self);

/* A camera was removed. */
void watch_objects_forget (WatchObjects *self, const gchar *camera);

/* Forgets objects that are older than the files that the folder keeps. */
void watch_objects_forget_old (WatchObjects *self);

/* What is looked for; 0 and NULL: everything. */
typedef struct {
  const gchar *camera, *place;
  gint64 from, to; /* microseconds since 1970 */
  guint64 after;   /* only greater numbers */
  guint limit;
} WatchObjectQuery;

/* WatchObject that have ended, the newest first; free with g_ptr_array_unref(). */
GPtrArray *watch_objects_find (WatchObjects *self, const WatchObjectQuery *query);
guint watch_objects_count (WatchObjects *self);
/* Adds objects from before the program started (WatchObject), the oldest first, which it takes.
 * Returns a number that none of them exceeds. */
guint64 watch_objects_add_past (WatchObjects *self, GPtrArray *objects);

WatchObject *watch_object_new (const gchar *camera);
void watch_object_unref (WatchObject *object);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchObject, watch_object_unref)
/* The members of a JSON object, without braces; free with g_free(). */
gchar *watch_object_to_json (const WatchObject *object);

/* Keeps the objects in FOLDER/objects.ndjson, so that they survive a restart: a JSON object per
 * line, as in the answer of the API. First reads those of the cameras that there are. Main thread
 * only. */
WatchLineFile *watch_objects_file_new (Watch *watch, WatchObjects *objects);
