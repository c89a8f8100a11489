/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the measuring of label maps has in common on CPU and GPU: checks and rows. */
#pragma once

#include "core/volume/volume-class.h"
#include "measure-parts.h"

/* Checks flags of CclColumn; volumes have no perimeter. */
CclStatus ccl_measured_columns_check (uint32_t columns, bool is_volume, CclError *error);

/* Checks the second volume, if the columns need it. */
CclStatus ccl_measured_intensity_check (const CclVolumeIntensity *intensity,
    const CclVolumePlan *plan, uint32_t columns, CclError *error);

/* Checks a label map of width × height × depth pixels in host memory, and what is to be measured of
 * it, and describes it. depth: 0 in frames, whose slice strides are not used. intensity: NULL is
 * allowed without CUDACCL_COLUMN_INTENSITY. */
CclStatus ccl_measured_map_init (CclPartMap *map, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, const CclVolumeIntensity *intensity, uint32_t columns,
    CclError *error);

/* The row of a label; all zeros if the part has no pixels. */
CclVolumeComponent ccl_measured_row (const CclPart *part, uint32_t label);
