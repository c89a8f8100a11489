/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What making masks costs on the GPU: the background model, with and without a filter, then with
 * the labelling of the mask, as GPU time of a frame and as frames a second of several streams; and
 * what memory the model moves.
 *
 * The model is what it is after some hundred frames of a scene that is drawn or of a video.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms.h"
#include "clock.h"
#include "device.h"
#include "engine.h"
#include "frame-sequence.h"
#include "mixture.h"
#include "foreground-inspect.h"

typedef struct Settings {
  int width, height, n_frames, n_warm_up, n_streams;
  double seconds;
  char *file, *file_size;
  gboolean is_nv12;
} Settings;

/* A sequence in device memory. */
typedef struct Frames {
  CclCudaDevice *device;
  CUdeviceptr memory;
  uint32_t width, height, n_frames;
} Frames;

/* What makes tables of frames: a foreground, and what labels its masks. */
typedef struct Chain {
  const Frames *frames;
  CclForegroundOptions options;
  CclForeground *foreground;
  CclCudaEngine *engine; /* to queue without waiting; NULL: masks only */
  CUdeviceptr mask;
  CUstream stream;
  uint64_t time;         /* of the next frame */
  uint64_t n_components; /* of all frames that were waited for */
} Chain;

static void
stop_unless (CclStatus status, const CclError *error)
{
  if (status == CCL_OK)
    return;
  fprintf (stderr, "foreground-cuda: %s\n", error->message);
  exit (1);
}

static void
frames_init (Frames *frames, CclCudaDevice *device, const FrameSequence *sequence)
{
  CclError error = {CCL_OK};
  const size_t size = (size_t)sequence->width * sequence->height * sequence->n_frames;
  *frames = (Frames){device, 0, sequence->width, sequence->height, sequence->n_frames};
  stop_unless (ccl_cuda_device_allocate (device, size, &frames->memory, &error), &error);
  stop_unless (ccl_cuda_call (device->driver, &error,
                   cuMemcpyHtoDAsync (frames->memory, sequence->pixels, size, NULL)),
      &error);
  stop_unless (ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)), &error);
}

static void
chain_init (Chain *chain, const Frames *frames, CclDenoise denoise, gboolean labels)
{
  CclCudaDevice *device = frames->device;
  const CclForegroundPlan plan = {
      .width = frames->width, .height = frames->height, .method = CCL_FOREGROUND_MOG2};
  const CclPlan labeller_plan = {.width = frames->width,
      .height = frames->height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 4096,
      .algorithm = "strips"};
  CclError error = {CCL_OK};
  *chain = (Chain){
      .frames = frames,
      .options = {.denoise = denoise,
          .history = 500,
          .var_threshold = 16,
          .learning_rate = -1,
          .mixtures = CCL_MAX_MIXTURES},
  };
  chain->foreground = ccl_cuda_foreground_new (device, &plan, &error);
  stop_unless (chain->foreground ? CCL_OK : error.status, &error);
  stop_unless (ccl_cuda_device_allocate (
                   device, (size_t)frames->width * frames->height, &chain->mask, &error),
      &error);
  stop_unless (ccl_cuda_call (
                   device->driver, &error, cuStreamCreate (&chain->stream, CU_STREAM_NON_BLOCKING)),
      &error);
  ccl_cuda_foreground_set_stream (chain->foreground, chain->stream);
  if (labels) {
    const CclAlgorithm *algorithm = ccl_cuda_algorithm_find ("strips");
    chain->engine =
        algorithm->engine->new (device, algorithm, &labeller_plan, chain->stream, &error);
    stop_unless (chain->engine ? CCL_OK : error.status, &error);
  }
}

static void
chain_clear (Chain *chain)
{
  CclCudaDevice *device = chain->frames->device;
  device->driver->cuStreamSynchronize (chain->stream);
  if (chain->engine)
    chain->engine->klass->free (chain->engine);
  ccl_foreground_free (&chain->foreground);
  ccl_cuda_device_release (device, &chain->mask);
  device->driver->cuStreamDestroy (chain->stream);
}

