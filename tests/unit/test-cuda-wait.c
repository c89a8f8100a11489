/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that wait for a run, with a driver that has no device: from the third on they sleep, and
 * afterwards their timer slack is as before. */
#include "cuda/driver/wait.h"

#include <glib.h>
#include <string.h>
#include <sys/prctl.h>

enum { CALLERS_SLACK = 71234, N_BUSY = 2, N_QUERIES = 4 };

static atomic_int n_waiting_busily, is_over;
static _Thread_local int n_queries, slack_of_query;
static _Thread_local gboolean is_held;

static CUresult
record (CUevent event, CUstream stream)
{
  return CUDA_SUCCESS;
}

/* The runs of the held threads end last; others end at the fourth query. */
static CUresult
query (CUevent event)
{
  n_queries++;
  slack_of_query = prctl (PR_GET_TIMERSLACK);
  if (!is_held)
    return n_queries < N_QUERIES ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  atomic_fetch_add (&n_waiting_busily, 1);
  while (!atomic_load (&is_over))
    g_usleep (1000);
  return CUDA_SUCCESS;
}

/* Called when a thread of a busy machine has polled for long. */
static CUresult
synchronize (CUevent event)
{
  return CUDA_SUCCESS;
}

static CclStatus
wait_for_run (void)
{
  static const CclCudaDriver driver = {
      .cuEventRecord = record, .cuEventQuery = query, .cuEventSynchronize = synchronize};
  CclCudaDevice device = {.driver = &driver};
  n_queries = 0;
  return ccl_cuda_wait (&device, NULL, NULL, NULL, NULL);
}

static gpointer
wait_busily (gpointer data)
{
  is_held = TRUE;
  g_assert_cmpint (wait_for_run (), ==, CUDACCL_OK);
  g_assert_cmpint (n_queries, ==, 1);
  return NULL;
}

static void
test_timer_slack (void)
{
  GThread *threads[N_BUSY];

  prctl (PR_SET_TIMERSLACK, CALLERS_SLACK);
  g_assert_cmpint (wait_for_run (), ==, CUDACCL_OK);
  g_assert_cmpint (slack_of_query, ==, CALLERS_SLACK);

  for (int i = 0; i < N_BUSY; i++)
    threads[i] = g_thread_new ("busy", wait_busily, NULL);
  while (atomic_load (&n_waiting_busily) < N_BUSY)
    g_usleep (1000);
  for (int i = 0; i < 100; i++) {
    g_assert_cmpint (wait_for_run (), ==, CUDACCL_OK);
    g_assert_cmpint (slack_of_query, ==, 1);
    g_assert_cmpint (prctl (PR_GET_TIMERSLACK), ==, CALLERS_SLACK);
  }
  atomic_store (&is_over, 1);
  for (int i = 0; i < N_BUSY; i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cuda-wait/timer-slack", test_timer_slack);
  return g_test_run ();
}
