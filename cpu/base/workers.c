/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A round is a call of workers_share(). Each thread has a work queue: a counter of the parts left
 * in it. A thread takes parts from its own queue first, then from those of others (work stealing).
 * Queues are filled after everything else of a round is set. So a thread that wakes up late, even
 * in a later round, either takes a part of the present round, or none.
 *
 * Where a control group limits the processor time of the process, threads do not spin: it would be
 * missing for work, and when it is used up, the process stands still for tens of milliseconds.
 *
 * Threads wait in the kernel on the numbers themselves: with a condition variable, each thread that
 * wakes up has to take the mutex first, one after the other, which took as long as the work on a
 * small frame.
 */
#define _GNU_SOURCE /* syscall() */

#include "workers.h"

#include "core/base/log-message.h"
#include "processors.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define pause_processor() __builtin_ia32_pause ()
#else
#define pause_processor() (void)0
#endif

/* A thread spins for so long at most: about as long as it takes to wake one up. */
static const int64_t spin_ns = 50 * 1000;

typedef struct Worker {
  _Alignas(64) _Atomic int32_t n_left; /* parts in its queue, if positive */
  uint32_t end;                        /* of its parts */
  Workers *workers;
  uint32_t index;
  pthread_t thread;
} Worker;

struct Workers {
  _Alignas(64) _Atomic uint32_t round;        /* its change begins a round */
  _Alignas(64) _Atomic uint32_t n_unfinished; /* parts of the round */

  /* Set before a round begins. */
  _Alignas(64) _Atomic bool closing; /* the round ends the threads */
  _Atomic bool is_spinning;          /* threads spin until the next round */
  void (*work) (void *data, uint32_t part, uint32_t thread);
  void *data;

  /* Of the caller. */
  bool was_last;    /* the last call did not announce another one (again_soon) */
  int64_t ended_at; /* when the last round ended */
  bool soon;        /* after the last such call, another one came at once all the same */

  bool may_spin; /* no quota limits the processor time, so that threads may spin while they wait */
  uint32_t n_threads;
  uint32_t n_started; /* with the caller */
  Worker worker[];    /* the first is the caller */
};

