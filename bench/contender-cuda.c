/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GPU labellers of this project as contenders, NVIDIA's own as a peer, and the floors of the
 * device's memory.
 *
 * Wall time is one call as a user makes it. Device time is what all that a run queues on its
 * stream takes there: a batch of runs between two events, each the launch of a graph where that
 * can be, and queued behind other work, so that the host's part is none of it.
 */
#include "contender-cuda.h"

#include "access-count.h"
#include "engine.h"
#include "labelling.h"
#include "machine.h"
#include "peer-npp.h"
#include "problem.h"

#include <string.h>

typedef struct CudaContender {
  Contender head;
  CclCudaDevice *device;
  const CclAlgorithm *algorithm; /* NULL for floors and peers */
  const char *floor_kernel;      /* NULL for labellers */
  CclWork floor_work;
  const PeerNpp *npp; /* NULL for all others */
  uint32_t connectivity, volume_connectivity;
  unsigned max_components; /* UINT_MAX: as many as there are */
  bool allocation;
  uint32_t block[3]; /* threads of a block where the algorithm leaves that open; 0: as it has it */
  char *name;        /* of the algorithm with that shape */

  /* From prepare to release. */
  const Input *input;
  CUstream stream;
  CUevent begin, end;
  CUdeviceptr frame, label_map, scratch;
  size_t frame_stride, label_stride; /* bytes */
  CUfunction floor;
  CclCudaLabelling labelling; /* raw labels */
  bool has_labelling;
  CclLabeller *labeller; /* tables: for wall time */
  CclCudaEngine *engine; /* tables: for device time */
  CclTable table;
  CUgraphExec replay; /* of one run; NULL where that cannot be recorded */
  bool tried_replay;
} CudaContender;

enum { DEFAULT_MAX_COMPONENTS = 4096 }; /* as the elements have it */

static CclPlan
make_plan (const CudaContender *cuda, unsigned max_components)
{
  return (CclPlan){
      .width = cuda->input->width,
      .height = cuda->input->height,
      .connectivity = (CclConnectivity)cuda->connectivity,
      .max_components = max_components,
      .algorithm = cuda->algorithm->name,
  };
}

/* Queues one run; the context is current. */
static CclStatus
queue (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;

  if (cuda->floor_kernel) {
    CclFloorParameters parameters = {
        .frame = (const uint8_t *)cuda->frame,
        .frame_stride = cuda->frame_stride,
        .width = input->width,
        .height = input->height * input->depth,
        .labels = (uint32_t *)cuda->label_map,
        .label_stride = cuda->label_stride / 4,
    };
    return ccl_cuda_launch (cuda->device, cuda->floor, cuda->floor_work,
        (const uint32_t[3]){32, 8, 1}, parameters.width, parameters.height, 1, &parameters,
        cuda->stream, failure);
  }
  if (cuda->has_labelling) {
    ccl_cuda_labelling_set_frame (&cuda->labelling, cuda->frame, cuda->frame_stride,
        cuda->frame_stride * input->height, 0, false);
    return ccl_cuda_labelling_queue (
        &cuda->labelling, 0, cuda->labelling.n_steps, cuda->stream, failure);
  }
  if (cuda->npp)
    return peer_npp_queue (cuda->npp, cuda->device, cuda->frame, cuda->frame_stride,
        cuda->label_map, cuda->label_stride, input->width, input->height, cuda->connectivity,
        cuda->scratch, cuda->stream, failure);
  const CclCudaInput frame = {.frame = cuda->frame, .frame_stride = cuda->frame_stride};
  const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};
  return cuda->engine->klass->queue (
      cuda->engine, &frame, cuda->label_map ? &labels : NULL, cuda->stream, failure);
}

/* Rows of frame and label map start where a GPU likes them to. */
static size_t
pad (size_t row)
{
  return (row + 255) / 256 * 256;
}