/* Queues all that is done for the next frame. */
static void
chain_queue (Chain *chain)
{
  const Frames *frames = chain->frames;
  const size_t index = frame_sequence_index_at (frames->n_frames, chain->time++);
  const CUdeviceptr frame = frames->memory + index * frames->width * frames->height;
  CclError error = {CCL_OK};
  stop_unless (
      ccl_foreground_run (chain->foreground,
          &(CclFrame){(void *)(uintptr_t)frame, frames->width, CCL_LOCATION_DEVICE},
          &chain->options, &(CclMask){(void *)(uintptr_t)chain->mask, frames->width}, &error),
      &error);
  const CclCudaInput input = {chain->mask, frames->width, {.threshold = 127}};
  if (chain->engine)
    stop_unless (
        chain->engine->klass->queue (chain->engine, &input, NULL, chain->stream, &error), &error);
}

static void
chain_wait (Chain *chain)
{
  CclError error = {CCL_OK};
  CclTable table = {0};
  stop_unless (
      ccl_cuda_call (chain->frames->device->driver, &error, cuStreamSynchronize (chain->stream)),
      &error);
  if (chain->engine) {
    chain->engine->klass->read (chain->engine, &table);
    chain->n_components += table.n_components;
  }
}

/* GPU time of a frame in µs: the median of batches that are queued while one before them runs. */
static int
compare_floats (const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double
chain_time (Chain *chain, int n_warm_up)
{
  enum { BATCH = 100, N_BATCHES = 15 };
  const CclCudaDriver *driver = chain->frames->device->driver;
  CclError error = {CCL_OK};
  CUevent begin, end;
  float times[N_BATCHES];
  stop_unless (ccl_cuda_call (driver, &error, cuEventCreate (&begin, 0)), &error);
  stop_unless (ccl_cuda_call (driver, &error, cuEventCreate (&end, 0)), &error);
  for (int i = 0; i < n_warm_up; i++)
    chain_queue (chain);
  for (int batch = 0; batch < N_BATCHES; batch++) {
    for (int i = 0; i < BATCH; i++)
      chain_queue (chain);
    stop_unless (ccl_cuda_call (driver, &error, cuEventRecord (begin, chain->stream)), &error);
    for (int i = 0; i < BATCH; i++)
      chain_queue (chain);
    stop_unless (ccl_cuda_call (driver, &error, cuEventRecord (end, chain->stream)), &error);
    chain_wait (chain);
    stop_unless (
        ccl_cuda_call (driver, &error, cuEventElapsedTime (&times[batch], begin, end)), &error);
  }
  driver->cuEventDestroy (begin);
  driver->cuEventDestroy (end);
  qsort (times, N_BATCHES, sizeof *times, compare_floats);
  return 1000.0 * times[N_BATCHES / 2] / BATCH;
}

/* How many frames all chains finish together in a second, each waiting for its table. */
typedef struct Worker {
  Chain chain;
  CclCudaDevice *device;
  double end;
  uint64_t n_frames;
} Worker;

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  CclError error = {CCL_OK};
  stop_unless (ccl_cuda_device_enter (worker->device, &error), &error);
  while (clock_now () < worker->end) {
    chain_queue (&worker->chain);
    chain_wait (&worker->chain);
    worker->n_frames++;
  }
  ccl_cuda_device_leave (worker->device);
  return NULL;
}

static double
frames_per_second (
    const Frames *frames, int n_streams, const Settings *settings, double *components_per_frame)
{
  g_autofree Worker *workers = g_new0 (Worker, n_streams);
  g_autofree GThread **threads = g_new (GThread *, n_streams);
  uint64_t n_frames = 0, n_components = 0;
  for (int i = 0; i < n_streams; i++) {
    workers[i].device = frames->device;
    chain_init (&workers[i].chain, frames, CCL_DENOISE_MEDIAN_3, TRUE);
    workers[i].chain.time = (uint64_t)i * 7;
    for (int j = 0; j < settings->n_warm_up; j++)
      chain_queue (&workers[i].chain);
    chain_wait (&workers[i].chain);
    workers[i].chain.n_components = 0;
  }
  const double begin = clock_now ();
  for (int i = 0; i < n_streams; i++) {
    workers[i].end = begin + settings->seconds;
    threads[i] = g_thread_new ("stream", work, &workers[i]);
  }
  for (int i = 0; i < n_streams; i++)
    g_thread_join (threads[i]);
  const double seconds = clock_now () - begin;
  for (int i = 0; i < n_streams; i++) {
    n_frames += workers[i].n_frames;
    n_components += workers[i].chain.n_components;
    chain_clear (&workers[i].chain);
  }
  *components_per_frame = (double)n_components / (double)MAX (n_frames, 1);
  return (double)n_frames / seconds;
}

