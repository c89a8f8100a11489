/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground masks of a background model of reduced frames (core/foreground/reduction.h). */
#pragma once

#include <cudaccl/foreground.h>

#include "cuda/driver/device.h"

/* Takes over `inner`, an object of ccl_reduced_plan() on the device, and frees it also on failure.
 */
CclForeground *ccl_cuda_reduced_foreground_new (CclCudaDevice *device,
    const CclForegroundPlan *plan, uint32_t factor, CclForeground *inner, CclError *error);

/* The object for the reduced frames, or NULL if the object is of another class. */
CclForeground *ccl_cuda_reduced_foreground_inner (CclForeground *foreground);

/* As ccl_cuda_foreground_set_stream(), for an object of this class. */
void ccl_cuda_reduced_foreground_set_stream (CclForeground *foreground, CUstream stream);

/* As ccl_cuda_foreground_set_finished(), for what this class adds. */
void ccl_cuda_reduced_foreground_set_finished (CclForeground *foreground);
