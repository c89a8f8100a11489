/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the measuring of label maps has in common on CPU and GPU: checks and rows. */
#ifndef CUDACCL_MEASURED_MAP_H
#define CUDACCL_MEASURED_MAP_H

#include "core/label/component-part.h"
#include "core/volume/volume-class.h"

/* Checks flags of CclColumn; volumes have no perimeter. */
CclStatus ccl_measured_columns_check (uint32_t columns, bool is_volume, CclError *error);

/* Checks the second volume, if the columns need it. */
CclStatus ccl_measured_intensity_check (const CclVolumeIntensity *intensity,
    const CclVolumePlan *plan, uint32_t columns, CclError *error);

/* The row of a label; all zeros if the part has no pixels. */
CclVolumeComponent ccl_measured_row (const CclPart *part, uint32_t label);

#endif /* CUDACCL_MEASURED_MAP_H */
