/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often something happened in the last seconds. Zero is never. Not thread-safe. */
#pragma once

#include <glib.h>

#define WATCH_RATE_SECONDS 30

typedef struct {
  guint counts[WATCH_RATE_SECONDS + 1]; /* of a second, at its number modulo the length */
  gint64 second;                        /* of the latest count, monotonic */
} WatchRate;

/* It happened now. */
void watch_rate_add (WatchRate *rate);
/* How often it happened in the last whole seconds, at most WATCH_RATE_SECONDS of them. */
guint watch_rate_count (WatchRate *rate, guint seconds);
/* In how many of the last WATCH_RATE_SECONDS whole seconds it happened. */
guint watch_rate_count_seconds (WatchRate *rate);
