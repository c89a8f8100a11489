/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the components at seams where pixels that touch at a corner need not be of one
 * component: with 4, 6 and 18 neighbours. Whether they are may be decided in another tile, so this
 * pass follows when ranks have united the components. In each tile it gives all pixels of a
 * component the same label, also in the layers around the tile, and measures that.
 */
#include "passes.h"

#include <stdlib.h>

/* The label around a tile of a component that the tile does not have. */
#define FOREIGN UINT32_MAX

CclStatus
tiled_prepare_to_measure (Tiled *self, CclError *error)
{
  self->around.before = calloc (self->layer, sizeof *self->around.before);
  self->around.after = calloc (self->layer, sizeof *self->around.after);
  self->spare = malloc (self->layer * sizeof *self->spare);
  self->presences = malloc (2 * self->layer * sizeof *self->presences);
  if (!self->around.before || !self->around.after || !self->spare || !self->presences)
    return tiled_no_memory (error);
  return CUDACCL_OK;
}

/* 1 + the identity of a node's component. */
static uint64_t
identity_of (Tiled *self, uint64_t node)
{
  const uint64_t root = seams_find (&self->seams, node), entry = tiled_entry_of (self, root);

  if (entry < self->group.n_entries)
    return entry_at (self->plan, self->group.entries, entry)->identity + 1;
  return ((uint64_t)self->rank << IDENTITY_SHIFT | root) + 1;
}

static int
compare_presences (const void *a, const void *b)
{
  const Presence *left = a, *right = b;

  if (left->identity != right->identity)
    return left->identity > right->identity ? 1 : -1;
  return (left->label > right->label) - (left->label < right->label);
}

/* Finds for each label of the latest tile the least one of its component. */
static CclStatus
unite_labels (Tiled *self, uint64_t index, CclError *error)
{
  const TileRecord *record = &self->records[index];
  Presence *all = self->presences;
  const CclStatus status = tiled_size_final (self, error);

  if (status != CUDACCL_OK)
    return status;
  for (uint32_t label = 0; label <= self->tile.n_components; label++)
    self->final[label] = label;
  for (uint32_t i = 0; i < record->n_nodes; i++)
    all[i] = (Presence){identity_of (self, record->first_node + i), self->seam_labels[i]};
  qsort (all, record->n_nodes, sizeof *all, compare_presences);
  for (uint32_t i = 1; i < record->n_nodes; i++)
    if (all[i].identity == all[i - 1].identity)
      self->final[all[i].label] = self->final[all[i - 1].label];
  return CUDACCL_OK;
}

static int
compare_identities (const void *a, const void *b)
{
  const uint64_t left = ((const Presence *)a)->identity, right = ((const Presence *)b)->identity;
  return (left > right) - (left < right);
}

/* Writes the labels of a layer around the tile. */
static void
label_around (const Tiled *self, uint64_t index, const uint64_t *identities, uint32_t *labels)
{
  Presence latest = {0, 0};

  for (uint64_t i = 0; i < self->layer; i++) {
    if (identities[i] && identities[i] != latest.identity) {
      latest.identity = identities[i];
      const Presence *found = bsearch (&latest, self->presences, self->records[index].n_nodes,
          sizeof latest, compare_identities);
      latest.label = found ? (uint32_t)self->final[found->label] : FOREIGN;
    }
    labels[i] = identities[i] ? latest.label : 0;
  }
}

/* The identities in the last layer of the latest tile. */
static void
identify_last (Tiled *self, uint64_t index, uint64_t *identities)
{
  const uint64_t first_node = self->records[index].first_node;
  uint32_t latest = 0;
  uint64_t identity = 0;

  tiled_number_layer (self, self->tile.map + (self->tile.n_layers - 1) * self->layer, self->last);
  for (uint64_t i = 0; i < self->layer; i++) {
    if (self->last[i] && self->last[i] != latest) {
      latest = self->last[i];
      identity = identity_of (self, first_node + latest - 1);
    }
    identities[i] = self->last[i] ? identity : 0;
  }
}

/* The identities in the first row of the tile after the latest one, whose foreground is marked in
 * the map. */
static CclStatus
identify_next (Tiled *self, uint64_t index, uint64_t *identities, CclError *error)
{
  const TileRecord *next = &self->records[index + 1];
  const uint64_t end = index + 2 < self->n_tiles ? next[1].first_run : self->n_first_runs;
  const uint32_t *row = self->tile.map + self->tile.n_layers * self->layer;
  uint64_t run = next->first_run, identity = 0;

  for (uint64_t x = 0; x < self->layer; x++) {
    if (row[x] && !identity) {
      if (run == end)
        return tiled_pixels_changed (self, index, error);
      identity = identity_of (self, next->first_node + self->first_runs[run++] - 1);
    } else if (!row[x]) {
      identity = 0;
    }
    identities[x] = identity;
  }
  return run == end ? CUDACCL_OK : tiled_pixels_changed (self, index, error);
}

/* Gives the latest tile and the layers around it the labels of components. Around the next tile
 * leaves the last layer of this one. */
static CclStatus
label_components (Tiled *self, uint64_t index, CclError *error)
{
  TileLabeller *tile = &self->tile;
  const bool is_last = index + 1 == self->n_tiles;
  const uint64_t n_pixels = tile->n_layers * self->layer;
  CclStatus status = unite_labels (self, index, error);

  tile_labeller_mark_around (tile);
  if (status == CUDACCL_OK && tile->n_before)
    label_around (self, index, self->around.before, tile->map - self->layer);
  if (status == CUDACCL_OK && tile->n_after && !is_last)
    status = identify_next (self, index, self->spare, error);
  if (status != CUDACCL_OK)
    return status;
  if (tile->n_after)
    label_around (self, index, is_last ? self->around.after : self->spare, tile->map + n_pixels);
  if (!is_last)
    identify_last (self, index, self->around.before);
  for (uint64_t i = 0; i < n_pixels; i++)
    tile->map[i] = (uint32_t)self->final[tile->map[i]];
  return CUDACCL_OK;
}

static CclStatus
measure_tile (Tiled *self, uint64_t index, CclError *error)
{
  const TileRecord *record = &self->records[index];
  CclStatus status = CUDACCL_OK;

  /* A single tile is still there. */
  if (self->n_tiles > 1)
    status = tiled_label_tile (self, index, TILE_LABELS_ALL, 0, error);
  if (status != CUDACCL_OK)
    return status;
  tiled_list_seam_labels (self, index);
  if (self->n_seam_labels != record->n_nodes)
    return tiled_pixels_changed (self, index, error);
  status = label_components (self, index, error);
  if (status == CUDACCL_OK)
    status = tile_labeller_measure (&self->tile, self->plan->columns, error);
  for (uint32_t i = 0; i < record->n_nodes && status == CUDACCL_OK; i++) {
    Node *root = node_at (&self->seams, seams_find (&self->seams, record->first_node + i));
    ccl_measures_add (root->measures, tile_measures (&self->tile, self->seam_labels[i]),
        ccl_values_are_real (self->plan->intensity_format));
  }
  seams_rest (&self->seams);
  if (self->n_tiles > 1)
    tiled_report_progress (self, tile_layers (self, index));
  return status;
}

CclStatus
tiled_measure_slab (Tiled *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint64_t i = 0; i < self->n_tiles && status == CUDACCL_OK; i++)
    status = measure_tile (self, i, error);
  if (status == CUDACCL_OK)
    tiled_fill_entries (self);
  return status;
}
