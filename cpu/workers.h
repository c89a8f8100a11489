/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of threads that share the work of a frame. */
#ifndef CCL_CPU_WORKERS_H
#define CCL_CPU_WORKERS_H

#include <stdint.h>

typedef struct Workers Workers;

/* How many threads are to share a frame, at least 1: as many as requested, or, if that is 0, as the
 * process may run on processors; but each has pixels_per_thread pixels or more, and they are not
 * more than n_parts, the parts that the frame can be divided into. */
uint32_t workers_choose_number (
    uint32_t requested, uint64_t n_pixels, uint64_t pixels_per_thread, uint64_t n_parts);

/* Starts n_threads − 1 threads; the caller of workers_run() is the last one. n_threads ≥ 1.
 * Returns NULL if there is not enough memory or the system refuses to start a thread. */
Workers *workers_new (uint32_t n_threads);

/* Calls work (data, i) for every i below n_threads, each in its own thread, and returns when all
 * calls have returned. One caller at a time. */
void workers_run (Workers *workers, void (*work) (void *data, uint32_t index), void *data);

/* Ends the threads. NULL is allowed. */
void workers_free (Workers *workers);

#endif /* CCL_CPU_WORKERS_H */
