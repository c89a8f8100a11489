/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "job.h"

/* The context is current. */
static CclStatus
run (CclCudaJob *job, size_t size, CclCudaJobFunction queue, void *object, CclError *error)
{
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_check_stream (job->device, job->stream, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (job->device, size, &memory, error);
  if (status != CUDACCL_OK)
    return status;
  job->memory = (void *)(uintptr_t)memory;
  status = queue (job, object, error);
  const CclStatus ended = ccl_cuda_job_wait (job, status == CUDACCL_OK ? error : NULL);
  ccl_cuda_device_release (job->device, &memory);
  return status == CUDACCL_OK ? ended : status;
}

CclStatus
ccl_cuda_job_run (CclCudaDevice *device, CUstream stream, size_t size, CclCudaJobFunction queue,
    void *object, CclError *error)
{
  CclCudaJob job = {device, stream, NULL};
  CclStatus status = ccl_cuda_device_enter (device, error);

  if (status != CUDACCL_OK)
    return status;
  status = run (&job, size, queue, object, error);
  ccl_cuda_device_leave (device);
  return status;
}

CclStatus
ccl_cuda_job_loop (const CclCudaJob *job, const CclCudaLoop *loop, const char *kernel, uint64_t n,
    void *parameters, CclError *error)
{
  const uint64_t most = (uint64_t)loop->n_blocks * (uint32_t)job->device->n_multiprocessors;
  const uint64_t wanted = divide_up (n, loop->n_threads);
  CclCudaLaunch launch = {
      .kernel = kernel,
      .grid = {(uint32_t)(wanted < most ? wanted : most), 1, 1},
      .block = {loop->n_threads, 1, 1},
  };
  const CclStatus status =
      ccl_cuda_device_find_kernel (job->device, loop->image, kernel, &launch.function, error);
  return status == CUDACCL_OK
             ? ccl_cuda_launch (job->device, &launch, parameters, job->stream, error)
             : status;
}

CclStatus
ccl_cuda_job_clear (const CclCudaJob *job, void *memory, size_t size, CclError *error)
{
  return ccl_cuda_call (job->device->driver, error,
      cuMemsetD8Async ((CUdeviceptr)(uintptr_t)memory, 0, size, job->stream));
}

CclStatus
ccl_cuda_job_upload (
    const CclCudaJob *job, const void *host, void *memory, size_t size, CclError *error)
{
  return ccl_cuda_call (job->device->driver, error,
      cuMemcpyHtoDAsync ((CUdeviceptr)(uintptr_t)memory, host, size, job->stream));
}

CclStatus
ccl_cuda_job_download (
    const CclCudaJob *job, const void *memory, void *host, size_t size, CclError *error)
{
  return ccl_cuda_call (job->device->driver, error,
      cuMemcpyDtoHAsync (host, (CUdeviceptr)(uintptr_t)memory, size, job->stream));
}

CclStatus
ccl_cuda_job_wait (const CclCudaJob *job, CclError *error)
{
  return ccl_cuda_call (job->device->driver, error, cuStreamSynchronize (job->stream));
}
