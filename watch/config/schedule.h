/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Days and times of a week, such as "mon-fri 18:00-07:00; sat,sun 00:00-24:00". */
#pragma once

#include <gio/gio.h>

typedef struct _WatchSchedule WatchSchedule;

/* NULL and an error if the text is wrong. */
WatchSchedule *watch_schedule_new (const gchar *text, GError **error);
void watch_schedule_free (WatchSchedule *schedule);

/* Whether the time (microseconds since 1970, UTC) is in the schedule, by the clocks of the time
 * zone, which change in summer and winter where the zone does. */
gboolean watch_schedule_has (const WatchSchedule *schedule, GTimeZone *zone, gint64 utc);
