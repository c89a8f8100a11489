/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * With label maps: the pixels that the components of successive frames have in common, after the
 * predicted motion.
 */
#include "layout.h"
#include "labeller-class.h"
#include "tracker-private.h"

#include <math.h>
#include <stdlib.h>

/* Predicts the motion of each group as the mean of its tracks' motions. */
static void
shift_groups (CclTracker *tracker, double elapsed)
{
  const double most = CUDACCL_MAX_PIXELS / 2;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    const Track *t = &tracker->tracks[i];
    if (t->group == CUDACCL_NO_GROUP)
      continue;
    tracker->groups[t->group].motion_x += elapsed * t->x.velocity;
    tracker->groups[t->group].motion_y += elapsed * t->y.velocity;
  }
  for (uint32_t i = 0; i < tracker->overlap.n_groups; i++) {
    const Group *g = &tracker->groups[i];
    const double x = floor (g->motion_x / g->n_tracks + 0.5);
    const double y = floor (g->motion_y / g->n_tracks + 0.5);
    tracker->overlap.shift[i] = (CclShift){
        (int32_t)ccl_min (ccl_max (x, -most), most), (int32_t)ccl_min (ccl_max (y, -most), most)};
  }
}

void
ccl_tracker_count_pixels (
    CclTracker *tracker, const CclTable *table, const CclLabels *labels, double elapsed)
{
  CclLabelOverlap *o = &tracker->overlap;
  tracker->has_overlap = labels && o->n_groups > 0;
  if (!labels)
    return;
  o->n_components = tracker->n_components;
  for (uint32_t j = 0; j < tracker->n_components; j++)
    o->label[j] = table->rows[tracker->components[j].row].label;
  shift_groups (tracker, elapsed);
  ccl_label_overlap_count (o, labels);
}

static inline bool
has_pixels (const CclTracker *tracker, const Track *t)
{
  return tracker->has_overlap && t->group != CUDACCL_NO_GROUP;
}

/* The pixels of the track's group that are in a component of this frame. A label map that does not
 * belong to the table could have more of them. */
static double
shared_pixels (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const double n = tracker->overlap.shared[(size_t)t->group * tracker->n_components + component];
  return ccl_min (n, ccl_min (tracker->groups[t->group].area, tracker->components[component].area));
}

void
ccl_tracker_add_pixels (CclTracker *tracker, uint32_t component, uint32_t part)
{
  if (!tracker->has_overlap)
    return;
  for (uint32_t i = 0; i < tracker->overlap.n_groups; i++) {
    uint32_t *shared = tracker->overlap.shared + (size_t)i * tracker->n_components;
    shared[component] += shared[part];
  }
}

double
ccl_tracker_pixel_overlap (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (!has_pixels (tracker, t) || tracker->groups[t->group].n_tracks > 1)
    return 0;
  const double both = shared_pixels (tracker, t, component);
  return both / (tracker->groups[t->group].area + tracker->components[component].area - both);
}

double
ccl_tracker_pixel_part (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (!has_pixels (tracker, t))
    return 1;
  return shared_pixels (tracker, t, component) / tracker->groups[t->group].area;
}

/* Stores where the tracks of this frame are, for the next one. */
void
ccl_tracker_store_pixels (CclTracker *tracker, const CclLabels *labels)
{
  CclLabelOverlap *o = &tracker->overlap;
  o->n_groups = 0;
  for (uint32_t i = 0; i < tracker->n_tracks; i++)
    tracker->tracks[i].group = CUDACCL_NO_GROUP;
  if (!labels)
    return;
  ccl_label_overlap_store (o, labels);
  for (uint32_t j = 0; j < tracker->n_components; j++)
    o->group[j] = CUDACCL_NO_GROUP;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    if (t->component == NONE)
      continue;
    if (o->group[t->component] == CUDACCL_NO_GROUP) {
      tracker->groups[o->n_groups] = (Group){.area = tracker->components[t->component].area};
      o->group[t->component] = (uint16_t)o->n_groups++;
    }
    t->group = o->group[t->component];
    tracker->groups[t->group].n_tracks++;
  }
  for (uint32_t j = 0; j < tracker->n_components; j++)
    if (tracker->components[j].owner != NONE)
      o->group[j] = (uint16_t)tracker->tracks[tracker->components[j].owner].group;
}

/* Places the arrays for label maps. Returns their total size in bytes. */
static size_t
lay_out_overlap (CclTracker *t, void *memory)
{
  const size_t rows = t->plan.max_tracks, columns = t->plan.max_components;
  CclLabelOverlap *o = &t->overlap;
  const size_t n_rows = (t->plan.height + o->step - 1) / o->step;
  Layout layout = {.memory = memory, .alignment = 16};
  o->component = lay_out (&layout, (uint64_t)t->plan.width * n_rows, sizeof *o->component);
  o->group = lay_out (&layout, columns, sizeof *o->group);
  o->shift = lay_out (&layout, rows, sizeof *o->shift);
  o->label = lay_out (&layout, columns, sizeof *o->label);
  o->shared = lay_out (&layout, rows * columns, sizeof *o->shared);
  t->groups = lay_out (&layout, rows, sizeof *t->groups);
  return layout.size;
}

/* Allocates them at the first label map. */
CclStatus
ccl_tracker_allocate_pixels (CclTracker *tracker, CclError *error)
{
  if (tracker->label_memory)
    return CUDACCL_OK;
  tracker->overlap.width = tracker->plan.width;
  tracker->overlap.height = tracker->plan.height;
  tracker->overlap.step = ccl_label_overlap_step (tracker->plan.height);
  const size_t size = lay_out_overlap (tracker, NULL);
  tracker->label_memory = calloc (1, size);
  if (!tracker->label_memory)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to track label maps: %zu bytes", size);
  lay_out_overlap (tracker, tracker->label_memory);
  return CUDACCL_OK;
}
