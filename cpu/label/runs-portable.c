/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run labeller in standard C, for any processor. */
#include "cpu/measure/measure-scalar.h"
#include "cpu/pixels/pack-portable.h"
#include "runs-scalar.h"

#define extract_bits extract_bits_scalar
#define list_columns list_columns_scalar
#define expand expand_scalar

#define RUN_LABELLER run_labeller_portable
#define RUN_LABELLER_NAME "portable"
#include "runs.h"
