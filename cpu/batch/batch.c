/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches on the CPU: a labeller of one mask, which labels one after the other, and one of the
 * other connectivity for the holes, which are components of the background. */
#include "core/base/interruption.h"
#include "core/batch/batch-class.h"
#include "core/label/labeller-class.h"
#include "cpu/base/mapping.h"

#include <stdlib.h>

typedef struct CpuBatch {
  CclBatch base;
  CclLabeller *foreground, *background;
  uint64_t *offsets;
  CclComponent *rows; /* of all masks */
  uint32_t *map;      /* the label map of a mask */
  bool *is_hole;      /* of each label of a mask */
  Mapping mapping;
} CpuBatch;

static CclFrame
frame_of (const CclMasks *masks, uint32_t mask)
{
  return (CclFrame){
      .data = (const uint8_t *)masks->data + mask * masks->mask_stride,
      .stride = masks->row_stride,
  };
}

static uint64_t
pixels_of_mask (const CclBatchPlan *plan)
{
  return (uint64_t)plan->width * plan->height;
}

static CclLabels
slice_of (const CclVolumeLabels *maps, uint32_t mask)
{
  return (CclLabels){(uint8_t *)maps->data + mask * maps->slice_stride, maps->row_stride};
}

static void
write_areas (const CclBatchPlan *plan, const CclLabels *labels, const CclLabels *areas,
    const CclComponent *rows)
{
  for (uint32_t y = 0; y < plan->height; y++) {
    const uint32_t *from =
        (const uint32_t *)(const void *)((const uint8_t *)labels->data + y * labels->stride);
    uint32_t *to = (uint32_t *)(void *)((uint8_t *)areas->data + y * areas->stride);
    for (uint32_t x = 0; x < plan->width; x++)
      to[x] = from[x] ? rows[from[x] - 1].area : 0;
  }
}

static CclStatus
cpu_batch_label (CclBatch *base, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclBatchTable *table, CclError *error)
{
  CpuBatch *batch = (CpuBatch *)base;
  const CclBatchPlan *plan = &base->plan;
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;

  for (uint32_t i = 0; i < plan->n_masks && !ccl_is_interrupted (pixels_of_mask (plan)); i++) {
    const CclFrame frame = frame_of (masks, i);
    const CclLabels map = labels ? slice_of (labels, i) : (CclLabels){0};
    CclTable of_mask;
    const CclStatus status = ccl_labeller_run (
        batch->foreground, &frame, &options, labels ? &map : NULL, &of_mask, error);
    if (status != CUDACCL_OK)
      return status;
    if (of_mask.n_rows > 0)
      memcpy (batch->rows + batch->offsets[i], of_mask.rows, of_mask.n_rows * sizeof *batch->rows);
    batch->offsets[i + 1] = batch->offsets[i] + of_mask.n_rows;
    if (areas) {
      const CclLabels area_map = slice_of (areas, i);
      write_areas (plan, &map, &area_map, of_mask.rows);
    }
  }
  *table = (CclBatchTable){plan->n_masks, batch->offsets, batch->rows};
  return ccl_interruption_status (error);
}

/* Fills the holes of a mask, whose background has been labelled. */
static void
fill_mask (CpuBatch *batch, uint8_t *mask, size_t stride, const CclTable *table, uint8_t value)
{
  const CclBatchPlan *plan = &batch->base.plan;
  uint32_t top = plan->height, bottom = 0; /* of all holes */

  batch->is_hole[0] = false;
  for (uint32_t i = 0; i < table->n_rows; i++) {
    const CclComponent *row = &table->rows[i];
    const bool is_hole = row->x > 0 && row->y > 0 && row->x + row->width < plan->width &&
                         row->y + row->height < plan->height;
    batch->is_hole[i + 1] = is_hole;
    if (is_hole && row->y < top)
      top = row->y;
    if (is_hole && row->y + row->height > bottom)
      bottom = row->y + row->height;
  }
  for (uint32_t y = top; y < bottom; y++) {
    const uint32_t *labels = batch->map + (size_t)y * plan->width;
    uint8_t *pixels = mask + y * stride;
    for (uint32_t x = 0; x < plan->width; x++)
      if (batch->is_hole[labels[x]])
        pixels[x] = value;
  }
}

