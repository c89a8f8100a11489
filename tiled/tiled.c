/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels a picture tile by tile.
 *
 * The first pass labels each tile and keeps of it only the components that touch a seam (seams.h);
 * of the others it counts those that get a label. Then ranks unite the components that cross the
 * seams between their blocks (ranks.h), and the components that touch seams get their final labels.
 * The second pass labels the tiles again, with the same result, and writes label map and table: a
 * component that touches no seam gets the next label, because the labels of a tile are in raster
 * order.
 */
#include "join.h"
#include "labeller-class.h"
#include "struct-size.h"
#include "ranks.h"
#include "seams.h"
#include "tile.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the label map that are written at once, and rows of the table. */
#define CHUNK_BYTES ((size_t)4 << 20)
enum { CHUNK_ROWS = 4096 };

#define DEFAULT_MEMORY ((uint64_t)1 << 30)

/* The most pixels of a tile on a GPU. */
#define MOST_DEVICE_PIXELS ((uint64_t)1 << 26)

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
  uint64_t end;   /* the layer after the block */
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

  Group group;     /* the block, for other ranks */
  uint64_t *roots; /* [group.n_entries]: the node of each entry */

  /* The second pass. */
  uint64_t next_label; /* of the next component that begins in the block */
  uint32_t label_bytes;
  uint64_t *final; /* the final label of each label of the tile */
  uint64_t final_size;
  void *chunk;
  CclTiledComponent *rows; /* [CHUNK_ROWS] */
  uint32_t n_rows;
} Tiled;

static CclStatus
no_memory (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to label tiles");
}

/* The layers of a tile. */
static uint32_t
tile_layers (const Tiled *self, uint64_t index)
{
  const uint64_t begin = self->plan->first_layer + index * self->plan->tile_layers;
  const uint64_t left = self->end - begin;
  return (uint32_t)(left < self->plan->tile_layers ? left : self->plan->tile_layers);
}

static uint64_t
tile_begin (const Tiled *self, uint64_t index)
{
  return self->plan->first_layer + index * self->plan->tile_layers;
}

/* Reads and labels a tile. */
static CclStatus
label_tile (Tiled *self, uint64_t index, TileLabels labels, CclError *error)
{
  const uint32_t n_layers = tile_layers (self, index);
  const CclStatus status =
      self->io->read (self->io->data, tile_begin (self, index), n_layers, self->tile.pixels, error);
  return status == CUDACCL_OK ? tile_labeller_run (&self->tile, n_layers, labels, error) : status;
}

static void
report_progress (Tiled *self, uint64_t n_layers)
{
  self->work_done += n_layers;
  if (self->io->progress)
    self->io->progress (self->io->data, self->work_done, self->work);
}

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

/* Lists the labels of the latest tile that touch a seam. */
static void
list_seam_labels (Tiled *self, uint64_t index)
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

/* Writes for each pixel of a layer 0, or 1 + the place of its label in the list. */
static void
number_layer (const Tiled *self, const uint32_t *layer, uint32_t *numbers)
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
  CclStatus status = CUDACCL_OK;
  uint32_t seam = 0;

  *record = (TileRecord){self->seams.n, self->n_seam_labels, 0};
  for (uint32_t label = 1; label <= self->tile.n_components && status == CUDACCL_OK; label++) {
    if (seam < self->n_seam_labels && label == self->seam_labels[seam]) {
      const Part part = tile_part (&self->tile, label, tile_begin (self, index));
      status = seams_add (&self->seams, &part, label, record->n_inner, error);
      seam++;
    } else {
      record->n_inner += area_passes (self->plan, tile_area (&self->tile, label));
    }
  }
  return status;
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
  const bool writes_map = self->n_tiles == 1 && self->io->write;
  CclStatus status =
      label_tile (self, index, writes_map ? TILE_LABELS_ALL : TILE_LABELS_ENDS, error);

  if (status != CUDACCL_OK)
    return status;
  list_seam_labels (self, index);
  status = add_nodes (self, index, error);
  if (status != CUDACCL_OK)
    return status;
  self->node = self->records[index].first_node;
  if (tile_begin (self, index) > 0)
    number_layer (self, self->tile.map, self->first);
  if (tile_begin (self, index) + n_layers < all_layers (self->plan))
    number_layer (self, self->tile.map + (n_layers - 1) * self->layer, self->last);
  else
    memset (self->last, 0, self->layer * sizeof *self->last);
  if (index > 0)
    join_layers (self->plan, self->previous, self->first, unite_nodes, self);
  else if (tile_begin (self, index) > 0)
    memcpy (self->group.first, self->first, self->layer * sizeof *self->first);

  uint32_t *spare = self->previous;
  self->previous = self->last;
  self->last = spare;
  self->previous_node = self->node;
  seams_rest (&self->seams);
  report_progress (self, n_layers);
  return CUDACCL_OK;
}

