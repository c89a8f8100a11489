/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules by local time, also where clocks change, commands to arm, and when motions begin. */
#include <string.h>

#include "watch/camera/motion/motion.h"
#include "watch/config/arming.h"

static gint64
utc (const gchar *text)
{
  GDateTime *time = g_date_time_new_from_iso8601 (text, NULL);
  const gint64 result = g_date_time_to_unix (time) * G_USEC_PER_SEC;

  g_date_time_unref (time);
  return result;
}

/* 2026-11-27 is a Friday. Berlin is an hour before UTC in winter, two in summer. */
static void
test_days_and_times (void)
{
  static const struct {
    const gchar *schedule, *time;
    gboolean is_on;
  } cases[] = {
      {"08:00-18:00", "2026-11-27T07:00:00Z", TRUE},
      {"08:00-18:00", "2026-11-27T06:59:59Z", FALSE},
      {"08:00-18:00", "2026-11-27T17:00:00Z", FALSE},
      {"mon-thu 8:00-18:00", "2026-11-27T12:00:00Z", FALSE},
      {"Mon-Fri 8:00-18:00", "2026-11-27T12:00:00Z", TRUE},
      {"thu-mon 8:00-18:00", "2026-11-30T12:00:00Z", TRUE}, /* a Monday */
      {"thu-mon 8:00-18:00", "2026-12-01T12:00:00Z", FALSE},
      /* The night belongs to the day that it begins on. */
      {"fri 22:00-06:00", "2026-11-27T22:30:00Z", TRUE},
      {"fri 22:00-06:00", "2026-11-28T04:59:00Z", TRUE},
      {"fri 22:00-06:00", "2026-11-28T05:00:00Z", FALSE},
      {"fri 22:00-06:00", "2026-11-27T04:00:00Z", FALSE},
      {"sun 22:00-06:00", "2026-11-30T04:00:00Z", TRUE},
      {"sat,sun 00:00-24:00; mon-fri 19:00-07:00;", "2026-11-29T22:59:00Z", TRUE},
      {"sat,sun 00:00-24:00; mon-fri 19:00-07:00", "2026-11-29T23:30:00Z", FALSE}, /* Monday */
      {"sat,sun 00:00-24:00; mon-fri 19:00-07:00", "2026-11-27T18:00:00Z", TRUE},
      /* On 2026-03-29 the hour from 02:00 is left out, on 2026-10-25 it comes twice. */
      {"01:30-03:30", "2026-03-29T00:45:00Z", TRUE}, /* 01:45 */
      {"01:30-03:30", "2026-03-29T01:15:00Z", TRUE}, /* 03:15 */
      {"01:30-03:30", "2026-03-29T01:30:00Z", FALSE},
      {"02:00-02:30", "2026-10-25T00:15:00Z", TRUE},
      {"02:00-02:30", "2026-10-25T00:45:00Z", FALSE},
      {"02:00-02:30", "2026-10-25T01:15:00Z", TRUE},
      {"18:00-20:00", "2026-07-01T16:00:00Z", TRUE},
      {"18:00-20:00", "2026-12-01T16:00:00Z", FALSE},
  };
  GTimeZone *berlin = g_time_zone_new_identifier ("Europe/Berlin");

  if (!berlin) {
    g_test_skip ("there are no time zones (tzdata)");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    WatchSchedule *schedule = watch_schedule_new (cases[i].schedule, &error);

    g_assert_no_error (error);
    if (watch_schedule_has (schedule, berlin, utc (cases[i].time)) != cases[i].is_on)
      g_error ("%s at %s", cases[i].schedule, cases[i].time);
    watch_schedule_free (schedule);
  }
  g_time_zone_unref (berlin);
}

static void
test_wrong_schedules (void)
{
  static const gchar *const texts[] = {"", ";", "8-18", "08:00-18:60", "24:00-08:00", "25:00-26:00",
      "08:00-08:00", "monday 08:00-09:00", "mon- 08:00-09:00", "mon 08:00-09:00 10:00-11:00",
      "08:00-09:00;;10:00-11:00", "mon,,tue 08:00-09:00", "08:00-24:01", "always"};

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GError *error = NULL;

    g_assert_null (watch_schedule_new (texts[i], &error));
    g_assert_nonnull (error);
    g_error_free (error);
  }
}

