/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "streams.h"

#include "clock.h"
#include "problem.h"
#include "progress.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

/* One thread and its labeller. */
typedef struct Stream {
  Contender *contender;
  double begin, end; /* on the monotonic clock */
  double period;     /* seconds from frame to frame; 0: as fast as it goes */
  unsigned n_frames, n_late;
  GError *error;
} Stream;

static void
sleep_until (double moment)
{
  const struct timespec time = {
      .tv_sec = (time_t)moment, .tv_nsec = (long)(1e9 * (moment - floor (moment)))};
  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* Processor seconds of the whole process, the driver's threads included. */
static double
processor_seconds (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static gpointer
run_stream (gpointer data)
{
  Stream *stream = data;

  sleep_until (stream->begin);
  for (double due = stream->begin; clock_now () < stream->end; due += stream->period) {
    if (stream->period > 0) {
      if (due >= stream->end)
        break;
      sleep_until (due);
    }
    if (!stream->contender->klass->run (stream->contender, &stream->error))
      break;
    stream->n_frames++;
    stream->n_late += stream->period > 0 && clock_now () > due + stream->period;
  }
  return NULL;
}

/* What a number of streams did together. */
typedef struct Throughput {
  double frames_per_second, processor_seconds_per_frame, late_share;
} Throughput;

static gboolean
run_streams (
    GPtrArray *contenders, double seconds, double period, Throughput *throughput, GError **error)
{
  g_autofree Stream *all = g_new0 (Stream, contenders->len);
  g_autofree GThread **threads = g_new (GThread *, contenders->len);
  const double begin = clock_now () + 0.02; /* all threads are there by then */
  unsigned n_frames = 0, n_late = 0;
  double processor, end;

  for (guint i = 0; i < contenders->len; i++) {
    /* Cameras do not tick together: paced streams are spread over the period. */
    all[i] = (Stream){.contender = contenders->pdata[i],
        .begin = begin + period * i / contenders->len,
        .end = begin + seconds,
        .period = period};
    threads[i] = g_thread_new ("stream", run_stream, &all[i]);
  }
  sleep_until (begin);
  processor = processor_seconds ();
  for (guint i = 0; i < contenders->len; i++)
    g_thread_join (threads[i]);
  end = clock_now ();
  processor = processor_seconds () - processor;

  for (guint i = 0; i < contenders->len; i++) {
    n_frames += all[i].n_frames;
    n_late += all[i].n_late;
    if (all[i].error && error && !*error)
      g_propagate_error (error, all[i].error);
    else
      g_clear_error (&all[i].error);
  }
  if (error && *error)
    return FALSE;
  *throughput = (Throughput){
      .frames_per_second = n_frames / (end - begin),
      .processor_seconds_per_frame = n_frames ? processor / n_frames : 0,
      .late_share = n_frames ? (double)n_late / n_frames : 0,
  };
  return TRUE;
}

/* As many copies of one contender as there are streams, each prepared. */
static GPtrArray *
make_copies (
    const ContenderSettings *settings, guint which, unsigned n, const Input *input, GError **error)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify)contender_free);

  for (unsigned i = 0; i < n; i++) {
    GPtrArray *all = contenders_new (settings);
    g_ptr_array_add (copies, g_ptr_array_steal_index (all, which));
    g_ptr_array_unref (all);
  }
  for (unsigned i = 0; i < n; i++) {
    Contender *contender = copies->pdata[i];
    if (!contender->klass->prepare (contender, input, error)) {
      g_ptr_array_unref (copies);
      return NULL;
    }
  }
  return copies;
}

static void
add_row (Grid *grid, const Contender *contender, unsigned n, const Throughput *fast,
    const Throughput *paced)
{
  g_autofree char *title = contender_title (contender);

  grid_row (grid);
  grid_cell (grid, "%s", title);
  grid_cell (grid, "%u", n);
  grid_cell (grid, "%.0f", fast->frames_per_second);
  grid_time (grid, fast->processor_seconds_per_frame, 1e-6);
  grid_cell (grid, "%.0f", paced->frames_per_second);
  grid_time (grid, paced->processor_seconds_per_frame, 1e-6);
  grid_cell (grid, "%.1f", 100 * paced->late_share);
}

/* Whether a contender is one to run in streams. */
static bool
is_chosen (const GPtrArray *contenders, guint which, const ContenderSettings *settings)
{
  const Contender *contender = contenders->pdata[which];

  if (contender->is_floor)
    return false;
  if (settings->algorithms)
    return true;
  for (guint i = 0; i < which; i++) { /* the first labeller of its device */
    const Contender *earlier = contenders->pdata[i];
    if (!earlier->is_floor && g_str_equal (earlier->device, contender->device))
      return false;
  }
  return true;
}

Grid *
streams (const Input *input, const char *input_name, const ContenderSettings *asked,
    const StreamsSettings *settings)
{
  ContenderSettings one = *asked;
  g_autoptr (GArray) one_thread = g_array_new (FALSE, FALSE, sizeof (unsigned));
  g_autofree char *title = g_strdup_printf (
      "%s, %u×%u: streams in one process, as fast as they go and at %.0f frames/s each", input_name,
      input->width, input->height, settings->frame_rate);
  Grid *grid = grid_new (title);
  GPtrArray *contenders;
  unsigned n_chosen = 0, done = 0;
  double seconds;

  /* Streams share the machine, so each gets one thread; a table is what they are for. */
  g_array_append_vals (one_thread, &(unsigned){1}, 1);
  one.threads = one_thread;
  one.peers = false;
  one.deliveries &= ~(1u << DELIVER_RAW_LABELS);
  if (one.deliveries >> DELIVER_TABLE & 1)
    one.deliveries = 1u << DELIVER_TABLE;
  contenders = contenders_new (&one);

  grid_row (grid);
  grid_cell (grid, "contender");
  grid_cell (grid, "streams");
  grid_cell (grid, "frames/s");
  grid_cell (grid, "CPU µs a frame");
  grid_cell (grid, "paced frames/s");
  grid_cell (grid, "CPU µs a frame, paced");
  grid_cell (grid, "late %%");
  for (guint i = 0; i < contenders->len; i++)
    n_chosen += is_chosen (contenders, i, asked);
  seconds = n_chosen ? settings->seconds / (2 * n_chosen * settings->counts->len) : 0;

  for (guint i = 0; i < contenders->len; i++)
    for (guint k = 0; is_chosen (contenders, i, asked) && k < settings->counts->len; k++) {
      const unsigned n = g_array_index (settings->counts, unsigned, k);
      g_autofree char *name = contender_title (contenders->pdata[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) copies = NULL;
      Throughput fast, paced;

      progress_show (done++, n_chosen * settings->counts->len, name);
      copies = make_copies (&one, i, n, input, &error);
      if (copies && run_streams (copies, seconds, 0, &fast, &error) &&
          run_streams (copies, seconds, 1 / settings->frame_rate, &paced, &error))
        add_row (grid, contenders->pdata[i], n, &fast, &paced);
      else
        problem_tell ("%s in %u streams: %s", name, n, error->message);
    }
  progress_show (done, done, "");
  g_ptr_array_unref (contenders);
  return grid;
}
