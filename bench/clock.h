/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock that wall times are read from. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

/* Seconds on the monotonic clock. */
static inline double
clock_now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif /* BENCH_CLOCK_H */
