/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels single tiles, frames or volumes, on the CPU or a GPU. */
#pragma once

#include "core/measure/measure-parts.h"
#include "tiled/parts/part.h"

/* The layers of a tile whose labels are read. */
typedef enum TileLabels { TILE_LABELS_NONE, TILE_LABELS_ENDS, TILE_LABELS_ALL } TileLabels;

typedef struct TileLabeller {
  const CclTiledPlan *plan;
  uint8_t *pixels;       /* [most_layers × layer_size], to be filled before a run */
  uint32_t *map;         /* [most_layers × layer_size], of the latest run */
  uint32_t n_components; /* of the latest run */
  uint64_t first_layer;  /* of the tile in the picture; to be filled before a run */
  uint32_t n_layers;     /* of the tile; to be filled before a run */
  uint32_t most_layers;

  /* For measures: the layers of pixels around the tile, and the tile's values of the second plane;
   * to be filled before a run. Their labels lie around those of the tile in the map. */
  uint8_t *before, *after; /* [most_before × layer_size], … */
  uint32_t most_before, most_after, n_before, n_after;
  void *values; /* [most_layers × layer_size] of the plan's intensity_format */

  uint32_t n_planned; /* layers that the labeller below is planned for; 0: there is none */
  uint32_t most_rows; /* of its table */
  CclLabeller *frames;
  CclVolumeLabeller *volumes;
  void *device_map; /* of a GPU */
  CclTable frame_table;
  CclVolumeTable volume_table;
  bool is_measured; /* the components of the latest run are in parts, not in the table */
  CclPart *parts;   /* [n_components] */
  size_t parts_size;
  CclMeasures *measures; /* [n_components]; NULL without columns */
  size_t measures_size;
  uint32_t *map_memory;
} TileLabeller;

/* Bytes that tiles take per pixel in the worst case. */
uint64_t tile_bytes_per_pixel (const CclTiledPlan *plan);

/* Prepares for tiles of up to most_layers layers. The plan must outlive the labeller, which is to
 * be cleared also after an error. */
CclStatus tile_labeller_init (
    TileLabeller *self, const CclTiledPlan *plan, uint32_t most_layers, CclError *error);

/* Labels the tile: n_components, the map as far as it is read, and what tile_part() and
 * tile_measures() say. columns: what to measure, 0 or the plan's. May change the layers of pixels
 * behind the tile. */
CclStatus tile_labeller_run (
    TileLabeller *self, TileLabels labels, uint32_t columns, CclError *error);

/* Writes the layers around the tile to the map: 1 for foreground. */
void tile_labeller_mark_around (TileLabeller *self);

/* Measures the components from the whole label map and the layers around it. */
CclStatus tile_labeller_measure (TileLabeller *self, uint32_t columns, CclError *error);

/* The pixels of the component with that label, 1…n_components. */
uint32_t tile_area (const TileLabeller *self, uint32_t label);

/* The component with that label, in coordinates of the picture. */
CclPart tile_part (const TileLabeller *self, uint32_t label);

/* Whether a component that is whole in the tile gets a label. */
bool tile_passes (const TileLabeller *self, uint32_t label);

/* Its measures; NULL if the plan has no columns, and without a meaning before they are measured. */
const CclMeasures *tile_measures (const TileLabeller *self, uint32_t label);

void tile_labeller_clear (TileLabeller *self);
