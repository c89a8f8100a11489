/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes times. All contenders run on one input in turns, so that whatever the machine does
 * meanwhile meets all of them alike. Only on very large inputs they run one after the other.
 *
 * Each contender has an equal share of the time. One that has spent its share, preparing and
 * warm-up included, takes further turns only out of what others leave of theirs.
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
    TOO_SLOW,    /* told as a problem: its first run was given up */
  } outcome;
  double at_least;  /* TOO_SLOW: seconds after which the run was not done */
  unsigned n_turns; /* that the samples are from; fewer than asked for where time was short */
  Spread wall;      /* one run, seen by the caller */
  Spread device;    /* one run, by the device's clock */
  Spread steps[N_STEPS];
} Measurement;

typedef struct MeasureSettings {
  unsigned repetitions; /* turns */
  unsigned warm_up;     /* untimed runs before the timed ones of each turn */
  double seconds;       /* for one input; each contender has one turn in any case */
  double patience;      /* what TOO_SLOW contenders were made with (contender.h) */
  bool steps;           /* takes the steps apart, too */
} MeasureSettings;

/* Fills one measurement a contender, all zero before. */
void measure (const GPtrArray *contenders, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements);

#endif /* BENCH_MEASURE_H */