static int
compare_nodes (const void *a, const void *b)
{
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Replaces the nodes' numbers in a layer of the group by those of entries. */
static void
number_entries (Tiled *self, uint32_t *layer, uint64_t first_node)
{
  for (uint64_t i = 0; i < self->layer; i++) {
    if (layer[i]) {
      const uint64_t root = seams_find (&self->seams, first_node + layer[i] - 1);
      const uint64_t *found =
          bsearch (&root, self->roots, self->group.n_entries, sizeof *self->roots, compare_nodes);
      layer[i] = (uint32_t)(found - self->roots) + 1;
    }
  }
}

/* Describes the block for other ranks: its components that touch its first or last layer. */
static CclStatus
make_group (Tiled *self, uint32_t rank, CclError *error)
{
  Group *group = &self->group;
  uint64_t n = 0;

  group->begin = self->plan->first_layer;
  group->end = self->end;
  memcpy (group->last, self->previous, self->layer * sizeof *group->last);
  self->roots = malloc ((2 * self->layer + 1) * sizeof *self->roots);
  if (!self->roots)
    return no_memory (error);
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
  group->entries = malloc ((group->n_entries + 1) * sizeof *group->entries);
  group->labels = calloc (group->n_entries + 1, sizeof *group->labels);
  if (!group->entries || !group->labels)
    return no_memory (error);
  for (uint64_t i = 0; i < group->n_entries; i++)
    group->entries[i] = (Entry){
        .identity = (uint64_t)rank << IDENTITY_SHIFT | self->roots[i],
        .part = self->seams.nodes[self->roots[i]].part,
    };
  number_entries (self, group->first, 0);
  number_entries (self, group->last, self->previous_node);
  return CUDACCL_OK;
}

/* Takes over the identities and measures that the ranks have found for the group's components. */
static void
take_entries (Tiled *self, uint32_t rank)
{
  const Group *group = &self->group;

  /* The final identity may be another root of the block, where the component begins. Marked as
   * foreign are the others, which get no label of their own. */
  for (uint64_t i = 0; i < group->n_entries; i++) {
    Node *root = &self->seams.nodes[self->roots[i]];
    root->part = group->entries[i].part;
    root->is_foreign =
        group->entries[i].identity != ((uint64_t)rank << IDENTITY_SHIFT | self->roots[i]);
  }
}

/* Gives the components that touch seams and begin in the block their labels, counted from the
 * block's first one. Returns the number of labels that belong to the block. */
static uint64_t
number_roots (Tiled *self)
{
  uint64_t n_labels = 0;

  for (uint64_t t = 0; t < self->n_tiles; t++) {
    const TileRecord *record = &self->records[t];
    uint64_t n_roots = 0;
    for (uint64_t i = record->first_node; i < record->first_node + record->n_nodes; i++) {
      Node *node = &self->seams.nodes[i];
      if (node->parent != i || node->is_foreign)
        continue;
      if (area_passes (self->plan, node->part.area))
        node->label = n_labels + node->label + ++n_roots;
      else
        node->label = 0;
    }
    n_labels += record->n_inner + n_roots;
    seams_rest (&self->seams);
  }
  return n_labels;
}

/* The labels of the components that begin in the block, for other ranks. Returns their number. */
static uint64_t
list_own_labels (Tiled *self, uint32_t rank)
{
  const Group *group = &self->group;
  const uint64_t n_labels = number_roots (self);

  for (uint64_t i = 0; i < group->n_entries; i++) {
    const uint64_t identity = group->entries[i].identity;
    if (identity >> IDENTITY_SHIFT == rank)
      group->labels[i] = self->seams.nodes[identity - ((uint64_t)rank << IDENTITY_SHIFT)].label;
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
      Node *node = &self->seams.nodes[i];
      if (node->parent == i && !node->is_foreign && node->label)
        node->label += first_label - 1;
    }
    seams_rest (&self->seams);
  }
  for (uint64_t i = 0; i < group->n_entries; i++)
    self->seams.nodes[self->roots[i]].label = group->labels[i];
}

