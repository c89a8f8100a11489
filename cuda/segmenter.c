/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of segmenter.cu and background.cu.
 *
 * A frame takes one to three kernels: the histogram if Otsu chooses the threshold, then luma to
 * mask, or to bits and bits to mask where noise is taken off.
 */
#include "segmenter-private.h"

#include <stdlib.h>

#include "device.h"
#include "segmenter-parameters.h"
#include "upload.h"

enum {
  HISTOGRAM,
  LUMA,    /* what makes the mask: a threshold or the background model */
  DENOISE, /* the first of the filters; CCL_DENOISE_MEDIAN_3 is its first */
  N_KERNELS = DENOISE + CCL_DENOISE_OPENING_5,
};

/* Bytes that the background model of a thread's pixels takes. */
#define MODEL_GROUP_SIZE                                                                           \
  (CCL_MAX_MIXTURES * CCL_SEGMENTER_PIXELS * (sizeof (uint32_t) + sizeof (uint16_t)))

typedef struct CudaSegmenter {
  CclSegmenter base;
  CclCudaDevice *device;
  CUfunction functions[N_KERNELS];          /* those that the plan's foreground needs */
  CUstream own_stream, stream;              /* stream: the caller's, or own_stream */
  CUevent done;                             /* after the last run */
  bool is_pending;                          /* nobody has waited for that */
  CclCudaUpload upload;                     /* of frames that come from the host */
  CUdeviceptr model, bits, zone, histogram; /* 0: not needed */
  size_t model_size;
  uint64_t plane_groups; /* of the model: from plane to plane */
  bool histogram_clean;  /* is as CclHistogram says that it is when a frame starts */
  CclSegmenterParameters parameters;
} CudaSegmenter;

static uint64_t
divide_up (uint64_t a, uint64_t b)
{
  return (a + b - 1) / b;
}

/* Queues a kernel. One that depends on the kernel ahead of it may be brought onto the GPU before
 * that is done, where the GPU can do that: device/dependent-launch.cuh. */
static CclStatus
launch (CudaSegmenter *self, int kernel, const uint32_t blocks[3], uint32_t threads,
    bool is_dependent, CclError *error)
{
  const CclCudaDriver *driver = self->device->driver;
  CUfunction function = self->functions[kernel];
  void *arguments[] = {&self->parameters};
  if (!is_dependent || !driver->cuLaunchKernelEx || self->device->compute_capability < 90)
    return ccl_cuda_call (driver, error,
        cuLaunchKernel (function, blocks[0], blocks[1], blocks[2], threads, 1, 1, 0, self->stream,
            arguments, NULL));
  CUlaunchAttribute overlap = {
      .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
      .value.programmaticStreamSerializationAllowed = 1,
  };
  CUlaunchConfig config = {
      .gridDimX = blocks[0],
      .gridDimY = blocks[1],
      .gridDimZ = blocks[2],
      .blockDimX = threads,
      .blockDimY = 1,
      .blockDimZ = 1,
      .hStream = self->stream,
      .attrs = &overlap,
      .numAttrs = 1,
  };
  return ccl_cuda_call (driver, error, cuLaunchKernelEx (&config, function, arguments, NULL));
}

/* Queues a kernel whose warps have so many pixels of a row each. */
static CclStatus
launch_on_rows (
    CudaSegmenter *self, int kernel, uint32_t warp_pixels, bool is_dependent, CclError *error)
{
  const uint32_t row_blocks = (uint32_t)divide_up (self->base.plan.height, CCL_SEGMENTER_WARPS);
  const uint32_t most = UINT16_MAX; /* in the second and third dimension */
  const uint32_t blocks[] = {
      (uint32_t)divide_up (self->base.plan.width, warp_pixels),
      row_blocks < most ? row_blocks : most,
      (uint32_t)divide_up (row_blocks, most),
  };
  return launch (self, kernel, blocks, CCL_SEGMENTER_THREADS, is_dependent, error);
}

