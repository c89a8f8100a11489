/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include "measure.h"
#include "problem.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

/* One thread and its labeller. */
typedef struct Stream {
  Implementation *implementation;
  double begin, end; /* on the monotonic clock */
  double period;     /* seconds from frame to frame; 0: no pacing */
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
  for (double due = stream->begin; seconds_now () < stream->end; due += stream->period) {
    if (stream->period > 0) {
      if (due >= stream->end)
        break;
      sleep_until (due);
    }
    if (!stream->implementation->klass->run (stream->implementation, &stream->error))
      break;
    stream->n_frames++;
    stream->n_late += stream->period > 0 && seconds_now () > due + stream->period;
  }
  return NULL;
}

/* The result of all streams together. */
typedef struct Throughput {
  double frames_per_second, processor_seconds_per_frame, late_share;
} Throughput;

static gboolean
run_streams (GPtrArray *implementations, double seconds, double period, Throughput *throughput,
    GError **error)
{
  g_autofree Stream *all = g_new0 (Stream, implementations->len);
  g_autofree GThread **threads = g_new (GThread *, implementations->len);
  const double begin = seconds_now () + 0.02; /* all threads have started by then */
  unsigned n_frames = 0, n_late = 0;
  double processor, end;

  for (guint i = 0; i < implementations->len; i++) {
    /* Cameras are not synchronised: the paced streams are spread over the period. */
    all[i] = (Stream){.implementation = implementations->pdata[i],
        .begin = begin + period * i / implementations->len,
        .end = begin + seconds,
        .period = period};
    threads[i] = g_thread_new ("stream", run_stream, &all[i]);
  }
  sleep_until (begin);
  processor = processor_seconds ();
  for (guint i = 0; i < implementations->len; i++)
    g_thread_join (threads[i]);
  end = seconds_now ();
  processor = processor_seconds () - processor;

  for (guint i = 0; i < implementations->len; i++) {
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

/* Makes n prepared copies of one implementation. */
static GPtrArray *
make_copies (const ImplementationSettings *settings, guint which, unsigned n, const Input *input,
    GError **error)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify)implementation_free);

  for (unsigned i = 0; i < n; i++) {
    GPtrArray *all = implementations_new (settings);
    g_ptr_array_add (copies, g_ptr_array_steal_index (all, which));
    g_ptr_array_unref (all);
  }
  for (unsigned i = 0; i < n; i++) {
    Implementation *implementation = copies->pdata[i];
    if (!implementation->klass->prepare (implementation, input, error)) {
      g_ptr_array_unref (copies);
      return NULL;
    }
  }
  return copies;
}

static void
add_row (Table *table, const Implementation *implementation, unsigned n, const Throughput *fast,
    const Throughput *paced)
{
  g_autofree char *title = implementation_title (implementation);

  table_row (table);
  table_text (table, "%s", title);
  table_number (table, n, 0);
  table_number (table, fast->frames_per_second, 0);
  table_number (table, 1e6 * fast->processor_seconds_per_frame, 2);
  table_number (table, paced->frames_per_second, 0);
  table_number (table, 1e6 * paced->processor_seconds_per_frame, 2);
  table_number (table, 100 * paced->late_share, 1);
}

/* Whether an implementation runs in streams. */
static bool
is_chosen (const GPtrArray *implementations, guint which, const ImplementationSettings *settings)
{
  const Implementation *implementation = implementations->pdata[which];

  if (implementation->is_bound)
    return false;
  if (settings->algorithms)
    return true;
  for (guint i = 0; i < which; i++) { /* the first labeller of its device */
    const Implementation *earlier = implementations->pdata[i];
    if (!earlier->is_bound && g_str_equal (earlier->device, implementation->device))
      return false;
  }
  return true;
}

Table *
streams (const Input *input, const ImplementationSettings *asked, const StreamsSettings *settings)
{
  static const char *const columns[] = {"implementation", "streams", "frames/s", "CPU µs a frame",
      "paced frames/s", "CPU µs a frame, paced", "late %", NULL};
  ImplementationSettings one = *asked;
  g_autoptr (GArray) one_thread = g_array_new (FALSE, FALSE, sizeof (unsigned));
  Table *table = table_new (columns);
  g_autoptr (GPtrArray) implementations = NULL;
  unsigned n_chosen = 0, done = 0;
  double seconds;

  /* Streams share the machine, so each has one thread and delivers the cheapest useful result. */
  g_array_append_vals (one_thread, &(unsigned){1}, 1);
  one.threads = one_thread;
  one.peers = false;
  one.deliveries &= ~(1u << DELIVER_RAW_LABELS);
  if (one.deliveries >> DELIVER_TABLE & 1)
    one.deliveries = 1u << DELIVER_TABLE;
  implementations = implementations_new (&one);

  for (guint i = 0; i < implementations->len; i++)
    n_chosen += is_chosen (implementations, i, asked);
  seconds = n_chosen ? settings->seconds / (2 * n_chosen * settings->counts->len) : 0;

  for (guint i = 0; i < implementations->len; i++)
    for (guint k = 0; is_chosen (implementations, i, asked) && k < settings->counts->len; k++) {
      const unsigned n = g_array_index (settings->counts, unsigned, k);
      g_autofree char *name = implementation_title (implementations->pdata[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) copies = NULL;
      Throughput fast, paced;

      progress_show (done++, n_chosen * settings->counts->len, name);
      copies = make_copies (&one, i, n, input, &error);
      if (copies && run_streams (copies, seconds, 0, &fast, &error) &&
          run_streams (copies, seconds, 1 / settings->frame_rate, &paced, &error))
        add_row (table, implementations->pdata[i], n, &fast, &paced);
      else
        problem_report ("%s in %u streams: %s", name, n, error->message);
    }
  progress_show (done, done, "");
  return table;
}
