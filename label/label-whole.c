/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "label-whole.h"

#include "error.h"
#include "label/relabel/relabel.h"

#include <cudaccl/distance.h>
#include <stdlib.h>
#include <string.h>

static CclVolumeLabels
map_of (const Picture *picture, uint32_t *labels)
{
  const size_t row = 4 * picture->width;
  return (CclVolumeLabels){labels, row, row * picture->height};
}

/* A map without padding in the memory of a GPU: a copy of words, or memory alone. */
static bool
map_on_gpu (const Picture *picture, CclCudaDevice *device, const uint32_t *words,
    CclVolumeLabels *map, CclError *error)
{
  const size_t n_bytes = picture->width * picture->height * picture->depth * sizeof (uint32_t);

  *map = map_of (picture, NULL);
  return ccl_cuda_memory_new (device, n_bytes, &map->data, error) == CUDACCL_OK &&
         (!words ||
             ccl_cuda_memory_upload (device, words, map->data, n_bytes, error) == CUDACCL_OK);
}

static bool
copy_from_gpu (const Picture *picture, CclCudaDevice *device, const CclVolumeLabels *map,
    uint32_t *words, CclError *error)
{
  const size_t n_bytes = picture->width * picture->height * picture->depth * sizeof (uint32_t);
  return ccl_cuda_memory_download (device, map->data, words, n_bytes, error) == CUDACCL_OK;
}

/* Splits components on a GPU; objects: written. */
static bool
split_on_gpu (const Picture *picture, const WholeSettings *settings, CclCudaFlood *maps,
    uint32_t *objects, uint32_t *n_objects, CclError *error)
{
  return map_on_gpu (picture, settings->plan->device, NULL, &maps->objects, error) &&
         ccl_cuda_distance_peaks (settings->plan->device, maps, settings->split_radius, n_objects,
             NULL, error) == CUDACCL_OK &&
         ccl_cuda_flood_objects (settings->plan->device, maps, NULL, error) == CUDACCL_OK &&
         copy_from_gpu (picture, settings->plan->device, &maps->objects, objects, error);
}

/* Measures distances, and splits components into objects, which the labels are then. */
static bool
measure_and_split (
    const Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  CclCudaDevice *const device = settings->plan->device;
  CclCudaFlood maps = {.width = (uint32_t)picture->width,
      .height = (uint32_t)picture->height,
      .depth = (uint32_t)picture->depth,
      .connectivity = settings->plan->connectivity};

  result->squared = malloc (picture->width * picture->height * picture->depth * sizeof (uint32_t));
  if (!result->squared)
    return fail_without_memory (error);
  bool succeeded = map_on_gpu (picture, device, result->labels, &maps.labels, error) &&
                   map_on_gpu (picture, device, NULL, &maps.squared, error);
  const CclCudaDistances distances = {
      maps.labels, maps.width, maps.height, maps.depth, maps.squared, NULL};
  succeeded =
      succeeded && ccl_cuda_label_distances (device, &distances, NULL, error) == CUDACCL_OK &&
      copy_from_gpu (picture, device, &maps.squared, result->squared, error) &&
      (settings->split_radius == 0 ||
          split_on_gpu (picture, settings, &maps, result->labels, &result->n_components, error));
  ccl_cuda_memory_free (device, &maps.labels.data);
  ccl_cuda_memory_free (device, &maps.squared.data);
  ccl_cuda_memory_free (device, &maps.objects.data);
  return succeeded;
}

/* Fills the holes of each label. */
static bool
fill_labels (
    const Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  CclCudaDevice *const device = settings->plan->device;
  CclVolumeLabels map;
  const bool succeeded =
      map_on_gpu (picture, device, result->labels, &map, error) &&
      ccl_cuda_fill_label_holes (device, &map, (uint32_t)picture->width, (uint32_t)picture->height,
          (uint32_t)picture->depth, settings->plan->connectivity, settings->max_hole, &map, NULL,
          error) == CUDACCL_OK &&
      copy_from_gpu (picture, device, &map, result->labels, error);

  ccl_cuda_memory_free (device, &map.data);
  return succeeded;
}

