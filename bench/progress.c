/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

void
progress_show (unsigned done, unsigned all, const char *what)
{
  static const char full[] = "##############################";
  enum { WIDTH = sizeof full - 1 };

  if (!isatty (STDERR_FILENO) || !all)
    return;
  if (done >= all) {
    progress_clear ();
    return;
  }
  const int filled = (int)((unsigned long)done * WIDTH / all);
  fprintf (
      stderr, "\r\033[K[%.*s%*s] %u/%u %.60s", filled, full, WIDTH - filled, "", done, all, what);
  fflush (stderr);
}

void
progress_clear (void)
{
  if (isatty (STDERR_FILENO))
    fputs ("\r\033[K", stderr);
}
