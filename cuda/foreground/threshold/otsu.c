/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by Otsu's threshold of the frame: the histogram, of pixels of 16 bits in two kernels,
 * and the threshold. */
#include "cuda/foreground/segmenter.h"

#include "images.h"
#include "otsu-parameters.h"
#include "threshold.h"

typedef struct CudaOtsu {
  CclCudaThreshold threshold;
  CclCudaLaunch histogram, windows; /* windows: of pixels of 16 bits alone */
  size_t size;                      /* of the histograms, in bytes */
  bool is_clean;                    /* the histograms are in the state in which a frame starts */
  CclOtsuParameters parameters;
} CudaOtsu;

/* One block for each multiprocessor, as each adds its counts to memory at its end, and a second one
 * if all warps have eight parts or more. */
static uint32_t
n_blocks (const CclCudaSegmenter *self)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_parts = row_parts * plan->height;
  const uint32_t n_multiprocessors = (uint32_t)self->runner.device->n_multiprocessors;
  const uint32_t with_one = divide_up (n_parts, CUDACCL_HISTOGRAM_WARPS);
  const uint32_t with_eight = divide_up (n_parts, 8 * CUDACCL_HISTOGRAM_WARPS);
  const uint32_t most_parts =
      CUDACCL_HISTOGRAM_MOST_PARTS / CUDACCL_HISTOGRAM_WARPS * CUDACCL_HISTOGRAM_WARPS;
  const uint32_t least = ccl_cuda_segmenter_is_wide (self) ? divide_up (n_parts, most_parts) : 1;
  const uint32_t first = with_one < n_multiprocessors ? with_one : n_multiprocessors;
  const uint32_t both = with_eight < 2 * n_multiprocessors ? with_eight : 2 * n_multiprocessors;
  const uint32_t best = first > both ? first : both;
  return best > least ? best : least;
}

static CclStatus
queue_histogram (CclCudaSegmenter *self, CclError *error)
{
  CudaOtsu *otsu = self->model;
  CclCudaDevice *device = self->runner.device;
  CclStatus status = CUDACCL_OK;

  otsu->parameters.frame = self->frame;
  otsu->parameters.roi_mask = (const uint32_t *)(uintptr_t)self->roi_mask;
  if (!otsu->is_clean)
    status = ccl_cuda_call (device->driver, error,
        cuMemsetD8Async ((CUdeviceptr)(uintptr_t)otsu->parameters.histogram, 0, otsu->size,
            self->runner.stream));
  otsu->is_clean = false;
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_launch (device, &otsu->histogram, &otsu->parameters, self->runner.stream, error);
  if (status == CUDACCL_OK && otsu->windows.function)
    status =
        ccl_cuda_launch (device, &otsu->windows, &otsu->parameters, self->runner.stream, error);
  otsu->is_clean = status == CUDACCL_OK;
  return status;
}

static CclStatus
otsu_queue (CclCudaSegmenter *self, const CclForegroundOptions *options, CclError *error)
{
  CudaOtsu *otsu = self->model;
  const CclStatus status = queue_histogram (self, error);

  return status == CUDACCL_OK ? ccl_cuda_threshold_queue (&otsu->threshold, self, 0,
                                    &otsu->parameters.histogram->threshold, error)
                              : status;
}

static CclStatus
prepare_kernel (CclCudaSegmenter *self, CclCudaLaunch *launch, const char *kernel,
    bool is_dependent, CclError *error)
{
  *launch = (CclCudaLaunch){
      .kernel = kernel,
      .grid = {n_blocks (self), 1, 1},
      .block = {CUDACCL_HISTOGRAM_THREADS, 1, 1},
      .is_dependent = is_dependent,
  };
  return ccl_cuda_device_find_kernel (
      self->runner.device, &ccl_cuda_image_otsu, kernel, &launch->function, error);
}

static CclStatus
otsu_prepare (CclCudaSegmenter *self, CclError *error)
{
  static const char *const kernels[] = {
      "ccl_histogram", "ccl_histogram_packed", "ccl_histogram_words"};
  const bool is_wide = ccl_cuda_segmenter_is_wide (self);
  CudaOtsu *otsu = self->model;
  CclStatus status = ccl_cuda_threshold_init (&otsu->threshold, self, error);
  if (status == CUDACCL_OK)
    status = prepare_kernel (
        self, &otsu->histogram, ccl_cuda_segmenter_choose_kernel (self, kernels), false, error);
  if (status == CUDACCL_OK && is_wide)
    status = prepare_kernel (self, &otsu->windows, "ccl_histogram_windows", true, error);
  otsu->size = sizeof (CclHistogram) + (is_wide ? sizeof (CclWideHistogram) : 0);
  CclHistogram *histogram = ccl_cuda_allocate (&self->runner.memory, otsu->size, &status, error);
  otsu->parameters = (CclOtsuParameters){
      .extent = self->extent,
      .histogram = histogram,
      .wide_histogram = is_wide ? (CclWideHistogram *)(histogram + 1) : NULL,
  };
  return status;
}

const CclCudaMethod ccl_cuda_otsu = {
    .model_size = sizeof (CudaOtsu),
    .prepare = otsu_prepare,
    .queue = otsu_queue,
};
