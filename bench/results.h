/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All measurements of a mode, and their means. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "measure.h"
#include "table.h"

/* An input that was measured; its pixels are freed. */
typedef struct MeasuredInput {
  const InputSource *source; /* owned by the results */
  char *title;               /* set and name */
  const char *group;         /* the set or, if each input is a group, the title */
  uint32_t width, height, depth;
  double foreground;         /* share of foreground pixels */
  Measurement *measurements; /* one per implementation */
} MeasuredInput;

typedef struct Results {
  unsigned repetitions;       /* turns that were asked for */
  GPtrArray *sources;         /* InputSource; those that did not load are not among the inputs */
  GPtrArray *implementations; /* Implementation */
  GPtrArray *inputs;          /* MeasuredInput */
} Results;

/* Loads one source after the other and measures all implementations on it, for so many seconds in
 * all. by_input: means are of each input, not of each set. Takes ownership of both arrays. */
Results *results_measure (GPtrArray *sources, GPtrArray *implementations,
    const MeasureSettings *settings, double seconds, bool by_input);

void results_free (Results *results);

typedef enum Clock {
  CLOCK_WALL,   /* one call until its result can be read */
  CLOCK_DEVICE, /* the device's own clock, without the call */
} Clock;

/* The spread of an implementation on an input; its n is 0 if there is none. */
const Spread *results_spread (
    const Results *results, guint input, guint implementation, Clock clock);

/* A mean over all inputs of a group. */
typedef struct Mean {
  double seconds; /* 0 if there is none: a mean over fewer inputs would not compare */
  bool is_least;  /* a lower limit, as the implementation was given up on some inputs */
} Mean;

/* The mean of an implementation's medians over the inputs of a group, except inputs that no
 * implementation was measured on. */
Mean results_mean (const Results *results, const char *group, guint implementation, Clock clock);

/* The mean time of one step over the inputs of a group whose steps were timed; 0 if there is none.
 */
double results_step_mean (
    const Results *results, const char *group, guint implementation, Step step);

/* The fewest turns that an implementation took on any input of a group; 0 if it was not measured.
 */
unsigned results_fewest_turns (const Results *results, const char *group, guint implementation);

/* The groups in the order of the inputs; ended by NULL, free with g_free(). */
const char **results_groups (const Results *results);

/* The share of measurements whose interquartile range is more than a quarter of the median. */
double results_noisy_share (const Results *results);

/* One row per input and implementation, times in µs; the form of CSV and JSON. */
Table *results_to_table (const Results *results, const char *mode);

#endif /* BENCH_RESULTS_H */
