/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run takes some ten microseconds, which is less than it takes until the device has interrupted
 * the processor and a thread has woken up. So a thread polls first: pinned memory where the run
 * writes to it, as a query of an event takes a lock of the driver that queueing work needs, too.
 *
 * A polling thread occupies a processor. So only a few threads poll without a pause. The others
 * sleep for most of the time that their frames take, and then for short times between two polls,
 * which leaves the processors to other work.
 */
#define _GNU_SOURCE /* prctl() */

#include "wait.h"

#include <sys/prctl.h>
#include <time.h>

#if defined(__x86_64__)
#define pause_processor() __builtin_ia32_pause ()
#else
#define pause_processor() (void)0
#endif

/* The most threads of the process that poll without a pause. */
enum { MOST_WITHOUT_PAUSE = 2 };

/* How long threads poll before the device is to wake them up. */
static const int64_t without_pause_ns = 100 * 1000, with_sleeps_ns = 2000 * 1000;

/* The least time for which a thread sleeps. */
static const int64_t least_sleep_ns = 5 * 1000;

static atomic_int n_waiting;

/* For how long this thread usually waits for a frame, from the last frames. */
static _Thread_local int64_t usual_ns;

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

static CUresult
poll_without_pause (const CclCudaDriver *driver, CUevent event, const uint32_t *finished)
{
  const int64_t end = now_ns () + without_pause_ns;
  CUresult result;
  while ((result = query (driver, event, finished)) == CUDA_ERROR_NOT_READY && now_ns () < end)
    pause_processor ();
  return result;
}

static void
sleep_for (int64_t ns)
{
  const struct timespec time = {0, ns > least_sleep_ns ? ns : least_sleep_ns};
  nanosleep (&time, NULL);
}

/* Sleeps between polls. For that time, the system may not prolong the sleep of this thread by its
 * timer slack, 50 µs by default. */
static CUresult
poll_with_sleeps (const CclCudaDriver *driver, CUevent event, const uint32_t *finished)
{
  const int64_t start = now_ns (), end = start + with_sleeps_ns;
  CUresult result = query (driver, event, finished);
  if (result != CUDA_ERROR_NOT_READY)
    return result;
  const int slack = prctl (PR_GET_TIMERSLACK);
  prctl (PR_SET_TIMERSLACK, 1);
  sleep_for (usual_ns * 4 / 5);
  if ((result = query (driver, event, finished)) != CUDA_ERROR_NOT_READY) {
    usual_ns -= usual_ns / 4; /* the frame may have taken much less */
  } else {
    do
      sleep_for (usual_ns / 8);
    while ((result = query (driver, event, finished)) == CUDA_ERROR_NOT_READY && now_ns () < end);
    usual_ns += (now_ns () - start - usual_ns) / 4;
  }
  if (slack > 0)
    prctl (PR_SET_TIMERSLACK, slack);
  return result;
}

/* Polls until the run has ended, or has taken too long for that: CUDA_ERROR_NOT_READY. */
static CUresult
poll (const CclCudaDriver *driver, CUevent event, const uint32_t *finished)
{
  const bool is_early = atomic_fetch_add (&n_waiting, 1) < MOST_WITHOUT_PAUSE;
  const CUresult result = is_early ? poll_without_pause (driver, event, finished)
                                   : poll_with_sleeps (driver, event, finished);
  atomic_fetch_sub (&n_waiting, 1);
  return result;
}

CclStatus
ccl_cuda_wait_for_event (CclCudaDevice *device, CUevent event, CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  const CUresult result = poll (driver, event, NULL);
  if (result == CUDA_ERROR_NOT_READY)
    return ccl_cuda_call (driver, error, cuEventSynchronize (event));
  return ccl_cuda_result (driver, result, "cuEventQuery (event)", error);
}

CclStatus
ccl_cuda_wait (CclCudaDevice *device, CUevent event, CUstream stream, const uint32_t *finished,
    CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  if (finished && poll (driver, event, finished) == CUDA_SUCCESS)
    return CUDACCL_OK;
  /* The run has no flag, takes longer, or a kernel has failed, which the driver reports. */
  const CclStatus status = ccl_cuda_call (driver, error, cuEventRecord (event, stream));
  if (status != CUDACCL_OK)
    return status;
  return finished ? ccl_cuda_call (driver, error, cuEventSynchronize (event))
                  : ccl_cuda_wait_for_event (device, event, error);
}
