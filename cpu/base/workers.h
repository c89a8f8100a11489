/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of threads that share the work of a frame. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Workers Workers;

/* How many threads are to share a frame, at least 1: as many as requested, or, if that is 0, as the
 * process may run on processors (processors.h); but each has pixels_per_thread pixels or more, and
 * they are not more than n_parts, the parts that the frame can be divided into. */
uint32_t workers_choose_number (
    uint32_t requested, uint64_t n_pixels, uint64_t pixels_per_thread, uint64_t n_parts);

/* Starts n_threads − 1 threads; the caller of workers_share() is the last one. n_threads ≥ 1.
 * Returns NULL if there is not enough memory or the system refuses to start a thread. */
Workers *workers_new (uint32_t n_threads);

/* Calls work (data, part, thread) for every part below n_parts and returns when all calls have
 * returned. thread: the number of the calling thread, below n_threads. A thread begins with its own
 * parts, which follow each other; when they are done, it takes those that other threads have not
 * begun. So one thread can do all of the work while the others wake up. One caller at a time.
 *
 * again_soon: the next call follows at once, so that the threads spin until it comes. Otherwise
 * they do so only if the last such call was followed at once, too; never under a quota. */
void workers_share (Workers *workers, uint32_t n_parts, bool again_soon,
    void (*work) (void *data, uint32_t part, uint32_t thread), void *data);

/* The same with a part for each thread. */
void workers_run (Workers *workers, void (*work) (void *data, uint32_t part), void *data);

/* The first part that belongs to a thread; n_threads stands for the end. */
static inline uint32_t
workers_first_part (uint32_t n_parts, uint32_t thread, uint32_t n_threads)
{
  return (uint32_t)((uint64_t)n_parts * thread / n_threads);
}

/* The number of threads that it was made for. */
uint32_t workers_number (const Workers *workers);

/* Ends the threads. NULL is allowed. */
void workers_free (Workers *workers);
