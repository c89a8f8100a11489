/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a labelling tile by tile, and its steps, a file each. tiled.c explains them. */
#ifndef CUDACCL_TILED_PASSES_H
#define CUDACCL_TILED_PASSES_H

#include "ranks.h"
#include "seams.h"
#include "status.h"
#include "tile.h"

/* Rows of the table that are written at once. */
enum { CHUNK_ROWS = 4096 };

/* A tile between the passes. */
typedef struct TileRecord {
  uint64_t first_node; /* of its components that touch a seam */
  uint32_t n_nodes;
  uint32_t n_inner; /* components that touch no seam and get a label */
} TileRecord;

typedef struct Tiled {
  const CclTiledPlan *plan;
  const CclTiledIo *io;
  CclTiledPlan own_plan; /* with defaults in place of zeros */
  uint32_t n_ranks;
  uint64_t layer; /* pixels of a layer */
  uint64_t end;   /* the layer after the slab */
  uint64_t n_tiles;
  TileRecord *records; /* [n_tiles] */
  TileLabeller tile;
  Seams seams;
  uint64_t work_done, work; /* layers, for the progress */

  /* The latest tile. */
  uint32_t *seam_labels; /* [n_seam_labels]: labels in the tile that touch a seam, sorted */
  uint32_t n_seam_labels;
  uint32_t *first, *last; /* its first and last layer: 0, or 1 + the index of a node of the tile */
  uint32_t *previous;     /* the last layer of the tile before */
  uint64_t previous_node, node; /* the first nodes of the two tiles, while they are joined */

  Group group;     /* the slab, for other ranks */
  uint64_t *roots; /* [group.n_entries]: the node of each entry */

  /* The second pass. */
  uint64_t next_label; /* of the next component that begins in the slab */
  uint32_t label_bytes;
  uint64_t *final; /* the final label of each label of the tile */
  uint64_t final_size;
  void *chunk;
  CclTiledComponent *rows; /* [CHUNK_ROWS]; NULL: no table is wanted */
  CclVolumeShape *shapes;  /* of the rows; NULL without columns */
  uint32_t n_rows;
} Tiled;

/* The layers of a tile. */
static inline uint32_t
tile_layers (const Tiled *self, uint64_t index)
{
  const uint64_t begin = self->plan->first_layer + index * self->plan->tile_layers;
  const uint64_t left = self->end - begin;
  return (uint32_t)(left < self->plan->tile_layers ? left : self->plan->tile_layers);
}

static inline uint64_t
tile_begin (const Tiled *self, uint64_t index)
{
  return self->plan->first_layer + index * self->plan->tile_layers;
}

/* Whether a table is wanted. */
static inline bool
tiled_has_rows (const Tiled *self)
{
  return self->plan->columns ? self->io->measured != NULL : self->io->rows != NULL;
}

/* Fills the error for memory that is not there. */
CclStatus tiled_no_memory (CclError *error);

/* window.c. Reads a tile, and the layers around it on which its measures depend. Tiles are read one
 * after the other from the first one on, and each layer once. */
CclStatus tiled_read_tile (Tiled *self, uint64_t index, CclError *error);

/* Reads and labels a tile. */
CclStatus tiled_label_tile (Tiled *self, uint64_t index, TileLabels labels, CclError *error);

/* Reports that so many layers more are done. */
void tiled_report_progress (Tiled *self, uint64_t n_layers);

/* The first pass, up to the description of the slab for other ranks: its components that touch its
 * first or last layer. */
CclStatus tiled_unite_slab (Tiled *self, uint32_t rank, CclError *error);

/* After ranks have united their slabs: takes over what they found, and lists the labels of the
 * components that begin in the slab. Returns their number. */
uint64_t tiled_list_own_labels (Tiled *self, uint32_t rank);

/* The second pass, after the exchange between ranks: writes label map and table. */
CclStatus tiled_label_slab (
    Tiled *self, uint64_t first_label, uint64_t n_labels, uint64_t n_components, CclError *error);

/* plan.c. Peers may be NULL. */
CclStatus tiled_check_peers (const CclTiledPeers *peers, CclError *error);
CclStatus tiled_check_plan (
    const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers, CclError *error);

/* Checks columns that depend on the tiles, of which the plan has the layers. */
CclStatus tiled_check_tiles (const CclTiledPlan *plan, CclError *error);

/* The layers of a tile, so that half of the memory suffices in the worst case. The other half is
 * for the components at seams. */
uint64_t tiled_choose_layers (const CclTiledPlan *plan);

#endif /* CUDACCL_TILED_PASSES_H */
