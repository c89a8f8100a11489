/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With label maps: the pixels that the components of successive frames have in common, after the
 * predicted motion. The objects that a component is divided into have no pixels of their own. */
#include "core/base/layout.h"
#include "core/base/status.h"
#include "tracking/tracker-private.h"

#include <math.h>
#include <stdlib.h>

#define MIN_SAMPLE 16 /* pixels */

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
    const double n = (double)g->n_tracks * tracker->label_step;
    const double x = floor (g->motion_x / n + 0.5);
    const double y = floor (g->motion_y / n + 0.5);
    tracker->overlap.shift[i] = (CclShift){
        (int32_t)ccl_min (ccl_max (x, -most), most), (int32_t)ccl_min (ccl_max (y, -most), most)};
  }
}

/* Whether a sample of the label map has enough pixels of a component to compare it. */
static inline bool
is_sampled (const CclTracker *tracker, const Component *c)
{
  const double step = tracker->label_step;
  return step == 1 || c->area >= MIN_SAMPLE * step * step;
}

/* Has the label map read in the boxes of components. */
static void
cover_boxes (CclTracker *tracker)
{
  const uint32_t step = tracker->label_step;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const CclBox *box = &tracker->components[j].box;
    ccl_label_overlap_cover (&tracker->overlap, ccl_sampled ((uint32_t)box->left, step),
        ccl_sampled ((uint32_t)box->top, step), ccl_sampled ((uint32_t)box->right, step),
        ccl_sampled ((uint32_t)box->bottom, step));
  }
}

void
ccl_tracker_count_pixels (
    CclTracker *tracker, const CclTable *table, const CclLabels *labels, double elapsed)
{
  CclLabelOverlap *o = &tracker->overlap;
  tracker->has_overlap = labels && o->n_groups > 0;
  tracker->has_runs = labels != NULL;
  if (!labels)
    return;
  o->n_components = tracker->n_components;
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    Component *c = &tracker->components[j];
    c->pixels = is_sampled (tracker, c) ? j : NONE;
    o->label[j] = table->rows[c->row].label;
  }
  cover_boxes (tracker);
  shift_groups (tracker, elapsed);
  ccl_label_overlap_count (o, labels);
  ccl_label_overlap_store (o, labels);
}

static inline bool
has_pixels (const CclTracker *tracker, const Track *t, uint32_t component)
{
  return tracker->has_overlap && t->group != CUDACCL_NO_GROUP &&
         tracker->components[component].pixels != NONE;
}

/* The pixels of the track's group that are in a component of this frame. A label map that does not
 * belong to the table could have more of them. */
static double
shared_pixels (const CclTracker *tracker, const Track *t, uint32_t component)
{
  const CclLabelOverlap *o = &tracker->overlap;
  const Component *c = &tracker->components[component];
  const double n = o->shared[(size_t)t->group * o->n_components + c->pixels];
  return ccl_min (n, ccl_min (tracker->groups[t->group].area, c->area));
}

void
ccl_tracker_add_pixels (CclTracker *tracker, uint32_t component, uint32_t part)
{
  const uint32_t whole = tracker->components[component].pixels;
  const uint32_t added = tracker->components[part].pixels;
  if (!tracker->has_overlap || whole == NONE || added == NONE)
    return;
  for (uint32_t i = 0; i < tracker->overlap.n_groups; i++) {
    uint32_t *shared = tracker->overlap.shared + (size_t)i * tracker->overlap.n_components;
    shared[whole] += shared[added];
  }
}

double
ccl_tracker_pixel_overlap (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (!has_pixels (tracker, t, component) || tracker->groups[t->group].n_tracks > 1)
    return 0;
  const double both = shared_pixels (tracker, t, component);
  return both / (tracker->groups[t->group].area + tracker->components[component].area - both);
}

double
ccl_tracker_pixel_part (const CclTracker *tracker, const Track *t, uint32_t component)
{
  if (!has_pixels (tracker, t, component))
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
  for (uint32_t j = 0; j < o->n_components; j++)
    o->group[j] = CUDACCL_NO_GROUP;
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const Component *c = t->component == NONE ? NULL : &tracker->components[t->component];
    if (!c || c->pixels == NONE)
      continue;
    if (o->group[c->pixels] == CUDACCL_NO_GROUP) {
      tracker->groups[o->n_groups] = (Group){.area = c->area};
      o->group[c->pixels] = (uint16_t)o->n_groups++;
    }
    t->group = o->group[c->pixels];
    tracker->groups[t->group].n_tracks++;
  }
  for (uint32_t j = 0; j < tracker->n_components; j++) {
    const Component *c = &tracker->components[j];
    if (c->owner != NONE && c->pixels != NONE)
      o->group[c->pixels] = (uint16_t)tracker->tracks[c->owner].group;
  }
}

/* Places the arrays for label maps. Returns their total size in bytes. */
static size_t
lay_out_overlap (CclTracker *t, void *memory)
{
  const size_t rows = t->plan.max_tracks, columns = t->plan.max_components;
  CclLabelOverlap *o = &t->overlap;
  const size_t n_rows = ccl_sampled (o->height, o->step);
  Layout layout = {.memory = memory, .alignment = 16};
  o->runs = lay_out (&layout, (uint64_t)o->width * n_rows, sizeof *o->runs);
  o->covered = lay_out (&layout, ccl_label_overlap_words (o->width) * n_rows, sizeof *o->covered);
  o->group = lay_out (&layout, columns, sizeof *o->group);
  o->shift = lay_out (&layout, rows, sizeof *o->shift);
  o->label = lay_out (&layout, columns, sizeof *o->label);
  o->shared = lay_out (&layout, rows * columns, sizeof *o->shared);
  t->groups = lay_out (&layout, rows, sizeof *t->groups);
  t->colours = lay_out (&layout, columns, sizeof *t->colours);
  t->first_part = lay_out (&layout, columns, sizeof *t->first_part);
  t->column_tops = lay_out (&layout, o->width, sizeof *t->column_tops);
  t->column_sums = lay_out (&layout, (uint64_t)o->width + 1, sizeof *t->column_sums);
  t->column_likeness = lay_out (&layout, (uint64_t)o->width + 1, sizeof *t->column_likeness);
  return layout.size;
}

/* Allocates them at the first label map of that step. After an error the former ones stay. */
CclStatus
ccl_tracker_allocate_pixels (CclTracker *tracker, uint32_t label_step, CclError *error)
{
  CclLabelOverlap *o = &tracker->overlap;
  const uint32_t step = label_step > 0 ? label_step : 1;
  if (tracker->label_memory && tracker->label_step == step)
    return CUDACCL_OK;
  CclTracker counted = *tracker;
  counted.overlap.width = ccl_sampled (tracker->plan.width, step);
  counted.overlap.height = ccl_sampled (tracker->plan.height, step);
  counted.overlap.step = ccl_label_overlap_step (counted.overlap.height);
  const size_t size = lay_out_overlap (&counted, NULL);
  void *memory = calloc (1, size);
  if (!memory)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to track label maps: %zu bytes", size);
  free (tracker->label_memory);
  tracker->label_memory = memory;
  tracker->label_step = step;
  *o = counted.overlap;
  o->weight = o->step * step * step;
  o->n_groups = 0;
  lay_out_overlap (tracker, memory);
  return CUDACCL_OK;
}
