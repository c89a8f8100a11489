/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From luma to components on one CPU thread: the foreground and the labeller, side by side with
 * OpenCV's MOG2 and connectedComponentsWithStats where it was built with them.
 *
 * Both get every frame in turn, so that what else the machine does is fair to both, and processor
 * time of the thread counts. The model is what it is after some hundred frames.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cudaccl/labeller.h>
#include "foreground-class.h"
#include "frame-sequence.h"
#include "grid.h"
#include "peer-mog2.h"

typedef struct Settings {
  int width, height, n_frames, n_warm_up, n_measured;
  char *denoise, *file, *file_size;
  gboolean is_nv12;
} Settings;

enum { MASK, DENOISE, LABEL, TOGETHER, N_STEPS };

/* Seconds of each step, a double a frame. */
typedef struct Times {
  GArray *of_step[N_STEPS];
  uint64_t n_components;
} Times;

typedef struct Ours {
  CclForeground *foreground;
  CclLabeller *labeller;
  CclForegroundOptions options;
  uint8_t *mask;
} Ours;

static const char *const denoise_names[] = {
    "none", "median-3", "median-5", "opening-3", "opening-5", NULL};

static double
processor_seconds (void)
{
  struct timespec time;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int
fail (const char *message)
{
  fprintf (stderr, "foreground-cpu: %s\n", message);
  return EXIT_FAILURE;
}

static void
times_init (Times *times)
{
  times->n_components = 0;
  for (int i = 0; i < N_STEPS; i++)
    times->of_step[i] = g_array_new (FALSE, FALSE, sizeof (double));
}

static void
times_clear (Times *times)
{
  for (int i = 0; i < N_STEPS; i++)
    g_array_unref (times->of_step[i]);
}

/* moments: before the first step and after each. */
static void
times_add (Times *times, const double moments[TOGETHER + 1], uint32_t n_components)
{
  for (int i = 0; i < N_STEPS; i++) {
    const double time =
        i == TOGETHER ? moments[TOGETHER] - moments[0] : moments[i + 1] - moments[i];
    g_array_append_val (times->of_step[i], time);
  }
  times->n_components += n_components;
}

static int
compare_times (const void *a, const void *b)
{
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* share: 0 for the shortest, 0.5 for the median. */
static double
quantile (GArray *times, double share)
{
  g_array_sort (times, compare_times);
  return times->len ? g_array_index (times, double, (guint)((times->len - 1) * share)) : 0;
}

static CclStatus
ours_run (Ours *ours, const uint8_t *pixels, Times *times, CclError *error)
{
  const uint32_t width = ours->foreground->plan.width;
  const CclFrame frame = {.data = pixels, .stride = width};
  const CclMask mask = {.data = ours->mask, .stride = width};
  const CclFrame labelled = {.data = ours->mask, .stride = width};
  const CclOptions options = {.min_area = 1};
  CclTable table = {0};
  double moments[TOGETHER + 1];

  moments[0] = processor_seconds ();
  CclStatus status = ccl_foreground_run (ours->foreground, &frame, &ours->options, &mask, error);
  moments[1] = moments[2] = processor_seconds (); /* noise goes in the same call */
  if (status == CCL_OK)
    status = ccl_labeller_run (ours->labeller, &labelled, &options, NULL, &table, error);
  moments[3] = processor_seconds ();
  if (times)
    times_add (times, moments, table.n_components);
  return status;
}

#if HAVE_MOG2
static void
theirs_run (PeerMog2 *peer, const uint8_t *pixels, Times *times)
{
  double moments[TOGETHER + 1];

  moments[0] = processor_seconds ();
  peer_mog2_model (peer, pixels);
  moments[1] = processor_seconds ();
  peer_mog2_denoise (peer);
  moments[2] = processor_seconds ();
  const uint32_t n = peer_mog2_label (peer);
  moments[3] = processor_seconds ();
  if (times)
    times_add (times, moments, n);
}
#endif

static void
add_rows (Grid *grid, const char *name, Times *times)
{
  static const char *const statistics[] = {"shortest", "median"};
  for (int i = 0; i < 2; i++) {
    grid_row (grid);
    grid_cell (grid, "%s, %s", name, statistics[i]);
    for (int step = 0; step < N_STEPS; step++)
      grid_time (grid, quantile (times->of_step[step], 0.5 * i), 1e-3);
    grid_cell (grid, "%.0f", 1 / quantile (times->of_step[TOGETHER], 0.5 * i));
    grid_cell (grid, "%.1f", (double)times->n_components / times->of_step[0]->len);
  }
}

static int
measure (const FrameSequence *sequence, const Settings *settings, CclDenoise denoise)
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
  const size_t n_pixels = (size_t)plan.width * plan.height;
  CclError error = {CCL_OK};
  Ours ours = {
      .foreground = ccl_cpu_foreground_new (&plan, &error),
      .options =
          {
              .denoise = denoise,
              .history = 500,
              .var_threshold = 16,
              .learning_rate = -1,
              .mixtures = 5,
          },
      .mask = g_malloc (n_pixels),
  };
  Times times, their_times;
  CclStatus status = CCL_OK;

  if (ours.foreground)
    ours.labeller = ccl_cpu_labeller_new (&labeller_plan, &error);
  if (!ours.labeller)
    return fail (error.message);
  times_init (&times);
  times_init (&their_times);
#if HAVE_MOG2
  PeerMog2 *peer = peer_mog2_new (plan.width, plan.height, denoise);
#endif
  for (int i = 0; i < settings->n_warm_up + settings->n_measured && status == CCL_OK; i++) {
    const uint8_t *pixels =
        sequence->pixels + n_pixels * frame_sequence_index_at (sequence->n_frames, (uint64_t)i);
    const bool measured = i >= settings->n_warm_up;
    status = ours_run (&ours, pixels, measured ? &times : NULL, &error);
#if HAVE_MOG2
    theirs_run (peer, pixels, measured ? &their_times : NULL);
#endif
  }
  if (status == CCL_OK) {
    Grid *grid = grid_new (NULL);
    static const char *const head[] = {"processor time on one thread, ms", "mask", "denoise",
        "label + table", "together", "frames/s", "components"};
    grid_row (grid);
    for (size_t i = 0; i < G_N_ELEMENTS (head); i++)
      grid_cell (grid, "%s", head[i]);
    add_rows (grid, "cudaccl", &times);
#if HAVE_MOG2
    add_rows (grid, peer_mog2_version (), &their_times);
    grid_row (grid);
    grid_cell (grid, "ratio of the medians");
    for (int step = 0; step < N_STEPS; step++) {
      const double our_time = quantile (times.of_step[step], 0.5);
      if (step == TOGETHER || (step == LABEL && our_time > 0))
        grid_cell (grid, "%.1f", quantile (their_times.of_step[step], 0.5) / our_time);
      else
        grid_cell (grid, "-");
    }
#endif
    grid_print_and_free (grid, stdout);
  }
#if HAVE_MOG2
  peer_mog2_free (peer);
#endif
  times_clear (&times);
  times_clear (&their_times);
  ccl_labeller_free (&ours.labeller);
  ccl_foreground_free (&ours.foreground);
  g_free (ours.mask);
  return status == CCL_OK ? EXIT_SUCCESS : fail (error.message);
}

int
main (int argc, char **argv)
{
  Settings settings = {1920, 1080, 100, 200, 200, NULL, NULL, NULL, FALSE};
  const GOptionEntry entries[] = {
      {"width", 0, 0, G_OPTION_ARG_INT, &settings.width, "Of the frames; 1920", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &settings.height, "Of the frames; 1080", "PIXELS"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &settings.n_frames,
          "Different frames, which go forwards and backwards; 100", "N"},
      {"warm-up", 0, 0, G_OPTION_ARG_INT, &settings.n_warm_up, "Frames before measuring; 200", "N"},
      {"measured", 0, 0, G_OPTION_ARG_INT, &settings.n_measured, "Frames measured; 200", "N"},
      {"denoise", 0, 0, G_OPTION_ARG_STRING, &settings.denoise,
          "none, median-3, median-5, opening-3 or opening-5; none", "KIND"},
      {"file", 0, 0, G_OPTION_ARG_FILENAME, &settings.file,
          "Raw frames, scaled to the size above; without one a scene is drawn", "FILE"},
      {"file-size", 0, 0, G_OPTION_ARG_STRING, &settings.file_size, "Of the file's frames",
          "WIDTHxHEIGHT"},
      {"nv12", 0, 0, G_OPTION_ARG_NONE, &settings.is_nv12, "They are NV12, not GRAY8", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context =
      g_option_context_new ("- from luma to components on one CPU thread");
  g_autoptr (GError) failure = NULL;
  FrameSequence *sequence = NULL;
  unsigned file_width = 0, file_height = 0;
  int denoise = 0;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &failure)) {
    fail (failure->message);
    return 2;
  }
  while (settings.denoise && denoise_names[denoise] &&
         strcmp (denoise_names[denoise], settings.denoise) != 0)
    denoise++;
  if (settings.width < 1 || settings.height < 1 || settings.n_frames < 1 ||
      settings.n_warm_up < 0 || settings.n_measured < 1 || !denoise_names[denoise] ||
      (settings.file && (!settings.file_size ||
                            sscanf (settings.file_size, "%ux%u", &file_width, &file_height) != 2 ||
                            file_width == 0 || file_height == 0))) {
    fail ("sizes and numbers are at least 1, a file's frames need --file-size WIDTHxHEIGHT, and "
          "--help lists the ways to denoise");
    return 2;
  }
  if (settings.file)
    sequence = frame_sequence_new_from_file (settings.file, file_width, file_height,
        settings.is_nv12, (uint32_t)settings.width, (uint32_t)settings.height,
        (uint32_t)settings.n_frames, &failure);
  else
    sequence = frame_sequence_new_drawn (
        (uint32_t)settings.width, (uint32_t)settings.height, (uint32_t)settings.n_frames);
  if (!sequence)
    return fail (failure->message);
  printf ("%u×%u, %u frames of %s, denoise %s\n", sequence->width, sequence->height,
      sequence->n_frames, settings.file ? settings.file : "a drawn scene", denoise_names[denoise]);
  const int status = measure (sequence, &settings, (CclDenoise)denoise);
  frame_sequence_free (sequence);
  g_free (settings.denoise);
  g_free (settings.file);
  g_free (settings.file_size);
  return status;
}
