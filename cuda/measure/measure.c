/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "images.h"
#include "core/label/labeller-class.h"
#include "cuda/driver/tuning.h"

#include <stdlib.h>

enum { THREADS = CUDACCL_MEASURE_THREADS };

/* The kernel that adds what these columns need. */
static const char *
add_kernel (uint32_t columns)
{
  const bool has_values = columns & CUDACCL_COLUMN_INTENSITY;

  if (columns & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY))
    return has_values ? "ccl_measure_add_both" : "ccl_measure_add_neighbours";
  return has_values ? "ccl_measure_add_values" : "ccl_measure_add";
}

static CclStatus
plan_launches (CclCudaMeasurer *self, CclError *error)
{
  const CclMeasureParameters *p = &self->parameters;
  CclCudaDevice *device = self->memory.device;
  const uint32_t n_tiles = divide_up (p->width, CUDACCL_MEASURE_TILE_WIDTH);
  const uint32_t n_blocks = divide_up (self->sums_size, THREADS * sizeof (uint32_t));
  const uint32_t most_blocks =
      ccl_cuda_blocks_of (device->n_multiprocessors, CUDACCL_MEASURE_FINISH_BLOCKS);
  const CclCudaStep steps[CUDACCL_MEASURE_KERNELS] = {
      {add_kernel (p->columns), n_tiles, THREADS, true},
      {"ccl_measure_finish", n_blocks < most_blocks ? n_blocks : most_blocks, THREADS, true},
      {"ccl_measure_signal", 1, 1, true},
  };
  const CclStatus status = ccl_cuda_launch_plan (
      self->launches, device, &ccl_cuda_image_measure, steps, CUDACCL_MEASURE_KERNELS, error);

  self->launches[0].grid[1] = divide_up (p->height, CUDACCL_MEASURE_TILE_HEIGHT);
  return status;
}

/* The words of a CclFeatures that are written for these columns, a bit each: those that they have,
 * or all if most are. Whole lines cross the bus faster than lines with gaps. */
static uint32_t
words_of (uint32_t columns)
{
  uint32_t words = 0;
  _Static_assert(sizeof (CclFeatures) <= 32 * sizeof (uint32_t), "a bit for each word");
#define ADD(column, type, field, combine)                                                          \
  if (columns & CUDACCL_COLUMN_##column)                                                           \
    words |= (sizeof (type) == sizeof (uint64_t) ? 3u : 1u)                                        \
             << offsetof (CclFeatures, field) / sizeof (uint32_t);
  CUDACCL_FEATURES (ADD)
#undef ADD
  const uint32_t n_words = sizeof (CclFeatures) / sizeof (uint32_t);
  return 2 * (uint32_t)__builtin_popcount (words) > n_words ? UINT32_MAX : words;
}

/* Elements from row to row of the measurer's own label map, so that rows are aligned. */
static uint64_t
map_stride (uint32_t width)
{
  return round_up (width, 32);
}

static CclStatus
allocate (CclCudaMeasurer *self, const CclLabellerPlan *plan, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  CclCudaAllocations *memory = &self->memory;
  const size_t map_size = map_stride (plan->width) * plan->height * sizeof (uint32_t);
  CclStatus status = CUDACCL_OK;

  p->sums = ccl_cuda_allocate (memory, self->sums_size, &status, error);
  p->greatest_label = ccl_cuda_allocate (memory, sizeof *p->greatest_label, &status, error);
  self->map = ccl_cuda_allocate (memory, map_size, &status, error);
  p->finished =
      ccl_cuda_allocate_pinned (memory, sizeof *p->finished, &self->pinned_flag, &status, error);
  p->result = plan->table_location == CUDACCL_LOCATION_DEVICE
                  ? ccl_cuda_allocate (memory, self->sums_size, &status, error)
                  : ccl_cuda_allocate_pinned (
                        memory, self->sums_size, &self->pinned_result, &status, error);
  return status;
}

CclStatus
ccl_cuda_measurer_new (
    CclCudaDevice *device, const CclLabellerPlan *plan, CclCudaMeasurer **measurer, CclError *error)
{
  const uint32_t most = ccl_plan_most_components (plan);
  CclCudaMeasurer *self = *measurer = calloc (1, sizeof *self);

  if (!self)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
  self->memory.device = device;
  self->parameters = (CclMeasureParameters){
      .width = plan->width,
      .height = plan->height,
      .connectivity = plan->connectivity,
      .columns = plan->columns,
      .words = words_of (plan->columns),
      .n_rows = plan->max_components < most ? plan->max_components : most,
  };
  self->sums_size = self->parameters.n_rows * sizeof (CclFeatures);
  CclStatus status = plan_launches (self, error);
  if (status == CUDACCL_OK)
    status = allocate (self, plan, error);
  if (status != CUDACCL_OK)
    ccl_cuda_measurer_free (measurer);
  return status;
}

const CclFeatures *
ccl_cuda_measurer_features (const CclCudaMeasurer *self)
{
  return self->pinned_result ? self->pinned_result : self->parameters.result;
}

const uint32_t *
ccl_cuda_measurer_finished (const CclCudaMeasurer *self)
{
  return self->pinned_flag;
}

CclLabels
ccl_cuda_measurer_map (const CclCudaMeasurer *self)
{
  return (CclLabels){self->map, map_stride (self->parameters.width) * sizeof (uint32_t)};
}

/* Clears what a failed run has left. */
static CclStatus
clear (CclCudaMeasurer *self, CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = self->memory.device->driver;
  const CclMeasureParameters *p = &self->parameters;
  const CclStatus status = ccl_cuda_call (driver, error,
      cuMemsetD8Async (
          (CUdeviceptr)(uintptr_t)p->greatest_label, 0, sizeof *p->greatest_label, stream));
  return status == CUDACCL_OK
             ? ccl_cuda_call (driver, error,
                   cuMemsetD8Async ((CUdeviceptr)(uintptr_t)p->sums, 0, self->sums_size, stream))
             : status;
}

CclStatus
ccl_cuda_measurer_queue (CclCudaMeasurer *self, const CclIntensity *intensity,
    const CclLabels *labels, CUstream stream, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  CclStatus status = self->is_clean ? CUDACCL_OK : clear (self, stream, error);

  *(uint32_t *)self->pinned_flag = 0;
  self->is_clean = false;
  p->labels = labels->data;
  p->label_stride = labels->stride / sizeof (uint32_t);
  p->values = intensity->data;
  p->value_stride = intensity->stride;
  p->value_bytes = ccl_pixel_bytes (intensity->format);
  if (status == CUDACCL_OK)
    status = ccl_cuda_launch_all (
        self->memory.device, self->launches, CUDACCL_MEASURE_KERNELS, p, stream, error);
  self->is_clean = status == CUDACCL_OK;
  return status;
}

void
ccl_cuda_measurer_free (CclCudaMeasurer **self)
{
  CclCudaMeasurer *measurer = *self;
  if (!measurer)
    return;
  *self = NULL;
  ccl_cuda_allocations_clear (&measurer->memory);
  free (measurer);
}