static CclTiledComponent
tiled_row (const CclVolumeComponent *row)
{
  return (CclTiledComponent){.area = row->n_voxels,
      .x = row->x,
      .y = row->y,
      .z = row->z,
      .width = row->width,
      .height = row->height,
      .depth = row->depth,
      .centroid_x = row->centroid_x,
      .centroid_y = row->centroid_y,
      .centroid_z = row->centroid_z};
}

/* Makes the table of the components that pass the filters, and numbers them anew in the map.
 * found: the rows of all components. numbers: memory for their new labels. */
static void
filter (const Picture *picture, const WholeSettings *settings, const CclVolumeComponent *found,
    uint32_t *numbers, WholeLabels *result)
{
  const uint32_t n_planes = settings->n_planes;
  const size_t n_pixels = picture->width * picture->height * picture->depth;
  uint32_t n = 0;

  numbers[0] = 0;
  for (uint32_t i = 0; i < result->n_components; i++) {
    const CclTiledComponent row = tiled_row (&found[i]);
    const bool stays = relabel_passes (settings->plan, &row);
    numbers[i + 1] = stays ? n + 1 : 0;
    if (stays) {
      result->rows[n] = row;
      result->rows[n].label = numbers[i + 1];
      if (result->shapes)
        memmove (&result->shapes[n * (size_t)n_planes], &result->shapes[i * (size_t)n_planes],
            n_planes * sizeof *result->shapes);
      n++;
    }
  }
  for (size_t i = 0; i < n_pixels && n < result->n_components; i++)
    result->labels[i] = numbers[result->labels[i]];
  result->n_components = n;
}

/* Measures the label map: rows, and columns with one plane of the values. samples: memory for the
 * plane, NULL without values. */
static bool
measure_plane (const Picture *picture, const WholeSettings *settings, uint32_t plane,
    const WholeLabels *result, void *samples, CclVolumeComponent *rows, CclVolumeShape *shapes,
    CclError *error)
{
  const CclVolumeLabels map = map_of (picture, result->labels);
  const uint32_t columns =
      plane == 0 ? settings->plan->columns : settings->plan->columns & CUDACCL_COLUMN_INTENSITY;
  const Intensities *intensities = settings->intensities;
  const size_t row = intensities ? picture->width * intensities_bytes (intensities) : 0;
  const CclVolumeIntensity values = {samples, row, row * picture->height,
      intensities ? intensities->format : CUDACCL_PIXEL_FORMAT_8};

  if (samples &&
      !intensities_read (intensities, plane, 0, picture->height * picture->depth, samples, error))
    return false;
  return ccl_measure_volume_labels (&map, (uint32_t)picture->width, (uint32_t)picture->height,
             picture->is_volume ? (uint32_t)picture->depth : 0, samples ? &values : NULL, columns,
             result->n_components, rows, columns ? shapes : NULL, error) == CUDACCL_OK;
}

/* Measures all planes of the values. rows: memory for those of all components. */
static bool
measure_planes (const Picture *picture, const WholeSettings *settings, WholeLabels *result,
    CclVolumeComponent *rows, CclError *error)
{
  const size_t n = result->n_components, n_planes = settings->n_planes;
  const size_t n_pixels = picture->width * picture->height * picture->depth;
  void *samples =
      settings->intensities ? malloc (n_pixels * intensities_bytes (settings->intensities)) : NULL;
  CclVolumeShape *shapes = settings->plan->columns ? malloc ((n + 1) * sizeof *shapes) : NULL;
  bool succeeded = true;

  if (settings->plan->columns)
    result->shapes = malloc ((n + 1) * n_planes * sizeof *result->shapes);
  if ((settings->intensities && !samples) ||
      (settings->plan->columns && (!shapes || !result->shapes)))
    succeeded = fail_without_memory (error);
  for (uint32_t plane = 0; plane < n_planes && succeeded; plane++) {
    succeeded = measure_plane (picture, settings, plane, result, samples, rows, shapes, error);
    for (size_t i = 0; i < n && shapes && succeeded; i++)
      result->shapes[i * n_planes + plane] = shapes[i];
  }
  free (samples);
  free (shapes);
  return succeeded;
}

