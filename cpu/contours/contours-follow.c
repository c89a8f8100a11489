/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the ends of runs to chains, links these, and writes the contours that they make. */
#include "core/contours/contour-links.h"
#include "contours.h"
#include "cpu/pixels/words.h"
#include "core/base/interruption.h"

/* How far ahead chains are prefetched: along slanted sides, their numbers change by about the same
 * from one to the next. */
enum { CHAINS_AHEAD = 4 };

/* Where an end has none straight below, the next ends of both rows, so many of each, are taken
 * without branches. */
enum { SHIFTED_ENDS = 8 };

/* The line between two rows: the ends of both, the next one of each, and the chains so far. */
typedef struct Line {
  const uint32_t *keys[2];
  uint32_t *of[2]; /* the chains of the ends */
  uint32_t next[2];
  uint32_t y; /* of the lower row */
  ContourChain *chains;
  uint32_t n_chains;
} Line;

/* Takes the next end of the row in which it comes first, and returns its chain, which is a new one
 * for the lower row. There is no branch, because it would be mispredicted: the end of the other row
 * is noted as well, and what is noted of it is overwritten later. */
static ALWAYS_INLINE uint32_t
take_end (Line *line, uint32_t *arrives)
{
  const uint32_t upper = line->next[0], lower = line->next[1];
  const uint32_t is_lower = line->keys[0][upper] > line->keys[1][lower];
  const uint32_t chain = is_lower ? line->n_chains : line->of[0][upper];

  line->chains[line->n_chains] = (ContourChain){
      .x = line->keys[1][lower] >> 1,
      .y = line->y,
      .is_right = lower & 1,
      .left = line->of[1][(ptrdiff_t)lower - 1],
  };
  line->of[1][lower] = line->n_chains;
  line->chains[chain].n = line->y - line->chains[chain].y;
  line->n_chains += is_lower;
  line->next[0] += !is_lower;
  line->next[1] += is_lower;
  /* Left ends above the line and right ends below it arrive. */
  *arrives = ((is_lower ? lower : upper) ^ is_lower ^ 1) & 1;
  return chain;
}

/* Takes the next ends of both rows, if they are the first two of those that are left. The lower one
 * continues the chain of the upper one if they lie one below the other, and is linked to it
 * otherwise. Which of the two is not predictable, so there is no branch: behind the last chain is
 * room for ends that are not kept. */
static ALWAYS_INLINE bool
take_shifted_ends (Line *line)
{
  const uint32_t *const upper = line->keys[0] + line->next[0];
  const uint32_t *const lower = line->keys[1] + line->next[1];
  const uint32_t above = line->of[0][line->next[0]], below = line->n_chains;
  const uint32_t is_right = line->next[1] & 1, is_new = *upper != *lower;
  const uint32_t last = *upper > *lower ? *upper : *lower;
  const uint32_t next = upper[1] < lower[1] ? upper[1] : lower[1];

  if (last >= next)
    return false;
  line->chains[below] = (ContourChain){
      .x = *lower >> 1,
      .y = line->y,
      .is_right = is_right,
      .left = line->of[1][(ptrdiff_t)line->next[1] - 1],
      .link = above,
  };
  line->chains[above].n = line->y - line->chains[above].y;
  line->chains[is_new && !is_right ? above : below].link = is_right ? above : below;
  line->of[1][line->next[1]] = is_new ? below : above;
  line->n_chains += is_new;
  line->next[0]++;
  line->next[1]++;
  return true;
}

void
cpu_contours_link (CpuContours *self, const ContourRow *upper, const ContourRow *lower, uint32_t y)
{
  Line line = {.keys = {upper->keys, lower->keys},
      .of = {upper->chains, lower->chains},
      .y = y,
      .chains = self->chains,
      .n_chains = self->n_chains};

  for (;;) {
    while (line.keys[0][line.next[0]] == line.keys[1][line.next[1]]) { /* one below the other */
      if (line.keys[0][line.next[0]] == CONTOUR_SENTINEL) {
        self->n_chains = line.n_chains;
        return;
      }
      line.of[1][line.next[1]++] = line.of[0][line.next[0]++];
    }
    for (uint32_t i = 0; i < SHIFTED_ENDS && take_shifted_ends (&line); i++)
      ;
    if (line.keys[0][line.next[0]] == line.keys[1][line.next[1]])
      continue;
    uint32_t first_arrives, second_arrives;
    const uint32_t first = take_end (&line, &first_arrives);
    const uint32_t second = take_end (&line, &second_arrives);
    line.chains[first_arrives ? first : second].link = first_arrives ? second : first;
  }
}

/* Writes n points in a line. The first block is written in any case, because most lines are shorter
 * than it and their lengths cannot be predicted. */
static ALWAYS_INLINE CclContourPoint *
write_line (
    CclContourPoint *points, CclContourPoint first, int32_t step_x, int32_t step_y, uint32_t n)
{
  uint32_t i = 0;

  do {
    for (uint32_t end = i + CONTOUR_BLOCK; i < end; i++)
      points[i] = (CclContourPoint){first.x + (int32_t)i * step_x, first.y + (int32_t)i * step_y};
  } while (i < n);
  return points + n;
}

