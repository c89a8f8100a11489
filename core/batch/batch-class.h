/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/batch.h>. */
#pragma once

#include <cudaccl/batch.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclBatchClass {
  CclLocation location; /* of masks and maps */
  CclStatus (*label) (CclBatch *batch, const CclMasks *masks, const CclVolumeLabels *labels,
      const CclVolumeLabels *areas, CclBatchTable *table, CclError *error);
  CclStatus (*fill_holes) (
      CclBatch *batch, const CclMasks *masks, uint32_t max_area, uint8_t value, CclError *error);
  CclStatus (*remove_small) (
      CclBatch *batch, const CclMasks *masks, uint32_t min_area, CclError *error);
  void (*free) (CclBatch *batch);
} CclBatchClass;

/* The first member of every backend's struct. */
struct CclBatch {
  const CclBatchClass *klass;
  CclBatchPlan plan;
};

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_batch_plan_check (const CclBatchPlan *plan, CclError *error);

/* The plan of a labeller of one mask, without limit of components. */
CclLabellerPlan ccl_batch_labeller_plan (const CclBatchPlan *plan, CclConnectivity connectivity);

/* The connectivity of the background. */
static inline CclConnectivity
ccl_batch_other_connectivity (const CclBatchPlan *plan)
{
  return plan->connectivity == CUDACCL_CONNECTIVITY_8 ? CUDACCL_CONNECTIVITY_4
                                                      : CUDACCL_CONNECTIVITY_8;
}
