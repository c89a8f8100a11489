/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of strips.cu. The kernels of a frame make up a graph, so that a frame takes one
 * launch. When an address or an option changes, the nodes that depend on it are updated.
 *
 * The counters are double-buffered: a frame counts in one buffer and clears the other one for the
 * next frame. For each buffer there are graphs for a few addresses of frames, as frames mostly come
 * from a small pool: updating a graph takes a lock of the driver for which all streams of a process
 * wait.
 */
#include "strips.h"

#include <stdlib.h>
#include <string.h>

#include "images.h"
#include "cuda/driver/kernel-graph.h"
#include "core/base/log-message.h"
#include "strips-geometry.h"
#include "cuda/label/table-memory.h"

/* Scratch memory from this size on is given back for one that needs less than an eighth of it. */
#define LARGE_SCRATCH ((size_t)256 << 20)

/* Addresses of frames for which there are graphs. */
enum { N_ADDRESSES = 4 };

enum { TILE, MERGE, REDUCE, FILTER, NUMBER, WRITE_LABELS, FINISH, N_KERNELS };

/* A graph with the kernels of a frame, and the parameters of the last frame. */
typedef struct FrameGraph {
  CclStripsColumnsParameters parameters;
  CclCudaKernelGraph graph;
  uint32_t needed; /* the kernels in it, one bit for each */
  bool is_stale;   /* it has other parameters and grids */
} FrameGraph;

typedef struct Strips {
  CclCudaEngine engine;
  CclCudaDevice *device; /* the labeller keeps the reference */
  CclPixelFormat format;
  uint32_t strip_rows;
  uint32_t columns; /* of the plan */
  CclCudaLaunch launches[N_KERNELS];
  CUdeviceptr scratch; /* one allocation for everything in device memory */
  size_t scratch_size;
  CclCudaTableMemory table;
  CclLocation table_location;
  FrameGraph frames[2 * N_ADDRESSES]; /* with even index for one set of counters */
  uint32_t oldest[2];  /* of each set, the graph that the next new address replaces, 0… */
  uint32_t turn;       /* the set of the next frame */
  bool counters_clean; /* the counters of the next frame are zero */
  bool is_first;       /* the next frame is the first one of its size */
} Strips;

static const char *const kernel_names[2][N_KERNELS] = {
    {"ccl_strips_tile_4", "ccl_strips_merge_4", "ccl_strips_reduce", "ccl_strips_filter",
        "ccl_strips_number_4", "ccl_strips_write_labels_4", "ccl_strips_finish"},
    {"ccl_strips_tile_8", "ccl_strips_merge_8", "ccl_strips_reduce", "ccl_strips_filter",
        "ccl_strips_number_8", "ccl_strips_write_labels_8", "ccl_strips_finish"},
};

/* For plans with columns: the kernels that replace those of kernel_names; [0] with 4, [1] with 8
 * neighbours. */
static const char *const columns_kernel_names[2][N_KERNELS] = {
    {[MERGE] = "ccl_strips_columns_merge_4",
        [REDUCE] = "ccl_strips_columns_reduce",
        [NUMBER] = "ccl_strips_columns_number_4",
        [WRITE_LABELS] = "ccl_strips_columns_write_labels_4"},
    {[MERGE] = "ccl_strips_columns_merge_8",
        [REDUCE] = "ccl_strips_columns_reduce",
        [NUMBER] = "ccl_strips_columns_number_8",
        [WRITE_LABELS] = "ccl_strips_columns_write_labels_8"},
};
/* The merge kernels of plans whose columns depend on neighbours, on values, or on both. With
 * 4 neighbours other kernels measure columns that depend on neighbours. */
static const char *const columns_merge_names[2][3] = {
    {NULL, "ccl_strips_columns_merge_values_4", NULL},
    {"ccl_strips_columns_merge_neighbours_8", "ccl_strips_columns_merge_values_8",
        "ccl_strips_columns_merge_both_8"},
};

/* The tile kernels for pixels of two bytes. */
static const char *const word_tile_names[2] = {
    "ccl_strips_tile_words_4", "ccl_strips_tile_words_8"};

/* Whether frames with these parameters need a kernel. */
static bool
is_needed (const CclStripsColumnsParameters *parameters, int kernel)
{
  const CclStripsParameters *p = &parameters->strips;
  const bool has_edges = p->tile_columns * p->tile_rows > 1;
  switch (kernel) {
  case MERGE:
    return has_edges || parameters->columns;
  case REDUCE:
    return has_edges && p->filtered; /* else the number kernel reduces */
  case FILTER:
    return has_edges && p->filtered;
  case WRITE_LABELS:
    return p->labels;
  case NUMBER:
  case FINISH:
    return !p->labels;
  default:
    return true;
  }
}