/* Queues the kernels of a frame with the parameters that are set. */
static CclStatus
queue (CudaSegmenter *self, const CclSegmenterOptions *options, CclError *error)
{
  const CclCudaDriver *driver = self->device->driver;
  const uint32_t warp_pixels = 32 * CCL_SEGMENTER_PIXELS;
  const bool has_histogram = self->histogram;
  CclStatus status = CCL_OK;

  if (has_histogram) {
    if (!self->histogram_clean)
      status = ccl_cuda_call (
          driver, error, cuMemsetD8Async (self->histogram, 0, sizeof (CclHistogram), self->stream));
    self->histogram_clean = false;
    /* Blocks that share a multiprocessor hide each other's waiting; more of them would add more
     * counts at the end than they save. */
    const uint64_t row_stretches = divide_up (self->base.plan.width, warp_pixels);
    const uint64_t needed = divide_up (row_stretches * self->base.plan.height, CCL_HISTOGRAM_WARPS);
    const uint32_t most = 4 * (uint32_t)self->device->n_multiprocessors;
    const uint32_t blocks[] = {needed < most ? (uint32_t)needed : most, 1, 1};
    if (status == CCL_OK)
      status = launch (self, HISTOGRAM, blocks, CCL_HISTOGRAM_THREADS, false, error);
    self->histogram_clean = status == CCL_OK;
  }
  /* The weights of a new model must be 0; the rest is never read before it was written, but for
   * what is beside it. */
  if (status == CCL_OK && self->model && self->base.n_frames == 0)
    status = ccl_cuda_call (
        driver, error, cuMemsetD8Async (self->model, 0, self->model_size, self->stream));
  if (status == CCL_OK)
    status = launch_on_rows (self, LUMA, warp_pixels, has_histogram, error);
  if (status == CCL_OK && options->denoise != CCL_DENOISE_NONE)
    status = launch_on_rows (
        self, DENOISE + (int)options->denoise - CCL_DENOISE_MEDIAN_3, 32 * 32, true, error);
  return status;
}

static CclStatus
cuda_segmenter_run (CclSegmenter *segmenter, const CclFrame *frame,
    const CclSegmenterOptions *options, const CclMask *mask, CclError *error)
{
  CudaSegmenter *self = (CudaSegmenter *)segmenter;
  const CclCudaDriver *driver = self->device->driver;
  CUdeviceptr pixels = (CUdeviceptr)frame->data;
  size_t stride = frame->stride;

  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CCL_OK)
    return status;
  if (frame->location == CCL_LOCATION_HOST) {
    status = ccl_cuda_upload_queue (&self->upload, frame, self->stream, error);
    pixels = self->upload.memory;
    stride = self->upload.stride;
  }
  CclSegmenterParameters *p = &self->parameters;
  p->frame = (const uint8_t *)(uintptr_t)pixels;
  p->frame_stride = stride;
  p->frame_aligned = (pixels | stride) % CCL_SEGMENTER_PIXELS == 0;
  p->threshold = options->threshold;
  if (self->model)
    p->mixture = ccl_mixture_parameters (options, segmenter->n_frames);
  p->bits = options->denoise == CCL_DENOISE_NONE ? NULL : (uint32_t *)(uintptr_t)self->bits;
  p->invert = options->invert ? UINT32_MAX : 0;
  p->mask = mask->data;
  p->mask_stride = mask->stride;
  p->mask_aligned = ((uintptr_t)mask->data | mask->stride) % 16 == 0;
  if (status == CCL_OK)
    status = queue (self, options, error);
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, error, cuEventRecord (self->done, self->stream));
  self->is_pending = status == CCL_OK;
  if (status != CCL_OK)
    status = ccl_cuda_device_abandon (self->device, self->stream, error);
  ccl_cuda_device_leave (self->device);
  return status;
}

static CclStatus
cuda_segmenter_wait (CclSegmenter *segmenter, CclError *error)
{
  CudaSegmenter *self = (CudaSegmenter *)segmenter;
  if (!self->is_pending)
    return CCL_OK;
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CCL_OK)
    return status;
  status = ccl_cuda_call (self->device->driver, error, cuEventSynchronize (self->done));
  self->is_pending = status != CCL_OK;
  ccl_cuda_device_leave (self->device);
  return status;
}

