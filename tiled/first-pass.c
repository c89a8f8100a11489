/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels each tile and keeps of it only the components that touch a seam; of the others it counts
 * those that get a label.
 */
#include "tiled/parts/join.h"
#include "core/base/divide-up.h"
#include "passes.h"

#include <stdlib.h>
#include <string.h>

static int
compare_labels (const void *a, const void *b)
{
  const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Appends the labels of a layer, without immediate repetitions. */
static void
add_labels (Tiled *self, const uint32_t *layer)
{
  uint32_t latest = 0;
  for (uint64_t i = 0; i < self->layer; i++) {
    if (layer[i] && layer[i] != latest)
      self->seam_labels[self->n_seam_labels++] = layer[i];
    latest = layer[i];
  }
}

void
tiled_list_seam_labels (Tiled *self, uint64_t index)
{
  const uint32_t n_layers = tile_layers (self, index);
  const uint64_t begin = tile_begin (self, index);
  uint32_t n = 0;

  self->n_seam_labels = 0;
  if (begin > 0)
    add_labels (self, self->tile.map);
  if (begin + n_layers < all_layers (self->plan))
    add_labels (self, self->tile.map + (n_layers - 1) * self->layer);
  qsort (self->seam_labels, self->n_seam_labels, sizeof *self->seam_labels, compare_labels);
  for (uint32_t i = 0; i < self->n_seam_labels; i++)
    if (i == 0 || self->seam_labels[i] != self->seam_labels[i - 1])
      self->seam_labels[n++] = self->seam_labels[i];
  self->n_seam_labels = n;
}

void
tiled_number_layer (const Tiled *self, const uint32_t *layer, uint32_t *numbers)
{
  uint32_t latest = 0, number = 0;

  for (uint64_t i = 0; i < self->layer; i++) {
    if (layer[i] && layer[i] != latest) {
      const uint32_t *found = bsearch (&layer[i], self->seam_labels, self->n_seam_labels,
          sizeof *self->seam_labels, compare_labels);
      latest = layer[i];
      number = (uint32_t)(found - self->seam_labels) + 1;
    }
    numbers[i] = layer[i] ? number : 0;
  }
}

/* Adds a node for each label of the list, and counts the other components that get a label. */
static CclStatus
add_nodes (Tiled *self, uint64_t index, CclError *error)
{
  TileRecord *record = &self->records[index];
  const CclMeasures nothing = CCL_EMPTY_MEASURES;
  CclStatus status = CUDACCL_OK;
  uint32_t seam = 0;

  *record = (TileRecord){
      self->seams.n, self->n_seam_labels, .n_inner = 0, .first_run = self->n_first_runs};
  for (uint32_t label = 1; label <= self->tile.n_components && status == CUDACCL_OK; label++) {
    if (seam < self->n_seam_labels && label == self->seam_labels[seam]) {
      const CclPart part = tile_part (&self->tile, label);
      status = seams_add (&self->seams, &part,
          self->measures_late ? &nothing : tile_measures (&self->tile, label), label,
          record->n_inner, error);
      seam++;
    } else {
      record->n_inner += tile_passes (&self->tile, label);
    }
  }
  return status;
}

/* Keeps the runs of the first row of the latest tile. */
static CclStatus
add_first_runs (Tiled *self, CclError *error)
{
  const uint64_t most = self->n_first_runs + divide_up (self->layer, 2);

  if (self->first_runs_size < most) {
    uint32_t *runs = realloc (self->first_runs, 2 * most * sizeof *runs);
    if (!runs)
      return tiled_no_memory (error);
    self->first_runs = runs;
    self->first_runs_size = 2 * most;
  }
  for (uint64_t x = 0; x < self->layer; x++)
    if (self->first[x] && (x == 0 || !self->first[x - 1]))
      self->first_runs[self->n_first_runs++] = self->first[x];
  return CUDACCL_OK;
}

static void
unite_nodes (void *data, uint32_t a, uint32_t b)
{
  Tiled *self = data;
  seams_unite (&self->seams, self->previous_node + a - 1, self->node + b - 1);
}

/* The first pass over a tile. */
static CclStatus
unite_tile (Tiled *self, uint64_t index, CclError *error)
{
  const uint32_t n_layers = tile_layers (self, index);
  /* A single tile is labelled once. */
  const bool needs_map = self->n_tiles == 1 && (self->io->write || self->measures_late);
  CclStatus status = tiled_label_tile (self, index, needs_map ? TILE_LABELS_ALL : TILE_LABELS_ENDS,
      self->measures_late ? 0 : self->plan->columns, error);

  if (status != CUDACCL_OK)
    return status;
  tiled_list_seam_labels (self, index);
  status = add_nodes (self, index, error);
  if (status != CUDACCL_OK)
    return status;
  self->node = self->records[index].first_node;
  if (tile_begin (self, index) > 0)
    tiled_number_layer (self, self->tile.map, self->first);
  if (tile_begin (self, index) + n_layers < all_layers (self->plan))
    tiled_number_layer (self, self->tile.map + (n_layers - 1) * self->layer, self->last);
  else
    memset (self->last, 0, self->layer * sizeof *self->last);
  if (index > 0)
    join_layers (self->plan, self->previous, self->first, unite_nodes, self);
  else if (tile_begin (self, index) > 0)
    memcpy (self->group.first, self->first, self->layer * sizeof *self->first);

  if (self->measures_late && self->tile.most_after && index > 0) {
    status = add_first_runs (self, error);
    if (status != CUDACCL_OK)
      return status;
  }
  uint32_t *spare = self->previous;
  self->previous = self->last;
  self->last = spare;
  self->previous_node = self->node;
  seams_rest (&self->seams);
  tiled_report_progress (self, n_layers);
  return CUDACCL_OK;
}

static int
compare_nodes (const void *a, const void *b)
{
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

uint64_t
tiled_entry_of (const Tiled *self, uint64_t root)
{
  const uint64_t n = self->group.n_entries;
  const uint64_t *found = bsearch (&root, self->roots, n, sizeof *self->roots, compare_nodes);
  return found ? (uint64_t)(found - self->roots) : n;
}

/* Replaces the nodes' numbers in a layer of the group by those of entries. */
static void
number_entries (Tiled *self, uint32_t *layer, uint64_t first_node)
{
  for (uint64_t i = 0; i < self->layer; i++) {
    if (layer[i]) {
      const uint64_t root = seams_find (&self->seams, first_node + layer[i] - 1);
      layer[i] = (uint32_t)tiled_entry_of (self, root) + 1;
    }
  }
}

void
tiled_fill_entries (Tiled *self)
{
  const Group *group = &self->group;

  for (uint64_t i = 0; i < group->n_entries; i++) {
    const Node *root = node_at (&self->seams, self->roots[i]);
    Entry *entry = entry_at (self->plan, group->entries, i);
    *entry = (Entry){
        .identity = (uint64_t)self->rank << IDENTITY_SHIFT | self->roots[i],
        .part = root->part,
    };
    if (self->plan->columns)
      entry->measures[0] = root->measures[0];
  }
}

/* Describes the slab for other ranks: its components that touch its first or last layer. */
static CclStatus
make_group (Tiled *self, CclError *error)
{
  Group *group = &self->group;
  uint64_t n = 0;

  group->begin = self->plan->first_layer;
  group->end = self->end;
  memcpy (group->last, self->previous, self->layer * sizeof *group->last);
  self->roots = malloc ((2 * self->layer + 1) * sizeof *self->roots);
  if (!self->roots)
    return tiled_no_memory (error);
  for (uint64_t i = 0; i < self->layer; i++) {
    if (group->first[i])
      self->roots[n++] = seams_find (&self->seams, group->first[i] - 1);
    if (group->last[i])
      self->roots[n++] = seams_find (&self->seams, self->previous_node + group->last[i] - 1);
  }
  qsort (self->roots, n, sizeof *self->roots, compare_nodes);
  for (uint64_t i = 0; i < n; i++)
    if (i == 0 || self->roots[i] != self->roots[i - 1])
      self->roots[group->n_entries++] = self->roots[i];
  group->entries = malloc ((group->n_entries + 1) * entry_size (self->plan));
  group->labels = calloc (group->n_entries + 1, sizeof *group->labels);
  if (!group->entries || !group->labels)
    return tiled_no_memory (error);
  tiled_fill_entries (self);
  number_entries (self, group->first, 0);
  number_entries (self, group->last, self->previous_node);
  return CUDACCL_OK;
}

static CclStatus
allocate (Tiled *self, CclError *error)
{
  const CclTiledPlan *plan = self->plan;
  const uint64_t most_layers = self->n_tiles ? plan->tile_layers : 0;
  CclStatus status = tile_labeller_init (&self->tile, plan, (uint32_t)most_layers, error);

  if (status == CUDACCL_OK)
    status = seams_init (&self->seams, plan, error);
  if (status != CUDACCL_OK)
    return status;
  self->records = calloc (self->n_tiles + 1, sizeof *self->records);
  self->seam_labels = malloc (2 * self->layer * sizeof *self->seam_labels);
  self->first = calloc (self->layer, sizeof *self->first);
  self->last = calloc (self->layer, sizeof *self->last);
  self->previous = calloc (self->layer, sizeof *self->previous);
  self->group.first = calloc (self->layer, sizeof *self->group.first);
  self->group.last = calloc (self->layer, sizeof *self->group.last);
  if (!self->records || !self->seam_labels || !self->first || !self->last || !self->previous ||
      !self->group.first || !self->group.last)
    return tiled_no_memory (error);
  return self->measures_late ? tiled_prepare_to_measure (self, error) : CUDACCL_OK;
}

CclStatus
tiled_unite_slab (Tiled *self, CclError *error)
{
  CclStatus status = allocate (self, error);

  for (uint64_t i = 0; i < self->n_tiles && status == CUDACCL_OK; i++)
    status = unite_tile (self, i, error);
  return status == CUDACCL_OK ? make_group (self, error) : status;
}
