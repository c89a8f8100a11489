/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The background model on the GPU. Labelling is queued without waiting, through the library's
 * engine, so that the host's part does not count in the GPU time. */
#include "engine.h"
#include "foreground.h"

#include <cudaccl/cuda.h>

#include <stdio.h>

/* A background model and the labelling of its masks. */
typedef struct Chain {
  CclCudaDevice *device;
  const FrameSequence *sequence; /* in device memory */
  CclForegroundOptions options;
  CclForeground *foreground;
  CclCudaEngine *engine; /* NULL: masks only */
  CUdeviceptr mask;
  CUstream stream;
  uint64_t time; /* of the next frame */
  double end;    /* of measuring, in seconds on the monotonic clock */
  uint64_t n_frames, n_components;
} Chain;

/* Makes a call that returns a status, or one of the driver, and ends the program on an error. */
#define DO(call)                                                                                   \
  G_STMT_START                                                                                     \
  {                                                                                                \
    CclError error;                                                                                \
    stop_unless ((call) == CCL_OK, &error);                                                        \
  }                                                                                                \
  G_STMT_END
#define DRIVER(device, call) DO (ccl_cuda_call ((device)->driver, &error, call))

static void
chain_init (Chain *chain, CclCudaDevice *device, const FrameSequence *sequence, CclDenoise denoise,
    bool labels)
{
  const uint32_t width = sequence->width, height = sequence->height;
  const CclForegroundPlan plan = {.width = width, .height = height, .method = CCL_FOREGROUND_MOG2};
  const CclPlan labeller_plan = {.width = width,
      .height = height,
      .connectivity = CCL_CONNECTIVITY_8,
      .max_components = 4096,
      .algorithm = "strips"};
  const CclAlgorithm *algorithm = ccl_cuda_algorithm_find (labeller_plan.algorithm);
  CclError error;

  *chain = (Chain){.device = device, .sequence = sequence, .options = foreground_options (denoise)};
  stop_unless ((chain->foreground = ccl_cuda_foreground_new (device, &plan, &error)), &error);
  DO (ccl_cuda_device_allocate (device, (size_t)width * height, &chain->mask, &error));
  DRIVER (device, cuStreamCreate (&chain->stream, CU_STREAM_NON_BLOCKING));
  ccl_cuda_foreground_set_stream (chain->foreground, chain->stream);
  if (labels) {
    chain->engine =
        algorithm->engine->new (device, algorithm, &labeller_plan, chain->stream, &error);
    stop_unless (chain->engine, &error);
  }
}

static void
chain_clear (Chain *chain)
{
  chain->device->driver->cuStreamSynchronize (chain->stream);
  if (chain->engine)
    chain->engine->klass->free (chain->engine);
  ccl_foreground_free (&chain->foreground);
  ccl_cuda_device_release (chain->device, &chain->mask);
  chain->device->driver->cuStreamDestroy (chain->stream);
}

/* Queues all work for the next frames. */
static void
chain_queue (Chain *chain, unsigned n_frames)
{
  const size_t stride = chain->sequence->width;
  const CclMask mask = {(void *)(uintptr_t)chain->mask, stride};
  const CclCudaInput input = {chain->mask, stride, {.threshold = 127}};

  for (unsigned i = 0; i < n_frames; i++) {
    const CclFrame frame = {frame_at (chain->sequence, chain->time++), stride, CCL_LOCATION_DEVICE};
    DO (ccl_foreground_run (chain->foreground, &frame, &chain->options, &mask, &error));
    if (chain->engine)
      DO (chain->engine->klass->queue (chain->engine, &input, NULL, chain->stream, &error));
  }
}

static void
chain_wait (Chain *chain)
{
  CclTable table = {0};

  DRIVER (chain->device, cuStreamSynchronize (chain->stream));
  if (chain->engine)
    chain->engine->klass->read (chain->engine, &table);
  chain->n_components += table.n_components;
}

