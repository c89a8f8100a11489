/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a foreground segmenter with MOG2 has besides frame and mask. */
#pragma once

#include "cuda/driver/device.h"
#include "mog2-parameters.h"

typedef enum Mog2Kernel { MEASURE_LIGHT, SMOOTH_LIGHT, UPDATE, N_MOG2_KERNELS } Mog2Kernel;

typedef struct CudaMog2 {
  CUfunction functions[N_MOG2_KERNELS];
  const char *kernels[N_MOG2_KERNELS];
  uint8_t *gaussians;    /* device memory */
  uint32_t *held;        /* likewise: a bit for each pixel */
  size_t size;           /* bytes of the Gaussians */
  uint64_t plane_groups; /* groups of CUDACCL_FOREGROUND_PIXELS in a plane of them */
  bool light_is_clean;   /* its counts are in the state in which a frame starts */
  bool may_have_begun;   /* the last run looked for a scene change, and its result was not read */
  bool has_held;         /* held has been written since the model began */
  CclLightParameters light;
  CclMog2Parameters parameters;
} CudaMog2;
