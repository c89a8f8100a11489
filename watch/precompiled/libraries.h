/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headers of libraries that take long to compile: the compiler reads them once for all files. Each
 * file still includes what it uses. */
#include <gio/gio.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>
#include <libsoup/soup.h>
