/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Background model, noise filters and labelling as implementations, on one CPU thread or on the
 * GPU. */
#include "implementation-foreground.h"
#include "core/label/labeller-class.h"
#include "cuda/label/algorithms.h"

#include <cudaccl/device.h>

#if HAVE_CUDA
#include "cuda/label/engine.h"
#endif

/* The library's background model and, if it delivers a table, its labeller. On the GPU, frames and
 * mask are device memory, and the device's context is current. */
typedef struct Chain {
  Implementation head;
  const FrameSequence *sequence;
  CclCudaDevice *device; /* NULL: the CPU */
  CclForegroundMethod method;
  CclForegroundOptions options;

  /* From prepare to release. */
  CclForeground *foreground;
  CclLabeller *labeller;
  void *mask;
  uint64_t time; /* of the next frame */
#if HAVE_CUDA
  CclCudaEngine *engine; /* labels without waiting, for the device's time */
#endif
} Chain;

/* Makes the mask of the next frame; on the GPU, the work is only queued. */
static CclStatus
make_mask (Chain *chain, CclError *error)
{
  const FrameSequence *sequence = chain->sequence;
  const uint32_t width = sequence->width;
  const uint8_t *luma =
      sequence->pixels + sequence->frame_size * frame_at (sequence, chain->time++);
  CclFrame frame = {
      .data = luma,
      .stride = width,
      .location = chain->device ? CUDACCL_LOCATION_DEVICE : CUDACCL_LOCATION_HOST,
  };

  if (sequence->has_chroma) {
    const uint8_t *chroma = luma + (size_t)width * sequence->height;
    const size_t stride = (width + 1) / 2 * 2;
    frame.chroma = (CclChroma){chroma, chroma + 1, stride, stride, 2, 1, 1};
  }

  return ccl_foreground_queue (
      chain->foreground, &frame, &chain->options, &(CclMask){chain->mask, sequence->width}, error);
}

static CclStatus
chain_run (Implementation *implementation, CclError *error)
{
  Chain *chain = (Chain *)implementation;
  const CclFrame mask = {chain->mask, chain->sequence->width,
      chain->device ? CUDACCL_LOCATION_DEVICE : CUDACCL_LOCATION_HOST};
  CclTable table;

  TRY (make_mask (chain, error));
  if (implementation->delivery != DELIVER_TABLE)
    return ccl_foreground_wait (chain->foreground, error);
  return ccl_labeller_run (
      chain->labeller, &mask, &(CclLabellerOptions){.threshold = 127}, NULL, &table, error);
}

#if HAVE_CUDA
static CclStatus
make_on_gpu (Chain *chain, const CclForegroundPlan *plan, const CclLabellerPlan *labeller_plan,
    CclError *error)
{
  const CclAlgorithm *algorithm = ccl_cuda_algorithm_find ("strips");
  CUdeviceptr mask;

  TRY (ccl_cuda_device_allocate (chain->device, (size_t)plan->width * plan->height, &mask, error));
  chain->mask = (void *)mask;
  chain->foreground = ccl_cuda_foreground_new (chain->device, plan, error);
  chain->labeller = ccl_cuda_labeller_new (chain->device, labeller_plan, error);
  if (!chain->foreground || !chain->labeller)
    return error->status;
  ccl_cuda_foreground_set_stream (
      chain->foreground, ccl_cuda_labeller_get_stream (chain->labeller), NULL);
  return algorithm->engine->new (chain->device, algorithm, labeller_plan,
      ccl_cuda_labeller_get_stream (chain->labeller), &chain->engine, error);
}

static void
free_on_gpu (Chain *chain)
{
  CUdeviceptr mask = (CUdeviceptr)chain->mask;

  if (chain->engine)
    chain->engine->klass->free (chain->engine);
  chain->engine = NULL;
  ccl_cuda_device_release (chain->device, &mask);
  chain->mask = NULL;
}

