/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "measure.h"

#include "images.h"
#include "labeller-class.h"
#include "launch.h"
#include "tuning.h"

#include <stdlib.h>

enum { THREADS = CUDACCL_MEASURE_THREADS };

static CclStatus
find_kernels (CclCudaMeasurer *self, CclError *error)
{
  CclStatus status = ccl_cuda_device_find_kernel (
      self->device, &ccl_cuda_image_measure, "ccl_measure_add", &self->add, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_find_kernel (
        self->device, &ccl_cuda_image_measure, "ccl_measure_finish", &self->finish, error);
  return status;
}

static CclStatus
allocate (CclCudaMeasurer *self, const CclLabellerPlan *plan, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  const size_t map_size = (size_t)plan->width * plan->height * sizeof (uint32_t);
  CUdeviceptr result = 0;

  self->sums_size = p->n_rows * sizeof (CclFeatures);
  CclStatus status = ccl_cuda_device_allocate (self->device, self->sums_size, &self->sums, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_device_allocate (self->device, sizeof (uint32_t), &self->greatest_label, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (self->device, map_size, &self->map, error);
  if (status == CUDACCL_OK && plan->table_location == CUDACCL_LOCATION_DEVICE)
    status = ccl_cuda_device_allocate (self->device, self->sums_size, &self->device_result, error);
  else if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        self->device, self->sums_size, &self->pinned_result, &result, error);
  if (status == CUDACCL_OK && plan->columns & CUDACCL_COLUMN_INTENSITY)
    status = ccl_cuda_upload_init (
        &self->upload, self->device, plan->width * sizeof (uint16_t), plan->height, error);
  p->sums = (CclFeatures *)self->sums;
  p->greatest_label = (uint32_t *)self->greatest_label;
  if (self->device_result)
    result = self->device_result;
  p->result = (CclFeatures *)result;
  return status;
}

CclCudaMeasurer *
ccl_cuda_measurer_new (CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error)
{
  const uint32_t most = ccl_plan_most_components (plan);
  CclCudaMeasurer *self = calloc (1, sizeof *self);

  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
    return NULL;
  }
  self->device = device;
  self->parameters = (CclMeasureParameters){
      .width = plan->width,
      .height = plan->height,
      .columns = plan->columns,
      .n_rows = plan->max_components < most ? plan->max_components : most,
  };
  if (find_kernels (self, error) != CUDACCL_OK || allocate (self, plan, error) != CUDACCL_OK)
    ccl_cuda_measurer_free (&self);
  return self;
}

const CclFeatures *
ccl_cuda_measurer_features (const CclCudaMeasurer *self)
{
  return self->device_result ? self->parameters.result : self->pinned_result;
}

CclLabels
ccl_cuda_measurer_map (const CclCudaMeasurer *self)
{
  return (CclLabels){(void *)self->map, self->parameters.width * sizeof (uint32_t)};
}

/* Finds the second plane of a frame in device memory, or queues its copy. */
static CclStatus
queue_values (CclCudaMeasurer *self, const CclFrame *frame, CUstream stream, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  const CclIntensity *values = &frame->intensity;

  p->value_bytes = ccl_pixel_bytes (values->format);
  p->values = values->data;
  p->value_stride = values->stride;
  if (frame->location == CUDACCL_LOCATION_DEVICE)
    return CUDACCL_OK;
  p->values = (const uint8_t *)self->upload.memory;
  p->value_stride = self->upload.stride;
  return ccl_cuda_upload_queue_samples (&self->upload, values->data, values->stride,
      p->width * p->value_bytes, p->height, stream, error);
}

static CclStatus
queue_kernels (CclCudaMeasurer *self, CUstream stream, CclError *error)
{
  CclMeasureParameters *p = &self->parameters;
  const uint32_t block_rows = CUDACCL_MEASURE_WARPS * CUDACCL_MEASURE_ROWS;
  const uint32_t n_blocks = divide_up (self->sums_size, THREADS * sizeof (uint32_t));
  const uint32_t most_blocks =
      ccl_cuda_blocks_of (self->device->n_multiprocessors, CUDACCL_MEASURE_FINISH_BLOCKS);
  const CclCudaLaunch add = {
      .function = self->add,
      .kernel = "ccl_measure_add",
      .grid = {divide_up (p->width, 32), divide_up (p->height, block_rows), 1},
      .block = {32 * CUDACCL_MEASURE_WARPS, 1, 1},
  };
  const CclCudaLaunch finish = {
      .function = self->finish,
      .kernel = "ccl_measure_finish",
      .grid = {n_blocks < most_blocks ? n_blocks : most_blocks, 1, 1},
      .block = {THREADS, 1, 1},
  };
  const CclStatus status = ccl_cuda_launch (self->device, &add, p, stream, error);
  return status == CUDACCL_OK ? ccl_cuda_launch (self->device, &finish, p, stream, error) : status;
}

CclStatus
ccl_cuda_measurer_queue (CclCudaMeasurer *self, const CclFrame *frame, const CclLabels *labels,
    CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = self->device->driver;
  CclStatus status = ccl_cuda_call (
      driver, error, cuMemsetD8Async (self->greatest_label, 0, sizeof (uint32_t), stream));

  if (status == CUDACCL_OK && !self->is_clean)
    status =
        ccl_cuda_call (driver, error, cuMemsetD8Async (self->sums, 0, self->sums_size, stream));
  self->is_clean = false;
  self->parameters.labels = labels->data;
  self->parameters.label_stride = labels->stride / sizeof (uint32_t);
  if (status == CUDACCL_OK && self->parameters.columns & CUDACCL_COLUMN_INTENSITY)
    status = queue_values (self, frame, stream, error);
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
  ccl_cuda_upload_clear (&measurer->upload);
  free (measurer);
}
