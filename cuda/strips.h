/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CCL_CUDA_STRIPS_H
#define CCL_CUDA_STRIPS_H

#include "engine.h"

/* The engine of the strips algorithm (strips.cu): label map and table in one graph of kernels.
 *
 * Frames whose rows, padded to whole groups of 128 pixels, have 2^31 pixels or more are refused
 * with CCL_ERROR_UNSUPPORTED. */
extern const CclCudaEngineClass ccl_cuda_strips_engine;

#endif /* CCL_CUDA_STRIPS_H */
