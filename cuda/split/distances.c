/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances in label maps in device memory. distances.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/label/word-map.h"
#include "cuda/driver/job.h"
#include "images.h"
#include "distances-parameters.h"

/* A map without padding. */
static CclWordMap
dense_map (void *words, const CclMapDistancesParameters *p)
{
  return (CclWordMap){words, p->width, (uint64_t)p->width * p->height};
}

/* Queues all steps. The job has memory for a map without padding, unless there are roots. */
static CclStatus
queue (const CclCudaJob *job, void *object, CclError *error)
{
  static const CclCudaLoop loop = {
      &ccl_cuda_image_distances, CUDACCL_MAP_DISTANCES_THREADS, CUDACCL_MAP_DISTANCES_BLOCKS};
  const CclCudaDistances *distances = object;
  CclMapDistancesParameters p = {
      .labels = ccl_word_map (&distances->labels, distances->depth),
      .roots = distances->roots,
      .width = distances->width,
      .height = distances->height,
      .depth = distances->depth,
  };
  /* Roots are written when the map before them is not needed any more. */
  void *spare = p.roots ? (void *)p.roots : job->memory;
  const CclWordMap squared = ccl_word_map (&distances->squared, p.depth);
  const CclWordMap other = dense_map (spare, &p);
  const uint64_t n = (uint64_t)p.width * p.height * p.depth;
  CclStatus status;

  p.to = p.depth > 1 ? squared : other; /* so that the last step writes the result */
  status = ccl_cuda_job_loop (
      job, &loop, "ccl_map_distances_rows", (uint64_t)p.height * p.depth * 32, &p, error);
  for (uint32_t is_along_z = 0; is_along_z <= (p.depth > 1) && status == CUDACCL_OK; is_along_z++) {
    p.from = p.to;
    p.to = p.to.words == other.words ? squared : other;
    p.is_along_z = is_along_z;
    status = ccl_cuda_job_loop (job, &loop, "ccl_map_distances_lines", n, &p, error);
  }
  p.from = squared;
  if (status == CUDACCL_OK && p.roots)
    status = ccl_cuda_job_loop (job, &loop, "ccl_map_distances_roots", n, &p, error);
  return status;
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
  if (status != CUDACCL_OK)
    return status;
  const size_t n = (size_t)size.width * size.height * size.depth;
  return ccl_cuda_job_run (device, stream, distances->roots ? 0 : n * sizeof (uint32_t), queue,
      (void *)distances, error);
}
