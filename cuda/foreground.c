/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of foreground.cu and mog2.cu.
 *
 * A frame takes one to three kernels: the histogram for Otsu's threshold; the threshold or the
 * background model, which writes the mask, or bits if the mask is to be denoised; the filter, from
 * bits to mask.
 */
#include "foreground-model.h"

#include "foreground-class.h"

#include <stdlib.h>

#include "foreground-parameters.h"
#include "images.h"
#include "launch.h"
#include "upload.h"

enum {
  HISTOGRAM,
  LUMA,    /* threshold or background model */
  DENOISE, /* the filters, in the order of CclDenoise from CCL_DENOISE_MEDIAN_3 on */
  N_KERNELS = DENOISE + CCL_DENOISE_OPENING_5,
};

/* Bytes of the background model for the pixels of one thread. */
#define MODEL_GROUP_SIZE                                                                           \
  (CCL_MAX_MIXTURES * CCL_FOREGROUND_PIXELS * (sizeof (uint32_t) + sizeof (uint16_t)))

typedef struct CudaForeground {
  CclForeground base;
  CclCudaDevice *device;
  CUfunction functions[N_KERNELS];              /* those of the plan's method */
  CUstream own_stream, stream;                  /* stream: the caller's, or own_stream */
  CUevent done;                                 /* recorded after the last run */
  bool is_pending;                              /* the last run has not been waited for */
  CclCudaUpload upload;                         /* of frames that come from the host */
  CUdeviceptr model, bits, roi_mask, histogram; /* 0: not needed */
  size_t model_size;
  uint64_t plane_groups; /* groups of CCL_FOREGROUND_PIXELS in a plane of the model */
  bool histogram_clean;  /* the histogram is in the state in which a frame starts */
  CclForegroundParameters parameters;
} CudaForeground;

static bool
is_mog2 (const CudaForeground *self, int kernel)
{
  return kernel == LUMA && self->base.plan.method == CCL_FOREGROUND_MOG2;
}

static const char *
kernel_name (const CudaForeground *self, int kernel)
{
  static const char *const names[N_KERNELS] = {
      [HISTOGRAM] = "ccl_histogram",
      [LUMA] = "ccl_threshold",
      [DENOISE] = "ccl_denoise_median_3",
      [DENOISE + 1] = "ccl_denoise_median_5",
      [DENOISE + 2] = "ccl_denoise_opening_3",
      [DENOISE + 3] = "ccl_denoise_opening_5",
  };
  return is_mog2 (self, kernel) ? "ccl_mog2" : names[kernel];
}

static CclStatus
launch (CudaForeground *self, int kernel, const uint32_t grid[3], uint32_t threads,
    bool is_dependent, CclError *error)
{
  const CclCudaLaunch launch = {
      .function = self->functions[kernel],
      .kernel = kernel_name (self, kernel),
      .grid = {grid[0], grid[1], grid[2]},
      .block = {threads, 1, 1},
      .is_dependent = is_dependent,
  };
  return ccl_cuda_launch (self->device, &launch, &self->parameters, self->stream, error);
}

/* Queues a kernel of which each warp handles warp_pixels pixels of a row. */
static CclStatus
launch_on_rows (
    CudaForeground *self, int kernel, uint32_t warp_pixels, bool is_dependent, CclError *error)
{
  const uint32_t row_blocks = divide_up (self->base.plan.height, CCL_FOREGROUND_WARPS);
  const uint32_t most = UINT16_MAX; /* in the second and third dimension */
  const uint32_t blocks[] = {
      divide_up (self->base.plan.width, warp_pixels),
      row_blocks < most ? row_blocks : most,
      divide_up (row_blocks, most),
  };
  return launch (self, kernel, blocks, CCL_FOREGROUND_THREADS, is_dependent, error);
}

