/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory accesses of each kernel, as the BKE paper's table 3 has them. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "contender.h"
#include "grid.h"

/* Counts the accesses of every contender that can tell on every source. The table gives means
 * for each data set: accesses an image, and accesses a pixel; and of how many images, as some may
 * take a contender too long. */
Grid *memory (const GPtrArray *sources, const GPtrArray *contenders);

#endif /* BENCH_MEMORY_H */
