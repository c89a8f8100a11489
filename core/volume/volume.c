/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the arguments of <cudaccl/volume.h> and calls the backend. */
#include "volume-class.h"
#include "core/base/divide-up.h"

#include "core/label/labeller-class.h"
#include "core/base/strides.h"
#include "core/base/struct-size.h"

CclStatus
ccl_volume_plan_check (const CclVolumePlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 || plan->depth < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a volume of %u×%u×%u voxels is empty",
        plan->width, plan->height, plan->depth);
  if ((uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS ||
      (uint64_t)plan->width * plan->height * plan->depth > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a volume of %u×%u×%u voxels is too large: at most %d voxels can be labelled", plan->width,
        plan->height, plan->depth, CUDACCL_MAX_PIXELS);
  if (plan->connectivity != CUDACCL_CONNECTIVITY_6 &&
      plan->connectivity != CUDACCL_CONNECTIVITY_18 &&
      plan->connectivity != CUDACCL_CONNECTIVITY_26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity of a volume must be 6, 18 or 26, not %d", (int)plan->connectivity);
  if (plan->max_components < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "max_components must be at least 1: the component table needs a row");
  return CUDACCL_OK;
}

/* No two first voxels of components, or of provisional labels, are next to each other in x; nor,
 * with 18 neighbours, in one square of 2×2 voxels; nor, with 26, in one cube of 2×2×2. */
size_t
ccl_volume_plan_most_components (const CclVolumePlan *plan)
{
  const size_t n_columns = divide_up (plan->width, 2);
  const size_t n_rows =
      plan->connectivity == CUDACCL_CONNECTIVITY_6 ? plan->height : divide_up (plan->height, 2);
  const size_t n_slices =
      plan->connectivity == CUDACCL_CONNECTIVITY_26 ? divide_up (plan->depth, 2) : plan->depth;
  return n_columns * n_rows * n_slices;
}

CclStatus
ccl_volume_labels_check (const CclVolumeLabels *labels, const CclVolumePlan *plan, CclError *error)
{
  if (!elements_fit (labels->data, 4, plan->width, plan->height, true, labels->row_stride,
          labels->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the label map must have a row stride of at least %zu bytes and slices that do not "
        "overlap, and its address and strides must be multiples of 4",
        4 * (size_t)plan->width);
  return CUDACCL_OK;
}

static CclStatus
check_run (const CclVolumeLabeller *self, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, const CclVolumeTable *table,
    CclError *error)
{
  if (!self || !volume || !options || !table)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "labeller, volume, options and table must not be NULL");

  CclStatus status = ccl_struct_size_check (options, sizeof *options, error);
  if (status != CUDACCL_OK)
    return status;

  const CclVolumePlan *plan = &self->plan;
  if (!volume->data)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the volume has no data: its pointer is NULL");
  if (volume->row_stride < plan->width)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a row stride of %zu bytes is too small for rows of %u voxels", volume->row_stride,
        plan->width);
  if (!strides_fit (plan->width, plan->height, volume->row_stride, volume->slice_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a slice stride of %zu bytes is too small for %u rows %zu bytes apart",
        volume->slice_stride, plan->height, volume->row_stride);
  if (options->threshold > 255)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the threshold must be 0…255, not %u", options->threshold);
  return labels ? ccl_volume_labels_check (labels, plan, error) : CUDACCL_OK;
}

CclStatus
ccl_volume_labeller_run (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error)
{
  if (check_run (labeller, volume, options, labels, table, error) != CUDACCL_OK)
    return CUDACCL_ERROR_ARGUMENT;
  return labeller->klass->run (labeller, volume, options, labels, table, error);
}

void
ccl_volume_labeller_free (CclVolumeLabeller **labeller)
{
  if (!labeller || !*labeller)
    return;
  (*labeller)->klass->free (*labeller);
  *labeller = NULL;
}
