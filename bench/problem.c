/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "problem.h"

#include "progress.h"

#include <stdio.h>

static GPtrArray *told;

static GPtrArray *
get_told (void)
{
  if (!told) {
    told = g_ptr_array_new ();
    g_ptr_array_add (told, NULL);
  }
  return told;
}

void
problem_tell (const char *format, ...)
{
  va_list arguments;
  char *line;

  va_start (arguments, format);
  line = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (g_strv_contains (problems_told (), line)) {
    g_free (line);
    return;
  }
  g_ptr_array_insert (get_told (), (int)problems_count (), line);
  progress_clear ();
  fprintf (stderr, "ccl-bench: %s\n", line);
}

void
problem_remark (const char *format, ...)
{
  va_list arguments;

  progress_clear ();
  fputs ("ccl-bench: ", stderr);
  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fputc ('\n', stderr);
}

const char *const *
problems_told (void)
{
  return (const char *const *)get_told ()->pdata;
}

unsigned
problems_count (void)
{
  return get_told ()->len - 1;
}
