/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background model, noise filter and labelling on a GPU (foreground-cuda.c), or on one CPU thread
 * beside OpenCV's MOG2, filters and connectedComponentsWithStats, if there is the module.
 *
 * On the CPU, both process every frame in turn, so that other load on the machine affects both
 * alike. The times are processor time of the thread, after the warm-up of the model.
 */
#include "foreground.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODEL, DENOISE, LABEL, TOGETHER, N_PARTS };

/* Seconds of each part for every measured frame. */
typedef struct Times {
  GArray *parts[N_PARTS];
  uint64_t n_components;
} Times;

void
stop_unless (bool ok, const CclError *error)
{
  if (ok)
    return;
  g_printerr ("foreground: %s\n", error->message);
  exit (EXIT_FAILURE);
}

const uint8_t *
frame_at (const FrameSequence *sequence, uint64_t time)
{
  const uint64_t n = sequence->n_frames, period = n > 1 ? 2 * (n - 1) : 1;
  const uint64_t place = time % period, index = place < n ? place : period - place;
  return sequence->pixels + index * sequence->width * sequence->height;
}

CclForegroundOptions
foreground_options (CclDenoise denoise)
{
  return (CclForegroundOptions){
      .denoise = denoise, .history = 500, .var_threshold = 16, .learning_rate = -1, .mixtures = 5};
}

/* A pseudo-random number that depends on the arguments only. */
static uint32_t
hash (uint32_t x, uint32_t y, uint32_t z)
{
  uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ z * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/* Camera noise: the sum of four numbers is nearly normal, with a standard deviation of 2. */
static int
noise (uint32_t random)
{
  int sum = (int)(random & 7) + (int)(random >> 3 & 7) + (int)(random >> 6 & 7);
  return (sum + (int)(random >> 9 & 7) - 14) / 2;
}

/* A street with camera noise, waving leaves in a third of the picture, and objects that move at
 * different speeds. */
static void
draw_frame (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t frame)
{
  enum { N_OBJECTS = 24 };
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      int value = 60 + (int)(hash (x / 16, y / 16, 1) % 100) + (int)(hash (x, y, 2) % 20);
      /* Leaves of 6×6 pixels change their brightness for some frames. */
      if (y < height / 3 && hash (x / 6, y / 6, frame / 3 + hash (x / 6, y / 6, 3) % 7) % 4 == 0)
        value = 40 + (int)(hash (x / 6, y / 6, 4) % 160);
      value += noise (hash (x, y, frame + 1000));
      pixels[(size_t)y * width + x] = (uint8_t)CLAMP (value, 0, 255);
    }
  }
  for (uint32_t i = 0; i < N_OBJECTS; i++) {
    const uint32_t w = width / 48 + hash (i, 5, 0) % (width / 48 + 1);
    const uint32_t h = height / 16 + hash (i, 6, 0) % (height / 16 + 1);
    const int speed = 1 + (int)(hash (i, 7, 0) % 6);
    const uint32_t left =
        (hash (i, 8, 0) + (uint32_t)(i % 2 ? speed : (int)width - speed) * frame) % width;
    const uint32_t top = height / 3 + hash (i, 9, 0) % (height - height / 3);
    for (uint32_t y = top; y < MIN (top + h, height); y++)
      for (uint32_t x = left; x < MIN (left + w, width); x++)
        pixels[(size_t)y * width + x] =
            (uint8_t)((i % 3 ? 20u : 210u) + hash (x - left, y - top, i) % 25);
  }
}

/* The frames of a raw file, or a drawn scene; they live as long as the program. */
static void
load_sequence (FrameSequence *sequence, const char *path)
{
  const size_t size = (size_t)sequence->width * sequence->height;
  g_autoptr (GError) error = NULL;

  if (path) {
    GMappedFile *file = g_mapped_file_new (path, FALSE, &error);
    const size_t n_frames = file ? g_mapped_file_get_length (file) / size : 0;
    if (!n_frames) {
      g_printerr ("foreground: %s\n", error ? error->message : "the file has no whole frame");
      exit (EXIT_FAILURE);
    }
    sequence->n_frames = (uint32_t)MIN (sequence->n_frames, n_frames);
    sequence->pixels = (const uint8_t *)g_mapped_file_get_contents (file);
  } else {
    uint8_t *pixels = g_malloc (size * sequence->n_frames);
    for (uint32_t i = 0; i < sequence->n_frames; i++)
      draw_frame (pixels + size * i, sequence->width, sequence->height, i);
    sequence->pixels = pixels;
  }
  printf ("%u×%u, %u frames of %s\n", sequence->width, sequence->height, sequence->n_frames,
      path ? path : "a drawn scene");
}

