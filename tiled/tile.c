/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tile.h"

#include "label-rows.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the component table that a GPU labeller begins with: it allocates all of them at once. */
#define FIRST_DEVICE_ROWS (1u << 20)

uint64_t
tile_bytes_per_pixel (const CclTiledPlan *plan)
{
  /* Pixels, label map, the labeller's own memory by labeller.h and volume.h, a row for each second
   * pixel, and the final labels. */
  return is_frame (plan) ? 1 + 4 + 22 + sizeof (CclComponent) / 2 + 8
                         : 1 + 4 + 40 + sizeof (CclVolumeComponent) / 2 + 8;
}

/* The most components that a tile can have. */
static uint32_t
most_components (const TileLabeller *self)
{
  return (uint32_t)((layer_size (self->plan) * self->most_layers + 1) / 2);
}

CclStatus
tile_labeller_init (
    TileLabeller *self, const CclTiledPlan *plan, uint32_t most_layers, CclError *error)
{
  const size_t n_pixels = layer_size (plan) * most_layers;

  *self = (TileLabeller){.plan = plan, .most_layers = most_layers};
  self->pixels = malloc (n_pixels ? n_pixels : 1);
  self->map = malloc (n_pixels ? n_pixels * sizeof *self->map : 1);
  if (!self->pixels || !self->map)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for tiles of %zu pixels", n_pixels);
  self->most_rows = most_components (self);
  if (plan->device && self->most_rows > FIRST_DEVICE_ROWS)
    self->most_rows = FIRST_DEVICE_ROWS;
  if (plan->device)
    return ccl_cuda_memory_new (
        plan->device, n_pixels * sizeof *self->map, &self->device_map, error);
  return CUDACCL_OK;
}

static CclStatus
plan_frames (TileLabeller *self, uint32_t n_layers, CclError *error)
{
  const CclLabellerPlan plan = {
      .width = (uint32_t)self->plan->width,
      .height = n_layers,
      .connectivity = (CclConnectivity)self->plan->connectivity,
      .max_components = self->most_rows,
      .n_threads = self->plan->n_threads,
  };
  self->frames = self->plan->device ? ccl_cuda_labeller_new (self->plan->device, &plan, error)
                                    : ccl_cpu_labeller_new (&plan, error);
  return self->frames ? CUDACCL_OK : CUDACCL_ERROR_NO_MEMORY;
}

static CclStatus
plan_volumes (TileLabeller *self, uint32_t n_layers, CclError *error)
{
  const CclVolumePlan plan = {
      .width = (uint32_t)self->plan->width,
      .height = (uint32_t)self->plan->height,
      .depth = n_layers,
      .connectivity = (CclVolumeConnectivity)self->plan->connectivity,
      .max_components = self->most_rows,
  };
  self->volumes = self->plan->device
                      ? ccl_cuda_volume_labeller_new (self->plan->device, &plan, error)
                      : ccl_cpu_volume_labeller_new (&plan, error);
  return self->volumes ? CUDACCL_OK : CUDACCL_ERROR_NO_MEMORY;
}

/* Makes sure that the labeller is planned for that many layers. */
static CclStatus
make_labeller (TileLabeller *self, uint32_t n_layers, CclError *error)
{
  CclError failure = {CUDACCL_OK, ""};

  if (self->n_planned == n_layers)
    return CUDACCL_OK;
  self->n_planned = 0;
  ccl_labeller_free (&self->frames);
  ccl_volume_labeller_free (&self->volumes);
  if ((is_frame (self->plan) ? plan_frames : plan_volumes) (self, n_layers, &failure) != CUDACCL_OK)
    return ccl_error_set (error, failure.status, "%s", failure.message);
  self->n_planned = n_layers;
  return CUDACCL_OK;
}

