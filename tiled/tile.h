/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels single tiles, frames or volumes, on the CPU or a GPU. */
#ifndef CUDACCL_TILED_TILE_H
#define CUDACCL_TILED_TILE_H

#include "part.h"

/* The layers of a tile whose labels are read. */
typedef enum TileLabels { TILE_LABELS_NONE, TILE_LABELS_ENDS, TILE_LABELS_ALL } TileLabels;

typedef struct TileLabeller {
  const CclTiledPlan *plan;
  uint8_t *pixels;       /* [most_layers × layer_size], to be filled before a run */
  uint32_t *map;         /* [most_layers × layer_size], of the latest run */
  uint32_t n_components; /* of the latest run */

  uint32_t most_layers;
  uint32_t n_layers;  /* of the latest run */
  uint32_t n_planned; /* layers that the labeller below is planned for; 0: there is none */
  uint32_t most_rows; /* of its table */
  CclLabeller *frames;
  CclVolumeLabeller *volumes;
  void *device_map; /* of a GPU */
  CclTable frame_table;
  CclVolumeTable volume_table;
  bool is_measured; /* parts, and not the table, has the components of the latest run */
  Part *parts;      /* [n_components] */
  size_t parts_size;
} TileLabeller;

/* Bytes that tiles take per pixel in the worst case. */
uint64_t tile_bytes_per_pixel (const CclTiledPlan *plan);

/* Prepares for tiles of up to most_layers layers. The plan must outlive the labeller, which is to
 * be cleared also after an error. */
CclStatus tile_labeller_init (
    TileLabeller *self, const CclTiledPlan *plan, uint32_t most_layers, CclError *error);

/* Labels the first n_layers layers of pixels: n_components, the map as far as it is read, and what
 * tile_part() says. May change the other layers of pixels and map. */
CclStatus tile_labeller_run (
    TileLabeller *self, uint32_t n_layers, TileLabels labels, CclError *error);

/* The pixels of the component with that label, 1…n_components. */
uint32_t tile_area (const TileLabeller *self, uint32_t label);

/* The component with that label, of a tile that begins with layer first_layer of the picture. */
Part tile_part (const TileLabeller *self, uint32_t label, uint64_t first_layer);

void tile_labeller_clear (TileLabeller *self);

#endif /* CUDACCL_TILED_TILE_H */
