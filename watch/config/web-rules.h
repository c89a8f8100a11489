/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cameras may name that are added or changed on the page, by the API or in the state file: no
 * files and addresses that only this machine reaches, unless the configuration allows it. */
#pragma once

#include "config-camera.h"

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

/* A camera by watch_camera_config_new(), whose keys must obey the rules. `configured` is the camera
 * in the configuration, whose keys it may keep, or NULL. The error's message does not tell whether
 * a file exists that is not below the folders. Waits for disks; may be called in any thread. */
WatchCameraConfig *watch_web_rules_new_camera (const WatchWebRules *rules, const gchar *name,
    GHashTable *keys, const WatchCameraConfig *configured, GError **error);
