/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/label/engine.h"

/* The engine of the strips algorithm (strips.cu): label map and table in one graph of kernels.
 *
 * Frames whose rows, padded to whole groups of 128 pixels, have 2^31 pixels or more are refused
 * with CUDACCL_ERROR_UNSUPPORTED. */
extern const CclCudaEngineClass ccl_cuda_strips_engine;
