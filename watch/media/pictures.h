/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures: one JPEG file at the beginning of each motion. */
#pragma once

#include "writer.h"

typedef struct _WatchPictures WatchPictures;

/* Stores a picture at the beginning of each motion of cameras that are configured so, and gives it
 * to the outputs that take pictures. Adds an observer; must be called before watch_start(). */
WatchPictures *watch_pictures_new (Watch *watch, WatchWriter *writer);

/* Encodes the pictures that wait; called after watch_stop(). FALSE, and nothing is freed, if they
 * are not encoded by the monotonic time. */
gboolean watch_pictures_free (WatchPictures *pictures, gint64 until);

/* The extension of the name of an object's picture, for watch_folder_name(); free with g_free(). */
gchar *watch_picture_extension (guint64 id);
