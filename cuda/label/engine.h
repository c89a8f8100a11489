/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between a labeller and its algorithm: from a frame to component table and label
 * map. */
#pragma once

#include "algorithm.h"
#include "cuda/foreground/segmenter.h"
#include "table-memory.h"

typedef struct CclCudaEngine CclCudaEngine;

/* The input of one run. */
typedef struct CclCudaInput {
  CUdeviceptr frame;   /* device memory */
  size_t frame_stride; /* bytes */
  CclLabellerOptions options;
  CclIntensity intensity; /* the second plane, in device memory, if the plan needs it */
} CclCudaInput;

/* What an algorithm implements. All functions are called with the device's context current, by one
 * thread at a time. */
struct CclCudaEngineClass {
  /* Whether frames may have any pixel format of the plan (ccl_cuda_algorithm_reads()). */
  bool takes_all_formats;

  /* Whether the engine measures the columns of a plan, so that they are in its table's memory.
   * NULL: it measures none. */
  bool (*measures) (const CclLabellerPlan *plan);

  /* Allocates everything for frames of the plan. Preparatory work may be queued on the stream; the
   * labeller waits for it before the first run. After an error nothing is left allocated, and
   * *engine is as before: CUDACCL_ERROR_UNSUPPORTED, CUDACCL_ERROR_NO_MEMORY, CUDACCL_ERROR_DEVICE.
   */
  CclStatus (*new) (CclCudaDevice *device, const CclAlgorithm *algorithm,
      const CclLabellerPlan *plan, CUstream stream, CclCudaEngine **engine, CclError *error);

  /* Prepares for frames of the plan, which differs in width and height from the present one. Keeps
   * memory that suffices. After an error nothing has changed. NULL: a new engine is made. */
  CclStatus (*resize) (CclCudaEngine *engine, const CclLabellerPlan *plan, CclError *error);

  /* Queues all work of one run on the stream; labels may be NULL. */
  CclStatus (*queue) (CclCudaEngine *engine, const CclCudaInput *input, const CclLabels *labels,
      CUstream stream, CclError *error);

  /* Describes the kernels of a run without a label map, on a mask that is not written yet, so that
   * a segmenter queues them. Returns whether there are any now. NULL: there never are. */
  bool (*offer) (CclCudaEngine *engine, const CclCudaInput *input, CclCudaFollowers *followers);

  /* What was offered has been queued, or queueing it has failed. */
  void (*settle) (CclCudaEngine *engine, bool has_failed);

  /* Reads the table after the queued work has ended. */
  void (*read) (CclCudaEngine *engine, CclTable *table);

  /* The memory of the table, which changes when the engine is resized. */
  const CclCudaTableMemory *(*table) (CclCudaEngine *engine);

  /* Called when no queued work is left. */
  void (*free) (CclCudaEngine *engine);
};

/* The first member of every engine. */
struct CclCudaEngine {
  const CclCudaEngineClass *klass;
  const uint32_t *finished; /* of the queued run (wait.h), or NULL */
};

/* Whether the algorithm reads frames of a pixel format by itself. If not, the labeller compares
 * pixels of two bytes with the threshold, and the algorithm gets a mask of one byte per pixel. */
bool ccl_cuda_algorithm_reads (const CclAlgorithm *algorithm, CclPixelFormat format);