static void
cuda_segmenter_free (CclSegmenter *segmenter)
{
  CudaSegmenter *self = (CudaSegmenter *)segmenter;
  /* A device that is lost lets nothing be freed; then the host's part is what can be saved. The
   * event tells of a stream that may be gone by now. */
  bool entered = ccl_cuda_device_enter (self->device, NULL) == CCL_OK;
  const CclCudaDriver *driver = self->device->driver;
  if (self->is_pending)
    driver->cuEventSynchronize (self->done);
  if (self->done)
    driver->cuEventDestroy (self->done);
  ccl_cuda_upload_clear (&self->upload);
  ccl_cuda_device_release (self->device, &self->model);
  ccl_cuda_device_release (self->device, &self->bits);
  ccl_cuda_device_release (self->device, &self->zone);
  ccl_cuda_device_release (self->device, &self->histogram);
  if (self->own_stream)
    driver->cuStreamDestroy (self->own_stream);
  if (entered)
    ccl_cuda_device_leave (self->device);
  ccl_cuda_device_unref (&self->device);
  free (self);
}

static const CclSegmenterClass cuda_segmenter_class = {
    .name = "cuda",
    .run = cuda_segmenter_run,
    .wait = cuda_segmenter_wait,
    .free = cuda_segmenter_free,
};

static CclStatus
find_kernels (CudaSegmenter *self, CclError *error)
{
  static const char *const names[N_KERNELS] = {
      [HISTOGRAM] = "ccl_histogram",
      [LUMA] = "ccl_threshold",
      [DENOISE] = "ccl_denoise_median_3",
      [DENOISE + 1] = "ccl_denoise_median_5",
      [DENOISE + 2] = "ccl_denoise_opening_3",
      [DENOISE + 3] = "ccl_denoise_opening_5",
  };
  CclStatus status = CCL_OK;
  for (int i = 0; i < N_KERNELS && status == CCL_OK; i++) {
    if (i == LUMA && self->base.plan.foreground == CCL_FOREGROUND_BACKGROUND)
      status = ccl_cuda_device_find_kernel (
          self->device, "background", "ccl_background", &self->functions[i], error);
    else
      status = ccl_cuda_device_find_kernel (
          self->device, "segmenter", names[i], &self->functions[i], error);
  }
  return status;
}

/* Brings the zone to the device as bits. */
static CclStatus
upload_zone (CudaSegmenter *self, const CclFrame *zone, CclError *error)
{
  const CclSegmenterPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  const size_t row_words = self->parameters.row_words;
  const size_t size = row_words * plan->height * sizeof (uint32_t);
  CclStatus status = ccl_cuda_device_allocate (self->device, size, &self->zone, error);
  if (status != CCL_OK)
    return status;
  uint32_t *words = calloc (row_words * plan->height, sizeof *words);
  if (!words)
    return ccl_error_set (error, CCL_ERROR_NO_MEMORY, "no host memory for a zone");
  for (size_t y = 0; y < plan->height; y++) {
    const uint8_t *row = (const uint8_t *)zone->data + y * zone->stride;
    for (size_t x = 0; x < plan->width; x++)
      words[y * row_words + x / 32] |= (uint32_t)(row[x] != 0) << x % 32;
  }
  status =
      ccl_cuda_call (driver, error, cuMemcpyHtoDAsync (self->zone, words, size, self->own_stream));
  CclStatus end_status = ccl_cuda_call (
      driver, status == CCL_OK ? error : NULL, cuStreamSynchronize (self->own_stream));
  free (words);
  return status == CCL_OK ? end_status : status;
}

