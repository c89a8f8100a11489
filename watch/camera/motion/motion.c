/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "motion.h"

/* Whether less than `span` has passed since a time, which may be unknown. */
static gboolean
is_within (const WatchMotion *motion, GstClockTime since, GstClockTime span)
{
  return GST_CLOCK_TIME_IS_VALID (since) && motion->time < since + span;
}

void
watch_motion_reset (WatchMotion *motion)
{
  *motion = (WatchMotion){
      .first = GST_CLOCK_TIME_NONE,
      .last = GST_CLOCK_TIME_NONE,
      .ended = GST_CLOCK_TIME_NONE,
      .disturbed = GST_CLOCK_TIME_NONE,
  };
}

void
watch_motion_disturb (WatchMotion *motion, GstClockTime time)
{
  motion->disturbed = GST_CLOCK_TIME_IS_VALID (time) ? time : motion->time;
}

/* After a pause shorter than the quiet time a movement goes on; after a longer one, another
 * movement begins. */
static void
note_movement (WatchMotion *motion, const WatchMotionRules *rules, gboolean moves)
{
  if (!moves && !is_within (motion, motion->last, rules->quiet))
    motion->first = GST_CLOCK_TIME_NONE;
  if (!moves)
    return;
  if (!GST_CLOCK_TIME_IS_VALID (motion->first))
    motion->first = motion->time;
  motion->last = motion->time;
}

static gboolean
may_begin (const WatchMotion *motion, const WatchMotionRules *rules)
{
  return !is_within (motion, motion->first, rules->least) &&
         !is_within (motion, motion->ended, rules->cooldown) &&
         !is_within (motion, motion->disturbed, rules->settle);
}

WatchMotionStep
watch_motion_take (WatchMotion *motion, const WatchMotionRules *rules, GstClockTime time,
    gboolean moves, gboolean is_armed)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    motion->time = MAX (motion->time, time);
  note_movement (motion, rules, moves && is_armed);
  if (motion->is_on && (!is_armed || !GST_CLOCK_TIME_IS_VALID (motion->first))) {
    watch_motion_stop (motion);
    motion->ended = is_armed ? motion->time : GST_CLOCK_TIME_NONE;
    return WATCH_MOTION_ENDS;
  }
  if (motion->is_on || !moves || !is_armed || !may_begin (motion, rules))
    return WATCH_MOTION_GOES_ON;
  motion->is_on = TRUE;
  return WATCH_MOTION_BEGINS;
}

gboolean
watch_motion_stop (WatchMotion *motion)
{
  const gboolean was_on = motion->is_on;

  motion->is_on = FALSE;
  motion->first = GST_CLOCK_TIME_NONE;
  return was_on;
}
