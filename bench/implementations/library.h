/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that the Python programs call: all that has to run at full speed. library.py
 * repeats the structures of this file, of implementation.h and of foreground.h for ctypes. */
#pragma once

#include "implementation-foreground.h"
#include "implementation.h"
#include "tests/unit/label/reference.h"

/* The sizes in bytes of the structures that library.py repeats, in its order. */
extern const size_t bench_sizes[];

/* A line each: the project's version, the compiler, the folder of the sources. */
const char *bench_describe (void);

/* Inputs (input.c) */

/* Random blocks of granularity pixels a side, each foreground with a probability of density per
 * cent, drawn into a background input. */
void draw_noise (Input *input, unsigned granularity, unsigned density, uint32_t seed);

/* A 3D Hilbert curve, drawn into a background input. */
void draw_hilbert (Input *input, unsigned order);

/* The position of a point on the 3D Hilbert curve of 2^order points a side. */
void hilbert_position (unsigned order, uint64_t index, uint32_t position[3]);

/* Reads a PNG in memory as grey: its size if the input's pixels are NULL, else the pixels, too.
 * Returns false with a reason for a damaged one. */
bool read_png (const void *data, size_t size, Input *input, char reason[64]);

/* Times (turns.c) */

enum { MAX_RUNS = 20 }; /* in a turn */

/* The times of a turn in seconds. */
typedef struct Turn {
  unsigned n_runs;
  double runs[MAX_RUNS]; /* as the caller sees each */
  double device;         /* of a run by the device's clock; NAN without one */
  double steps[N_STEPS]; /* negative: not timed */
} Turn;

/* Runs without timing, then with timing until 2 ms have passed. last_run is the time of the run
 * before in seconds. */
CclStatus take_turn (Implementation *implementation, unsigned warm_up, bool with_steps,
    double last_run, Turn *turn, CclError *error);

/* Runs again and again from begin to end, in seconds on the monotonic clock. A run is due every
 * period, 0 for no pause, and late if it ends after the next is due. */
CclStatus run_stream (Implementation *implementation, double begin, double end, double period,
    unsigned *n_frames, unsigned *n_late, CclError *error);

/* Results (check.c) */

/* The right result for an input, by flood fill; of volumes without rows. Free with
 * reference_free(). */
Reference *check_expect (const Input *input, unsigned connectivity, unsigned volume_connectivity);

/* Prepares and runs an implementation, which has to be released whatever is returned, and describes
 * the first difference of its result from the right one; empty if there is none. */
CclStatus check_run (Implementation *implementation, const Input *input, const Reference *expected,
    char difference[128], CclError *error);