/* Allocates what a segmenter needs, the context being current. */
static CclStatus
allocate (CudaSegmenter *self, const CclFrame *zone, CclError *error)
{
  const CclSegmenterPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  CclSegmenterParameters *p = &self->parameters;
  p->width = plan->width;
  p->height = plan->height;
  p->row_words = (uint32_t)divide_up (plan->width, 32);
  p->row_groups = (uint32_t)divide_up (plan->width, CCL_SEGMENTER_PIXELS);

  CclStatus status =
      ccl_cuda_call (driver, error, cuStreamCreate (&self->own_stream, CU_STREAM_NON_BLOCKING));
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, error,
        cuEventCreate (&self->done, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
  self->stream = self->own_stream;
  if (status == CCL_OK)
    status = find_kernels (self, error);
  if (status == CCL_OK)
    status = ccl_cuda_upload_init (&self->upload, self->device, plan->width, plan->height, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (
        self->device, (size_t)p->row_words * plan->height * sizeof (uint32_t), &self->bits, error);
  if (status == CCL_OK && plan->foreground == CCL_FOREGROUND_OTSU)
    status =
        ccl_cuda_device_allocate (self->device, sizeof (CclHistogram), &self->histogram, error);
  if (status == CCL_OK && plan->foreground == CCL_FOREGROUND_BACKGROUND) {
    self->plane_groups = divide_up ((uint64_t)p->row_groups * plan->height, 32) * 32;
    self->model_size = self->plane_groups * MODEL_GROUP_SIZE;
    status = ccl_cuda_device_allocate (self->device, self->model_size, &self->model, error);
  }
  if (status == CCL_OK && zone)
    status = upload_zone (self, zone, error);
  for (int k = 0; k < CCL_MAX_MIXTURES && self->model; k++) {
    /* Shapes before weights, which take half as much, so that all are aligned. */
    const size_t shapes = self->plane_groups * CCL_SEGMENTER_PIXELS * sizeof (uint32_t);
    p->shapes[k] = (struct uint4 *)(uintptr_t)(self->model + k * shapes);
    p->weights[k] =
        (struct uint2 *)(uintptr_t)(self->model + CCL_MAX_MIXTURES * shapes + k * shapes / 2);
  }
  p->zone = (const uint32_t *)(uintptr_t)self->zone;
  p->histogram = (CclHistogram *)(uintptr_t)self->histogram;
  return status;
}

CclSegmenter *
ccl_cuda_segmenter_new (CclCudaDevice *device, const CclSegmenterPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_segmenter_plan_check (plan, error) != CCL_OK)
    return NULL;
  CudaSegmenter *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CCL_ERROR_NO_MEMORY, "no host memory for a segmenter");
    return NULL;
  }
  self->base.klass = &cuda_segmenter_class;
  self->base.plan = *plan;
  self->base.plan.zone = NULL;
  self->device = ccl_cuda_device_ref (device);

  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status == CCL_OK) {
    status = allocate (self, plan->zone, error);
    ccl_cuda_device_leave (device);
  }
  if (status != CCL_OK) {
    cuda_segmenter_free (&self->base);
    return NULL;
  }
  return &self->base;
}

void
ccl_cuda_segmenter_set_stream (CclSegmenter *segmenter, void *stream)
{
  CudaSegmenter *self = (CudaSegmenter *)segmenter;
  self->stream = stream ? stream : self->own_stream;
}

CclStatus
ccl_cuda_segmenter_read_model (CclSegmenter *segmenter, uint16_t *weights, uint16_t *means,
    uint16_t *variances, CclError *error)
{
  CudaSegmenter *self = (CudaSegmenter *)segmenter;
  const CclCudaDriver *driver = self->device->driver;
  const CclSegmenterPlan *plan = &segmenter->plan;
  const size_t row_pixels = (size_t)self->parameters.row_groups * CCL_SEGMENTER_PIXELS;
  const size_t plane_pixels = self->plane_groups * CCL_SEGMENTER_PIXELS;
  uint8_t *model = malloc (self->model_size);
  if (!model)
    return ccl_error_set (error, CCL_ERROR_NO_MEMORY, "no host memory for a model");
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status == CCL_OK) {
    status = ccl_cuda_call (
        driver, error, cuMemcpyDtoHAsync (model, self->model, self->model_size, self->stream));
    CclStatus end_status =
        ccl_cuda_call (driver, status == CCL_OK ? error : NULL, cuStreamSynchronize (self->stream));
    if (status == CCL_OK)
      status = end_status;
    ccl_cuda_device_leave (self->device);
  }
  const uint32_t *all_shapes = (const uint32_t *)model;
  const uint16_t *all_weights = (const uint16_t *)(all_shapes + CCL_MAX_MIXTURES * plane_pixels);
  for (size_t k = 0; k < CCL_MAX_MIXTURES && status == CCL_OK; k++) {
    for (size_t y = 0; y < plan->height; y++) {
      for (size_t x = 0; x < plan->width; x++) {
        const size_t from = k * plane_pixels + y * row_pixels + x;
        const size_t to = (k * plan->height + y) * plan->width + x;
        weights[to] = all_weights[from];
        means[to] = (uint16_t)all_shapes[from];
        variances[to] = (uint16_t)(all_shapes[from] >> 16);
      }
    }
  }
  free (model);
  return status;
}
