/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of a camera that may change while it plays. After a change of another key it is connected
 * again, and learns its background anew. */
#pragma once

#include "config-camera.h"

/* Whether all keys in which the two differ, which are of one camera, may change while it plays. */
gboolean watch_live_keys_differ_alone (const WatchCameraConfig *a, const WatchCameraConfig *b);

/* The names of all such keys; "schedule.*" stands for those of regions. Free with g_strfreev(). */
gchar **watch_live_keys_list (void);
