/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device's own view of a GPU contender: time, time of each step, memory accesses.
 *
 * Device time is what all that a run queues on its stream takes there: a batch of runs between
 * two events, each the launch of a graph where that can be, and queued behind other work, so that
 * the host's part is none of it.
 */
#include "contender-cuda-private.h"

#include "access-count.h"
#include "clock.h"

/* Whether a run waits for the device on its way. */
static bool
waits (const CudaContender *cuda)
{
  return cuda->algorithm && cuda_algorithm_is_iterative (cuda->algorithm);
}

/* Records one run as a graph, once. Algorithms that must ask the device whether to go on
 * cannot be recorded, nor those that launch a graph of their own. */
static void
record_replay (CudaContender *cuda)
{
  const CclCudaDriver *driver = cuda->device->driver;
  CclStatus status = CCL_OK;
  CUgraph graph = NULL;

  cuda->tried_replay = true;
  if (waits (cuda))
    return;
  if (!driver->cuStreamBeginCapture || !driver->cuStreamEndCapture || !driver->cuGraphDestroy ||
      !driver->cuGraphInstantiateWithFlags || !driver->cuGraphLaunch || !driver->cuGraphExecDestroy)
    return;
  /* What a labeller does on its first frame only is no part of the record. */
  if (cuda_contender_queue (cuda, NULL) != CCL_OK ||
      driver->cuStreamSynchronize (cuda->stream) != CUDA_SUCCESS)
    return;
  if (driver->cuStreamBeginCapture (cuda->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
      CUDA_SUCCESS)
    return;
  status = cuda_contender_queue (cuda, NULL);
  if (driver->cuStreamEndCapture (cuda->stream, &graph) != CUDA_SUCCESS)
    graph = NULL;
  if (status == CCL_OK && graph &&
      driver->cuGraphInstantiateWithFlags (&cuda->replay, graph, 0) != CUDA_SUCCESS)
    cuda->replay = NULL;
  if (graph)
    driver->cuGraphDestroy (graph);
}

/* Queues a batch of runs, each a launch of the graph where there is one: what a run costs in a
 * program that labels one frame after the other. */
static CclStatus
queue_batch (CudaContender *cuda, unsigned n_runs, CclError *failure)
{
  CclStatus status = CCL_OK;

  for (unsigned i = 0; i < n_runs && status == CCL_OK; i++)
    status = cuda->replay ? ccl_cuda_call (cuda->device->driver, failure,
                                cuGraphLaunch (cuda->replay, cuda->stream))
                          : cuda_contender_queue (cuda, failure);
  return status;
}

static CclStatus
time_batch (CudaContender *cuda, unsigned n_runs, float *milliseconds, CclError *failure)
{
  const CclCudaDriver *driver = cuda->device->driver;
  CclStatus status;

  if (!driver->cuEventElapsedTime)
    return ccl_error_set (failure, CCL_ERROR_UNSUPPORTED, "the driver has no clock to read");
  if (!cuda->tried_replay)
    record_replay (cuda);
  /* One batch keeps the device busy while the next is queued, if that can be queued ahead. */
  status = waits (cuda) ? CCL_OK : queue_batch (cuda, n_runs, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventRecord (cuda->begin, cuda->stream));
  if (status == CCL_OK)
    status = queue_batch (cuda, n_runs, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventRecord (cuda->end, cuda->stream));
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventSynchronize (cuda->end));
  if (status == CCL_OK)
    status =
        ccl_cuda_call (driver, failure, cuEventElapsedTime (milliseconds, cuda->begin, cuda->end));
  return status;
}

double
cuda_contender_device_time (Contender *contender, unsigned n_runs, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  float milliseconds = 0;
  CclStatus status;
  CclError failure;

  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK) {
    contender_fail (&failure, error);
    return -1;
  }
  status = time_batch (cuda, n_runs, &milliseconds, &failure);
  ccl_cuda_device_leave (cuda->device);
  if (status != CCL_OK) {
    contender_fail (&failure, error);
    return -1;
  }
  return 1e-3 * milliseconds / n_runs;
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

/* Times consecutive steps of one phase between two events, behind a run that keeps the device
 * busy while they are queued. */
