/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arming.h"

#include <string.h>

#include "watch/system/config-values.h"

#define MAX_PAUSE (366.0 * 86400)

static const gchar *const names[] = {
    [WATCH_ARMING_SCHEDULE] = "schedule",
    [WATCH_ARMING_ARMED] = "armed",
    [WATCH_ARMING_DISARMED] = "disarmed",
};

const gchar *
watch_arming_mode_name (WatchArmingMode mode)
{
  return names[mode];
}

/* -1: it is no mode. */
static gint
find_mode (const gchar *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], text) == 0)
      return i;
  return -1;
}

gboolean
watch_arming_command (WatchArming *arming, const gchar *text, gint64 now, GError **error)
{
  const gint mode = find_mode (text);
  gdouble seconds;

  if (mode >= 0) {
    *arming = (WatchArming){mode, 0};
    return TRUE;
  }
  if (!g_str_has_prefix (text, "pause "))
    return watch_fail (
        error, "\"%s\" is none of armed, disarmed, schedule and pause SECONDS", text);
  if (!watch_parse_number (text + strlen ("pause "), 1, &seconds, error))
    return watch_fail_at (error, "pause");
  if (seconds > MAX_PAUSE)
    return watch_fail (error, "pause: it must be at most a year");
  arming->paused_until = now + (gint64)(seconds * G_USEC_PER_SEC);
  return TRUE;
}

gchar *
watch_arming_to_text (const WatchArming *arming)
{
  return g_strdup_printf (
      "%s %" G_GINT64_FORMAT, names[arming->mode], arming->paused_until / G_USEC_PER_SEC);
}

WatchArming
watch_arming_from_text (const gchar *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 2);
  const gint mode = words[0] ? find_mode (words[0]) : -1;
  guint64 until = 0;

  if (mode < 0 || !words[1] ||
      !g_ascii_string_to_unsigned (words[1], 10, 0, G_MAXINT64 / G_USEC_PER_SEC, &until, NULL))
    return (WatchArming){0};
  return (WatchArming){mode, (gint64)until * G_USEC_PER_SEC};
}

gboolean
watch_arming_is_on (
    const WatchArming *arming, const WatchSchedule *schedule, GTimeZone *zone, gint64 now)
{
  if (now < arming->paused_until)
    return FALSE;
  if (arming->mode != WATCH_ARMING_SCHEDULE)
    return arming->mode == WATCH_ARMING_ARMED;
  return !schedule || watch_schedule_has (schedule, zone, now);
}
