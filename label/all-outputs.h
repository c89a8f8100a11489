/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All files that a run of ccl-label writes: label map, table, contours, contacts and distances,
 * each if the options name it. They are written under temporary names and get their own when all
 * are complete. Functions return false with the error filled.
 */
#pragma once

#include "label/output/contact-file.h"
#include "label/output/contour-file.h"
#include "options.h"
#include "label/output/output.h"
#include "phases.h"
#include "label/output/row-order.h"

typedef struct AllOutputs {
  PendingName names[N_OUTPUTS];
  LabelMap *map, *distances; /* NULL: not written, as with the next ones */
  Table *table;
  ContourFile *contours;
  ContactFile *contacts;
  RowOrder *order;      /* of the table's rows; NULL: that of labels */
  uint32_t label_bytes; /* of the map */
  Phases *phases;       /* to which the time is added; the caller's */
} AllOutputs;

/* Opens the files that the options name. input: the name of the picture. The caller sets order and
 * phases before. Collective. */
bool outputs_open (AllOutputs *self, const Options *options, const OutputFormat *format,
    const char *input, CclError *error);

/* Says how many components there are, the first label of this rank and the bytes of a label.
 * Collective. */
bool outputs_begin (AllOutputs *self, uint64_t n_components, uint64_t first_label,
    uint32_t label_bytes, CclError *error);

/* Writes labels of n_layers layers from first_layer on. Not collective. */
bool outputs_write_labels (
    AllOutputs *self, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error);

/* Writes rows of n components, or keeps those that are to be ordered. shapes: [n_planes] of each
 * row; NULL if none are measured. Not collective. */
bool outputs_write_rows (AllOutputs *self, const CclTiledComponent *rows,
    const CclVolumeShape *shapes, size_t n, CclError *error);

/* Makes the files complete, or removes them if a rank has failed, and closes them. order stays the
 * caller's. Collective. */
bool outputs_close (AllOutputs *self, const Processes *processes, bool succeeded, CclError *error);
