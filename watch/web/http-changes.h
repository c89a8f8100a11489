/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests that add, change, remove or arm a camera. They wait for their turn, for the files that
 * the camera names, and for the state file, without blocking the main thread. Main thread only. */
#pragma once

#include <libsoup/soup.h>

#include "watch/supervisor/watch.h"

/* Answers a PUT, PATCH or DELETE for a camera, now or later. `removed` is called with the name of a
 * camera that is removed. */
void watch_http_change_camera (SoupServerMessage *message, Watch *watch, const gchar *name,
    void (*removed) (gpointer data, const gchar *name), gpointer data);

/* Answers a PUT that arms or disarms a camera, or a region of it, now or later. */
void watch_http_arm_camera (SoupServerMessage *message, Watch *watch, const gchar *name);
