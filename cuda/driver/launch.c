/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch.h"

#include <string.h>

/* The most blocks in the second and third dimension of a grid. */
enum { TALLEST_GRID = UINT16_MAX };

static uint32_t
n_blocks (uint32_t pixels, uint32_t work, uint32_t threads)
{
  return work == 0 ? 1 : divide_up (pixels, work * threads);
}

void
ccl_cuda_launch_cover (
    CclCudaLaunch *launch, CclWork work, uint32_t width, uint32_t height, uint32_t depth)
{
  uint32_t *grid = launch->grid;
  grid[0] = n_blocks (width, work.x, launch->block[0]);
  grid[1] = n_blocks (height, work.y, launch->block[1]);
  grid[2] = n_blocks (depth, work.z, launch->block[2]);
  if (grid[1] > TALLEST_GRID && depth == 1) {
    grid[2] = divide_up (grid[1], TALLEST_GRID);
    grid[1] = TALLEST_GRID;
  }
}

bool
ccl_cuda_launch_overlaps (const CclCudaDevice *device, const CclCudaLaunch *launch)
{
  return launch->is_dependent && device->driver->cuLaunchKernelEx &&
         device->compute_capability >= 90;
}

static CclStatus
launch_dependent (CclCudaDevice *device, const CclCudaLaunch *launch, void **arguments,
    CUstream stream, CclError *error)
{
  CUlaunchAttribute overlap = {
      .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
      .value.programmaticStreamSerializationAllowed = 1,
  };
  const CUlaunchConfig config = {
      .gridDimX = launch->grid[0],
      .gridDimY = launch->grid[1],
      .gridDimZ = launch->grid[2],
      .blockDimX = launch->block[0],
      .blockDimY = launch->block[1],
      .blockDimZ = launch->block[2],
      .hStream = stream,
      .attrs = &overlap,
      .numAttrs = 1,
  };
  return ccl_cuda_call (
      device->driver, error, cuLaunchKernelEx (&config, launch->function, arguments, NULL));
}

static CclStatus
launch_plain (CclCudaDevice *device, const CclCudaLaunch *launch, void **arguments, CUstream stream,
    CclError *error)
{
  const uint32_t *grid = launch->grid, *block = launch->block;
  CUresult result = device->driver->cuLaunchKernel (launch->function, grid[0], grid[1], grid[2],
      block[0], block[1], block[2], 0, stream, arguments, NULL);
  return ccl_cuda_result (device->driver, result, "cuLaunchKernel", error);
}

CclStatus
ccl_cuda_launch (CclCudaDevice *device, const CclCudaLaunch *launch, void *parameters,
    CUstream stream, CclError *error)
{
  void *arguments[] = {parameters};
  CclError reason = {CUDACCL_OK};
  const CclStatus status = ccl_cuda_launch_overlaps (device, launch)
                               ? launch_dependent (device, launch, arguments, stream, &reason)
                               : launch_plain (device, launch, arguments, stream, &reason);
  if (status != CUDACCL_OK)
    ccl_error_set (error, status, "%s: %s", launch->kernel, reason.message);
  return status;
}

CclStatus
ccl_cuda_launch_plan (CclCudaLaunch *launches, CclCudaDevice *device, const CclCudaImage *image,
    const CclCudaStep *steps, uint32_t n, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint32_t i = 0; i < n && status == CUDACCL_OK; i++) {
    launches[i] = (CclCudaLaunch){
        .kernel = steps[i].kernel,
        .grid = {steps[i].n_blocks, 1, 1},
        .block = {steps[i].n_threads, 1, 1},
        .is_dependent = steps[i].is_dependent,
    };
    status =
        ccl_cuda_device_find_kernel (device, image, steps[i].kernel, &launches[i].function, error);
  }
  return status;
}

CclStatus
ccl_cuda_launch_all (CclCudaDevice *device, const CclCudaLaunch *launches, uint32_t n,
    void *parameters, CUstream stream, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint32_t i = 0; i < n && status == CUDACCL_OK; i++)
    status = ccl_cuda_launch (device, &launches[i], parameters, stream, error);
  return status;
}
