/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/volume/volume-reference.h"

#include <glib.h>
#include <stdlib.h>

/* Whether the voxel is foreground, by the definition in labeller.h. */
static bool
is_foreground (
    const CclVolume *volume, int64_t x, int64_t y, int64_t z, const CclLabellerOptions *options)
{
  const uint8_t *data = volume->data;
  bool above = data[(size_t)z * volume->slice_stride + (size_t)y * volume->row_stride + (size_t)x] >
               options->threshold;
  return options->invert ? !above : above;
}

/* Labels the component that holds `first` with the label, and measures it. */
static CclVolumeComponent
flood (const bool *foreground, uint32_t *labels, const CclVolumePlan *plan, uint32_t first,
    uint32_t label, GArray *voxels)
{
  /* 6: one coordinate differs; 18: one or two; 26: up to three. */
  const int most_different = plan->connectivity == 6 ? 1 : plan->connectivity == 18 ? 2 : 3;
  const int64_t width = plan->width, height = plan->height, depth = plan->depth;
  int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {0};
  uint64_t sums[3] = {0};

  /* The array is also the queue of the search: the neighbours of voxels before `next` are done. */
  g_array_set_size (voxels, 0);
  labels[first] = label;
  g_array_append_val (voxels, first);
  for (guint next = 0; next < voxels->len; next++) {
    const uint32_t voxel = g_array_index (voxels, uint32_t, next);
    const int64_t at[3] = {voxel % width, voxel / width % height, voxel / (width * height)};

    for (int i = 0; i < 3; i++) {
      low[i] = MIN (low[i], at[i]);
      high[i] = MAX (high[i], at[i]);
      sums[i] += (uint64_t)at[i];
    }
    for (int dz = -1; dz <= 1; dz++) {
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          const int64_t x = at[0] + dx, y = at[1] + dy, z = at[2] + dz;
          if (abs (dx) + abs (dy) + abs (dz) > most_different)
            continue;
          if (x < 0 || x >= width || y < 0 || y >= height || z < 0 || z >= depth)
            continue;
          const uint32_t neighbour = (uint32_t)((z * height + y) * width + x);
          if (foreground[neighbour] && !labels[neighbour]) {
            labels[neighbour] = label;
            g_array_append_val (voxels, neighbour);
          }
        }
      }
    }
  }
  return (CclVolumeComponent){
      .n_voxels = voxels->len,
      .x = (uint32_t)low[0],
      .y = (uint32_t)low[1],
      .z = (uint32_t)low[2],
      .width = (uint32_t)(high[0] - low[0] + 1),
      .height = (uint32_t)(high[1] - low[1] + 1),
      .depth = (uint32_t)(high[2] - low[2] + 1),
      .centroid_x = (double)sums[0] / voxels->len,
      .centroid_y = (double)sums[1] / voxels->len,
      .centroid_z = (double)sums[2] / voxels->len,
  };
}

VolumeReference *
volume_reference_new (
    const CclVolume *volume, const CclVolumePlan *plan, const CclLabellerOptions *options)
{
  const uint32_t filtered_out = UINT32_MAX;
  const size_t n_voxels = (size_t)plan->width * plan->height * plan->depth;
  bool *foreground = g_new (bool, n_voxels);
  GArray *voxels = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (CclVolumeComponent));
  VolumeReference *reference = g_new0 (VolumeReference, 1);
  size_t i = 0;

  for (uint32_t z = 0; z < plan->depth; z++)
    for (uint32_t y = 0; y < plan->height; y++)
      for (uint32_t x = 0; x < plan->width; x++)
        foreground[i++] = is_foreground (volume, x, y, z, options);

  reference->labels = g_new0 (uint32_t, n_voxels);
  for (uint32_t first = 0; first < n_voxels; first++) {
    if (!foreground[first] || reference->labels[first])
      continue;
    CclVolumeComponent component =
        flood (foreground, reference->labels, plan, first, rows->len + 1, voxels);
    if (component.n_voxels >= options->min_area &&
        (options->max_area == 0 || component.n_voxels <= options->max_area)) {
      component.label = rows->len + 1;
      g_array_append_val (rows, component);
    } else {
      for (guint j = 0; j < voxels->len; j++)
        reference->labels[g_array_index (voxels, uint32_t, j)] = filtered_out;
    }
  }
  for (i = 0; i < n_voxels; i++)
    if (reference->labels[i] == filtered_out)
      reference->labels[i] = 0;

  reference->n_components = rows->len;
  reference->rows = (CclVolumeComponent *)g_array_free (rows, FALSE);
  g_array_unref (voxels);
  g_free (foreground);
  return reference;
}

void
volume_reference_free (VolumeReference *reference)
{
  g_free (reference->labels);
  g_free (reference->rows);
  g_free (reference);
}
