/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "label/output/columns.h"
#include "mask.h"
#include "slices.h"

/* The files that a run may write. */
enum { LABEL_MAP, TABLE, CONTOURS, CONTACTS, DISTANCES, N_OUTPUTS };

/* The command line. */
typedef struct Options {
  PictureOptions picture;
  const char *outputs[N_OUTPUTS]; /* names; NULL: not written */
  const char *compression;
  const char *intensity;            /* the picture with the second plane; NULL: not given */
  bool ignores_nan;                 /* in it */
  ColumnList columns;               /* of the table; none: the usual ones */
  double spacing[3];                /* the sides of a pixel: z, y, x */
  uint32_t n_spacing;               /* how many of them were given; 0: pixels are the unit */
  double quantiles[MOST_QUANTILES]; /* of intensities */
  uint32_t n_quantiles;
  const char *sort_by;   /* the column that orders the rows of the table; NULL: not given */
  uint64_t largest;      /* the most rows; 0: all */
  double tolerance;      /* of contours; negative: not given */
  uint32_t connectivity; /* 0: not given */
  MaskSettings mask;
  bool many_values;       /* pixels are connected where they are equal */
  double value_tolerance; /* by which values of neighbours may differ */
  long double background; /* the value of pixels of no component; holds integers of 64 bits */
  uint32_t axes;          /* flags of CclAxis: opposite borders touch */
  uint32_t split_radius;  /* of objects that are split; 0: none are */
  bool fills_holes;
  bool fills_labels; /* the holes of each component or value */
  bool clears_border;
  uint64_t kept;     /* the most components that stay; 0: all */
  uint64_t max_hole; /* pixels of a hole that is filled; 0: any number */
  uint64_t min_area, max_area, memory, tile;
  uint32_t bits;
  bool use_gpu;
  int gpu; /* −1: the one of the local rank */
  bool quiet, statistics;
} Options;

/* What a command line asks for. */
typedef enum Request { REQUEST_LABEL, REQUEST_HELP, REQUEST_VERSION, REQUEST_INVALID } Request;

/* Parses the arguments. first: the index of the first input. Fills the error if they are invalid.
 */
Request options_parse (int argc, char **argv, Options *options, int *first, CclError *error);

/* Whether the picture is labelled as a whole, and not tile by tile. */
bool options_are_whole (const Options *options);

/* The text of --help. */
extern const char options_help[];
