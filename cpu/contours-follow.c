/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Links the ends of runs, and writes the contours that they make. */
#include "contour-links.h"
#include "contours.h"
#include "words.h"

/* How far ahead ends are prefetched. */
enum { ROWS_AHEAD = 4 };

/* Links the ends of two rows that meet at the line between them. upper, lower: the first ends of
 * the rows. */
static void
link_rows (CpuContours *self, uint32_t upper, uint32_t lower)
{
  const uint32_t first_lower = lower;
  ContourEnd *ends = self->ends;

  while ((ends[upper].key & ends[lower].key) != CONTOUR_SENTINEL) {
    uint32_t pair[2];
    for (uint32_t i = 0; i < 2; i++) {
      const bool is_upper = ends[upper].key <= ends[lower].key;
      pair[i] = is_upper ? upper : lower;
      upper += is_upper;
      lower += !is_upper;
    }
    /* Left ends above the line and right ends below it arrive. */
    const uint32_t second_arrives = (pair[0] ^ (pair[0] >= first_lower)) & 1;
    ends[pair[second_arrives]].link = pair[!second_arrives];
  }
}

/* Points are written in blocks, because most rows of them are shorter than a loop takes to end. */
static ALWAYS_INLINE CclContourPoint *
write_pixels (CclContourPoint *point, const CclContourStep *step)
{
  const uint32_t n = step->n;

  *point = step->own;
  point += step->has_own;
  for (uint32_t i = 0; i < n; i += CONTOUR_BLOCK)
    for (uint32_t j = i; j < i + CONTOUR_BLOCK; j++)
      point[j] = (CclContourPoint){step->first.x + (int32_t)j * step->step, step->first.y};
  return point + n;
}

static ALWAYS_INLINE CclContourPoint *
write_corners (CclContourPoint *point, const CclContourStep *step)
{
  point[0] = step->own;
  point[1] = step->first;
  return point + 2 * step->n;
}

/* Follows a contour from its start in row y, and writes its points. Returns behind them.
 *
 * Along steep sides, the numbers of ends change by about the same from row to row. */
static ALWAYS_INLINE CclContourPoint *
follow (CpuContours *self, uint32_t start, int32_t y, uint32_t number, bool corners,
    CclContourPoint *point)
{
  uint32_t end = start;
  int32_t x = (int32_t)(self->ends[end].key >> 1);

  do {
    ContourEnd *here = &self->ends[end];
    const uint32_t next = here->link, side = end & 1, next_side = next & 1;
    const int32_t next_x = (int32_t)(self->ends[next].key >> 1);
    __builtin_prefetch (&self->ends[next + ROWS_AHEAD * (next - end)]);
    here->link = CONTOUR_IS_FOLLOWED | number;
    if (corners) {
      const CclContourStep step = ccl_contour_corners (x, y, side, next_x, next_side);
      point = write_corners (point, &step);
    } else {
      const CclContourStep step = ccl_contour_pixels (x, y, side, next_x, next_side);
      point = write_pixels (point, &step);
    }
    y += side == next_side ? (side ? -1 : 1) : 0;
    x = next_x;
    end = next;
  } while (end != start);
  return point;
}

/* Sets component and parent of a contour by the one that passes the edge before its start in its
 * row. */
static void
place (CpuContours *self, CclContour *contour, uint32_t start, uint32_t row_start)
{
  const CclContour *left =
      start > row_start ? &self->contours[self->ends[start - 1].link & ~CONTOUR_IS_FOLLOWED] : NULL;

  contour->parent = CUDACCL_NO_CONTOUR;
  if (left)
    contour->parent =
        left->is_hole != contour->is_hole ? (uint32_t)(left - self->contours) : left->parent;
  contour->component =
      contour->is_hole ? self->contours[contour->parent].component : ++self->n_components;
}

/* Writes the contour that starts at an end of row y. */
static ALWAYS_INLINE void
write_contour (CpuContours *self, uint32_t start, uint32_t row_start, uint32_t y, bool corners)
{
  const uint32_t number = self->n_contours++;
  CclContour *contour = &self->contours[number];
  CclContourPoint *first = self->points + self->n_points;

  contour->is_hole = start & 1;
  contour->first_point = self->n_points;
  place (self, contour, start, row_start);
  /* The corner at which an outer contour starts is written last; its place is left free. */
  const bool starts_late = corners && !contour->is_hole;
  const CclContourPoint *last =
      follow (self, start, (int32_t)y, number, corners, first + starts_late);
  if (starts_late)
    *first = *--last;
  else if (last == first) { /* a single pixel */
    *first = (CclContourPoint){(int32_t)(self->ends[start].key >> 1), (int32_t)y};
    last++;
  }
  contour->n_points = (uint32_t)(last - first);
  self->n_points += contour->n_points;
}

static ALWAYS_INLINE void
write_contours (CpuContours *self, bool corners)
{
  for (uint32_t y = 0; y < self->base.plan.height; y++) {
    const uint32_t row_start = self->first_ends[y + 1];
    const uint32_t row_end = self->first_ends[y + 2] - 2;
    for (uint32_t end = row_start; end < row_end; end++)
      if (!(self->ends[end].link & CONTOUR_IS_FOLLOWED))
        write_contour (self, end, row_start, y, corners);
  }
}

void
cpu_contours_follow (CpuContours *self)
{
  for (uint32_t line = 0; line <= self->base.plan.height; line++)
    link_rows (self, self->first_ends[line], self->first_ends[line + 1]);
  self->n_components = self->n_contours = self->n_points = 0;
  if (self->base.plan.kind == CUDACCL_CONTOUR_CRACKS)
    write_contours (self, true);
  else
    write_contours (self, false);
}
