/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Polygons with simple rings from contours as cracks. A contour that passes a corner twice is
 * divided there, with a stack of the corners passed: the points since the first time are a ring.
 */
#include "core/label/labeller-class.h"

#include <cudaccl/contours.h>
#include <stdlib.h>
#include <string.h>

/* A contour and its place in the order of polygons. */
typedef struct Place {
  uint32_t component, outer, contour;
} Place;

/* What the division of one contour needs: memory for as many points as the longest one has. */
typedef struct Divider {
  uint32_t *stack;  /* indices of points */
  uint32_t *place;  /* of each point in the stack */
  uint32_t *slots;  /* a hash table of points, each one's index + 1; 0: empty */
  uint64_t n_slots; /* a power of two */
} Divider;

/* The rings so far. */
typedef struct Rings {
  CclContour *rows;
  CclContourPoint *points;
  uint32_t n, n_points;
} Rings;

static int
compare_places (const void *a, const void *b)
{
  const Place *first = a, *second = b;

  if (first->component != second->component)
    return first->component < second->component ? -1 : 1;
  if (first->outer != second->outer)
    return first->outer < second->outer ? -1 : 1;
  return first->contour < second->contour ? -1 : first->contour > second->contour;
}

/* The slot of a point: the one that has the last point with these coordinates, or an empty one. */
static uint64_t
find_slot (const Divider *self, const CclContourPoint *points, CclContourPoint point)
{
  const uint64_t key = (uint64_t)(uint32_t)point.y << 32 | (uint32_t)point.x;
  uint64_t slot = key * UINT64_C (0x9e3779b97f4a7c15) >> 32 & (self->n_slots - 1);

  for (;; slot = (slot + 1) & (self->n_slots - 1)) {
    if (self->slots[slot] == 0)
      return slot;
    const CclContourPoint other = points[self->slots[slot] - 1];
    if (other.x == point.x && other.y == point.y)
      return slot;
  }
}

/* Adds the points of a stack as a ring. */
static void
add_ring (Rings *rings, const CclContourPoint *points, const uint32_t *stack, uint32_t n)
{
  CclContour *row = &rings->rows[rings->n++];

  *row = (CclContour){.first_point = rings->n_points, .n_points = n};
  for (uint32_t i = 0; i < n; i++)
    rings->points[rings->n_points++] = points[stack[i]];
  row->is_hole = ccl_contour_area_2 (rings->points + row->first_point, n) < 0;
}

/* Adds the rings of a contour. The last of them begins with the contour's first point. */
static void
divide (Divider *self, const CclContourPoint *points, uint32_t n, Rings *rings)
{
  uint32_t depth = 0;

  for (self->n_slots = 4; self->n_slots < 2 * (uint64_t)n; self->n_slots *= 2)
    ;
  memset (self->slots, 0, self->n_slots * sizeof *self->slots);
  for (uint32_t i = 0; i < n; i++) {
    const uint64_t slot = find_slot (self, points, points[i]);
    const uint32_t twin = self->slots[slot] - 1, place = self->slots[slot] ? self->place[twin] : 0;
    if (self->slots[slot] && place < depth && self->stack[place] == twin) {
      add_ring (rings, points, self->stack + place, depth - place);
      depth = place;
    }
    self->slots[slot] = i + 1;
    self->place[i] = depth;
    self->stack[depth++] = i;
  }
  add_ring (rings, points, self->stack, depth);
}

/* Moves the last ring of a contour, which is the outer ring of an outer contour, in front of the
 * contour's others, which begin at `first`. */
static void
put_last_first (Rings *rings, uint32_t first)
{
  const CclContour outer = rings->rows[rings->n - 1];

  memmove (&rings->rows[first + 1], &rings->rows[first], (rings->n - 1 - first) * sizeof outer);
  rings->rows[first] = outer;
}

static void
add_contour (Divider *self, const CclContourTable *table, const Place *place, Rings *rings,
    uint32_t *outer_ring)
{
  const CclContour *contour = &table->rows[place->contour];
  const uint32_t first = rings->n;

  divide (self, table->points + contour->first_point, contour->n_points, rings);
  if (!contour->is_hole) {
    put_last_first (rings, first);
    *outer_ring = first;
  }
  for (uint32_t i = first; i < rings->n; i++) {
    rings->rows[i].component = place->component;
    rings->rows[i].parent = rings->rows[i].is_hole ? *outer_ring : CUDACCL_NO_CONTOUR;
  }
}

/* The contours in the order of polygons, and the points of the longest one. NULL without memory. */
static Place *
sort_contours (const CclContourTable *table, uint32_t *longest)
{
  Place *places = malloc (((size_t)table->n_contours + 1) * sizeof *places);

  *longest = 0;
  for (uint32_t i = 0; i < table->n_contours && places; i++) {
    const CclContour *row = &table->rows[i];
    places[i] = (Place){row->component, row->is_hole ? row->parent : i, i};
    *longest = row->n_points > *longest ? row->n_points : *longest;
  }
  if (places)
    qsort (places, table->n_contours, sizeof *places, compare_places);
  return places;
}

CclStatus
ccl_contour_rings (const CclContourTable *table, CclContour *rows, CclContourPoint *points,
    uint32_t *n_rings, CclError *error)
{
  Rings rings = {rows, points, 0, 0};
  uint32_t longest, outer_ring = CUDACCL_NO_CONTOUR;

  if (!table || !rows || !points || !n_rings)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "table, rows, points and n_rings must not be NULL");
  Place *places = sort_contours (table, &longest);
  Divider divider = {.stack = malloc (((size_t)longest + 1) * sizeof *divider.stack),
      .place = malloc (((size_t)longest + 1) * sizeof *divider.place),
      .slots = malloc ((4 * (size_t)longest + 4) * sizeof *divider.slots)};
  const bool has_memory = places && divider.stack && divider.place && divider.slots;
  for (uint32_t i = 0; i < table->n_contours && has_memory; i++)
    add_contour (&divider, table, &places[i], &rings, &outer_ring);
  free (places);
  free (divider.stack);
  free (divider.place);
  free (divider.slots);
  if (!has_memory)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for polygons");
  *n_rings = rings.n;
  return CUDACCL_OK;
}
