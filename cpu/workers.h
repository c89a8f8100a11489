/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that wait for work to share. */
#ifndef CCL_CPU_WORKERS_H
#define CCL_CPU_WORKERS_H

#include <stdint.h>

typedef struct Workers Workers;

/* Starts n_threads − 1 threads; the caller of workers_run() is the last one. n_threads ≥ 1.
 * Returns NULL if the system has no room for them. */
Workers *workers_new (uint32_t n_threads);

/* Calls work (data, i) for every i below n_threads, each in a thread of its own, and returns when
 * all have returned. One caller at a time. */
void workers_run (Workers *workers, void (*work) (void *data, uint32_t index), void *data);

/* NULL is fine. */
void workers_free (Workers *workers);

#endif /* CCL_CPU_WORKERS_H */
