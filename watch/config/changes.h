/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cameras that were added, changed, removed or armed by hand while the program ran. They lie
 * over those of the configuration, whose file is never written. With a state file they survive a
 * restart. An object is of one thread at a time. */
#pragma once

#include "arming.h"
#include "config.h"

typedef struct _WatchChanges WatchChanges;

/* Reads the changes from the state file; one that does not exist is empty. Without a path (NULL)
 * they are in memory alone: those of `present`, which may be NULL, by watch_changes_to_text(). NULL
 * if the file is wrong, or if other users may read it and it holds a password. */
WatchChanges *watch_changes_new (const gchar *path, const gchar *present, GError **error);
/* Gives a state file that is damaged another name, and says so. FALSE if the error is none of
 * damage, or it cannot be renamed. */
gboolean watch_changes_set_aside (const gchar *path, const GError *damage);
void watch_changes_free (WatchChanges *changes);

gchar *watch_changes_to_text (WatchChanges *changes);

/* Puts the changes over the cameras of a configuration. A camera of the state file that is wrong,
 * for instance because its file is gone or not allowed, is reported and left out. */
void watch_changes_apply (WatchChanges *changes, WatchConfig *config);

/* The camera of this name in the configuration without the changes; NULL if there is none. */
WatchCameraConfig *watch_changes_get_configured (WatchChanges *changes, const gchar *name);

/* How the camera of this name is armed by hand: name of a region or line, or "" for the camera →
 * WatchArming; NULL: everything is as the schedule says. Free with g_hash_table_unref(). */
GHashTable *watch_changes_get_arming (WatchChanges *changes, const gchar *name);

/* The changes with one more, on their way to the state file. */
typedef struct {
  gchar *path;               /* of the state file; NULL: in memory alone */
  GKeyFile *file;            /* with the change */
  gchar *name;               /* of the camera */
  WatchCameraConfig *camera; /* NULL: it is removed, unless `is_arming` */
  gboolean is_arming;        /* it is armed or disarmed, and its configuration stays */
  GError *error;             /* of writing */
} WatchNote;

/* A camera is added or changed, or removed (`camera` is NULL). No other change may be noted before
 * this one is taken or freed. */
WatchNote *watch_changes_note (WatchChanges *changes, const gchar *name, WatchCameraConfig *camera);
/* Somebody arms or disarms a camera, or a region of it (`region` is not NULL), by
 * watch_arming_command(). NULL and an error if the command is wrong. */
WatchNote *watch_changes_note_arming (WatchChanges *changes, const gchar *name, const gchar *region,
    const gchar *command, GError **error);
/* Writes the state file (WatchNote), which is on disk when the function returns. Any thread. */
void watch_note_write (gpointer note);
/* What is noted holds from now on. FALSE, and nothing changes, if the state file could not be
 * written; the error's domain is G_FILE_ERROR. */
gboolean watch_changes_take (WatchChanges *changes, WatchNote *note, GError **error);
void watch_note_free (gpointer note);
