/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/values.h>. */
#pragma once

#include <cudaccl/values.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclValuesLabellerClass {
  const char *name;     /* "cpu", "cuda" */
  CclLocation location; /* of pictures */
  CclStatus (*run) (CclValuesLabeller *labeller, const CclValues *values,
      const CclVolumeLabels *labels, uint32_t *n_components, CclError *error);
  void (*free) (CclValuesLabeller *labeller);
} CclValuesLabellerClass;

/* The first member of every backend's struct. */
struct CclValuesLabeller {
  const CclValuesLabellerClass *klass;
  CclValuesPlan plan;
};

/* The bytes of a value. */
static inline uint32_t
ccl_bytes_of_type (CclValueType type)
{
  return 1u << (type < CUDACCL_VALUE_TYPE_REAL_32 ? type : type - 2);
}

/* Copies a plan of the caller's, with the defaults of fields that it is too short for, and checks
 * the copy. */
CclStatus ccl_values_plan_complete (
    CclValuesPlan *complete, const CclValuesPlan *given, CclError *error);

/* Checks where a picture of the plan lies, and the address and strides of its label map, which may
 * be NULL. location: where the picture has to be. */
CclStatus ccl_values_check (const CclValuesPlan *plan, CclLocation location,
    const CclValues *values, const CclVolumeLabels *labels, CclError *error);

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_values_plan_check (const CclValuesPlan *plan, CclError *error);
