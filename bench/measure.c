/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "problem.h"

#include <math.h>
#include <time.h>

enum {
  MAX_RUNS = 20,               /* in a turn */
  MAX_SHARED_PIXELS = 1 << 24, /* on larger inputs one implementation follows the other */
  DEVICE_BATCH = 10,           /* runs between two readings of the device's clock */
};
static const double turn_seconds = 0.002; /* short runs are repeated in a turn until this time */
static const double long_run = 0.05; /* from here on a run needs no warm-up and is its own batch */

double
seconds_now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
quantile (const GArray *sorted, double share)
{
  const double position = share * (sorted->len - 1);
  const guint below = (guint)floor (position), above = (guint)ceil (position);
  const double *values = (const double *)(const void *)sorted->data;
  return values[below] + (position - below) * (values[above] - values[below]);
}

Spread
spread_of (GArray *values)
{
  if (!values->len)
    return (Spread){0};
  g_array_sort (values, compare_doubles);
  return (Spread){
      .median = quantile (values, 0.5),
      .first_quartile = quantile (values, 0.25),
      .third_quartile = quantile (values, 0.75),
      .minimum = quantile (values, 0),
      .n = values->len,
  };
}

double
spread_width (const Spread *spread)
{
  return spread->median > 0 ? (spread->third_quartile - spread->first_quartile) / spread->median
                            : 0;
}

/* The samples of one implementation while its turns go on. */
typedef struct Samples {
  bool takes_part;
  unsigned n_turns;
  double spent; /* seconds, including untimed work */
  double turn;  /* seconds of the last turn */
  double run;   /* seconds of the last run; before the first, of preparing, which includes a run */
  GArray *wall, *device, *steps[N_STEPS];
} Samples;

/* One turn of an implementation. */
static gboolean
take_turn (Implementation *implementation, const MeasureSettings *settings, Samples *samples,
    GError **error)
{
  double begin = seconds_now (), end;
  const double turn_begin = begin, turn_end = begin + turn_seconds;
  const unsigned warm_up = samples->run < long_run ? settings->warm_up : 0;

  for (unsigned i = 0; i < warm_up; i++)
    if (!implementation->klass->run (implementation, error))
      return FALSE;
  for (unsigned i = 0; i < MAX_RUNS; i++) {
    begin = seconds_now ();
    if (!implementation->klass->run (implementation, error))
      return FALSE;
    end = seconds_now ();
    samples->run = end - begin;
    g_array_append_val (samples->wall, samples->run);
    if (end > turn_end)
      break;
  }
  if (implementation->klass->device_time) {
    const unsigned n_runs = (unsigned)CLAMP (long_run / samples->run, 1, DEVICE_BATCH);
    const double seconds = implementation->klass->device_time (implementation, n_runs, error);
    if (seconds < 0)
      return FALSE;
    g_array_append_val (samples->device, seconds);
  }
  if (settings->steps && implementation->klass->steps) {
    double seconds[N_STEPS];
    if (!implementation->klass->steps (implementation, seconds, error))
      return FALSE;
    for (unsigned step = 0; step < N_STEPS; step++)
      if (seconds[step] >= 0)
        g_array_append_val (samples->steps[step], seconds[step]);
  }
  samples->n_turns++;
  samples->turn = seconds_now () - turn_begin;
  samples->spent += samples->turn;
  return TRUE;
}

static void
report_failure (const Implementation *implementation, const char *input_name, GError **error)
{
  g_autofree char *title = implementation_title (implementation);
  problem_report ("%s on %s: %s", title, input_name, (*error)->message);
  g_clear_error (error);
}

