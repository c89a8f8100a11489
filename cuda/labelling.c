/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "labelling.h"

#include <string.h>
#include <time.h>

/* Rows of the label buffer start on a cache line, unless that would waste much of it. */
static uint32_t
padded_stride (uint32_t width)
{
  uint32_t alignment = width >= 256 ? 32 : 2;
  return (width + alignment - 1) / alignment * alignment;
}

CclStatus
ccl_cuda_labelling_init (CclCudaLabelling *labelling, CclCudaDevice *device,
    const CclAlgorithm *algorithm, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, CUstream stream, CclError *error)
{
  memset (labelling, 0, sizeof *labelling);
  labelling->device = device;
  labelling->algorithm = algorithm;
  memcpy (labelling->steps, algorithm->steps, sizeof labelling->steps);
  while (labelling->n_steps < CCL_MAX_STEPS && labelling->steps[labelling->n_steps].kernel)
    labelling->n_steps++;

  CclLabellingParameters *parameters = &labelling->parameters;
  parameters->width = width;
  parameters->height = height;
  parameters->depth = depth;
  parameters->connectivity = connectivity;
  /* Where padded rows would not fit into 32-bit indices, rows are padded to an even length only;
   * that fits always, there being at most CCL_MAX_PIXELS pixels. */
  parameters->label_stride = padded_stride (width);
  if ((uint64_t)parameters->label_stride * height * depth > INT32_MAX)
    parameters->label_stride = width + width % 2;
  parameters->label_slice = parameters->label_stride * height;
  labelling->n_elements = (size_t)parameters->label_stride * height * depth;
  if (algorithm->max_elements && labelling->n_elements > algorithm->max_elements)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED,
        "algorithm %s labels at most %u pixels, rows padded to even length", algorithm->name,
        algorithm->max_elements);

  size_t n_blocks = (size_t)(parameters->label_stride / 2) * ((height + 1) / 2) * depth;
  /* 16 bytes more for all, the odd word that one or the other needs for degenerate frames */
  size_t scratch_size = 16 + algorithm->scratch.per_element * labelling->n_elements +
                        algorithm->scratch.per_block * n_blocks +
                        algorithm->scratch.per_row * (size_t)height * depth;

  CclStatus status = CCL_OK;
  for (uint32_t i = 0; status == CCL_OK && i < labelling->n_steps; i++)
    status = ccl_cuda_device_find_kernel (
        device, algorithm->file, labelling->steps[i].kernel, &labelling->functions[i], error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (
        device, labelling->n_elements * sizeof (uint32_t), &labelling->labels, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (device, scratch_size, &labelling->scratch, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (device, sizeof (uint32_t), &labelling->changed, error);
  CUdeviceptr unused;
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        device, sizeof (uint32_t), (void **)&labelling->changed_on_host, &unused, error);
  if (status == CCL_OK)
    status = ccl_cuda_call (device->driver, error,
        cuMemsetD8Async (labelling->labels, 0, labelling->n_elements * sizeof (uint32_t), stream));
  if (status != CCL_OK) {
    ccl_cuda_labelling_clear (labelling);
    return status;
  }
  parameters->labels = (uint32_t *)labelling->labels;
  parameters->scratch = (void *)labelling->scratch;
  parameters->changed = (uint32_t *)labelling->changed;
  return CCL_OK;
}

void
ccl_cuda_labelling_clear (CclCudaLabelling *labelling)
{
  ccl_cuda_device_release (labelling->device, &labelling->labels);
  ccl_cuda_device_release (labelling->device, &labelling->scratch);
  ccl_cuda_device_release (labelling->device, &labelling->changed);
  ccl_cuda_device_release_pinned (labelling->device, (void **)&labelling->changed_on_host);
}

void
ccl_cuda_labelling_set_frame (CclCudaLabelling *labelling, CUdeviceptr frame, size_t stride,
    size_t slice, uint32_t threshold, bool invert)
{
  labelling->parameters.frame = (const uint8_t *)frame;
  labelling->parameters.frame_stride = stride;
  labelling->parameters.frame_slice = slice;
  labelling->parameters.threshold = threshold;
  labelling->parameters.invert = invert;
}

/* Thread blocks needed in one direction. */
static uint32_t
n_blocks (uint32_t pixels, uint32_t work, uint32_t threads)
{
  if (work == 0)
    return 1;
  uint64_t pixels_a_block = (uint64_t)work * threads;
  return (pixels + pixels_a_block - 1) / pixels_a_block;
}

CclStatus
ccl_cuda_launch (CclCudaDevice *device, CUfunction function, CclWork work, const uint32_t block[3],
    uint32_t width, uint32_t height, uint32_t depth, void *parameters, CUstream stream,
    CclError *error)
{
  const uint32_t tallest_grid = 65535;
  uint32_t grid_x = n_blocks (width, work.x, block[0]);
  uint32_t grid_y = n_blocks (height, work.y, block[1]);
  uint32_t grid_z = n_blocks (depth, work.z, block[2]);
  if (grid_y > tallest_grid && depth == 1) {
    /* A frame taller than a grid may be is folded in the third direction (geometry.cuh). */
    grid_z = (grid_y + tallest_grid - 1) / tallest_grid;
    grid_y = tallest_grid;
  }
  void *arguments[] = {parameters};
  CUresult result = device->driver->cuLaunchKernel (
      function, grid_x, grid_y, grid_z, block[0], block[1], block[2], 0, stream, arguments, NULL);
  return ccl_cuda_result (device->driver, result, "cuLaunchKernel", error);
}

CclStatus
ccl_cuda_error_in_kernel (CclStatus status, const char *kernel, CclError *error)
{
  if (status != CCL_OK && error) {
    char message[sizeof error->message];
    memcpy (message, error->message, sizeof message);
    ccl_error_set (error, status, "%s: %s", kernel, message);
  }
  return status;
}

static CclStatus
queue_step (CclCudaLabelling *labelling, uint32_t i, CUstream stream, CclError *error)
{
  const CclStep *step = &labelling->steps[i];
  CclLabellingParameters *parameters = &labelling->parameters;
  uint32_t block[3] = {step->block.x, step->block.y, step->block.z};
  CclStatus status = ccl_cuda_launch (labelling->device, labelling->functions[i], step->work, block,
      parameters->width, parameters->height, parameters->depth, parameters, stream, error);
  return ccl_cuda_error_in_kernel (status, step->kernel, error);
}

static bool
is_over (double deadline)
{
  struct timespec now;
  if (deadline <= 0)
    return false;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec > deadline;
}

/* Runs a repeated group until a round leaves the changed flag alone. This is the one place where
 * labelling waits for the device: only the host can launch the next round. */
static CclStatus
run_group (
    CclCudaLabelling *labelling, uint32_t first, uint32_t end, CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;
  CclStatus status;
  labelling->parameters.round = 0;
  do {
    status = ccl_cuda_call (
        driver, error, cuMemsetD8Async (labelling->changed, 0, sizeof (uint32_t), stream));
    for (uint32_t i = first; status == CCL_OK && i < end; i++)
      status = queue_step (labelling, i, stream, error);
    if (status == CCL_OK)
      status = ccl_cuda_call (driver, error,
          cuMemcpyDtoHAsync (
              labelling->changed_on_host, labelling->changed, sizeof (uint32_t), stream));
    if (status == CCL_OK)
      status = ccl_cuda_call (driver, error, cuStreamSynchronize (stream));
    labelling->parameters.round++;
    if (status == CCL_OK && *labelling->changed_on_host && is_over (labelling->deadline)) {
      labelling->gave_up = true;
      status = ccl_error_set (
          error, CCL_ERROR_DEVICE, "not done after %u rounds", labelling->parameters.round);
    }
  } while (status == CCL_OK && *labelling->changed_on_host);
  return status;
}

/* The end of the repeated group that starts with this step, or 0 when none does. */
static uint32_t
group_end (const CclCudaLabelling *labelling, uint32_t first)
{
  for (uint32_t i = first; i < labelling->n_steps; i++) {
    if (labelling->steps[i].repeats)
      return labelling->steps[i].repeats == i + 1 - first ? i + 1 : 0;
  }
  return 0;
}

CclStatus
ccl_cuda_labelling_queue (
    CclCudaLabelling *labelling, uint32_t first, uint32_t end, CUstream stream, CclError *error)
{
  CclStatus status = CCL_OK;
  for (uint32_t i = first; status == CCL_OK && i < end;) {
    uint32_t repeated_end = group_end (labelling, i);
    if (repeated_end) {
      status = run_group (labelling, i, repeated_end, stream, error);
      i = repeated_end;
    } else {
      status = queue_step (labelling, i, stream, error);
      i++;
    }
  }
  return status;
}
