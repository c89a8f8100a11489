/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of the labels of a map in device memory, and new labels for it. map-sums.cu has the kernels.
 */
#include "core/base/layout.h"
#include "core/label/word-map.h"
#include "core/measure/map-sums.h"

#include "cuda/driver/job.h"
#include "images.h"
#include "map-sums-parameters.h"

enum { N_AXES = 3 };

static CclMapSumsParameters
describe (const CclDeviceMap *map, uint32_t n)
{
  return (CclMapSumsParameters){
      .labels = ccl_word_map (&map->labels, map->depth),
      .width = map->width,
      .height = map->height,
      .depth = map->depth,
      .n = n,
  };
}

static const CclCudaLoop loop = {
    &ccl_cuda_image_map_sums, CUDACCL_MAP_SUMS_THREADS, CUDACCL_MAP_SUMS_BLOCKS};

/* What a call adds up. */
typedef struct Addition {
  const CclDeviceMap *map;
  CclMapSums *sums;
  CclMapSumsParameters parameters;
} Addition;

static size_t
side_of (const CclDeviceMap *map, int axis)
{
  return axis == 0 ? map->width : axis == 1 ? map->height : map->depth;
}

/* The bytes of the weights of an axis. */
static size_t
turns_size (const Addition *self, int axis)
{
  return 2 * side_of (self->map, axis) * sizeof *self->sums->turns[axis];
}

/* Places the arrays in memory, which may be NULL: what begins with zeros, then the weights. Returns
 * the size of all, and that of what begins with zeros. */
static size_t
place_arrays (Addition *self, void *memory, size_t *zeros)
{
  const CclMapSums *sums = self->sums;
  CclMapSumsParameters *p = &self->parameters;
  Layout layout = {.memory = memory, .alignment = sizeof (uint64_t)};

  p->sums = lay_out (&layout, sums->n, sizeof *p->sums);
  for (int axis = 0; axis < N_AXES; axis++)
    if (sums->turns[axis])
      p->turn_sums[axis] = lay_out (&layout, sums->n, sizeof *p->turn_sums[axis]);
  p->greatest = lay_out (&layout, 1, sizeof *p->greatest);
  *zeros = layout.size;
  for (int axis = 0; axis < N_AXES; axis++)
    if (sums->turns[axis])
      p->turns[axis] = lay_out (&layout, 1, turns_size (self, axis));
  return layout.size;
}

/* Queues the sums and their copies to the host. */
static CclStatus
add (const CclCudaJob *job, void *object, CclError *error)
{
  Addition *self = object;
  CclMapSums *sums = self->sums;
  CclMapSumsParameters *p = &self->parameters;
  const size_t n = sums->n;
  size_t zeros;

  place_arrays (self, job->memory, &zeros);
  CclStatus status = ccl_cuda_job_clear (job, job->memory, zeros, error);
  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++)
    if (sums->turns[axis])
      status = ccl_cuda_job_upload (
          job, sums->turns[axis], (void *)p->turns[axis], turns_size (self, axis), error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_loop (job, &loop, "ccl_map_sums_add",
        divide_up (p->width, CUDACCL_MAP_SUMS_PIXELS) * (uint64_t)p->height * p->depth, p, error);
  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++)
    if (sums->turns[axis] && n)
      status = ccl_cuda_job_download (
          job, p->turn_sums[axis], sums->turn_sums[axis], n * sizeof *p->turn_sums[axis], error);
  if (status == CUDACCL_OK && n)
    status = ccl_cuda_job_download (job, p->sums, sums->sums, n * sizeof *p->sums, error);
  return status == CUDACCL_OK
             ? ccl_cuda_job_download (job, p->greatest, &sums->greatest, sizeof *p->greatest, error)
             : status;
}

CclStatus
ccl_cuda_map_sum (const CclDeviceMap *map, CclMapSums *sums, CclError *error)
{
  Addition self = {map, sums, describe (map, sums->n)};
  size_t zeros;

  if (sums->others)
    self.parameters.others = ccl_word_map (sums->others, map->depth);
  return ccl_cuda_job_run (
      map->device, map->stream, place_arrays (&self, NULL, &zeros), add, &self, error);
}

/* New labels, of which numbers are in host memory. */
typedef struct Renumbering {
  const uint32_t *numbers;
  CclMapSumsParameters parameters;
} Renumbering;

static size_t
numbers_size (const Renumbering *self)
{
  return ((size_t)self->parameters.n + 1) * sizeof *self->numbers;
}

static CclStatus
renumber (const CclCudaJob *job, void *object, CclError *error)
{
  Renumbering *self = object;
  CclMapSumsParameters *p = &self->parameters;
  const CclStatus status =
      ccl_cuda_job_upload (job, self->numbers, job->memory, numbers_size (self), error);

  p->numbers = job->memory;
  return status == CUDACCL_OK ? ccl_cuda_job_loop (job, &loop, "ccl_map_sums_renumber",
                                    (uint64_t)p->width * p->height * p->depth, p, error)
                              : status;
}

CclStatus
ccl_cuda_map_renumber (const CclDeviceMap *map, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *to, CclError *error)
{
  Renumbering self = {numbers, describe (map, n)};

  self.parameters.to = ccl_word_map (to, map->depth);
  return ccl_cuda_job_run (map->device, map->stream, numbers_size (&self), renumber, &self, error);
}

CclStatus
ccl_cuda_replace_labels (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *replaced, void *stream, CclError *error)
{
  const MapSize size = {width, height, depth};

  if (!device || !numbers || width == 0 || height == 0 || depth == 0 ||
      (uint64_t)width * height > CUDACCL_MAX_PIXELS ||
      (uint64_t)width * height * depth > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a device, numbers and a size of up to %u pixels are needed", CUDACCL_MAX_PIXELS);
  CclStatus status = ccl_map_check (labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (replaced, &size, "replaced labels", error);
  if (status != CUDACCL_OK)
    return status;
  const CclDeviceMap map = {device, *labels, width, height, depth, stream};
  return ccl_cuda_map_renumber (&map, numbers, n, replaced, error);
}
