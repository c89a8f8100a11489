/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results as tables on the terminal. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "results.h"

/* The machine, the versions and the command, one line each. */
void report_header (const GPtrArray *machine, FILE *file);

/* For each data set the mean time of each implementation, its spread, its steps if they were timed,
 * and its ratio to the bandwidth bound. */
void report_means (const Results *results, FILE *file);

/* Geometric means over all inputs, and ratios to the bandwidth bound and to the baseline. */
void report_ratios (const Results *results, FILE *file);

/* For each clock a row per input and a column per implementation; times, or times per pixel. */
void report_inputs (const Results *results, bool per_pixel, FILE *file);

/* Explains figures of fewer turns and figures with a ">", and warns if spreads are wide. */
void report_notes (const Results *results, FILE *file);

#endif /* BENCH_REPORT_H */