static int64_t
now_ns (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Waits while the number has that value: spins for a limited time, then sleeps until another thread
 * wakes up those that wait for the number. Spurious wake-ups are possible: the caller checks the
 * number again. */
static void
wait_while (_Atomic uint32_t *number, uint32_t value, bool is_spinning)
{
  if (is_spinning) {
    const int64_t end = now_ns () + spin_ns;
    do {
      if (atomic_load_explicit (number, memory_order_relaxed) != value)
        return;
      pause_processor ();
    } while (now_ns () < end);
  }
  syscall (SYS_futex, number, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void
wake_up (_Atomic uint32_t *number)
{
  syscall (SYS_futex, number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Takes a part from a thread's queue. Returns whether there was one. */
static bool
take_part (Worker *owner, uint32_t *part)
{
  if (atomic_load_explicit (&owner->n_left, memory_order_relaxed) <= 0)
    return false;
  const int32_t n_left = atomic_fetch_sub_explicit (&owner->n_left, 1, memory_order_acquire);
  if (n_left <= 0)
    return false;
  *part = owner->end - (uint32_t)n_left;
  return true;
}

/* Does parts of the round as long as there are any, those of the thread first. */
static void
do_parts (Workers *workers, uint32_t thread)
{
  for (uint32_t i = 0; i < workers->n_threads; i++) {
    Worker *owner = &workers->worker[(thread + i) % workers->n_threads];
    for (uint32_t part; take_part (owner, &part);) {
      workers->work (workers->data, part, thread);
      if (atomic_fetch_sub_explicit (&workers->n_unfinished, 1, memory_order_acq_rel) == 1)
        wake_up (&workers->n_unfinished);
    }
  }
}

static void *
serve (void *argument)
{
  const Worker *worker = argument;
  Workers *workers = worker->workers;

  for (uint32_t served = 0;;) {
    uint32_t round;
    while ((round = atomic_load_explicit (&workers->round, memory_order_acquire)) == served)
      wait_while (&workers->round, served,
          atomic_load_explicit (&workers->is_spinning, memory_order_relaxed));
    served = round;
    if (atomic_load_explicit (&workers->closing, memory_order_relaxed))
      return NULL;
    do_parts (workers, worker->index);
  }
}

uint32_t
workers_choose_number (
    uint32_t requested, uint64_t n_pixels, uint64_t pixels_per_thread, uint64_t n_parts)
{
  const uint64_t n_useful = n_pixels / pixels_per_thread;
  uint64_t n = n_useful < n_parts ? n_useful : n_parts;

  if (n <= 1)
    return 1;
  if (!requested)
    requested = processors_find ().n;
  return requested < n ? requested : (uint32_t)n;
}

Workers *
workers_new (uint32_t n_threads)
{
  const size_t size = sizeof (Workers) + n_threads * sizeof (Worker);
  Workers *workers = aligned_alloc (_Alignof(Workers), size);
  if (!workers)
    return NULL;
  memset (workers, 0, size);
  workers->n_threads = n_threads;
  workers->may_spin = n_threads > 1 && !processors_find ().has_quota;
  if (n_threads > 1 && !workers->may_spin)
    ccl_log (CUDACCL_LOG_WARNING,
        "a control group limits the processor time, so %u threads sleep between two frames",
        n_threads);
  for (workers->n_started = 1; workers->n_started < n_threads; workers->n_started++) {
    Worker *worker = &workers->worker[workers->n_started];
    worker->workers = workers;
    worker->index = workers->n_started;
    if (pthread_create (&worker->thread, NULL, serve, worker) != 0) {
      workers_free (workers);
      return NULL;
    }
  }
  return workers;
}

/* Whether the threads are to spin after a round. */
static bool
choose_spinning (Workers *workers, bool again_soon)
{
  if (!workers->may_spin)
    return false;
  if (workers->was_last)
    workers->soon = now_ns () - workers->ended_at < spin_ns;
  workers->was_last = !again_soon;
  return again_soon || workers->soon;
}

static void
begin_round (Workers *workers)
{
  atomic_fetch_add_explicit (&workers->round, 1, memory_order_release);
  wake_up (&workers->round);
}

void
workers_share (Workers *workers, uint32_t n_parts, bool again_soon,
    void (*work) (void *data, uint32_t part, uint32_t thread), void *data)
{
  const uint32_t n_threads = workers->n_threads;
  uint32_t n_unfinished;

  if (n_threads == 1) {
    for (uint32_t part = 0; part < n_parts; part++)
      work (data, part, 0);
    return;
  }
  workers->work = work;
  workers->data = data;
  atomic_store_explicit (
      &workers->is_spinning, choose_spinning (workers, again_soon), memory_order_relaxed);
  atomic_store_explicit (&workers->n_unfinished, n_parts, memory_order_relaxed);
  for (uint32_t i = 0; i < n_threads; i++) {
    const uint32_t first = workers_first_part (n_parts, i, n_threads);
    workers->worker[i].end = workers_first_part (n_parts, i + 1, n_threads);
    atomic_store_explicit (&workers->worker[i].n_left, (int32_t)(workers->worker[i].end - first),
        memory_order_release);
  }
  begin_round (workers);
  do_parts (workers, 0);
  while ((n_unfinished = atomic_load_explicit (&workers->n_unfinished, memory_order_acquire)) > 0)
    wait_while (&workers->n_unfinished, n_unfinished, workers->may_spin);
  if (!again_soon && workers->may_spin)
    workers->ended_at = now_ns ();
}

typedef struct Call {
  void (*work) (void *data, uint32_t part);
  void *data;
} Call;

static void
call_work (void *data, uint32_t part, uint32_t thread)
{
  const Call *call = data;
  call->work (call->data, part);
}

void
workers_run (Workers *workers, void (*work) (void *data, uint32_t part), void *data)
{
  Call call = {work, data};
  workers_share (workers, workers->n_threads, false, call_work, &call);
}

uint32_t
workers_number (const Workers *workers)
{
  return workers->n_threads;
}

void
workers_free (Workers *workers)
{
  if (!workers)
    return;
  atomic_store_explicit (&workers->closing, true, memory_order_relaxed);
  begin_round (workers);
  for (uint32_t i = 1; i < workers->n_started; i++)
    pthread_join (workers->worker[i].thread, NULL);
  free (workers);
}
