/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work that may block, such as reading from a disk that hangs, off the main thread and with a time
 * limit. Main thread only. */
#pragma once

#include <glib.h>

/* Calls work(data) in another thread, then done(done_data, data) in the main thread, and frees the
 * data there. After `seconds` without an end, if that is not 0, done(done_data, NULL) is called
 * instead; the data is freed when the work has ended after all. */
void watch_offload (void (*work) (gpointer data), gpointer data, GDestroyNotify free_data,
    guint seconds, void (*done) (gpointer done_data, gpointer data), gpointer done_data);
