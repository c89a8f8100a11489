/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of the labels of a map in device memory, and new labels for it. map-sums.cu has the kernels.
 */
#include "core/label/word-map.h"
#include "core/measure/map-sums.h"

#include "cuda/driver/launch.h"
#include "images.h"
#include "map-sums-parameters.h"

enum { N_AXES = 3 };

static CclMapSumsParameters
describe (const CclDeviceMap *map, uint32_t n)
{
  return (CclMapSumsParameters){
      .labels = map->labels.data,
      .row = map->labels.row_stride / sizeof (uint32_t),
      .slice = map->depth > 1 ? map->labels.slice_stride / sizeof (uint32_t) : 0,
      .width = map->width,
      .height = map->height,
      .depth = map->depth,
      .n = n,
  };
}

static const CclCudaLoop loop = {
    &ccl_cuda_image_map_sums, CUDACCL_MAP_SUMS_THREADS, CUDACCL_MAP_SUMS_BLOCKS};

static CclStatus
upload (const CclDeviceMap *map, const void *host, CUdeviceptr to, size_t size, CclError *error)
{
  return ccl_cuda_call (
      map->device->driver, error, cuMemcpyHtoDAsync (to, host, size, map->stream));
}

static CclStatus
download (const CclDeviceMap *map, CUdeviceptr from, void *host, size_t size, CclError *error)
{
  return ccl_cuda_call (
      map->device->driver, error, cuMemcpyDtoHAsync (host, from, size, map->stream));
}

/* Waits for what is queued, whatever happened before. */
static CclStatus
finish (const CclDeviceMap *map, CclStatus status, CclError *error)
{
  const CclStatus ended = ccl_cuda_call (
      map->device->driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (map->stream));
  return status == CUDACCL_OK ? ended : status;
}

/* The places of arrays in memory that is allocated at once: sums, those of weights, the greatest
 * label, and the weights. All but the weights begin with zeros. */
typedef struct Places {
  size_t sums, turn_sums[N_AXES], greatest, turns[N_AXES], size;
} Places;

static size_t
side_of (const CclDeviceMap *map, int axis)
{
  return axis == 0 ? map->width : axis == 1 ? map->height : map->depth;
}

static Places
place_arrays (const CclDeviceMap *map, const CclMapSums *sums)
{
  Places places = {0};

  places.size = sums->n * sizeof *sums->sums;
  for (int axis = 0; axis < N_AXES; axis++) {
    places.turn_sums[axis] = places.size;
    places.size += sums->turns[axis] ? sums->n * sizeof *sums->turn_sums[axis] : 0;
  }
  places.greatest = places.size;
  places.size += sizeof (uint64_t); /* keeps the weights aligned */
  for (int axis = 0; axis < N_AXES; axis++) {
    places.turns[axis] = places.size;
    places.size += sums->turns[axis] ? 2 * side_of (map, axis) * sizeof *sums->turns[axis] : 0;
  }
  return places;
}

/* Queues the sums and their copies to the host. */
static CclStatus
queue_sums (const CclDeviceMap *map, CclMapSums *sums, CUdeviceptr memory, const Places *places,
    CclMapSumsParameters *p, CclError *error)
{
  CclStatus status = ccl_cuda_call (
      map->device->driver, error, cuMemsetD8Async (memory, 0, places->turns[0], map->stream));

  p->sums = (CclMapSum *)(uintptr_t)(memory + places->sums);
  p->greatest = (uint32_t *)(uintptr_t)(memory + places->greatest);
  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++) {
    if (!sums->turns[axis])
      continue;
    p->turns[axis] = (const int64_t *)(uintptr_t)(memory + places->turns[axis]);
    p->turn_sums[axis] = (CclMapTurn *)(uintptr_t)(memory + places->turn_sums[axis]);
    status = upload (map, sums->turns[axis], memory + places->turns[axis],
        2 * side_of (map, axis) * sizeof *sums->turns[axis], error);
  }
  if (status == CUDACCL_OK)
    status = ccl_cuda_launch_loop (map->device, &loop, "ccl_map_sums_add",
        divide_up (p->width, CUDACCL_MAP_SUMS_PIXELS) * (uint64_t)p->height * p->depth, p,
        map->stream, error);
  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++)
    if (sums->turns[axis] && sums->n)
      status = download (map, memory + places->turn_sums[axis], sums->turn_sums[axis],
          sums->n * sizeof *sums->turn_sums[axis], error);
  if (status == CUDACCL_OK && sums->n)
    status = download (map, memory + places->sums, sums->sums, sums->n * sizeof *sums->sums, error);
  if (status == CUDACCL_OK)
    status =
        download (map, memory + places->greatest, &sums->greatest, sizeof sums->greatest, error);
  return status;
}

CclStatus
ccl_cuda_map_sum (const CclDeviceMap *map, CclMapSums *sums, CclError *error)
{
  CclMapSumsParameters p = describe (map, sums->n);
  const Places places = place_arrays (map, sums);
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_enter (map->device, error);

  if (status != CUDACCL_OK)
    return status;
  if (sums->others) {
    p.others = sums->others->data;
    p.other_row = sums->others->row_stride / sizeof (uint32_t);
    p.other_slice = p.depth > 1 ? sums->others->slice_stride / sizeof (uint32_t) : 0;
  }
  status = ccl_cuda_device_allocate (map->device, places.size, &memory, error);
  if (status == CUDACCL_OK)
    status = finish (map, queue_sums (map, sums, memory, &places, &p, error), error);
  ccl_cuda_device_release (map->device, &memory);
  ccl_cuda_device_leave (map->device);
  return status;
}

CclStatus
ccl_cuda_map_renumber (const CclDeviceMap *map, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *to, CclError *error)
{
  CclMapSumsParameters p = describe (map, n);
  const size_t size = ((size_t)n + 1) * sizeof *numbers;
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_enter (map->device, error);

  if (status != CUDACCL_OK)
    return status;
  p.to = to->data;
  p.to_row = to->row_stride / sizeof (uint32_t);
  p.to_slice = p.depth > 1 ? to->slice_stride / sizeof (uint32_t) : 0;
  status = ccl_cuda_device_allocate (map->device, size, &memory, error);
  if (status == CUDACCL_OK) {
    p.numbers = (const uint32_t *)(uintptr_t)memory;
    status = upload (map, numbers, memory, size, error);
    if (status == CUDACCL_OK)
      status = ccl_cuda_launch_loop (map->device, &loop, "ccl_map_sums_renumber",
          (uint64_t)p.width * p.height * p.depth, &p, map->stream, error);
    status = finish (map, status, error);
  }
  ccl_cuda_device_release (map->device, &memory);
  ccl_cuda_device_leave (map->device);
  return status;
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
  if (status == CUDACCL_OK)
    status = ccl_cuda_stream_check_capture (device, stream, error);
  if (status != CUDACCL_OK)
    return status;
  const CclDeviceMap map = {device, *labels, width, height, depth, stream};
  return ccl_cuda_map_renumber (&map, numbers, n, replaced, error);
}
