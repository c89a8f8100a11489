/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Background models on reduced frames, of any backend (foreground-backend.h). */
#pragma once

#include "tests/unit/foreground/foreground-backend.h"

/* Masks of reduced frames are the enlarged masks of frames that this test reduces. */
void check_reduction (const ForegroundBackend *backend);

/* The factors that CUDACCL_REDUCTION_AUTO chooses, and refused ones. */
void check_reduction_factors (const ForegroundBackend *backend);
