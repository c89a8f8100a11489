/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures components from a label map in device memory: the host side of measure.cu.
 *
 * Functions assume that the device's context is current (device.h). One thread at a time.
 */
#pragma once

#include "cuda/driver/allocations.h"
#include "cuda/driver/launch.h"
#include "measure-parameters.h"

enum { CUDACCL_MEASURE_KERNELS = 3 };

typedef struct CclCudaMeasurer {
  CclCudaAllocations memory;
  CclMeasureParameters parameters;
  CclCudaLaunch launches[CUDACCL_MEASURE_KERNELS];
  void *map;           /* for frames without a label map of the caller's */
  size_t sums_size;    /* bytes */
  void *pinned_result; /* the features of the last frame; NULL: they are in device memory */
  void *pinned_flag;   /* the completion flag of the last frame */
  bool is_clean;       /* sums are zeros */
} CclCudaMeasurer;

/* Allocates everything for frames of a plan with columns. After an error nothing is left allocated,
 * and *measurer is NULL: CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_measurer_new (CclCudaDevice *device, const CclLabellerPlan *plan,
    CclCudaMeasurer **measurer, CclError *error);

/* The features of the last frame, at the plan's table_location. */
const CclFeatures *ccl_cuda_measurer_features (const CclCudaMeasurer *self);

/* The completion flag of the frame that was queued last (wait.h). */
const uint32_t *ccl_cuda_measurer_finished (const CclCudaMeasurer *self);

/* The memory for the label map of frames that come without one. */
CclLabels ccl_cuda_measurer_map (const CclCudaMeasurer *self);

/* Queues the work behind the kernels that write the label map of a frame. intensity: in device
 * memory, if the plan needs it. */
CclStatus ccl_cuda_measurer_queue (CclCudaMeasurer *self, const CclIntensity *intensity,
    const CclLabels *labels, CUstream stream, CclError *error);

/* Frees the measurer and sets the pointer to NULL; NULL is allowed. All queued work must have
 * ended. */
void ccl_cuda_measurer_free (CclCudaMeasurer **self);