/* Queues the kernels one by one. */
static CclStatus
launch_kernels (
    Strips *strips, CclStripsColumnsParameters *parameters, CUstream stream, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && !status; i++) {
    if (is_needed (parameters, i))
      status = ccl_cuda_launch (strips->device, &strips->launches[i], parameters, stream, error);
  }
  return status;
}

static uint32_t
find_needed (const CclStripsColumnsParameters *parameters)
{
  uint32_t needed = 0;
  for (int i = 0; i < N_KERNELS; i++)
    needed |= (uint32_t)is_needed (parameters, i) << i;
  return needed;
}

/* Whether a kernel that ran with the parameters `before` depends on what differs now. */
static bool
is_changed (
    int kernel, const CclStripsColumnsParameters *before, const CclStripsColumnsParameters *now)
{
  const CclStripsParameters *a = &before->strips, *b = &now->strips;
  const bool same_options = a->threshold == b->threshold && a->invert == b->invert &&
                            a->min_area == b->min_area && a->max_area == b->max_area;
  const bool same_frame = a->frame == b->frame && a->frame_stride == b->frame_stride;
  const bool same_map = a->labels == b->labels && a->labels_stride == b->labels_stride;
  const bool same_values = before->values == now->values &&
                           before->value_stride == now->value_stride &&
                           before->value_bytes == now->value_bytes;
  return !same_options || (!same_frame && kernel == TILE) ||
         (!same_map && (kernel == TILE || kernel == WRITE_LABELS)) ||
         (!same_values && kernel == MERGE);
}

/* Updates a graph to its parameters; `before` are those of its last launch. */
static CclStatus
update_graph (
    Strips *strips, FrameGraph *frame, const CclStripsColumnsParameters *before, CclError *error)
{
  const CclStripsColumnsParameters *now = &frame->parameters;
  const uint32_t needed = find_needed (now);
  const bool is_stale = frame->is_stale;
  frame->is_stale = false;
  if (!frame->graph.graph || needed != frame->needed) {
    frame->needed = needed;
    return ccl_cuda_kernel_graph_build (&frame->graph, strips->device, strips->launches, N_KERNELS,
        needed, &frame->parameters, error);
  }
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && !status; i++) {
    if (is_stale || is_changed (i, before, now))
      status = ccl_cuda_kernel_graph_set (
          &frame->graph, strips->device, &strips->launches[i], i, &frame->parameters, error);
  }
  if (status)
    ccl_cuda_kernel_graph_clear (&frame->graph, strips->device);
  return status;
}

/* The graph, of those for this set of counters, that was launched for frames at this address; if
 * there is none, the one that was made first is to be replaced. */
static FrameGraph *
choose_graph (Strips *strips, CUdeviceptr address)
{
  uint32_t *oldest = &strips->oldest[strips->turn];
  for (uint32_t i = strips->turn; i < 2 * N_ADDRESSES; i += 2)
    if ((uintptr_t)strips->frames[i].parameters.strips.frame == address)
      return &strips->frames[i];
  FrameGraph *replaced = &strips->frames[2 * *oldest + strips->turn];
  *oldest = (*oldest + 1) % N_ADDRESSES;
  return replaced;
}

/* Sets what depends on the frame. The frame is there already. */
static void
set_input (const Strips *strips, CclStripsColumnsParameters *parameters, const CclCudaInput *input,
    const CclLabels *labels)
{
  const CclWordThreshold words = ccl_word_threshold (strips->format, input->options.threshold);
  CclStripsParameters *p = &parameters->strips;

  p->frame = (const uint8_t *)(uintptr_t)input->frame;
  p->frame_stride = input->frame_stride;
  p->vectorised = input->frame % 16 == 0 && input->frame_stride % 16 == 0;
  p->follows = false;
  p->threshold = ccl_pixel_bytes (strips->format) == 2 ? words.threshold : input->options.threshold;
  p->word_mask = words.mask;
  p->invert = input->options.invert ? UINT32_MAX : 0;
  p->min_area = input->options.min_area;
  p->max_area = input->options.max_area ? input->options.max_area : UINT32_MAX;
  p->filtered = p->min_area > 1 || p->max_area != UINT32_MAX;
  p->labels = labels ? labels->data : NULL;
  p->keeps_runs = labels || parameters->columns;
  p->labels_stride = labels ? labels->stride / sizeof (uint32_t) : 0;
  p->labels_vectorised = labels && (uintptr_t)labels->data % 16 == 0 && labels->stride % 16 == 0;
  if (!CUDACCL_STRIPS_HAS_VALUES (parameters->columns))
    return;
  parameters->values = input->intensity.data;
  parameters->value_stride = input->intensity.stride;
  parameters->value_bytes = ccl_pixel_bytes (input->intensity.format);
}

