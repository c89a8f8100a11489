/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* sched_getaffinity() */

#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Worker {
  Workers *workers;
  uint32_t index;
  pthread_t thread;
} Worker;

struct Workers {
  pthread_mutex_t mutex;
  pthread_cond_t changed; /* a round has begun or ended, or the pool closes */
  uint64_t round;
  uint32_t n_busy;
  bool closing;

  void (*work) (void *data, uint32_t index);
  void *data;

  uint32_t n_started;
  Worker worker[];
};

static void *
serve (void *argument)
{
  const Worker *worker = argument;
  Workers *workers = worker->workers;
  uint64_t served = 0;

  pthread_mutex_lock (&workers->mutex);
  for (;;) {
    while (workers->round == served && !workers->closing)
      pthread_cond_wait (&workers->changed, &workers->mutex);
    if (workers->closing)
      break;
    served = workers->round;
    pthread_mutex_unlock (&workers->mutex);
    workers->work (workers->data, worker->index);
    pthread_mutex_lock (&workers->mutex);
    if (--workers->n_busy == 0)
      pthread_cond_broadcast (&workers->changed);
  }
  pthread_mutex_unlock (&workers->mutex);
  return NULL;
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
  pthread_mutex_init (&workers->mutex, NULL);
  pthread_cond_init (&workers->changed, NULL);
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

void
workers_run (Workers *workers, void (*work) (void *data, uint32_t index), void *data)
{
  if (workers->n_started > 0) {
    pthread_mutex_lock (&workers->mutex);
    workers->work = work;
    workers->data = data;
    workers->n_busy = workers->n_started;
    workers->round++;
    pthread_cond_broadcast (&workers->changed);
    pthread_mutex_unlock (&workers->mutex);
  }
  work (data, 0);
  if (workers->n_started > 0) {
    pthread_mutex_lock (&workers->mutex);
    while (workers->n_busy > 0)
      pthread_cond_wait (&workers->changed, &workers->mutex);
    pthread_mutex_unlock (&workers->mutex);
  }
}

void
workers_free (Workers *workers)
{
  if (!workers)
    return;
  pthread_mutex_lock (&workers->mutex);
  workers->closing = true;
  pthread_cond_broadcast (&workers->changed);
  pthread_mutex_unlock (&workers->mutex);
  for (uint32_t i = 0; i < workers->n_started; i++)
    pthread_join (workers->worker[i].thread, NULL);
  pthread_cond_destroy (&workers->changed);
  pthread_mutex_destroy (&workers->mutex);
  free (workers);
}
