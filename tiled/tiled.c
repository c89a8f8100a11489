/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels a picture tile by tile.
 *
 * The first pass labels each tile and keeps of it only the components that touch a seam (seams.h);
 * of the others it counts those that get a label. Then ranks unite the components that cross the
 * seams between their slabs (ranks.h), and the components that touch seams get their final labels.
 * What depends on whether pixels that touch at a corner are of one component is measured in a pass
 * of its own before that, once the components are known (measuring-pass.c). The second pass labels
 * the tiles again, with the same result, and writes label map and table: a component that touches
 * no seam gets the next label, because the labels of a tile are in raster order.
 */
#include "passes.h"
#include "core/base/divide-up.h"
#include "core/base/struct-size.h"

#include <stddef.h>
#include <stdlib.h>

CclStatus
tiled_no_memory (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to label tiles");
}

CclStatus
tiled_label_tile (Tiled *self, uint64_t index, TileLabels labels, uint32_t columns, CclError *error)
{
  const CclStatus status = tiled_read_tile (self, index, error);
  return status == CUDACCL_OK ? tile_labeller_run (&self->tile, labels, columns, error) : status;
}

CclStatus
tiled_pixels_changed (const Tiled *self, uint64_t index, CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_IO,
      "the pixels of layers %llu… changed while they were labelled",
      (unsigned long long)tile_begin (self, index));
}

CclStatus
tiled_size_final (Tiled *self, CclError *error)
{
  const uint64_t n = self->tile.n_components;

  if (self->final_size > n)
    return CUDACCL_OK;
  free (self->final);
  self->final = malloc ((n + 1) * sizeof *self->final);
  self->final_size = self->final ? n + 1 : 0;
  return self->final ? CUDACCL_OK : tiled_no_memory (error);
}

void
tiled_report_progress (Tiled *self, uint64_t n_layers)
{
  self->work_done += n_layers;
  if (self->io->progress)
    self->io->progress (self->io->data, self->work_done, self->work);
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
  free (self->around.before);
  free (self->around.after);
  free (self->spare);
  free (self->presences);
  free (self->first_runs);
  free (self->final);
  free (self->chunk);
  free (self->rows);
  free (self->shapes);
}

/* status: of the checks of the plan. */
static CclStatus
run (Tiled *self, const CclTiledPeers *peers, CclStatus status, CclTiledResult *result,
    CclError *error)
{
  uint64_t first_label = 1, n_labels = 0;
  Ranks ranks;

  ranks_init (&ranks, self->plan, peers);
  if (status == CUDACCL_OK)
    status = tiled_unite_slab (self, error);
  status =
      ranks_unite (&ranks, &self->group, self->measures_late ? &self->around : NULL, status, error);
  if (self->measures_late) {
    if (status == CUDACCL_OK)
      status = tiled_measure_slab (self, error);
    status = ranks_unite (&ranks, &self->group, NULL, status, error);
  }
  if (status == CUDACCL_OK)
    n_labels = tiled_list_own_labels (self);
  /* Also after a failure, of which not all ranks may know. */
  if (status == CUDACCL_OK || self->n_ranks > 1)
    status =
        ranks_label (&ranks, &self->group, n_labels, &first_label, &result->n_components, error);
  if (status == CUDACCL_OK)
    status = tiled_label_slab (self, first_label, n_labels, result->n_components, error);
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

  plan->tile_layers = tiled_choose_layers (plan);
  self->layer = layer_size (plan);
  self->end = plan->first_layer + plan->n_layers;
  self->n_tiles = divide_up (plan->n_layers, plan->tile_layers);
  self->measures_late = depends_on_corners (plan) && (self->n_ranks > 1 || self->n_tiles > 1);
  const uint32_t n_passes =
      self->n_tiles == 1 ? 1 : 1 + self->measures_late + (self->io->write || tiled_has_rows (self));
  self->work = n_passes * plan->n_layers;
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
  status = tiled_check_peers (peers, error);
  if (status != CUDACCL_OK)
    return status;
  /* Other ranks have to know that this one refuses its plan. */
  self.own_plan = (CclTiledPlan)CUDACCL_TILED_PLAN_DEFAULT;
  status = ccl_struct_complete (
      &self.own_plan, sizeof self.own_plan, plan, offsetof (CclTiledPlan, clears_border), error);
  if (status == CUDACCL_OK)
    status = tiled_check_plan (&self.own_plan, io, peers, error);
  if (status != CUDACCL_OK && (!peers || peers->n_ranks == 1))
    return status;
  self.plan = &self.own_plan;
  self.io = io;
  self.rank = peers ? peers->rank : 0;
  self.n_ranks = peers ? peers->n_ranks : 1;
  if (status == CUDACCL_OK)
    cut_into_tiles (&self);
  status = run (&self, peers, status, &own_result, error);
  if (status == CUDACCL_OK && result)
    *result = own_result;
  clear (&self);
  return status;
}
