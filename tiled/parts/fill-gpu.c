/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fills the holes of each label of a map in the memory of a GPU. Pixels stay there: it finds the
 * patches, that is the connected pixels of a label or of the background, their boxes, and which of
 * them touch. The host decides from these which label fills a patch (patches.c).
 */
#include <cudaccl/chunks.h>

#include "core/base/status.h"
#include "core/label/word-map.h"
#include "core/measure/map-sums.h"
#include "core/values/values-class.h"

#include <stdlib.h>

enum { PAIRS_FOR_PATCH = 4, LEAST_PAIRS = 1024 };

typedef struct Filling {
  const CclDeviceMap *map;
  bool is_volume;
  uint32_t connectivity;   /* of holes and patches */
  CclVolumeLabels numbers; /* of patches, for each pixel; without padding */
  uint32_t n;              /* patches */
  CclPatch *patches;       /* [n] */
  CclPatchPair *pairs;
  uint32_t n_pairs;
  uint64_t *labels; /* [n]: of the patches when they are filled */
} Filling;

static CclStatus
no_memory (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to fill holes");
}

/* Patches are the components of the map's values, 0 among them. */
static CclValuesPlan
patches_plan (const CclDeviceMap *map, uint32_t connectivity)
{
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;

  plan.width = map->width;
  plan.height = map->height;
  plan.depth = map->depth;
  plan.connectivity = connectivity;
  plan.type = CUDACCL_VALUE_TYPE_32;
  plan.zero_is_background = false;
  return plan;
}

/* Numbers the patches. */
static CclStatus
find_patches (Filling *self, CclError *error)
{
  const CclDeviceMap *map = self->map;
  const CclValuesPlan plan = patches_plan (map, self->connectivity);
  const CclValues values = {
      map->labels.data, map->labels.row_stride, map->labels.slice_stride, CUDACCL_LOCATION_DEVICE};
  CclError reason = {CUDACCL_OK};

  CclValuesLabeller *labeller = ccl_cuda_values_labeller_new (map->device, &plan, &reason);
  if (!labeller)
    return ccl_error_set (error, reason.status, "%s", reason.message);
  CclStatus status = ccl_cuda_values_labeller_set_stream (labeller, map->stream, error);
  if (status == CUDACCL_OK)
    status = ccl_values_labeller_run (labeller, &values, &self->numbers, &self->n, error);
  ccl_values_labeller_free (&labeller);
  return status;
}

static CclPatch
patch_of_sum (const Filling *self, const CclMapSum *sum)
{
  const uint32_t sides[3] = {self->map->width, self->map->height, self->map->depth};
  CclPatch patch = {.label = sum->other, .area = sum->area};

  for (int axis = 0; axis < 3; axis++) {
    patch.least[axis] = ~sum->least_complement[axis];
    patch.greatest[axis] = sum->greatest[axis];
    if ((axis < 2 || self->is_volume) &&
        (patch.least[axis] == 0 || patch.greatest[axis] + 1 == sides[axis]))
      patch.at_border = 1;
  }
  return patch;
}

static CclStatus
measure_patches (Filling *self, CclError *error)
{
  const CclDeviceMap numbers = {self->map->device, self->numbers, self->map->width,
      self->map->height, self->map->depth, self->map->stream};
  CclMapSums sums = {.n = self->n,
      .sums = reallocarray (NULL, self->n, sizeof *sums.sums),
      .others = &self->map->labels};

  self->patches = reallocarray (NULL, self->n, sizeof *self->patches);
  CclStatus status =
      sums.sums && self->patches ? ccl_cuda_map_sum (&numbers, &sums, error) : no_memory (error);
  for (uint32_t i = 0; i < self->n && status == CUDACCL_OK; i++)
    self->patches[i] = patch_of_sum (self, &sums.sums[i]);
  free (sums.sums);
  return status;
}

static bool
keep_pairs (Filling *self, const CclContact *contacts)
{
  self->pairs = reallocarray (NULL, self->n_pairs + (size_t)1, sizeof *self->pairs);
  for (uint32_t i = 0; i < self->n_pairs && self->pairs; i++)
    self->pairs[i] = (CclPatchPair){contacts[i].label - 1, contacts[i].neighbour - 1};
  return self->pairs != NULL;
}

