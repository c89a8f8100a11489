/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limit of open files of ccl-watch, in a process that has used them up. */
#include <glib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "watch/system/process-limits.h"

enum { LIMIT = 400 };

static void
assert_too_many_files (void)
{
  GError *error = NULL;

  g_assert_false (watch_limits_check (&error));
  g_assert_cmpstr (error->message, ==, "too many open files (the limit is 400)");
  g_clear_error (&error);
}

static void
test_no_file_is_left (void)
{
  gint files[LIMIT];
  guint n = 0;

  g_assert_true (watch_limits_check (NULL));
  while (n < LIMIT && (files[n] = dup (0)) >= 0)
    n++;
  assert_too_many_files ();
  close (files[--n]); /* the folder can be read again */
  assert_too_many_files ();
  while (n > 0)
    close (files[--n]);
  g_assert_true (watch_limits_check (NULL));
}

static void
test_reserved_files_are_not_given_twice (void)
{
  guint n = 0;

  while (watch_limits_reserve (NULL))
    n++;
  g_assert_cmpuint (n, >=, 1);
  g_assert_cmpuint (n, <, LIMIT / 8);
  g_assert_false (watch_limits_check (NULL));
  watch_limits_release ();
  g_assert_true (watch_limits_reserve (NULL));
  while (n-- > 0)
    watch_limits_release ();
  g_assert_true (watch_limits_check (NULL));
}

static guint
count_possible (void)
{
  guint n = 0;

  while (watch_limits_reserve (NULL))
    n++;
  for (guint i = 0; i < n; i++)
    watch_limits_release ();
  return n;
}

/* Cameras have as many files with all web clients as without one. */
static void
test_clients_have_files_of_their_own (void)
{
  guint most = watch_limits_reserve_clients (), possible = count_possible ();
  gint files[LIMIT];

  g_assert_cmpuint (most, <, LIMIT / 16);
  for (guint i = 0; i < most; i++)
    g_assert_cmpint (files[i] = dup (0), >=, 0);
  watch_limits_set_clients (most);
  g_assert_cmpuint (count_possible (), ==, possible);
  for (guint i = 0; i < most; i++)
    close (files[i]);
  watch_limits_set_clients (0);
  g_assert_cmpuint (count_possible (), ==, possible);
}

int
main (int argc, char **argv)
{
  const struct rlimit limit = {LIMIT, LIMIT};

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  g_test_add_func ("/limits/no-file-is-left", test_no_file_is_left);
  g_test_add_func (
      "/limits/reserved-files-are-not-given-twice", test_reserved_files_are_not_given_twice);
  g_test_add_func ("/limits/clients-have-files-of-their-own", test_clients_have_files_of_their_own);
  return g_test_run ();
}
