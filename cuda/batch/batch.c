/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches on a GPU: memory and launches; batch.cu and replace.cu have the kernels.
 *
 * What a call queues is a sequence of kernels, a graph where the driver has them. Masks are
 * labelled, or pixels are replaced: both use the same scratch memory.
 */
#include "core/batch/batch-class.h"
#include "batch-parameters.h"
#include "images.h"
#include "cuda/driver/kernel-graph.h"
#include "core/label/labeller-class.h"
#include "core/base/layout.h"
#include "cuda/driver/runner.h"
#include "cuda/label/strips/strips-geometry.h"
#include "cuda/label/table-memory.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a mask for which there is room at first. */
enum { FIRST_ROWS = 1024 };

/* The most masks in a plane of a grid. */
enum { PLANE_MASKS = UINT16_MAX };

typedef enum Step {
  STEP_TILE,
  STEP_MERGE,
  STEP_COUNT,
  STEP_NUMBER,
  STEP_AREAS,
  STEP_REPLACE_TILE,
  STEP_REPLACE_MERGE,
  STEP_REPLACE_REDUCE,
  STEP_REPLACE_WRITE,
  STEP_FINISH,
  N_STEPS,
} Step;

/* The kernels of a step for 4-connected and for 8-connected components, and their threads. */
static const struct {
  const char *kernels[2];
  uint32_t threads;
} steps[N_STEPS] = {
    {{"ccl_batch_tile_4", "ccl_batch_tile_8"}, CUDACCL_STRIPS_TILE_THREADS},
    {{"ccl_batch_merge_4", "ccl_batch_merge_8"}, CUDACCL_STRIPS_MERGE_THREADS},
    {{"ccl_batch_count", "ccl_batch_count"}, CUDACCL_STRIPS_NUMBER_THREADS},
    {{"ccl_batch_number_4", "ccl_batch_number_8"}, CUDACCL_STRIPS_NUMBER_THREADS},
    {{"ccl_batch_write_areas_4", "ccl_batch_write_areas_8"}, CUDACCL_STRIPS_NUMBER_THREADS},
    {{"ccl_replace_tile_4", "ccl_replace_tile_8"}, CUDACCL_REPLACE_TILE_THREADS},
    {{"ccl_replace_merge_4", "ccl_replace_merge_8"}, CUDACCL_REPLACE_MERGE_THREADS},
    {{"ccl_replace_reduce", "ccl_replace_reduce"}, CUDACCL_REPLACE_REDUCE_THREADS},
    {{"ccl_replace_write", "ccl_replace_write"}, CUDACCL_REPLACE_WRITE_THREADS},
    {{"ccl_batch_finish", "ccl_batch_finish"}, 1},
};

/* What a call does. */
typedef enum Task {
  TASK_TABLE,
  TASK_LABELS,     /* and table */
  TASK_AREAS,      /* and labels, and table */
  TASK_FILL,       /* all holes */
  TASK_FILL_SMALL, /* holes up to an area */
  TASK_REMOVE_SMALL,
  N_TASKS,
} Task;

/* The kernels of a task. */
typedef struct Sequence {
  CclCudaLaunch launches[N_STEPS];
  uint32_t n_launches;
  CclCudaKernelGraph graph;
  CclBatchParameters in_graph;
} Sequence;

typedef struct CudaBatch {
  CclBatch base;
  CclCudaRunner runner;
  CclBatchParameters labelling, replacing;
  Sequence sequences[N_TASKS];
  uint32_t turn; /* which of two sets of counters the next labelling uses */
  bool counters_clean;
  uint64_t most_rows;
  uint32_t *counters; /* device memory: two sets, and those of masks */
  CclCudaTableMemory table;
  void *counts;      /* pinned: components of each mask */
  uint64_t *offsets; /* rows before each mask */
} CudaBatch;

static bool
is_replacing (Task task)
{
  return task >= TASK_FILL;
}

static bool
is_fill (Task task)
{
  return task == TASK_FILL || task == TASK_FILL_SMALL;
}

/* 1 if the components of a task are 8-connected, 0 if they are 4-connected. */
static uint32_t
is_eight (const CudaBatch *self, Task task)
{
  return (self->base.plan.connectivity == CUDACCL_CONNECTIVITY_8) != is_fill (task);
}