static CclStatus
flush_rows (Tiled *self, CclError *error)
{
  const uint32_t n_rows = self->n_rows;
  self->n_rows = 0;
  return n_rows ? self->io->rows (self->io->data, self->rows, n_rows, error) : CUDACCL_OK;
}

static CclStatus
add_row (Tiled *self, uint64_t label, const Part *part, CclError *error)
{
  const double area = (double)part->area;

  self->rows[self->n_rows++] = (CclTiledComponent){
      .label = label,
      .area = part->area,
      .x = part->least[X],
      .y = part->least[Y],
      .z = part->least[Z],
      .width = (uint64_t)part->greatest[X] - part->least[X] + 1,
      .height = (uint64_t)part->greatest[Y] - part->least[Y] + 1,
      .depth = (uint64_t)part->greatest[Z] - part->least[Z] + 1,
      .centroid_x = (double)part->sum[X] / area,
      .centroid_y = (double)part->sum[Y] / area,
      .centroid_z = (double)part->sum[Z] / area,
  };
  return self->n_rows == CHUNK_ROWS ? flush_rows (self, error) : CUDACCL_OK;
}

/* Finds the final labels of the latest tile and adds the rows of the components that begin in it.
 */
static CclStatus
finish_labels (Tiled *self, uint64_t index, CclError *error)
{
  const TileRecord *record = &self->records[index];
  const uint64_t begin = tile_begin (self, index), first_label = self->next_label;
  const uint32_t n = self->tile.n_components;
  uint64_t node = record->first_node, n_inner = 0;
  const uint64_t end = node + record->n_nodes;
  CclStatus status = CUDACCL_OK;

  if (self->final_size <= n) {
    free (self->final);
    self->final_size = (uint64_t)n + 1;
    self->final = malloc (self->final_size * sizeof *self->final);
    if (!self->final)
      return no_memory (error);
  }
  self->final[0] = 0;
  for (uint32_t label = 1; label <= n && status == CUDACCL_OK; label++) {
    Part part;
    bool begins = false;
    self->final[label] = 0;
    if (node < end && label == self->seams.nodes[node].tile_label) {
      const Node *root = &self->seams.nodes[seams_find (&self->seams, node)];
      self->final[label] = root->label;
      begins = root == &self->seams.nodes[node] && root->label && !root->is_foreign;
      part = root->part;
      node++;
    } else if (area_passes (self->plan, tile_area (&self->tile, label))) {
      self->final[label] = self->next_label;
      begins = true;
      n_inner++;
      if (self->io->rows)
        part = tile_part (&self->tile, label, begin);
    }
    self->next_label += begins;
    if (begins && self->io->rows)
      status = add_row (self, self->final[label], &part, error);
  }
  if (status == CUDACCL_OK && (node != end || n_inner != record->n_inner))
    return ccl_error_set (error, CUDACCL_ERROR_IO,
        "the pixels of layers %llu… changed while they were labelled (label %llu)",
        (unsigned long long)begin, (unsigned long long)first_label);
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

  if (!self->io->write && !self->io->rows)
    return CUDACCL_OK;
  self->chunk = malloc (layer_bytes > CHUNK_BYTES ? layer_bytes : CHUNK_BYTES);
  self->rows = malloc (CHUNK_ROWS * sizeof *self->rows);
  if (!self->chunk || !self->rows)
    return no_memory (error);
  for (uint64_t i = 0; i < self->n_tiles && status == CUDACCL_OK; i++) {
    /* A single tile is still there. */
    if (self->n_tiles > 1)
      status = label_tile (self, i, self->io->write ? TILE_LABELS_ALL : TILE_LABELS_NONE, error);
    if (status == CUDACCL_OK)
      status = finish_labels (self, i, error);
    if (status == CUDACCL_OK && self->io->write)
      status = write_tile (self, i, error);
    seams_rest (&self->seams);
    if (self->n_tiles > 1)
      report_progress (self, tile_layers (self, i));
  }
  return status == CUDACCL_OK ? flush_rows (self, error) : status;
}

