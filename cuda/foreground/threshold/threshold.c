/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by a threshold. */
#include "threshold.h"

#include "images.h"

/* As many parts as leave enough thread blocks of the threshold for each multiprocessor. */
static uint32_t
n_parts (const CclCudaSegmenter *self)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_blocks = row_parts * divide_up (plan->height, CUDACCL_FOREGROUND_WARPS);
  const uint64_t parts =
      n_blocks / (CUDACCL_THRESHOLD_BLOCKS * (uint64_t)self->runner.device->n_multiprocessors);
  return parts < 1                              ? 1
         : parts < CUDACCL_THRESHOLD_MOST_PARTS ? (uint32_t)parts
                                                : CUDACCL_THRESHOLD_MOST_PARTS;
}

CclStatus
ccl_cuda_threshold_init (CclCudaThreshold *threshold, const CclCudaSegmenter *self, CclError *error)
{
  static const char *const kernels[] = {
      "ccl_threshold", "ccl_threshold_packed", "ccl_threshold_words"};
  threshold->kernel = ccl_cuda_segmenter_choose_kernel (self, kernels);
  threshold->n_parts = n_parts (self);
  return ccl_cuda_device_find_kernel (self->runner.device, &ccl_cuda_image_threshold,
      threshold->kernel, &threshold->function, error);
}

CclStatus
ccl_cuda_threshold_queue (const CclCudaThreshold *threshold, CclCudaSegmenter *self, uint32_t value,
    const uint32_t *found, CclError *error)
{
  CclThresholdParameters parameters = {
      .extent = self->extent,
      .frame = self->frame,
      .mask = self->mask,
      .parts = threshold->n_parts,
      .threshold = value,
      .found = found,
  };
  return ccl_cuda_segmenter_launch (self, threshold->function, threshold->kernel, &parameters,
      threshold->n_parts * 32 * CUDACCL_FOREGROUND_PIXELS, found != NULL, error);
}

static CclStatus
threshold_prepare (CclCudaSegmenter *self, CclError *error)
{
  return ccl_cuda_threshold_init (self->model, self, error);
}

static CclStatus
threshold_queue (CclCudaSegmenter *self, const CclForegroundOptions *options, CclError *error)
{
  return ccl_cuda_threshold_queue (self->model, self, options->threshold, NULL, error);
}

const CclCudaMethod ccl_cuda_threshold = {
    .model_size = sizeof (CclCudaThreshold),
    .prepare = threshold_prepare,
    .queue = threshold_queue,
};
