/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of threads of the CPU labeller: every part is done once, in the right round, and threads
 * that have done their own parts take those of others. */
#include "cpu/base/workers.h"

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

enum { N_THREADS = 5, MOST_PARTS = 40, N_ROUNDS = 3000 };

typedef struct Round {
  atomic_int n_calls[MOST_PARTS];
  atomic_int n_done;
} Round;

static void
count_call (void *data, uint32_t part, uint32_t thread)
{
  Round *round = data;
  g_assert_cmpuint (part, <, MOST_PARTS);
  g_assert_cmpuint (thread, <, N_THREADS);
  atomic_fetch_add (&round->n_calls[part], 1);
}

/* Rounds follow at once, after pauses in which threads still spin, and after longer ones. */
static void
test_once (void)
{
  Workers *workers = workers_new (N_THREADS);
  Round round;

  for (uint32_t i = 0; i < N_ROUNDS; i++) {
    const uint32_t n_parts = i * 7 % (MOST_PARTS + 1);
    memset (&round, 0, sizeof round);
    if (i % 8 == 0)
      g_usleep (i % 16 ? 20 : 200);
    workers_share (workers, n_parts, i % 3 == 0, count_call, &round);
    for (uint32_t part = 0; part < MOST_PARTS; part++)
      g_assert_cmpint (round.n_calls[part], ==, part < n_parts);
  }
  workers_free (workers);
}

/* Part 0 ends after all others. */
static void
wait_in_first (void *data, uint32_t part, uint32_t thread)
{
  Round *round = data;
  while (part == 0 && round->n_done < MOST_PARTS - 1)
    g_usleep (100);
  round->n_done++;
}

static void
test_takes_parts_of_others (void)
{
  Workers *workers = workers_new (2);

  for (uint32_t i = 0; i < 20; i++) {
    Round round = {0};
    workers_share (workers, MOST_PARTS, false, wait_in_first, &round);
    g_assert_cmpint (round.n_done, ==, MOST_PARTS);
  }
  workers_free (workers);
}

static void
count_part (void *data, uint32_t part)
{
  count_call (data, part, 0);
}

static void
test_part_for_each (void)
{
  for (uint32_t n_threads = 1; n_threads <= N_THREADS; n_threads++) {
    Workers *workers = workers_new (n_threads);
    Round round = {0};
    workers_run (workers, count_part, &round);
    for (uint32_t part = 0; part < MOST_PARTS; part++)
      g_assert_cmpint (round.n_calls[part], ==, part < n_threads);
    workers_free (workers);
  }
}

static void
test_first_part (void)
{
  g_assert_cmpuint (workers_first_part (10, 0, 4), ==, 0);
  g_assert_cmpuint (workers_first_part (10, 1, 4), ==, 2);
  g_assert_cmpuint (workers_first_part (10, 4, 4), ==, 10);
  g_assert_cmpuint (workers_first_part (UINT32_MAX, 3, 3), ==, UINT32_MAX);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/workers/once", test_once);
  g_test_add_func ("/workers/takes-parts-of-others", test_takes_parts_of_others);
  g_test_add_func ("/workers/part-for-each", test_part_for_each);
  g_test_add_func ("/workers/first-part", test_first_part);
  return g_test_run ();
}
