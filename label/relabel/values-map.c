/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "values-map.h"

#include "pictures/error.h"
#include "plan.h"

#include <cudaccl/chunks.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a pixel of a tile beside its value: its labels, the labeller's memory by values.h, and
 * whether it is foreground. */
enum { BYTES_PER_PIXEL = 4 + 5 + 1 };

/* After so many parts, memory of the file rests. */
enum { PARTS_AT_ONCE = 1 << 20 };

typedef struct Finding {
  ValuesMap *found;
  const ValuesPicture *picture;
  const CclTiledPlan *plan;
  const CclTiledIo *io;
  uint64_t layer, n_layers; /* pixels of a layer, and how many there are */
  uint64_t tile_layers, n_tiles;
  size_t value_bytes;
  ValuesTiles *tiles;
  CclForest *forest; /* parts that touch at seams; a chunk is a tile */
  uint64_t *starts;  /* [n_tiles + 1]: the parts of the tiles before */
  uint8_t *values;   /* of the tile */
  uint32_t *labels;
  uint8_t *foreground;    /* NULL without */
  uint8_t *upper_values;  /* of the last layer of the tile before */
  uint32_t *upper_labels; /* those of that tile alone */
} Finding;

static CclStatus
no_memory (CclError *error)
{
  fail_without_memory (error);
  return CUDACCL_ERROR_NO_MEMORY;
}

static uint64_t
choose_layers (const Finding *self)
{
  const CclTiledPlan *plan = self->plan;
  const uint64_t most = CUDACCL_MAX_PIXELS / self->layer;
  uint64_t n = plan->tile_layers;

  if (!n)
    n = memory_of (plan) / 2 / (self->value_bytes + BYTES_PER_PIXEL) / self->layer;
  n = n > most ? most : n;
  return n < 1 ? 1 : n < self->n_layers ? n : self->n_layers;
}

static CclStatus
prepare (Finding *self, CclError *error)
{
  const size_t n = self->tile_layers * self->layer;

  if (self->layer > CUDACCL_MAX_PIXELS) {
    fail (error, "a layer of %llu pixels is too large: at most %d pixels can be labelled at once",
        (unsigned long long)self->layer, CUDACCL_MAX_PIXELS);
    return CUDACCL_ERROR_UNSUPPORTED;
  }
  self->found->map = kept_map_new (self->plan->scratch_folder, "components", error);
  self->tiles = values_tiles_new (self->picture, self->plan, error);
  self->forest = ccl_forest_new (error);
  if (!self->found->map || !self->tiles || !self->forest)
    return CUDACCL_ERROR_IO;
  self->starts = calloc (self->n_tiles + 1, sizeof *self->starts);
  self->values = reallocarray (NULL, n, self->value_bytes);
  self->labels = reallocarray (NULL, n, sizeof *self->labels);
  self->upper_values = reallocarray (NULL, self->layer, self->value_bytes);
  self->upper_labels = reallocarray (NULL, self->layer, sizeof *self->labels);
  if (self->picture->has_foreground)
    self->foreground = malloc (n);
  if (!self->starts || !self->values || !self->labels || !self->upper_values ||
      !self->upper_labels || (self->picture->has_foreground && !self->foreground))
    return no_memory (error);
  return CUDACCL_OK;
}

/* Connects the parts of the latest tile with those of the tile before. */
static CclStatus
add_seam (Finding *self, uint64_t tile, CclError *error)
{
  const CclTiledPlan *plan = self->plan;
  const CclSeam seam = {.width = (uint32_t)plan->width,
      .height = is_frame (plan) ? 1 : (uint32_t)plan->height,
      .connectivity = plan->connectivity,
      .upper = self->upper_labels,
      .lower = self->labels,
      .upper_values = self->upper_values,
      .lower_values = self->values,
      .value_type = self->picture->type,
      .is_signed = self->picture->is_signed,
      .tolerance = self->picture->tolerance};

  return ccl_forest_add_seam (self->forest, &seam, (uint32_t)tile - 1, (uint32_t)tile, error);
}

/* Keeps the last layer for the seam to the next tile. */
static void
keep_last_layer (Finding *self, uint64_t n_layers)
{
  const uint64_t first = (n_layers - 1) * self->layer;

  memcpy (self->upper_labels, self->labels + first, self->layer * sizeof *self->labels);
  memcpy (self->upper_values, self->values + first * self->value_bytes,
      self->layer * self->value_bytes);
}

/* Keeps the values of the first pixels of the latest tile's parts, and counts its labels on from
 * those of the tiles before. */
static void
number_parts (Finding *self, uint64_t start, uint64_t n_pixels)
{
  uint64_t *kept = self->found->values.data;
  uint32_t n = 0;

  for (uint64_t i = 0; i < n_pixels; i++) {
    if (self->labels[i] > n)
      memcpy (&kept[start + n++], self->values + i * self->value_bytes, self->value_bytes);
    if (self->labels[i])
      self->labels[i] += (uint32_t)start;
  }
}

