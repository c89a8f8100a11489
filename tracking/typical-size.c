/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "typical-size.h"

#define MEMORY 15.0   /* seconds after which a frame weighs 1/e */
#define MIN_FRAMES 2  /* with components, after which the height is known */
#define TOLERANCE 0.2 /* part of the mean height from which a difference reduces the weight */
#define MIN_SPREAD                                                                                 \
  0.25              /* of the rows of feet, in heights: below it the slope counts for little       \
                     */
#define MAX_RATIO 3 /* of the height in a row and the mean height */

/* The height by the line, also from few frames. */
static double
line_at (const CclTypicalSize *size, double foot)
{
  const double height = size->mean_height + size->slope * (foot - size->mean_foot);
  return ccl_min (ccl_max (height, size->mean_height / MAX_RATIO), size->mean_height * MAX_RATIO);
}

void
ccl_typical_size_learn (CclTypicalSize *size, const CclBox *box)
{
  const double foot = box->bottom, height = box->bottom - box->top;
  double weight = ccl_box_area (box);
  size->frame_area += weight;
  if (size->mean_height > 0) {
    const double error = (height - line_at (size, foot)) / (TOLERANCE * size->mean_height);
    weight /= 1 + error * error;
  }
  size->frame.weight += weight;
  size->frame.foot += weight * foot;
  size->frame.height += weight * height;
  size->frame.foot_foot += weight * foot * foot;
  size->frame.foot_height += weight * foot * height;
}

/* Each frame has the same weight, so that a large component of a few frames, such as a change of
 * light, counts for little. */
static void
add_frame (CclTypicalSize *size, double elapsed)
{
  const double keep = 1 / (1 + elapsed / MEMORY), scale = 1 / size->frame_area;
  CclTypicalSums *s = &size->sums;
  const CclTypicalSums *f = &size->frame;
  s->weight = keep * s->weight + scale * f->weight;
  s->foot = keep * s->foot + scale * f->foot;
  s->height = keep * s->height + scale * f->height;
  s->foot_foot = keep * s->foot_foot + scale * f->foot_foot;
  s->foot_height = keep * s->foot_height + scale * f->foot_height;
  size->frames = keep * size->frames + 1;
}

void
ccl_typical_size_end_frame (CclTypicalSize *size, double elapsed)
{
  if (size->frame_area <= 0)
    return;
  add_frame (size, elapsed);
  const CclTypicalSums *s = &size->sums;
  const double foot = s->foot / s->weight, height = s->height / s->weight;
  const double spread = ccl_max (s->foot_foot / s->weight - foot * foot, 0);
  const double least = MIN_SPREAD * height;
  size->slope = (s->foot_height / s->weight - foot * height) / (spread + least * least);
  size->mean_foot = foot;
  size->mean_height = height;
  size->frame = (CclTypicalSums){0};
  size->frame_area = 0;
}

double
ccl_typical_height (const CclTypicalSize *size, double foot)
{
  return size->frames <= MIN_FRAMES ? 0 : line_at (size, foot);
}
