/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "offload.h"

#define MAX_THREADS 16

typedef struct {
  void (*work) (gpointer data);
  gpointer data;
  GDestroyNotify free_data;
  void (*done) (gpointer done_data, gpointer data);
  gpointer done_data;
  guint timeout;    /* id of a source; 0: there is none */
  gint is_given_up; /* atomic */
} Job;

static gboolean
on_worked (gpointer data)
{
  Job *job = data;

  if (!g_atomic_int_get (&job->is_given_up)) {
    if (job->timeout)
      g_source_remove (job->timeout);
    job->done (job->done_data, job->data);
  }
  job->free_data (job->data);
  g_free (job);
  return G_SOURCE_REMOVE;
}

static gboolean
on_timeout (gpointer data)
{
  Job *job = data;

  g_atomic_int_set (&job->is_given_up, TRUE);
  job->done (job->done_data, NULL);
  return G_SOURCE_REMOVE;
}

static void
run (gpointer data, gpointer unused)
{
  Job *job = data;
  g_autoptr (GSource) source = g_idle_source_new ();

  if (!g_atomic_int_get (&job->is_given_up))
    job->work (job->data);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, on_worked, job, NULL);
  g_source_attach (source, NULL);
}

void
watch_offload (void (*work) (gpointer data), gpointer data, GDestroyNotify free_data, guint seconds,
    void (*done) (gpointer done_data, gpointer data), gpointer done_data)
{
  static GThreadPool *pool;
  Job *job = g_new0 (Job, 1);

  if (!pool)
    pool = g_thread_pool_new (run, NULL, MAX_THREADS, FALSE, NULL);
  *job = (Job){work, data, free_data, done, done_data};
  if (seconds > 0)
    job->timeout = g_timeout_add_seconds (seconds, on_timeout, job);
  /* If no thread can be made, the job waits until one of those that exist is free. */
  g_thread_pool_push (pool, job, NULL);
}