/* A background model as it is between two frames. */
typedef struct Snapshot {
  uint16_t *weights, *means, *variances;
} Snapshot;

static Snapshot
take_snapshot (Chain *chain)
{
  const size_t n = (size_t)CCL_MAX_MIXTURES * chain->frames->width * chain->frames->height;
  CclError error = {CCL_OK};
  Snapshot s = {g_new (uint16_t, n), g_new (uint16_t, n), g_new (uint16_t, n)};
  stop_unless (
      ccl_cuda_foreground_read_model (chain->foreground, s.weights, s.means, s.variances, &error),
      &error);
  return s;
}

static void
snapshot_clear (Snapshot *s)
{
  g_free (s->weights);
  g_free (s->means);
  g_free (s->variances);
}

/* Bytes that a frame's update must read and write: the luma; the weights and shapes of the
 * Gaussians that are there and the weight 0 that ends each pixel's list; what has changed; the
 * mask. And those that it moves, in sectors of 32 bytes, given which parts of the model the kernel
 * touches for each four pixels. */
static void
print_bytes (Chain *chain)
{
  enum { GROUP = 4, SECTOR = 32, WEIGHT_SECTOR = SECTOR / 2, SHAPE_SECTOR = SECTOR / 4 };
  const uint32_t width = chain->frames->width, height = chain->frames->height;
  const size_t n_pixels = (size_t)width * height;
  Snapshot before = take_snapshot (chain);
  chain_queue (chain);
  chain_wait (chain);
  Snapshot after = take_snapshot (chain);
  double needed = 2.0 * (double)n_pixels, moved = needed; /* luma and mask */
  double with[CCL_MAX_MIXTURES + 1] = {0};
  for (size_t i = 0; i < n_pixels; i++) {
    int n = 0;
    while (n < CCL_MAX_MIXTURES && before.weights[n * n_pixels + i])
      n++;
    with[n]++;
    needed += 2 * MIN (n + 1, CCL_MAX_MIXTURES) + 4 * n;
  }
  for (size_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    /* Rows are taken to begin with a sector, which they do where the width is a multiple of 16. */
    for (size_t first = 0; first < n_pixels; first += WEIGHT_SECTOR) {
      bool reads_weights = false, writes_weights = false;
      bool reads_shapes[2] = {k == 0, k == 0}, writes_shapes[2] = {false, false};
      for (size_t i = first; i < MIN (first + WEIGHT_SECTOR, n_pixels); i++) {
        const size_t at = k * n_pixels + i, half = (i - first) / SHAPE_SECTOR;
        const bool weight_changes = before.weights[at] != after.weights[at];
        const bool shape_changes =
            after.weights[at] &&
            (before.means[at] != after.means[at] || before.variances[at] != after.variances[at]);
        /* Of three Gaussians always, of more where a pixel has three. */
        reads_weights |= k < 3 || before.weights[2 * n_pixels + i];
        reads_shapes[half] |= before.weights[at] != 0;
        writes_weights |= weight_changes;
        writes_shapes[half] |= shape_changes;
        needed += 2 * weight_changes + 4 * shape_changes;
      }
      moved += SECTOR * (reads_weights + writes_weights + reads_shapes[0] + reads_shapes[1] +
                            writes_shapes[0] + writes_shapes[1]);
    }
  }
  printf ("pixels with 0…5 Gaussians, %%:");
  for (int n = 0; n <= CCL_MAX_MIXTURES; n++)
    printf (" %.1f", 100 * with[n] / (double)n_pixels);
  printf ("\nthe model must move %.1f MB a frame and moves %.1f MB in sectors: %.2f times\n",
      needed / 1e6, moved / 1e6, moved / needed);
  snapshot_clear (&before);
  snapshot_clear (&after);
}

