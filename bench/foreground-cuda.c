/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background model, noise filter and labelling on the GPU: GPU time per frame, and frames per
 * second of several streams that wait for each table.
 *
 * The model is measured after some hundred frames. Labelling is queued without waiting, through the
 * library's engine, so that the host's part does not count in the GPU time.
 */
#include "engine.h"
#include "frame-sequence.h"
#include "measure.h"
#include "table.h"

#include <cudaccl/cuda.h>

#include <stdlib.h>

/* A sequence in device memory; pixels is a device pointer. */
typedef struct Frames {
  CclCudaDevice *device;
  CUdeviceptr memory;
  FrameSequence sequence;
} Frames;

/* A background model and the labelling of its masks. */
typedef struct Chain {
  const Frames *frames;
  CclForegroundOptions options;
  CclForeground *foreground;
  CclCudaEngine *engine; /* NULL: masks only */
  CUdeviceptr mask;
  CUstream stream;
  uint64_t time; /* of the next frame */
  double end;    /* of measuring, in seconds on the monotonic clock */
  uint64_t n_frames, n_components;
} Chain;

static void
stop_unless (bool ok, const CclError *error)
{
  if (ok)
    return;
  g_printerr ("foreground-cuda: %s\n", error->message);
  exit (EXIT_FAILURE);
}

/* Calls a function of the driver and ends the program on an error. */
#define CALL(device, call)                                                                         \
  G_STMT_START                                                                                     \
  {                                                                                                \
    CclError call_error;                                                                           \
    stop_unless (ccl_cuda_call ((device)->driver, &call_error, call) == CCL_OK, &call_error);      \
  }                                                                                                \
  G_STMT_END

static void
frames_init (Frames *frames, CclCudaDevice *device, const FrameSequence *sequence)
{
  const size_t size = (size_t)sequence->width * sequence->height * sequence->n_frames;
  CclError error;

  *frames = (Frames){.device = device, .sequence = *sequence};
  stop_unless (ccl_cuda_device_allocate (device, size, &frames->memory, &error) == CCL_OK, &error);
  CALL (device, cuMemcpyHtoDAsync (frames->memory, sequence->pixels, size, NULL));
  CALL (device, cuStreamSynchronize (NULL));
  frames->sequence.pixels = (uint8_t *)(uintptr_t)frames->memory;
}

