/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tiles of a frame and the scratch memory of the kernels of strips.cu, for frames and for the
 * masks of a batch. */
#pragma once

#include "cuda/driver/driver.h"
#include "strips-columns-parameters.h"

/* Sets the geometry of the plan's frames in parameters that are zero. strip_rows: 2 for
 * 8-connectivity, 1 for 4-connectivity. CUDACCL_ERROR_UNSUPPORTED: they are too large. */
CclStatus ccl_strips_set_geometry (
    CclStripsParameters *p, const CclLabellerPlan *plan, uint32_t strip_rows, CclError *error);

/* Lays out the scratch memory, or only computes its size if scratch is 0. Returns the size. */
size_t ccl_strips_lay_out (CclStripsParameters *p, CUdeviceptr scratch, uint32_t strip_rows);

/* The same with what measures the columns, if there are any. */
size_t ccl_strips_lay_out_columns (
    CclStripsColumnsParameters *p, CUdeviceptr scratch, uint32_t strip_rows);
