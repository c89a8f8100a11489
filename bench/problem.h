/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages and the progress bar, on standard error. A problem is reported at once in one line and
 * remembered: the run goes on, and the exit status at the end is 1. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <glib.h>

/* Reports a problem, unless the same line was reported before. */
void problem_report (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints a line that is worth knowing but no problem. */
void problem_remark (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* The problems so far; ended by NULL, owned by this file. */
const char *const *problems_reported (void);

unsigned problems_count (void);

/* Shows a progress bar where standard error is a terminal, with done of all steps and the current
 * one; done == all removes it. */
void progress_show (unsigned done, unsigned all, const char *current);

#endif /* BENCH_PROBLEM_H */
