/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches on the CPU: a labeller of one mask, which labels one after the other, and one of the
 * other connectivity for the holes, which are components of the background. */
#include "labeller-class.h"
#include "mapping.h"
#include "struct-size.h"

#include <cudaccl/batch.h>
#include <stdlib.h>

struct CclBatch {
  CclBatchPlan plan;
  CclLabeller *foreground, *background;
  uint64_t *offsets;
  CclComponent *rows; /* of all masks */
  uint32_t *map;      /* the label map of a mask */
  bool *is_hole;      /* of each label of a mask */
  Mapping mapping;
};

static CclLabellerPlan
labeller_plan (const CclBatchPlan *plan, CclConnectivity connectivity)
{
  CclLabellerPlan of_mask = CUDACCL_LABELLER_PLAN_DEFAULT;

  of_mask.width = plan->width;
  of_mask.height = plan->height;
  of_mask.connectivity = connectivity;
  of_mask.n_threads = 1;
  of_mask.max_components = ccl_plan_most_components (&of_mask);
  return of_mask;
}

static CclStatus
check_plan (const CclBatchPlan *plan, CclError *error)
{
  if (!plan)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the plan must not be NULL");
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->n_masks < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a batch has at least one mask");
  if (plan->width < 1 || plan->height < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "masks of %u×%u pixels are empty",
        plan->width, plan->height);
  if ((uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS ||
      (uint64_t)plan->width * plan->height * plan->n_masks > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "%u masks of %u×%u pixels are too large: at most %d pixels can be labelled", plan->n_masks,
        plan->width, plan->height, CUDACCL_MAX_PIXELS);
  if (plan->connectivity != CUDACCL_CONNECTIVITY_4 && plan->connectivity != CUDACCL_CONNECTIVITY_8)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the connectivity must be 4 or 8, not %d",
        (int)plan->connectivity);
  return CUDACCL_OK;
}

/* Whether rows of row_bytes fit into slices without overlap. No product may wrap around. */
static bool
strides_fit (const CclBatchPlan *plan, size_t row_bytes, size_t row_stride, size_t slice_stride)
{
  size_t slice;
  return row_stride >= row_bytes &&
         !__builtin_mul_overflow (row_stride, plan->height - 1, &slice) &&
         !__builtin_add_overflow (slice, row_bytes, &slice) && slice_stride >= slice;
}

