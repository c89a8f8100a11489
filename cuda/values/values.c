/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of values on a GPU. values.cu describes the algorithm. */
#include <cudaccl/device.h>

#include <stdlib.h>

#include "images.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/runner.h"
#include "core/values/values-class.h"
#include "values.h"

enum {
  LABEL_TILES,
  MERGE_TILES,
  NUMBER_ROOTS,
  NUMBER_CHUNKS,
  WRITE_LABELS,
  N_KERNELS,
};

typedef struct CudaValuesLabeller {
  CclValuesLabeller base;
  CclCudaRunner runner;
  CclCudaLaunch launches[N_KERNELS];
  CclValuesParameters parameters;
  void *n_components; /* pinned */
} CudaValuesLabeller;

/* The names of a type's kernels. */
#define TYPE_KERNELS(type)                                                                         \
  {                                                                                                \
    "ccl_values_label_tiles_" type, "ccl_values_merge_tiles_" type                                 \
  }
static const char *const tile_kernels[][2] = {
    [CUDACCL_VALUE_TYPE_8] = TYPE_KERNELS ("8"),
    [CUDACCL_VALUE_TYPE_16] = TYPE_KERNELS ("16"),
    [CUDACCL_VALUE_TYPE_32] = TYPE_KERNELS ("32"),
    [CUDACCL_VALUE_TYPE_64] = TYPE_KERNELS ("64"),
    [CUDACCL_VALUE_TYPE_REAL_32] = TYPE_KERNELS ("real_32"),
    [CUDACCL_VALUE_TYPE_REAL_64] = TYPE_KERNELS ("real_64"),
};

/* With neighbours at faces only, the comparisons with pixels to the left, above and behind show
 * which unions are not needed. */
static void
plan_neighbours (CclValuesParameters *p, uint32_t connectivity)
{
  const int most_steps = connectivity == 26 ? 3 : connectivity == 4 || connectivity == 6 ? 1 : 2;

  for (int dz = p->depth > 1 ? -1 : 0; dz <= 0; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        const int n_steps = abs (dx) + abs (dy) + abs (dz);
        const uint32_t bit = CUDACCL_VALUES_NEIGHBOUR (dx, dy, dz);
        const bool is_before = dz < 0 || dy < 0 || (dy == 0 && dx < 0);
        if (is_before && n_steps <= most_steps)
          p->neighbours |= bit;
        if (n_steps > 0 &&
            (most_steps == 1 ? n_steps <= 2 && dx <= 0 && dy <= 0 : dy <= 0 || p->depth > 1))
          p->compared |= bit;
      }
}

void
ccl_cuda_values_plan_geometry (CclValuesParameters *p, const CclValuesPlan *plan)
{
  p->width = plan->width;
  p->height = plan->height;
  p->depth = plan->depth;
  p->zero_is_background = plan->zero_is_background;
  p->nan_is_background = plan->nan == CUDACCL_NAN_IS_BACKGROUND;
  p->n_pixels = plan->width * plan->height * plan->depth;
  p->n_chunks = divide_up (p->n_pixels, 1u << CUDACCL_VALUES_CHUNK_SHIFT);
  p->tile_z_shift = plan->depth > 1 ? CUDACCL_VALUES_TILE_ROWS_SHIFT / 2 : 0;
  p->tile_y_shift = CUDACCL_VALUES_TILE_ROWS_SHIFT - p->tile_z_shift;
  p->tile_columns = divide_up (plan->width, 32);
  p->tile_rows = divide_up (plan->height, 1u << p->tile_y_shift);
  plan_neighbours (p, plan->connectivity);
}

static CclStatus
allocate_memory (CudaValuesLabeller *self, CclError *error)
{
  CclValuesParameters *p = &self->parameters;
  CclCudaAllocations *memory = &self->runner.memory;
  CclStatus status = CUDACCL_OK;

  p->parents = ccl_cuda_allocate (memory, (size_t)p->n_pixels * sizeof *p->parents, &status, error);
  p->chunk_offsets =
      ccl_cuda_allocate (memory, p->n_chunks * sizeof *p->chunk_offsets, &status, error);
  p->n_components = ccl_cuda_allocate_pinned (
      memory, sizeof *p->n_components, &self->n_components, &status, error);
  return status;
}

