/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clips: a fragmented MP4 file of each motion, with the camera's own encoded frames. It begins at
 * the last key frame that is at least `clip-pre` seconds before the motion, as far as frames are
 * kept, and ends `clip-post` seconds after the motion. A fragment is written every second, so what
 * was written can be played whatever happens to the program. */
#pragma once

#include "writer.h"

typedef struct _WatchClips WatchClips;

/* Adds an observer; must be called before watch_start(). The clips are written by the writer. */
WatchClips *watch_clips_new (Watch *watch, WatchWriter *writer);

/* Ends the clips that are open; called after watch_stop(). The writer completes their files. */
void watch_clips_free (WatchClips *clips);
