/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "images.h"
#include "core/label/labeller-class.h"
#include "cuda/driver/launch.h"
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
find_kernels (CclCudaMeasurer *self, CclError *error)
{
  const struct {
    const char *name;
    CUfunction *function;
  } kernels[] = {
      {add_kernel (self->parameters.columns), &self->add},
      {"ccl_measure_finish", &self->finish},
      {"ccl_measure_signal", &self->signal},
  };
  CclStatus status = CUDACCL_OK;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (
        self->device, &ccl_cuda_image_measure, kernels[i].name, kernels[i].function, error);
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
  const size_t map_size = map_stride (plan->width) * plan->height * sizeof (uint32_t);
  CUdeviceptr result = 0, flag = 0;

  self->sums_size = p->n_rows * sizeof (CclFeatures);
  CclStatus status = ccl_cuda_device_allocate (self->device, self->sums_size, &self->sums, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_device_allocate (self->device, sizeof (uint32_t), &self->greatest_label, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (self->device, map_size, &self->map, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        self->device, sizeof (uint32_t), &self->pinned_flag, &flag, error);
  if (status == CUDACCL_OK && plan->table_location == CUDACCL_LOCATION_DEVICE)
    status = ccl_cuda_device_allocate (self->device, self->sums_size, &self->device_result, error);
  else if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        self->device, self->sums_size, &self->pinned_result, &result, error);
  p->sums = (CclFeatures *)self->sums;
  p->greatest_label = (uint32_t *)self->greatest_label;
  p->finished = (uint32_t *)flag;
  if (self->device_result)
    result = self->device_result;
  p->result = (CclFeatures *)result;
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
  self->device = device;
  self->parameters = (CclMeasureParameters){
      .width = plan->width,
      .height = plan->height,
      .connectivity = plan->connectivity,
      .columns = plan->columns,
      .words = words_of (plan->columns),
      .n_rows = plan->max_components < most ? plan->max_components : most,
  };
  CclStatus status = find_kernels (self, error);
  if (status == CUDACCL_OK)
    status = allocate (self, plan, error);
  if (status != CUDACCL_OK)
    ccl_cuda_measurer_free (measurer);
  return status;
}

const CclFeatures *
ccl_cuda_measurer_features (const CclCudaMeasurer *self)
{
  return self->device_result ? self->parameters.result : self->pinned_result;
}

const uint32_t *
ccl_cuda_measurer_finished (const CclCudaMeasurer *self)
{
  return self->pinned_flag;
}

CclLabels
ccl_cuda_measurer_map (const CclCudaMeasurer *self)
{
  return (CclLabels){(void *)self->map, map_stride (self->parameters.width) * sizeof (uint32_t)};
}

static CclStatus
queue_kernels (CclCudaMeasurer *self, CUstream stream, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  const uint32_t n_blocks = divide_up (self->sums_size, THREADS * sizeof (uint32_t));
  const uint32_t most_blocks =
      ccl_cuda_blocks_of (self->device->n_multiprocessors, CUDACCL_MEASURE_FINISH_BLOCKS);
  const CclCudaLaunch launches[] = {
      {
          .function = self->add,
          .kernel = add_kernel (p->columns),
          .grid = {divide_up (p->width, CUDACCL_MEASURE_TILE_WIDTH),
              divide_up (p->height, CUDACCL_MEASURE_TILE_HEIGHT), 1},
          .block = {THREADS, 1, 1},
          .is_dependent = true,
      },
      {
          .function = self->finish,
          .kernel = "ccl_measure_finish",
          .grid = {n_blocks < most_blocks ? n_blocks : most_blocks, 1, 1},
          .block = {THREADS, 1, 1},
          .is_dependent = true,
      },
      {
          .function = self->signal,
          .kernel = "ccl_measure_signal",
          .grid = {1, 1, 1},
          .block = {1, 1, 1},
          .is_dependent = true,
      },
  };
  CclStatus status = CUDACCL_OK;
  for (size_t i = 0; i < sizeof launches / sizeof *launches && status == CUDACCL_OK; i++)
    status = ccl_cuda_launch (self->device, &launches[i], p, stream, error);
  return status;
}

/* Clears what a failed run has left. */
static CclStatus
clear (CclCudaMeasurer *self, CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = self->device->driver;
  const CclStatus status = ccl_cuda_call (
      driver, error, cuMemsetD8Async (self->greatest_label, 0, sizeof (uint32_t), stream));
  return status == CUDACCL_OK ? ccl_cuda_call (driver, error,
                                    cuMemsetD8Async (self->sums, 0, self->sums_size, stream))
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
    status = queue_kernels (self, stream, error);
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
  ccl_cuda_device_release (measurer->device, &measurer->sums);
  ccl_cuda_device_release (measurer->device, &measurer->greatest_label);
  ccl_cuda_device_release (measurer->device, &measurer->map);
  ccl_cuda_device_release (measurer->device, &measurer->device_result);
  ccl_cuda_device_release_pinned (measurer->device, &measurer->pinned_result);
  ccl_cuda_device_release_pinned (measurer->device, &measurer->pinned_flag);
  free (measurer);
}
