/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sequence-engine.h"

#include <stdlib.h>

CclStatus
ccl_cuda_sequence_engine_init (CclCudaSequenceEngine *engine, CclCudaDevice *device,
    const CclAlgorithm *algorithm, const CclLabellerPlan *plan, CUstream stream, CclError *error)
{
  CclStatus status = ccl_cuda_sequence_init (&engine->sequence, device, algorithm, plan->width,
      plan->height, 1, plan->connectivity, stream, error);
  if (status != CUDACCL_OK)
    return status;
  if (ccl_cuda_algorithm_reads (algorithm, plan->format))
    status = ccl_cuda_sequence_set_format (&engine->sequence, plan->format, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_analysis_init (&engine->analysis, &engine->sequence, plan->max_components,
        plan->table_location, stream, error);
  if (status != CUDACCL_OK)
    ccl_cuda_sequence_clear (&engine->sequence);
  return status;
}

void
ccl_cuda_sequence_engine_clear (CclCudaSequenceEngine *engine)
{
  ccl_cuda_analysis_clear (&engine->analysis);
  ccl_cuda_sequence_clear (&engine->sequence);
}

void
ccl_cuda_sequence_engine_read (CclCudaEngine *engine, CclTable *table)
{
  ccl_cuda_analysis_read (&((CclCudaSequenceEngine *)engine)->analysis, table);
}

const CclCudaTableMemory *
ccl_cuda_sequence_engine_table (CclCudaEngine *engine)
{
  return &((CclCudaSequenceEngine *)engine)->analysis.table;
}

static CclStatus
sequence_engine_new (CclCudaDevice *device, const CclAlgorithm *algorithm,
    const CclLabellerPlan *plan, CUstream stream, CclCudaEngine **engine, CclError *error)
{
  CclCudaSequenceEngine *self = calloc (1, sizeof *self);
  if (!self)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
  self->base.klass = &ccl_cuda_sequence_engine;
  const CclStatus status =
      ccl_cuda_sequence_engine_init (self, device, algorithm, plan, stream, error);
  if (status == CUDACCL_OK)
    *engine = &self->base;
  else
    free (self);
  return status;
}

static CclStatus
sequence_engine_queue (CclCudaEngine *base, const CclCudaInput *input, const CclLabels *labels,
    CUstream stream, CclError *error)
{
  CclCudaSequenceEngine *engine = (CclCudaSequenceEngine *)base;
  CclCudaSequence *sequence = &engine->sequence;
  ccl_cuda_sequence_set_frame (sequence, input->frame, input->frame_stride, 0,
      input->options.threshold, input->options.invert);
  CclStatus status = ccl_cuda_sequence_queue (sequence, 0, sequence->n_steps, stream, error);
  if (status != CUDACCL_OK)
    return status;
  return ccl_cuda_analysis_queue (&engine->analysis, &input->options, labels, stream, error);
}

static void
sequence_engine_free (CclCudaEngine *engine)
{
  ccl_cuda_sequence_engine_clear ((CclCudaSequenceEngine *)engine);
  free (engine);
}

const CclCudaEngineClass ccl_cuda_sequence_engine = {
    .new = sequence_engine_new,
    .queue = sequence_engine_queue,
    .read = ccl_cuda_sequence_engine_read,
    .table = ccl_cuda_sequence_engine_table,
    .free = sequence_engine_free,
};
