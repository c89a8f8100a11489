/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that properties name. */
#pragma once

#include <glib.h>

/* The content of a regular file of at most max_size bytes, with a zero byte behind it; free it with
 * g_free(). Other kinds of files are refused without waiting for their data: a FIFO may never have
 * any, and some devices never end. Returns NULL with the error set; its message names the file, and
 * nothing of its content. */
gchar *gst_ccl_file_read (const gchar *path, gsize max_size, gsize *size, GError **error);
