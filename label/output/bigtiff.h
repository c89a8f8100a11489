/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Label maps as BigTIFF files in strips, which ranks write together. The file begins with the
 * directories of all pages, whose sizes are known beforehand; the strips follow in order. So each
 * rank can write its strips and their entries in the directories, and the file has the same bytes
 * for every number of ranks. libtiff compresses.
 */
#pragma once

#include "output.h"

typedef struct BigTiff BigTiff;

/* The rows of a strip. The slabs of ranks begin at multiples of it. */
uint64_t bigtiff_strip_rows (const OutputFormat *format);

/* Fails if libtiff does not have the compression. path: for messages. */
BigTiff *bigtiff_new (const OutputFormat *format, const char *path, CclError *error);

/* Begins to write to the file, which must live until bigtiff_finish(). */
bool bigtiff_begin (BigTiff *tiff, OutputFile *file, uint32_t label_bytes, CclError *error);

/* Writes the next rows of this rank, counted through all pages. */
bool bigtiff_write (
    BigTiff *tiff, uint64_t first_row, uint64_t n_rows, const void *labels, CclError *error);

/* Writes the end of the file, which needs all rows. failed: this rank's part is not complete.
 * Collective. */
bool bigtiff_finish (BigTiff *tiff, bool failed, CclError *error);

void bigtiff_free (BigTiff *tiff); /* NULL is allowed */
