/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the accesses to global memory that kernels execute, with kernels that count-accesses.py
 * has instrumented. */
#ifndef BENCH_ACCESS_COUNT_H
#define BENCH_ACCESS_COUNT_H

#include "implementation.h"
#include "research.h"

/* The instrumented kernels of one file. */
typedef struct CountingImage {
  const char *file;           /* "bke" for bke.cu */
  const char *const *kernels; /* their names, ended by NULL */
  const char *ptx;
} CountingImage;

extern const CountingImage counting_images[]; /* generated */
extern const size_t n_counting_images;

/* Runs a labelling whose frame is set, and fills one count a step, of which there are
 * labelling->n_steps. The device's context is current. */
CclStatus access_count (CclResearchRounds *rounds, CclCudaSequence *labelling, CUstream stream,
    AccessCount *counts, CclError *error);

/* Labels a frame with the engine of an algorithm as a labeller does, and fills one count for each
 * kernel of its files, zero for those that took no part. The device's context is current, and
 * nobody else uses the device meanwhile. */
CclStatus access_count_engine (CclCudaDevice *device, const CclAlgorithm *algorithm,
    const CclPlan *plan, const CclCudaInput *input, const CclLabels *labels, CUstream stream,
    AccessCount *counts, guint *n_counts, CclError *error);

#endif /* BENCH_ACCESS_COUNT_H */
