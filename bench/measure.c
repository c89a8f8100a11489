/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include <math.h>

enum {
  MAX_RUNS = 20,               /* in a turn */
  MAX_SHARED_PIXELS = 1 << 24, /* on larger inputs one implementation follows the other */
  DEVICE_BATCH = 10,           /* runs between two readings of the device's clock */
};
static const double turn_seconds = 0.002; /* short runs are repeated in a turn until this time */
static const double long_run = 0.05; /* from here on a run needs no warm-up and is its own batch */

double
seconds_on (clockid_t clock)
{
  struct timespec time;
  clock_gettime (clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double
seconds_now (void)
{
  return seconds_on (CLOCK_MONOTONIC);
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

/* The samples of one implementation while its turns go on. */
typedef struct Samples {
  bool takes_part;
  unsigned n_turns;
  double spent; /* seconds, including untimed work */
  double turn;  /* seconds of the last turn */
  double run;   /* seconds of the last run; before the first, of preparing, which includes a run */
  GArray *times[N_TIMES];
} Samples;

/* One turn of an implementation. */
static CclStatus
take_turn (Implementation *implementation, const MeasureSettings *settings, Samples *samples,
    CclError *error)
{
  const ImplementationClass *klass = implementation->klass;
  double begin = seconds_now (), end;
  const double turn_begin = begin, turn_end = begin + turn_seconds;
  const unsigned warm_up = samples->run < long_run ? settings->warm_up : 0;

  for (unsigned i = 0; i < warm_up; i++)
    TRY (klass->run (implementation, error));
  for (unsigned i = 0; i < MAX_RUNS; i++) {
    begin = seconds_now ();
    TRY (klass->run (implementation, error));
    end = seconds_now ();
    samples->run = end - begin;
    g_array_append_val (samples->times[TIME_WALL], samples->run);
    if (end > turn_end)
      break;
  }
  if (klass->device_time) {
    const unsigned n_runs = (unsigned)CLAMP (long_run / samples->run, 1, DEVICE_BATCH);
    double seconds;
    TRY (klass->device_time (implementation, n_runs, &seconds, error));
    g_array_append_val (samples->times[TIME_DEVICE], seconds);
  }
  if (settings->steps && klass->steps) {
    double seconds[N_STEPS];
    TRY (klass->steps (implementation, seconds, error));
    for (unsigned step = 0; step < N_STEPS; step++)
      if (seconds[step] >= 0)
        g_array_append_val (samples->times[TIME_STEPS + step], seconds[step]);
  }
  samples->n_turns++;
  samples->turn = seconds_now () - turn_begin;
  samples->spent += samples->turn;
  return CCL_OK;
}

/* Ends the part of an implementation that failed, or that does not offer the input. */
static void
leave_out (Implementation *implementation, const char *input_name, const CclError *error,
    Samples *samples, Measurement *measurement)
{
  measurement->outcome = implementation->gave_up                  ? TOO_SLOW
                         : error->status == CCL_ERROR_UNSUPPORTED ? NOT_OFFERED
                                                                  : FAILED;
  if (measurement->outcome != NOT_OFFERED)
    implementation_report (implementation, input_name, error);
  samples->takes_part = false;
  implementation->klass->release (implementation);
}

static void
prepare (Implementation *implementation, const Input *input, const char *input_name,
    Samples *samples, Measurement *measurement)
{
  const double begin = seconds_now ();
  CclError error;

  for (unsigned i = 0; i < N_TIMES; i++)
    samples->times[i] = g_array_new (FALSE, FALSE, sizeof (double));
  samples->takes_part = true;
  if (implementation->klass->prepare (implementation, input, &error) == CCL_OK)
    samples->spent = samples->run = seconds_now () - begin;
  else
    leave_out (implementation, input_name, &error, samples, measurement);
}

static void
conclude (Implementation *implementation, Samples *samples, Measurement *measurement)
{
  if (samples->takes_part) {
    measurement->n_turns = samples->n_turns;
    for (unsigned i = 0; i < N_TIMES; i++)
      measurement->times[i] = spread_of (samples->times[i]);
    implementation->klass->release (implementation);
  }
  for (unsigned i = 0; i < N_TIMES; i++)
    g_array_unref (samples->times[i]);
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
    prepare (implementations->pdata[i], input, input_name, &samples[i], &measurements[i]);

  while (goes_on) {
    goes_on = false;
    for (guint i = first; i < end; i++) {
      CclError error;
      if (!may_take_turn (samples + first, end - first, i - first, settings->repetitions, seconds))
        continue;
      goes_on = true;
      if (take_turn (implementations->pdata[i], settings, &samples[i], &error) != CCL_OK)
        leave_out (implementations->pdata[i], input_name, &error, &samples[i], &measurements[i]);
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

/* One thread and its implementation. */
typedef struct Stream {
  Implementation *implementation;
  double begin, end; /* on the monotonic clock */
  double period;     /* seconds from frame to frame; 0: no pacing */
  unsigned n_frames, n_late;
  CclStatus status;
  CclError error;
} Stream;

static void
sleep_until (double moment)
{
  const struct timespec time = {
      .tv_sec = (time_t)moment, .tv_nsec = (long)(1e9 * (moment - floor (moment)))};
  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static gpointer
run_stream (gpointer data)
{
  Stream *stream = data;

  sleep_until (stream->begin);
  for (double due = stream->begin; seconds_now () < stream->end; due += stream->period) {
    if (stream->period > 0) {
      if (due >= stream->end)
        break;
      sleep_until (due);
    }
    stream->status = stream->implementation->klass->run (stream->implementation, &stream->error);
    if (stream->status != CCL_OK)
      break;
    stream->n_frames++;
    stream->n_late += stream->period > 0 && seconds_now () > due + stream->period;
  }
  return NULL;
}

CclStatus
measure_streams (
    const GPtrArray *implementations, double seconds, double period, Table *table, CclError *error)
{
  g_autofree Stream *all = g_new0 (Stream, implementations->len);
  g_autofree GThread **threads = g_new (GThread *, implementations->len);
  const double begin = seconds_now () + 0.02; /* all threads have started by then */
  unsigned n_frames = 0, n_late = 0;
  double processor, elapsed;

  for (guint i = 0; i < implementations->len; i++) {
    /* Cameras are not synchronised: the paced streams are spread over the period. */
    all[i] = (Stream){.implementation = implementations->pdata[i],
        .begin = begin + period * i / implementations->len,
        .end = begin + seconds,
        .period = period};
    threads[i] = g_thread_new ("stream", run_stream, &all[i]);
  }
  sleep_until (begin);
  processor = seconds_on (CLOCK_PROCESS_CPUTIME_ID); /* the driver's threads included */
  for (guint i = 0; i < implementations->len; i++)
    g_thread_join (threads[i]);
  elapsed = seconds_now () - begin;
  processor = seconds_on (CLOCK_PROCESS_CPUTIME_ID) - processor;

  for (guint i = 0; i < implementations->len; i++) {
    if (all[i].status != CCL_OK) {
      *error = all[i].error;
      return all[i].status;
    }
    n_frames += all[i].n_frames;
    n_late += all[i].n_late;
  }
  table_number (table, n_frames / elapsed, 0);
  table_number (table, n_frames ? 1e6 * processor / n_frames : 0, 2);
  if (period > 0)
    table_number (table, n_frames ? 100.0 * n_late / n_frames : 0, 1);
  return CCL_OK;
}

/* What measure_sources() hands to each input. */
typedef struct Run {
  const char *mode;
  const GPtrArray *implementations;
  MeasureSettings settings;
  double patience;
  Table *table;
} Run;

static double
foreground_share (const Input *input)
{
  size_t n_foreground = 0;

  for (size_t i = 0, n = input_n_pixels (input); i < n; i++)
    n_foreground += input->pixels[i] != 0;
  return (double)n_foreground / (double)input_n_pixels (input);
}

static void
add_spread (Table *table, const Spread *spread)
{
  const double seconds[] = {
      spread->median, spread->first_quartile, spread->third_quartile, spread->minimum};

  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++)
    table_number (table, spread->n ? 1e6 * seconds[i] : NAN, 3);
  table_number (table, spread->n, 0);
}

static gboolean
measure_input (const Input *input, const InputSource *source, const char *title, gpointer data)
{
  static const char *const outcomes[] = {"measured", "not offered", "failed", "too slow"};
  const Run *run = data;
  const unsigned *values = source->values;
  const bool is_noise = values[KEY_GRANULARITY] > 0;
  const double foreground = foreground_share (input);
  g_autofree Measurement *measurements = g_new0 (Measurement, run->implementations->len);
  Table *table = run->table;

  measure (run->implementations, input, title, &run->settings, measurements);
  for (guint i = 0; i < run->implementations->len; i++) {
    const Implementation *implementation = run->implementations->pdata[i];
    const Measurement *measurement = &measurements[i];
    table_row (table);
    table_text (table, "%s", run->mode);
    table_text (table, "%s", source->set);
    table_text (table, "%s", source->name);
    table_number (table, input->width, 0);
    table_number (table, input->height, 0);
    table_number (table, input->depth, 0);
    table_number (table, foreground, 4);
    table_number (table, is_noise ? values[KEY_GRANULARITY] : NAN, 0);
    table_number (table, is_noise ? values[KEY_DENSITY] : NAN, 0);
    table_text (table, "%s", implementation->device);
    table_text (table, "%s", implementation->maker);
    table_text (table, "%s", implementation->algorithm);
    table_text (table, "%s", delivery_name (implementation->delivery));
    table_number (table, implementation->threads, 0);
    table_text (table, "%s", outcomes[measurement->outcome]);
    add_spread (table, &measurement->times[TIME_WALL]);
    add_spread (table, &measurement->times[TIME_DEVICE]);
    for (unsigned step = TIME_STEPS; step < N_TIMES; step++)
      table_number (
          table, measurement->times[step].n ? 1e6 * measurement->times[step].median : NAN, 3);
    table_number (table, measurement->n_turns, 0);
    table_number (table, measurement->outcome == TOO_SLOW ? 1e6 * run->patience : NAN, 0);
  }
  return TRUE;
}

Table *
measure_sources (const char *mode, const GPtrArray *sources, const GPtrArray *implementations,
    const MeasureSettings *settings, double seconds, double patience)
{
  static const char *const columns[] = {"mode", "set", "input", "width", "height", "depth",
      "foreground", "granularity", "density", "device", "maker", "algorithm", "delivers", "threads",
      "outcome", "wall_us", "wall_q1_us", "wall_q3_us", "wall_min_us", "wall_n", "gpu_us",
      "gpu_q1_us", "gpu_q3_us", "gpu_min_us", "gpu_n", "allocation_us", "scan_us", "merging_us",
      "relabelling_us", "turns", "at_least_us", NULL};
  Run run = {mode, implementations, *settings, patience, table_new (columns)};

  run.settings.seconds = seconds / MAX (1, sources->len);
  inputs_visit (sources, measure_input, &run);
  return run.table;
}
