/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Features of components: checks and values that the backends share. */
#pragma once

#include "labeller-class.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The features of no pixel. */
#define CCL_EMPTY_SUM 0
#define CCL_EMPTY_MIN UINT32_MAX
#define CCL_EMPTY_MAX 0

static inline CclFeatures
ccl_features_of_nothing (void)
{
  CclFeatures features;
#define EMPTY(column, type, field, combine) features.field = CCL_EMPTY_##combine;
  CUDACCL_FEATURES (EMPTY)
#undef EMPTY
  return features;
}

/* Checks flags of CclColumn and the size of frames with them. */
CclStatus ccl_columns_check (uint32_t columns, uint32_t width, uint32_t height, CclError *error);

/* Checks the second plane of a frame of that width, if the columns need it. */
CclStatus ccl_intensity_check (const CclIntensity *intensity, uint32_t columns, uint32_t width,
    CclLocation location, CclError *error);

#ifdef __cplusplus
}
#endif
