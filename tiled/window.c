/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads tiles with the layers around them, on which their measures depend. */
#include "passes.h"

#include <string.h>

/* Reads the layers before the slab. */
static CclStatus
read_before (Tiled *self, CclError *error)
{
  TileLabeller *tile = &self->tile;
  const uint64_t begin = tile_begin (self, 0);

  tile->n_before = begin < tile->most_before ? (uint32_t)begin : tile->most_before;
  if (tile->n_before == 0)
    return CUDACCL_OK;
  return self->io->read (
      self->io->data, begin - tile->n_before, tile->n_before, tile->before, error);
}

/* Makes the last layers of the latest tile, and of those before it, the layers before the next one.
 */
static void
keep_before (Tiled *self)
{
  TileLabeller *tile = &self->tile;
  const uint32_t known = tile->n_before + tile->n_layers;
  const uint32_t n = known < tile->most_before ? known : tile->most_before;
  const uint32_t from_tile = n < tile->n_layers ? n : tile->n_layers, kept = n - from_tile;

  memmove (tile->before, tile->before + (tile->n_before - kept) * self->layer, kept * self->layer);
  memcpy (tile->before + kept * self->layer,
      tile->pixels + (tile->n_layers - from_tile) * self->layer, from_tile * self->layer);
  tile->n_before = n;
}

/* Moves layers that were read after the latest tile into the present one. Returns their number. */
static uint32_t
take_after (Tiled *self, uint32_t n_layers)
{
  TileLabeller *tile = &self->tile;
  const uint32_t n = tile->n_after < n_layers ? tile->n_after : n_layers;

  memcpy (tile->pixels, tile->after, n * self->layer);
  tile->n_after -= n;
  memmove (tile->after, tile->after + n * self->layer, tile->n_after * self->layer);
  return n;
}

/* Reads layers of the picture; n_layers may be 0. */
static CclStatus
read_some (Tiled *self, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  return n_layers ? self->io->read (self->io->data, first_layer, n_layers, pixels, error)
                  : CUDACCL_OK;
}

CclStatus
tiled_read_tile (Tiled *self, uint64_t index, CclError *error)
{
  TileLabeller *tile = &self->tile;
  const uint64_t begin = tile_begin (self, index), left = all_layers (self->plan) - begin;
  const uint32_t n_layers = tile_layers (self, index);
  CclStatus status = CUDACCL_OK;
  uint32_t n_known = 0;

  if (index == 0) {
    tile->n_after = 0;
    status = read_before (self, error);
  } else if (tile->most_before) {
    keep_before (self);
  }
  if (tile->n_after)
    n_known = take_after (self, n_layers);
  tile->first_layer = begin;
  tile->n_layers = n_layers;
  if (status == CUDACCL_OK)
    status = read_some (
        self, begin + n_known, n_layers - n_known, tile->pixels + n_known * self->layer, error);

  n_known = tile->n_after;
  tile->n_after =
      left - n_layers < tile->most_after ? (uint32_t)(left - n_layers) : tile->most_after;
  if (status == CUDACCL_OK)
    status = read_some (self, begin + n_layers + n_known, tile->n_after - n_known,
        tile->after + n_known * self->layer, error);
  if (status == CUDACCL_OK && self->plan->columns & CUDACCL_COLUMN_INTENSITY)
    status = self->io->read_values (self->io->data, begin, n_layers, tile->values, error);
  return status;
}
