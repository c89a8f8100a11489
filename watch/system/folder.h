/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The folder of pictures and clips: FOLDER/CAMERA/TIME.jpg and FOLDER/CAMERA/TIME.mp4, where TIME
 * is the UTC time of the motion's beginning, so that both of one motion have the same stem.
 *
 * A thread lists the folder and deletes old files, at once and every minute. Other threads learn
 * from memory which files there are, so that they never wait for a disk that hangs. Functions may
 * be called in any thread. */
#pragma once

#include <glib.h>

typedef struct _WatchFolder WatchFolder;

/* Neither makes the folder nor waits for its disk.
 * @keep_days: files that are older are deleted; 0 = no limit
 * @keep_bytes: the oldest files are deleted until all together have no more; 0 = no limit
 * Files that were written to in the last ten seconds stay. */
WatchFolder *watch_folder_new (const gchar *path, gdouble keep_days, guint64 keep_bytes);
WatchFolder *watch_folder_ref (WatchFolder *folder);
void watch_folder_unref (WatchFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchFolder, watch_folder_unref)

const gchar *watch_folder_get_path (WatchFolder *folder);
/* Days; 0 = no limit. */
gdouble watch_folder_get_keep_days (WatchFolder *folder);
void watch_folder_set_limits (WatchFolder *folder, gdouble keep_days, guint64 keep_bytes);

/* Ends the thread. TRUE if it ended by the monotonic time; otherwise it ends when the disk
 * answers, and keeps the folder until then. */
gboolean watch_folder_stop (WatchFolder *folder, gint64 until);

/* "CAMERA/2026-11-22T04-30-00.123Z.jpg" for the extension "jpg"; free with g_free().
 * @utc: microseconds since 1970, at least the year 1900 and at most 9999 */
gchar *watch_folder_name (const gchar *camera, gint64 utc, const gchar *extension);

/* The name of the camera's latest clip that began from one time to another, in microseconds since
 * 1970; NULL if there is none. Looks at all names. Free with g_free(). */
gchar *watch_folder_find_clip (WatchFolder *folder, const gchar *camera, gint64 from, gint64 to);

/* The time of such a name, in microseconds since 1970. */
gint64 watch_folder_time_of_name (const gchar *name);

/* Whether the text has the form that watch_folder_name() gives. No other file is served or
 * deleted, and no such name leads out of the folder. */
gboolean watch_folder_is_name (const gchar *name);

/* Whether there is a file of this name, as far as the thread and the writers know. */
gboolean watch_folder_has (WatchFolder *folder, const gchar *name);

/* Whether the file is kept, whatever its age and size, as far as the thread knows: its owner may
 * not write it. */
gboolean watch_folder_is_kept (WatchFolder *folder, const gchar *name);

/* These wait for the disk, and follow no symbolic link below the folder. */

/* Makes a file that did not exist, and its folders. Returns a descriptor and the name, or -1 and an
 * error. If there is a file of this time, the next free millisecond becomes the name. */
gint watch_folder_create (WatchFolder *folder, const gchar *camera, gint64 utc,
    const gchar *extension, gchar **name, GError **error);
/* The file can be used now. */
void watch_folder_note (WatchFolder *folder, const gchar *name);
void watch_folder_delete (WatchFolder *folder, const gchar *name);
/* From now on the file is kept, or not any more. */
gboolean watch_folder_keep (
    WatchFolder *folder, const gchar *name, gboolean is_kept, GError **error);
/* Opens a file to be read; -1 and an error if there is no such regular file. */
gint watch_folder_open (WatchFolder *folder, const gchar *name, GError **error);

/* Whether this process alone writes to the folder, which it locks. FALSE if there is no such folder
 * yet. Any thread; may wait for the disk. */
gboolean watch_folder_is_own (WatchFolder *folder);
