/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Label maps and component tables in files. An output is written to a temporary file beside its
 * final name, and has this name only when it is complete. All functions are collective, except
 * those that write; they return false with the error filled.
 */
#pragma once

#include <cudaccl/tiled.h>

#include "columns.h"
#include "geo.h"
#include "processes.h"

#include <stdio.h>

/* The picture that is labelled, and how to write it. */
typedef struct OutputFormat {
  Processes processes;
  uint64_t width, height, depth;
  bool is_volume;
  const char *compression; /* of TIFF: "none", "deflate", "lzw" or "zstd" */
  uint32_t connectivity;
  const ColumnList *columns; /* of the table; empty: those of CclTiledComponent */
  const ColumnPicture *kind; /* what they depend on; the caller's */
  const GeoReference *geo;   /* of the picture; NULL: none */
} OutputFormat;

/* A name that is given to a file when it is complete. */
typedef struct PendingName {
  char *path, *temporary;
} PendingName;

/* Notes a name. number: the same in all ranks and different in other programs. Not collective. */
bool pending_name_init (PendingName *name, const char *path, uint64_t number, CclError *error);

/* Renames the file. For one rank to call. */
bool pending_name_commit (PendingName *name, CclError *error);

/* Frees the name and removes the temporary file if it is still there. */
void pending_name_clear (PendingName *name);

/* Removes all temporary files. */
void pending_names_remove (void);

/* Makes signals that end the program, such as that of Ctrl-C, remove the temporary files. */
void pending_names_watch_signals (void);

/* A file without a name beside an output: the part of a rank among several, whose place in the
 * output is known at the end. To be closed with fclose(). These functions are not collective. */
FILE *own_part_new (const char *path, const Processes *processes, CclError *error);
bool own_part_write (FILE *part, const void *bytes, uint64_t size, CclError *error);
bool own_part_copy (FILE *part, OutputFile *file, uint64_t offset, CclError *error);

typedef struct LabelMap LabelMap;

/* The format is that of the name: .npy, .raw, .tif or .tiff. */
LabelMap *label_map_open (
    const char *name, const char *path, const OutputFormat *format, CclError *error);

/* The slabs of ranks begin at layers that are multiples of this number. */
uint64_t label_map_unit (const LabelMap *map);

bool label_map_begin (LabelMap *map, uint32_t label_bytes, CclError *error);
bool label_map_write (
    LabelMap *map, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error);
bool label_map_close (LabelMap *map, bool failed, CclError *error);

typedef struct Table Table;

/* The format is that of the name: .csv, .ndjson, .jsonl or .npy. */
Table *table_open (const char *name, const char *path, const OutputFormat *format, CclError *error);
bool table_begin (Table *table, uint64_t n_components, uint64_t first_label, CclError *error);

/* shapes: [n_planes] of each row; NULL if no column of the format has to be measured. */
bool table_write (Table *table, const CclTiledComponent *rows, const CclVolumeShape *shapes,
    size_t n, CclError *error);
bool table_close (Table *table, bool failed, CclError *error);

/* The folder of a file; "." without one. NULL without memory. Free with free(). */
char *folder_of (const char *path);

/* Whether a name ends with a suffix. */
bool has_suffix (const char *name, const char *suffix);

/* Writes the header of an NPY file, of so many bytes, with numbers in this machine's byte order.
 * type: a dtype in which @ stands for the byte order. shape: without parentheses. */
enum { NPY_HEADER = 512, NPY_LONG_HEADER = 8192 };
void npy_header (char *header, uint32_t size, const char *type, const char *shape);
