/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measurements on the device: the time of a run, the time of each step, memory accesses.
 *
 * Device time is the time between two events around a batch of runs. A run is the launch of a graph
 * where it can be recorded. Other work is queued before, so that the host's part does not count.
 */
#include "access-count.h"
#include "implementation-cuda.h"
#include "measure.h"

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
  if (cuda_queue (cuda, NULL) != CCL_OK ||
      driver->cuStreamSynchronize (cuda->stream) != CUDA_SUCCESS ||
      driver->cuStreamBeginCapture (cuda->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
          CUDA_SUCCESS)
    return;
  status = cuda_queue (cuda, NULL);
  if (driver->cuStreamEndCapture (cuda->stream, &graph) != CUDA_SUCCESS)
    graph = NULL;
  if (status == CCL_OK && graph &&
      driver->cuGraphInstantiateWithFlags (&cuda->replay, graph, 0) != CUDA_SUCCESS)
    cuda->replay = NULL;
  if (graph)
    driver->cuGraphDestroy (graph);
}

static CclStatus
queue_batch (CudaImplementation *cuda, unsigned n_runs, CclError *failure)
{
  for (unsigned i = 0; i < n_runs; i++)
    if (cuda->replay)
      TRY_DRIVER (cuda, cuGraphLaunch (cuda->replay, cuda->stream));
    else
      TRY (cuda_queue (cuda, failure));
  return CCL_OK;
}

/* The time between the implementation's two events, once the second has happened. */
static CclStatus
read_events (CudaImplementation *cuda, double *seconds, CclError *failure)
{
  float milliseconds;

  TRY_DRIVER (cuda, cuEventSynchronize (cuda->end));
  TRY_DRIVER (cuda, cuEventElapsedTime (&milliseconds, cuda->begin, cuda->end));
  *seconds = 1e-3 * milliseconds;
  return CCL_OK;
}

static CclStatus
time_batch (CudaImplementation *cuda, unsigned n_runs, double *seconds, CclError *failure)
{
  if (!cuda->device->driver->cuEventElapsedTime)
    return ccl_error_set (failure, CCL_ERROR_UNSUPPORTED, "the driver has no clock to read");
  if (!cuda->tried_replay)
    record_replay (cuda);
  /* One batch occupies the device while the next is queued, unless queueing waits. */
  if (!waits (cuda))
    TRY (queue_batch (cuda, n_runs, failure));
  TRY_DRIVER (cuda, cuEventRecord (cuda->begin, cuda->stream));
  TRY (queue_batch (cuda, n_runs, failure));
  TRY_DRIVER (cuda, cuEventRecord (cuda->end, cuda->stream));
  return read_events (cuda, seconds, failure);
}

double
cuda_device_time (Implementation *implementation, unsigned n_runs, GError **error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  double seconds = 0;
  CclError failure;
  CclStatus status = ccl_cuda_device_enter (cuda->device, &failure);

  if (status == CCL_OK) {
    status = time_batch (cuda, n_runs, &seconds, &failure);
    ccl_cuda_device_leave (cuda->device);
  }
  if (status != CCL_OK)
    implementation_fail (&failure, error);
  return status == CCL_OK ? seconds / n_runs : -1;
}

/* The step of the papers that a phase of an algorithm belongs to. */
static Step
step_of (CclPhase phase)
{
  switch (phase) {
  case CCL_PHASE_INITIALISATION:
    return STEP_SCAN;
  case CCL_PHASE_RELABELLING:
    return STEP_RELABELLING;
  default:
    return STEP_MERGING;
  }
}

/* Times consecutive steps between two events. The steps before them occupy the device while these
 * are queued. */
static CclStatus
time_phase (
    CudaImplementation *cuda, uint32_t first, uint32_t end, double *seconds, CclError *failure)
{
  CclCudaSequence *labelling = &cuda->labelling;

  TRY (ccl_research_queue (&cuda->rounds, labelling, 0, first, cuda->stream, failure));
  TRY_DRIVER (cuda, cuEventRecord (cuda->begin, cuda->stream));
  TRY (ccl_research_queue (&cuda->rounds, labelling, first, end, cuda->stream, failure));
  TRY_DRIVER (cuda, cuEventRecord (cuda->end, cuda->stream));
  TRY (ccl_research_queue (
      &cuda->rounds, labelling, end, labelling->n_steps, cuda->stream, failure));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  return read_events (cuda, seconds, failure);
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

static CclStatus
time_steps (CudaImplementation *cuda, double seconds[N_STEPS], CclError *failure)
{
  const double begin = seconds_now ();

  /* Freeing and allocating count together. */
  cuda_deallocate (cuda);
  TRY (cuda_allocate (cuda, failure));
  TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
  seconds[STEP_ALLOCATION] = seconds_now () - begin;
  TRY (cuda_run_once (cuda, failure));

  for (uint32_t first = 0; first < cuda->labelling.n_steps;) {
    const uint32_t end = phase_end (&cuda->labelling, first);
    const Step step = step_of (cuda->labelling.steps[first].phase);
    double time;
    TRY (time_phase (cuda, first, end, &time, failure));
    seconds[step] = MAX (0, seconds[step]) + time;
    first = end;
  }
  return CCL_OK;
}

gboolean
cuda_steps (Implementation *implementation, double seconds[N_STEPS], GError **error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  CclStatus status;
  CclError failure;

  for (Step step = 0; step < N_STEPS; step++)
    seconds[step] = -1;
  if (!cuda->has_labelling || !cuda->device->driver->cuEventElapsedTime)
    return TRUE;
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return implementation_fail (&failure, error);
  /* The graph uses the memory that is freed now. */
  if (cuda->replay)
    cuda->device->driver->cuGraphExecDestroy (cuda->replay);
  cuda->replay = NULL;
  cuda->tried_replay = false;
  status = time_steps (cuda, seconds, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : implementation_fail (&failure, error);
}

static CclStatus
count_accesses (CudaImplementation *cuda, AccessCount *counts, guint *n_counts, CclError *failure)
{
  const CclCudaInput input = {.frame = cuda->frame, .frame_stride = cuda->frame_stride};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};
  const CclPlan plan = cuda_plan (cuda);
  CclStatus status;

  if (cuda->labeller && waits (cuda))
    return ccl_error_set (failure, CCL_ERROR_DEVICE,
        "accesses of an iterative algorithm are counted for raw labels only");
  if (cuda->labeller)
    return access_count_engine (cuda->device, cuda->algorithm, &plan, &input,
        cuda->label_map ? &labels : NULL, cuda->stream, counts, n_counts, failure);
  *n_counts = cuda->labelling.n_steps;
  cuda->rounds.deadline = cuda->patience > 0 ? seconds_now () + cuda->patience : 0;
  status = access_count (&cuda->rounds, &cuda->labelling, cuda->stream, counts, failure);
  cuda->rounds.deadline = 0;
  return status;
}

gboolean
cuda_count_accesses (Implementation *implementation, AccessCount counts[MAX_COUNTED_STEPS],
    guint *n_counts, GError **error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  CclStatus status;
  CclError failure;

  G_STATIC_ASSERT (CCL_MAX_STEPS <= MAX_COUNTED_STEPS);
  if (!cuda->algorithm) {
    g_set_error (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_UNSUPPORTED,
        "not a kernel of this project");
    return FALSE;
  }
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return implementation_fail (&failure, error);
  status = count_accesses (cuda, counts, n_counts, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : implementation_fail (&failure, error);
}
