/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The peaks of distances in device memory. peaks.cu and values.cu have the kernels. */
#include <cudaccl/device.h>

#include "core/base/layout.h"
#include "core/label/word-map.h"
#include "cuda/driver/job.h"
#include "cuda/values/values.h"
#include "images.h"
#include "peaks-parameters.h"

typedef struct Peaks {
  CclMapPeaksParameters find;
  CclValuesParameters number;
  uint32_t *n_objects; /* the caller's */
} Peaks;

/* Queues a kernel with a thread for each pixel. */
static CclStatus
queue_for_pixels (const CclCudaJob *job, const char *kernel, Peaks *self, CclError *error)
{
  static const CclCudaLoop loop = {
      &ccl_cuda_image_peaks, CUDACCL_MAP_PEAKS_THREADS, CUDACCL_MAP_PEAKS_BLOCKS};
  return ccl_cuda_job_loop (job, &loop, kernel, self->number.n_pixels, &self->find, error);
}

/* Queues the numbers of the objects. */
static CclStatus
queue_numbers (const CclCudaJob *job, CclValuesParameters *p, CclError *error)
{
  const uint64_t n_tiles =
      (uint64_t)p->tile_columns * p->tile_rows * divide_up (p->depth, 1u << p->tile_z_shift);
  const CclCudaStep steps[] = {
      {"ccl_values_number_roots", p->n_chunks, CUDACCL_VALUES_THREADS},
      {"ccl_values_number_chunks", 1, CUDACCL_SCAN_THREADS},
      {"ccl_values_write_labels", (uint32_t)n_tiles, CUDACCL_VALUES_THREADS},
  };
  CclStatus status = CUDACCL_OK;

  for (size_t i = 0; i < sizeof steps / sizeof *steps && status == CUDACCL_OK; i++) {
    const CclCudaLoop blocks = {&ccl_cuda_image_values, steps[i].n_threads, UINT32_MAX};
    status = ccl_cuda_job_loop (
        job, &blocks, steps[i].kernel, (uint64_t)steps[i].n_blocks * steps[i].n_threads, p, error);
  }
  return status;
}

/* Places the arrays in memory, which may be NULL. Returns their size. */
static size_t
place_arrays (Peaks *self, void *memory)
{
  CclValuesParameters *p = &self->number;
  Layout layout = {.memory = memory, .alignment = sizeof (uint32_t)};

  p->parents = self->find.parents = lay_out (&layout, p->n_pixels, sizeof *p->parents);
  p->chunk_offsets = lay_out (&layout, p->n_chunks, sizeof *p->chunk_offsets);
  p->n_components = lay_out (&layout, 1, sizeof *p->n_components);
  return layout.size;
}

static CclStatus
find (const CclCudaJob *job, void *object, CclError *error)
{
  Peaks *self = object;

  place_arrays (self, job->memory);
  CclStatus status = queue_for_pixels (job, "ccl_map_peaks_find", self, error);
  if (status == CUDACCL_OK)
    status = queue_for_pixels (job, "ccl_map_peaks_unite", self, error);
  if (status == CUDACCL_OK)
    status = queue_numbers (job, &self->number, error);
  return status == CUDACCL_OK ? ccl_cuda_job_download (job, self->number.n_components,
                                    self->n_objects, sizeof *self->n_objects, error)
                              : status;
}

static CclStatus
check (const CclCudaFlood *maps, uint32_t radius, const uint32_t *n_objects, CclError *error)
{
  const MapSize size = {maps->width, maps->height, maps->depth};
  CclStatus status = ccl_map_size_check (&size, error);

  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->squared, &size, "squared distances", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->objects, &size, "objects", error);
  if (status == CUDACCL_OK && (radius < 1 || radius > CUDACCL_MAX_PEAK_RADIUS || !n_objects))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "peaks need a radius of 1…%d pixels, not %u, and memory for their number",
        CUDACCL_MAX_PEAK_RADIUS, radius);
  return status;
}

static void
describe (Peaks *self, const CclCudaFlood *maps, uint32_t radius)
{
  const CclWordMap objects = ccl_word_map (&maps->objects, maps->depth);
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;

  plan.width = maps->width;
  plan.height = maps->height;
  plan.depth = maps->depth;
  plan.connectivity = maps->depth > 1 ? 26 : 8;
  ccl_cuda_values_plan_geometry (&self->number, &plan);
  self->number.labels = objects.words;
  self->number.label_row = objects.row;
  self->number.label_slice = objects.slice;
  self->find = (CclMapPeaksParameters){
      .labels = ccl_word_map (&maps->labels, maps->depth),
      .squared = ccl_word_map (&maps->squared, maps->depth),
      .width = maps->width,
      .height = maps->height,
      .depth = maps->depth,
      .radius = radius,
  };
}

CclStatus
ccl_cuda_distance_peaks (CclCudaDevice *device, const CclCudaFlood *maps, uint32_t radius,
    uint32_t *n_objects, void *stream, CclError *error)
{
  if (!device || !maps)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and maps are needed");
  CclStatus status = check (maps, radius, n_objects, error);
  if (status != CUDACCL_OK)
    return status;
  Peaks self = {.n_objects = n_objects};
  describe (&self, maps, radius);
  return ccl_cuda_job_run (device, stream, place_arrays (&self, NULL), find, &self, error);
}