/* What the last kernel sets; the host polls it. */
static uint32_t *
finished_flag (const Strips *strips)
{
  return (uint32_t *)strips->table.pinned + 1;
}

/* Notes that the kernels of a frame are queued. */
static void
end_queue (Strips *strips, const CclLabels *labels, bool has_failed)
{
  strips->is_first = false;
  strips->counters_clean = !has_failed;
  strips->engine.finished = labels ? NULL : finished_flag (strips);
  strips->turn = !strips->turn;
}

static bool
strips_offer (CclCudaEngine *engine, const CclCudaInput *input, CclCudaFollowers *followers)
{
  Strips *strips = (Strips *)engine;
  _Static_assert(sizeof (CclStripsColumnsParameters) <= CUDACCL_MOST_FOLLOWER_PARAMETERS, "fit");
  _Static_assert((int)N_KERNELS <= (int)CUDACCL_MOST_FOLLOWERS, "fit");
  if (!strips->counters_clean || strips->is_first)
    return false;
  FrameGraph *frame = choose_graph (strips, input->frame);
  *finished_flag (strips) = 0;
  set_input (strips, &frame->parameters, input, NULL);
  frame->parameters.strips.follows = true;
  frame->is_stale = true;
  *followers = (CclCudaFollowers){
      .launches = strips->launches,
      .n = N_KERNELS,
      .needed = find_needed (&frame->parameters),
      .parameters = &frame->parameters,
      .parameters_size = sizeof frame->parameters,
      .mask = (const void *)(uintptr_t)input->frame,
      .turn = strips->turn,
  };
  return true;
}

static void
strips_settle (CclCudaEngine *engine, bool has_failed)
{
  end_queue ((Strips *)engine, NULL, has_failed);
}

static CclStatus
strips_queue (CclCudaEngine *engine, const CclCudaInput *input, const CclLabels *labels,
    CUstream stream, CclError *error)
{
  Strips *strips = (Strips *)engine;
  const CclCudaDriver *driver = strips->device->driver;
  FrameGraph *frame = choose_graph (strips, input->frame);
  CclStripsParameters *p = &frame->parameters.strips;
  const CclStripsColumnsParameters before = frame->parameters;

  *finished_flag (strips) = 0;
  set_input (strips, &frame->parameters, input, labels);
  CclStatus status = CUDACCL_OK;
  if (!strips->counters_clean) {
    status = ccl_cuda_call (driver, error,
        cuMemsetD8Async ((CUdeviceptr)(uintptr_t)p->chunk_count, 0,
            (p->n_chunks + 1) * sizeof (uint32_t), stream));
  }
  strips->counters_clean = false;
  /* While sizes change with each frame, updating graphs would take longer than they save. */
  const bool has_graph = ccl_cuda_kernel_graph_is_possible (strips->device) && !strips->is_first;
  if (has_graph) {
    if (!status)
      status = update_graph (strips, frame, &before, error);
    if (!status)
      status = ccl_cuda_call (driver, error, cuGraphLaunch (frame->graph.graph, stream));
  } else if (!status) {
    status = launch_kernels (strips, &frame->parameters, stream, error);
    frame->is_stale = true;
  }
  end_queue (strips, labels, status != CUDACCL_OK);
  return status;
}

static void
strips_read (CclCudaEngine *engine, CclTable *table)
{
  const Strips *strips = (const Strips *)engine;
  ccl_cuda_table_memory_read (
      &strips->table, strips->frames[0].parameters.strips.max_components, table);
}

static const CclCudaTableMemory *
strips_table (CclCudaEngine *engine)
{
  return &((Strips *)engine)->table;
}

