/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results that an earlier run has written with --json. */
#ifndef BENCH_RECORDED_H
#define BENCH_RECORDED_H

#include "document.h"

/* Reads back what document_to_json() wrote: an array of Section, with results but without tables.
 * Their contenders have names and nothing to run. Free the array; NULL with one clear line if the
 * file cannot be read, or is none that the tool wrote. */
GPtrArray *recorded_read (const char *path, GError **error);

#endif /* BENCH_RECORDED_H */
