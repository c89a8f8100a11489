/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flood of labels from markers in device memory. flood.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/base/interruption.h"
#include "core/label/word-map.h"
#include "cuda/driver/launch.h"
#include "images.h"
#include "flood-parameters.h"

#include <stdlib.h>

/* Between two questions whether something has changed. */
enum { PASSES = 4 };

static CclFloodMap
flood_map (const CclVolumeLabels *map, uint32_t depth)
{
  return (CclFloodMap){map->data, map->row_stride / sizeof (uint32_t),
      depth > 1 ? map->slice_stride / sizeof (uint32_t) : 0};
}

/* Lists the steps to the neighbours; each has its opposite at the same place from the end. */
static void
list_steps (CclMapFloodParameters *p, uint32_t connectivity)
{
  const bool is_frame = connectivity == 4 || connectivity == 8;
  const int most = connectivity == 4 || connectivity == 6 ? 1 : connectivity == 26 ? 3 : 2;

  for (int place = 0; place < 27; place++) {
    const int x = place % 3 - 1, y = place / 3 % 3 - 1, z = place / 9 - 1;
    const int length = abs (x) + abs (y) + abs (z);
    if (length > 0 && length <= most && !(is_frame && z))
      p->steps[p->n_steps++] = (CclFloodStep){x, y, z};
  }
}

/* Queues a kernel with a block for each tile. */
static CclStatus
queue (CclCudaDevice *device, const char *kernel, CclMapFloodParameters *p, CUstream stream,
    CclError *error)
{
  enum { N_THREADS = CUDACCL_MAP_FLOOD_COLUMNS * CUDACCL_MAP_FLOOD_ROWS };
  static const CclCudaLoop loop = {&ccl_cuda_image_flood, N_THREADS, CUDACCL_MAP_FLOOD_BLOCKS};
  const uint64_t n_tiles = (uint64_t)p->tile_columns * p->tile_rows * p->depth;
  return ccl_cuda_launch_loop (device, &loop, kernel, n_tiles * N_THREADS, p, stream, error);
}

/* Queues some passes, and finds whether they changed something. */
static CclStatus
run_passes (CclCudaDevice *device, const char *kernel, CclMapFloodParameters *p, CUstream stream,
    uint32_t *changed, CclError *error)
{
  const CUdeviceptr flag = (CUdeviceptr)(uintptr_t)p->changed;
  CclStatus status =
      ccl_cuda_call (device->driver, error, cuMemsetD8Async (flag, 0, sizeof *p->changed, stream));

  for (int i = 0; i < PASSES && status == CUDACCL_OK; i++)
    status = queue (device, kernel, p, stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (
        device->driver, error, cuMemcpyDtoHAsync (changed, flag, sizeof *changed, stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (stream));
  return status;
}

static CclStatus
run_until_done (CclCudaDevice *device, const char *kernel, CclMapFloodParameters *p,
    CUstream stream, CclError *error)
{
  uint32_t changed = 1;
  CclStatus status = CUDACCL_OK;

  while (changed && status == CUDACCL_OK) {
    if (ccl_is_interrupted ((uint64_t)p->width * p->height * p->depth))
      return ccl_interruption_status (error);
    status = run_passes (device, kernel, p, stream, &changed, error);
  }
  return status;
}

static CclStatus
flood (CclCudaDevice *device, CclMapFloodParameters *p, CUstream stream, CclError *error)
{
  CclStatus status = queue (device, "ccl_map_flood_begin", p, stream, error);

  if (status == CUDACCL_OK)
    status = run_until_done (device, "ccl_map_flood_find_times", p, stream, error);
  if (status == CUDACCL_OK)
    status = run_until_done (device, "ccl_map_flood_find_origins", p, stream, error);
  if (status == CUDACCL_OK)
    status = queue (device, "ccl_map_flood_write", p, stream, error);
  const CclStatus ended = ccl_cuda_call (
      device->driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (stream));
  return status == CUDACCL_OK ? ended : status;
}

/* The device's context is current. */
static CclStatus
run (CclCudaDevice *device, CclMapFloodParameters *p, CUstream stream, CclError *error)
{
  const size_t size = (size_t)p->width * p->height * p->depth * sizeof (uint64_t);
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_check_stream (device, stream, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (device, 2 * size + sizeof *p->changed, &memory, error);
  if (status != CUDACCL_OK)
    return status;
  p->times = (uint64_t *)(uintptr_t)memory;
  p->origins = (uint64_t *)(uintptr_t)(memory + size);
  p->changed = (uint32_t *)(uintptr_t)(memory + 2 * size);
  status = flood (device, p, stream, error);
  ccl_cuda_device_release (device, &memory);
  return status;
}

static CclStatus
check (const CclCudaFlood *maps, CclError *error)
{
  const MapSize size = {maps->width, maps->height, maps->depth};
  const uint32_t c = maps->connectivity;
  CclStatus status = ccl_map_size_check (&size, error);

  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->squared, &size, "squared distances", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->objects, &size, "objects", error);
  if (status == CUDACCL_OK && c != 6 && c != 18 && c != 26 &&
      (maps->depth > 1 || (c != 4 && c != 8)))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames, 6, 18 or 26 for volumes, not %u", c);
  return status;
}

CclStatus
ccl_cuda_flood_objects (
    CclCudaDevice *device, const CclCudaFlood *maps, void *stream, CclError *error)
{
  if (!device || !maps)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and maps are needed");
  CclStatus status = check (maps, error);
  if (status != CUDACCL_OK)
    return status;
  CclMapFloodParameters p = {.labels = flood_map (&maps->labels, maps->depth),
      .squared = flood_map (&maps->squared, maps->depth),
      .objects = flood_map (&maps->objects, maps->depth),
      .width = maps->width,
      .height = maps->height,
      .depth = maps->depth,
      .tile_columns = (uint32_t)divide_up (maps->width, CUDACCL_MAP_FLOOD_COLUMNS),
      .tile_rows = (uint32_t)divide_up (maps->height, CUDACCL_MAP_FLOOD_ROWS)};
  list_steps (&p, maps->connectivity);
  status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = run (device, &p, stream, error);
  ccl_cuda_device_leave (device);
  return status;
}