static void
strips_free (CclCudaEngine *engine)
{
  Strips *strips = (Strips *)engine;
  for (uint32_t i = 0; i < 2 * N_ADDRESSES; i++)
    ccl_cuda_kernel_graph_clear (&strips->frames[i].graph, strips->device);
  ccl_cuda_table_memory_clear (&strips->table, strips->device);
  ccl_cuda_device_release (strips->device, &strips->scratch);
  free (strips);
}

/* The name of a kernel for plans with columns; NULL: it is that of other plans. */
static const char *
columns_kernel_name (const Strips *strips, int kernel)
{
  const uint32_t has_neighbours = CUDACCL_STRIPS_HAS_NEIGHBOURS (strips->columns);
  const uint32_t has_values = CUDACCL_STRIPS_HAS_VALUES (strips->columns);
  const uint32_t variant = has_neighbours + 2 * has_values;

  if (!strips->columns)
    return NULL;
  return kernel == MERGE && variant ? columns_merge_names[strips->strip_rows - 1][variant - 1]
                                    : columns_kernel_names[strips->strip_rows - 1][kernel];
}

/* Looks up the kernels. */
static CclStatus
find_kernels (Strips *strips, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && !status; i++) {
    CclCudaLaunch *launch = &strips->launches[i];
    const char *with_columns = columns_kernel_name (strips, i);
    const CclCudaImage *image =
        with_columns ? &ccl_cuda_image_strips_columns : &ccl_cuda_image_strips;
    launch->kernel = with_columns ? with_columns
                     : i == TILE && ccl_pixel_bytes (strips->format) == 2
                         ? word_tile_names[strips->strip_rows - 1]
                         : kernel_names[strips->strip_rows - 1][i];
    launch->is_dependent = i != TILE;
    status = ccl_cuda_device_find_kernel (
        strips->device, image, launch->kernel, &launch->function, error);
  }
  return status;
}

static void
set_grids (Strips *strips, const CclStripsParameters *p)
{
  const uint32_t n_tiles = p->tile_columns * p->tile_rows;
  const struct {
    uint32_t blocks, threads;
  } sizes[N_KERNELS] = {
      [TILE] = {n_tiles, CUDACCL_STRIPS_TILE_THREADS},
      [MERGE] = {strips->columns ? 2 * n_tiles : n_tiles,
          strips->columns ? CUDACCL_STRIPS_COLUMNS_THREADS : CUDACCL_STRIPS_MERGE_THREADS},
      [REDUCE] = {p->n_reduce_blocks, CUDACCL_STRIPS_NUMBER_THREADS},
      [FILTER] = {p->n_reduce_blocks, CUDACCL_STRIPS_NUMBER_THREADS},
      [NUMBER] = {p->n_reduce_blocks + p->n_chunks, CUDACCL_STRIPS_NUMBER_THREADS},
      [WRITE_LABELS] = {p->n_reduce_blocks + p->n_chunks + n_tiles, CUDACCL_STRIPS_NUMBER_THREADS},
      [FINISH] = {1, 1},
  };
  for (int i = 0; i < N_KERNELS; i++) {
    memcpy (strips->launches[i].grid, (uint32_t[3]){sizes[i].blocks, 1, 1},
        sizeof strips->launches[i].grid);
    memcpy (strips->launches[i].block, (uint32_t[3]){sizes[i].threads, 1, 1},
        sizeof strips->launches[i].block);
  }
}

/* Allocates what frames with these parameters need beyond what there is. Memory that is far too
 * large is given back. After an error nothing has changed. */
static CclStatus
allocate (Strips *strips, CclStripsColumnsParameters *p, CclError *error)
{
  const size_t size = ccl_strips_lay_out_columns (p, 0, strips->strip_rows);
  const bool is_wasteful = strips->scratch_size >= LARGE_SCRATCH && size < strips->scratch_size / 8;
  CUdeviceptr scratch = 0;
  CclStatus status = CUDACCL_OK;

  if (size > strips->scratch_size || is_wasteful)
    status = ccl_cuda_device_allocate (strips->device, size, &scratch, error);
  if (status == CUDACCL_OK)
    status = (p->columns ? ccl_cuda_table_memory_resize_with_features
                         : ccl_cuda_table_memory_resize) (
        &strips->table, strips->device, p->strips.max_components, strips->table_location, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_device_release (strips->device, &scratch);
    return status;
  }
  if (scratch) {
    ccl_cuda_device_release (strips->device, &strips->scratch);
    strips->scratch = scratch;
    strips->scratch_size = size;
  }
  return CUDACCL_OK;
}

