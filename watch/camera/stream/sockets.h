/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TCP connections of a camera, whichever library makes and reads them: rtspsrc, souphttpsrc and
 * others get theirs from GIO. What a camera may send without a frame is bounded, and a connection
 * on which a thread waits can be ended. */
#pragma once

#include "watch/camera/camera.h"

/* Before the first camera. */
void watch_sockets_install (void);

/* From now on, connections of the camera's threads and to its host are noted. */
void watch_sockets_begin (WatchCamera *camera);
/* This thread works for the camera; called by all threads before they connect. */
void watch_sockets_note_thread (WatchCamera *camera);
/* Counts what the source of the camera hands on. */
void watch_sockets_add_source (WatchCamera *camera, GstElement *source);
/* Why the connection must end: the camera sends too much without a frame, or redirects without
 * end. NULL if it must not. Called several times a second. */
const gchar *watch_sockets_check (WatchCamera *camera);
/* Ends all connections, and those that threads still make, so that none waits for them. */
void watch_sockets_shut_down (WatchCamera *camera);
/* Forgets the connections. */
void watch_sockets_end (WatchCamera *camera);
