/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which settings are secret. log.h removes secrets from texts. */
#pragma once

#include <glib.h>

/* Whether the value of a camera's key is secret: that of a property of the source or the decoder
 * whose name or description says so, such as "source.user-pw". `uri` is that of the camera and
 * tells which source it is; NULL if it is not known. After gst_init(). */
gboolean watch_is_secret_key (const gchar *key, const gchar *uri);

/* Other users may read the command line of a process: overwrites the credentials in it, and the
 * values of all properties of sources and decoders. */
void watch_hide_arguments (gint argc, gchar **argv);