static CclStatus
check_peers (const CclTiledPeers *peers, CclError *error)
{
  if (!peers)
    return CUDACCL_OK;
  if (peers->n_ranks < 1 || peers->n_ranks > 1u << 20 || peers->rank >= peers->n_ranks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "there is no rank %u of %u ranks",
        peers->rank, peers->n_ranks);
  if (peers->n_ranks > 1 && (!peers->send || !peers->receive))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "several ranks need functions to send and to receive");
  return CUDACCL_OK;
}

static CclStatus
check_plan (const CclTiledPlan *plan, const CclTiledPeers *peers, CclError *error)
{
  const unsigned long long width = plan->width, height = plan->height, depth = plan->depth;
  const uint64_t most = UINT32_MAX;

  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 || plan->depth < 1 || plan->width > most ||
      plan->height > most || plan->depth > most)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a picture of %llu×%llu×%llu pixels has a side that is not 1…%u", width, height, depth,
        UINT32_MAX);
  if (!is_frame (plan) && plan->connectivity != 6 && plan->connectivity != 18 &&
      plan->connectivity != 26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames and 6, 18 or 26 for volumes, not %u",
        plan->connectivity);
  if (is_frame (plan) && plan->depth != 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "%u-connectivity is for frames, and the picture has %llu slices", plan->connectivity,
        depth);
  if (plan->threshold > 255)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the threshold must be 0…255, not %u", plan->threshold);
  if (plan->label_bytes != 0 && plan->label_bytes != 4 && plan->label_bytes != 8)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a label has 4 or 8 bytes, not %u", plan->label_bytes);
  if (plan->first_layer > all_layers (plan) ||
      plan->n_layers > all_layers (plan) - plan->first_layer)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the block of %llu layers from layer %llu is not inside the picture",
        (unsigned long long)plan->n_layers, (unsigned long long)plan->first_layer);
  if ((!peers || peers->n_ranks == 1) && plan->n_layers != all_layers (plan))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "one process must label the whole picture, not %llu of %llu layers",
        (unsigned long long)plan->n_layers, (unsigned long long)all_layers (plan));
  if ((!is_frame (plan) && plan->width > CUDACCL_MAX_PIXELS / plan->height) ||
      plan->width > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "a layer of %llu×%llu pixels is too large: at most %d pixels can be labelled at once",
        width, is_frame (plan) ? 1ull : height, CUDACCL_MAX_PIXELS);
  uint64_t longest = plan->width > plan->height ? plan->width : plan->height;
  longest = plan->depth > longest ? plan->depth : longest;
  if (layer_size (plan) * all_layers (plan) > INT64_MAX / longest)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "in a picture of %llu×%llu×%llu pixels, sums of coordinates could exceed 64 bits", width,
        height, depth);
  return CUDACCL_OK;
}

/* The layers of a tile, so that half of the memory suffices in the worst case. The other half is
 * for the components at seams. */
static uint64_t
choose_tile_layers (const CclTiledPlan *plan)
{
  const uint64_t memory = plan->memory ? plan->memory : DEFAULT_MEMORY;
  uint64_t most = memory / 2 / tile_bytes_per_pixel (plan), layers;

  if (plan->device && most > MOST_DEVICE_PIXELS)
    most = MOST_DEVICE_PIXELS;
  if (most > CUDACCL_MAX_PIXELS)
    most = CUDACCL_MAX_PIXELS;
  if (plan->tile_layers && plan->tile_layers <= CUDACCL_MAX_PIXELS / layer_size (plan))
    layers = plan->tile_layers;
  else
    layers = plan->tile_layers ? CUDACCL_MAX_PIXELS / layer_size (plan) : most / layer_size (plan);
  if (layers > plan->n_layers)
    layers = plan->n_layers;
  if (layers == 0)
    return 1;
  /* Tiles of the same size, as far as the memory decides it. */
  const uint64_t n_tiles = (plan->n_layers + layers - 1) / layers;
  return plan->tile_layers ? layers : (plan->n_layers + n_tiles - 1) / n_tiles;
}

