/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads wait in the kernel on the two numbers themselves: with a condition variable, each thread
 * that wakes up has to take the mutex first, one after the other, which took as long as the work on
 * a small frame. */
#define _GNU_SOURCE /* sched_getaffinity(), syscall() */

#include "workers.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct Worker {
  Workers *workers;
  uint32_t index;
  pthread_t thread;
} Worker;

struct Workers {
  _Atomic uint32_t round;  /* its change begins a round; what follows is set before */
  _Atomic uint32_t n_busy; /* threads that have not ended the round */
  bool closing;            /* the round ends the threads */

  void (*work) (void *data, uint32_t index);
  void *data;

  uint32_t n_started;
  Worker worker[];
};

/* Waits until another thread wakes up those that wait for the number, or returns at once if it has
 * not that value. May return without a cause. */
static void
wait_while (_Atomic uint32_t *number, uint32_t value)
{
  syscall (SYS_futex, number, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void
wake_up (_Atomic uint32_t *number)
{
  syscall (SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *
serve (void *argument)
{
  const Worker *worker = argument;
  Workers *workers = worker->workers;

  for (uint32_t served = 0;; served++) {
    while (atomic_load_explicit (&workers->round, memory_order_acquire) == served)
      wait_while (&workers->round, served);
    if (workers->closing)
      return NULL;
    workers->work (workers->data, worker->index);
    if (atomic_fetch_sub_explicit (&workers->n_busy, 1, memory_order_acq_rel) == 1)
      wake_up (&workers->n_busy);
  }
}

/* The processors that this process may use. */
static uint64_t
n_processors (void)
{
  cpu_set_t processors;
  if (sched_getaffinity (0, sizeof processors, &processors) == 0)
    return (uint64_t)CPU_COUNT (&processors);
  /* There are more processors than the set has room for. */
  const long n = sysconf (_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint64_t)n : 1;
}

uint32_t
workers_choose_number (
    uint32_t requested, uint64_t n_pixels, uint64_t pixels_per_thread, uint64_t n_parts)
{
  const uint64_t n_useful = n_pixels / pixels_per_thread;
  uint64_t n = requested ? requested : n_processors ();

  n = n < n_useful ? n : n_useful;
  n = n < n_parts ? n : n_parts;
  return n < 1 ? 1 : (uint32_t)n;
}

Workers *
workers_new (uint32_t n_threads)
{
  Workers *workers = calloc (1, sizeof *workers + (n_threads - 1) * sizeof *workers->worker);
  if (!workers)
    return NULL;
  for (; workers->n_started < n_threads - 1; workers->n_started++) {
    Worker *worker = &workers->worker[workers->n_started];
    worker->workers = workers;
    worker->index = workers->n_started + 1;
    if (pthread_create (&worker->thread, NULL, serve, worker) != 0) {
      workers_free (workers);
      return NULL;
    }
  }
  return workers;
}

static void
begin_round (Workers *workers)
{
  atomic_store_explicit (&workers->n_busy, workers->n_started, memory_order_relaxed);
  atomic_fetch_add_explicit (&workers->round, 1, memory_order_release);
  wake_up (&workers->round);
}

void
workers_run (Workers *workers, void (*work) (void *data, uint32_t index), void *data)
{
  uint32_t n_busy;

  if (workers->n_started == 0) {
    work (data, 0);
    return;
  }
  workers->work = work;
  workers->data = data;
  begin_round (workers);
  work (data, 0);
  while ((n_busy = atomic_load_explicit (&workers->n_busy, memory_order_acquire)) > 0)
    wait_while (&workers->n_busy, n_busy);
}

void
workers_free (Workers *workers)
{
  if (!workers)
    return;
  workers->closing = true;
  begin_round (workers);
  for (uint32_t i = 0; i < workers->n_started; i++)
    pthread_join (workers->worker[i].thread, NULL);
  free (workers);
}
