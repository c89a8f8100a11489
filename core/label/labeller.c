/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "labeller-class.h"
#include "core/base/divide-up.h"
#include "component-features.h"
#include "label-rows.h"
#include "core/base/struct-size.h"

#include <math.h>

/* The mean coordinate after the enlargement, of the sum that the mean was made from: the mean of a
 * pixel's factor columns is factor × x + (factor − 1) / 2. All numbers are whole, so the division
 * alone rounds. */
static double
enlarged_mean (double mean, double area, double factor)
{
  const double sum = nearbyint (mean * area);
  return (2 * factor * sum + (factor - 1) * area) / (2 * area);
}

void
ccl_component_enlarge (CclComponent *component, uint32_t factor)
{
  component->centroid_x = enlarged_mean (component->centroid_x, component->area, factor);
  component->centroid_y = enlarged_mean (component->centroid_y, component->area, factor);
  component->area *= factor * factor;
  component->x *= factor;
  component->y *= factor;
  component->width *= factor;
  component->height *= factor;
}

unsigned
ccl_version (void)
{
  return CUDACCL_VERSION_NUMBER (
      CUDACCL_VERSION_MAJOR, CUDACCL_VERSION_MINOR, CUDACCL_VERSION_MICRO);
}

CclStatus
ccl_plan_check (const CclLabellerPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a frame of %u×%u pixels is empty",
        plan->width, plan->height);
  if ((uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a frame of %u×%u pixels is too large: at most %d pixels can be labelled", plan->width,
        plan->height, CUDACCL_MAX_PIXELS);
  status = ccl_connectivity_check (plan->connectivity, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->max_components < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "max_components must be at least 1: the component table needs a row");
  if (plan->format > CUDACCL_PIXEL_FORMAT_8_SECOND)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the pixel format must be 0…3, not %d", (int)plan->format);
  if (plan->table_location > CUDACCL_LOCATION_DEVICE)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the table's location must be host or device, not %d", (int)plan->table_location);
  return ccl_columns_check (plan->columns, plan->width, plan->height, error);
}

uint32_t
ccl_plan_most_components (const CclLabellerPlan *plan)
{
  const uint64_t width = plan->width, height = plan->height;
  return (uint32_t)(plan->connectivity == CUDACCL_CONNECTIVITY_4
                        ? divide_up (width * height, 2)
                        : divide_up (width, 2) * divide_up (height, 2));
}

CclStatus
ccl_frame_check (const CclFrame *frame, uint32_t width, CclPixelFormat format, CclError *error)
{
  const uint32_t bytes = ccl_pixel_bytes (format);
  if (!frame->data)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the frame has no data: its pointer is NULL");
  if (frame->stride < (size_t)bytes * width)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a stride of %zu bytes is too small for rows of %u pixels of %u bytes", frame->stride,
        width, bytes);
  if (frame->location == CUDACCL_LOCATION_DEVICE &&
      (frame->stride % bytes || (uintptr_t)frame->data % bytes))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "in device memory, a frame of %u bytes per pixel needs an address and a stride that are "
        "multiples of %u",
        bytes, bytes);
  return CUDACCL_OK;
}

CclStatus
ccl_labels_check (const CclLabels *labels, uint32_t width, CclError *error)
{
  const size_t row = 4 * (size_t)width;
  if (!labels || !labels->data || labels->stride < row || labels->stride % 4 ||
      (uintptr_t)labels->data % 4)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the label map must have an address and a stride that are multiples of 4, and a stride of "
        "at least %zu bytes",
        row);
  return CUDACCL_OK;
}

CclStatus
ccl_connectivity_check (CclConnectivity connectivity, CclError *error)
{
  if (connectivity != CUDACCL_CONNECTIVITY_4 && connectivity != CUDACCL_CONNECTIVITY_8)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the connectivity must be 4 or 8, not %d",
        (int)connectivity);
  return CUDACCL_OK;
}

