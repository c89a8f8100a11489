/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rate.h"

#define LENGTH (WATCH_RATE_SECONDS + 1) /* with the present second */

/* Moves on to the present second. */
static void
advance (WatchRate *rate)
{
  const gint64 second = g_get_monotonic_time () / G_USEC_PER_SEC;
  const gint64 passed = MIN (second - rate->second, LENGTH);

  for (gint64 i = 1; i <= passed; i++)
    rate->counts[(rate->second + i) % LENGTH] = 0;
  rate->second = second;
}

void
watch_rate_add (WatchRate *rate)
{
  advance (rate);
  rate->counts[rate->second % LENGTH]++;
}

guint
watch_rate_count (WatchRate *rate, guint seconds)
{
  guint count = 0;

  advance (rate);
  for (gint64 i = 1; i <= seconds; i++)
    count += rate->counts[(rate->second + LENGTH - i) % LENGTH];
  return count;
}

guint
watch_rate_count_seconds (WatchRate *rate)
{
  guint n = 0;

  advance (rate);
  for (gint64 i = 1; i <= WATCH_RATE_SECONDS; i++)
    n += rate->counts[(rate->second + LENGTH - i) % LENGTH] > 0;
  return n;
}