/* Takes the labels of the latest tile, 1…n. */
static CclStatus
keep_tile (Finding *self, uint64_t tile, uint64_t n_layers, uint32_t n, CclError *error)
{
  const uint64_t start = self->starts[tile], n_pixels = n_layers * self->layer;
  const size_t bytes = (start + n + 1) * sizeof (uint64_t);

  if (start + n >= UINT32_MAX) {
    fail (error, "the tiles of a picture with many values have more than 2^32 components");
    return CUDACCL_ERROR_UNSUPPORTED;
  }
  self->starts[tile + 1] = start + n;
  keep_last_layer (self, n_layers);
  if (!file_memory_grow (&self->found->values, self->plan->scratch_folder, bytes, error))
    return CUDACCL_ERROR_IO;
  number_parts (self, start, n_pixels);
  file_memory_rest (&self->found->values);
  return to_status (kept_map_write (self->found->map, tile * self->tile_layers * self->layer,
      self->labels, n_pixels, sizeof *self->labels, error));
}

static CclStatus
label_tile (Finding *self, uint64_t tile, CclError *error)
{
  const uint64_t first = tile * self->tile_layers, left = self->n_layers - first;
  const uint64_t n_layers = left < self->tile_layers ? left : self->tile_layers;
  uint32_t n = 0;
  CclStatus status = self->picture->read (
      self->picture->data, first, n_layers, self->values, self->foreground, error);

  if (status == CUDACCL_OK)
    status = values_tiles_label (
        self->tiles, (uint32_t)n_layers, self->values, self->foreground, self->labels, &n, error);
  if (status == CUDACCL_OK && tile > 0)
    status = add_seam (self, tile, error);
  if (status == CUDACCL_OK)
    status = keep_tile (self, tile, n_layers, n, error);
  if (status == CUDACCL_OK && self->io && self->io->progress)
    self->io->progress (self->io->data, first + n_layers, self->n_layers);
  return status;
}

/* The part of a label of a tile. */
static uint64_t
part_of (const Finding *self, uint64_t label)
{
  return self->starts[label >> 32] + (label & UINT32_MAX);
}

/* Numbers the components, and moves their values to the places of these numbers. */
static CclStatus
number_components (Finding *self, CclError *error)
{
  const uint64_t n_parts = self->starts[self->n_tiles];
  ValuesMap *found = self->found;
  const CclLabelPair *pairs;
  size_t n_pairs, next = 0;
  const CclStatus status = ccl_forest_pairs (self->forest, &pairs, &n_pairs, error);

  if (status != CUDACCL_OK)
    return status;
  if (!file_memory_grow (
          &found->numbers, self->plan->scratch_folder, (n_parts + 1) * sizeof (uint32_t), error))
    return CUDACCL_ERROR_IO;
  uint32_t *numbers = found->numbers.data;
  uint64_t *values = found->values.data;
  /* A root precedes what is connected to it, and pairs are in the order of parts. */
  for (uint64_t part = 1; part <= n_parts; part++) {
    if (next < n_pairs && part_of (self, pairs[next].label) == part) {
      numbers[part] = numbers[part_of (self, pairs[next++].root)];
    } else {
      values[found->n] = values[part - 1];
      numbers[part] = ++found->n;
    }
    if (part % PARTS_AT_ONCE == 0) {
      file_memory_rest (&found->numbers);
      file_memory_rest (&found->values);
    }
  }
  file_memory_rest (&found->numbers);
  file_memory_rest (&found->values);
  return CUDACCL_OK;
}

CclStatus
values_map_find (ValuesMap *found, const ValuesPicture *picture, const CclTiledPlan *plan,
    const CclTiledIo *io, CclError *error)
{
  Finding self = {.found = found,
      .picture = picture,
      .plan = plan,
      .io = io,
      .layer = layer_pixels (plan),
      .n_layers = n_layers_of (plan),
      .value_bytes = values_bytes (picture->type)};
  self.tile_layers = choose_layers (&self);
  self.n_tiles = (self.n_layers - 1) / self.tile_layers + 1;
  found->n_tiles = self.n_tiles;
  CclStatus status = prepare (&self, error);

  for (uint64_t tile = 0; tile < self.n_tiles && status == CUDACCL_OK; tile++)
    status = label_tile (&self, tile, error);
  if (status == CUDACCL_OK)
    status = number_components (&self, error);
  values_tiles_free (self.tiles);
  ccl_forest_free (&self.forest);
  free (self.starts);
  free (self.values);
  free (self.labels);
  free (self.foreground);
  free (self.upper_values);
  free (self.upper_labels);
  return status;
}

void
values_map_clear (ValuesMap *self)
{
  kept_map_free (self->map);
  file_memory_free (&self->numbers);
  file_memory_free (&self->values);
  *self = (ValuesMap){0};
}
