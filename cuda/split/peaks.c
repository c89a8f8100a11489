/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The peaks of distances in device memory. peaks.cu and values.cu have the kernels. */
#include <cudaccl/device.h>

#include "core/label/word-map.h"
#include "cuda/driver/launch.h"
#include "cuda/values/values.h"
#include "images.h"
#include "peaks-parameters.h"

typedef struct Peaks {
  CclCudaDevice *device;
  CUstream stream;
  CclMapPeaksParameters find;
  CclValuesParameters number;
} Peaks;

/* Queues a kernel with a thread for each pixel. */
static CclStatus
queue_for_pixels (Peaks *self, const char *kernel, CclError *error)
{
  static const CclCudaLoop loop = {
      &ccl_cuda_image_peaks, CUDACCL_MAP_PEAKS_THREADS, CUDACCL_MAP_PEAKS_BLOCKS};
  return ccl_cuda_launch_loop (
      self->device, &loop, kernel, self->number.n_pixels, &self->find, self->stream, error);
}

/* Queues the numbers of the objects. */
static CclStatus
queue_numbers (Peaks *self, CclError *error)
{
  CclValuesParameters *p = &self->number;
  const uint64_t n_tiles =
      (uint64_t)p->tile_columns * p->tile_rows * divide_up (p->depth, 1u << p->tile_z_shift);
  const struct {
    const char *kernel;
    uint32_t n_blocks, n_threads;
  } steps[] = {
      {"ccl_values_number_roots", p->n_chunks, CUDACCL_VALUES_THREADS},
      {"ccl_values_number_chunks", 1, CUDACCL_SCAN_THREADS},
      {"ccl_values_write_labels", (uint32_t)n_tiles, CUDACCL_VALUES_THREADS},
  };
  CclStatus status = CUDACCL_OK;

  for (size_t i = 0; i < sizeof steps / sizeof *steps && status == CUDACCL_OK; i++) {
    const CclCudaLoop blocks = {&ccl_cuda_image_values, steps[i].n_threads, UINT32_MAX};
    status = ccl_cuda_launch_loop (self->device, &blocks, steps[i].kernel,
        (uint64_t)steps[i].n_blocks * steps[i].n_threads, p, self->stream, error);
  }
  return status;
}

static CclStatus
find (Peaks *self, uint32_t *n_objects, CclError *error)
{
  CclStatus status = queue_for_pixels (self, "ccl_map_peaks_find", error);

  if (status == CUDACCL_OK)
    status = queue_for_pixels (self, "ccl_map_peaks_unite", error);
  if (status == CUDACCL_OK)
    status = queue_numbers (self, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (self->device->driver, error,
        cuMemcpyDtoHAsync (n_objects, (CUdeviceptr)(uintptr_t)self->number.n_components,
            sizeof *n_objects, self->stream));
  const CclStatus ended = ccl_cuda_call (self->device->driver, status == CUDACCL_OK ? error : NULL,
      cuStreamSynchronize (self->stream));
  return status == CUDACCL_OK ? ended : status;
}

/* The device's context is current. */
static CclStatus
run (Peaks *self, uint32_t *n_objects, CclError *error)
{
  CclValuesParameters *p = &self->number;
  const size_t parents = (size_t)p->n_pixels * sizeof *p->parents,
               chunks = p->n_chunks * sizeof *p->chunk_offsets;
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_check_stream (self->device, self->stream, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (
        self->device, parents + chunks + sizeof *p->n_components, &memory, error);
  if (status != CUDACCL_OK)
    return status;
  p->parents = self->find.parents = (uint32_t *)(uintptr_t)memory;
  p->chunk_offsets = (uint32_t *)(uintptr_t)(memory + parents);
  p->n_components = (uint32_t *)(uintptr_t)(memory + parents + chunks);
  status = find (self, n_objects, error);
  ccl_cuda_device_release (self->device, &memory);
  return status;
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
  const size_t word = sizeof (uint32_t);
  const bool has_slices = maps->depth > 1;
  CclValuesPlan plan = CUDACCL_VALUES_PLAN_DEFAULT;

  plan.width = maps->width;
  plan.height = maps->height;
  plan.depth = maps->depth;
  plan.connectivity = has_slices ? 26 : 8;
  ccl_cuda_values_plan_geometry (&self->number, &plan);
  self->number.labels = maps->objects.data;
  self->number.label_row = maps->objects.row_stride / word;
  self->number.label_slice = has_slices ? maps->objects.slice_stride / word : 0;
  self->find = (CclMapPeaksParameters){.labels = maps->labels.data,
      .squared = maps->squared.data,
      .label_row = maps->labels.row_stride / word,
      .label_slice = has_slices ? maps->labels.slice_stride / word : 0,
      .squared_row = maps->squared.row_stride / word,
      .squared_slice = has_slices ? maps->squared.slice_stride / word : 0,
      .width = maps->width,
      .height = maps->height,
      .depth = maps->depth,
      .radius = radius};
}

CclStatus
ccl_cuda_distance_peaks (CclCudaDevice *device, const CclCudaFlood *maps, uint32_t radius,
    uint32_t *n_objects, void *stream, CclError *error)
{
  if (!device || !maps)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and maps are needed");
  CclStatus status = check (maps, radius, n_objects, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  Peaks self = {.device = device, .stream = stream};
  describe (&self, maps, radius);
  status = run (&self, n_objects, error);
  ccl_cuda_device_leave (device);
  return status;
}
