/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Splits the components of a label map in a file into objects, as ccl_distance_peaks() and
 * ccl_flood_objects() (<cudaccl/distance.h>) split those of a map in memory. A split happens inside
 * a component, so that a window with all of it suffices.
 */
#ifndef CUDACCL_LABEL_SPLIT_H
#define CUDACCL_LABEL_SPLIT_H

#include "kept-map.h"

/* A box of pixels, or of pixels around a component: x, y, z. */
typedef struct SplitBox {
  uint32_t first[3], last[3];
} SplitBox;

typedef struct SplitObjects {
  KeptMap *map;      /* of all pixels: 1 + the index of an object, 0 for background; words */
  uint32_t n;        /* objects, in the order in which they were found */
  uint32_t *numbers; /* [n + 1]: of 1 + index the number in raster order of first peaks, 1…n */
  uint32_t *n_parts; /* [n + 1]: of each number the connected parts; NULL: they are not counted */
} SplitObjects;

/* Splits components. plan: of the picture; its tile_layers or memory decide how many layers are
 * held in memory; a component that touches more is read alone, into a file in the plan's folder if
 * its box does not fit into the memory. Refused are boxes of more than CUDACCL_MAX_PIXELS pixels or
 * with a squared diagonal of more than 32 bits. components: labels 1…n of words. boxes: [n], of the
 * labels. counts_parts: whether to count them; of frames. objects: to be cleared in any case. */
CclStatus split_components (const CclTiledPlan *plan, uint32_t radius, const KeptMap *components,
    const SplitBox *boxes, uint32_t n, bool counts_parts, SplitObjects *objects, CclError *error);

void split_objects_clear (SplitObjects *objects);

#endif /* CUDACCL_LABEL_SPLIT_H */
