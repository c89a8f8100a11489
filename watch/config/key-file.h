/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of groups with lines KEY=VALUE, and files that hold a token. */
#pragma once

#include <glib.h>

/* Reads a file of groups and keys. Refuses one that other users may read if it holds a password or
 * a token. NULL and a message of one line if something is wrong. */
GKeyFile *watch_key_file_load (const gchar *path, GError **error);
/* The text of such a file between two lines, by which watch_key_file_load() finds that its end is
 * missing; without groups an empty text. Free with g_free(). */
gchar *watch_key_file_to_text (GKeyFile *file);
/* The keys of a group, text → text, and those of `defaults` (or NULL) that it does not have. */
GHashTable *watch_key_file_get_keys (
    GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error);

/* Reads a token from a file, which only its owner and its group may read. */
gboolean watch_token_read (const gchar *path, gchar **token, GError **error);
