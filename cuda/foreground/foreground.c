/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of foreground segmenters on a GPU: segmenter.c has those for frames as they
 * are, reduced-foreground.c those around them for reduced frames. */
#include "core/foreground/reduction.h"
#include "cuda/foreground/reduction/reduced-foreground.h"
#include "segmenter.h"

CclForeground *
ccl_cuda_foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_foreground_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const uint32_t factor = ccl_reduction_factor (plan);
  const CclForegroundPlan reduced_plan = ccl_reduced_plan (plan, factor);
  CclForeground *whole = NULL;
  if (ccl_cuda_segmenter_new (device, factor == 1 ? plan : &reduced_plan, &whole, error) !=
      CUDACCL_OK)
    return NULL;
  return factor == 1 ? whole : ccl_cuda_reduced_foreground_new (device, plan, factor, whole, error);
}

CclStatus
ccl_cuda_foreground_set_stream (CclForeground *foreground, void *stream, CclError *error)
{
  if (foreground && ccl_cuda_reduced_foreground_inner (foreground)) {
    ccl_cuda_reduced_foreground_set_stream (foreground, stream);
    return CUDACCL_OK;
  }
  CclCudaSegmenter *segmenter = ccl_cuda_segmenter_of (foreground);
  if (!segmenter)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  ccl_cuda_runner_set_stream (&segmenter->runner, stream);
  return CUDACCL_OK;
}

CclCudaSegmenter *
ccl_cuda_foreground_find_segmenter (CclForeground *foreground)
{
  CclForeground *inner = foreground ? ccl_cuda_reduced_foreground_inner (foreground) : NULL;
  return ccl_cuda_segmenter_of (inner ? inner : foreground);
}

CclStatus
ccl_cuda_foreground_copy_bits (CclForeground *foreground, void *bits, CclError *error)
{
  CclCudaSegmenter *segmenter = ccl_cuda_foreground_find_segmenter (foreground);
  CUdeviceptr copy = 0;
  if (!segmenter || (uintptr_t)bits % sizeof (uint32_t) != 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "bits need an object of a GPU, and memory aligned to 4 bytes");
  if (!segmenter->method->copies_bits)
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "only masks of the codebook are copied as bits");
  CclStatus status = ccl_cuda_device_enter (segmenter->runner.device, error);
  if (status == CUDACCL_OK) {
    if (bits && segmenter->runner.device->driver->cuMemHostGetDevicePointer (&copy, bits, 0) !=
                    CUDA_SUCCESS)
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the memory is not page-locked");
    ccl_cuda_device_leave (segmenter->runner.device);
  }
  segmenter->mask.copy = (uint32_t *)(uintptr_t)copy;
  return status;
}

CclStatus
ccl_cuda_foreground_set_finished (CclForeground *foreground, CclError *error)
{
  CclCudaSegmenter *segmenter = ccl_cuda_foreground_find_segmenter (foreground);
  if (!segmenter)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  segmenter->runner.is_finished = true;
  if (&segmenter->base != foreground)
    ccl_cuda_reduced_foreground_set_finished (foreground);
  return CUDACCL_OK;
}