static CclStatus
cpu_batch_fill_holes (
    CclBatch *base, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error)
{
  CpuBatch *batch = (CpuBatch *)base;
  const CclBatchPlan *plan = &base->plan;
  const CclLabels map = {batch->map, 4 * (size_t)plan->width};
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;

  options.invert = true;
  options.max_area = max_area;
  for (uint32_t i = 0; i < plan->n_masks && !ccl_is_interrupted (pixels_of_mask (plan)); i++) {
    const CclFrame frame = frame_of (masks, i);
    CclTable table;
    const CclStatus status =
        ccl_labeller_run (batch->background, &frame, &options, &map, &table, error);
    if (status != CUDACCL_OK)
      return status;
    fill_mask (
        batch, (uint8_t *)masks->data + i * masks->mask_stride, masks->row_stride, &table, value);
  }
  return ccl_interruption_status (error);
}

static CclStatus
cpu_batch_remove_small (CclBatch *base, const CclMasks *masks, uint32_t min_area, CclError *error)
{
  CpuBatch *batch = (CpuBatch *)base;
  const CclBatchPlan *plan = &base->plan;
  const CclLabels map = {batch->map, 4 * (size_t)plan->width};
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;

  options.min_area = min_area;
  for (uint32_t i = 0; i < plan->n_masks && !ccl_is_interrupted (pixels_of_mask (plan)); i++) {
    const CclFrame frame = frame_of (masks, i);
    CclTable table;
    const CclStatus status =
        ccl_labeller_run (batch->foreground, &frame, &options, &map, &table, error);
    if (status != CUDACCL_OK)
      return status;
    for (uint32_t y = 0; y < plan->height; y++) {
      const uint32_t *labels = batch->map + (size_t)y * plan->width;
      uint8_t *pixels = (uint8_t *)masks->data + i * masks->mask_stride + y * masks->row_stride;
      for (uint32_t x = 0; x < plan->width; x++)
        pixels[x] = labels[x] ? pixels[x] : 0;
    }
  }
  return ccl_interruption_status (error);
}

static void
cpu_batch_free (CclBatch *base)
{
  CpuBatch *batch = (CpuBatch *)base;

  ccl_labeller_free (&batch->foreground);
  ccl_labeller_free (&batch->background);
  mapping_unmap (&batch->mapping);
  free (batch);
}

static const CclBatchClass cpu_batch_class = {
    .location = CUDACCL_LOCATION_HOST,
    .label = cpu_batch_label,
    .fill_holes = cpu_batch_fill_holes,
    .remove_small = cpu_batch_remove_small,
    .free = cpu_batch_free,
};

static void
lay_out_everything (Layout *layout, void *data)
{
  CpuBatch *self = data;
  const CclBatchPlan *plan = &self->base.plan;
  const size_t n_pixels = (size_t)plan->width * plan->height;
  const size_t most_rows = self->foreground->plan.max_components;

  self->offsets = lay_out_zeros (layout, (size_t)plan->n_masks + 1, sizeof *self->offsets);
  self->rows = lay_out (layout, most_rows * plan->n_masks, sizeof *self->rows);
  self->map = lay_out (layout, n_pixels, sizeof *self->map);
  self->is_hole = lay_out (layout, n_pixels + 1, sizeof *self->is_hole);
}

CclBatch *
ccl_cpu_batch_new (const CclBatchPlan *plan, CclError *error)
{
  if (ccl_batch_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const CclLabellerPlan foreground = ccl_batch_labeller_plan (plan, plan->connectivity);
  const CclLabellerPlan background =
      ccl_batch_labeller_plan (plan, ccl_batch_other_connectivity (plan));
  CpuBatch *self = calloc (1, sizeof *self);

  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for a batch");
    return NULL;
  }
  self->base = (CclBatch){.klass = &cpu_batch_class, .plan = *plan};
  self->foreground = ccl_cpu_labeller_new (&foreground, error);
  if (self->foreground)
    self->background = ccl_cpu_labeller_new (&background, error);
  if (self->background && !mapping_lay_out (&self->mapping, lay_out_everything, self)) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %u masks of %u×%u pixels",
        plan->n_masks, plan->width, plan->height);
    ccl_labeller_free (&self->background);
  }
  if (self->background)
    return &self->base;
  cpu_batch_free (&self->base);
  return NULL;
}
