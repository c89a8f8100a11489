/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "problem.h"

#include <stdio.h>
#include <unistd.h>

static GPtrArray *
get_problems (void)
{
  static GPtrArray *problems; /* the last element is NULL */

  if (!problems) {
    problems = g_ptr_array_new ();
    g_ptr_array_add (problems, NULL);
  }
  return problems;
}

static void
clear_progress (void)
{
  if (isatty (STDERR_FILENO))
    fputs ("\r\033[K", stderr);
}

static void
print_line (const char *line)
{
  clear_progress ();
  fprintf (stderr, "ccl-bench: %s\n", line);
}

void
problem_report (const char *format, ...)
{
  va_list arguments;
  g_autofree char *line = NULL;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (g_strv_contains (problems_reported (), line))
    return;
  print_line (line);
  g_ptr_array_insert (get_problems (), (int)problems_count (), g_steal_pointer (&line));
}

void
problem_remark (const char *format, ...)
{
  va_list arguments;
  g_autofree char *line = NULL;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  print_line (line);
}

const char *const *
problems_reported (void)
{
  return (const char *const *)get_problems ()->pdata;
}

unsigned
problems_count (void)
{
  return get_problems ()->len - 1;
}

void
progress_show (unsigned done, unsigned all, const char *current)
{
  static const char full[] = "##############################";
  enum { WIDTH = sizeof full - 1 };

  if (!isatty (STDERR_FILENO) || !all)
    return;
  clear_progress ();
  if (done < all) {
    const int filled = (int)((unsigned long)done * WIDTH / all);
    fprintf (stderr, "[%.*s%*s] %u/%u %.60s", filled, full, WIDTH - filled, "", done, all, current);
    fflush (stderr);
  }
}
