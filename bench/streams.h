/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many streams at once: each thread has a labeller of its own, as each element in a pipeline. */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include "contender.h"
#include "grid.h"

typedef struct StreamsSettings {
  const GArray *counts; /* unsigned: how many streams at once, one measurement each */
  double seconds;       /* for all measurements together */
  double frame_rate;    /* of the paced measurement, in frames a second a stream */
} StreamsSettings;

/* Runs the first labeller of each device (or each that was asked for by name) on one input, as
 * fast as it goes and then paced. Says frames a second of all streams together, CPU time a frame
 * of the whole process, and in the paced run the share of frames that came late. */
Grid *streams (const Input *input, const char *input_name, const ContenderSettings *contenders,
    const StreamsSettings *settings);

#endif /* BENCH_STREAMS_H */