/* GPU seconds per frame: the median of batches, each queued while the one before runs. */
static double
chain_seconds (Chain *chain, unsigned n_warm_up)
{
  enum { BATCH = 100, N_BATCHES = 15 };
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  CUevent begin, end;

  DRIVER (chain->device, cuEventCreate (&begin, 0));
  DRIVER (chain->device, cuEventCreate (&end, 0));
  chain_queue (chain, n_warm_up);
  for (int i = 0; i < N_BATCHES; i++) {
    float milliseconds;
    chain_queue (chain, BATCH);
    DRIVER (chain->device, cuEventRecord (begin, chain->stream));
    chain_queue (chain, BATCH);
    DRIVER (chain->device, cuEventRecord (end, chain->stream));
    chain_wait (chain);
    DRIVER (chain->device, cuEventElapsedTime (&milliseconds, begin, end));
    g_array_append_val (times, (double){1e-3 * milliseconds / BATCH});
  }
  chain->device->driver->cuEventDestroy (begin);
  chain->device->driver->cuEventDestroy (end);
  return spread_of (times).median;
}

static gpointer
run_stream (gpointer data)
{
  Chain *chain = data;

  DO (ccl_cuda_device_enter (chain->device, &error));
  for (; seconds_now () < chain->end; chain->n_frames++) {
    chain_queue (chain, 1);
    chain_wait (chain);
  }
  ccl_cuda_device_leave (chain->device);
  return NULL;
}

/* Runs streams at once, each waiting for its tables, and adds a row. */
static void
measure_streams (CclCudaDevice *device, const FrameSequence *sequence, unsigned n_streams,
    unsigned n_warm_up, double seconds, Table *table)
{
  g_autofree Chain *chains = g_new (Chain, n_streams);
  g_autofree GThread **threads = g_new (GThread *, n_streams);
  uint64_t n_frames = 0, n_components = 0;
  double begin;

  for (unsigned i = 0; i < n_streams; i++) {
    chain_init (&chains[i], device, sequence, CCL_DENOISE_MEDIAN_3, true);
    chains[i].time = (uint64_t)i * 7; /* streams show different frames */
    chain_queue (&chains[i], n_warm_up);
    chain_wait (&chains[i]);
    chains[i].n_components = 0;
  }
  begin = seconds_now ();
  for (unsigned i = 0; i < n_streams; i++) {
    chains[i].end = begin + seconds;
    threads[i] = g_thread_new ("stream", run_stream, &chains[i]);
  }
  for (unsigned i = 0; i < n_streams; i++)
    g_thread_join (threads[i]);
  seconds = seconds_now () - begin;
  for (unsigned i = 0; i < n_streams; i++) {
    n_frames += chains[i].n_frames;
    n_components += chains[i].n_components;
    chain_clear (&chains[i]);
  }
  table_row (table);
  table_number (table, n_streams, 0);
  table_number (table, (double)n_frames / seconds, 0);
  table_number (table, (double)n_components / (double)MAX (n_frames, 1), 1);
}

void
measure_cuda (
    const FrameSequence *sequence, unsigned n_warm_up, unsigned max_streams, double seconds)
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
  const size_t size = (size_t)sequence->width * sequence->height * sequence->n_frames;
  Table *times = table_new ((const char *const[]){"GPU time per frame", "µs", NULL});
  Table *streams = table_new (
      (const char *const[]){"streams", "frames/s together", "components per frame", NULL});
  FrameSequence frames = *sequence;
  CUdeviceptr memory;
  CclError error;
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);

  stop_unless (device, &error);
  printf ("%s\n", ccl_cuda_device_name (device));
  DO (ccl_cuda_device_enter (device, &error));
  DO (ccl_cuda_device_allocate (device, size, &memory, &error));
  DRIVER (device, cuMemcpyHtoDAsync (memory, sequence->pixels, size, NULL));
  DRIVER (device, cuStreamSynchronize (NULL));
  frames.pixels = (const uint8_t *)(uintptr_t)memory;
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    Chain chain;
    chain_init (&chain, device, &frames, rows[i].denoise, rows[i].labels);
    table_row (times);
    table_text (times, "%s", rows[i].name);
    table_number (times, 1e6 * chain_seconds (&chain, n_warm_up), 2);
    chain_clear (&chain);
  }
  table_print (times);
  for (unsigned n = 1; n <= max_streams; n *= 2)
    measure_streams (device, &frames, n, n_warm_up, seconds, streams);
  table_print (streams);
  table_free (times);
  table_free (streams);
  ccl_cuda_device_release (device, &memory);
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&device);
}
