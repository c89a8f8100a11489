/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a run of the tool has to say, for programs: CSV and JSON. */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include "grid.h"
#include "results.h"

/* What one mode gave: results, or a table where its figures are of another kind. */
typedef struct Section {
  const char *mode;
  Results *results; /* or NULL */
  Grid *grid;       /* or NULL */
} Section;

void section_free (Section *section);

/* The names of steps and outcomes in both forms. */
const char *document_step_name (Step step);
unsigned document_parse_outcome (const char *name);

/* All measurements, one line each under one head line, the mode first; after them each table
 * with a head line of its own, behind an empty line. Free with g_free(). */
char *document_to_csv (const GPtrArray *sections);

/* One object with the members "machine", "problems" and "runs"; each of these has a "mode" and
 * "measurements" or "rows". Free with g_free(). */
char *document_to_json (const GPtrArray *sections, const GPtrArray *machine);

#endif /* BENCH_DOCUMENT_H */
