/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tile.h"
#include "core/base/divide-up.h"

#include "core/label/label-rows.h"
#include "core/base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the component table that a GPU labeller begins with: it allocates all of them at once. */
#define FIRST_DEVICE_ROWS (1u << 20)

uint64_t
tile_bytes_per_pixel (const CclTiledPlan *plan)
{
  /* Pixels, label map, the labeller's own memory by labeller.h and volume.h, a row for each second
   * pixel, and the final labels; values and measures. */
  const uint64_t labelling = is_frame (plan) ? 1 + 4 + 22 + sizeof (CclComponent) / 2 + 8
                                             : 1 + 4 + 40 + sizeof (CclVolumeComponent) / 2 + 8;
  return plan->columns
             ? labelling + ccl_value_bytes (plan->intensity_format) + sizeof (CclMeasures) / 2
             : labelling;
}

/* The most components that a tile can have. */
static uint32_t
most_components (const TileLabeller *self)
{
  return (uint32_t)divide_up (layer_size (self->plan) * self->most_layers, 2);
}

CclStatus
tile_labeller_init (
    TileLabeller *self, const CclTiledPlan *plan, uint32_t most_layers, CclError *error)
{
  const size_t layer = layer_size (plan), n_pixels = layer * most_layers;

  *self = (TileLabeller){
      .plan = plan,
      .most_layers = most_layers,
      .most_before = ccl_layers_before (plan->columns, !is_frame (plan)),
      .most_after = ccl_layers_after (plan->columns, !is_frame (plan)),
  };
  const size_t n_around = (self->most_before + self->most_after) * layer;
  self->pixels = malloc (n_pixels + 1);
  self->before = malloc (n_around + 1);
  self->map_memory = malloc ((n_pixels + n_around + 1) * sizeof *self->map);
  if (plan->columns & CUDACCL_COLUMN_INTENSITY)
    self->values = malloc (ccl_value_bytes (plan->intensity_format) * n_pixels + 1);
  if (!self->pixels || !self->before || !self->map_memory ||
      (plan->columns & CUDACCL_COLUMN_INTENSITY && !self->values))
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for tiles of %zu pixels", n_pixels);
  self->after = self->before + self->most_before * layer;
  self->map = self->map_memory + self->most_before * layer;
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

/* Makes sure that an array has an item for each component; its content may be lost. */
static CclStatus
grow (void **items, size_t *size, size_t item, const TileLabeller *self, CclError *error)
{
  if (*size >= self->n_components)
    return CUDACCL_OK;
  free (*items);
  *items = malloc (self->n_components * item);
  *size = *items ? self->n_components : 0;
  return *items ? CUDACCL_OK
                : ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
                      "not enough memory for %u components", self->n_components);
}

/* Writes layers of pixels to the map: 1 for foreground. */
static void
mark_foreground (
    const TileLabeller *self, const uint8_t *pixels, uint32_t n_layers, uint32_t *labels)
{
  const size_t n_pixels = layer_size (self->plan) * n_layers;
  for (size_t i = 0; i < n_pixels; i++)
    labels[i] = (pixels[i] > self->plan->threshold) != self->plan->invert;
}

void
tile_labeller_mark_around (TileLabeller *self)
{
  const size_t layer = layer_size (self->plan);
  mark_foreground (self, self->before, self->n_before, self->map - self->n_before * layer);
  mark_foreground (self, self->after, self->n_after, self->map + self->n_layers * layer);
}

CclStatus
tile_labeller_measure (TileLabeller *self, uint32_t columns, CclError *error)
{
  const CclTiledPlan *plan = self->plan;
  const size_t layer = layer_size (plan);
  const size_t value_bytes = ccl_value_bytes (plan->intensity_format);
  const uint32_t n_before = self->n_before, end = n_before + self->n_layers;
  CclPartMap map = {
      .labels = self->map - n_before * layer,
      .width = (uint32_t)plan->width,
      .picture_height = plan->height,
      .is_volume = !is_frame (plan),
      .row_stride = plan->width,
      .slice_stride = layer,
      .value_row_stride = plan->width * value_bytes,
      .value_slice_stride = layer * value_bytes,
      .joins_neighbours = joins_corners (plan),
      .has_marks = true,
      .values = self->values,
      .value_format = plan->intensity_format,
  };

  if (grow ((void **)&self->parts, &self->parts_size, sizeof *self->parts, self, error) !=
          CUDACCL_OK ||
      (columns && grow ((void **)&self->measures, &self->measures_size, sizeof *self->measures,
                      self, error) != CUDACCL_OK))
    return CUDACCL_ERROR_NO_MEMORY;
  if (is_frame (plan)) {
    map.height = end + self->n_after;
    map.depth = map.end_slice = 1;
    map.first_row = n_before;
    map.end_row = end;
    map.y = self->first_layer;
  } else {
    map.height = map.end_row = (uint32_t)plan->height;
    map.depth = end + self->n_after;
    map.first_slice = n_before;
    map.end_slice = end;
    map.z = self->first_layer;
  }
  return ccl_parts_measure (
      &map, columns, self->n_components, self->parts, columns ? self->measures : NULL, error);
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
 * labeller for the last tile of a slab would cost more than the background. */
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
tile_labeller_run (TileLabeller *self, TileLabels labels, uint32_t columns, CclError *error)
{
  const uint32_t n_layers = self->n_layers;
  uint32_t n_rows = 0;
  CclStatus status;

  self->is_measured = columns || !sums_are_exact (self);
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
  if (status != CUDACCL_OK || !self->is_measured)
    return status;
  tile_labeller_mark_around (self);
  return tile_labeller_measure (self, columns, error);
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

const CclMeasures *
tile_measures (const TileLabeller *self, uint32_t label)
{
  return self->plan->columns ? &self->measures[label - 1] : NULL;
}

CclPart
tile_part (const TileLabeller *self, uint32_t label)
{
  const uint64_t first_layer = self->first_layer;
  CclPart part;

  if (self->is_measured)
    return self->parts[label - 1];
  if (is_frame (self->plan)) {
    const CclComponent *row = &self->frame_table.rows[label - 1];
    part = (CclPart){
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
    part = (CclPart){
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

bool
tile_passes (const TileLabeller *self, uint32_t label)
{
  if (!area_passes (self->plan, tile_area (self, label)))
    return false;
  if (!self->plan->clears_border)
    return true;
  const CclPart part = tile_part (self, label);
  return !touches_border (self->plan, &part);
}

void
tile_labeller_clear (TileLabeller *self)
{
  ccl_labeller_free (&self->frames);
  ccl_volume_labeller_free (&self->volumes);
  if (self->device_map)
    ccl_cuda_memory_free (self->plan->device, &self->device_map);
  free (self->pixels);
  free (self->map_memory);
  free (self->before);
  free (self->values);
  free (self->parts);
  free (self->measures);
}
