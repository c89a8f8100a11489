/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances in label maps in device memory. distances.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/label/word-map.h"
#include "cuda/driver/launch.h"
#include "images.h"
#include "distances-parameters.h"

static CclWordMap
word_map (const CclVolumeLabels *map)
{
  return (CclWordMap){
      map->data, map->row_stride / sizeof (uint32_t), map->slice_stride / sizeof (uint32_t)};
}

/* A map without padding. */
static CclWordMap
dense_map (void *words, const CclMapDistancesParameters *p)
{
  return (CclWordMap){words, p->width, (uint64_t)p->width * p->height};
}

static const CclCudaLoop loop = {
    &ccl_cuda_image_distances, CUDACCL_MAP_DISTANCES_THREADS, CUDACCL_MAP_DISTANCES_BLOCKS};

/* Queues all steps. spare: memory for a map without padding. */
static CclStatus
queue_all (CclCudaDevice *device, const CclCudaDistances *distances, void *spare, CUstream stream,
    CclError *error)
{
  CclMapDistancesParameters p = {
      .labels = word_map (&distances->labels),
      .roots = distances->roots,
      .width = distances->width,
      .height = distances->height,
      .depth = distances->depth,
  };
  const CclWordMap squared = word_map (&distances->squared), other = dense_map (spare, &p);
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;
  CclStatus status;

  p.to = p.depth > 1 ? squared : other; /* so that the last step writes the result */
  status = ccl_cuda_launch_loop (device, &loop, "ccl_map_distances_rows",
      (uint64_t)p.height * p.depth * 32, &p, stream, error);
  for (uint32_t is_along_z = 0; is_along_z <= (p.depth > 1) && status == CUDACCL_OK; is_along_z++) {
    p.from = p.to;
    p.to = p.to.words == other.words ? squared : other;
    p.is_along_z = is_along_z;
    status = ccl_cuda_launch_loop (device, &loop, "ccl_map_distances_lines", n, &p, stream, error);
  }
  p.from = squared;
  if (status == CUDACCL_OK && p.roots)
    status = ccl_cuda_launch_loop (device, &loop, "ccl_map_distances_roots", n, &p, stream, error);
  return status;
}

/* The device's context is current. */
static CclStatus
run (CclCudaDevice *device, const CclCudaDistances *distances, CUstream stream, CclError *error)
{
  const size_t size =
      (size_t)distances->width * distances->height * distances->depth * sizeof (uint32_t);
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_check_stream (device, stream, error);

  if (status == CUDACCL_OK && !distances->roots)
    status = ccl_cuda_device_allocate (device, size, &memory, error);
  if (status != CUDACCL_OK)
    return status;
  /* Roots are written when the map before them is not needed any more. */
  void *spare = distances->roots ? (void *)distances->roots : (void *)(uintptr_t)memory;
  status = queue_all (device, distances, spare, stream, error);
  const CclStatus ended = ccl_cuda_call (
      device->driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (stream));
  ccl_cuda_device_release (device, &memory);
  return status == CUDACCL_OK ? ended : status;
}

CclStatus
ccl_cuda_label_distances (
    CclCudaDevice *device, const CclCudaDistances *distances, void *stream, CclError *error)
{
  if (!device || !distances)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and maps are needed");
  const MapSize size = {distances->width, distances->height, distances->depth};
  CclStatus status = ccl_map_size_check (&size, error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&distances->labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&distances->squared, &size, "squared distances", error);
  if (status == CUDACCL_OK && (uintptr_t)distances->roots % sizeof (double) != 0)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "roots must be aligned to 8 bytes");
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = run (device, distances, stream, error);
  ccl_cuda_device_leave (device);
  return status;
}
