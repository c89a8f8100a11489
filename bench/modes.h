/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modes that do not time single calls. Each fills a table. */
#ifndef BENCH_MODES_H
#define BENCH_MODES_H

#include "implementation.h"

/* Compares every implementation's result with a flood fill (check.c) and counts inputs by outcome.
 * Inputs are unchecked if an implementation was given up, if they did not load, or if the seconds
 * (0: no limit) were over.
 *
 * Differences, failures and unchecked inputs are problems, but not differences of algorithms that
 * their papers call inexact and of other makers'; the first difference of each other maker's
 * implementation is printed. */
Table *check (const GPtrArray *sources, const GPtrArray *implementations,
    const ImplementationSettings *settings, double seconds);

/* Labels a volume by flood fill with connectivity 6, 18 or 26; labels are in raster order of first
 * voxels. Free with g_free(). */
uint32_t *check_label_volume (const Input *volume, unsigned connectivity, uint32_t *n_components);

/* Counts the memory accesses of every implementation that supports it (memory.c): a row per input
 * and kernel. */
Table *memory (const GPtrArray *sources, const GPtrArray *implementations);

/* Runs 1, 8 and 32 labellers at once, a thread each, on the first source that loads (streams.c):
 * the first labeller of each device or those that were asked for, at full speed and then paced.
 * Measures frames per second of all streams together, CPU time per frame of the whole process, and
 * the share of late frames in the paced run. */
Table *streams (const GPtrArray *sources, const ImplementationSettings *settings, double seconds);

#endif /* BENCH_MODES_H */
