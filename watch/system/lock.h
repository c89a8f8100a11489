/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks of files, which tell several processes of ccl-watch apart. The kernel releases the lock of
 * a process that ends, however it ends. */
#pragma once

#include <glib.h>

/* Whether the open file is locked now; FALSE with errno EWOULDBLOCK if another process, or another
 * descriptor of this one, has the lock. Closing the descriptor releases it. */
gboolean watch_lock_descriptor (gint descriptor);

/* Makes the file if it is missing, and locks it. Returns its descriptor; -1 with errno as above or
 * of the failure. */
gint watch_lock_file (const gchar *path);
