/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contours of a picture's components in a file: COCO annotations (.json) or GeoJSON (.geojson). The
 * label map of the whole picture is kept in memory until the end. For one process and frames. The
 * functions return false with the error filled.
 */
#pragma once

#include "output.h"

typedef struct ContourFile ContourFile;

/* name: of the file, whose suffix is that of the format. path: its temporary name. picture: the
 * name of the input. tolerance: of simplified contours, in pixels; negative: all points. */
ContourFile *contour_file_open (const char *name, const char *path, const char *picture,
    const OutputFormat *format, double tolerance, CclError *error);

/* Takes labels of n_layers rows from first_layer on, of label_bytes bytes each. */
bool contour_file_add_labels (ContourFile *file, uint64_t first_layer, uint64_t n_layers,
    const void *labels, uint32_t label_bytes, CclError *error);

/* Takes rows of the component table, in label order. */
bool contour_file_add_rows (
    ContourFile *file, const CclTiledComponent *rows, size_t n, CclError *error);

/* Writes the file unless the labelling has failed, and frees everything. NULL is allowed. */
bool contour_file_close (ContourFile *file, bool failed, CclError *error);
