/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "values-tiles.h"

#include "pictures/error.h"
#include "plan.h"

#include <stdlib.h>

struct ValuesTiles {
  const ValuesPicture *picture;
  const CclTiledPlan *plan;
  CclValuesLabeller *labeller;
  uint32_t n_planned; /* layers of the labeller; 0: there is none */
  void *copy, *map;   /* on a GPU: values and labels of these layers */
};

size_t
values_bytes (CclValueType type)
{
  return (size_t)1 << (type < CUDACCL_VALUE_TYPE_REAL_32 ? type : type - 2);
}

ValuesTiles *
values_tiles_new (const ValuesPicture *picture, const CclTiledPlan *plan, CclError *error)
{
  ValuesTiles *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  self->picture = picture;
  self->plan = plan;
  return self;
}

static void
clear (ValuesTiles *self)
{
  ccl_values_labeller_free (&self->labeller);
  if (self->plan->device) {
    ccl_cuda_memory_free (self->plan->device, &self->copy);
    ccl_cuda_memory_free (self->plan->device, &self->map);
  }
  self->n_planned = 0;
}

void
values_tiles_free (ValuesTiles *self)
{
  if (!self)
    return;
  clear (self);
  free (self);
}

static CclValuesPlan
plan_of (const ValuesTiles *self, uint32_t n_layers)
{
  const CclTiledPlan *plan = self->plan;

  return (CclValuesPlan){.size = sizeof (CclValuesPlan),
      .width = (uint32_t)plan->width,
      .height = is_frame (plan) ? n_layers : (uint32_t)plan->height,
      .depth = is_frame (plan) ? 1 : n_layers,
      .connectivity = plan->connectivity,
      .type = self->picture->type,
      .zero_is_background = self->picture->zero_is_background,
      .nan = CUDACCL_NAN_IS_BACKGROUND};
}

/* Makes a labeller for that many layers, unless there is one. */
static CclStatus
prepare (ValuesTiles *self, const CclValuesPlan *plan, uint32_t n_layers, CclError *error)
{
  const size_t n = (size_t)plan->width * plan->height * plan->depth;
  CclCudaDevice *const device = self->plan->device;
  CclStatus status = CUDACCL_OK;

  if (self->n_planned == n_layers)
    return CUDACCL_OK;
  clear (self);
  self->labeller = device ? ccl_cuda_values_labeller_new (device, plan, error)
                          : ccl_cpu_values_labeller_new (plan, error);
  if (!self->labeller)
    return error->status;
  if (device)
    status = ccl_cuda_memory_new (device, n * values_bytes (plan->type), &self->copy, error);
  if (device && status == CUDACCL_OK)
    status = ccl_cuda_memory_new (device, n * sizeof (uint32_t), &self->map, error);
  if (status == CUDACCL_OK)
    self->n_planned = n_layers;
  return status;
}

/* Labels values on the GPU, with copies to it and back. */
static CclStatus
run_on_gpu (ValuesTiles *self, const CclValuesPlan *plan, CclValues values, CclVolumeLabels map,
    uint32_t *n, CclError *error)
{
  const size_t n_pixels = (size_t)plan->width * plan->height * plan->depth;
  CclCudaDevice *const device = self->plan->device;
  void *const labels = map.data;
  CclStatus status = ccl_cuda_memory_upload (
      device, values.data, self->copy, n_pixels * values_bytes (plan->type), error);

  values.data = self->copy;
  values.location = CUDACCL_LOCATION_DEVICE;
  map.data = self->map;
  if (status == CUDACCL_OK)
    status = ccl_values_labeller_run (self->labeller, &values, &map, n, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_memory_download (device, self->map, labels, n_pixels * sizeof (uint32_t), error);
  return status;
}

CclStatus
values_tiles_label (ValuesTiles *self, uint32_t n_layers, const void *values,
    const uint8_t *foreground, uint32_t *labels, uint32_t *n, CclError *error)
{
  const ValuesPicture *picture = self->picture;
  const CclValuesPlan plan = plan_of (self, n_layers);
  const size_t row = plan.width * values_bytes (plan.type), map_row = plan.width * sizeof *labels;
  const CclValues from = {values, row, row * plan.height};
  const CclVolumeLabels to = {labels, map_row, map_row * plan.height};

  if (picture->has_foreground || picture->tolerance > 0)
    return ccl_label_similar_values (
        &plan, &from, picture->is_signed, picture->tolerance, foreground, &to, n, error);
  const CclStatus status = prepare (self, &plan, n_layers, error);
  if (status != CUDACCL_OK)
    return status;
  if (self->plan->device)
    return run_on_gpu (self, &plan, from, to, n, error);
  return ccl_values_labeller_run (self->labeller, &from, &to, n, error);
}
