/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For each frame: predict the tracks' boxes; assign components to tracks one to one where they fit
 * best; let a track without a component share the one that covers its box; add a component without
 * a track to the track that it is a fragment of; correct the boxes with the measured edges and
 * centroids; begin tracks with the remaining components; end the tracks that are lost. */
#include "core/base/layout.h"
#include "core/base/status.h"
#include "core/base/struct-size.h"
#include "tracker-private.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CAPACITY 4096
#define MAX_ELAPSED 1000
#define MAX_LABEL_STEP 4096
#define MIN_FRAME_RATE 0.01
#define MAX_FRAME_RATE 10000
#define MAX_LEAST_WAY 100

static CclStatus
check_labels (const CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    uint32_t step, CclError *error)
{
  if (step > MAX_LABEL_STEP)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "label_step must be at most %u, not %u",
        MAX_LABEL_STEP, step);
  if (!labels)
    return CUDACCL_OK;
  const uint32_t width = ccl_sampled (tracker->plan.width, step > 0 ? step : 1);
  if (!labels->data || (uintptr_t)labels->data % 4 != 0 || labels->stride % 4 != 0 ||
      labels->stride / 4 < width)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a label map must have rows of %u pixels of 4 bytes, aligned to 4 bytes", width);
  for (uint32_t row = 1; row < table->n_rows; row++)
    if (table->rows[row].label <= table->rows[row - 1].label)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "with a label map, the rows of the component table must be in the order of their labels");
  return CUDACCL_OK;
}

static CclStatus
check_picture (const CclTracker *tracker, const CclTrackerPicture *picture, CclError *error)
{
  if (picture->step_x < 1 || picture->step_x > MAX_LABEL_STEP || picture->step_y < 1 ||
      picture->step_y > MAX_LABEL_STEP || !picture->planes[0].data)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a picture must have steps of 1…%u, not %u and %u, and a first plane", MAX_LABEL_STEP,
        picture->step_x, picture->step_y);
  const uint32_t width = ccl_sampled (tracker->plan.width, picture->step_x);
  for (uint32_t i = 0; i < CUDACCL_COLOURS; i++) {
    const CclTrackerPlane *plane = &picture->planes[i];
    if (plane->data &&
        (plane->distance < 1 || plane->stride <= (size_t)(width - 1) * plane->distance))
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "plane %u of a picture must have rows of %u pixels, not %zu bytes with %u from one pixel "
          "to the next",
          i, width, plane->stride, plane->distance);
  }
  return CUDACCL_OK;
}

static CclStatus
check_run (const CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    double elapsed, const CclTrackerOptions *options, CclError *error)
{
  if (table->n_rows > 0 && !table->rows)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the component table has no rows: its pointer is NULL");
  if (!(elapsed > 0 && elapsed <= MAX_ELAPSED))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "elapsed must be greater than 0 and at most %d frames, not %g", MAX_ELAPSED, elapsed);
  if (options->confirm_frames < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "confirm_frames must be at least 1");
  if (options->frame_rate != 0 &&
      !(options->frame_rate >= MIN_FRAME_RATE && options->frame_rate <= MAX_FRAME_RATE))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the frame rate must be 0 or %g…%d frames per second, not %g", MIN_FRAME_RATE,
        MAX_FRAME_RATE, options->frame_rate);
  if (!(options->least_way >= 0 && options->least_way <= MAX_LEAST_WAY))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "least_way must be 0…%d sizes, not %g",
        MAX_LEAST_WAY, options->least_way);
  for (uint32_t row = 0; row < table->n_rows; row++) {
    const CclComponent *c = &table->rows[row];
    if (c->area < 1 || c->width < 1 || c->height < 1 || c->x >= tracker->plan.width ||
        c->width > tracker->plan.width - c->x || c->y >= tracker->plan.height ||
        c->height > tracker->plan.height - c->y)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "row %u of the component table is not inside a frame of %u×%u pixels", row,
          tracker->plan.width, tracker->plan.height);
  }
  const CclStatus status = check_labels (tracker, table, labels, options->label_step, error);
  return status == CUDACCL_OK && options->picture ? check_picture (tracker, options->picture, error)
                                                  : status;
}

/* Divides components of several objects, and joins those of one. */
static void
find_whole_objects (
    CclTracker *tracker, const CclTable *table, const CclLabels *labels, double elapsed)
{
  ccl_tracker_learn_sizes (tracker, elapsed);
  ccl_tracker_divide (tracker, table, labels);
  ccl_tracker_stack (tracker);
}