static CclStatus
queue_frames (Chain *chain, unsigned n, CclError *error)
{
  const CclCudaInput mask = {(CUdeviceptr)chain->mask, chain->sequence->width, {.threshold = 127}};

  for (unsigned i = 0; i < n; i++) {
    TRY (make_mask (chain, error));
    if (chain->head.delivery == DELIVER_TABLE)
      TRY (chain->engine->klass->queue (
          chain->engine, &mask, NULL, ccl_cuda_labeller_get_stream (chain->labeller), error));
  }
  return CUDACCL_OK;
}

/* A mixture of Gaussians that follows the light waits for the frame before, so each frame is timed
 * by itself. Work that is queued before it gives the host the time to queue all of the frame's. */
static CclStatus
time_single_frames (Chain *chain, unsigned n, double *seconds, CclError *error)
{
  const CclCudaDriver *driver = chain->device->driver;
  const CUstream stream = ccl_cuda_labeller_get_stream (chain->labeller);
  float milliseconds, sum = 0;
  CUevent events[2];

  for (int i = 0; i < 2; i++)
    TRY (ccl_cuda_call (driver, error, cuEventCreate (&events[i], 0)));
  for (unsigned i = 0; i < n; i++) {
    TRY (ccl_foreground_wait (chain->foreground, error));
    for (int k = 0; k < 32; k++)
      TRY (ccl_cuda_call (driver, error, cuMemsetD8Async ((CUdeviceptr)chain->mask, 0, 1, stream)));
    TRY (ccl_cuda_call (driver, error, cuEventRecord (events[0], stream)));
    TRY (queue_frames (chain, 1, error));
    TRY (ccl_cuda_call (driver, error, cuEventRecord (events[1], stream)));
    TRY (ccl_cuda_call (driver, error, cuStreamSynchronize (stream)));
    TRY (ccl_cuda_call (driver, error, cuEventElapsedTime (&milliseconds, events[0], events[1])));
    sum += milliseconds;
  }
  for (int i = 0; i < 2; i++)
    driver->cuEventDestroy (events[i]);
  *seconds = 1e-3 * sum / n;
  return CUDACCL_OK;
}

/* Frames are queued while those before run, so that the host's part does not count. */
static CclStatus
chain_device_time (
    Implementation *implementation, unsigned n_runs, double *seconds, CclError *error)
{
  enum { BATCH = 100 };
  Chain *chain = (Chain *)implementation;
  const CclCudaDriver *driver = chain->device->driver;
  const CUstream stream = ccl_cuda_labeller_get_stream (chain->labeller);
  float milliseconds;
  CUevent events[2];

  if (chain->options.light && chain->method == CUDACCL_FOREGROUND_MOG2)
    return time_single_frames (chain, BATCH, seconds, error);
  for (int i = 0; i < 2; i++) {
    TRY (ccl_cuda_call (driver, error, cuEventCreate (&events[i], 0)));
    TRY (queue_frames (chain, BATCH, error));
    TRY (ccl_cuda_call (driver, error, cuEventRecord (events[i], stream)));
  }
  TRY (ccl_cuda_call (driver, error, cuStreamSynchronize (stream)));
  TRY (ccl_cuda_call (driver, error, cuEventElapsedTime (&milliseconds, events[0], events[1])));
  driver->cuEventDestroy (events[0]);
  driver->cuEventDestroy (events[1]);
  *seconds = 1e-3 * milliseconds / BATCH;
  return CUDACCL_OK;
}
#endif

static CclStatus
chain_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  Chain *chain = (Chain *)implementation;
  const CclForegroundPlan plan = {.width = input->width,
      .height = input->height,
      .method = chain->method,
      .n_threads = 1,
      .has_chroma = chain->sequence->has_chroma,
      .reduction = chain->sequence->reduction};
  const CclLabellerPlan labeller_plan = {.width = input->width,
      .height = input->height,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 4096,
      .n_threads = 1};

#if HAVE_CUDA
  if (chain->device)
    TRY (make_on_gpu (chain, &plan, &labeller_plan, error));
