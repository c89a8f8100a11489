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

#include <time.h>

/* The time on a clock, and on the monotonic one, in seconds. */
double seconds_on (clockid_t clock);
double seconds_now (void);

/* A sample in seconds: median, quartiles, smallest value. n is 0 if nothing was measured. */
typedef struct Spread {
  double median, first_quartile, third_quartile, minimum;
  unsigned n;
} Spread;

/* The spread of an array of doubles, which is sorted. Quartiles interpolate linearly. */
Spread spread_of (GArray *values);

/* The times that are measured. */
enum { TIME_WALL, TIME_DEVICE, TIME_STEPS, N_TIMES = TIME_STEPS + N_STEPS };

/* One implementation on one input. */
typedef struct Measurement {
  enum {
    MEASURED,
    NOT_OFFERED, /* the implementation does not support such inputs */
    FAILED,      /* reported as a problem */
    TOO_SLOW,    /* reported as a problem: the first run was given up */
  } outcome;
  unsigned n_turns; /* turns that the samples are from; fewer than asked for if time was short */
  Spread times[N_TIMES]; /* of one run: as the caller sees it, by the device's clock, each step */
} Measurement;

typedef struct MeasureSettings {
  unsigned repetitions; /* turns */
  unsigned warm_up;     /* untimed runs before the timed ones of each turn */
  double seconds;       /* for one input; each implementation takes at least one turn */
  bool steps;           /* times each step, too */
} MeasureSettings;

/* Fills one measurement for each implementation; they must be zero before. */
void measure (const GPtrArray *implementations, const Input *input, const char *input_name,
    const MeasureSettings *settings, Measurement *measurements);

/* Measures the implementations on one source after the other, for so many seconds in all. A row per
 * input and implementation, times in µs; the seconds of the settings are not used. patience: as in
 * ImplementationSettings. */
Table *measure_sources (const char *mode, const GPtrArray *sources,
    const GPtrArray *implementations, const MeasureSettings *settings, double seconds,
    double patience);

/* Runs prepared implementations at once for so many seconds, a thread each, and adds to the row of
 * a table: frames per second of all, CPU µs per frame of the whole process and, if they are paced
 * by a period in seconds, not 0, the late frames in per cent. */
CclStatus measure_streams (
    const GPtrArray *implementations, double seconds, double period, Table *table, CclError *error);

#endif /* BENCH_MEASURE_H */
