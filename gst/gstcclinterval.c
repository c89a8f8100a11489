/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclinterval.h"

void
gst_ccl_interval_add (GstCclInterval *interval, GstClockTime time)
{
  interval->intervals[interval->next] = time;
  interval->next = (interval->next + 1) % GST_CCL_INTERVALS;
  interval->n = MIN (interval->n + 1, GST_CCL_INTERVALS);
}

GstClockTime
gst_ccl_interval_estimate (const GstCclInterval *interval)
{
  GstClockTime sorted[GST_CCL_INTERVALS];

  if (interval->n == 0)
    return 0;
  for (guint i = 0; i < interval->n; i++) {
    guint place = i;
    for (; place > 0 && sorted[place - 1] > interval->intervals[i]; place--)
      sorted[place] = sorted[place - 1];
    sorted[place] = interval->intervals[i];
  }
  return sorted[(interval->n - 1) / 2];
}
