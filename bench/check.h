/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares what contenders deliver with the naive reference. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "contender.h"
#include "grid.h"

/* Checks every contender on every source and counts inputs that were equal, that differed, that
 * the contender does not do. A difference is told as a problem, too, unless the
 * algorithm may be inexact by its paper's own account. */
Grid *check (
    const GPtrArray *sources, const GPtrArray *contenders, const ContenderSettings *settings);

/* Labels of a volume by flood fill, numbered in raster order of first voxels, with connectivity
 * 6, 18 or 26. Free with g_free(). */
uint32_t *check_label_volume (const Input *volume, unsigned connectivity, uint32_t *n_components);

#endif /* BENCH_CHECK_H */
