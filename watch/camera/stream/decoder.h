/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoder a camera's video gets, by the key `decoder`: a kind or names of elements. Where
 * there is none of them, or the one that there is fails, the camera gets another one. */
#pragma once

#include "watch/camera/camera-state.h"

/* A decoder was made for the camera's pipeline, which is not used yet: makes it refuse the stream
 * if another one is wanted and can decode it. Any thread. */
void watch_decoder_add (WatchCamera *camera, GstElement *decoder);

/* A frame goes to the decoder: it is the one that runs. Logs that, if it is not the one of before.
 * The streaming thread of the decoder. */
void watch_decoder_note_running (WatchCamera *camera, GstElement *decoder);

/* An element failed before the first frame of a connection: if it is a decoder that the key asked
 * for, the next connection may have another one. The camera's thread. */
void watch_decoder_note_failure (WatchCamera *camera, GstObject *element);
