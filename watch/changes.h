/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cameras that were added, changed or removed while the program ran. They lie over those of the
 * configuration, whose file is never written. With a state file they survive a restart. Main thread
 * only. */
#pragma once

#include "config.h"

typedef struct _WatchChanges WatchChanges;

/* No changes. Without a path (NULL) they are kept in memory alone. */
WatchChanges *watch_changes_new (const gchar *path);
void watch_changes_free (WatchChanges *changes);

/* Reads the state file again; one that does not exist is empty. FALSE, and nothing changes, if it
 * is wrong, or if other users may read it and it holds a password. */
gboolean watch_changes_read (WatchChanges *changes, GError **error);

/* Puts the changes over the cameras of a configuration. A camera of the state file that is wrong,
 * for instance because its file is gone, is reported and left out. */
void watch_changes_apply (WatchChanges *changes, WatchConfig *config);

/* Notes that a camera was added or changed, or removed (`camera` is NULL). The state file is on
 * disk when the function returns. FALSE, and nothing changes, if it cannot be written; the error's
 * domain is G_FILE_ERROR. */
gboolean watch_changes_set (
    WatchChanges *changes, const gchar *name, const WatchCameraConfig *camera, GError **error);