/* Lists the pairs of patches that touch, if there are not more than the capacity. */
static CclStatus
find_some_pairs (Filling *self, uint32_t capacity, CclError *error)
{
  const CclDeviceMap *map = self->map;
  CclContact *contacts = reallocarray (NULL, capacity, sizeof *contacts);

  if (!contacts)
    return no_memory (error);
  CclStatus status = ccl_cuda_label_contacts (map->device, &self->numbers, map->width, map->height,
      map->depth, self->connectivity, contacts, capacity, &self->n_pairs, map->stream, error);
  if (status == CUDACCL_OK && self->n_pairs <= capacity && !keep_pairs (self, contacts))
    status = no_memory (error);
  free (contacts);
  return status;
}

/* Lists all pairs, with more memory until there is room for them. */
static CclStatus
find_pairs (Filling *self, CclError *error)
{
  const uint64_t most = CUDACCL_MAX_CONTACTS;
  uint64_t capacity = LEAST_PAIRS + PAIRS_FOR_PATCH * (uint64_t)self->n;

  for (;; capacity *= 2) {
    capacity = capacity < most ? capacity : most;
    const CclStatus status = find_some_pairs (self, (uint32_t)capacity, error);
    if (status != CUDACCL_OK || self->n_pairs <= capacity)
      return status;
    if (capacity == most)
      return no_memory (error);
  }
}

/* Writes the labels of the patches. */
static CclStatus
write_labels (const Filling *self, const CclVolumeLabels *filled, CclError *error)
{
  const CclDeviceMap numbers = {self->map->device, self->numbers, self->map->width,
      self->map->height, self->map->depth, self->map->stream};
  uint32_t *labels = reallocarray (NULL, self->n + (size_t)1, sizeof *labels);

  if (!labels)
    return no_memory (error);
  labels[0] = 0;
  for (uint32_t i = 0; i < self->n; i++)
    labels[i + 1] = (uint32_t)self->labels[i];
  const CclStatus status = ccl_cuda_map_renumber (&numbers, labels, self->n, filled, error);
  free (labels);
  return status;
}

static CclStatus
fill (Filling *self, uint32_t max_area, const CclVolumeLabels *filled, CclError *error)
{
  CclStatus status = find_patches (self, error);

  if (status == CUDACCL_OK)
    status = measure_patches (self, error);
  if (status == CUDACCL_OK)
    status = find_pairs (self, error);
  if (status == CUDACCL_OK) {
    self->labels = reallocarray (NULL, self->n, sizeof *self->labels);
    status = self->labels ? ccl_fill_patches (self->patches, self->n, self->pairs, self->n_pairs,
                                max_area, self->labels, error)
                          : no_memory (error);
  }
  return status == CUDACCL_OK ? write_labels (self, filled, error) : status;
}

/* The connectivity of holes; 0 for one that labels do not have. */
static uint32_t
connectivity_of_holes (uint32_t connectivity)
{
  switch (connectivity) {
  case 4:
    return 8;
  case 8:
    return 4;
  case 6:
    return 26;
  case 18:
  case 26:
    return 6;
  default:
    return 0;
  }
}

static CclStatus
check (
    const CclDeviceMap *map, uint32_t connectivity, const CclVolumeLabels *filled, CclError *error)
{
  const MapSize size = {map->width, map->height, map->depth};
  const uint32_t of_holes = connectivity_of_holes (connectivity);
  const CclValuesPlan plan = patches_plan (map, of_holes);

  if (of_holes == 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4, 8, 6, 18 or 26, not %u", connectivity);
  CclStatus status = ccl_values_plan_check (&plan, error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&map->labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (filled, &size, "filled labels", error);
  return status == CUDACCL_OK ? ccl_cuda_stream_check_capture (map->device, map->stream, error)
                              : status;
}

CclStatus
ccl_cuda_fill_label_holes (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, uint32_t max_area,
    const CclVolumeLabels *filled, void *stream, CclError *error)
{
  if (!labels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a map of labels is needed");
  const CclDeviceMap map = {device, *labels, width, height, depth, stream};
  CclStatus status = check (&map, connectivity, filled, error);
  if (status != CUDACCL_OK)
    return status;
  const size_t row = (size_t)width * sizeof (uint32_t);
  Filling self = {.map = &map,
      .is_volume = connectivity != 4 && connectivity != 8,
      .connectivity = connectivity_of_holes (connectivity),
      .numbers = {NULL, row, row * height}};
  status = ccl_cuda_memory_new (device, row * height * depth, &self.numbers.data, error);
  if (status == CUDACCL_OK)
    status = fill (&self, max_area, filled, error);
  ccl_cuda_memory_free (device, &self.numbers.data);
  free (self.patches);
  free (self.pairs);
  free (self.labels);
  return status;
}
