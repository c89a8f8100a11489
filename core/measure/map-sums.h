/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of the labels of a map in the memory of a GPU, and new labels for it. The code is that of
 * the backend: cuda/measure/map-sums.c. */
#pragma once

#include "map-sum.h"

#include <cudaccl/device.h>

/* A label map of at most CUDACCL_MAX_PIXELS pixels, whose strides have been checked, and the
 * caller's CUstream. */
typedef struct CclDeviceMap {
  CclCudaDevice *device;
  CclVolumeLabels labels;
  uint32_t width, height, depth; /* depth is 1 for frames */
  void *stream;
} CclDeviceMap;

/* What is wanted of the labels 1…n. */
typedef struct CclMapSums {
  uint32_t n;
  CclMapSum *sums;               /* [n], filled, in host memory; of a label without pixels: zeros */
  const CclVolumeLabels *others; /* a map of the same size; NULL: CclMapSum.other is 0 */
  const int64_t *turns[3];       /* [2 × side], of axes: two weights of each place; NULL: none */
  CclMapTurn *turn_sums[3];      /* [n], filled for axes with weights, in host memory */
  uint32_t greatest;             /* filled: the greatest label of the map */
} CclMapSums;

/* Finds the sums, after the work that is queued on the stream. CUDACCL_ERROR_NO_MEMORY or
 * CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_map_sum (const CclDeviceMap *map, CclMapSums *sums, CclError *error);

/* Writes numbers[label] for each label 0…n to another map or the same one; greater labels stay.
 * numbers: [n + 1], in host memory. Waits. As ccl_cuda_map_sum(). */
CclStatus ccl_cuda_map_renumber (const CclDeviceMap *map, const uint32_t *numbers, uint32_t n,
    const CclVolumeLabels *to, CclError *error);