/* Gives all graphs these parameters, with the addresses of the memory. */
static void
set_parameters (Strips *strips, CclStripsColumnsParameters *parameters)
{
  CclStripsParameters *p = &parameters->strips;
  ccl_strips_lay_out_columns (parameters, strips->scratch, strips->strip_rows);
  parameters->features = (CclFeatures *)(uintptr_t)strips->table.features;
  p->n_components = ccl_cuda_table_memory_head (&strips->table);
  p->finished = p->n_components + 1;
  p->rows = ccl_cuda_table_memory_rows (&strips->table);
  for (uint32_t i = 0; i < 2 * N_ADDRESSES; i++) {
    FrameGraph *frame = &strips->frames[i];
    frame->parameters = *parameters;
    frame->is_stale = true;
    if (i % 2) {
      frame->parameters.strips.chunk_count = p->next_chunk_count;
      frame->parameters.strips.next_chunk_count = p->chunk_count;
    }
  }
  strips->counters_clean = false;
}

/* The 8-byte units of a CclFeatures that are written for these columns: from the first to the last
 * that they have, or all if that is most. Whole lines cross the bus faster. */
static void
set_units (CclStripsColumnsParameters *p)
{
  const uint32_t n_units = sizeof (CclFeatures) / sizeof (uint64_t);
  uint32_t first = n_units, last = 0;
#define ADD(column, type, field, combine)                                                          \
  if (p->columns & CUDACCL_COLUMN_##column) {                                                      \
    const uint32_t unit = offsetof (CclFeatures, field) / sizeof (uint64_t);                       \
    first = first < unit ? first : unit;                                                           \
    last = last > unit ? last : unit;                                                              \
  }
  CUDACCL_FEATURES (ADD)
#undef ADD
  const bool writes_all = first <= last && 2 * (last - first + 1) > n_units;
  p->first_unit = writes_all ? 0 : first;
  p->n_units = writes_all ? n_units : last - first + 1;
}

static CclStatus
strips_resize (CclCudaEngine *engine, const CclLabellerPlan *plan, CclError *error)
{
  Strips *strips = (Strips *)engine;
  CclStripsColumnsParameters parameters = {.columns = strips->columns};
  CclStatus status = ccl_strips_set_geometry (&parameters.strips, plan, strips->strip_rows, error);
  if (!status)
    status = allocate (strips, &parameters, error);
  if (status)
    return status;
  if (parameters.columns)
    set_units (&parameters);
  set_grids (strips, &parameters.strips);
  set_parameters (strips, &parameters);
  strips->is_first = true;
  return CUDACCL_OK;
}

/* With 4-connectivity, what depends on neighbours needs the label map (strips-columns.cu). */
static bool
strips_measures (const CclLabellerPlan *plan)
{
  return plan->connectivity == CUDACCL_CONNECTIVITY_8 ||
         !CUDACCL_STRIPS_HAS_NEIGHBOURS (plan->columns);
}

static CclStatus
strips_new (CclCudaDevice *device, const CclAlgorithm *algorithm, const CclLabellerPlan *plan,
    CUstream stream, CclCudaEngine **engine, CclError *error)
{
  (void)stream; /* no preparatory work */
  Strips *strips = calloc (1, sizeof *strips);
  if (!strips)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
  strips->engine.klass = &ccl_cuda_strips_engine;
  strips->device = device;
  strips->format = plan->format;
  strips->columns = strips_measures (plan) ? plan->columns : 0;
  strips->table_location = plan->table_location;
  strips->strip_rows = plan->connectivity == CUDACCL_CONNECTIVITY_8 ? 2 : 1;
  CclStatus status = find_kernels (strips, error);
  if (status == CUDACCL_OK)
    status = strips_resize (&strips->engine, plan, error);
  if (status != CUDACCL_OK) {
    strips_free (&strips->engine);
    return status;
  }
  strips->is_first = false;
  if (!ccl_cuda_kernel_graph_is_possible (device))
    ccl_log (CUDACCL_LOG_WARNING,
        "the driver has no graphs, so kernels are queued one by one, which takes longer");
  *engine = &strips->engine;
  return CUDACCL_OK;
}

const CclCudaEngineClass ccl_cuda_strips_engine = {
    .takes_all_formats = true,
    .measures = strips_measures,
    .new = strips_new,
    .resize = strips_resize,
    .queue = strips_queue,
    .offer = strips_offer,
    .settle = strips_settle,
    .read = strips_read,
    .table = strips_table,
    .free = strips_free,
};
