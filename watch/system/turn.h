/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of the cameras, by the API or by SIGHUP, are made one after the other, because each waits
 * for files without blocking the main thread. Main thread only. */
#pragma once

#include <glib.h>

/* Calls the function when it is its turn, now or later. The turn lasts until watch_turn_end(). */
void watch_turn_take (void (*function) (gpointer data), gpointer data);
void watch_turn_end (void);
