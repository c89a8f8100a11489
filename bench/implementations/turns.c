/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timed runs, and streams of runs, which must not wait for Python. */
#include "library.h"

#include <math.h>

enum { DEVICE_BATCH = 10 };               /* runs between two readings of the device's clock */
static const double turn_seconds = 0.002; /* short runs are repeated in a turn until this time */
static const double long_run = 0.05; /* from here on a run needs no warm-up and is its own batch */

CclStatus
take_turn (Implementation *implementation, unsigned warm_up, bool with_steps, double last_run,
    Turn *turn, CclError *error)
{
  const ImplementationClass *klass = implementation->klass;
  const double turn_end = seconds_now () + turn_seconds;

  *turn = (Turn){.device = NAN, .steps = {-1, -1, -1, -1}};
  for (unsigned i = 0; last_run < long_run && i < warm_up; i++)
    TRY (klass->run (implementation, error));
  for (double end = 0; turn->n_runs < MAX_RUNS && end <= turn_end;) {
    const double begin = seconds_now ();
    TRY (klass->run (implementation, error));
    end = seconds_now ();
    turn->runs[turn->n_runs++] = last_run = end - begin;
  }
  if (klass->device_time)
    TRY (klass->device_time (implementation, (unsigned)CLAMP (long_run / last_run, 1, DEVICE_BATCH),
        &turn->device, error));
  if (with_steps && klass->steps)
    TRY (klass->steps (implementation, turn->steps, error));
  return CUDACCL_OK;
}

static void
sleep_until (double moment)
{
  const struct timespec time = {
      .tv_sec = (time_t)moment, .tv_nsec = (long)(1e9 * (moment - floor (moment)))};
  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

CclStatus
run_stream (Implementation *implementation, double begin, double end, double period,
    unsigned *n_frames, unsigned *n_late, CclError *error)
{
  *n_frames = *n_late = 0;
  sleep_until (begin);
  for (double due = begin; seconds_now () < end; due += period) {
    if (period > 0) {
      if (due >= end)
        break;
      sleep_until (due);
    }
    TRY (implementation->klass->run (implementation, error));
    ++*n_frames;
    *n_late += period > 0 && seconds_now () > due + period;
  }
  return CUDACCL_OK;
}
