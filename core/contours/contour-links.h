/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How contours are found, for both backends.
 *
 * A run of foreground pixels of a row has two vertical edges, its ends: the left one, which
 * contours pass downwards, and the right one, which they pass upwards; the component is on their
 * left-hand side. A contour is a cycle of ends: from one end it goes on along a horizontal edge, or
 * straight, to another one.
 *
 * On the line between two rows, the ends of the row above and of the row below are sorted by their
 * columns. Then the first and the second one belong together, the third and the fourth one, and so
 * on, because between the two of a pair exactly one of the rows has foreground. An end above
 * on the left side of a run, or below on the right side, arrives at the line and is followed by the
 * other one of the pair, which leaves it. At one column, left ends come before right ones with
 * 8-connectivity, so that runs that touch at a corner are joined; with 4-connectivity they come
 * after them.
 *
 * The end of a contour that is first in raster order is its start: the left end of a run in an
 * outer contour, the right end of one in a hole.
 *
 * In a label map runs end where the label changes, and the ends of each label are sorted and paired
 * by themselves: ccl_contour_left_partner() and ccl_contour_right_partner() find the other end of a
 * pair among its neighbours.
 */
#pragma once

#include <cudaccl/contours.h>

#ifdef __CUDACC__
#define CONTOUR_FUNCTION __device__ __forceinline__
#else
#define CONTOUR_FUNCTION static inline
#endif

/* The points between an end and the next one: first its own, if has_own, then n in a row. */
typedef struct CclContourStep {
  CclContourPoint own;
  CclContourPoint first; /* of the n points */
  int32_t step;          /* from one of them to the next, in x: 1 or -1 */
  uint32_t n;
  uint32_t has_own; /* 0 or 1 */
} CclContourStep;

/* The pixels of an end at column x of row y, up to but not including the first one of the next end,
 * at column next_x. is_right, next_is_right: the sides of their runs. */
CONTOUR_FUNCTION CclContourStep
ccl_contour_pixels (int32_t x, int32_t y, uint32_t is_right, int32_t next_x, uint32_t next_is_right)
{
  const int32_t forward = is_right ? -1 : 1; /* along the run of the end */
  const int32_t ahead = (next_x - x) * forward;
  const int32_t turns = is_right != next_is_right;
  CclContourStep step;

  step.own.x = x - (int32_t)is_right;
  step.own.y = y;
  if (ahead > 0) { /* along its own run */
    step.has_own = 0;
    step.first = step.own;
    step.step = forward;
    step.n = (uint32_t)(ahead - turns);
  } else { /* straight, or back along a run of the other row */
    const int32_t n = turns - ahead - 1;
    step.has_own = 1;
    step.first.x = step.own.x - forward;
    step.first.y = y + forward;
    step.step = -forward;
    step.n = (uint32_t)(n > 0 ? n : 0);
  }
  return step;
}

/* The corners between an end and the next one: none, or that where it ends and that where the next
 * one begins. */
CONTOUR_FUNCTION CclContourStep
ccl_contour_corners (
    int32_t x, int32_t y, uint32_t is_right, int32_t next_x, uint32_t next_is_right)
{
  const uint32_t turns = is_right != next_is_right || x != next_x;
  CclContourStep step;

  step.own.x = x;
  step.own.y = is_right ? y : y + 1;
  step.first.x = next_x;
  step.first.y = step.own.y;
  step.step = 1;
  step.n = step.has_own = turns;
  return step;
}

/* The runs of a row: run i has the ends 2 × i and 2 × i + 1. */
typedef struct CclContourRuns {
  const uint32_t *columns; /* of the ends */
  const uint32_t *labels;  /* of the runs; NULL: all have the same */
  uint32_t first, behind;  /* the runs of the row; equal outside the frame */
} CclContourRuns;

/* An end of the own row or of the other one. */
typedef struct CclContourPartner {
  uint32_t end;
  uint32_t is_other;
} CclContourPartner;

CONTOUR_FUNCTION uint32_t
ccl_contour_has_label (const CclContourRuns *runs, uint32_t run, uint32_t label)
{
  return !runs->labels || runs->labels[run] == label;
}

/* The partner of a left end that arrives at the line to the row below. near: the first run of the
 * other row that does not begin before the end. touch: 1 if runs that touch at a corner are
 * connected, else 0. Runs of other labels that are passed over lie beside one run of this label, so
 * each is passed over twice on a line at most. */
CONTOUR_FUNCTION CclContourPartner
ccl_contour_left_partner (const CclContourRuns *own, const CclContourRuns *other, uint32_t end,
    uint32_t near, uint32_t touch)
{
  const uint32_t run = end / 2, label = own->labels ? own->labels[run] : 0;
  const uint32_t left = own->columns[end], right = own->columns[end + 1];

  /* Column and label are loaded beside each other. */
  if (near > other->first && ((other->columns[2 * near - 1] + touch > left) &
                                 ccl_contour_has_label (other, near - 1, label))) {
    /* beside a run of the other row */
    const uint32_t begin = other->columns[2 * near - 2];
    for (uint32_t i = run; i > own->first && own->columns[2 * i - 1] + touch > begin; i--)
      if (ccl_contour_has_label (own, i - 1, label))
        return (CclContourPartner){2 * i - 1, 0};
    return (CclContourPartner){2 * near - 2, 1};
  }
  for (uint32_t i = near; i < other->behind && other->columns[2 * i] < right + touch; i++)
    if (ccl_contour_has_label (other, i, label))
      return (CclContourPartner){2 * i, 1};
  return (CclContourPartner){end + 1, 0};
}

/* The same for a right end and the row above. */
CONTOUR_FUNCTION CclContourPartner
ccl_contour_right_partner (const CclContourRuns *own, const CclContourRuns *other, uint32_t end,
    uint32_t near, uint32_t touch)
{
  const uint32_t run = end / 2, label = own->labels ? own->labels[run] : 0;
  const uint32_t left = own->columns[end - 1], right = own->columns[end];
  const uint32_t touches = touch && near < other->behind && other->columns[2 * near] == right;
  const uint32_t behind_beside = near + touches; /* behind the run that may be beside the end */

  if (behind_beside > other->first &&
      ((other->columns[2 * behind_beside - 1] > right) &
          ccl_contour_has_label (other, behind_beside - 1, label))) {
    const uint32_t stop = other->columns[2 * behind_beside - 1];
    for (uint32_t i = run + 1; i < own->behind && own->columns[2 * i] < stop + touch; i++)
      if (ccl_contour_has_label (own, i, label))
        return (CclContourPartner){2 * i, 0};
    return (CclContourPartner){2 * behind_beside - 1, 1};
  }
  for (uint32_t i = near; i > other->first && other->columns[2 * i - 1] + touch > left; i--)
    if (other->columns[2 * i - 1] <= right && ccl_contour_has_label (other, i - 1, label))
      return (CclContourPartner){2 * i - 1, 1};
  return (CclContourPartner){end - 1, 0};
}
