/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream that a camera records for clips beside the one that is analysed: its encoded frames
 * are taken as they come, and nothing is decoded. It connects, and after a failure again and again,
 * without an effect on the analysis. Called in the camera's thread. */
#pragma once

#include "watch/camera/camera.h"

typedef struct _WatchRecord WatchRecord;

/* Connects to the `record-uri` of the camera, whose own pipeline has been started. */
WatchRecord *watch_record_new (WatchCamera *camera);
/* Ends the connection. */
void watch_record_free (WatchRecord *self);
