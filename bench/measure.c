/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "problem.h"

#include <math.h>
#include <time.h>

enum {
  FEWEST_TURNS = 3,  /* whatever the time limit says; a spread needs some */
  MOST_RUNS = 20,    /* in a turn */
  DEVICE_BATCH = 10, /* runs between two readings of the device's clock */
};
static const double turn_seconds = 0.002; /* short runs are repeated within a turn for so long */

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

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The samples of one contender while its turns go on. */
typedef struct Samples {
  bool takes_part;
  GArray *wall, *device, *steps[N_STEPS];
} Samples;

/* One turn of a contender. */
static gboolean
take_turn (Contender *contender, const MeasureSettings *settings, Samples *samples, GError **error)
{
  double begin = now (), end;
  const double turn_end = begin + turn_seconds;

  for (unsigned i = 0; i < settings->warm_up; i++)
    if (!contender->klass->run (contender, error))
      return FALSE;
  for (unsigned i = 0; i < MOST_RUNS; i++) {
    begin = now ();
    if (!contender->klass->run (contender, error))
      return FALSE;
    end = now ();
    g_array_append_vals (samples->wall, &(double){end - begin}, 1);
    if (end > turn_end)
      break;
  }
  if (contender->klass->device_time) {
    const double seconds = contender->klass->device_time (contender, DEVICE_BATCH, error);
    if (seconds < 0)
      return FALSE;
    g_array_append_val (samples->device, seconds);
  }
  if (settings->steps && contender->klass->steps) {
    double seconds[N_STEPS];
    if (!contender->klass->steps (contender, seconds, error))
      return FALSE;
    for (unsigned step = 0; step < N_STEPS; step++)
      if (seconds[step] >= 0)
        g_array_append_val (samples->steps[step], seconds[step]);
  }
  return TRUE;
}

static void
tell_failure (const Contender *contender, const char *input_name, GError **error)
{
  g_autofree char *title = contender_title (contender);
  problem_tell ("%s on %s: %s", title, input_name, (*error)->message);
  g_clear_error (error);
}

void
measure (const GPtrArray *contenders, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements)
{
  g_autofree Samples *samples = g_new0 (Samples, contenders->len);
  GError *error = NULL;
  double deadline;

  for (guint i = 0; i < contenders->len; i++) {
    Contender *contender = contenders->pdata[i];
    measurements[i] = (Measurement){0};
    samples[i].wall = g_array_new (FALSE, FALSE, sizeof (double));
    samples[i].device = g_array_new (FALSE, FALSE, sizeof (double));
    for (unsigned step = 0; step < N_STEPS; step++)
      samples[i].steps[step] = g_array_new (FALSE, FALSE, sizeof (double));
    samples[i].takes_part = contender->klass->prepare (contender, input, &error);
    if (samples[i].takes_part)
      continue;
    if (g_error_matches (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED)) {
      measurements[i].outcome = NOT_OFFERED;
      g_clear_error (&error);
    } else {
      measurements[i].outcome = FAILED;
      tell_failure (contender, input_name, &error);
    }
    contender->klass->release (contender);
  }

  deadline = now () + settings->seconds;
  for (unsigned turn = 0; turn < settings->repetitions; turn++) {
    if (turn >= FEWEST_TURNS && now () > deadline)
      break;
    for (guint i = 0; i < contenders->len; i++) {
      Contender *contender = contenders->pdata[i];
      if (!samples[i].takes_part)
        continue;
      samples[i].takes_part = take_turn (contender, settings, &samples[i], &error);
      if (!samples[i].takes_part) {
        measurements[i].outcome = FAILED;
        tell_failure (contender, input_name, &error);
        contender->klass->release (contender);
      }
    }
  }

  for (guint i = 0; i < contenders->len; i++) {
    Contender *contender = contenders->pdata[i];
    if (samples[i].takes_part) {
      measurements[i].wall = spread_of (samples[i].wall);
      measurements[i].device = spread_of (samples[i].device);
      for (unsigned step = 0; step < N_STEPS; step++)
        measurements[i].steps[step] = spread_of (samples[i].steps[step]);
      contender->klass->release (contender);
    }
    g_array_unref (samples[i].wall);
    g_array_unref (samples[i].device);
    for (unsigned step = 0; step < N_STEPS; step++)
      g_array_unref (samples[i].steps[step]);
  }
}
