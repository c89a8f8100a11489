/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The begin of a frame: the boxes of tracks are predicted, and the components are read. */
#include "tracking/tracker-private.h"

/* Of the changes within a second. Random changes add up as variances do. */
#define ACCELERATION 0.474 /* of the velocity, sizes per second */
#define GROWTH 0.0316      /* of the extent */

#define MIN_AREA 0.02 /* of a component that is not a speck, squares of the typical height */

void
ccl_tracker_predict (CclTracker *tracker, double elapsed)
{
  for (uint32_t i = 0; i < tracker->n_tracks; i++) {
    Track *t = &tracker->tracks[i];
    const double acceleration =
        ccl_track_variance (t, ACCELERATION * tracker->frame_time) * tracker->frame_time;
    const double growth = ccl_track_variance (t, GROWTH) * tracker->frame_time;
    ccl_axis_predict (&t->x, elapsed, acceleration, growth);
    ccl_axis_predict (&t->y, elapsed, acceleration, growth);
    ccl_track_update_box (t);
    t->age += elapsed;
    t->previous = t->component == NONE ? NONE : tracker->components[t->component].row;
    t->component = NONE;
  }
}

/* The least of 0, 1, 3, 7, … such that at most max_rows rows have more pixels. */
static uint32_t
find_min_area (const CclTable *table, uint32_t max_rows)
{
  for (uint32_t min_area = 0;; min_area = 2 * min_area + 1) {
    uint32_t n = 0;
    for (uint32_t row = 0; row < table->n_rows; row++)
      n += table->rows[row].area > min_area;
    if (n <= max_rows)
      return min_area;
  }
}

/* Whether a component is too small to be a part of an object that counts; false while the typical
 * size is unknown. */
static bool
is_speck (const CclTracker *tracker, uint32_t area, const CclBox *box)
{
  const double height = ccl_typical_height (&tracker->typical, box->bottom);
  return area < MIN_AREA * height * height;
}

void
ccl_tracker_take_components (CclTracker *tracker, const CclTable *table)
{
  const uint32_t min_area = find_min_area (table, tracker->plan.max_components);
  uint32_t n = 0;
  for (uint32_t row = 0; row < table->n_rows; row++) {
    const CclComponent *from = &table->rows[row];
    if (from->area <= min_area)
      continue;
    const CclBox box = {
        from->x, from->y, (double)from->x + from->width, (double)from->y + from->height};
    if (is_speck (tracker, from->area, &box))
      continue;
    tracker->components[n++] = (Component){
        .box = box,
        .area = from->area,
        .centroid_x = from->centroid_x + 0.5, /* pixel centres are at integers there */
        .centroid_y = from->centroid_y + 0.5,
        .row = row,
        .row_box = box,
        .pixels = NONE,
        .stack = NONE,
        .owner = NONE,
        .left = NONE,
        .top = NONE,
        .right = NONE,
        .bottom = NONE,
        .whole = box.left > 0 && box.top > 0 && box.right < tracker->plan.width &&
                 box.bottom < tracker->plan.height,
    };
  }
  tracker->n_components = n;
}
