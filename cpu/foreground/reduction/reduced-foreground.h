/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground masks of a background model of reduced frames (reduction.h). */
#pragma once

#include "cpu/pixels/pixels.h"

#include "cpu/label/labeller-tuning.h"

/* Takes over `inner`, an object of ccl_reduced_plan(), and frees it also on failure. NULL if there
 * is not enough memory. */
CclForeground *reduced_foreground_new (
    const CclForegroundPlan *plan, uint32_t factor, const PixelCode *code, CclForeground *inner);
