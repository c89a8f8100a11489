/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything a mode has measured, and its means. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "measure.h"

/* What is kept of an input once its pixels are gone. */
typedef struct MeasuredInput {
  const InputSource *source; /* of the results' sources */
  char *title;               /* set and name */
  uint32_t width, height, depth;
  double density;            /* share of foreground pixels */
  Measurement *measurements; /* one a contender */
} MeasuredInput;

typedef struct Results {
  unsigned repetitions;  /* turns that each contender should have taken on each input */
  GPtrArray *sources;    /* InputSource; those that would not load are not among the inputs */
  GPtrArray *contenders; /* Contender */
  GPtrArray *inputs;     /* MeasuredInput */
} Results;

/* Without inputs yet. Takes both arrays; repetitions as in the structure. */
Results *results_new (GPtrArray *sources, GPtrArray *contenders, unsigned repetitions);

/* Loads one source after the other and measures all contenders on it. Takes both arrays. */
Results *results_measure (
    GPtrArray *sources, GPtrArray *contenders, const MeasureSettings *settings, double seconds);

void results_free (Results *results);

/* Which clock a figure is from. */
typedef enum Clock {
  CLOCK_WALL,   /* one call until its delivery is there */
  CLOCK_DEVICE, /* the device's own, without the call */
} Clock;

/* The spread of a contender on an input, by a clock; its n is 0 where there is none. */
const Spread *results_spread (const Results *results, guint input, guint contender, Clock clock);

/* Means in seconds over the inputs of a set (NULL: all) that the contender was measured on; 0 if
 * there are none, or if it failed on one of them that others were measured on: a mean over fewer
 * inputs would not compare. */
double results_mean (const Results *results, const char *set, guint contender, Clock clock);
double results_geometric_mean (
    const Results *results, const char *set, guint contender, Clock clock);

/* What the mean is at least, where the contender was too slow on some inputs of the set and
 * measured on all others; else 0. */
double results_least_mean (const Results *results, const char *set, guint contender, Clock clock);

/* The fewest turns that a contender took on any input of a set it was measured on. */
unsigned results_fewest_turns (const Results *results, const char *set, guint contender);

/* The mean of one step over the inputs of a set that the contender's steps were told on. */
double results_step_mean (const Results *results, const char *set, guint contender, Step step);

/* The data sets in the order of the inputs; NULL-terminated, free with g_free(). */
const char **results_sets (const Results *results);

/* The share of measurements whose interquartile range is more than a quarter of the median. */
double results_noisy_share (const Results *results);

#endif /* BENCH_RESULTS_H */
