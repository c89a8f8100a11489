/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "output.h"

/* The pairs of labels that touch in a file: CSV, or NDJSON. For one process. */
typedef struct ContactFile ContactFile;

/* name: which ends in .csv, .ndjson or .jsonl. path: of the file that is written. */
ContactFile *contact_file_open (
    const char *name, const char *path, const OutputFormat *format, CclError *error);

/* Takes the next n_layers layers of labels. */
bool contact_file_add_labels (ContactFile *self, uint64_t n_layers, const void *labels,
    uint32_t label_bytes, CclError *error);

/* Writes the pairs, unless it has failed, and closes the file. */
bool contact_file_close (ContactFile *self, bool failed, CclError *error);
