/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Damaged pictures: those that a decoder makes while it lacks frames that they refer to. They are
 * neither analysed nor shown nor stored. Called in streaming threads. */
#pragma once

#include "watch/camera/camera.h"

/* A connection begins: it may be between two key frames. */
void watch_damage_begin (WatchCamera *camera);
/* Whether the frame goes to the decoder: FALSE from the beginning of a connection, or from a loss
 * of data, until the next key frame. */
gboolean watch_damage_take (WatchCamera *camera, GstElement *decoder, GstBuffer *encoded);
/* Whether the decoder itself knows that the picture is damaged. */
gboolean watch_damage_has_picture (GstBuffer *decoded);
