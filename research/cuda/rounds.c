/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "research.h"

#include <string.h>
#include <time.h>

CclStatus
ccl_research_rounds_init (CclResearchRounds *rounds, CclCudaSequence *sequence, CclError *error)
{
  CclCudaDevice *device = sequence->device;
  CUdeviceptr unused;
  memset (rounds, 0, sizeof *rounds);
  CclStatus status = ccl_cuda_device_allocate (device, sizeof (uint32_t), &rounds->changed, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        device, sizeof (uint32_t), (void **)&rounds->changed_on_host, &unused, error);
  if (status != CUDACCL_OK) {
    ccl_research_rounds_clear (rounds, device);
    return status;
  }
  sequence->parameters.changed = (uint32_t *)rounds->changed;
  return CUDACCL_OK;
}

void
ccl_research_rounds_clear (CclResearchRounds *rounds, CclCudaDevice *device)
{
  ccl_cuda_device_release (device, &rounds->changed);
  ccl_cuda_device_release_pinned (device, (void **)&rounds->changed_on_host);
}

static bool
has_passed (double deadline)
{
  struct timespec now;
  if (deadline <= 0)
    return false;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec > deadline;
}

static CclStatus
run_round (CclResearchRounds *rounds, CclCudaSequence *sequence, uint32_t first, uint32_t end,
    CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = sequence->device->driver;
  CclStatus status = ccl_cuda_call (
      driver, error, cuMemsetD8Async (rounds->changed, 0, sizeof (uint32_t), stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_sequence_queue (sequence, first, end, stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuMemcpyDtoHAsync (rounds->changed_on_host, rounds->changed, sizeof (uint32_t), stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error, cuStreamSynchronize (stream));
  return status;
}

static CclStatus
run_rounds (CclResearchRounds *rounds, CclCudaSequence *sequence, uint32_t first, uint32_t end,
    CUstream stream, CclError *error)
{
  for (sequence->parameters.round = 0;; sequence->parameters.round++) {
    CclStatus status = run_round (rounds, sequence, first, end, stream, error);
    if (status != CUDACCL_OK || !*rounds->changed_on_host)
      return status;
    if (has_passed (rounds->deadline)) {
      rounds->gave_up = true;
      return ccl_error_set (
          error, CUDACCL_ERROR_DEVICE, "not done after %u rounds", sequence->parameters.round + 1);
    }
  }
}

CclStatus
ccl_research_queue (CclResearchRounds *rounds, CclCudaSequence *sequence, uint32_t first,
    uint32_t end, CUstream stream, CclError *error)
{
  const CclResearchAlgorithm *details = ccl_research_details (sequence->algorithm);
  if (!details || !details->rounds.end || details->rounds.first < first ||
      details->rounds.end > end)
    return ccl_cuda_sequence_queue (sequence, first, end, stream, error);
  CclStatus status =
      ccl_cuda_sequence_queue (sequence, first, details->rounds.first, stream, error);
  if (status == CUDACCL_OK)
    status =
        run_rounds (rounds, sequence, details->rounds.first, details->rounds.end, stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_sequence_queue (sequence, details->rounds.end, end, stream, error);
  return status;
}