/* Measures the components from the label map. */
static CclStatus
measure (TileLabeller *self, CclError *error)
{
  const uint64_t width = self->plan->width;
  const uint32_t height = is_frame (self->plan) ? self->n_layers : (uint32_t)self->plan->height;
  const uint64_t n_pixels = layer_size (self->plan) * self->n_layers;

  if (self->parts_size < self->n_components) {
    free (self->parts);
    self->parts = malloc (self->n_components * sizeof *self->parts);
    self->parts_size = self->parts ? self->n_components : 0;
    if (!self->parts)
      return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %u components",
          self->n_components);
  }
  for (uint32_t i = 0; i < self->n_components; i++)
    self->parts[i] = EMPTY_PART;
  for (uint64_t i = 0; i < n_pixels; i++) {
    if (self->map[i]) {
      const uint32_t x = (uint32_t)(i % width), y = (uint32_t)(i / width % height);
      const uint32_t z = (uint32_t)(i / width / height);
      const Part pixel = {1, x, y, z, x, y, z, x, y, z};
      part_add (&self->parts[self->map[i] - 1], &pixel);
    }
  }
  return CUDACCL_OK;
}

/* Whether sum_of() is exact for all components of the latest tile. */
static bool
sums_are_exact (const TileLabeller *self)
{
  const uint64_t n_pixels = layer_size (self->plan) * self->n_layers;
  uint64_t longest = self->plan->width;
  if (!is_frame (self->plan) && self->plan->height > longest)
    longest = self->plan->height;
  if (self->n_layers > longest)
    longest = self->n_layers;
  return n_pixels <= (UINT64_C (1) << 51) / longest;
}

/* Makes a labeller, preferably for the most layers, with background after those of the tile: a new
 * labeller for the last tile of a block would cost more than the background. */
static CclStatus
plan_tile (TileLabeller *self, CclError *error)
{
  const uint64_t layer = layer_size (self->plan);
  const bool has_background = !self->plan->invert || self->plan->threshold < 255;

  if (has_background)
    memset (self->pixels + self->n_layers * layer, self->plan->invert ? 255 : 0,
        (self->most_layers - self->n_layers) * layer);
  return make_labeller (self, has_background ? self->most_layers : self->n_layers, error);
}

/* Labels with the present labeller. labels: whether to make a label map. */
static CclStatus
run_labeller (TileLabeller *self, TileLabels labels, uint32_t *n_rows, CclError *error)
{
  const CclLabellerOptions options = {
      .threshold = self->plan->threshold, .invert = self->plan->invert};
  const size_t width = self->plan->width, slice = width * self->plan->height;
  void *map = self->device_map ? self->device_map : self->map;
  CclStatus status;

  if (is_frame (self->plan)) {
    const CclFrame frame = {self->pixels, width, CUDACCL_LOCATION_HOST};
    const CclLabels rows = {map, 4 * width};
    const uint32_t ends[2] = {0, self->n_layers - 1};
    ccl_labeller_set_label_rows (self->frames, labels == TILE_LABELS_ENDS ? ends : NULL);
    status = ccl_labeller_run (
        self->frames, &frame, &options, labels ? &rows : NULL, &self->frame_table, error);
    self->n_components = self->frame_table.n_components;
    *n_rows = self->frame_table.n_rows;
  } else {
    const CclVolume volume = {self->pixels, width, slice, CUDACCL_LOCATION_HOST};
    const CclVolumeLabels slices = {map, 4 * width, 4 * slice};
    status = ccl_volume_labeller_run (
        self->volumes, &volume, &options, labels ? &slices : NULL, &self->volume_table, error);
    self->n_components = self->volume_table.n_components;
    *n_rows = self->volume_table.n_rows;
  }
  return status;
}

/* Copies layers of the label map from the GPU. */
static CclStatus
download (TileLabeller *self, uint32_t first, uint32_t n_layers, CclError *error)
{
  const size_t layer = layer_size (self->plan);
  return ccl_cuda_memory_download (self->plan->device, (uint32_t *)self->device_map + first * layer,
      self->map + first * layer, n_layers * layer * sizeof *self->map, error);
}