static bool
is_needed (const CclStripsParameters *p, Task task, Step step)
{
  const bool has_edges = p->tile_columns * p->tile_rows > 1;

  switch (step) {
  case STEP_TILE:
  case STEP_COUNT:
  case STEP_NUMBER:
    return !is_replacing (task);
  case STEP_MERGE:
    return !is_replacing (task) && has_edges;
  case STEP_AREAS:
    return task == TASK_AREAS;
  case STEP_REPLACE_TILE:
    return is_replacing (task);
  case STEP_REPLACE_REDUCE:
    return is_replacing (task) && has_edges && task != TASK_FILL;
  case STEP_REPLACE_MERGE:
  case STEP_REPLACE_WRITE:
    return is_replacing (task) && has_edges;
  default:
    return true;
  }
}

/* The blocks of a mask. */
static uint32_t
count_blocks (const CclStripsParameters *p, Task task, Step step)
{
  const uint32_t n_tiles = p->tile_columns * p->tile_rows;

  switch (step) {
  case STEP_COUNT:
  case STEP_FINISH:
    return 1;
  case STEP_NUMBER:
    return p->n_reduce_blocks + p->n_chunks + (task == TASK_TABLE ? 0 : n_tiles);
  default:
    return n_tiles;
  }
}

static CclStatus
plan_sequence (CudaBatch *self, Task task, CclError *error)
{
  const CclStripsParameters *p =
      is_replacing (task) ? &self->replacing.strips : &self->labelling.strips;
  const uint32_t n_masks = self->base.plan.n_masks;
  Sequence *sequence = &self->sequences[task];
  CclStatus status = CUDACCL_OK;

  for (Step step = STEP_TILE; step < N_STEPS && status == CUDACCL_OK; step++) {
    if (!is_needed (p, task, step))
      continue;
    CclCudaLaunch *launch = &sequence->launches[sequence->n_launches++];
    *launch = (CclCudaLaunch){
        .kernel = steps[step].kernels[is_eight (self, task)],
        .grid = {count_blocks (p, task, step), 1, 1},
        .block = {steps[step].threads, 1, 1},
        .is_dependent = step != STEP_TILE && step != STEP_REPLACE_TILE,
    };
    if (step != STEP_FINISH) {
      launch->grid[1] = n_masks < PLANE_MASKS ? n_masks : PLANE_MASKS;
      launch->grid[2] = divide_up (n_masks, PLANE_MASKS);
    }
    const bool in_replace = step >= STEP_REPLACE_TILE && step <= STEP_REPLACE_WRITE;
    status = ccl_cuda_device_find_kernel (self->runner.device,
        in_replace ? &ccl_cuda_image_replace : &ccl_cuda_image_batch, launch->kernel,
        &launch->function, error);
  }
  return status;
}

/* Gives the scratch memory of a mask to its parts. Returns its size in bytes. */
static size_t
lay_out_replacing (CclBatchParameters *batch, CUdeviceptr scratch)
{
  const size_t n_tiles = (size_t)batch->strips.tile_columns * batch->strips.tile_rows;
  CclBatchReplacement *r = &batch->replacement;
  Layout layout = {.memory = (uint8_t *)(uintptr_t)scratch, .alignment = 256};

  batch->strips.parent =
      lay_out (&layout, n_tiles * CUDACCL_REPLACE_OPEN + 1, sizeof *batch->strips.parent);
  batch->strips.open_count = lay_out (&layout, n_tiles, sizeof *batch->strips.open_count);
  r->edge =
      lay_out (&layout, n_tiles * CUDACCL_STRIPS_EDGES * CUDACCL_STRIPS_TILE_EDGE, sizeof *r->edge);
  r->words = lay_out (&layout, n_tiles * CUDACCL_REPLACE_TILE_THREADS, sizeof *r->words);
  r->base = lay_out (&layout, n_tiles * CUDACCL_REPLACE_TILE_THREADS, sizeof *r->base);
  r->run_open = lay_out (&layout, n_tiles * CUDACCL_REPLACE_RUNS, sizeof *r->run_open);
  r->area = lay_out (&layout, n_tiles * CUDACCL_REPLACE_OPEN + 1, sizeof *r->area);
  return layout.size;
}

