/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "clock.h"
#include "problem.h"

#include <math.h>

enum {
  MOST_RUNS = 20,         /* in a turn */
  TURNS_PIXELS = 1 << 24, /* larger inputs are measured by one contender after the other */
  DEVICE_BATCH = 10,      /* runs between two readings of the device's clock */
};
static const double turn_seconds = 0.002; /* short runs are repeated within a turn for so long */
static const double long_run = 0.05; /* such a run needs no warm-up, and is a batch by itself */

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

/* The samples of one contender while its turns go on. */
typedef struct Samples {
  bool takes_part;
  unsigned n_turns;
  double spent; /* seconds, with all that was not timed */
  double turn;  /* seconds of the last turn */
  double run;   /* seconds of the last run; before the first, of preparing, which ends with one */
  GArray *wall, *device, *steps[N_STEPS];
} Samples;

/* One turn of a contender. */
static gboolean
take_turn (Contender *contender, const MeasureSettings *settings, Samples *samples, GError **error)
{
  double begin = clock_now (), end;
  const double turn_begin = begin, turn_end = begin + turn_seconds;
  const unsigned warm_up = samples->run < long_run ? settings->warm_up : 0;

  for (unsigned i = 0; i < warm_up; i++)
    if (!contender->klass->run (contender, error))
      return FALSE;
  for (unsigned i = 0; i < MOST_RUNS; i++) {
    begin = clock_now ();
    if (!contender->klass->run (contender, error))
      return FALSE;
    end = clock_now ();
    samples->run = end - begin;
    g_array_append_val (samples->wall, samples->run);
    if (end > turn_end)
      break;
  }
  if (contender->klass->device_time) {
    const unsigned n_runs = (unsigned)CLAMP (long_run / samples->run, 1, DEVICE_BATCH);
    const double seconds = contender->klass->device_time (contender, n_runs, error);
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
  samples->n_turns++;
  samples->turn = clock_now () - turn_begin;
  samples->spent += samples->turn;
  return TRUE;
}

static void
tell_failure (const Contender *contender, const char *input_name, GError **error)
{
  g_autofree char *title = contender_title (contender);
  problem_tell ("%s on %s: %s", title, input_name, (*error)->message);
  g_clear_error (error);
}

/* Readies a contender; whether it takes part. */
static bool
prepare (Contender *contender, const Input *input, const char *input_name, double patience,
    Samples *samples, Measurement *measurement)
{
  const double begin = clock_now ();
  GError *error = NULL;

  samples->wall = g_array_new (FALSE, FALSE, sizeof (double));
  samples->device = g_array_new (FALSE, FALSE, sizeof (double));
  for (unsigned step = 0; step < N_STEPS; step++)
    samples->steps[step] = g_array_new (FALSE, FALSE, sizeof (double));
  if (contender->klass->prepare (contender, input, &error)) {
    samples->spent = samples->run = clock_now () - begin;
    return true;
  }
  if (g_error_matches (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED)) {
    measurement->outcome = NOT_OFFERED;
    g_clear_error (&error);
  } else {
    const bool too_slow = g_error_matches (error, CONTENDER_ERROR, CONTENDER_ERROR_TOO_SLOW);
    measurement->outcome = too_slow ? TOO_SLOW : FAILED;
    measurement->at_least = too_slow ? patience : 0;
    tell_failure (contender, input_name, &error);
  }
  contender->klass->release (contender);
  return false;
}

static void
conclude (Contender *contender, Samples *samples, Measurement *measurement)
{
  if (samples->takes_part) {
    measurement->n_turns = samples->n_turns;
    measurement->wall = spread_of (samples->wall);
    measurement->device = spread_of (samples->device);
    for (unsigned step = 0; step < N_STEPS; step++)
      measurement->steps[step] = spread_of (samples->steps[step]);
    contender->klass->release (contender);
  }
  g_array_unref (samples->wall);
  g_array_unref (samples->device);
  for (unsigned step = 0; step < N_STEPS; step++)
    g_array_unref (samples->steps[step]);
}

/* Whether a contender may take another turn. What it has left of its share is its own; beyond
 * that it takes what is neither spent nor the share of one that still has turns to take. */
static bool
may_take_turn (const Samples *samples, guint n, guint i, unsigned repetitions, double seconds)
{
  const double share = seconds / n;
  double unclaimed = seconds;

  if (!samples[i].takes_part || samples[i].n_turns == repetitions)
    return false;
  for (guint other = 0; other < n; other++) {
    const Samples *each = &samples[other];
    const bool is_done = !each->takes_part || each->n_turns == repetitions;
    unclaimed -= is_done ? each->spent : MAX (each->spent, share);
  }
  return samples[i].n_turns == 0 ||
         samples[i].turn <= MAX (0, share - samples[i].spent) + MAX (0, unclaimed);
}

/* Contenders first to end - 1, in turns. */
static void
measure_group (const GPtrArray *contenders, guint first, guint end, const Input *input,
    const char *input_name, const MeasureSettings *settings, double seconds,
    Measurement *measurements)
{
  g_autofree Samples *samples = g_new0 (Samples, contenders->len);
  bool goes_on = true;

  for (guint i = first; i < end; i++)
    samples[i].takes_part = prepare (
        contenders->pdata[i], input, input_name, settings->patience, &samples[i], &measurements[i]);

  while (goes_on) {
    goes_on = false;
    for (guint i = first; i < end; i++) {
      Contender *contender = contenders->pdata[i];
      GError *error = NULL;
      if (!may_take_turn (samples + first, end - first, i - first, settings->repetitions, seconds))
        continue;
      goes_on = true;
      if (take_turn (contender, settings, &samples[i], &error))
        continue;
      samples[i].takes_part = false;
      measurements[i].outcome = FAILED;
      tell_failure (contender, input_name, &error);
      contender->klass->release (contender);
    }
  }
  for (guint i = first; i < end; i++)
    conclude (contenders->pdata[i], &samples[i], &measurements[i]);
}

void
measure (const GPtrArray *contenders, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements)
{
  /* Every contender that waits for its turn holds its memory, which adds up for large inputs. */
  const guint group = input_n_pixels (input) > TURNS_PIXELS ? 1 : MAX (1, contenders->len);

  for (guint first = 0; first < contenders->len; first += group)
    measure_group (contenders, first, first + group, input, input_name, settings,
        settings->seconds * group / contenders->len, measurements);
}
