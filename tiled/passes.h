/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a labelling tile by tile, and its steps, a file each. tiled.c explains them. */
#pragma once

#include "tiled/ranks/ranks.h"
#include "seams.h"
#include "core/base/status.h"
#include "tile.h"

/* Rows of the table that are written at once. */
enum { CHUNK_ROWS = 4096 };

/* A tile between the passes. */
typedef struct TileRecord {
  uint64_t first_node; /* of its components that touch a seam */
  uint32_t n_nodes;
  uint32_t n_inner;   /* components that touch no seam and get a label */
  uint64_t first_run; /* of its first row; see first_runs */
} TileRecord;

/* A component in a tile. */
typedef struct Presence {
  uint64_t identity; /* 1 + the one of merger.h */
  uint32_t label;    /* in the tile */
} Presence;

typedef struct Tiled {
  const CclTiledPlan *plan;
  const CclTiledIo *io;
  CclTiledPlan own_plan; /* with defaults in place of zeros */
  uint32_t rank, n_ranks;
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
  uint64_t *final; /* [final_size]: for each label of the tile its final label; in the measuring
                    * pass, the least label that its component has in the tile */
  uint64_t final_size;
  uint32_t *previous;           /* the last layer of the tile before */
  uint64_t previous_node, node; /* the first nodes of the two tiles, while they are joined */

  Group group;     /* the slab, for other ranks */
  uint64_t *roots; /* [group.n_entries]: the node of each entry */

  /* The measuring pass. */
  bool measures_late;  /* whether there is one */
  Around around;       /* of the slab; in the pass, of the tile */
  uint64_t *spare;     /* [layer] */
  Presence *presences; /* [n_seam_labels], of the latest tile, sorted */
  /* For each run of foreground in the first row of each tile, one after the other, 1 + the index of
   * its node of the tile. Only for perimeters. */
  uint32_t *first_runs;
  uint64_t n_first_runs, first_runs_size;

  /* The second pass. */
  uint64_t next_label; /* of the next component that begins in the slab */
  uint32_t label_bytes;
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

/* Reads and labels a tile, and measures the columns. */
CclStatus tiled_label_tile (
    Tiled *self, uint64_t index, TileLabels labels, uint32_t columns, CclError *error);

/* Fills the error for a tile whose pixels are others than in the first pass. */
CclStatus tiled_pixels_changed (const Tiled *self, uint64_t index, CclError *error);

/* Makes sure that there is a final label for each label of the latest tile, and for 0; those that
 * there are may be lost. */
CclStatus tiled_size_final (Tiled *self, CclError *error);

/* Reports that so many layers more are done. */
void tiled_report_progress (Tiled *self, uint64_t n_layers);

/* first-pass.c. Lists the labels of the latest tile that touch a seam. */
void tiled_list_seam_labels (Tiled *self, uint64_t index);

/* Writes for each pixel of a layer of the latest tile at a seam 0, or 1 + the place of its label in
 * that list. */
void tiled_number_layer (const Tiled *self, const uint32_t *layer, uint32_t *numbers);

/* Describes the components of the slab's first and last layer, as far as the slab knows them, in
 * the group's entries. */
void tiled_fill_entries (Tiled *self);

/* The group's entry of a root; n_entries if it has none. */
uint64_t tiled_entry_of (const Tiled *self, uint64_t root);

/* The first pass, up to the description of the slab for other ranks: its components that touch its
 * first or last layer. */
CclStatus tiled_unite_slab (Tiled *self, CclError *error);

/* measuring-pass.c. Allocates what the measuring pass needs. */
CclStatus tiled_prepare_to_measure (Tiled *self, CclError *error);

/* The measuring pass: once the components are known, measures those at seams, also into the group's
 * entries. */
CclStatus tiled_measure_slab (Tiled *self, CclError *error);

/* After ranks have united their slabs: takes over what they found, and lists the labels of the
 * components that begin in the slab. Returns their number. */
uint64_t tiled_list_own_labels (Tiled *self);

/* The second pass, after the exchange between ranks: writes label map and table. */
CclStatus tiled_label_slab (
    Tiled *self, uint64_t first_label, uint64_t n_labels, uint64_t n_components, CclError *error);

/* plan.c. Peers may be NULL. */
CclStatus tiled_check_peers (const CclTiledPeers *peers, CclError *error);
CclStatus tiled_check_plan (
    const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers, CclError *error);

/* The layers of a tile, so that half of the memory suffices in the worst case. The other half is
 * for the components at seams. */
uint64_t tiled_choose_layers (const CclTiledPlan *plan);