/* Sets what does not change between calls. */
static CclStatus
plan_parameters (CudaBatch *self, CclError *error)
{
  const CclBatchPlan *plan = &self->base.plan;
  const CclLabellerPlan of_mask = ccl_batch_labeller_plan (plan, plan->connectivity);
  CclBatchParameters *p = &self->labelling, *r = &self->replacing;
  const uint32_t strip_rows = 1 + is_eight (self, TASK_TABLE);
  const CclStatus status = ccl_strips_set_geometry (&p->strips, &of_mask, strip_rows, error);

  if (status != CUDACCL_OK)
    return status;
  p->n_masks = r->n_masks = plan->n_masks;
  p->scratch_stride = ccl_strips_lay_out (&p->strips, 0, strip_rows);
  p->counts_stride = (uint64_t)divide_up (p->strips.n_chunks + 1, 4) * 4;
  r->strips.width = plan->width;
  r->strips.height = plan->height;
  r->strips.tile_columns = p->strips.tile_columns;
  r->strips.tile_columns_inverse = p->strips.tile_columns_inverse;
  r->strips.tile_rows = divide_up (plan->height, CUDACCL_REPLACE_ROWS);
  r->strips.filtered = true; /* nothing is counted */
  r->scratch_stride = lay_out_replacing (r, 0);
  return CUDACCL_OK;
}

static size_t
most (size_t a, size_t b)
{
  return a > b ? a : b;
}

static CclStatus
allocate_scratch (CudaBatch *self, CclError *error)
{
  const uint32_t n_masks = self->base.plan.n_masks;
  CclBatchParameters *p = &self->labelling, *r = &self->replacing;
  CclCudaAllocations *memory = &self->runner.memory;
  const size_t size = most (p->scratch_stride, r->scratch_stride) * n_masks;
  const size_t counts = p->counts_stride * n_masks;
  CclStatus status = CUDACCL_OK;

  const CUdeviceptr scratch =
      (CUdeviceptr)(uintptr_t)ccl_cuda_allocate (memory, size, &status, error);
  self->counters =
      ccl_cuda_allocate (memory, (2 * counts + n_masks) * sizeof (uint32_t), &status, error);
  p->strips.n_components =
      ccl_cuda_allocate_pinned (memory, n_masks * sizeof (uint32_t), &self->counts, &status, error);
  if (status != CUDACCL_OK)
    return status;
  ccl_strips_lay_out (&p->strips, scratch, 1 + is_eight (self, TASK_TABLE));
  lay_out_replacing (r, scratch);
  p->mask_count = self->counters + 2 * counts;
  return CUDACCL_OK;
}

/* Makes room for rows. */
static CclStatus
allocate_rows (CudaBatch *self, uint64_t n_rows, CclError *error)
{
  const uint64_t n = n_rows < self->most_rows ? n_rows : self->most_rows;
  const CclStatus status = ccl_cuda_table_memory_resize (
      &self->table, self->runner.device, (uint32_t)n, CUDACCL_LOCATION_HOST, error);

  if (status != CUDACCL_OK)
    return status;
  CclStripsParameters *p = &self->labelling.strips;
  p->finished = ccl_cuda_table_memory_head (&self->table) + 1;
  p->rows = ccl_cuda_table_memory_rows (&self->table);
  p->max_components = self->table.n_rows;
  self->replacing.strips.finished = p->finished;
  return CUDACCL_OK;
}

static CclStatus
allocate (CudaBatch *self, CclError *error)
{
  const CclBatchPlan *plan = &self->base.plan;
  CclStatus status = allocate_scratch (self, error);
  if (status == CUDACCL_OK)
    status = allocate_rows (self, (uint64_t)plan->n_masks * FIRST_ROWS, error);
  self->offsets = calloc ((size_t)plan->n_masks + 1, sizeof *self->offsets);
  if (status == CUDACCL_OK && !self->offsets)
    status = ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a batch");
  return status;
}

static CclStatus
plan_batch (void *object, CclError *error)
{
  CudaBatch *self = object;
  const CclBatchPlan *plan = &self->base.plan;
  const CclLabellerPlan of_mask = ccl_batch_labeller_plan (plan, plan->connectivity);
  CclStatus status = plan_parameters (self, error);

  self->most_rows = (uint64_t)plan->n_masks * of_mask.max_components;
  for (Task task = TASK_TABLE; task < N_TASKS && status == CUDACCL_OK; task++)
    status = plan_sequence (self, task, error);
  return status == CUDACCL_OK ? allocate (self, error) : status;
}

