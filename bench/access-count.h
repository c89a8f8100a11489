/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the accesses to global memory that each step of a labelling executes, by kernels that
 * were made to count (count-accesses.py). */
#ifndef BENCH_ACCESS_COUNT_H
#define BENCH_ACCESS_COUNT_H

#include "contender.h"
#include "labelling.h"

/* The kernels of one file as PTX that counts. */
typedef struct CountingImage {
  const char *file; /* "bke" for algorithms/bke.cu */
  const char *ptx;
} CountingImage;

extern const CountingImage counting_images[]; /* generated */
extern const size_t n_counting_images;

/* Runs a labelling whose frame is set, and fills one count a step, of which there are
 * labelling->n_steps. The device's context is current. */
CclStatus access_count (
    CclCudaLabelling *labelling, CUstream stream, AccessCount *counts, CclError *error);

#endif /* BENCH_ACCESS_COUNT_H */