static ALWAYS_INLINE CclContourPoint *
write_pixels (CclContourPoint *point, const CclContourStep *step)
{
  *point = step->own;
  return write_line (point + step->has_own, step->first, step->step, 0, step->n);
}

static ALWAYS_INLINE CclContourPoint *
write_corners (CclContourPoint *point, const CclContourStep *step)
{
  point[0] = step->own;
  point[1] = step->first;
  return point + 2 * step->n;
}

/* Writes the pixels beside all ends of a chain but the last one that a contour passes. */
static ALWAYS_INLINE CclContourPoint *
write_chain (CclContourPoint *point, const ContourChain *chain)
{
  const uint32_t n = chain->n - 1, is_right = chain->is_right;
  const CclContourPoint first = {
      (int32_t)chain->x - (int32_t)is_right, (int32_t)(chain->y + (is_right ? n : 0))};

  return write_line (point, first, 0, is_right ? -1 : 1, n);
}

/* Writes the points from the last end of a chain that a contour passes to the next chain. */
static ALWAYS_INLINE CclContourPoint *
write_link (
    CclContourPoint *point, const ContourChain *chain, const ContourChain *next, bool corners)
{
  const int32_t x = (int32_t)chain->x, next_x = (int32_t)next->x;
  const int32_t y = (int32_t)(chain->is_right ? chain->y : chain->y + chain->n - 1);

  if (corners) {
    const CclContourStep step = ccl_contour_corners (x, y, chain->is_right, next_x, next->is_right);
    return write_corners (point, &step);
  }
  const CclContourStep step = ccl_contour_pixels (x, y, chain->is_right, next_x, next->is_right);
  return write_pixels (point, &step);
}

/* Follows a contour from its start, the upper end of a chain, and writes its points. A chain of
 * right ends is passed upwards, so that its other ends come last. Returns behind the points. */
static ALWAYS_INLINE CclContourPoint *
follow (CpuContours *self, uint32_t start, uint32_t number, bool corners, CclContourPoint *point)
{
  const bool starts_with_last = self->chains[start].is_right;
  uint32_t at = start;

  do {
    ContourChain *chain = &self->chains[at];
    const uint32_t next = chain->link;
    __builtin_prefetch (&self->chains[next + CHAINS_AHEAD * (next - at)]);
    chain->link = CONTOUR_IS_FOLLOWED | number;
    if (!corners && !(at == start && starts_with_last))
      point = write_chain (point, chain);
    point = write_link (point, chain, &self->chains[next], corners);
    at = next;
  } while (at != start);
  return !corners && starts_with_last ? write_chain (point, &self->chains[start]) : point;
}

static uint32_t
label_at (const CclLabels *labels, const ContourChain *start)
{
  const uint8_t *row = (const uint8_t *)labels->data + start->y * labels->stride;
  return ((const uint32_t *)row)[start->x];
}

/* Sets component and parent of a contour by the one that passes the edge before its start in its
 * row. */
static void
place (CpuContours *self, CclContour *contour, const ContourChain *start)
{
  const CclContour *left =
      start->left == CUDACCL_NO_CONTOUR
          ? NULL
          : &self->contours[self->chains[start->left].link & ~CONTOUR_IS_FOLLOWED];

  contour->parent = CUDACCL_NO_CONTOUR;
  if (left)
    contour->parent =
        left->is_hole != contour->is_hole ? (uint32_t)(left - self->contours) : left->parent;
  self->n_components += !contour->is_hole;
  contour->component = contour->is_hole ? self->contours[contour->parent].component
                       : self->labels   ? label_at (self->labels, start)
                                        : self->n_components;
}

/* Writes the contour that starts at the upper end of a chain. */
static ALWAYS_INLINE void
write_contour (CpuContours *self, uint32_t start, bool corners)
{
  const uint32_t number = self->n_contours++;
  CclContour *contour = &self->contours[number];
  CclContourPoint *first = self->points + self->n_points;
  const ContourChain *chain = &self->chains[start];

  contour->is_hole = chain->is_right;
  contour->first_point = (uint32_t)self->n_points;
  place (self, contour, chain);
  /* The corner at which an outer contour starts is written last; its place is left free. */
  const bool starts_late = corners && !contour->is_hole;
  const CclContourPoint *last = follow (self, start, number, corners, first + starts_late);
  if (starts_late)
    *first = *--last;
  else if (last == first) { /* a single pixel */
    *first = (CclContourPoint){(int32_t)chain->x, (int32_t)chain->y};
    last++;
  }
  contour->n_points = (uint32_t)(last - first);
  self->n_points += contour->n_points;
}

/* Chains are in raster order of their upper ends, at which contours start. */
static ALWAYS_INLINE void
write_contours (CpuContours *self, bool corners)
{
  for (uint32_t chain = 0; chain < self->n_chains; chain++) {
    if (self->chains[chain].link & CONTOUR_IS_FOLLOWED)
      continue;
    write_contour (self, chain, corners);
    if (ccl_is_interrupted (self->contours[self->n_contours - 1].n_points))
      return;
  }
}

void
cpu_contours_follow (CpuContours *self)
{
  self->n_components = self->n_contours = 0;
  self->n_points = 0;
  if (self->base.plan.kind == CUDACCL_CONTOUR_CRACKS)
    write_contours (self, true);
  else
    write_contours (self, false);
}
