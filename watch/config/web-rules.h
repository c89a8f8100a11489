/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cameras may name that are added or changed on the page, by the API or in the state file: no
 * files and addresses that only this machine reaches, unless the configuration allows it. */
#pragma once

#include <gio/gio.h>

/* Keys web-schemes, web-folders and web-local of the group [ccl-watch]. Reference-counted, and
 * immutable while it is shared. */
typedef struct {
  GPtrArray *schemes; /* gchar *: more than the usual ones */
  GPtrArray *folders; /* gchar *: files may be below these */
  gboolean allows_local;
} WatchWebRules;

WatchWebRules *watch_web_rules_new (void);
WatchWebRules *watch_web_rules_ref (WatchWebRules *rules);
void watch_web_rules_unref (WatchWebRules *rules);

/* Whether the keys of a camera (text → text) obey the rules. `trusted` has keys of the same camera
 * in the configuration, which it may keep, or is NULL. The error's message does not tell whether a
 * file exists that is not below the folders. Waits for disks; may be called in any thread. */
gboolean watch_web_rules_check (
    const WatchWebRules *rules, GHashTable *keys, GHashTable *trusted, GError **error);