static CclStatus
plan_launches (CudaValuesLabeller *self, CclError *error)
{
  const CclValuesParameters *p = &self->parameters;
  const char *const *of_tiles = tile_kernels[self->base.plan.type];
  const uint32_t n_tiles =
      p->tile_columns * p->tile_rows * divide_up (p->depth, 1u << p->tile_z_shift);
  const CclCudaStep steps[N_KERNELS] = {
      [LABEL_TILES] = {of_tiles[0], n_tiles, CUDACCL_VALUES_THREADS},
      [MERGE_TILES] = {of_tiles[1], n_tiles, CUDACCL_VALUES_THREADS},
      [NUMBER_ROOTS] = {"ccl_values_number_roots", p->n_chunks, CUDACCL_VALUES_THREADS},
      [NUMBER_CHUNKS] = {"ccl_values_number_chunks", 1, CUDACCL_SCAN_THREADS},
      [WRITE_LABELS] = {"ccl_values_write_labels", n_tiles, CUDACCL_VALUES_THREADS},
  };
  return ccl_cuda_launch_plan (
      self->launches, self->runner.device, &ccl_cuda_image_values, steps, N_KERNELS, error);
}

/* Allocates everything that the labeller needs, the context being current. */
static CclStatus
allocate (void *object, CclError *error)
{
  const CclStatus status = plan_launches (object, error);
  return status == CUDACCL_OK ? allocate_memory (object, error) : status;
}

static CclStatus
cuda_values_labeller_run (CclValuesLabeller *labeller, const CclValues *values,
    const CclVolumeLabels *labels, uint32_t *n_components, CclError *error)
{
  CudaValuesLabeller *self = (CudaValuesLabeller *)labeller;
  CclCudaRunner *runner = &self->runner;
  CclValuesParameters *p = &self->parameters;
  CclStatus status = ccl_cuda_runner_enter (runner, error);

  if (status != CUDACCL_OK)
    return status;
  p->values = values->data;
  p->row_stride = values->row_stride;
  p->slice_stride = values->slice_stride;
  p->labels = labels ? labels->data : NULL;
  p->label_row = labels ? labels->row_stride / sizeof *p->labels : 0;
  p->label_slice = labels ? labels->slice_stride / sizeof *p->labels : 0;
  status = ccl_cuda_launch_all (runner->device, self->launches,
      p->labels ? N_KERNELS : WRITE_LABELS, p, runner->stream, error);
  status = ccl_cuda_runner_wait (runner, status, NULL, error);
  if (status == CUDACCL_OK)
    *n_components = *(const uint32_t *)self->n_components;
  ccl_cuda_device_leave (runner->device);
  return status;
}

static void
cuda_values_labeller_free (CclValuesLabeller *labeller)
{
  CudaValuesLabeller *self = (CudaValuesLabeller *)labeller;
  ccl_cuda_runner_close (&self->runner, NULL, NULL);
  free (self);
}

static const CclValuesLabellerClass cuda_values_labeller_class = {
    .name = "cuda",
    .location = CUDACCL_LOCATION_DEVICE,
    .run = cuda_values_labeller_run,
    .free = cuda_values_labeller_free,
};

CclValuesLabeller *
ccl_cuda_values_labeller_new (CclCudaDevice *device, const CclValuesPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  CclValuesPlan complete;
  if (ccl_values_plan_complete (&complete, plan, error) != CUDACCL_OK)
    return NULL;
  CudaValuesLabeller *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller of values");
    return NULL;
  }
  self->base.klass = &cuda_values_labeller_class;
  self->base.plan = complete;
  ccl_cuda_values_plan_geometry (&self->parameters, &complete);
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) == CUDACCL_OK)
    return &self->base;
  cuda_values_labeller_free (&self->base);
  return NULL;
}

CclStatus
ccl_cuda_values_labeller_set_stream (CclValuesLabeller *labeller, void *stream, CclError *error)
{
  CudaValuesLabeller *self = (CudaValuesLabeller *)labeller;

  if (!labeller || labeller->klass != &cuda_values_labeller_class)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "only a labeller of values on a GPU has a stream");
  ccl_cuda_runner_set_stream (&self->runner, stream);
  return CUDACCL_OK;
}