static double
thread_seconds (void)
{
  return seconds_on (CLOCK_THREAD_CPUTIME_ID);
}

/* moments: before the first part and after each. */
static void
times_add (Times *times, const double moments[TOGETHER + 1], uint32_t n_components)
{
  for (int part = 0; part < N_PARTS; part++) {
    const double time =
        part == TOGETHER ? moments[TOGETHER] - moments[0] : moments[part + 1] - moments[part];
    g_array_append_val (times->parts[part], time);
  }
  times->n_components += n_components;
}

/* Adds a row for the shortest times and one for the medians, which are returned. */
static void
add_rows (Table *table, const char *name, const Times *times, double medians[N_PARTS])
{
  static const char *const statistics[] = {"shortest", "median"};

  for (int i = 0; i < 2; i++) {
    double seconds[N_PARTS];
    table_row (table);
    table_text (table, "%s, %s", name, statistics[i]);
    for (int part = 0; part < N_PARTS; part++) {
      const Spread spread = spread_of (times->parts[part]);
      seconds[part] = i ? spread.median : spread.minimum;
      medians[part] = spread.median;
      table_number (table, seconds[part] > 0 ? 1e3 * seconds[part] : NAN, 3);
    }
    table_number (table, 1 / seconds[TOGETHER], 0);
    table_number (table, (double)times->n_components / times->parts[MODEL]->len, 1);
  }
}

/* Prints the times of this project and, if there is OpenCV, of OpenCV. */
static void
print_times (const Times times[2], const PeerMog2 *mog2)
{
  static const char *const columns[] = {"processor time on one thread, ms", "mask", "denoise",
      "label + table", "together", "frames/s", "components", NULL};
  Table *table = table_new (columns);
  double ours[N_PARTS], theirs[N_PARTS];

  add_rows (table, "cudaccl", &times[0], ours);
  if (mog2) {
    add_rows (table, mog2->version, &times[1], theirs);
    table_row (table);
    table_text (table, "ratio of the medians");
    for (int part = 0; part < N_PARTS; part++)
      table_number (table, part >= LABEL ? theirs[part] / ours[part] : NAN, 1);
  }
  table_print (table);
  table_free (table);
}

static void
measure_cpu (
    const FrameSequence *sequence, unsigned n_warm_up, unsigned n_measured, CclDenoise denoise)
{
  const uint32_t width = sequence->width, height = sequence->height;
  const CclForegroundPlan plan = {
      .width = width, .height = height, .method = CCL_FOREGROUND_MOG2, .n_threads = 1};
  const CclPlan labeller_plan = {.width = width,
      .height = height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 4096,
      .n_threads = 1};
  const CclForegroundOptions options = foreground_options (denoise);
  g_autofree uint8_t *mask = g_malloc ((size_t)width * height);
  const char *why;
  const PeerMog2 *mog2 = peer_opencv_symbol ("peer_mog2", &why);
  void *peer = mog2 ? mog2->create (width, height, denoise) : NULL;
  Times times[2] = {0};
  CclError error;
  CclForeground *foreground = ccl_cpu_foreground_new (&plan, &error);
  CclLabeller *labeller = foreground ? ccl_cpu_labeller_new (&labeller_plan, &error) : NULL;

  stop_unless (labeller, &error);
  for (int i = 0; i < 2 * N_PARTS; i++)
    times[i / N_PARTS].parts[i % N_PARTS] = g_array_new (FALSE, FALSE, sizeof (double));
  for (uint64_t i = 0; i < n_warm_up + n_measured; i++) {
    const CclFrame frame = {.data = frame_at (sequence, i), .stride = width};
    double moments[TOGETHER + 1];
    CclTable table;
    moments[0] = thread_seconds ();
    stop_unless (ccl_foreground_run (
                     foreground, &frame, &options, &(CclMask){mask, width}, &error) == CCL_OK,
        &error);
    moments[1] = moments[2] = thread_seconds (); /* the same call filters the noise */
    stop_unless (ccl_labeller_run (labeller, &(CclFrame){.data = mask, .stride = width},
                     &(CclOptions){0}, NULL, &table, &error) == CCL_OK,
        &error);
    moments[3] = thread_seconds ();
    if (i >= n_warm_up)
      times_add (&times[0], moments, table.n_components);
    if (!mog2)
      continue;
    moments[0] = thread_seconds ();
    mog2->model (peer, frame.data);
    moments[1] = thread_seconds ();
    mog2->denoise (peer);
    moments[2] = thread_seconds ();
    table.n_components = mog2->label (peer);
    moments[3] = thread_seconds ();
    if (i >= n_warm_up)
      times_add (&times[1], moments, table.n_components);
  }
  print_times (times, mog2);
  if (mog2)
    mog2->destroy (peer);
  ccl_labeller_free (&labeller);
  ccl_foreground_free (&foreground);
  for (int i = 0; i < 2 * N_PARTS; i++)
    g_array_unref (times[i / N_PARTS].parts[i % N_PARTS]);
}

