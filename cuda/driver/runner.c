/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "runner.h"

#include "wait.h"

static CclStatus
make_stream_and_event (CclCudaRunner *runner, CclError *error)
{
  const CclStatus status =
      ccl_cuda_device_create_stream (runner->device, &runner->own_stream, error);

  runner->stream = runner->own_stream;
  return status == CUDACCL_OK
             ? ccl_cuda_call (runner->device->driver, error,
                   cuEventCreate (&runner->done, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
             : status;
}

CclStatus
ccl_cuda_runner_open (CclCudaRunner *runner, CclCudaDevice *device,
    CclStatus (*allocate) (void *object, CclError *error), void *object, CclError *error)
{
  runner->device = runner->memory.device = ccl_cuda_device_ref (device);
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = make_stream_and_event (runner, error);
  if (status == CUDACCL_OK)
    status = allocate (object, error);
  if (status != CUDACCL_OK && runner->own_stream)
    device->driver->cuStreamSynchronize (runner->own_stream); /* before the memory is freed */
  ccl_cuda_device_leave (device);
  return status;
}

void
ccl_cuda_runner_close (CclCudaRunner *runner, void (*release) (void *object), void *object)
{
  const CclCudaDriver *driver = runner->device->driver;
  const bool entered = ccl_cuda_device_enter (runner->device, NULL) == CUDACCL_OK;

  /* The event is waited for rather than the stream, which the caller may have destroyed. */
  if (runner->is_pending)
    driver->cuEventSynchronize (runner->done);
  if (release)
    release (object);
  ccl_cuda_allocations_clear (&runner->memory);
  if (runner->done)
    driver->cuEventDestroy (runner->done);
  if (runner->own_stream)
    driver->cuStreamDestroy (runner->own_stream);
  if (entered)
    ccl_cuda_device_leave (runner->device);
  ccl_cuda_device_unref (&runner->device);
}

void
ccl_cuda_runner_set_stream (CclCudaRunner *runner, void *stream)
{
  runner->stream = stream ? stream : runner->own_stream;
}

CclStatus
ccl_cuda_runner_enter (CclCudaRunner *runner, CclError *error)
{
  CclStatus status = ccl_cuda_device_enter (runner->device, error);

  if (status != CUDACCL_OK || runner->stream == runner->own_stream)
    return status;
  status = ccl_cuda_device_check_stream (runner->device, runner->stream, error);
  if (status != CUDACCL_OK)
    ccl_cuda_device_leave (runner->device);
  return status;
}

CclStatus
ccl_cuda_runner_wait (
    CclCudaRunner *runner, CclStatus queued, const uint32_t *finished, CclError *error)
{
  CclStatus status = queued;

  if (status == CUDACCL_OK)
    status = ccl_cuda_wait (runner->device, runner->done, runner->stream, finished, error);
  return status == CUDACCL_OK ? CUDACCL_OK
                              : ccl_cuda_device_abandon (runner->device, runner->stream, error);
}

CclStatus
ccl_cuda_runner_end (CclCudaRunner *runner, CclStatus queued, CclError *error)
{
  CclStatus status = queued;

  if (status == CUDACCL_OK)
    status =
        ccl_cuda_call (runner->device->driver, error, cuEventRecord (runner->done, runner->stream));
  runner->is_pending = status == CUDACCL_OK;
  runner->is_finished = false;
  return status == CUDACCL_OK ? CUDACCL_OK
                              : ccl_cuda_device_abandon (runner->device, runner->stream, error);
}

CclStatus
ccl_cuda_runner_settle (CclCudaRunner *runner, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  if (runner->is_pending && !runner->is_finished)
    status = ccl_cuda_wait_for_event (runner->device, runner->done, error);
  if (status == CUDACCL_OK)
    runner->is_pending = false;
  return status;
}
