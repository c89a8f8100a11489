/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results as tables for people. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "results.h"

#include <stdio.h>

/* The machine, the versions and the command, one line each. */
void report_header (const GPtrArray *machine, FILE *file);

/* For each data set the mean time of each contender, with spread and ratio to the floor. */
void report_average (const Results *results, FILE *file);

/* For each data set the mean time of each step. */
void report_steps (const Results *results, FILE *file);

/* Geometric means over all inputs, ratios to the baseline of the device, and the worst input. */
void report_ratios (const Results *results, FILE *file);

/* By each clock a line an input and a column a contender; times, or times per pixel. */
void report_matrices (const Results *results, bool per_pixel, FILE *file);

/* What figures with fewer turns, and figures with a ">", mean; nothing, if there are none. */
void report_limits (const Results *results, FILE *file);

/* A warning, if the spreads say that something else was at work on the machine. */
void report_noise (const Results *results, FILE *file);

#endif /* BENCH_REPORT_H */