/* Queues the kernels of a task as one graph. */
static CclStatus
queue_graph (
    CudaBatch *self, Sequence *sequence, const CclBatchParameters *parameters, CclError *error)
{
  CclBatchParameters p = *parameters;
  CclStatus status = CUDACCL_OK;

  if (!sequence->graph.graph)
    status = ccl_cuda_kernel_graph_build (&sequence->graph, self->runner.device, sequence->launches,
        sequence->n_launches, UINT32_MAX, &p, error);
  else if (memcmp (&sequence->in_graph, &p, sizeof p) != 0)
    for (uint32_t i = 0; i < sequence->n_launches && status == CUDACCL_OK; i++)
      status = ccl_cuda_kernel_graph_set (
          &sequence->graph, self->runner.device, &sequence->launches[i], i, &p, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_kernel_graph_clear (&sequence->graph, self->runner.device);
    return status;
  }
  memcpy (&sequence->in_graph, parameters, sizeof p);
  return ccl_cuda_call (self->runner.device->driver, error,
      cuGraphLaunch (sequence->graph.graph, self->runner.stream));
}

static CclStatus
queue (CudaBatch *self, Task task, const CclBatchParameters *parameters, CclError *error)
{
  Sequence *sequence = &self->sequences[task];
  CclBatchParameters p = *parameters;

  return ccl_cuda_kernel_graph_is_possible (self->runner.device)
             ? queue_graph (self, sequence, parameters, error)
             : ccl_cuda_launch_all (self->runner.device, sequence->launches, sequence->n_launches,
                   &p, self->runner.stream, error);
}

/* Queues a task and waits for it. */
static CclStatus
run (CudaBatch *self, Task task, const CclBatchParameters *parameters, CclError *error)
{
  uint32_t *finished = (uint32_t *)self->table.pinned + 1;

  *finished = 0;
  return ccl_cuda_runner_wait (
      &self->runner, queue (self, task, parameters, error), finished, error);
}

/* The parameters of a task on masks. */
static CclBatchParameters
parameters_of (const CudaBatch *self, Task task, const CclMasks *masks)
{
  CclBatchParameters batch = is_replacing (task) ? self->replacing : self->labelling;
  CclStripsParameters *p = &batch.strips;

  p->frame = masks->data;
  p->frame_stride = masks->row_stride;
  p->vectorised = ((uintptr_t)masks->data | masks->row_stride | masks->mask_stride) % 16 == 0;
  p->invert = is_fill (task) ? UINT32_MAX : 0;
  p->max_area = UINT32_MAX;
  batch.mask_stride = masks->mask_stride;
  return batch;
}

/* The counters of a labelling are cleared by the one before. */
static CclStatus
take_counters (CudaBatch *self, CclBatchParameters *batch, CclError *error)
{
  const uint64_t n = batch->counts_stride * batch->n_masks;

  batch->strips.chunk_count = self->counters + self->turn * n;
  batch->strips.next_chunk_count = self->counters + !self->turn * n;
  self->turn = !self->turn;
  if (self->counters_clean)
    return CUDACCL_OK;
  return ccl_cuda_call (self->runner.device->driver, error,
      cuMemsetD8Async ((CUdeviceptr)(uintptr_t)self->counters, 0, 2 * n * sizeof (uint32_t),
          self->runner.stream));
}

static void
set_maps (CclBatchParameters *batch, const CclVolumeLabels *labels, const CclVolumeLabels *areas)
{
  CclStripsParameters *p = &batch->strips;

  if (labels) {
    p->labels = labels->data;
    p->labels_stride = labels->row_stride / 4;
    p->labels_vectorised =
        ((uintptr_t)labels->data | labels->row_stride | labels->slice_stride) % 16 == 0;
    p->keeps_runs = true;
    batch->labels_slice = labels->slice_stride / 4;
  }
  if (areas) {
    batch->areas = areas->data;
    batch->areas_stride = areas->row_stride / 4;
    batch->areas_slice = areas->slice_stride / 4;
    batch->areas_vectorised =
        ((uintptr_t)areas->data | areas->row_stride | areas->slice_stride) % 16 == 0;
  }
}

/* Adds up the components of masks. Returns their number. */
static uint64_t
sum_offsets (CudaBatch *self)
{
  const uint32_t *counts = self->counts, n_masks = self->base.plan.n_masks;

  for (uint32_t i = 0; i < n_masks; i++)
    self->offsets[i + 1] = self->offsets[i] + counts[i];
  return self->offsets[n_masks];
}

