/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The components of a picture with many values, of any size, tile by tile: 1…n in raster order of
 * first pixels. Their label map is kept in a file without a name. */
#pragma once

#include "kept-map.h"
#include "unnamed-file.h"
#include "values-tiles.h"

typedef struct ValuesMap {
  uint32_t n; /* components */
  uint64_t n_tiles;
  KeptMap *map;       /* of parts of components: each tile has parts of its own */
  FileMemory numbers; /* uint32_t [parts + 1]: of each part the component; of 0 it is 0 */
  FileMemory values;  /* uint64_t [n]: the value of each component's first pixel, in the first bytes
                       * of each number; others are 0 */
} ValuesMap;

/* Finds the components. plan: the size, the connectivity, tiles, memory, device and folder.
 * io: its progress is called with its data, if it is not NULL. The map is to be cleared also after
 * an error. */
CclStatus values_map_find (ValuesMap *self, const ValuesPicture *picture, const CclTiledPlan *plan,
    const CclTiledIo *io, CclError *error);

void values_map_clear (ValuesMap *self);