static void
test_commands (void)
{
  static const gchar *const wrong[] = {
      "", "on", "pause", "pause ", "pause x", "pause 0", "pause 1e9", "pause nan", "armed "};
  GTimeZone *zone = g_time_zone_new_utc ();
  WatchSchedule *schedule = watch_schedule_new ("08:00-18:00", NULL);
  const gint64 noon = utc ("2026-11-27T12:00:00Z"), night = utc ("2026-11-27T23:00:00Z");
  WatchArming arming = {0};
  gchar *text;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (watch_arming_command (&arming, wrong[i], noon, NULL));
  g_assert_true (watch_arming_is_on (&arming, NULL, zone, night));
  g_assert_true (watch_arming_is_on (&arming, schedule, zone, noon));
  g_assert_false (watch_arming_is_on (&arming, schedule, zone, night));
  g_assert_true (watch_arming_command (&arming, "armed", noon, NULL));
  g_assert_true (watch_arming_is_on (&arming, schedule, zone, night));
  g_assert_true (watch_arming_command (&arming, "pause 600", night, NULL));
  text = watch_arming_to_text (&arming);
  arming = watch_arming_from_text (text);
  g_assert_false (watch_arming_is_on (&arming, schedule, zone, night + 599 * G_TIME_SPAN_SECOND));
  g_assert_true (watch_arming_is_on (&arming, schedule, zone, night + 600 * G_TIME_SPAN_SECOND));
  g_assert_true (watch_arming_command (&arming, "disarmed", night, NULL));
  g_assert_false (watch_arming_is_on (&arming, schedule, zone, noon));
  g_free (text);
  for (guint i = 0; i < 4; i++) {
    static const gchar *const damaged[] = {"", "armed", "armed x", "nonsense 0"};

    arming = watch_arming_from_text (damaged[i]);
    g_assert_cmpint (arming.mode, ==, WATCH_ARMING_SCHEDULE);
  }
  watch_schedule_free (schedule);
  g_time_zone_unref (zone);
}

/* Ten frames a second; each character is a frame: '-' nothing moves, 'm' something does, 'd' the
 * same while the camera is not armed, 'x' a disturbance. The result has 'B' and 'E' where a motion
 * begins and ends. */
static gchar *
steps (const WatchMotionRules *rules, const gchar *frames)
{
  gchar *result = g_strdup (frames);
  WatchMotion motion;

  watch_motion_reset (&motion);
  for (guint i = 0; frames[i]; i++) {
    const GstClockTime time = i * GST_SECOND / 10;
    WatchMotionStep step;

    if (frames[i] == 'x')
      watch_motion_disturb (&motion, time);
    step = watch_motion_take (&motion, rules, time, frames[i] != '-', frames[i] != 'd');
    result[i] = step == WATCH_MOTION_BEGINS ? 'B' : step == WATCH_MOTION_ENDS ? 'E' : '.';
  }
  return result;
}

static void
test_motions (void)
{
  const GstClockTime tenth = GST_SECOND / 10;
  const struct {
    WatchMotionRules rules;
    const gchar *frames, *steps;
  } cases[] = {
      {{0}, "-mm--m-", ".B.E.BE"},
      {{.quiet = 3 * tenth}, "-mm--m------", ".B......E..."},
      {{.least = 3 * tenth}, "m-mmmmm-", ".....B.E"},
      {{.least = 3 * tenth, .quiet = 2 * tenth}, "m-mm----", "...B.E.."},
      {{.least = 3 * tenth, .quiet = 2 * tenth}, "m--mmmmm--", "......B..E"},
      {{.cooldown = 5 * tenth}, "m-mmmmmm-", "BE....B.E"}, /* the movement is still there */
      {{.settle = 4 * tenth}, "xmmmmmm-", "....B..E"},
      {{.settle = 4 * tenth, .quiet = 5 * tenth}, "mmxmmm-", "B......"},
      {{.quiet = 9 * tenth}, "mmdddmm", "B.E..B."},
      {{.quiet = 9 * tenth, .cooldown = 9 * tenth}, "mdmmm", "BEB.."}, /* armed by hand */
      {{.quiet = 3 * tenth}, "dddd---m", ".......B"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *found = steps (&cases[i].rules, cases[i].frames);

    if (strcmp (found, cases[i].steps) != 0)
      g_error ("case %u: %s gives %s, not %s", i, cases[i].frames, found, cases[i].steps);
    g_free (found);
  }
}

gint
main (gint argc, gchar **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schedule/days-and-times", test_days_and_times);
  g_test_add_func ("/schedule/wrong", test_wrong_schedules);
  g_test_add_func ("/arming/commands", test_commands);
  g_test_add_func ("/motion/begins-and-ends", test_motions);
  return g_test_run ();
}
