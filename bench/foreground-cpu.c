/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background model, noise filter and labelling on one CPU thread, beside OpenCV's MOG2, filters and
 * connectedComponentsWithStats if the program was built with OpenCV.
 *
 * Both process every frame in turn, so that other load on the machine affects both alike. The times
 * are processor time of the thread, after the warm-up of the model.
 */
#include "frame-sequence.h"
#include "measure.h"
#include "peer-mog2.h"
#include "table.h"

#include <cudaccl/cudaccl.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { MODEL, DENOISE, LABEL, TOGETHER, N_TIMES };

/* Seconds of each part for every measured frame. */
typedef struct Times {
  GArray *parts[N_TIMES];
  uint64_t n_components;
} Times;

static double
processor_seconds (void)
{
  struct timespec time;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void
stop_unless (bool ok, const char *message)
{
  if (ok)
    return;
  g_printerr ("foreground-cpu: %s\n", message);
  exit (EXIT_FAILURE);
}

/* moments: before the first part and after each. */
static void
times_add (Times *times, const double moments[TOGETHER + 1], uint32_t n_components)
{
  for (int part = 0; part < N_TIMES; part++) {
    const double time =
        part == TOGETHER ? moments[TOGETHER] - moments[0] : moments[part + 1] - moments[part];
    g_array_append_val (times->parts[part], time);
  }
  times->n_components += n_components;
}

/* The library's objects, and the settings of a run. */
typedef struct Ours {
  CclForeground *foreground;
  CclLabeller *labeller;
  CclForegroundOptions options;
  uint8_t *mask;
  size_t stride;
} Ours;

static void
ours_init (Ours *ours, const FrameSequence *sequence, CclDenoise denoise)
{
  const CclForegroundPlan plan = {
      .width = sequence->width,
      .height = sequence->height,
      .method = CCL_FOREGROUND_MOG2,
      .n_threads = 1,
  };
  const CclPlan labeller_plan = {
      .width = sequence->width,
      .height = sequence->height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 4096,
      .n_threads = 1,
  };
  CclError error;

  *ours = (Ours){
      .options =
          {
              .denoise = denoise,
              .history = 500,
              .var_threshold = 16,
              .learning_rate = -1,
              .mixtures = 5,
          },
      .mask = g_malloc ((size_t)sequence->width * sequence->height),
      .stride = sequence->width,
  };
  stop_unless ((ours->foreground = ccl_cpu_foreground_new (&plan, &error)), error.message);
  stop_unless ((ours->labeller = ccl_cpu_labeller_new (&labeller_plan, &error)), error.message);
}

static void
ours_clear (Ours *ours)
{
  ccl_labeller_free (&ours->labeller);
  ccl_foreground_free (&ours->foreground);
  g_free (ours->mask);
}

static void
ours_run (Ours *ours, const uint8_t *pixels, Times *times)
{
  const CclFrame frame = {.data = pixels, .stride = ours->stride};
  const CclFrame mask_frame = {.data = ours->mask, .stride = ours->stride};
  const CclMask mask = {.data = ours->mask, .stride = ours->stride};
  double moments[TOGETHER + 1];
  CclTable table;
  CclError error;

  moments[0] = processor_seconds ();
  stop_unless (
      ccl_foreground_run (ours->foreground, &frame, &ours->options, &mask, &error) == CCL_OK,
      error.message);
  moments[1] = moments[2] = processor_seconds (); /* the same call filters the noise */
  stop_unless (ccl_labeller_run (
                   ours->labeller, &mask_frame, &(CclOptions){0}, NULL, &table, &error) == CCL_OK,
      error.message);
  moments[3] = processor_seconds ();
  if (times)
    times_add (times, moments, table.n_components);
}

#if HAVE_MOG2
static void
theirs_run (PeerMog2 *peer, const uint8_t *pixels, Times *times)
{
  double moments[TOGETHER + 1];
  uint32_t n_components;

  moments[0] = processor_seconds ();
  peer_mog2_model (peer, pixels);
  moments[1] = processor_seconds ();
  peer_mog2_denoise (peer);
  moments[2] = processor_seconds ();
  n_components = peer_mog2_label (peer);
  moments[3] = processor_seconds ();
  if (times)
    times_add (times, moments, n_components);
}
#endif

/* Adds a row for the shortest times and one for the medians, which are returned. */
static void
add_rows (Table *table, const char *name, const Times *times, double medians[N_TIMES])
{
  static const char *const statistics[] = {"shortest", "median"};
  Spread spreads[N_TIMES];

  for (int part = 0; part < N_TIMES; part++) {
    spreads[part] = spread_of (times->parts[part]);
    medians[part] = spreads[part].median;
  }
  for (int i = 0; i < 2; i++) {
    table_row (table);
    table_text (table, "%s, %s", name, statistics[i]);
    for (int part = 0; part < N_TIMES; part++) {
      const double seconds = i ? medians[part] : spreads[part].minimum;
      table_number (table, seconds > 0 ? 1e3 * seconds : NAN, 3);
    }
    table_number (table, 1 / (i ? medians[TOGETHER] : spreads[TOGETHER].minimum), 0);
    table_number (table, (double)times->n_components / times->parts[0]->len, 1);
  }
}

static void
print_times (const Times times[2])
{
  static const char *const columns[] = {"processor time on one thread, ms", "mask", "denoise",
      "label + table", "together", "frames/s", "components", NULL};
  g_autoptr (Table) table = table_new (columns);
  double ours[N_TIMES];

  add_rows (table, "cudaccl", &times[0], ours);
#if HAVE_MOG2
  double theirs[N_TIMES];
  add_rows (table, peer_mog2_version (), &times[1], theirs);
  table_row (table);
  table_text (table, "ratio of the medians");
  for (int part = 0; part < N_TIMES; part++)
    table_number (table, part == LABEL || part == TOGETHER ? theirs[part] / ours[part] : NAN, 1);
#endif
  table_print (table, stdout);
}

static CclDenoise
parse_denoise (const char *name)
{
  static const char *const names[] = {
      "none", "median-3", "median-5", "opening-3", "opening-5", NULL};
  CclDenoise denoise = CCL_DENOISE_NONE;

  while (name && names[denoise] && !g_str_equal (names[denoise], name))
    denoise++;
  stop_unless (names[denoise], "--help lists the values of --denoise");
  return denoise;
}

int
main (int argc, char **argv)
{
  int n_warm_up = 200, n_measured = 200;
  g_autofree char *denoise = NULL;
  const GOptionEntry entries[] = {
      {"warm-up", 0, 0, G_OPTION_ARG_INT, &n_warm_up, "frames before measuring; default: 200", "N"},
      {"measured", 0, 0, G_OPTION_ARG_INT, &n_measured, "frames measured; default: 200", "N"},
      {"denoise", 0, 0, G_OPTION_ARG_STRING, &denoise,
          "none, median-3, median-5, opening-3 or opening-5; default: none", "FILTER"},
      {NULL},
  };
  FrameSequence *sequence = frame_sequence_from_command_line (
      &argc, &argv, entries, "- background model and labelling on one CPU thread");
  const CclDenoise filter = parse_denoise (denoise);
  Times times[2] = {0};
  Ours ours;

  stop_unless (n_warm_up >= 0 && n_measured >= 1, "--measured takes numbers from 1 on");
  for (int i = 0; i < 2 * N_TIMES; i++)
    times[i / N_TIMES].parts[i % N_TIMES] = g_array_new (FALSE, FALSE, sizeof (double));
  ours_init (&ours, sequence, filter);
#if HAVE_MOG2
  PeerMog2 *peer = peer_mog2_new (sequence->width, sequence->height, (int)filter);
#endif
  for (int i = 0; i < n_warm_up + n_measured; i++) {
    const uint8_t *pixels = frame_sequence_at (sequence, (uint64_t)i);
    ours_run (&ours, pixels, i < n_warm_up ? NULL : &times[0]);
#if HAVE_MOG2
    theirs_run (peer, pixels, i < n_warm_up ? NULL : &times[1]);
#endif
  }
  print_times (times);
#if HAVE_MOG2
  peer_mog2_free (peer);
#endif
  ours_clear (&ours);
  for (int i = 0; i < 2 * N_TIMES; i++)
    g_array_unref (times[i / N_TIMES].parts[i % N_TIMES]);
  frame_sequence_free (sequence);
  return EXIT_SUCCESS;
}
