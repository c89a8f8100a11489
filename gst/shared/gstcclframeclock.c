/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclframeclock.h"

#include <cudaccl/tracker.h>
#include <math.h>

#include "gstcclframe.h"

#define MIN_FRAME_RATE 0.01
#define MAX_FRAME_RATE 10000.0
#define MAX_ELAPSED 1000.0 /* frames */

void
gst_ccl_frame_clock_init (GstCclFrameClock *clock)
{
  *clock =
      (GstCclFrameClock){.frame_rate = CUDACCL_TRACKER_FRAME_RATE, .last = GST_CLOCK_TIME_NONE};
}

void
gst_ccl_frame_clock_set_caps (GstCclFrameClock *clock, const GstCaps *caps)
{
  gint numerator = 0, denominator = 1;

  gst_structure_get_fraction (
      gst_caps_get_structure (caps, 0), "framerate", &numerator, &denominator);
  clock->is_constant = numerator > 0;
  clock->n = clock->next = 0;
  clock->frame_rate = CUDACCL_TRACKER_FRAME_RATE;
  if (clock->is_constant)
    clock->frame_rate = CLAMP ((gdouble)numerator / denominator, MIN_FRAME_RATE, MAX_FRAME_RATE);
}

void
gst_ccl_frame_clock_reset (GstCclFrameClock *clock)
{
  clock->last = GST_CLOCK_TIME_NONE;
}

static void
add_interval (GstCclFrameClock *clock, GstClockTime time)
{
  clock->intervals[clock->next] = time;
  clock->next = (clock->next + 1) % GST_CCL_INTERVALS;
  clock->n = MIN (clock->n + 1, GST_CCL_INTERVALS);
}

static GstClockTime
median_interval (const GstCclFrameClock *clock)
{
  GstClockTime sorted[GST_CCL_INTERVALS];

  for (guint i = 0; i < clock->n; i++) {
    guint place = i;
    for (; place > 0 && sorted[place - 1] > clock->intervals[i]; place--)
      sorted[place] = sorted[place - 1];
    sorted[place] = clock->intervals[i];
  }
  return sorted[(clock->n - 1) / 2];
}

gdouble
gst_ccl_frame_clock_advance (GstCclFrameClock *clock, const GstSegment *segment,
    GstClockTime timestamp, GstClockTime *elapsed)
{
  const GstClockTime last = clock->last;
  const GstClockTime time =
      segment->format == GST_FORMAT_TIME ? gst_ccl_running_time (segment, timestamp) : timestamp;
  gdouble n_frames;

  clock->last = time;
  *elapsed = (GstClockTime)(GST_SECOND / clock->frame_rate);
  if (!GST_CLOCK_TIME_IS_VALID (time) || !GST_CLOCK_TIME_IS_VALID (last) || time <= last)
    return 1;
  *elapsed = (GstClockTime)((gdouble)(time - last) * gst_ccl_speed (segment));
  if (!clock->is_constant && *elapsed > 0) {
    add_interval (clock, *elapsed);
    clock->frame_rate = CLAMP (
        (gdouble)GST_SECOND / (gdouble)median_interval (clock), MIN_FRAME_RATE, MAX_FRAME_RATE);
  }
  n_frames = (gdouble)*elapsed / GST_SECOND * clock->frame_rate;
  if (clock->is_constant)
    n_frames = MAX (1, round (n_frames));
  return MIN (n_frames, MAX_ELAPSED);
}
