/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of contender.h that is built only where there is an nvcc. */
#ifndef BENCH_CONTENDER_CUDA_H
#define BENCH_CONTENDER_CUDA_H

#include "contender.h"

void contenders_add_cuda (GPtrArray *contenders, const ContenderSettings *settings);

/* Adds the device and its driver to the description of the machine. */
void contender_cuda_describe (GPtrArray *machine);

#endif /* BENCH_CONTENDER_CUDA_H */