static void
chain_init (Chain *chain, const Frames *frames, CclDenoise denoise, bool labels)
{
  CclCudaDevice *device = frames->device;
  const uint32_t width = frames->sequence.width, height = frames->sequence.height;
  const CclForegroundPlan plan = {.width = width, .height = height, .method = CCL_FOREGROUND_MOG2};
  const CclPlan labeller_plan = {.width = width,
      .height = height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 4096,
      .algorithm = "strips"};
  CclError error;

  *chain = (Chain){
      .frames = frames,
      .options = {.denoise = denoise,
          .history = 500,
          .var_threshold = 16,
          .learning_rate = -1,
          .mixtures = 5},
  };
  stop_unless ((chain->foreground = ccl_cuda_foreground_new (device, &plan, &error)), &error);
  stop_unless (
      ccl_cuda_device_allocate (device, (size_t)width * height, &chain->mask, &error) == CCL_OK,
      &error);
  CALL (device, cuStreamCreate (&chain->stream, CU_STREAM_NON_BLOCKING));
  ccl_cuda_foreground_set_stream (chain->foreground, chain->stream);
  if (labels) {
    const CclAlgorithm *algorithm = ccl_cuda_algorithm_find (labeller_plan.algorithm);
    chain->engine =
        algorithm->engine->new (device, algorithm, &labeller_plan, chain->stream, &error);
    stop_unless (chain->engine, &error);
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

/* Queues all work for the next frames. */
static void
chain_queue (Chain *chain, int n_frames)
{
  const FrameSequence *sequence = &chain->frames->sequence;
  const CclMask mask = {(void *)(uintptr_t)chain->mask, sequence->width};
  const CclCudaInput input = {chain->mask, sequence->width, {.threshold = 127}};
  CclError error;

  for (int i = 0; i < n_frames; i++) {
    const CclFrame frame = {
        frame_sequence_at (sequence, chain->time++), sequence->width, CCL_LOCATION_DEVICE};
    stop_unless (
        ccl_foreground_run (chain->foreground, &frame, &chain->options, &mask, &error) == CCL_OK,
        &error);
    if (chain->engine)
      stop_unless (chain->engine->klass->queue (
                       chain->engine, &input, NULL, chain->stream, &error) == CCL_OK,
          &error);
  }
}

static void
chain_wait (Chain *chain)
{
  CclTable table = {0};

  CALL (chain->frames->device, cuStreamSynchronize (chain->stream));
  if (chain->engine)
    chain->engine->klass->read (chain->engine, &table);
  chain->n_components += table.n_components;
}

/* GPU seconds per frame: the median of batches, each queued while the one before runs. */
static double
chain_time (Chain *chain, int n_warm_up)
{
  enum { BATCH = 100, N_BATCHES = 15 };
  CclCudaDevice *device = chain->frames->device;
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  CUevent begin, end;

  CALL (device, cuEventCreate (&begin, 0));
  CALL (device, cuEventCreate (&end, 0));
  chain_queue (chain, n_warm_up);
  for (int i = 0; i < N_BATCHES; i++) {
    float milliseconds;
    chain_queue (chain, BATCH);
    CALL (device, cuEventRecord (begin, chain->stream));
    chain_queue (chain, BATCH);
    CALL (device, cuEventRecord (end, chain->stream));
    chain_wait (chain);
    CALL (device, cuEventElapsedTime (&milliseconds, begin, end));
    g_array_append_val (times, (double){1e-3 * milliseconds / BATCH});
  }
  device->driver->cuEventDestroy (begin);
  device->driver->cuEventDestroy (end);
  return spread_of (times).median;
}

static gpointer
run_stream (gpointer data)
{
  Chain *chain = data;
  CclError error;

  stop_unless (ccl_cuda_device_enter (chain->frames->device, &error) == CCL_OK, &error);
  while (seconds_now () < chain->end) {
    chain_queue (chain, 1);
    chain_wait (chain);
    chain->n_frames++;
  }
  ccl_cuda_device_leave (chain->frames->device);
  return NULL;
}

/* Runs streams at once, each waiting for its tables, and adds a row. */
static void
measure_streams (const Frames *frames, int n_streams, int n_warm_up, double seconds, Table *table)
{
  g_autofree Chain *chains = g_new (Chain, n_streams);
  g_autofree GThread **threads = g_new (GThread *, n_streams);
  uint64_t n_frames = 0, n_components = 0;
  double begin;

  for (int i = 0; i < n_streams; i++) {
    chain_init (&chains[i], frames, CCL_DENOISE_MEDIAN_3, true);
    chains[i].time = (uint64_t)i * 7; /* streams show different frames */
    chain_queue (&chains[i], n_warm_up);
    chain_wait (&chains[i]);
    chains[i].n_components = 0;
  }
  begin = seconds_now ();
  for (int i = 0; i < n_streams; i++) {
    chains[i].end = begin + seconds;
    threads[i] = g_thread_new ("stream", run_stream, &chains[i]);
  }
  for (int i = 0; i < n_streams; i++)
    g_thread_join (threads[i]);
  seconds = seconds_now () - begin;
  for (int i = 0; i < n_streams; i++) {
    n_frames += chains[i].n_frames;
    n_components += chains[i].n_components;
    chain_clear (&chains[i]);
  }
  table_row (table);
  table_text (table, "%d", n_streams);
  table_number (table, (double)n_frames / seconds, 0);
  table_number (table, (double)n_components / (double)MAX (n_frames, 1), 1);
}

static void
measure_times (const Frames *frames, int n_warm_up)
{
  static const struct {
    const char *name;
    CclDenoise denoise;
    bool labels;
  } rows[] = {
      {"background model", CCL_DENOISE_NONE, false},
      {"background model, median 3×3", CCL_DENOISE_MEDIAN_3, false},
      {"background model, median 5×5", CCL_DENOISE_MEDIAN_5, false},
      {"background model, opening 3×3", CCL_DENOISE_OPENING_3, false},
      {"background model, opening 5×5", CCL_DENOISE_OPENING_5, false},
      {"background model, table", CCL_DENOISE_NONE, true},
      {"background model, median 3×3, table", CCL_DENOISE_MEDIAN_3, true},
  };
  g_autoptr (Table) table = table_new ((const char *const[]){"GPU time per frame", "µs", NULL});

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    Chain chain;
    chain_init (&chain, frames, rows[i].denoise, rows[i].labels);
    table_row (table);
    table_text (table, "%s", rows[i].name);
    table_number (table, 1e6 * chain_time (&chain, n_warm_up), 2);
    chain_clear (&chain);
  }
  table_print (table, stdout);
}

int
main (int argc, char **argv)
{
  int n_warm_up = 300, max_streams = 8;
  double seconds = 2;
  const GOptionEntry entries[] = {
      {"warm-up", 0, 0, G_OPTION_ARG_INT, &n_warm_up, "frames before measuring; default: 300", "N"},
      {"streams", 0, 0, G_OPTION_ARG_INT, &max_streams, "largest number of streams; default: 8",
          "N"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds,
          "time for each number of streams; default: 2", "S"},
      {NULL},
  };
  FrameSequence *sequence = frame_sequence_from_command_line (
      &argc, &argv, entries, "- background model and labelling on the GPU");
  g_autoptr (Table) streams = table_new (
      (const char *const[]){"streams", "frames/s together", "components per frame", NULL});
  CclError error;
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);
  Frames frames;

  stop_unless (device, &error);
  printf ("%s\n", ccl_cuda_device_name (device));
  stop_unless (ccl_cuda_device_enter (device, &error) == CCL_OK, &error);
  frames_init (&frames, device, sequence);
  measure_times (&frames, n_warm_up);
  for (int n = 1; n <= max_streams; n *= 2)
    measure_streams (&frames, n, n_warm_up, seconds, streams);
  table_print (streams, stdout);
  ccl_cuda_device_release (device, &frames.memory);
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&device);
  frame_sequence_free (sequence);
  return EXIT_SUCCESS;
}
