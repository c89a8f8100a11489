/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of volumes on a GPU. volume.cu describes the algorithm. */
#include <cudaccl/device.h>

#include <stdlib.h>

#include "images.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/runner.h"
#include "cuda/driver/tuning.h"
#include "cuda/driver/upload.h"
#include "core/volume/volume-class.h"
#include "volume-parameters.h"

enum {
  FIND_RUNS,
  MERGE,
  SUM_AREAS,
  NUMBER_ROOTS,
  NUMBER_CHUNKS,
  SUM_VOXELS,
  WRITE_TABLE,
  WRITE_LABELS,
  N_KERNELS,
};

/* Where the rows begin in the pinned memory of the result, behind their number. */
enum { ROWS_OFFSET = 64 };

typedef struct CudaVolumeLabeller {
  CclVolumeLabeller base;
  CclCudaRunner runner;
  CclCudaLaunch launches[N_KERNELS];
  CclCudaUpload upload; /* of volumes in host memory; its rows are those of all slices */
  CclVolumeParameters parameters;
  void *result; /* pinned: the number of components, then the rows */
} CudaVolumeLabeller;

static uint32_t
lesser (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* The least n for which 1 << n is not below the value. */
static uint32_t
ceil_log2 (uint32_t value)
{
  uint32_t n = 0;
  while (n < 31 && 1u << n < value)
    n++;
  return n;
}

/* Tiles have as many words of a row as there are, up to 32, then as many rows, then slices. */
static void
plan_tiles (CclVolumeParameters *p, uint32_t n_multiprocessors)
{
  const uint32_t tile_shift = ceil_log2 (CUDACCL_VOLUME_THREADS);
  p->tile_x_shift = lesser (ceil_log2 (p->row_words), 5);
  p->tile_y_shift = lesser (ceil_log2 (p->height), tile_shift - p->tile_x_shift);
  p->tile_z_shift = tile_shift - p->tile_x_shift - p->tile_y_shift;
  p->tile_columns = divide_up (p->row_words, 1u << p->tile_x_shift);
  p->tile_rows = divide_up (p->height, 1u << p->tile_y_shift);
  p->tile_slices = divide_up (p->depth, 1u << p->tile_z_shift);

  /* Blocks that sum have up to eight tiles, but not so many that multiprocessors stay idle. */
  const uint32_t tiles_per_block = p->tile_columns * p->tile_rows * p->tile_slices /
                                   (CUDACCL_VOLUME_SUM_BLOCKS * n_multiprocessors);
  p->sum_depth = tiles_per_block < 1 ? 1 : lesser (tiles_per_block, 8);
}

static void
plan_geometry (CclVolumeParameters *p, const CclVolumePlan *plan, uint32_t n_multiprocessors)
{
  p->width = plan->width;
  p->height = plan->height;
  p->depth = plan->depth;
  p->connectivity = plan->connectivity;
  p->row_words = divide_up (plan->width, 32);
  p->n_words = p->row_words * plan->height * plan->depth;
  p->n_chunks = divide_up (p->n_words, CUDACCL_VOLUME_CHUNK_WORDS);
  /* A word has at most one run for two of its voxels. Rounded up to a power of two, elements are
   * never more than voxels, so that their indices leave the upper bit free. */
  p->element_shift = ceil_log2 (divide_up (lesser (plan->width, 32), 2));
  p->n_rows =
      (uint32_t)lesser (plan->max_components, (uint32_t)ccl_volume_plan_most_components (plan));
  plan_tiles (p, n_multiprocessors);
}

static CclStatus
allocate_memory (CudaVolumeLabeller *self, CclError *error)
{
  CclVolumeParameters *p = &self->parameters;
  CclCudaAllocations *memory = &self->runner.memory;
  const size_t n_elements = (size_t)p->n_words << p->element_shift;
  CclStatus status = ccl_cuda_upload_init (
      &self->upload, self->runner.device, p->width, p->height * p->depth, error);

  p->words = ccl_cuda_allocate (memory, p->n_words * sizeof *p->words, &status, error);
  p->parents = ccl_cuda_allocate (memory, n_elements * sizeof *p->parents, &status, error);
  p->areas = ccl_cuda_allocate (memory, n_elements * sizeof *p->areas, &status, error);
  p->chunk_offsets =
      ccl_cuda_allocate (memory, p->n_chunks * sizeof *p->chunk_offsets, &status, error);
  p->accumulators = ccl_cuda_allocate (memory, p->n_rows * sizeof *p->accumulators, &status, error);
  p->n_components = ccl_cuda_allocate (memory, sizeof *p->n_components, &status, error);
  uint8_t *result = ccl_cuda_allocate_pinned (
      memory, ROWS_OFFSET + p->n_rows * sizeof *p->rows, &self->result, &status, error);
  if (status != CUDACCL_OK)
    return status;
  p->result_count = (uint32_t *)result;
  p->rows = (CclVolumeComponent *)(result + ROWS_OFFSET);
  return CUDACCL_OK;
}

static CclStatus
plan_launches (CudaVolumeLabeller *self, CclError *error)
{
  const CclVolumeParameters *p = &self->parameters;
  const uint32_t slice_tiles = p->tile_columns * p->tile_rows;
  const uint32_t n_tiles = slice_tiles * p->tile_slices;
  const CclCudaStep steps[N_KERNELS] = {
      [FIND_RUNS] = {"ccl_volume_find_runs", n_tiles, CUDACCL_VOLUME_THREADS},
      [MERGE] = {"ccl_volume_merge", n_tiles, CUDACCL_VOLUME_THREADS},
      [SUM_AREAS] = {"ccl_volume_sum_areas", n_tiles, CUDACCL_VOLUME_THREADS},
      [NUMBER_ROOTS] = {"ccl_volume_number_roots", p->n_chunks, CUDACCL_VOLUME_THREADS},
      [NUMBER_CHUNKS] = {"ccl_volume_number_chunks", 1, CUDACCL_SCAN_THREADS},
      [SUM_VOXELS] = {"ccl_volume_sum_voxels",
          slice_tiles * divide_up (p->tile_slices, p->sum_depth), CUDACCL_VOLUME_THREADS},
      [WRITE_TABLE] = {"ccl_volume_write_table", divide_up (p->n_rows, CUDACCL_VOLUME_THREADS),
          CUDACCL_VOLUME_THREADS},
      [WRITE_LABELS] = {"ccl_volume_write_labels", n_tiles, CUDACCL_VOLUME_THREADS},
  };
  return ccl_cuda_launch_plan (
      self->launches, self->runner.device, &ccl_cuda_image_volume, steps, N_KERNELS, error);
}

/* Allocates everything that the labeller needs, the context being current. */
static CclStatus
allocate (void *object, CclError *error)
{
  const CclStatus status = plan_launches (object, error);
  return status == CUDACCL_OK ? allocate_memory (object, error) : status;
}

/* Queues the copy of a volume from host memory: at once if its slices follow each other row after
 * row, else slice by slice. */
static CclStatus
upload_volume (CudaVolumeLabeller *self, const CclVolume *volume, CclError *error)
{
  const CclVolumePlan *plan = &self->base.plan;
  const uint8_t *slice = volume->data;
  if (volume->slice_stride == volume->row_stride * plan->height)
    return ccl_cuda_upload_queue_rows (&self->upload, 0, plan->height * plan->depth, slice,
        volume->row_stride, self->runner.stream, error);
  CclStatus status = CUDACCL_OK;
  for (uint32_t z = 0; z < plan->depth && status == CUDACCL_OK; z++, slice += volume->slice_stride)
    status = ccl_cuda_upload_queue_rows (&self->upload, z * plan->height, plan->height, slice,
        volume->row_stride, self->runner.stream, error);
  return status;
}

/* Sets the parameters that may differ from run to run. */
static void
set_run (CudaVolumeLabeller *self, const CclVolume *volume, const CclLabellerOptions *options,
    const CclVolumeLabels *labels)
{
  CclVolumeParameters *p = &self->parameters;
  if (volume->location == CUDACCL_LOCATION_DEVICE) {
    p->volume = volume->data;
    p->row_stride = volume->row_stride;
    p->slice_stride = volume->slice_stride;
  } else {
    p->volume = (const uint8_t *)self->upload.memory;
    p->row_stride = self->upload.stride;
    p->slice_stride = self->upload.stride * p->height;
  }
  p->vectorised = ((uintptr_t)p->volume | p->row_stride | p->slice_stride) % 16 == 0;
  p->threshold = options->threshold;
  p->invert = options->invert ? UINT32_MAX : 0;
  p->min_area = options->min_area;
  p->max_area = options->max_area ? options->max_area : UINT32_MAX;
  p->filtered = p->min_area > 1 || options->max_area > 0;
  p->labels = labels ? labels->data : NULL;
  p->label_row = labels ? labels->row_stride / sizeof *p->labels : 0;
  p->label_slice = labels ? labels->slice_stride / sizeof *p->labels : 0;
}

static CclStatus
queue_kernels (CudaVolumeLabeller *self, CclError *error)
{
  CclCudaRunner *runner = &self->runner;
  CclVolumeParameters *p = &self->parameters;
  CclStatus status = ccl_cuda_call (runner->device->driver, error,
      cuMemsetD8Async ((CUdeviceptr)(uintptr_t)p->accumulators, 0xff,
          p->n_rows * sizeof *p->accumulators, runner->stream));

  for (int i = 0; i < N_KERNELS && status == CUDACCL_OK; i++)
    if ((i != SUM_AREAS || p->filtered) && (i != WRITE_LABELS || p->labels))
      status = ccl_cuda_launch (runner->device, &self->launches[i], p, runner->stream, error);
  return status;
}

static void
read_table (const CudaVolumeLabeller *self, CclVolumeTable *table)
{
  table->n_components = *(const uint32_t *)self->result;
  table->n_rows = lesser (table->n_components, self->parameters.n_rows);
  table->rows = (const CclVolumeComponent *)((const char *)self->result + ROWS_OFFSET);
}

static CclStatus
cuda_volume_labeller_run (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error)
{
  CudaVolumeLabeller *self = (CudaVolumeLabeller *)labeller;

  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  if (volume->location == CUDACCL_LOCATION_HOST)
    status = upload_volume (self, volume, error);
  set_run (self, volume, options, labels);
  if (status == CUDACCL_OK)
    status = queue_kernels (self, error);
  status = ccl_cuda_runner_wait (&self->runner, status, NULL, error);
  if (status == CUDACCL_OK)
    read_table (self, table);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static void
release (void *object)
{
  ccl_cuda_upload_clear (&((CudaVolumeLabeller *)object)->upload);
}

static void
cuda_volume_labeller_free (CclVolumeLabeller *labeller)
{
  CudaVolumeLabeller *self = (CudaVolumeLabeller *)labeller;
  ccl_cuda_runner_close (&self->runner, release, self);
  free (self);
}

static const CclVolumeLabellerClass cuda_volume_labeller_class = {
    .name = "cuda",
    .run = cuda_volume_labeller_run,
    .free = cuda_volume_labeller_free,
};

CclVolumeLabeller *
ccl_cuda_volume_labeller_new (CclCudaDevice *device, const CclVolumePlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_volume_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  CudaVolumeLabeller *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller of volumes");
    return NULL;
  }
  self->base.klass = &cuda_volume_labeller_class;
  self->base.plan = *plan;
  plan_geometry (&self->parameters, plan, (uint32_t)device->n_multiprocessors);
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) == CUDACCL_OK)
    return &self->base;
  cuda_volume_labeller_free (&self->base);
  return NULL;
}

CclStatus
ccl_cuda_volume_labeller_set_stream (CclVolumeLabeller *labeller, void *stream, CclError *error)
{
  if (!labeller || labeller->klass != &cuda_volume_labeller_class)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only a labeller of a GPU has a stream");
  CudaVolumeLabeller *self = (CudaVolumeLabeller *)labeller;
  ccl_cuda_runner_set_stream (&self->runner, stream);
  return CUDACCL_OK;
}