CclStatus
ccl_tracker_run (CclTracker *tracker, const CclTable *table, const CclLabels *labels,
    double elapsed, const CclTrackerOptions *given, CclTracks *tracks, CclError *error)
{
  if (!tracker || !table || !given || !tracks)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "tracker, table, options and tracks must not be NULL");
  CclTrackerOptions complete = {0}, *options = &complete;
  CclStatus status = ccl_struct_complete (
      options, sizeof *options, given, offsetof (CclTrackerOptions, least_way), error);
  if (status == CUDACCL_OK)
    status = check_run (tracker, table, labels, elapsed, options, error);
  if (status == CUDACCL_OK && labels)
    status = ccl_tracker_allocate_pixels (tracker, options->label_step, error);
  if (status != CUDACCL_OK)
    return status;
  tracker->frame_time =
      1 / (options->frame_rate > 0 ? options->frame_rate : CUDACCL_TRACKER_FRAME_RATE);
  tracker->n_events = 0;
  ccl_tracker_predict (tracker, elapsed);
  ccl_tracker_take_components (tracker, table);
  ccl_tracker_count_pixels (tracker, table, labels, elapsed);
  if (!options->whole_objects)
    find_whole_objects (tracker, table, labels, elapsed);
  ccl_tracker_measure_colours (tracker, options->picture);
  ccl_tracker_assign (tracker);
  if (!options->whole_objects) {
    ccl_tracker_share (tracker);
    ccl_tracker_join_fragments (tracker);
  }
  ccl_tracker_reunite_tentative (tracker);
  ccl_tracker_correct (tracker, elapsed);
  ccl_tracker_begin (tracker, elapsed);
  ccl_tracker_learn_colours (tracker, elapsed);
  ccl_tracker_count (tracker, options, elapsed);
  ccl_tracker_end (tracker, options);
  ccl_tracker_find_events (tracker);
  ccl_tracker_report (tracker, table, options, tracks);
  ccl_tracker_store_pixels (tracker, labels);
  return CUDACCL_OK;
}

static CclStatus
check_plan (const CclTrackerPlan *plan, CclError *error)
{
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 ||
      (uint64_t)plan->width * plan->height > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a frame must have 1…%d pixels, not %u×%u",
        CUDACCL_MAX_PIXELS, plan->width, plan->height);
  if (plan->max_tracks < 1 || plan->max_tracks > MAX_CAPACITY || plan->max_components < 1 ||
      plan->max_components > MAX_CAPACITY)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "max_tracks and max_components must be 1…%d, not %u and %u", MAX_CAPACITY, plan->max_tracks,
        plan->max_components);
  return CUDACCL_OK;
}

/* Places the arrays behind the struct. Returns the total size in bytes. */
static size_t
lay_out_tracker (CclTracker *t, const CclTrackerPlan *plan, void *memory)
{
  const size_t rows = plan->max_tracks, columns = plan->max_components, both = rows + columns;
  Layout layout = {.memory = memory, .alignment = 16};
  lay_out (&layout, 1, sizeof *t);
  t->tracks = lay_out (&layout, rows, sizeof *t->tracks);
  t->components = lay_out (&layout, columns, sizeof *t->components);
  t->first = lay_out (&layout, rows + 1, sizeof *t->first);
  t->column = lay_out (&layout, rows * columns, sizeof *t->column);
  t->cost = lay_out (&layout, rows * columns, sizeof *t->cost);
  t->of_track = lay_out (&layout, rows, sizeof *t->of_track);
  t->result = lay_out (&layout, rows, sizeof *t->result);
  t->members = lay_out (&layout, both, sizeof *t->members);
  t->member_end = lay_out (&layout, columns, sizeof *t->member_end);
  t->events = lay_out (&layout, 4 * rows, sizeof *t->events);
  t->scratch.row_price = lay_out (&layout, rows, sizeof (double));
  t->scratch.column_price = lay_out (&layout, both, sizeof (double));
  t->scratch.distance = lay_out (&layout, both, sizeof (double));
  t->scratch.previous = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.row_of_column = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.touched = lay_out (&layout, both, sizeof (uint32_t));
  t->scratch.done = lay_out (&layout, both, sizeof (uint8_t));
  return layout.size;
}

CclTracker *
ccl_tracker_new (const CclTrackerPlan *plan, CclError *error)
{
  if (check_plan (plan, error) != CUDACCL_OK)
    return NULL;
  CclTracker counted;
  const size_t size = lay_out_tracker (&counted, plan, NULL);
  CclTracker *tracker = calloc (1, size);
  if (!tracker) {
    ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to track components: %zu bytes", size);
    return NULL;
  }
  lay_out_tracker (tracker, plan, tracker);
  tracker->plan = *plan;
  return tracker;
}

void
ccl_tracker_reset (CclTracker *tracker)
{
  if (!tracker)
    return;
  tracker->n_tracks = 0;
  tracker->overlap.n_groups = 0;
  tracker->sizes.n = 0;
  tracker->typical = (CclTypicalSize){0};
  memset (tracker->restless, 0, sizeof tracker->restless);
  tracker->restless_picture = 0;
  memset (tracker->refuted, 0, sizeof tracker->refuted);
  memset (tracker->moving, 0, sizeof tracker->moving);
  memset (tracker->lost, 0, sizeof tracker->lost);
  memset (tracker->mistaken, 0, sizeof tracker->mistaken);
  memset (tracker->begun, 0, sizeof tracker->begun);
}

void
ccl_tracker_free (CclTracker **tracker)
{
  if (!tracker)
    return;
  if (*tracker)
    free ((*tracker)->label_memory);
  free (*tracker);
  *tracker = NULL;
}
