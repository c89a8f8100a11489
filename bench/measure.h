/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures times. All implementations take turns on one input, so that other load on the machine
 * affects all of them alike; only on very large inputs one follows the other.
 *
 * Each implementation has an equal share of the time. One that has used up its share, which
 * includes preparing and warm-up, takes further turns only out of time that the others do not need.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "implementation.h"

/* The time on the monotonic clock, in seconds. */
double seconds_now (void);

/* A sample in seconds: median, quartiles, smallest value. n is 0 if nothing was measured. */
typedef struct Spread {
  double median, first_quartile, third_quartile, minimum;
  unsigned n;
} Spread;

/* The spread of an array of doubles, which is sorted. Quartiles interpolate linearly. */
Spread spread_of (GArray *values);

/* The interquartile range as a share of the median; 0 if nothing was measured. */
double spread_width (const Spread *spread);

/* One implementation on one input. */
typedef struct Measurement {
  enum {
    MEASURED,
    NOT_OFFERED, /* the implementation does not support such inputs */
    FAILED,      /* reported as a problem */
    TOO_SLOW,    /* reported as a problem: the first run was given up */
  } outcome;
  double at_least;  /* TOO_SLOW: seconds after which the run was given up */
  unsigned n_turns; /* turns that the samples are from; fewer than asked for if time was short */
  Spread wall;      /* one run, as the caller sees it */
  Spread device;    /* one run, by the device's clock */
  Spread steps[N_STEPS];
} Measurement;

typedef struct MeasureSettings {
  unsigned repetitions; /* turns */
  unsigned warm_up;     /* untimed runs before the timed ones of each turn */
  double seconds;       /* for one input; each implementation takes at least one turn */
  double patience;      /* as in ImplementationSettings */
  bool steps;           /* times each step, too */
} MeasureSettings;

/* Fills one measurement for each implementation; they must be zero before. */
void measure (const GPtrArray *implementations, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements);

#endif /* BENCH_MEASURE_H */
