/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results as tables on the terminal. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "results.h"

/* The machine, the versions and the command, one line each. */
void report_header (const GPtrArray *machine, FILE *file);

/* For each group of inputs the mean time of each implementation, its spread, its steps if they were
 * timed, its time per pixel and its ratio to the bandwidth bound; then an explanation of lower
 * limits and figures of fewer turns, and a warning if spreads are wide. */
void report_results (const Results *results, FILE *file);

#endif /* BENCH_REPORT_H */
