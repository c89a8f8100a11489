/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kinds of events that lines report, and sets of them. */
#pragma once

#include <gio/gio.h>

typedef guint WatchEventKinds; /* a bit for each kind */

#define WATCH_EVENT_KINDS_ALL ((WatchEventKinds)-1)

/* The names of all kinds, ended by NULL. */
const gchar *const *watch_event_kinds_get_names (void);

/* Reads "all", "usual", or names with commas between them. "usual" is what a person acts on: all
 * kinds but "merged" and "split", which tell what became of tracks. */
gboolean watch_event_kinds_parse (const gchar *text, WatchEventKinds *kinds, GError **error);

/* Whether the kind is in the set. A kind that is not known is in every set. */
gboolean watch_event_kinds_has (WatchEventKinds kinds, const gchar *kind);
