/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Live pictures: the last frame of a camera as JPEG, encoded in other threads and only when a
 * client asks. Clients that ask for the same picture share it, so that ten viewers cost as
 * much as one. Main thread only. */
#pragma once

#include <gio/gio.h>

#include "recording/jpeg.h"
#include "watch/supervisor/watch.h"

typedef struct _WatchLive WatchLive;

WatchLive *watch_live_new (Watch *watch);
/* Waits for all requests; their functions are called. */
void watch_live_free (WatchLive *live);

typedef enum {
  WATCH_LIVE_TAKEN,    /* the function is called, now or later */
  WATCH_LIVE_NO_FRAME, /* there is no such camera, or no frame of it */
  WATCH_LIVE_BUSY,     /* too many pictures wait */
} WatchLiveResult;

/* `jpeg` is NULL if encoding failed. */
typedef void (*WatchLiveFunction) (gpointer data, GBytes *jpeg);

/* A picture that is at most 0.2 s older than the request.
 * @look: with JPEG_FOREGROUND, the first pictures show no foreground: the camera's frames have it
 *   from the request on, until the requests have ended for some seconds
 * @width: greatest width in pixels; 0 = that of the frame */
WatchLiveResult watch_live_request (WatchLive *live, const gchar *camera, JpegLook look, gint width,
    WatchLiveFunction function, gpointer data);
