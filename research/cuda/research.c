/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "research.h"
#include "cuda/label/algorithms.h"

#include <stdlib.h>
#include <string.h>

const CclAlgorithm *
ccl_research_algorithm (size_t number)
{
  const CclAlgorithm *library = ccl_cuda_algorithm_table;
  for (; library->name; library++) {
    if (number-- == 0)
      return library;
  }
  const CclResearchAlgorithm *paper = ccl_research_table;
  while (paper->row.name && number > 0) {
    paper++;
    number--;
  }
  return paper->row.name ? &paper->row : NULL;
}

const CclResearchAlgorithm *
ccl_research_details (const CclAlgorithm *algorithm)
{
  /* Rows with this engine are the first members of entries. */
  return algorithm->engine == &ccl_research_engine ? (const CclResearchAlgorithm *)algorithm : NULL;
}

bool
ccl_research_labels_frames (const CclAlgorithm *algorithm)
{
  const CclResearchAlgorithm *details = ccl_research_details (algorithm);
  return !(details && details->is_inexact) &&
         (algorithm->connectivities & (CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8));
}

static const CclAlgorithm *
find_algorithm (const char *name, CclConnectivity connectivity)
{
  const CclAlgorithm *row;
  for (size_t i = 0; (row = ccl_research_algorithm (i)); i++) {
    if (!strcmp (row->name, name) && ccl_research_labels_frames (row) &&
        ccl_cuda_algorithm_has (row, connectivity))
      return row;
  }
  return NULL;
}

bool
ccl_research_offers (const char *algorithm, CclConnectivity connectivity)
{
  return find_algorithm (algorithm, connectivity);
}

CclLabeller *
ccl_research_labeller_new (CclCudaDevice *device, const CclLabellerPlan *plan, CclError *error)
{
  const CclAlgorithm *row =
      plan->algorithm ? find_algorithm (plan->algorithm, plan->connectivity) : NULL;
  if (!row || !ccl_research_details (row))
    return ccl_cuda_labeller_new (device, plan, error);
  return ccl_cuda_labeller_new_with (device, plan, row, error);
}

typedef struct ResearchEngine {
  CclCudaSequenceEngine head;
  CclResearchRounds rounds;
} ResearchEngine;

static CclStatus
research_engine_new (CclCudaDevice *device, const CclAlgorithm *algorithm,
    const CclLabellerPlan *plan, CUstream stream, CclCudaEngine **engine, CclError *error)
{
  ResearchEngine *self = calloc (1, sizeof *self);
  if (!self)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a labeller");
  CclCudaSequenceEngine *head = &self->head;
  head->base.klass = &ccl_research_engine;
  CclStatus status = ccl_cuda_sequence_engine_init (head, device, algorithm, plan, stream, error);
  if (status == CUDACCL_OK) {
    status = ccl_research_rounds_init (&self->rounds, &head->sequence, error);
    if (status != CUDACCL_OK)
      ccl_cuda_sequence_engine_clear (head);
  }
  if (status == CUDACCL_OK)
    *engine = &head->base;
  else
    free (self);
  return status;
}

static CclStatus
research_engine_queue (CclCudaEngine *base, const CclCudaInput *input, const CclLabels *labels,
    CUstream stream, CclError *error)
{
  ResearchEngine *engine = (ResearchEngine *)base;
  CclCudaSequence *sequence = &engine->head.sequence;
  ccl_cuda_sequence_set_frame (sequence, input->frame, input->frame_stride, 0,
      input->options.threshold, input->options.invert);
  CclStatus status =
      ccl_research_queue (&engine->rounds, sequence, 0, sequence->n_steps, stream, error);
  if (status != CUDACCL_OK)
    return status;
  return ccl_cuda_analysis_queue (&engine->head.analysis, &input->options, labels, stream, error);
}

static void
research_engine_free (CclCudaEngine *base)
{
  ResearchEngine *engine = (ResearchEngine *)base;
  ccl_research_rounds_clear (&engine->rounds, engine->head.sequence.device);
  ccl_cuda_sequence_engine_clear (&engine->head);
  free (engine);
}

const CclCudaEngineClass ccl_research_engine = {
    .new = research_engine_new,
    .queue = research_engine_queue,
    .read = ccl_cuda_sequence_engine_read,
    .table = ccl_cuda_sequence_engine_table,
    .free = research_engine_free,
};
