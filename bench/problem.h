/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Problems are told at once, in one line each, and remembered: the rest of the run goes on, and
 * the program's exit status says at the end that it was not whole. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <glib.h>

/* A line that was told before is not told again. */
void problem_tell (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Tells what is worth knowing but no problem: it is not remembered. */
void problem_remark (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* The lines told so far; NULL-terminated, owned by this part. */
const char *const *problems_told (void);

unsigned problems_count (void);

#endif /* BENCH_PROBLEM_H */
