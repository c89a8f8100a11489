/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernels of values.cu that number components need, for others that make such forests. */
#pragma once

#include "values-parameters.h"

/* Sets what follows from the plan alone. */
void ccl_cuda_values_plan_geometry (CclValuesParameters *p, const CclValuesPlan *plan);
