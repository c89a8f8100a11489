/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "schedule.h"

#include <string.h>

#include "watch/system/config-values.h"

#define DAY_MINUTES 1440
#define ALL_DAYS 0x7f

/* Minutes of days. What ends before it begins ends on the next day. */
typedef struct {
  guint days; /* of the beginning: bit 0 is Monday */
  guint begin, end;
} Part;

struct _WatchSchedule {
  GArray *parts;
};

/* The day from 0, Monday; -1: there is none of that name. */
static gint
parse_day (const gchar *text)
{
  static const gchar *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

  for (guint i = 0; i < G_N_ELEMENTS (days); i++)
    if (g_ascii_strcasecmp (text, days[i]) == 0)
      return i;
  return -1;
}

/* A day, or two with '-' between them: "fri-mon" are four days. */
static gboolean
add_days (const gchar *text, guint *days)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  const gint first = ends[0] ? parse_day (ends[0]) : -1;
  const gint last = ends[0] && ends[1] ? parse_day (ends[1]) : first;

  if (first < 0 || last < 0)
    return FALSE;
  for (gint day = first;; day = (day + 1) % 7) {
    *days |= 1u << day;
    if (day == last)
      return TRUE;
  }
}

static gboolean
parse_days (const gchar *text, guint *days)
{
  g_auto (GStrv) list = g_strsplit (text, ",", 0);
  gboolean is_valid = list[0] != NULL;

  *days = 0;
  for (gchar **day = list; is_valid && *day; day++)
    is_valid = add_days (*day, days);
  return is_valid;
}

static gboolean
parse_times (const gchar *text, Part *part)
{
  g_autoptr (GRegex) regex = g_regex_new (
      "^([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})$", G_REGEX_DOLLAR_ENDONLY, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint numbers[4];

  if (!g_regex_match (regex, text, 0, &match))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_autofree gchar *digits = g_match_info_fetch (match, i + 1);

    numbers[i] = g_ascii_strtoull (digits, NULL, 10);
  }
  part->begin = numbers[0] * 60 + numbers[1];
  part->end = numbers[2] * 60 + numbers[3];
  return numbers[1] < 60 && numbers[3] < 60 && part->begin < DAY_MINUTES &&
         part->end <= DAY_MINUTES && part->begin != part->end;
}

/* "[DAYS] FROM-TO". */
static gboolean
parse_part (const gchar *text, Part *part)
{
  g_auto (GStrv) words = g_regex_split_simple ("\\s+", text, 0, 0);
  const guint n = g_strv_length (words);

  part->days = ALL_DAYS;
  return (n == 1 || (n == 2 && parse_days (words[0], &part->days))) &&
         parse_times (words[n - 1], part);
}

WatchSchedule *
watch_schedule_new (const gchar *text, GError **error)
{
  g_auto (GStrv) list = g_strsplit (text, ";", 0);
  WatchSchedule *schedule = g_new (WatchSchedule, 1);

  schedule->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  for (gchar **item = list; *item; item++) {
    Part part;

    if (!*g_strstrip (*item) && item[1] == NULL && item > list)
      continue; /* behind the last semicolon */
    if (!parse_part (*item, &part)) {
      watch_fail (error, "\"%s\" has not the form mon-fri 18:00-07:00", *item);
      watch_schedule_free (schedule);
      return NULL;
    }
    g_array_append_val (schedule->parts, part);
  }
  if (schedule->parts->len > 0)
    return schedule;
  watch_fail (error, "it is empty");
  watch_schedule_free (schedule);
  return NULL;
}

void
watch_schedule_free (WatchSchedule *schedule)
{
  g_array_unref (schedule->parts);
  g_free (schedule);
}

static gboolean
part_has (const Part *part, guint day, guint minute)
{
  const gboolean begins_today = part->days >> day & 1;
  const gboolean began_yesterday = part->days >> (day + 6) % 7 & 1;

  if (part->begin < part->end)
    return begins_today && minute >= part->begin && minute < part->end;
  return (begins_today && minute >= part->begin) || (began_yesterday && minute < part->end);
}

gboolean
watch_schedule_has (const WatchSchedule *schedule, GTimeZone *zone, gint64 utc)
{
  g_autoptr (GDateTime) universal = g_date_time_new_from_unix_utc (utc / G_USEC_PER_SEC);
  g_autoptr (GDateTime) local = g_date_time_to_timezone (universal, zone);
  const guint day = g_date_time_get_day_of_week (local) - 1;
  const guint minute = g_date_time_get_hour (local) * 60 + g_date_time_get_minute (local);

  for (guint i = 0; i < schedule->parts->len; i++)
    if (part_has (&g_array_index (schedule->parts, Part, i), day, minute))
      return TRUE;
  return FALSE;
}
