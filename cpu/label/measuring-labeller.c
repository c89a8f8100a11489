/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A labeller around that of an algorithm, for plans with columns. */
#include "algorithms.h"
#include "cpu/base/errors.h"
#include "cpu/measure/measure.h"
#include "core/base/interruption.h"

#include <stdlib.h>

typedef struct MeasuringLabeller {
  CclLabeller base;
  CclLabeller *labeller;
  CpuMapMeasurer measurer;
  CclLabels own_map; /* for frames without a label map of the caller's */
  CclFeatures *features;
  Mapping mapping;
} MeasuringLabeller;

static CclStatus
measuring_run (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  MeasuringLabeller *self = (MeasuringLabeller *)labeller;
  const CclLabels *map = labels ? labels : &self->own_map;
  const CclStatus status =
      self->labeller->klass->run (self->labeller, frame, options, map, table, error);

  if (status != CUDACCL_OK)
    return status;
  cpu_map_measurer_run (&self->measurer, map, &frame->intensity, table->n_rows, self->features);
  table->features = self->features;
  return ccl_interruption_status (error);
}

static void
lay_out_everything (Layout *layout, void *data)
{
  MeasuringLabeller *self = data;
  const CclLabellerPlan *plan = &self->base.plan;
  const uint32_t most = ccl_plan_most_components (plan);

  self->measurer.width = plan->width;
  self->measurer.height = plan->height;
  self->measurer.columns = plan->columns;
  cpu_map_measurer_lay_out (&self->measurer, layout);
  self->own_map.stride = plan->width * sizeof (uint32_t);
  self->own_map.data = lay_out (layout, plan->height, self->own_map.stride);
  self->features = lay_out (
      layout, plan->max_components < most ? plan->max_components : most, sizeof *self->features);
}

/* The new memory comes first and the old one goes last, so that nothing changes after an error. */
static CclStatus
measuring_resize (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error)
{
  MeasuringLabeller *self = (MeasuringLabeller *)labeller;
  MeasuringLabeller resized = *self;
  CclStatus status = CUDACCL_ERROR_NO_MEMORY;

  resized.base.plan.width = width;
  resized.base.plan.height = height;
  resized.mapping = (Mapping){0};
  if (mapping_lay_out (&resized.mapping, lay_out_everything, &resized))
    status = self->labeller->klass->resize (self->labeller, width, height, error);
  else
    ccl_cpu_set_no_memory (error, width, height);
  if (status != CUDACCL_OK) {
    mapping_unmap (&resized.mapping);
    return status;
  }
  mapping_unmap (&self->mapping);
  *self = resized;
  return CUDACCL_OK;
}

static void
measuring_free (CclLabeller *labeller)
{
  MeasuringLabeller *self = (MeasuringLabeller *)labeller;
  ccl_labeller_free (&self->labeller);
  mapping_unmap (&self->mapping);
  free (self);
}

static const CclLabellerClass measuring_class = {
    .name = "cpu",
    .run = measuring_run,
    .resize = measuring_resize,
    .free = measuring_free,
};

CclLabeller *
cpu_measuring_labeller_new (CclLabeller *labeller, CclError *error)
{
  MeasuringLabeller *self = calloc (1, sizeof *self);

  if (self) {
    self->base.klass = &measuring_class;
    self->base.plan = labeller->plan;
    self->labeller = labeller;
    if (mapping_lay_out (&self->mapping, lay_out_everything, self))
      return &self->base;
  }
  ccl_cpu_set_no_memory (error, labeller->plan.width, labeller->plan.height);
  free (self);
  ccl_labeller_free (&labeller);
  return NULL;
}