static void
measure (const Frames *frames, const Settings *settings)
{
  static const struct {
    const char *name;
    CclDenoise denoise;
    gboolean labels;
  } rows[] = {
      {"background model", CCL_DENOISE_NONE, FALSE},
      {"background model, median 3×3", CCL_DENOISE_MEDIAN_3, FALSE},
      {"background model, median 5×5", CCL_DENOISE_MEDIAN_5, FALSE},
      {"background model, opening 3×3", CCL_DENOISE_OPENING_3, FALSE},
      {"background model, opening 5×5", CCL_DENOISE_OPENING_5, FALSE},
      {"background model, table", CCL_DENOISE_NONE, TRUE},
      {"background model, median 3×3, table", CCL_DENOISE_MEDIAN_3, TRUE},
  };
  double components;
  printf ("%-40s %10s\n", "GPU time of a frame", "µs");
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    Chain chain;
    chain_init (&chain, frames, rows[i].denoise, rows[i].labels);
    printf ("%-40s %10.2f\n", rows[i].name, chain_time (&chain, settings->n_warm_up));
    fflush (stdout);
    if (i == 0)
      print_bytes (&chain);
    chain_clear (&chain);
  }
  printf ("%-40s %10s\n", "streams, a table for each frame", "frames/s");
  for (int n = 1; n <= settings->n_streams; n *= 2) {
    const double rate = frames_per_second (frames, n, settings, &components);
    printf ("%-40d %10.0f   (%.1f components a frame)\n", n, rate, components);
    fflush (stdout);
  }
}

int
main (int argc, char **argv)
{
  Settings settings = {1920, 1080, 100, 300, 8, 2.0, NULL, NULL, FALSE};
  const GOptionEntry entries[] = {
      {"width", 0, 0, G_OPTION_ARG_INT, &settings.width, "Of the frames; 1920", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &settings.height, "Of the frames; 1080", "PIXELS"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &settings.n_frames,
          "Different frames, which go forwards and backwards; 100", "N"},
      {"warm-up", 0, 0, G_OPTION_ARG_INT, &settings.n_warm_up, "Frames before measuring; 300", "N"},
      {"streams", 0, 0, G_OPTION_ARG_INT, &settings.n_streams, "The most at a time; 8", "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &settings.seconds, "For each number of streams; 2",
          "S"},
      {"file", 0, 0, G_OPTION_ARG_FILENAME, &settings.file,
          "Raw frames, scaled to the size above; without one a scene is drawn", "FILE"},
      {"file-size", 0, 0, G_OPTION_ARG_STRING, &settings.file_size, "Of the file's frames",
          "WIDTHxHEIGHT"},
      {"nv12", 0, 0, G_OPTION_ARG_NONE, &settings.is_nv12, "They are NV12, not GRAY8", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- what masks cost on the GPU");
  g_autoptr (GError) failure = NULL;
  CclError error = {CCL_OK};
  FrameSequence *sequence = NULL;
  unsigned file_width = 0, file_height = 0;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &failure)) {
    fprintf (stderr, "foreground-cuda: %s\n", failure->message);
    return 2;
  }
  if (settings.width < 1 || settings.height < 1 || settings.n_frames < 1 ||
      (settings.file && (!settings.file_size ||
                            sscanf (settings.file_size, "%ux%u", &file_width, &file_height) != 2 ||
                            file_width == 0 || file_height == 0))) {
    fprintf (stderr, "foreground-cuda: sizes and numbers are at least 1, and a file's frames need "
                     "--file-size WIDTHxHEIGHT\n");
    return 2;
  }
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    fprintf (stderr, "foreground-cuda: %s\n", error.message);
    return 1;
  }
  if (settings.file)
    sequence = frame_sequence_new_from_file (settings.file, file_width, file_height,
        settings.is_nv12, (uint32_t)settings.width, (uint32_t)settings.height,
        (uint32_t)settings.n_frames, &failure);
  else
    sequence = frame_sequence_new_drawn (
        (uint32_t)settings.width, (uint32_t)settings.height, (uint32_t)settings.n_frames);
  if (!sequence) {
    fprintf (stderr, "foreground-cuda: %s\n", failure->message);
    ccl_cuda_device_unref (&device);
    return 1;
  }
  printf ("%s, %u×%u, %u frames of %s\n", ccl_cuda_device_name (device), sequence->width,
      sequence->height, sequence->n_frames, settings.file ? settings.file : "a drawn scene");
  stop_unless (ccl_cuda_device_enter (device, &error), &error);
  Frames frames;
  frames_init (&frames, device, sequence);
  frame_sequence_free (sequence);
  measure (&frames, &settings);
  ccl_cuda_device_release (device, &frames.memory);
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&device);
  g_free (settings.file);
  g_free (settings.file_size);
  return 0;
}
