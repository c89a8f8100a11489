/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine of algorithms that are a sequence of kernels: raw labels, then the analysis. */
#ifndef CCL_CUDA_SEQUENCE_ENGINE_H
#define CCL_CUDA_SEQUENCE_ENGINE_H

#include "analysis.h"
#include "engine.h"
#include "kernel-sequence.h"

typedef struct CclCudaSequenceEngine {
  CclCudaEngine base; /* klass is set by new */
  CclCudaSequence sequence;
  CclCudaAnalysis analysis;
} CclCudaSequenceEngine;

extern const CclCudaEngineClass ccl_cuda_sequence_engine;

/* The parts of its class, for engines that start with a CclCudaSequenceEngine. Init returns with
 * nothing left allocated: CCL_ERROR_UNSUPPORTED, CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_cuda_sequence_engine_init (CclCudaSequenceEngine *engine, CclCudaDevice *device,
    const CclAlgorithm *algorithm, const CclPlan *plan, CUstream stream, CclError *error);
void ccl_cuda_sequence_engine_clear (CclCudaSequenceEngine *engine);
void ccl_cuda_sequence_engine_read (CclCudaEngine *engine, CclTable *table);

#endif /* CCL_CUDA_SEQUENCE_ENGINE_H */