static CclStatus
allocate (Tiled *self, CclError *error)
{
  const CclTiledPlan *plan = self->plan;
  const uint64_t most_layers = self->n_tiles ? plan->tile_layers : 0;
  CclStatus status = tile_labeller_init (&self->tile, plan, (uint32_t)most_layers, error);

  if (status == CUDACCL_OK)
    status = seams_init (&self->seams, plan->scratch_folder, error);
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
    return no_memory (error);
  return CUDACCL_OK;
}

static void
clear (Tiled *self)
{
  tile_labeller_clear (&self->tile);
  seams_clear (&self->seams);
  free (self->records);
  free (self->seam_labels);
  free (self->first);
  free (self->last);
  free (self->previous);
  free (self->group.entries);
  free (self->group.first);
  free (self->group.last);
  free (self->group.labels);
  free (self->roots);
  free (self->final);
  free (self->chunk);
  free (self->rows);
}

/* The first pass, up to the description of the block for other ranks. */
static CclStatus
unite_block (Tiled *self, uint32_t rank, CclError *error)
{
  CclStatus status = allocate (self, error);

  for (uint64_t i = 0; i < self->n_tiles && status == CUDACCL_OK; i++)
    status = unite_tile (self, i, error);
  return status == CUDACCL_OK ? make_group (self, rank, error) : status;
}

/* The second pass, after the exchange between ranks. */
static CclStatus
label_block (
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

/* status: of the checks of the plan. */
static CclStatus
run (Tiled *self, const CclTiledPeers *peers, CclStatus status, CclTiledResult *result,
    CclError *error)
{
  const uint32_t rank = peers ? peers->rank : 0;
  uint64_t first_label = 1, n_labels = 0;
  Ranks ranks;

  ranks_init (&ranks, self->plan, peers);
  if (status == CUDACCL_OK)
    status = unite_block (self, rank, error);
  status = ranks_unite (&ranks, &self->group, status, error);
  if (status == CUDACCL_OK) {
    take_entries (self, rank);
    n_labels = list_own_labels (self, rank);
  }
  /* Also after a failure, of which not all ranks may know. */
  if (status == CUDACCL_OK || self->n_ranks > 1)
    status =
        ranks_label (&ranks, &self->group, n_labels, &first_label, &result->n_components, error);
  if (status == CUDACCL_OK)
    status = label_block (self, first_label, n_labels, result->n_components, error);
  result->n_tiles = self->n_tiles;
  result->n_seam_components = self->seams.n;
  result->bytes_sent = ranks.messages.bytes_sent;
  result->n_messages = ranks.messages.n_messages;
  ranks_clear (&ranks);
  return status;
}

static void
cut_into_tiles (Tiled *self)
{
  CclTiledPlan *plan = &self->own_plan;

  plan->tile_layers = choose_tile_layers (plan);
  self->layer = layer_size (plan);
  self->end = plan->first_layer + plan->n_layers;
  self->n_tiles = (plan->n_layers + plan->tile_layers - 1) / plan->tile_layers;
  self->work = self->n_tiles > 1 && (self->io->write || self->io->rows) ? 2 * plan->n_layers
                                                                        : plan->n_layers;
}

CclStatus
ccl_tiled_run (const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers,
    CclTiledResult *result, CclError *error)
{
  CclTiledResult own_result = {0};
  CclError own_error = {CUDACCL_OK, ""};
  Tiled self = {.seams.file = -1};
  CclStatus status;

  if (!error)
    error = &own_error;
  if (!plan || !io || !io->read)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "plan, functions and the function to read must not be NULL");
  status = check_peers (peers, error);
  if (status != CUDACCL_OK)
    return status;
  /* Other ranks have to know that this one refuses its plan. */
  status = check_plan (plan, peers, error);
  if (status != CUDACCL_OK && (!peers || peers->n_ranks == 1))
    return status;
  self.own_plan = *plan;
  self.plan = &self.own_plan;
  self.io = io;
  self.n_ranks = peers ? peers->n_ranks : 1;
  if (status == CUDACCL_OK)
    cut_into_tiles (&self);
  status = run (&self, peers, status, &own_result, error);
  if (status == CUDACCL_OK && result)
    *result = own_result;
  clear (&self);
  return status;
}
