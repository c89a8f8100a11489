/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements on the device: the time of a run, and of each step.
 *
 * Device time is the time between two events around a batch of runs. A run is the launch of a graph
 * where it can be recorded. Other work is queued before, so that the host's part does not count. */
#include "implementation-cuda.h"

/* Whether a run waits for the device in between. */
static bool
waits (const CudaImplementation *cuda)
{
  return cuda->labels_volumes || (cuda->algorithm && cuda_is_iterative (cuda->algorithm));
}

/* Records one run as a graph, once; the graph stays NULL if the run cannot be recorded, because it
 * waits for the device or launches a graph of its own. */
static void
record_replay (CudaImplementation *cuda)
{
  const CclCudaDriver *driver = cuda->device->driver;
  CclStatus status;
  CUgraph graph = NULL;

  cuda->tried_replay = true;
  if (waits (cuda) || !driver->cuStreamBeginCapture || !driver->cuStreamEndCapture ||
      !driver->cuGraphDestroy || !driver->cuGraphInstantiateWithFlags || !driver->cuGraphLaunch ||
      !driver->cuGraphExecDestroy)
    return;
  /* The work that a labeller does for its first frame only must not be recorded. */
  if (cuda_queue (cuda, NULL) != CUDACCL_OK ||
      driver->cuStreamSynchronize (cuda->stream) != CUDA_SUCCESS ||
      driver->cuStreamBeginCapture (cuda->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
          CUDA_SUCCESS)
    return;
  status = cuda_queue (cuda, NULL);
  if (driver->cuStreamEndCapture (cuda->stream, &graph) != CUDA_SUCCESS)
    graph = NULL;
  if (status == CUDACCL_OK && graph &&
      driver->cuGraphInstantiateWithFlags (&cuda->replay, graph, 0) != CUDA_SUCCESS)
    cuda->replay = NULL;
  if (graph)
    driver->cuGraphDestroy (graph);
}

void
cuda_free_replay (CudaImplementation *cuda)
{
  if (cuda->replay)
    cuda->device->driver->cuGraphExecDestroy (cuda->replay);
  cuda->replay = NULL;
  cuda->tried_replay = false;
}

static CclStatus
queue_batch (CudaImplementation *cuda, unsigned n_runs, CclError *error)
{
  for (unsigned i = 0; i < n_runs; i++)
    if (cuda->replay)
      TRY_DRIVER (cuda, cuGraphLaunch (cuda->replay, cuda->stream));
    else
      TRY (cuda_queue (cuda, error));
  return CUDACCL_OK;
}

/* The time between the implementation's two events, once the second has happened. */
static CclStatus
read_events (CudaImplementation *cuda, double *seconds, CclError *error)
{
  float milliseconds;

  TRY_DRIVER (cuda, cuEventSynchronize (cuda->end));
  TRY_DRIVER (cuda, cuEventElapsedTime (&milliseconds, cuda->begin, cuda->end));
  *seconds = 1e-3 * milliseconds;
  return CUDACCL_OK;
}

CclStatus
cuda_device_time (Implementation *implementation, unsigned n_runs, double *seconds, CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;

  ENTER (cuda);
  if (!cuda->device->driver->cuEventElapsedTime)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "the driver has no clock to read");
  if (!cuda->tried_replay)
    record_replay (cuda);
  /* One batch occupies the device while the next is queued, unless queueing waits. */
  if (!waits (cuda))
    TRY (queue_batch (cuda, n_runs, error));
  TRY_DRIVER (cuda, cuEventRecord (cuda->begin, cuda->stream));
  TRY (queue_batch (cuda, n_runs, error));
  TRY_DRIVER (cuda, cuEventRecord (cuda->end, cuda->stream));
  TRY (read_events (cuda, seconds, error));
  *seconds /= n_runs;
  return CUDACCL_OK;
}

/* The step of the papers that a phase of an algorithm belongs to. */
static Step
step_of (CclPhase phase)
{
  switch (phase) {
  case CUDACCL_PHASE_INITIALISATION:
    return STEP_SCAN;
  case CUDACCL_PHASE_RELABELLING:
    return STEP_RELABELLING;
  default:
    return STEP_MERGING;
  }
}

/* Times consecutive steps between two events. The steps before them occupy the device while these
 * are queued. */
static CclStatus
time_phase (
    CudaImplementation *cuda, uint32_t first, uint32_t end, double *seconds, CclError *error)
{
  CclCudaSequence *labelling = &cuda->labelling;

  TRY (ccl_research_queue (&cuda->rounds, labelling, 0, first, cuda->stream, error));
  TRY_DRIVER (cuda, cuEventRecord (cuda->begin, cuda->stream));
  TRY (ccl_research_queue (&cuda->rounds, labelling, first, end, cuda->stream, error));
  TRY_DRIVER (cuda, cuEventRecord (cuda->end, cuda->stream));
  TRY (ccl_research_queue (&cuda->rounds, labelling, end, labelling->n_steps, cuda->stream, error));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  return read_events (cuda, seconds, error);
}

/* The end of the steps from first on that share its phase and its repeated group. */
static uint32_t
phase_end (const CclCudaSequence *labelling, uint32_t first)
{
  const CclResearchAlgorithm *details = ccl_research_details (labelling->algorithm);
  uint32_t end = first + 1;

  if (details && first >= details->rounds.first && first < details->rounds.end)
    end = details->rounds.end; /* repeated steps stay together */
  while (end < labelling->n_steps && labelling->steps[end].phase == labelling->steps[first].phase &&
         phase_end (labelling, end) == end + 1)
    end++;
  return end;
}

CclStatus
cuda_steps (Implementation *implementation, double seconds[N_STEPS], CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  double begin;

  for (Step step = 0; step < N_STEPS; step++)
    seconds[step] = -1;
  if (!cuda->has_labelling || !cuda->device->driver->cuEventElapsedTime)
    return CUDACCL_OK;
  ENTER (cuda);
  cuda_free_replay (cuda);
  /* Freeing and allocating count together. */
  begin = seconds_now ();
  cuda_deallocate (cuda);
  TRY (cuda_allocate (cuda, error));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  seconds[STEP_ALLOCATION] = seconds_now () - begin;
  TRY (cuda_run_once (cuda, error));

  for (uint32_t first = 0, end; first < cuda->labelling.n_steps; first = end) {
    const Step step = step_of (cuda->labelling.steps[first].phase);
    double time;
    end = phase_end (&cuda->labelling, first);
    TRY (time_phase (cuda, first, end, &time, error));
    seconds[step] = MAX (0, seconds[step]) + time;
  }
  return CUDACCL_OK;
}
