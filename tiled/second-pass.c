/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives labels, labels the tiles again, and writes label map and table. */
#include "passes.h"

#include <stdlib.h>

/* Bytes of the label map that are written at once. */
#define CHUNK_BYTES ((size_t)4 << 20)

/* Takes over the identities and measures that the ranks have found for the group's components. */
static void
take_entries (Tiled *self)
{
  const Group *group = &self->group;

  /* The final identity may be another root of the slab, where the component begins. Marked as
   * foreign are the others, which get no label of their own. */
  for (uint64_t i = 0; i < group->n_entries; i++) {
    const Entry *entry = entry_at (self->plan, group->entries, i);
    Node *root = node_at (&self->seams, self->roots[i]);
    root->part = entry->part;
    if (self->plan->columns)
      root->measures[0] = entry->measures[0];
    root->is_foreign = entry->identity != ((uint64_t)self->rank << IDENTITY_SHIFT | self->roots[i]);
  }
}

/* Gives the components that touch seams and begin in the slab their labels, counted from the
 * slab's first one. Returns the number of labels that belong to the slab. */
static uint64_t
number_roots (Tiled *self)
{
  uint64_t n_labels = 0;

  for (uint64_t t = 0; t < self->n_tiles; t++) {
    const TileRecord *record = &self->records[t];
    uint64_t n_roots = 0;
    for (uint64_t i = record->first_node; i < record->first_node + record->n_nodes; i++) {
      Node *node = node_at (&self->seams, i);
      if (node->parent != i || node->is_foreign)
        continue;
      if (part_passes (self->plan, &node->part))
        node->label = n_labels + node->label + ++n_roots;
      else
        node->label = 0;
    }
    n_labels += record->n_inner + n_roots;
    seams_rest (&self->seams);
  }
  return n_labels;
}

uint64_t
tiled_list_own_labels (Tiled *self)
{
  const Group *group = &self->group;

  take_entries (self);
  const uint64_t n_labels = number_roots (self);
  for (uint64_t i = 0; i < group->n_entries; i++) {
    const uint64_t identity = entry_at (self->plan, group->entries, i)->identity;
    if (identity >> IDENTITY_SHIFT == self->rank)
      group->labels[i] =
          node_at (&self->seams, identity - ((uint64_t)self->rank << IDENTITY_SHIFT))->label;
  }
  return n_labels;
}

/* Takes over the final labels. */
static void
take_labels (Tiled *self, uint64_t first_label)
{
  const Group *group = &self->group;

  for (uint64_t t = 0; t < self->n_tiles; t++) {
    const TileRecord *record = &self->records[t];
    for (uint64_t i = record->first_node; i < record->first_node + record->n_nodes; i++) {
      Node *node = node_at (&self->seams, i);
      if (node->parent == i && !node->is_foreign && node->label)
        node->label += first_label - 1;
    }
    seams_rest (&self->seams);
  }
  for (uint64_t i = 0; i < group->n_entries; i++)
    node_at (&self->seams, self->roots[i])->label = group->labels[i];
}

static CclStatus
flush_rows (Tiled *self, CclError *error)
{
  const uint32_t n_rows = self->n_rows;
  self->n_rows = 0;
  if (n_rows == 0)
    return CUDACCL_OK;
  if (self->shapes)
    return self->io->measured (self->io->data, self->rows, self->shapes, n_rows, error);
  return self->io->rows (self->io->data, self->rows, n_rows, error);
}

static CclStatus
add_row (
    Tiled *self, uint64_t label, const CclPart *part, const CclMeasures *measures, CclError *error)
{
  const CclMeasuredPicture picture = measured_picture (self->plan);

  if (self->shapes)
    ccl_measures_derive (
        part, measures, self->plan->columns, &picture, &self->shapes[self->n_rows]);
  self->rows[self->n_rows++] = part_row (part, label);
  return self->n_rows == CHUNK_ROWS ? flush_rows (self, error) : CUDACCL_OK;
}

/* Finds the final labels of the latest tile and adds the rows of the components that begin in it.
 */