/* Queues the kernels of a frame with the parameters that are set. */
static CclStatus
queue (CudaForeground *self, const CclForegroundOptions *options, CclError *error)
{
  const CclCudaDriver *driver = self->device->driver;
  const uint32_t warp_pixels = 32 * CCL_FOREGROUND_PIXELS;
  const bool has_histogram = self->histogram;
  CclStatus status = CCL_OK;

  if (has_histogram) {
    if (!self->histogram_clean)
      status = ccl_cuda_call (
          driver, error, cuMemsetD8Async (self->histogram, 0, sizeof (CclHistogram), self->stream));
    self->histogram_clean = false;
    /* Blocks that share a multiprocessor hide each other's latency. Each block adds its 256 counts
     * to memory at its end, so more than four of them per multiprocessor cost more than they save.
     */
    const uint64_t row_stretches = divide_up (self->base.plan.width, warp_pixels);
    const uint32_t needed = divide_up (row_stretches * self->base.plan.height, CCL_HISTOGRAM_WARPS);
    const uint32_t most = 4 * (uint32_t)self->device->n_multiprocessors;
    const uint32_t blocks[] = {needed < most ? needed : most, 1, 1};
    if (status == CCL_OK)
      status = launch (self, HISTOGRAM, blocks, CCL_HISTOGRAM_THREADS, false, error);
    self->histogram_clean = status == CCL_OK;
  }
  /* The weights of a new model must be 0. The other values of a pixel are written before their
   * first use; clearing them, too, keeps vector loads from reading uninitialised memory. */
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
cuda_foreground_run (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  const CclCudaDriver *driver = self->device->driver;
  CUdeviceptr pixels = (CUdeviceptr)frame->data;
  size_t stride = frame->stride;

  const bool models = foreground->plan.method == CCL_FOREGROUND_MOG2;
  if (options->closing_width > 1 || options->closing_height > 1 ||
      (models && (foreground->plan.has_chroma || options->shadows != CCL_SHADOWS_KEEP ||
                     options->light || options->hold > 1)))
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED,
        "chroma, shadows, light, hold and closing are not offered on a GPU yet");
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CCL_OK)
    return status;
  if (frame->location == CCL_LOCATION_HOST) {
    status = ccl_cuda_upload_queue (&self->upload, frame, self->stream, error);
    pixels = self->upload.memory;
    stride = self->upload.stride;
  }
  CclForegroundParameters *p = &self->parameters;
  p->frame = (const uint8_t *)(uintptr_t)pixels;
  p->frame_stride = stride;
  p->frame_aligned = (pixels | stride) % CCL_FOREGROUND_PIXELS == 0;
  p->threshold = options->threshold;
  if (self->model)
    p->mixture = ccl_mixture_parameters (options, foreground->n_frames);
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
cuda_foreground_wait (CclForeground *foreground, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
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
cuda_foreground_free (CclForeground *foreground)
{
  CudaForeground *self = (CudaForeground *)foreground;
  /* On a lost device only the host's memory can be freed. The event is waited for rather than the
   * stream, which the caller may have destroyed. */
  bool entered = ccl_cuda_device_enter (self->device, NULL) == CCL_OK;
  const CclCudaDriver *driver = self->device->driver;
  if (self->is_pending)
    driver->cuEventSynchronize (self->done);
  if (self->done)
    driver->cuEventDestroy (self->done);
  ccl_cuda_upload_clear (&self->upload);
  ccl_cuda_device_release (self->device, &self->model);
  ccl_cuda_device_release (self->device, &self->bits);
  ccl_cuda_device_release (self->device, &self->roi_mask);
  ccl_cuda_device_release (self->device, &self->histogram);
  if (self->own_stream)
    driver->cuStreamDestroy (self->own_stream);
  if (entered)
    ccl_cuda_device_leave (self->device);
  ccl_cuda_device_unref (&self->device);
  free (self);
}

static const CclForegroundClass cuda_foreground_class = {
    .name = "cuda",
    .run = cuda_foreground_run,
    .wait = cuda_foreground_wait,
    .free = cuda_foreground_free,
};

static CclStatus
find_kernels (CudaForeground *self, CclError *error)
{
  CclStatus status = CCL_OK;
  for (int i = 0; i < N_KERNELS && status == CCL_OK; i++)
    status = ccl_cuda_device_find_kernel (self->device,
        is_mog2 (self, i) ? &ccl_cuda_image_mog2 : &ccl_cuda_image_foreground,
        kernel_name (self, i), &self->functions[i], error);
  return status;
}

/* Uploads the region of interest mask as bits. */
static CclStatus
upload_roi_mask (CudaForeground *self, const CclFrame *roi_mask, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  const size_t row_words = self->parameters.row_words;
  const size_t size = row_words * plan->height * sizeof (uint32_t);
  CclStatus status = ccl_cuda_device_allocate (self->device, size, &self->roi_mask, error);
  if (status != CCL_OK)
    return status;
  uint32_t *words = calloc (row_words * plan->height, sizeof *words);
  if (!words)
    return ccl_error_set (
        error, CCL_ERROR_NO_MEMORY, "no host memory for a region of interest mask");
  for (size_t y = 0; y < plan->height; y++) {
    const uint8_t *row = (const uint8_t *)roi_mask->data + y * roi_mask->stride;
    for (size_t x = 0; x < plan->width; x++)
      words[y * row_words + x / 32] |= (uint32_t)(row[x] != 0) << x % 32;
  }
  status = ccl_cuda_call (
      driver, error, cuMemcpyHtoDAsync (self->roi_mask, words, size, self->own_stream));
  CclStatus end_status = ccl_cuda_call (
      driver, status == CCL_OK ? error : NULL, cuStreamSynchronize (self->own_stream));
  free (words);
  return status == CCL_OK ? end_status : status;
}

/* Allocates everything of a foreground. */
static CclStatus
allocate (CudaForeground *self, const CclFrame *roi_mask, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  CclForegroundParameters *p = &self->parameters;
  p->width = plan->width;
  p->height = plan->height;
  p->row_words = divide_up (plan->width, 32);
  p->row_groups = divide_up (plan->width, CCL_FOREGROUND_PIXELS);

  CclStatus status = ccl_cuda_device_create_stream (self->device, &self->own_stream, error);
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
  if (status == CCL_OK && plan->method == CCL_FOREGROUND_OTSU)
    status =
        ccl_cuda_device_allocate (self->device, sizeof (CclHistogram), &self->histogram, error);
  if (status == CCL_OK && plan->method == CCL_FOREGROUND_MOG2) {
    self->plane_groups = divide_up ((uint64_t)p->row_groups * plan->height, 32) * 32;
    self->model_size = self->plane_groups * MODEL_GROUP_SIZE;
    status = ccl_cuda_device_allocate (self->device, self->model_size, &self->model, error);
  }
  if (status == CCL_OK && roi_mask)
    status = upload_roi_mask (self, roi_mask, error);
  for (int k = 0; k < CCL_MAX_MIXTURES && self->model; k++) {
    /* Shapes lie before weights, which take half as many bytes, so that both are aligned. */
    const size_t shapes = self->plane_groups * CCL_FOREGROUND_PIXELS * sizeof (uint32_t);
    p->shapes[k] = (struct uint4 *)(uintptr_t)(self->model + k * shapes);
    p->weights[k] =
        (struct uint2 *)(uintptr_t)(self->model + CCL_MAX_MIXTURES * shapes + k * shapes / 2);
  }
  p->roi_mask = (const uint32_t *)(uintptr_t)self->roi_mask;
  p->histogram = (CclHistogram *)(uintptr_t)self->histogram;
  return status;
}

CclForeground *
ccl_cuda_foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_foreground_plan_check (plan, error) != CCL_OK)
    return NULL;
  CudaForeground *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CCL_ERROR_NO_MEMORY, "no host memory for a maker of foreground masks");
    return NULL;
  }
  self->base.klass = &cuda_foreground_class;
  self->base.plan = *plan;
  self->base.plan.roi_mask = NULL;
  self->device = ccl_cuda_device_ref (device);

  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status == CCL_OK) {
    status = allocate (self, plan->roi_mask, error);
    ccl_cuda_device_leave (device);
  }
  if (status != CCL_OK) {
    cuda_foreground_free (&self->base);
    return NULL;
  }
  return &self->base;
}

void
ccl_cuda_foreground_set_stream (CclForeground *foreground, void *stream)
{
  CudaForeground *self = (CudaForeground *)foreground;
  self->stream = stream ? stream : self->own_stream;
}

CclStatus
ccl_cuda_foreground_read_model (CclForeground *foreground, uint16_t *weights, uint16_t *means,
    uint16_t *variances, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  const CclCudaDriver *driver = self->device->driver;
  const CclForegroundPlan *plan = &foreground->plan;
  const size_t row_pixels = (size_t)self->parameters.row_groups * CCL_FOREGROUND_PIXELS;
  const size_t plane_pixels = self->plane_groups * CCL_FOREGROUND_PIXELS;
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