/* Prepares an implementation; returns whether it takes part. */
static bool
prepare (Implementation *implementation, const Input *input, const char *input_name,
    double patience, Samples *samples, Measurement *measurement)
{
  const double begin = seconds_now ();
  GError *error = NULL;

  samples->wall = g_array_new (FALSE, FALSE, sizeof (double));
  samples->device = g_array_new (FALSE, FALSE, sizeof (double));
  for (unsigned step = 0; step < N_STEPS; step++)
    samples->steps[step] = g_array_new (FALSE, FALSE, sizeof (double));
  if (implementation->klass->prepare (implementation, input, &error)) {
    samples->spent = samples->run = seconds_now () - begin;
    return true;
  }
  if (g_error_matches (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_UNSUPPORTED)) {
    measurement->outcome = NOT_OFFERED;
    g_clear_error (&error);
  } else {
    const bool too_slow =
        g_error_matches (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_TOO_SLOW);
    measurement->outcome = too_slow ? TOO_SLOW : FAILED;
    measurement->at_least = too_slow ? patience : 0;
    report_failure (implementation, input_name, &error);
  }
  implementation->klass->release (implementation);
  return false;
}

static void
conclude (Implementation *implementation, Samples *samples, Measurement *measurement)
{
  if (samples->takes_part) {
    measurement->n_turns = samples->n_turns;
    measurement->wall = spread_of (samples->wall);
    measurement->device = spread_of (samples->device);
    for (unsigned step = 0; step < N_STEPS; step++)
      measurement->steps[step] = spread_of (samples->steps[step]);
    implementation->klass->release (implementation);
  }
  g_array_unref (samples->wall);
  g_array_unref (samples->device);
  for (unsigned step = 0; step < N_STEPS; step++)
    g_array_unref (samples->steps[step]);
}

/* Whether an implementation may take another turn. Its own share is reserved for it. Beyond that it
 * may use time that is neither spent nor reserved for an implementation that has turns left. */
static bool
may_take_turn (const Samples *samples, guint n, guint i, unsigned repetitions, double seconds)
{
  const double share = seconds / n;
  double free_time = seconds;

  if (!samples[i].takes_part || samples[i].n_turns == repetitions)
    return false;
  for (guint other = 0; other < n; other++) {
    const Samples *each = &samples[other];
    const bool is_done = !each->takes_part || each->n_turns == repetitions;
    free_time -= is_done ? each->spent : MAX (each->spent, share);
  }
  return samples[i].n_turns == 0 ||
         samples[i].turn <= MAX (0, share - samples[i].spent) + MAX (0, free_time);
}

/* Measures the implementations from first to end - 1 in turns. */
static void
measure_group (const GPtrArray *implementations, guint first, guint end, const Input *input,
    const char *input_name, const MeasureSettings *settings, double seconds,
    Measurement *measurements)
{
  g_autofree Samples *samples = g_new0 (Samples, implementations->len);
  bool goes_on = true;

  for (guint i = first; i < end; i++)
    samples[i].takes_part = prepare (implementations->pdata[i], input, input_name,
        settings->patience, &samples[i], &measurements[i]);

  while (goes_on) {
    goes_on = false;
    for (guint i = first; i < end; i++) {
      Implementation *implementation = implementations->pdata[i];
      GError *error = NULL;
      if (!may_take_turn (samples + first, end - first, i - first, settings->repetitions, seconds))
        continue;
      goes_on = true;
      if (take_turn (implementation, settings, &samples[i], &error))
        continue;
      samples[i].takes_part = false;
      measurements[i].outcome = FAILED;
      report_failure (implementation, input_name, &error);
      implementation->klass->release (implementation);
    }
  }
  for (guint i = first; i < end; i++)
    conclude (implementations->pdata[i], &samples[i], &measurements[i]);
}

void
measure (const GPtrArray *implementations, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements)
{
  /* All implementations of a group hold their memory at once, which is too much for large inputs.
   */
  const guint group =
      input_n_pixels (input) > MAX_SHARED_PIXELS ? 1 : MAX (1, implementations->len);

  for (guint first = 0; first < implementations->len; first += group)
    measure_group (implementations, first, first + group, input, input_name, settings,
        settings->seconds * group / implementations->len, measurements);
}
