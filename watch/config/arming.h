/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a camera, or a region of it, raises alerts: by its schedule, or as somebody has set it by
 * hand. */
#pragma once

#include "schedule.h"

typedef enum {
  WATCH_ARMING_SCHEDULE, /* as the schedule says; always, without one */
  WATCH_ARMING_ARMED,
  WATCH_ARMING_DISARMED,
} WatchArmingMode;

typedef struct {
  WatchArmingMode mode;
  gint64 paused_until; /* microseconds since 1970, UTC; 0: not paused */
} WatchArming;

/* "schedule", "armed", "disarmed". */
const gchar *watch_arming_mode_name (WatchArmingMode mode);

/* Takes a command: the name of a mode, which ends a pause, or "pause SECONDS", at most a year, in
 * which nothing raises alerts, and which leaves the mode as it is. */
gboolean watch_arming_command (WatchArming *arming, const gchar *text, gint64 now, GError **error);

/* The same as texts that a file keeps; the text is freed with g_free(). A text that is damaged is
 * that of the schedule. */
gchar *watch_arming_to_text (const WatchArming *arming);
WatchArming watch_arming_from_text (const gchar *text);

/* Whether alerts are raised now; `schedule` may be NULL. */
gboolean watch_arming_is_on (
    const WatchArming *arming, const WatchSchedule *schedule, GTimeZone *zone, gint64 now);