CclStatus
ccl_threshold_check (uint32_t threshold, CclPixelFormat format, CclError *error)
{
  const uint32_t most = ccl_pixel_max (format);
  if (threshold > most)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the threshold must be 0…%u, not %u", most, threshold);
  return CUDACCL_OK;
}

CclStatus
ccl_labeller_check_run (const CclLabeller *labeller, const CclFrame *frame,
    const CclLabellerOptions *options, const CclLabels *labels, CclError *error)
{
  if (!labeller || !frame || !options)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "labeller, frame and options must not be NULL");
  if (labeller->is_queued)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the frame that is queued has not been waited for");
  CclStatus status = ccl_struct_size_check (options, sizeof *options, error);
  if (status == CUDACCL_OK)
    status = ccl_frame_check (frame, labeller->plan.width, labeller->plan.format, error);
  if (status == CUDACCL_OK)
    status = ccl_threshold_check (options->threshold, labeller->plan.format, error);
  if (status == CUDACCL_OK)
    status = ccl_intensity_check (
        &frame->intensity, labeller->plan.columns, labeller->plan.width, frame->location, error);
  if (status == CUDACCL_OK && labels)
    status = ccl_labels_check (labels, labeller->plan.width, error);
  return status;
}

static CclStatus
check_table (const CclTable *table, CclError *error)
{
  return table ? CUDACCL_OK
               : ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the table must not be NULL");
}

CclStatus
ccl_labeller_run (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  CclStatus status = ccl_labeller_check_run (labeller, frame, options, labels, error);
  if (status == CUDACCL_OK)
    status = check_table (table, error);
  if (status != CUDACCL_OK)
    return status;
  table->features = NULL;
  return labeller->klass->run (labeller, frame, options, labels, table, error);
}

CclStatus
ccl_labeller_queue (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclError *error)
{
  CclStatus status = ccl_labeller_check_run (labeller, frame, options, labels, error);
  if (status != CUDACCL_OK)
    return status;
  status = labeller->klass->queue
               ? labeller->klass->queue (labeller, frame, options, labels, error)
               : labeller->klass->run (labeller, frame, options, labels, &labeller->table, error);
  labeller->is_queued = status == CUDACCL_OK;
  return status;
}

CclStatus
ccl_labeller_wait (CclLabeller *labeller, CclTable *table, CclError *error)
{
  if (!labeller || !labeller->is_queued)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "no frame is queued");
  CclStatus status = check_table (table, error);
  if (status != CUDACCL_OK)
    return status;
  labeller->is_queued = false;
  table->features = NULL;
  if (labeller->klass->wait)
    return labeller->klass->wait (labeller, table, error);
  *table = labeller->table;
  return CUDACCL_OK;
}

bool
ccl_labeller_is_done (CclLabeller *labeller)
{
  return !labeller || !labeller->is_queued || !labeller->klass->is_done ||
         labeller->klass->is_done (labeller);
}

CclStatus
ccl_labeller_resize (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error)
{
  if (!labeller)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the labeller must not be NULL");
  if (labeller->is_queued)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the frame that is queued has not been waited for");
  if (width == labeller->plan.width && height == labeller->plan.height)
    return CUDACCL_OK;
  CclLabellerPlan plan = labeller->plan;
  plan.width = width;
  plan.height = height;
  const CclStatus status = ccl_plan_check (&plan, error);
  return status == CUDACCL_OK ? labeller->klass->resize (labeller, width, height, error) : status;
}

void
ccl_labeller_free (CclLabeller **labeller)
{
  if (!labeller || !*labeller)
    return;
  (*labeller)->klass->free (*labeller);
  *labeller = NULL;
}

void
ccl_labeller_set_label_rows (CclLabeller *labeller, const uint32_t rows[2])
{
  labeller->some_labels = rows != NULL;
  for (int i = 0; i < 2; i++)
    labeller->label_rows[i] = rows ? rows[i] : 0;
}

const char *
ccl_labeller_algorithm (const CclLabeller *labeller)
{
  return labeller ? labeller->plan.algorithm : NULL;
}