static CclStatus
time_phase (CudaContender *cuda, uint32_t first, uint32_t end, double *seconds, CclError *failure)
{
  const CclCudaDriver *driver = cuda->device->driver;
  float milliseconds = 0;
  CclStatus status = ccl_cuda_labelling_queue (&cuda->labelling, 0, first, cuda->stream, failure);

  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventRecord (cuda->begin, cuda->stream));
  if (status == CCL_OK)
    status = ccl_cuda_labelling_queue (&cuda->labelling, first, end, cuda->stream, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventRecord (cuda->end, cuda->stream));
  if (status == CCL_OK)
    status = ccl_cuda_labelling_queue (
        &cuda->labelling, end, cuda->labelling.n_steps, cuda->stream, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuStreamSynchronize (cuda->stream));
  if (status == CCL_OK)
    status =
        ccl_cuda_call (driver, failure, cuEventElapsedTime (&milliseconds, cuda->begin, cuda->end));
  *seconds = 1e-3 * milliseconds;
  return status;
}

/* The end of the steps from first on that share its phase and its repeated group. */
static uint32_t
phase_end (const CclCudaLabelling *labelling, uint32_t first)
{
  uint32_t end = first + 1;

  for (uint32_t i = first; i < labelling->n_steps; i++) /* a group must not be cut */
    if (labelling->steps[i].repeats && i + 1 - labelling->steps[i].repeats <= first)
      end = MAX (end, i + 1);
  while (end < labelling->n_steps && labelling->steps[end].phase == labelling->steps[first].phase &&
         phase_end (labelling, end) == end + 1)
    end++;
  return end;
}

static CclStatus
time_steps (CudaContender *cuda, double seconds[N_STEPS], CclError *failure)
{
  CclStatus status = CCL_OK;
  gint64 begin;

  /* Memory is given back and taken anew, which is the time of both. */
  begin = g_get_monotonic_time ();
  cuda_contender_let_go (cuda);
  status = cuda_contender_make (cuda, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
  seconds[STEP_ALLOCATION] = 1e-6 * (double)(g_get_monotonic_time () - begin);
  if (status == CCL_OK)
    status = cuda_contender_run_once (cuda, failure);

  for (uint32_t first = 0; status == CCL_OK && first < cuda->labelling.n_steps;) {
    const uint32_t end = phase_end (&cuda->labelling, first);
    const Step step = step_of (cuda->labelling.steps[first].phase);
    double time;
    status = time_phase (cuda, first, end, &time, failure);
    seconds[step] = MAX (0, seconds[step]) + time;
    first = end;
  }
  return status;
}

gboolean
cuda_contender_steps (Contender *contender, double seconds[N_STEPS], GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status;
  CclError failure;

  for (unsigned step = 0; step < N_STEPS; step++)
    seconds[step] = -1;
  if (!cuda->has_labelling || !cuda->device->driver->cuEventElapsedTime)
    return TRUE;
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  /* The graph looks at memory that is about to go. */
  if (cuda->replay)
    cuda->device->driver->cuGraphExecDestroy (cuda->replay);
  cuda->replay = NULL;
  cuda->tried_replay = false;
  status = time_steps (cuda, seconds, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

/* The accesses of a labeller, kernel by kernel. */
static CclStatus
count_labeller (CudaContender *cuda, AccessCount *counts, guint *n_counts, CclError *failure)
{
  const CclPlan plan = cuda_contender_plan (cuda, cuda->labeller->plan.max_components);
  const CclCudaInput input = {.frame = cuda->frame, .frame_stride = cuda->frame_stride};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};

  if (waits (cuda))
    return ccl_error_set (failure, CCL_ERROR_DEVICE,
        "accesses of an iterative algorithm are counted for raw labels only");
  return access_count_engine (cuda->device, cuda->algorithm, &plan, &input,
      cuda->label_map ? &labels : NULL, cuda->stream, counts, n_counts, failure);
}

gboolean
cuda_contender_count_accesses (
    Contender *contender, AccessCount counts[MOST_COUNTED_STEPS], guint *n_steps, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status;
  CclError failure;

  G_STATIC_ASSERT (CCL_MAX_STEPS <= MOST_COUNTED_STEPS);
  if (!cuda->has_labelling && !cuda->labeller) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "not a kernel of ours");
    return FALSE;
  }
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  if (cuda->has_labelling) {
    *n_steps = cuda->labelling.n_steps;
    cuda->labelling.deadline = cuda->patience > 0 ? clock_now () + cuda->patience : 0;
    status = access_count (&cuda->labelling, cuda->stream, counts, &failure);
    cuda->labelling.deadline = 0;
  } else {
    status = count_labeller (cuda, counts, n_steps, &failure);
  }
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}
