/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares what contenders deliver with the naive reference. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "contender.h"
#include "grid.h"

/* Checks every contender on every source and counts inputs that were equal, that differed, that
 * the contender does not do, that it failed on, and that were left unchecked because it took too
 * long, the input would not load or the seconds (0: as many as it takes) were over. All but the
 * first and the third are told as problems, too. Those of algorithms that may be inexact by their
 * papers' own account are counted apart, and so are other makers'; their differences are no
 * problem. The first difference of each other maker's is told all the same. */
Grid *check (const GPtrArray *sources, const GPtrArray *contenders,
    const ContenderSettings *settings, double seconds);

/* Labels of a volume by flood fill, numbered in raster order of first voxels, with connectivity
 * 6, 18 or 26. Free with g_free(). */
uint32_t *check_label_volume (const Input *volume, unsigned connectivity, uint32_t *n_components);

#endif /* BENCH_CHECK_H */