static CclStatus
finish_labels (Tiled *self, uint64_t index, CclError *error)
{
  const TileRecord *record = &self->records[index];
  const uint32_t n = self->tile.n_components;
  uint64_t node = record->first_node, n_inner = 0;
  const uint64_t end = node + record->n_nodes;
  CclStatus status = tiled_size_final (self, error);

  if (status != CUDACCL_OK)
    return status;
  self->final[0] = 0;
  for (uint32_t label = 1; label <= n && status == CUDACCL_OK; label++) {
    const CclMeasures *measures = NULL;
    CclPart part;
    bool begins = false;
    self->final[label] = 0;
    if (node < end && label == node_at (&self->seams, node)->tile_label) {
      const Node *root = node_at (&self->seams, seams_find (&self->seams, node));
      self->final[label] = root->label;
      begins = root == node_at (&self->seams, node) && root->label && !root->is_foreign;
      part = root->part;
      measures = root->measures;
      node++;
    } else if (tile_passes (&self->tile, label)) {
      self->final[label] = self->next_label;
      begins = true;
      n_inner++;
      if (self->rows)
        part = tile_part (&self->tile, label);
      measures = tile_measures (&self->tile, label);
    }
    self->next_label += begins;
    if (begins && self->rows)
      status = add_row (self, self->final[label], &part, measures, error);
  }
  if (status == CUDACCL_OK && (node != end || n_inner != record->n_inner))
    return tiled_pixels_changed (self, index, error);
  return status;
}

/* Writes the label map of the latest tile. */
static CclStatus
write_tile (Tiled *self, uint64_t index, CclError *error)
{
  const uint64_t n_layers = tile_layers (self, index);
  uint64_t at_once = CHUNK_BYTES / (self->layer * self->label_bytes);
  CclStatus status = CUDACCL_OK;

  if (at_once < 1)
    at_once = 1;
  for (uint64_t layer = 0; layer < n_layers && status == CUDACCL_OK; layer += at_once) {
    const uint64_t n = n_layers - layer < at_once ? n_layers - layer : at_once;
    const uint32_t *map = self->tile.map + layer * self->layer;
    uint32_t *narrow = self->chunk;
    uint64_t *wide = self->chunk;
    if (self->label_bytes == 4)
      for (uint64_t i = 0; i < n * self->layer; i++)
        narrow[i] = (uint32_t)self->final[map[i]];
    else
      for (uint64_t i = 0; i < n * self->layer; i++)
        wide[i] = self->final[map[i]];
    status =
        self->io->write (self->io->data, tile_begin (self, index) + layer, n, self->chunk, error);
  }
  return status;
}

/* The second pass. */
static CclStatus
write_results (Tiled *self, CclError *error)
{
  const size_t layer_bytes = self->layer * self->label_bytes;
  CclStatus status = CUDACCL_OK;

  if (!self->io->write && !tiled_has_rows (self))
    return CUDACCL_OK;
  self->chunk = malloc (layer_bytes > CHUNK_BYTES ? layer_bytes : CHUNK_BYTES);
  if (tiled_has_rows (self))
    self->rows = malloc (CHUNK_ROWS * sizeof *self->rows);
  if (self->plan->columns)
    self->shapes = malloc (CHUNK_ROWS * sizeof *self->shapes);
  if (!self->chunk || (tiled_has_rows (self) && !self->rows) ||
      (self->plan->columns && !self->shapes))
    return tiled_no_memory (error);
  for (uint64_t i = 0; i < self->n_tiles && status == CUDACCL_OK; i++) {
    /* A single tile is still there. */
    if (self->n_tiles > 1)
      status = tiled_label_tile (self, i, self->io->write ? TILE_LABELS_ALL : TILE_LABELS_NONE,
          self->plan->columns, error);
    if (status == CUDACCL_OK)
      status = finish_labels (self, i, error);
    if (status == CUDACCL_OK && self->io->write)
      status = write_tile (self, i, error);
    seams_rest (&self->seams);
    if (self->n_tiles > 1)
      tiled_report_progress (self, tile_layers (self, i));
  }
  return status == CUDACCL_OK ? flush_rows (self, error) : status;
}

CclStatus
tiled_label_slab (
    Tiled *self, uint64_t first_label, uint64_t n_labels, uint64_t n_components, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  take_labels (self, first_label);
  self->next_label = first_label;
  self->label_bytes = self->plan->label_bytes;
  if (!self->label_bytes)
    self->label_bytes = n_components > UINT32_MAX ? 8 : 4;
  if (self->label_bytes == 4 && n_components > UINT32_MAX && self->io->write)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "%llu components need labels of 8 bytes", (unsigned long long)n_components);
  if (self->io->begin)
    status = self->io->begin (
        self->io->data, n_components, first_label, n_labels, self->label_bytes, error);
  return status == CUDACCL_OK ? write_results (self, error) : status;
}
