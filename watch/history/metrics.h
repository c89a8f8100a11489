/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics in Prometheus' text format. */
#pragma once

#include "watch/supervisor/watch.h"

/* Counters of all cameras and outputs and of the process; free with g_free(). No label holds a
 * URI. Any thread. */
gchar *watch_metrics (Watch *watch);
