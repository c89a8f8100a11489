/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A joining of components over borders, for maps in host memory (periodic.c) and in the memory of a
 * GPU (periodic-gpu.c). */
#pragma once

#include <cudaccl/periodic.h>

#include "core/measure/measured-map.h"

enum { N_AXES = 3, TURN_BITS = 62 };

typedef __int128 Wide;

typedef struct Arc {
  uint64_t start, length;
} Arc;

/* Sums of the directions of pixels along an axis, in units of 2^-TURN_BITS. */
typedef struct Turn {
  Wide cosine, sine;
} Turn;

/* Axes are x, y, z. What belongs to one axis is there for periodic ones. */
struct CclBorders {
  uint64_t sides[N_AXES];
  uint32_t connectivity, axes;
  uint64_t n_rows;            /* that have come, of all slices */
  uint32_t *faces[N_AXES][2]; /* the labels of the first and the last layer along an axis */
  int64_t *turns[N_AXES];     /* [2 × side]: the cosine and the sine of places */
  uint32_t n, capacity;
  CclPart *parts;     /* [capacity]: of the components before they are joined */
  Turn *sums[N_AXES]; /* [capacity] */

  /* Of the joined components. */
  uint64_t *roots;   /* [n] */
  uint32_t *numbers; /* [n + 1]: the new label of each */
  uint32_t *order;   /* [n]: the parts of joined components, one after the other */
  uint32_t *begins;  /* [n_joined + 1], in that order */
  Arc *arcs;         /* [n] */
  uint32_t n_joined;
  CclTiledComponent *rows; /* [n_joined] */
};

static inline bool
is_periodic (const CclBorders *self, int axis)
{
  return self->axes >> axis & 1;
}

static inline bool
are_frames (uint32_t connectivity)
{
  return connectivity == 4 || connectivity == 8;
}

static inline CclStatus
no_memory (CclError *error)
{
  return ccl_error_set (
      error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to join components over borders");
}

/* The axes of a layer along an axis: the one of its rows, and the other. */
static inline void
axes_of_layer (int axis, int in_layer[2])
{
  in_layer[0] = axis == 0 ? 1 : 0;
  in_layer[1] = axis == 2 ? 1 : 2;
}

/* Makes room for so many labels. Returns false without memory. */
bool ccl_borders_reserve (CclBorders *self, uint32_t capacity);

/* Joins the components whose parts, sums and faces are known. */
CclStatus ccl_borders_find (CclBorders *self, CclError *error);

/* Checks the arguments of ccl_join_borders(), and describes the map. */
CclStatus ccl_borders_check_map (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t axes, const uint32_t *n,
    const CclVolumeComponent *rows, CclPartMap *map, CclError *error);

/* Writes the rows of the joined components. */
void ccl_borders_write_rows (const CclBorders *self, CclVolumeComponent *rows);
