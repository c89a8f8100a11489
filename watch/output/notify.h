/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the service manager, by the protocol of sd_notify(3). */
#pragma once

#include <glib.h>

/* For instance "READY=1"; does nothing where no service manager asks for it. */
void watch_notify (const gchar *state);

/* The longest time between two watchdog messages in microseconds; 0: the service manager expects
 * none. */
guint64 watch_notify_interval (void);
