/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of filters.cu: the noise filter and the closing that follow a foreground method.
 * Functions assume that the device's context is current (device.h). */
#pragma once

#include <cudaccl/foreground.h>

#include "cuda/driver/allocations.h"
#include "cuda/driver/launch.h"
#include "foreground-parameters.h"

/* Numbers of the filter kernels: first those of CclDenoise, in its order, without
 * CUDACCL_DENOISE_NONE; then the median filters that read classes (foreground, shadow, background);
 * then the dilation and the erosion of a closing. */
enum {
  CUDACCL_DENOISE_KERNEL,
  CUDACCL_CLASSES_KERNEL = CUDACCL_DENOISE_KERNEL + CUDACCL_DENOISE_OPENING_5,
  CUDACCL_DILATE_KERNEL = CUDACCL_CLASSES_KERNEL + 2,
  CUDACCL_ERODE_KERNEL,
  CUDACCL_FILTER_KERNELS,
};

typedef struct CclCudaFilters {
  CclCudaDevice *device;
  CUfunction functions[CUDACCL_FILTER_KERNELS];
  /* Masks in bits, in device memory; NULL: not needed. */
  uint32_t *found, *filtered; /* results of the method, and of the noise filter */
  uint32_t *dilated;
  uint32_t *shadow, *filtered_shadow; /* as found and filtered */
} CclCudaFilters;

/* What follows a method. */
typedef struct CclCudaFiltering {
  CclDenoise denoise;
  bool reads_shadows;                     /* median filters count shadows, too */
  bool is_closed;                         /* by a window of: */
  uint32_t closing_width, closing_height; /* at least 1 */
  uint32_t *kept;                         /* CclFilterParameters */
} CclCudaFiltering;

/* Allocates everything from `memory`; has_shadows: methods find shadows. CUDACCL_ERROR_NO_MEMORY,
 * CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_filters_init (CclCudaFilters *filters, CclCudaAllocations *memory,
    const CclExtent *extent, bool has_shadows, CclError *error);

/* Sets grid and block of a launch so that they cover width × height pixels: a block has `warps`
 * rows, each warp handles warp_pixels pixels of one. */
void ccl_cuda_filters_cover (
    uint32_t width, uint32_t height, uint32_t warp_pixels, uint32_t warps, CclCudaLaunch *launch);

/* Queues them. Before, the method has written its result to `found`, and if it finds shadows to
 * `shadow`. The last one writes the mask. */
CclStatus ccl_cuda_filters_queue (const CclCudaFilters *filters, const CclCudaFiltering *filtering,
    const CclExtent *extent, const CclMaskParameters *mask, CUstream stream, CclError *error);
