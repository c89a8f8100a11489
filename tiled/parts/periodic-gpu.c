/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins components over borders in a map in the memory of a GPU. It finds the sums there and writes
 * the labels; the host has the borders, and joins. */
#include "borders.h"
#include "core/measure/map-sums.h"

#include <stdlib.h>

/* Where the labels 1…n have no pixel, or a greater one has. */
static CclStatus
other_labels (uint32_t n, CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the map has other labels than 1…%u", n);
}

static CclPart
part_of_sum (const CclMapSum *sum)
{
  return (CclPart){.area = sum->area,
      .sum_x = sum->sum_x,
      .sum_y = sum->sum_y,
      .sum_z = sum->sum_z,
      .least_x = ~sum->least_complement[0],
      .least_y = ~sum->least_complement[1],
      .least_z = ~sum->least_complement[2],
      .greatest_x = sum->greatest[0],
      .greatest_y = sum->greatest[1],
      .greatest_z = sum->greatest[2]};
}

static Wide
wide_sum (const CclMapTurn *sum, int i)
{
  return ((Wide)(int64_t)sum->high[i] << 32) + sum->low[i];
}

/* Takes the sums of a map, whose labels must be in raster order of first pixels. */
static CclStatus
take_sums (CclBorders *self, const CclMapSums *sums, CclError *error)
{
  if (sums->greatest > sums->n)
    return other_labels (sums->n, error);
  for (uint32_t i = 0; i < sums->n; i++) {
    if (sums->sums[i].area == 0)
      return other_labels (sums->n, error);
    if (i > 0 && sums->sums[i].first_complement > sums->sums[i - 1].first_complement)
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "label %u comes before label %u: labels must be in raster order of first pixels", i + 1,
          i);
    self->parts[i] = part_of_sum (&sums->sums[i]);
    for (int axis = 0; axis < N_AXES; axis++)
      if (sums->turns[axis])
        self->sums[axis][i] = (Turn){
            wide_sum (&sums->turn_sums[axis][i], 0), wide_sum (&sums->turn_sums[axis][i], 1)};
  }
  self->n = sums->n;
  return CUDACCL_OK;
}

static CclStatus
add_parts (CclBorders *self, const CclDeviceMap *map, uint32_t n, CclError *error)
{
  CclMapSums sums = {.n = n, .sums = reallocarray (NULL, n, sizeof *sums.sums)};
  bool succeeded = sums.sums && ccl_borders_reserve (self, n);

  for (int axis = 0; axis < N_AXES && succeeded; axis++)
    if (is_periodic (self, axis)) {
      sums.turns[axis] = self->turns[axis];
      sums.turn_sums[axis] = reallocarray (NULL, n, sizeof *sums.turn_sums[axis]);
      succeeded = sums.turn_sums[axis] != NULL;
    }
  CclStatus status = succeeded ? ccl_cuda_map_sum (map, &sums, error) : no_memory (error);
  if (status == CUDACCL_OK)
    status = take_sums (self, &sums, error);
  free (sums.sums);
  for (int axis = 0; axis < N_AXES; axis++)
    free (sums.turn_sums[axis]);
  return status;
}

/* Copies the first or the last layer along an axis to the host, by way of memory of the device. */
static CclStatus
copy_face (CclBorders *self, const CclDeviceMap *map, int axis, bool is_last, void *memory,
    CclError *error)
{
  const int64_t strides[N_AXES] = {sizeof (uint32_t), (int64_t)map->labels.row_stride,
      map->depth > 1 ? (int64_t)map->labels.slice_stride : 0};
  int in_layer[2];

  axes_of_layer (axis, in_layer);
  const uint64_t columns = self->sides[in_layer[0]], rows = self->sides[in_layer[1]];
  const uint64_t place = is_last ? self->sides[axis] - 1 : 0;
  const CclCudaArrayCopy copy = {.item_bytes = sizeof (uint32_t),
      .shape = {1, 1, rows, columns},
      .from = (const uint8_t *)map->labels.data + (int64_t)place * strides[axis],
      .to = memory,
      .from_strides = {0, 0, strides[in_layer[1]], strides[in_layer[0]]},
      .to_strides = {0, 0, (int64_t)(columns * sizeof (uint32_t)), sizeof (uint32_t)}};
  CclStatus status = ccl_cuda_array_copy (map->device, &copy, map->stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_memory_download (
        map->device, memory, self->faces[axis][is_last], columns * rows * sizeof (uint32_t), error);
  return status;
}

static CclStatus
copy_faces (CclBorders *self, const CclDeviceMap *map, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++) {
    void *memory = NULL;
    if (!is_periodic (self, axis))
      continue;
    status = ccl_cuda_memory_new (map->device,
        self->sides[0] * self->sides[1] * self->sides[2] / self->sides[axis] * sizeof (uint32_t),
        &memory, error);
    for (int end = 0; end < 2 && status == CUDACCL_OK; end++)
      status = copy_face (self, map, axis, end, memory, error);
    ccl_cuda_memory_free (map->device, &memory);
  }
  return status;
}

CclStatus
ccl_cuda_join_borders (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, uint32_t axes, uint32_t *n,
    CclVolumeComponent *rows, void *stream, CclError *error)
{
  CclPartMap map;
  CclStatus status = ccl_borders_check_map (
      labels, width, height, depth, connectivity, axes, n, rows, &map, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_stream_check_capture (device, stream, error);
  if (status != CUDACCL_OK || *n == 0)
    return status;
  if (*n > (uint64_t)width * height * depth)
    return other_labels (*n, error);
  const CclDeviceMap there = {device, *labels, width, height, depth, stream};
  CclBorders *self = ccl_borders_new (width, height, depth, connectivity, axes, error);
  if (!self)
    return CUDACCL_ERROR_NO_MEMORY;
  status = add_parts (self, &there, *n, error);
  if (status == CUDACCL_OK)
    status = copy_faces (self, &there, error);
  if (status == CUDACCL_OK)
    status = ccl_borders_find (self, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_map_renumber (&there, self->numbers, self->n, labels, error);
  if (status == CUDACCL_OK) {
    ccl_borders_write_rows (self, rows);
    *n = self->n_joined;
  }
  ccl_borders_free (&self);
  return status;
}
