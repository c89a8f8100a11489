/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "batch-class.h"
#include "core/base/strides.h"
#include "core/label/labeller-class.h"
#include "core/base/struct-size.h"

CclLabellerPlan
ccl_batch_labeller_plan (const CclBatchPlan *plan, CclConnectivity connectivity)
{
  CclLabellerPlan of_mask = CUDACCL_LABELLER_PLAN_DEFAULT;

  of_mask.width = plan->width;
  of_mask.height = plan->height;
  of_mask.connectivity = connectivity;
  of_mask.n_threads = 1;
  of_mask.max_components = ccl_plan_most_components (&of_mask);
  return of_mask;
}

CclStatus
ccl_batch_plan_check (const CclBatchPlan *plan, CclError *error)
{
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
  return ccl_connectivity_check (plan->connectivity, error);
}

static CclStatus
check_masks (const CclBatch *batch, const CclMasks *masks, CclError *error)
{
  if (!batch || !masks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "batch and masks must not be NULL");
  if (!masks->data ||
      !strides_fit (batch->plan.width, batch->plan.height, masks->row_stride, masks->mask_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the masks must have data, and rows and masks that do not overlap");
  if (masks->location != batch->klass->location)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "this batch takes masks in %s memory",
        batch->klass->location == CUDACCL_LOCATION_DEVICE ? "device" : "host");
  return CUDACCL_OK;
}

static bool
map_fits (const CclBatch *batch, const CclVolumeLabels *map)
{
  return elements_fit (map->data, 4, batch->plan.width, batch->plan.height, true, map->row_stride,
      map->slice_stride);
}

CclStatus
ccl_batch_label (CclBatch *batch, const CclMasks *masks, const CclVolumeLabels *labels,
    const CclVolumeLabels *areas, CclBatchTable *table, CclError *error)
{
  const CclStatus status = check_masks (batch, masks, error);

  if (status != CUDACCL_OK)
    return status;
  if (!table || (areas && !labels) || (labels && !map_fits (batch, labels)) ||
      (areas && !map_fits (batch, areas)))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a batch needs a table, and maps whose rows and slices do not overlap, with addresses and "
        "strides that are multiples of 4; areas need labels");
  return batch->klass->label (batch, masks, labels, areas, table, error);
}

CclStatus
ccl_batch_fill_holes (
    CclBatch *batch, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error)
{
  const CclStatus status = check_masks (batch, masks, error);

  if (status != CUDACCL_OK)
    return status;
  if (value == 0)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "holes must be filled with a value other than 0");
  return batch->klass->fill_holes (batch, masks, max_area, value, error);
}

CclStatus
ccl_batch_remove_small (CclBatch *batch, const CclMasks *masks, uint32_t min_area, CclError *error)
{
  const CclStatus status = check_masks (batch, masks, error);
  return status == CUDACCL_OK ? batch->klass->remove_small (batch, masks, min_area, error) : status;
}

void
ccl_batch_free (CclBatch **batch)
{
  if (!batch || !*batch)
    return;
  (*batch)->klass->free (*batch);
  *batch = NULL;
}