#endif
  if (!chain->device) {
    chain->mask = g_malloc (input_n_pixels (input));
    chain->foreground = ccl_cpu_foreground_new (&plan, error);
    chain->labeller = ccl_cpu_labeller_new (&labeller_plan, error);
    if (!chain->foreground || !chain->labeller)
      return error->status;
  }
  for (unsigned i = 0; i < chain->sequence->n_warm_up; i++)
    TRY (chain_run (implementation, error));
  return CUDACCL_OK;
}

static void
chain_release (Implementation *implementation)
{
  Chain *chain = (Chain *)implementation;

#if HAVE_CUDA
  if (chain->device)
    free_on_gpu (chain);
#endif
  ccl_labeller_free (&chain->labeller);
  ccl_foreground_free (&chain->foreground);
  g_clear_pointer (&chain->mask, g_free);
}

static const char *const filters[] = {
    "none", "median 3×3", "median 5×5", "opening 3×3", "opening 5×5"};

Implementation *
foreground_new (const FrameSequence *sequence, CclForegroundMethod method, CclDenoise denoise,
    bool labels, uint64_t time)
{
  static ImplementationClass klass = {
      .prepare = chain_prepare, .run = chain_run, .release = chain_release};
  Chain *chain = g_new0 (Chain, 1);

#if HAVE_CUDA
  klass.device_time = sequence->device ? chain_device_time : NULL;
#endif
  chain->head = (Implementation){
      .klass = &klass,
      .device = sequence->device ? "cuda" : "cpu",
      .maker = "cudaccl",
      .algorithm = method == CUDACCL_FOREGROUND_CODEBOOK ? "codebook" : filters[denoise],
      .delivery = labels ? DELIVER_TABLE : DELIVER_NOTHING,
      .threads = 1,
  };
  chain->sequence = sequence;
  chain->device = sequence->device;
  chain->time = time;
  chain->method = method;
  chain->options = (CclForegroundOptions){
      .denoise = denoise,
      .history = 500,
      .var_threshold = sequence->has_chroma ? 9 : 16,
      .learning_rate = -1,
      .mixtures = 5,
      .shadows = sequence->has_chroma ? CUDACCL_SHADOWS_REMOVE : CUDACCL_SHADOWS_KEEP,
      .light = sequence->has_chroma,
  };
  return &chain->head;
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

void
foreground_draw (const FrameSequence *sequence, uint8_t *pixels)
{
  const size_t n_pixels = (size_t)sequence->width * sequence->height;

  for (uint32_t i = 0; i < sequence->n_frames; i++, pixels += sequence->frame_size) {
    draw_frame (pixels, sequence->width, sequence->height, i);
    for (size_t k = n_pixels; k < sequence->frame_size; k++) /* hardly any colour */
      pixels[k] = (uint8_t)(126 + hash ((uint32_t)k, 10, i) % 5);
  }
}

CclStatus
foreground_move_to_gpu (FrameSequence *sequence, char name[128], CclError *error)
{
#if HAVE_CUDA
  const size_t size = sequence->frame_size * sequence->n_frames;
  CclCudaDevice *device = ccl_cuda_device_open (-1, error);
  CUdeviceptr memory;

  if (!device)
    return error->status;
  TRY (ccl_cuda_device_enter (device, error));
  TRY (ccl_cuda_device_allocate (device, size, &memory, error));
  TRY (ccl_cuda_call (
      device->driver, error, cuMemcpyHtoDAsync (memory, sequence->pixels, size, NULL)));
  TRY (ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL)));
  sequence->pixels = (const uint8_t *)memory;
  sequence->device = device;
  g_strlcpy (name, ccl_cuda_device_name (device), 128);
  return CUDACCL_OK;
#else
  return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "built without CUDA");
#endif
}

Implementation *
foreground_new_opencv (const FrameSequence *sequence, CclDenoise denoise, bool labels)
{
  const char *why;
  const PeerMog2New new = (PeerMog2New)peer_opencv_symbol ("peer_mog2_new", &why);

  return new ? new (sequence, denoise, labels) : NULL;
}
