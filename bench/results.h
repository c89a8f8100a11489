/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All measurements of a mode. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "measure.h"
#include "table.h"

/* An input that was measured; its pixels are freed. */
typedef struct MeasuredInput {
  const InputSource *source; /* owned by the results */
  uint32_t width, height, depth;
  double foreground;         /* share of foreground pixels */
  Measurement *measurements; /* one per implementation */
} MeasuredInput;

typedef struct Results {
  GPtrArray *sources;         /* InputSource; those that did not load are not among the inputs */
  GPtrArray *implementations; /* Implementation */
  GPtrArray *inputs;          /* MeasuredInput */
} Results;

/* Loads one source after the other and measures all implementations on it, for so many seconds in
 * all. Takes ownership of both arrays. */
Results *results_measure (GPtrArray *sources, GPtrArray *implementations,
    const MeasureSettings *settings, double seconds);

void results_free (Results *results);

/* The share of measurements whose interquartile range is more than a quarter of the median. */
double results_noisy_share (const Results *results);

/* One row per input and implementation, times in µs; the form of CSV and JSON. */
Table *results_to_table (const Results *results, const char *mode);

#endif /* BENCH_RESULTS_H */
