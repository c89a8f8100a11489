/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The common engine: the steps of an algorithm's row, then the analysis of their raw labels. */
#include "engine.h"

#include <stdlib.h>

#include "analysis.h"

typedef struct StepsEngine {
  CclCudaEngine base;
  CclCudaLabelling labelling;
  CclCudaAnalysis analysis;
} StepsEngine;

static CclCudaEngine *
steps_engine_new (CclCudaDevice *device, const CclAlgorithm *algorithm, const CclPlan *plan,
    CUstream stream, CclError *error)
{
  StepsEngine *engine = calloc (1, sizeof *engine);
  if (!engine) {
    ccl_error_set (error, CCL_ERROR_NO_MEMORY, "no host memory for a labeller");
    return NULL;
  }
  engine->base.klass = &ccl_cuda_steps_engine;
  CclStatus status = ccl_cuda_labelling_init (&engine->labelling, device, algorithm, plan->width,
      plan->height, 1, plan->connectivity, stream, error);
  if (status == CCL_OK) {
    status =
        ccl_cuda_analysis_init (&engine->analysis, &engine->labelling, plan->max_components, error);
    if (status != CCL_OK)
      ccl_cuda_labelling_clear (&engine->labelling);
  }
  if (status != CCL_OK) {
    free (engine);
    return NULL;
  }
  return &engine->base;
}

static CclStatus
steps_engine_queue (CclCudaEngine *base, const CclCudaInput *input, const CclLabels *labels,
    CUstream stream, CclError *error)
{
  StepsEngine *engine = (StepsEngine *)base;
  CclCudaLabelling *labelling = &engine->labelling;
  ccl_cuda_labelling_set_frame (labelling, input->frame, input->frame_stride, 0,
      input->options.threshold, input->options.invert);
  CclStatus status = ccl_cuda_labelling_queue (labelling, 0, labelling->n_steps, stream, error);
  if (status != CCL_OK)
    return status;
  return ccl_cuda_analysis_queue (&engine->analysis, &input->options, labels, stream, error);
}

static void
steps_engine_read (CclCudaEngine *base, CclTable *table)
{
  ccl_cuda_analysis_read (&((StepsEngine *)base)->analysis, table);
}

static void
steps_engine_free (CclCudaEngine *base)
{
  StepsEngine *engine = (StepsEngine *)base;
  ccl_cuda_analysis_clear (&engine->analysis);
  ccl_cuda_labelling_clear (&engine->labelling);
  free (engine);
}

const CclCudaEngineClass ccl_cuda_steps_engine = {
    .new = steps_engine_new,
    .queue = steps_engine_queue,
    .read = steps_engine_read,
    .free = steps_engine_free,
};
