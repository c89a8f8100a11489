/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of results, drawn by gnuplot. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "results.h"

/* Draws into a folder, which is made if it is not there: <mode>….png and .svg, and beside them
 * the data (.dat) and the script (.gp) to draw them again. Tells a problem when it cannot.
 *
 * density: one picture for each set and granularity, time against density; size and growth: time
 * against pixels; both with a logarithmic axis, and a legend in the order of the curves. steps:
 * for each set a stack of steps for each contender; other modes: for each contender a bar for each
 * data set. */
void plot_results (const Results *results, const char *mode, const char *folder);

#endif /* BENCH_PLOT_H */