int
main (int argc, char **argv)
{
  static const char *const filters[] = {
      "none", "median-3", "median-5", "opening-3", "opening-5", NULL};
  int width = 1920, height = 1080, n_frames = 100, n_warm_up = 300, n_measured = 200, streams = 8;
  double seconds = 2;
  gboolean cuda = FALSE;
  g_autofree char *file = NULL, *denoise = g_strdup ("none");
  const GOptionEntry entries[] = {
      {"cuda", 0, 0, G_OPTION_ARG_NONE, &cuda, "measures on the GPU, with all noise filters", NULL},
      {"width", 0, 0, G_OPTION_ARG_INT, &width, "width of the frames; default: 1920", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &height, "height of the frames; default: 1080", "PIXELS"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames,
          "different frames, which are used forwards and backwards; default: 100", "N"},
      {"file", 0, 0, G_OPTION_ARG_FILENAME, &file,
          "raw frames of GRAY8 in that size; default: a drawn scene", "FILE"},
      {"warm-up", 0, 0, G_OPTION_ARG_INT, &n_warm_up, "frames before measuring; default: 300", "N"},
      {"measured", 0, 0, G_OPTION_ARG_INT, &n_measured, "CPU: frames measured; default: 200", "N"},
      {"denoise", 0, 0, G_OPTION_ARG_STRING, &denoise,
          "CPU: none, median-3, median-5, opening-3 or opening-5; default: none", "FILTER"},
      {"streams", 0, 0, G_OPTION_ARG_INT, &streams, "GPU: most streams at once; default: 8", "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds,
          "GPU: time for each number of streams; default: 2", "S"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- background model and labelling");
  g_autoptr (GError) error = NULL;
  FrameSequence sequence;
  CclDenoise filter = CCL_DENOISE_NONE;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_parse (context, &argc, &argv, &error);
  while (filters[filter] && !g_str_equal (filters[filter], denoise))
    filter++;
  if (error || !filters[filter] || MIN (width, height) < 1 || n_frames < 1 || n_warm_up < 0 ||
      n_measured < 1) {
    g_printerr ("foreground: %s; see --help\n", error ? error->message : "a value is out of range");
    return 2;
  }
  sequence = (FrameSequence){(uint32_t)width, (uint32_t)height, (uint32_t)n_frames, NULL};
  load_sequence (&sequence, file);
  if (!cuda)
    measure_cpu (&sequence, (unsigned)n_warm_up, (unsigned)n_measured, filter);
#if HAVE_CUDA
  else
    measure_cuda (&sequence, (unsigned)n_warm_up, (unsigned)streams, seconds);
#else
  else
    stop_unless (false, &(CclError){.message = "built without CUDA"});
#endif
  return EXIT_SUCCESS;
}