static CclStatus
upload (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;
  const size_t rows = (size_t)input->height * input->depth;
  CclStatus status;
  CUDA_MEMCPY2D copy;

  cuda->frame_stride = pad (input->width);
  status =
      ccl_cuda_device_allocate (cuda->device, cuda->frame_stride * rows, &cuda->frame, failure);
  if (status != CCL_OK)
    return status;
  copy = (CUDA_MEMCPY2D){
      .srcMemoryType = CU_MEMORYTYPE_HOST,
      .srcHost = input->pixels,
      .srcPitch = input->width,
      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
      .dstDevice = cuda->frame,
      .dstPitch = cuda->frame_stride,
      .WidthInBytes = input->width,
      .Height = rows,
  };
  status = ccl_cuda_call (cuda->device->driver, failure, cuMemcpy2DAsync (&copy, cuda->stream));
  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

static CclStatus
allocate_label_map (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;

  cuda->label_stride = pad (4 * (size_t)input->width);
  return ccl_cuda_device_allocate (
      cuda->device, cuda->label_stride * input->height * input->depth, &cuda->label_map, failure);
}

/* Whether a step works with thread blocks of any shape. */
static bool
is_shapeable (const CclStep *step)
{
  return step->kernel && !step->is_fixed && step->work.x && step->work.y && step->work.z;
}

static void
set_block_shape (CudaContender *cuda)
{
  for (uint32_t i = 0; cuda->has_labelling && cuda->block[0] && i < cuda->labelling.n_steps; i++)
    if (is_shapeable (&cuda->labelling.steps[i])) {
      cuda->labelling.steps[i].block.x = cuda->block[0];
      cuda->labelling.steps[i].block.y = cuda->block[1];
      cuda->labelling.steps[i].block.z = cuda->block[2];
    }
}

/* What an algorithm needs for a run; the context is current. */
static CclStatus
make (CudaContender *cuda, CclError *failure)
{
  const Input *input = cuda->input;
  CclStatus status = CCL_OK;
  CclPlan plan;

  if (cuda->npp) {
    const size_t size = peer_npp_scratch_size (cuda->npp, input->width, input->height);
    if (!size)
      return ccl_error_set (failure, CCL_ERROR_UNSUPPORTED, "NPP does not label this size");
    status = allocate_label_map (cuda, failure);
    return status == CCL_OK ? ccl_cuda_device_allocate (cuda->device, size, &cuda->scratch, failure)
                            : status;
  }
  if (cuda->head.delivery == DELIVER_RAW_LABELS) {
    status = ccl_cuda_labelling_init (&cuda->labelling, cuda->device, cuda->algorithm, input->width,
        input->height, input->depth,
        input->depth > 1 ? cuda->volume_connectivity : cuda->connectivity, cuda->stream, failure);
    cuda->has_labelling = status == CCL_OK;
    set_block_shape (cuda);
    return status;
  }
  if (cuda->head.delivery == DELIVER_LABELS_AND_TABLE)
    status = allocate_label_map (cuda, failure);
  if (status != CCL_OK)
    return status;
  plan = make_plan (cuda, cuda->max_components == UINT_MAX ? 1 : cuda->max_components);
  cuda->labeller = ccl_cuda_labeller_new (cuda->device, &plan, failure);
  return cuda->labeller ? CCL_OK : failure->status;
}

static void
let_go (CudaContender *cuda)
{
  ccl_labeller_free (&cuda->labeller);
  if (cuda->has_labelling)
    ccl_cuda_labelling_clear (&cuda->labelling);
  cuda->has_labelling = false;
  ccl_cuda_device_release (cuda->device, &cuda->label_map);
  ccl_cuda_device_release (cuda->device, &cuda->scratch);
}

/* One run and a wait; the context is current. */
static CclStatus
run_once (CudaContender *cuda, CclError *failure)
{
  CclStatus status;

  if (cuda->labeller) {
    const CclFrame frame = {(const void *)cuda->frame, cuda->frame_stride, CCL_LOCATION_DEVICE};
    const CclLabels labels = {(void *)cuda->label_map, cuda->label_stride};
    return ccl_labeller_run (cuda->labeller, &frame, &(CclOptions){0},
        cuda->label_map ? &labels : NULL, &cuda->table, failure);
  }
  status = queue (cuda, failure);
  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

/* Makes room in the table for all components that the first run counted. */
static CclStatus
make_room (CudaContender *cuda, CclError *failure)
{
  CclPlan plan;

  if (cuda->max_components != UINT_MAX || !cuda->labeller || cuda->table.n_components < 2)
    return CCL_OK;
  plan = make_plan (cuda, cuda->table.n_components);
  ccl_labeller_free (&cuda->labeller);
  cuda->labeller = ccl_cuda_labeller_new (cuda->device, &plan, failure);
  return cuda->labeller ? run_once (cuda, failure) : failure->status;
}

static CclStatus
make_engine (CudaContender *cuda, CclError *failure)
{
  const CclPlan plan = make_plan (cuda, cuda->labeller->plan.max_components);
  const CclCudaEngineClass *klass =
      cuda->algorithm->engine ? cuda->algorithm->engine : &ccl_cuda_steps_engine;

  cuda->engine = klass->new (cuda->device, cuda->algorithm, &plan, cuda->stream, failure);
  return cuda->engine ? CCL_OK : failure->status;
}

static CclStatus
prepare (CudaContender *cuda, CclError *failure)
{
  const CclCudaDriver *driver = cuda->device->driver;
  CclStatus status =
      ccl_cuda_call (driver, failure, cuStreamCreate (&cuda->stream, CU_STREAM_NON_BLOCKING));

  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventCreate (&cuda->begin, CU_EVENT_DEFAULT));
  if (status == CCL_OK)
    status = ccl_cuda_call (driver, failure, cuEventCreate (&cuda->end, CU_EVENT_DEFAULT));
  if (status == CCL_OK)
    status = upload (cuda, failure);
  if (status == CCL_OK && cuda->floor_kernel) {
    status = ccl_cuda_device_find_kernel (
        cuda->device, "floor", cuda->floor_kernel, &cuda->floor, failure);
    if (status == CCL_OK)
      status = allocate_label_map (cuda, failure);
  } else if (status == CCL_OK) {
    status = make (cuda, failure);
  }
  if (status == CCL_OK)
    status = run_once (cuda, failure);
  if (status == CCL_OK)
    status = make_room (cuda, failure);
  if (status == CCL_OK && cuda->labeller)
    status = make_engine (cuda, failure);
  return status;
}

static gboolean
cuda_prepare (Contender *contender, const Input *input, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  const uint32_t connectivity = input->depth > 1 ? cuda->volume_connectivity : cuda->connectivity;
  CclStatus status;
  CclError failure;

  if ((cuda->algorithm && !ccl_cuda_algorithm_has (cuda->algorithm, connectivity)) ||
      (cuda->block[2] > 1 && input->depth == 1) ||
      (input->depth > 1 && (cuda->npp || contender->delivery == DELIVER_TABLE ||
                               contender->delivery == DELIVER_LABELS_AND_TABLE))) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "no %u-connectivity here",
        connectivity);
    return FALSE;
  }
  cuda->input = input;
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  status = prepare (cuda, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static gboolean
cuda_run (Contender *contender, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status = CCL_OK;
  CclError failure;

  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  if (cuda->allocation && !cuda->floor_kernel) {
    const unsigned max_components = cuda->max_components;
    if (cuda->labeller)
      cuda->max_components = cuda->labeller->plan.max_components;
    let_go (cuda);
    status = make (cuda, &failure);
    cuda->max_components = max_components;
  }
  if (status == CCL_OK)
    status = run_once (cuda, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
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
  for (uint32_t step = 0; cuda->has_labelling && step < cuda->labelling.n_steps; step++)
    if (cuda->labelling.steps[step].repeats)
      return;
  if (!driver->cuStreamBeginCapture || !driver->cuStreamEndCapture || !driver->cuGraphDestroy ||
      !driver->cuGraphInstantiateWithFlags || !driver->cuGraphLaunch || !driver->cuGraphExecDestroy)
    return;
  /* What a labeller does on its first frame only is no part of the record. */
  if (queue (cuda, NULL) != CCL_OK || driver->cuStreamSynchronize (cuda->stream) != CUDA_SUCCESS)
    return;
  if (driver->cuStreamBeginCapture (cuda->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
      CUDA_SUCCESS)
    return;
  status = queue (cuda, NULL);
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
                          : queue (cuda, failure);
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
  status = queue_batch (cuda, n_runs, failure); /* keeps the device busy while the next is queued */
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

static double
cuda_device_time (Contender *contender, unsigned n_runs, GError **error)
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
  let_go (cuda);
  status = make (cuda, failure);
  if (status == CCL_OK)
    status = ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
  seconds[STEP_ALLOCATION] = 1e-6 * (double)(g_get_monotonic_time () - begin);
  if (status == CCL_OK)
    status = run_once (cuda, failure);

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

static gboolean
cuda_steps (Contender *contender, double seconds[N_STEPS], GError **error)
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

static gboolean
cuda_count_accesses (
    Contender *contender, AccessCount counts[MOST_COUNTED_STEPS], guint *n_steps, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status;
  CclError failure;

  G_STATIC_ASSERT (CCL_MAX_STEPS <= MOST_COUNTED_STEPS);
  if (!cuda->has_labelling) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "raw labels only");
    return FALSE;
  }
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  *n_steps = cuda->labelling.n_steps;
  status = access_count (&cuda->labelling, cuda->stream, counts, &failure);
  ccl_cuda_device_leave (cuda->device);
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static CclStatus
download (CudaContender *cuda, CUdeviceptr from, size_t stride, uint32_t *to, CclError *failure)
{
  const Input *input = cuda->input;
  const CUDA_MEMCPY2D copy = {
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcDevice = from,
      .srcPitch = stride,
      .dstMemoryType = CU_MEMORYTYPE_HOST,
      .dstHost = to,
      .dstPitch = 4 * (size_t)input->width,
      .WidthInBytes = 4 * (size_t)input->width,
      .Height = (size_t)input->height * input->depth,
  };
  CclStatus status =
      ccl_cuda_call (cuda->device->driver, failure, cuMemcpy2DAsync (&copy, cuda->stream));

  if (status != CCL_OK)
    return status;
  return ccl_cuda_call (cuda->device->driver, failure, cuStreamSynchronize (cuda->stream));
}

static gboolean
cuda_fetch (Contender *contender, Labelling *labelling, GError **error)
{
  CudaContender *cuda = (CudaContender *)contender;
  CclStatus status = CCL_OK;
  CclError failure;

  *labelling = (Labelling){.is_raw = !cuda->labeller};
  if (cuda->labeller) {
    labelling->n_components = cuda->table.n_components;
    labelling->n_rows = cuda->table.n_rows;
    labelling->components =
        g_memdup2 (cuda->table.rows, cuda->table.n_rows * sizeof *cuda->table.rows);
  }
  if (!cuda->has_labelling && !cuda->label_map)
    return TRUE;
  labelling->labels = g_malloc (4 * input_n_pixels (cuda->input));
  if (ccl_cuda_device_enter (cuda->device, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  if (cuda->has_labelling)
    status = download (cuda, cuda->labelling.labels,
        4 * (size_t)cuda->labelling.parameters.label_stride, labelling->labels, &failure);
  else
    status = download (cuda, cuda->label_map, cuda->label_stride, labelling->labels, &failure);
  ccl_cuda_device_leave (cuda->device);
  /* To NPP, background is a region like all others, and 0 is a label. */
  for (size_t i = 0; cuda->npp && status == CCL_OK && i < input_n_pixels (cuda->input); i++)
    labelling->labels[i] = cuda->input->pixels[i] ? labelling->labels[i] + 1 : 0;
  return status == CCL_OK ? TRUE : contender_fail (&failure, error);
}

static void
cuda_release (Contender *contender)
{
  CudaContender *cuda = (CudaContender *)contender;
  const CclCudaDriver *driver = cuda->device->driver;

  if (!cuda->input || ccl_cuda_device_enter (cuda->device, NULL) != CCL_OK)
    return;
  if (cuda->stream)
    driver->cuStreamSynchronize (cuda->stream);
  if (cuda->replay)
    driver->cuGraphExecDestroy (cuda->replay);
  if (cuda->engine)
    cuda->engine->klass->free (cuda->engine);
  let_go (cuda);
  ccl_cuda_device_release (cuda->device, &cuda->frame);
  if (cuda->begin)
    driver->cuEventDestroy (cuda->begin);
  if (cuda->end)
    driver->cuEventDestroy (cuda->end);
  if (cuda->stream)
    driver->cuStreamDestroy (cuda->stream);
  ccl_cuda_device_leave (cuda->device);
  cuda->replay = NULL;
  cuda->tried_replay = false;
  cuda->engine = NULL;
  cuda->begin = cuda->end = NULL;
  cuda->stream = NULL;
  cuda->input = NULL;
}

static void
cuda_free (Contender *contender)
{
  CudaContender *cuda = (CudaContender *)contender;

  cuda_release (contender);
  ccl_cuda_device_unref (&cuda->device);
  g_free (cuda->name);
  g_free (cuda);
}

static const ContenderClass floor_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_device_time,
};

static const ContenderClass labeller_class = {
    .prepare = cuda_prepare,
    .run = cuda_run,
    .release = cuda_release,
    .free = cuda_free,
    .device_time = cuda_device_time,
    .steps = cuda_steps,
    .count_accesses = cuda_count_accesses,
    .fetch = cuda_fetch,
};

static void
add (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings,
    CudaContender contender)
{
  CudaContender *cuda = g_new (CudaContender, 1);

  *cuda = contender;
  cuda->head.device = "cuda";
  cuda->head.maker = cuda->npp ? peer_npp_version (cuda->npp) : "cudaccl";
  cuda->head.threads = 1;
  cuda->device = ccl_cuda_device_ref (device);
  cuda->connectivity = settings->connectivity;
  cuda->volume_connectivity = settings->volume_connectivity;
  cuda->max_components =
      settings->max_components ? settings->max_components : DEFAULT_MAX_COMPONENTS;
  cuda->allocation = settings->allocation;
  g_ptr_array_add (contenders, cuda);
}

static void
add_floors (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings)
{
  const Contender read = {.klass = &floor_class, .algorithm = "read 1", .is_floor = true};
  const Contender read_write = {
      .klass = &floor_class, .algorithm = "read 1, write 4", .is_floor = true};

  add (contenders, device, settings,
      (CudaContender){.head = read, .floor_kernel = "ccl_floor_read", .floor_work = {16, 1, 1}});
  add (contenders, device, settings,
      (CudaContender){
          .head = read_write, .floor_kernel = "ccl_floor_read_write", .floor_work = {4, 1, 1}});
}

/* Whether an algorithm is what "auto" picks, or what the others are compared with. */
static bool
is_chosen (const CclAlgorithm *algorithm, const ContenderSettings *settings)
{
  const char *const *names = ccl_cuda_algorithms ();

  while (*names && !ccl_cuda_algorithm_offers (*names, settings->connectivity))
    names++;
  return g_strcmp0 (*names, algorithm->name) == 0 ||
         g_str_equal (algorithm->name,
             settings->connectivity == CCL_CONNECTIVITY_8 ? BASELINE_8 : BASELINE_4);
}

/* An algorithm that brings an engine of its own has no raw labels; an inexact one and one for
 * volumes only has no table. */
static bool
delivers (const CclAlgorithm *algorithm, Delivery delivery)
{
  if (delivery == DELIVER_RAW_LABELS)
    return algorithm->steps[0].kernel != NULL;
  return !algorithm->is_inexact && (algorithm->connectivities & (CCL_OFFERS_4 | CCL_OFFERS_8)) != 0;
}

/* Each algorithm with raw labels as it is, and then with every shape of thread block. */
static void
add_block_shapes (GPtrArray *contenders, CclCudaDevice *device, const ContenderSettings *settings)
{
  static const uint32_t shapes[][3] = {{8, 8, 1}, {16, 8, 1}, {32, 2, 1}, {32, 4, 1}, {16, 16, 1},
      {32, 8, 1}, {64, 4, 1}, {128, 2, 1}, {256, 1, 1}, {32, 16, 1}, {4, 4, 4}, {8, 4, 4},
      {8, 8, 4}, {16, 4, 4}, {32, 4, 2}};

  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    bool can_change = false;
    if (!contender_is_wanted (settings, row->name, DELIVER_RAW_LABELS, true))
      continue;
    for (guint i = 0; i < CCL_MAX_STEPS; i++)
      can_change |= is_shapeable (&row->steps[i]);
    for (guint i = 0; can_change && i <= G_N_ELEMENTS (shapes); i++) {
      CudaContender contender = {.algorithm = row};
      if (i > 0)
        memcpy (contender.block, shapes[i - 1], sizeof contender.block);
      contender.name = i == 0 ? g_strdup (row->name)
                              : g_strdup_printf ("%s %ux%ux%u", row->name, contender.block[0],
                                    contender.block[1], contender.block[2]);
      contender.head = (Contender){.klass = &labeller_class,
          .algorithm = contender.name,
          .delivery = DELIVER_RAW_LABELS,
          .may_be_inexact = row->is_inexact};
      add (contenders, device, settings, contender);
    }
  }
}

void
contenders_add_cuda (GPtrArray *contenders, const ContenderSettings *settings)
{
  static const Delivery deliveries[] = {
      DELIVER_RAW_LABELS, DELIVER_TABLE, DELIVER_LABELS_AND_TABLE};
  CclError failure;
  CclCudaDevice *device = ccl_cuda_device_open (-1, &failure);

  if (!device) {
    if (settings->needs_cuda)
      problem_tell ("no GPU: %s", failure.message);
    return;
  }
  add_floors (contenders, device, settings);
  if (settings->block_shapes) {
    add_block_shapes (contenders, device, settings);
    ccl_cuda_device_unref (&device);
    return;
  }
  for (guint d = 0; d < G_N_ELEMENTS (deliveries); d++)
    for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++)
      if (delivers (row, deliveries[d]) &&
          contender_is_wanted (
              settings, row->name, deliveries[d], delivers (row, DELIVER_RAW_LABELS)) &&
          (!settings->only_chosen || settings->algorithms || is_chosen (row, settings)))
        add (contenders, device, settings,
            (CudaContender){.head = {.klass = &labeller_class,
                                .algorithm = row->name,
                                .delivery = deliveries[d],
                                .may_be_inexact = row->is_inexact},
                .algorithm = row});
  if (settings->peers && peer_npp () &&
      (settings->cheapest_labels || settings->deliveries >> DELIVER_RAW_LABELS & 1))
    add (contenders, device, settings,
        (CudaContender){
            .head = {.klass = &labeller_class, .algorithm = "npp", .delivery = DELIVER_RAW_LABELS},
            .npp = peer_npp ()});
  ccl_cuda_device_unref (&device);
}

void
contender_cuda_describe (GPtrArray *machine)
{
  CclCudaDevice *device = ccl_cuda_device_open (-1, NULL);
  g_autofree char *text = NULL;
  int version = 0;

  if (!device) {
    machine_add (machine, "gpu", "none");
    return;
  }
  machine_add (machine, "gpu", "%s, compute capability %d.%d", ccl_cuda_device_name (device),
      device->compute_capability / 10, device->compute_capability % 10);
  if (device->driver->cuDriverGetVersion (&version) == CUDA_SUCCESS)
    machine_add (machine, "driver API", "CUDA %d.%d", version / 1000, version % 1000 / 10);
  if (g_file_get_contents ("/proc/driver/nvidia/version", &text, NULL, NULL))
    machine_add (machine, "driver", "%.*s", (int)strcspn (text, "\n"), text);
  ccl_cuda_device_unref (&device);
}
