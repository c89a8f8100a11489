/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a labeller runs: makes a component table and a label map from a frame. */
#ifndef CCL_CUDA_ENGINE_H
#define CCL_CUDA_ENGINE_H

#include "algorithms.h"

typedef struct CclCudaEngine CclCudaEngine;

/* A frame on its way through an engine. */
typedef struct CclCudaInput {
  CUdeviceptr frame;   /* device memory */
  size_t frame_stride; /* bytes */
  CclOptions options;
} CclCudaInput;

/* What makes a table and a label map from a frame: the common one, labelling followed by
 * analysis, or an algorithm's own. All functions are called with the device's context current,
 * by one thread at a time. */
struct CclCudaEngineClass {
  /* Allocates everything for frames of the plan. Work that prepares it may be queued on the
   * stream and has finished when the first frame comes. Returns NULL with nothing left
   * allocated: CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
  CclCudaEngine *(*new) (CclCudaDevice *device, const CclAlgorithm *algorithm, const CclPlan *plan,
      CUstream stream, CclError *error);

  /* Queues all work for one frame on the stream; labels may be NULL. */
  CclStatus (*queue) (CclCudaEngine *engine, const CclCudaInput *input, const CclLabels *labels,
      CUstream stream, CclError *error);

  /* Reads the table, when the queued work is done. */
  void (*read) (CclCudaEngine *engine, CclTable *table);

  /* Nothing queued is running any more. */
  void (*free) (CclCudaEngine *engine);
};

/* The head of every engine. */
struct CclCudaEngine {
  const CclCudaEngineClass *klass;
};

/* The engine of all algorithms that are a list of steps. */
extern const CclCudaEngineClass ccl_cuda_steps_engine;

#endif /* CCL_CUDA_ENGINE_H */