static CclStatus
label (CudaBatch *self, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclError *error)
{
  const Task task = areas ? TASK_AREAS : labels ? TASK_LABELS : TASK_TABLE;
  CclBatchParameters batch = parameters_of (self, task, masks);

  set_maps (&batch, labels, areas);
  CclStatus status = take_counters (self, &batch, error);
  if (status != CUDACCL_OK)
    return ccl_cuda_device_abandon (self->runner.device, self->runner.stream, error);
  self->counters_clean = false;
  status = run (self, task, &batch, error);
  self->counters_clean = status == CUDACCL_OK;
  return status;
}

static CclStatus
cuda_batch_label (CclBatch *base, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclBatchTable *table, CclError *error)
{
  CudaBatch *self = (CudaBatch *)base;
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);

  if (status != CUDACCL_OK)
    return status;
  status = label (self, masks, labels, areas, error);
  if (status == CUDACCL_OK && sum_offsets (self) > self->table.n_rows) {
    const uint64_t n_rows = sum_offsets (self);
    status = allocate_rows (self, n_rows + n_rows / 2, error);
    if (status == CUDACCL_OK)
      status = label (self, masks, labels, areas, error);
    if (status == CUDACCL_OK)
      sum_offsets (self);
  }
  ccl_cuda_device_leave (self->runner.device);
  if (status == CUDACCL_OK)
    *table = (CclBatchTable){
        base->plan.n_masks,
        self->offsets,
        (const CclComponent *)((const char *)self->table.pinned + CUDACCL_TABLE_HEAD_SIZE),
    };
  return status;
}

/* Writes the value to the selected components. */
static CclStatus
replace (CudaBatch *self, Task task, const CclMasks *masks, const CclBatchSelection *selection,
    CclError *error)
{
  CclBatchParameters batch = parameters_of (self, task, masks);
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);

  if (status != CUDACCL_OK)
    return status;
  batch.selection = *selection;
  status = run (self, task, &batch, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
cuda_batch_fill_holes (
    CclBatch *base, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error)
{
  const CclBatchSelection holes = {
      .inside_only = true,
      .by_area = max_area > 0,
      .max_area = max_area,
      .value = value,
  };
  return replace (
      (CudaBatch *)base, max_area > 0 ? TASK_FILL_SMALL : TASK_FILL, masks, &holes, error);
}

static CclStatus
cuda_batch_remove_small (CclBatch *base, const CclMasks *masks, uint32_t min_area, CclError *error)
{
  const CclBatchSelection small = {.by_area = true, .max_area = min_area > 0 ? min_area - 1 : 0};
  return replace ((CudaBatch *)base, TASK_REMOVE_SMALL, masks, &small, error);
}

static void
release (void *object)
{
  CudaBatch *self = object;
  for (Task task = TASK_TABLE; task < N_TASKS; task++)
    ccl_cuda_kernel_graph_clear (&self->sequences[task].graph, self->runner.device);
  ccl_cuda_table_memory_clear (&self->table, self->runner.device);
}

static void
cuda_batch_free (CclBatch *base)
{
  CudaBatch *self = (CudaBatch *)base;
  ccl_cuda_runner_close (&self->runner, release, self);
  free (self->offsets);
  free (self);
}

static const CclBatchClass cuda_batch_class = {
    .location = CUDACCL_LOCATION_DEVICE,
    .label = cuda_batch_label,
    .fill_holes = cuda_batch_fill_holes,
    .remove_small = cuda_batch_remove_small,
    .free = cuda_batch_free,
};

CclBatch *
ccl_cuda_batch_new (CclCudaDevice *device, const CclBatchPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_batch_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  CudaBatch *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a batch");
    return NULL;
  }
  self->base = (CclBatch){.klass = &cuda_batch_class, .plan = *plan};
  if (ccl_cuda_runner_open (&self->runner, device, plan_batch, self, error) == CUDACCL_OK)
    return &self->base;
  cuda_batch_free (&self->base);
  return NULL;
}

CclStatus
ccl_cuda_batch_set_stream (CclBatch *batch, void *stream, CclError *error)
{
  CudaBatch *self = (CudaBatch *)batch;
  if (!batch || batch->klass != &cuda_batch_class)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only a batch on a GPU has a stream");
  ccl_cuda_runner_set_stream (&self->runner, stream);
  return CUDACCL_OK;
}