static CclStatus
check_masks (const CclBatch *batch, const CclMasks *masks, CclError *error)
{
  if (!batch || !masks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "batch and masks must not be NULL");
  if (!masks->data ||
      !strides_fit (&batch->plan, batch->plan.width, masks->row_stride, masks->mask_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the masks must have data, and rows and masks that do not overlap");
  return CUDACCL_OK;
}

static bool
map_fits (const CclBatch *batch, const CclVolumeLabels *map)
{
  return map->data && (uintptr_t)map->data % 4 == 0 && map->row_stride % 4 == 0 &&
         map->slice_stride % 4 == 0 &&
         strides_fit (
             &batch->plan, 4 * (size_t)batch->plan.width, map->row_stride, map->slice_stride);
}

static CclFrame
frame_of (const CclMasks *masks, uint32_t mask)
{
  return (CclFrame){
      .data = (const uint8_t *)masks->data + mask * masks->mask_stride,
      .stride = masks->row_stride,
  };
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

CclStatus
ccl_batch_label (CclBatch *batch, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclBatchTable *table, CclError *error)
{
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclStatus status = check_masks (batch, masks, error);

  if (status != CUDACCL_OK)
    return status;
  if (!table || (areas && !labels) || (labels && !map_fits (batch, labels)) ||
      (areas && !map_fits (batch, areas)))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a batch needs a table, and maps whose rows and slices do not overlap, with addresses and "
        "strides that are multiples of 4; areas need labels");
  for (uint32_t i = 0; i < batch->plan.n_masks; i++) {
    const CclFrame frame = frame_of (masks, i);
    const CclLabels map = labels ? slice_of (labels, i) : (CclLabels){0};
    CclTable of_mask;
    status = ccl_labeller_run (
        batch->foreground, &frame, &options, labels ? &map : NULL, &of_mask, error);
    if (status != CUDACCL_OK)
      return status;
    if (of_mask.n_rows > 0)
      memcpy (batch->rows + batch->offsets[i], of_mask.rows, of_mask.n_rows * sizeof *batch->rows);
    batch->offsets[i + 1] = batch->offsets[i] + of_mask.n_rows;
    if (areas) {
      const CclLabels area_map = slice_of (areas, i);
      write_areas (&batch->plan, &map, &area_map, of_mask.rows);
    }
  }
  *table = (CclBatchTable){batch->plan.n_masks, batch->offsets, batch->rows};
  return CUDACCL_OK;
}

/* Fills the holes of a mask, whose background has been labelled. */
static void
fill_mask (CclBatch *batch, uint8_t *mask, size_t stride, const CclTable *table, uint8_t value)
{
  const CclBatchPlan *plan = &batch->plan;
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

CclStatus
ccl_batch_fill_holes (
    CclBatch *batch, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error)
{
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclStatus status = check_masks (batch, masks, error);

  if (status != CUDACCL_OK)
    return status;
  if (value == 0)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "holes must be filled with a value other than 0");
  options.invert = true;
  options.max_area = max_area;
  const CclLabels map = {batch->map, 4 * (size_t)batch->plan.width};
  for (uint32_t i = 0; i < batch->plan.n_masks; i++) {
    const CclFrame frame = frame_of (masks, i);
    CclTable table;
    status = ccl_labeller_run (batch->background, &frame, &options, &map, &table, error);
    if (status != CUDACCL_OK)
      return status;
    fill_mask (
        batch, (uint8_t *)masks->data + i * masks->mask_stride, masks->row_stride, &table, value);
  }
  return CUDACCL_OK;
}

CclStatus
ccl_batch_remove_small (CclBatch *batch, const CclMasks *masks, uint32_t min_area, CclError *error)
{
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclStatus status = check_masks (batch, masks, error);

  if (status != CUDACCL_OK)
    return status;
  options.min_area = min_area;
  const CclLabels map = {batch->map, 4 * (size_t)batch->plan.width};
  for (uint32_t i = 0; i < batch->plan.n_masks; i++) {
    const CclFrame frame = frame_of (masks, i);
    CclTable table;
    status = ccl_labeller_run (batch->foreground, &frame, &options, &map, &table, error);
    if (status != CUDACCL_OK)
      return status;
    for (uint32_t y = 0; y < batch->plan.height; y++) {
      const uint32_t *labels = batch->map + (size_t)y * batch->plan.width;
      uint8_t *pixels = (uint8_t *)masks->data + i * masks->mask_stride + y * masks->row_stride;
      for (uint32_t x = 0; x < batch->plan.width; x++)
        pixels[x] = labels[x] ? pixels[x] : 0;
    }
  }
  return CUDACCL_OK;
}

void
ccl_batch_free (CclBatch **batch)
{
  if (!batch || !*batch)
    return;
  ccl_labeller_free (&(*batch)->foreground);
  ccl_labeller_free (&(*batch)->background);
  mapping_unmap (&(*batch)->mapping);
  free (*batch);
  *batch = NULL;
}

static void
lay_out_everything (Layout *layout, void *data)
{
  CclBatch *self = data;
  const CclBatchPlan *plan = &self->plan;
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
  if (check_plan (plan, error) != CUDACCL_OK)
    return NULL;
  const CclConnectivity other = plan->connectivity == CUDACCL_CONNECTIVITY_8
                                    ? CUDACCL_CONNECTIVITY_4
                                    : CUDACCL_CONNECTIVITY_8;
  const CclLabellerPlan foreground = labeller_plan (plan, plan->connectivity);
  const CclLabellerPlan background = labeller_plan (plan, other);
  CclBatch *self = calloc (1, sizeof *self);

  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for a batch");
    return NULL;
  }
  self->plan = *plan;
  self->foreground = ccl_cpu_labeller_new (&foreground, error);
  if (self->foreground)
    self->background = ccl_cpu_labeller_new (&background, error);
  if (self->background && !mapping_lay_out (&self->mapping, lay_out_everything, self)) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %u masks of %u×%u pixels",
        plan->n_masks, plan->width, plan->height);
    ccl_labeller_free (&self->background);
  }
  if (!self->background)
    ccl_batch_free (&self);
  return self;
}
