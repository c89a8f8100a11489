/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine of algorithms that are a sequence of kernels: raw labels, then the analysis. */
#pragma once

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
 * nothing left allocated: CUDACCL_ERROR_UNSUPPORTED, CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE.
 */
CclStatus ccl_cuda_sequence_engine_init (CclCudaSequenceEngine *engine, CclCudaDevice *device,
    const CclAlgorithm *algorithm, const CclLabellerPlan *plan, CUstream stream, CclError *error);
void ccl_cuda_sequence_engine_clear (CclCudaSequenceEngine *engine);
void ccl_cuda_sequence_engine_read (CclCudaEngine *engine, CclTable *table);
const CclCudaTableMemory *ccl_cuda_sequence_engine_table (CclCudaEngine *engine);
