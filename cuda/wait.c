/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run takes some ten microseconds, which is less than it takes until the device has interrupted
 * the processor and a thread has woken up. So a thread polls first: pinned memory where the run
 * writes to it, as a query of an event takes a lock of the driver that queueing work needs, too.
 *
 * A polling thread occupies a processor. So only a few threads poll without a pause. The others
 * sleep in between, which delays their frames and leaves the processors to other work.
 */
#include "wait.h"

#include <time.h>

#if defined(__x86_64__)
#define pause_processor() __builtin_ia32_pause ()
#else
#define pause_processor() (void)0
#endif

/* The most threads of the process that poll without a pause. */
enum { MOST_BUSY = 2 };

/* How long threads poll before the device is to wake them up. */
static const int64_t busy_ns = 100 * 1000, drowsy_ns = 2000 * 1000;

/* The pause of threads that sleep in between; the system adds its timer slack, 50 µs by default. */
static const struct timespec nap = {0, 1000};

static atomic_int n_waiting;

static int64_t
now_ns (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* CUDA_ERROR_NOT_READY while the run has not ended. */
static CUresult
query (const CclCudaDriver *driver, CUevent event, const uint32_t *finished)
{
  if (!finished)
    return driver->cuEventQuery (event);
  return __atomic_load_n (finished, __ATOMIC_ACQUIRE) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* Polls for a limited time. */
static CUresult
poll (const CclCudaDriver *driver, CUevent event, const uint32_t *finished, bool is_busy)
{
  const int64_t end = now_ns () + (is_busy ? busy_ns : drowsy_ns);
  CUresult result;
  while ((result = query (driver, event, finished)) == CUDA_ERROR_NOT_READY && now_ns () < end) {
    if (is_busy)
      pause_processor ();
    else
      nanosleep (&nap, NULL);
  }
  return result;
}

CclStatus
ccl_cuda_wait (CclCudaDevice *device, CUevent event, CUstream stream, const uint32_t *finished,
    CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  CclStatus status = CCL_OK;
  if (!finished)
    status = ccl_cuda_call (driver, error, cuEventRecord (event, stream));
  if (status != CCL_OK)
    return status;
  const bool is_busy = atomic_fetch_add (&n_waiting, 1) < MOST_BUSY;
  const CUresult result = poll (driver, event, finished, is_busy);
  atomic_fetch_sub (&n_waiting, 1);
  if (result != CUDA_ERROR_NOT_READY)
    return ccl_cuda_result (driver, result, "cuEventQuery (event)", error);
  /* The run takes longer, or a kernel has failed, which the driver reports. */
  if (finished)
    status = ccl_cuda_call (driver, error, cuEventRecord (event, stream));
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, error, cuEventSynchronize (event));
  return status;
}
