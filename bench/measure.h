/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes times. All contenders run on one input in turns, so that whatever the machine does
 * meanwhile meets all of them alike. Only on very large inputs they run one after the other.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "contender.h"

/* A sample in seconds: its median, the quartiles around it, the smallest value. n is 0 where
 * nothing was measured. */
typedef struct Spread {
  double median, first_quartile, third_quartile, minimum;
  unsigned n;
} Spread;

/* Of doubles; the array is sorted on the way. Quartiles interpolate linearly. */
Spread spread_of (GArray *values);

/* The interquartile range as a share of the median; 0 where nothing was measured. */
double spread_width (const Spread *spread);

/* One contender on one input. */
typedef struct Measurement {
  enum {
    MEASURED,
    NOT_OFFERED, /* the contender does not do such inputs */
    FAILED,      /* told as a problem */
  } outcome;
  Spread wall;   /* one run, seen by the caller */
  Spread device; /* one run, by the device's clock */
  Spread steps[N_STEPS];
} Measurement;

typedef struct MeasureSettings {
  unsigned repetitions; /* turns */
  unsigned warm_up;     /* untimed runs before the timed ones of each turn */
  double seconds;       /* for one input; once over, no more turns begin after the third */
  bool steps;           /* takes the steps apart, too */
} MeasureSettings;

/* Fills one measurement a contender, all zero before. */
void measure (const GPtrArray *contenders, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements);

#endif /* BENCH_MEASURE_H */
