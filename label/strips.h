/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Label maps as BigTIFF files in strips, which ranks write together. The file begins with the
 * directories of all pages, whose sizes are known beforehand; the strips follow in order. So each
 * rank can write its strips and their entries in the directories, and the file has the same bytes
 * for every number of ranks. libtiff compresses.
 */
#ifndef CCL_LABEL_STRIPS_H
#define CCL_LABEL_STRIPS_H

#include "output.h"

typedef struct Strips Strips;

/* The rows of a strip. The blocks of ranks begin at multiples of it. */
uint64_t strips_rows (const OutputFormat *format);

/* Fails if libtiff does not have the compression. */
Strips *strips_new (const OutputFormat *format, const char *path, CclError *error);

/* Begins to write to the file, which must live until strips_finish(). */
bool strips_begin (Strips *strips, OutputFile *file, uint32_t label_bytes, CclError *error);

/* Writes the next rows of this rank, counted through all pages. */
bool strips_write (
    Strips *strips, uint64_t first_row, uint64_t n_rows, const void *labels, CclError *error);

/* Writes the end of the file, which needs all rows. failed: this rank's part is not complete.
 * Collective. */
bool strips_finish (Strips *strips, bool failed, CclError *error);

void strips_free (Strips *strips); /* NULL is allowed */

#endif /* CCL_LABEL_STRIPS_H */
