/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the algorithms that the library offers on a GPU. A new one is a file NAME.cu, its
 * name in meson.build and a row in algorithms.c. The papers' other algorithms are rows of the same
 * kind in research/. */
#pragma once

#include "algorithm.h"

/* The algorithms of the library, in the order of preference of "auto", ended by one without a name.
 * None of them waits for the device before its last kernel is queued. */
extern const CclAlgorithm ccl_cuda_algorithm_table[];

/* The row of that name, or NULL. */
const CclAlgorithm *ccl_cuda_algorithm_find (const char *name);

/* As ccl_cuda_labeller_new() with an algorithm of any table; the plan's name is ignored. */
CclLabeller *ccl_cuda_labeller_new_with (CclCudaDevice *device, const CclLabellerPlan *plan,
    const CclAlgorithm *algorithm, CclError *error);