CclStatus
tile_labeller_run (TileLabeller *self, uint32_t n_layers, TileLabels labels, CclError *error)
{
  uint32_t n_rows = 0;
  CclStatus status;

  self->n_layers = n_layers;
  self->is_measured = !sums_are_exact (self);
  if (self->is_measured)
    labels = TILE_LABELS_ALL;
  status = plan_tile (self, error);
  if (status == CUDACCL_OK)
    status = run_labeller (self, labels, &n_rows, error);
  if (status == CUDACCL_OK && n_rows < self->n_components) {
    /* A table with more rows, and some to spare for the next tiles. */
    const uint32_t most = most_components (self);
    self->most_rows = self->n_components < most / 5 * 4 ? self->n_components / 4 * 5 + 4 : most;
    self->n_planned = 0;
    status = plan_tile (self, error);
    if (status == CUDACCL_OK)
      status = run_labeller (self, labels, &n_rows, error);
  }
  if (status == CUDACCL_OK && self->device_map && labels == TILE_LABELS_ALL)
    status = download (self, 0, n_layers, error);
  if (status == CUDACCL_OK && self->device_map && labels == TILE_LABELS_ENDS) {
    status = download (self, 0, 1, error);
    if (status == CUDACCL_OK)
      status = download (self, n_layers - 1, 1, error);
  }
  if (status == CUDACCL_OK && self->is_measured)
    status = measure (self, error);
  return status;
}

uint32_t
tile_area (const TileLabeller *self, uint32_t label)
{
  if (self->is_measured)
    return (uint32_t)self->parts[label - 1].area;
  return is_frame (self->plan) ? self->frame_table.rows[label - 1].area
                               : self->volume_table.rows[label - 1].n_voxels;
}

/* A sum of coordinates from the centroid. It is exact below 2^51, because the division and this
 * product are each off by at most half a unit in the last place. */
static uint64_t
sum_of (double centroid, uint32_t area)
{
  return (uint64_t)llround (centroid * area);
}

Part
tile_part (const TileLabeller *self, uint32_t label, uint64_t first_layer)
{
  Part part;

  if (self->is_measured) {
    part = self->parts[label - 1];
  } else if (is_frame (self->plan)) {
    const CclComponent *row = &self->frame_table.rows[label - 1];
    part = (Part){
        .area = row->area,
        .sum_x = sum_of (row->centroid_x, row->area),
        .sum_y = sum_of (row->centroid_y, row->area),
        .least_x = row->x,
        .least_y = row->y,
        .greatest_x = row->x + row->width - 1,
        .greatest_y = row->y + row->height - 1,
    };
  } else {
    const CclVolumeComponent *row = &self->volume_table.rows[label - 1];
    part = (Part){
        .area = row->n_voxels,
        .sum_x = sum_of (row->centroid_x, row->n_voxels),
        .sum_y = sum_of (row->centroid_y, row->n_voxels),
        .sum_z = sum_of (row->centroid_z, row->n_voxels),
        .least_x = row->x,
        .least_y = row->y,
        .least_z = row->z,
        .greatest_x = row->x + row->width - 1,
        .greatest_y = row->y + row->height - 1,
        .greatest_z = row->z + row->depth - 1,
    };
  }
  if (is_frame (self->plan)) {
    part.sum_y += first_layer * part.area;
    part.least_y += (uint32_t)first_layer;
    part.greatest_y += (uint32_t)first_layer;
  } else {
    part.sum_z += first_layer * part.area;
    part.least_z += (uint32_t)first_layer;
    part.greatest_z += (uint32_t)first_layer;
  }
  return part;
}

void
tile_labeller_clear (TileLabeller *self)
{
  ccl_labeller_free (&self->frames);
  ccl_volume_labeller_free (&self->volumes);
  if (self->device_map)
    ccl_cuda_memory_free (self->plan->device, &self->device_map);
  free (self->pixels);
  free (self->map);
  free (self->parts);
}
