/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A progress bar on standard error, where that is a terminal; nothing elsewhere. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

/* Shows done of all steps and what is at work; done == all takes the bar away. */
void progress_show (unsigned done, unsigned all, const char *what);

/* Takes the bar away, so that a line can be printed; the next progress_show() brings it back. */
void progress_clear (void);

#endif /* BENCH_PROGRESS_H */