static bool
measure (
    const Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  const size_t n = result->n_components;
  CclVolumeComponent *found = malloc ((n + 1) * sizeof *found);
  uint32_t *numbers = malloc ((n + 1) * sizeof *numbers);
  bool succeeded = true;

  result->rows = malloc ((n + 1) * sizeof *result->rows);
  if (!found || !numbers || !result->rows)
    succeeded = fail_without_memory (error);
  if (succeeded)
    succeeded = measure_planes (picture, settings, result, found, error);
  if (succeeded)
    filter (picture, settings, found, numbers, result);
  free (found);
  free (numbers);
  return succeeded;
}

/* Reads and labels the picture. */
static bool
read_and_label (
    Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  const uint64_t n_rows = picture->height * picture->depth, n = n_rows * picture->width;
  const uint64_t n_layers = picture->is_volume ? picture->depth : picture->height;
  const ValuesPicture mask = {.type = CUDACCL_VALUE_TYPE_8, .zero_is_background = true};
  const ValuesPicture *values = settings->mask ? &mask : settings->values;
  void *samples = malloc (n * values_bytes (values->type));
  uint8_t *foreground = values->has_foreground ? malloc (n) : NULL;
  ValuesTiles *tiles = values_tiles_new (values, settings->plan, error);
  bool succeeded = tiles != NULL;

  result->labels = malloc (n * sizeof *result->labels);
  if (!samples || !result->labels || (values->has_foreground && !foreground))
    succeeded = fail_without_memory (error);
  if (succeeded && settings->mask)
    succeeded = mask_read (settings->mask, 0, n_rows, samples, error);
  else if (succeeded)
    succeeded = values->read (values->data, 0, n_layers, samples, foreground, error) == CUDACCL_OK;
  if (succeeded)
    succeeded = values_tiles_label (tiles, (uint32_t)n_layers, samples, foreground, result->labels,
                    &result->n_components, error) == CUDACCL_OK;
  values_tiles_free (tiles);
  free (samples);
  free (foreground);
  return succeeded;
}

/* Counts the connected parts of each object: peaks that are close to each other make one object,
 * whose pixels need not be connected. */
static bool
count_parts (
    const Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  const CclVolumeLabels map = map_of (picture, result->labels);

  if (!(settings->plan->columns & CUDACCL_COLUMN_TOPOLOGY) || picture->is_volume)
    return true;
  result->n_parts = malloc (((size_t)result->n_components + 1) * sizeof *result->n_parts);
  if (!result->n_parts)
    return fail_without_memory (error);
  return ccl_count_parts (&map, (uint32_t)picture->width, (uint32_t)picture->height, 1,
             settings->plan->connectivity, result->n_components, result->n_parts,
             error) == CUDACCL_OK;
}

bool
whole_label (Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error)
{
  const uint64_t most = CUDACCL_MAX_PIXELS, slice = picture->width * picture->height;

  *result = (WholeLabels){0};
  if (picture->width > most || picture->height > most || slice > most ||
      picture->depth > most / slice)
    return fail (error,
        "a picture of %llu×%llu×%llu pixels is too large to be labelled as a whole, at most %d",
        (unsigned long long)picture->depth, (unsigned long long)picture->height,
        (unsigned long long)picture->width, CUDACCL_MAX_PIXELS);
  return read_and_label (picture, settings, result, error) &&
         measure_and_split (picture, settings, result, error) &&
         (!settings->fills_holes || fill_labels (picture, settings, result, error)) &&
         measure (picture, settings, result, error) &&
         (settings->split_radius == 0 || count_parts (picture, settings, result, error));
}

void
whole_labels_clear (WholeLabels *result)
{
  free (result->labels);
  free (result->squared);
  free (result->rows);
  free (result->n_parts);
  free (result->shapes);
  *result = (WholeLabels){0};
}
