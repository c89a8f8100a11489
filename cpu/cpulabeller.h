/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU labeller: the job of labeller.h in plain C, without a GPU. */
#ifndef CCL_CPU_LABELLER_H
#define CCL_CPU_LABELLER_H

#include "labeller.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a labeller that runs on the CPU.
 *
 * Frames and label maps are host memory. Free with ccl_labeller_free(). Any thread may call.
 * Address space is reserved for the worst frame, some 22 bytes a pixel; memory is taken only as
 * far as frames need it, which for usual frames is less than one byte a pixel.
 *
 * The environment variable CCL_CPU_INSTRUCTIONS ("portable", "avx2", "avx512") overrides the
 * choice of code for the processor in "runs".
 *
 * Returns the labeller, or NULL with the error filled: CCL_ERROR_ARGUMENT,
 * CCL_ERROR_UNSUPPORTED (the algorithm is none of ccl_cpu_algorithms() or lacks the connectivity,
 * or the processor lacks the instructions asked for), CCL_ERROR_NO_MEMORY. */
CclLabeller *ccl_cpu_labeller_new (const CclPlan *plan, CclError *error);

/* The names that plan.algorithm may have, NULL-terminated, the one that "auto" picks first.
 * Static memory. */
const char *const *ccl_cpu_algorithms (void);

/* Whether an algorithm of that list offers the connectivity. Any thread may call. */
bool ccl_cpu_algorithm_offers (const char *algorithm, CclConnectivity connectivity);

/* Whether an algorithm of that list lets several threads share a frame; the others ignore
 * plan.n_threads and use the thread that runs them. Any thread may call. */
bool ccl_cpu_algorithm_uses_threads (const char *algorithm);

#ifdef __cplusplus
}
#endif

#endif /* CCL_CPU_LABELLER_H */
