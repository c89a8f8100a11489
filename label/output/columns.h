/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of a table that --columns chooses: properties by scikit-image's names, each of one or
 * several columns, as in Python's regionprops_table(). */
#pragma once

#include "picture.h"

#include <cudaccl/tiled.h>

enum { MOST_PROPERTIES = 40, MOST_COLUMNS = 112, MOST_PLANES = 3, MOST_QUANTILES = 8 };

typedef struct Property Property;

/* The properties in the order of the command line. */
typedef struct ColumnList {
  uint32_t n;
  const Property *properties[MOST_PROPERTIES];
  uint32_t measured; /* flags of CclColumn that they need */
} ColumnList;

/* A column of a table. */
typedef struct Column {
  char name[48];
  bool is_real; /* its values are doubles, otherwise integers */
} Column;

typedef union ColumnValue {
  double real;
  int64_t count;
} ColumnValue;

/* What values depend on beside the component. */
typedef struct ColumnPicture {
  uint64_t sides[3]; /* z, y, x */
  bool is_volume;
  uint32_t connectivity;
  uint32_t n_planes;     /* of values, 1 or 3: of the colours of --intensity */
  const double *affine;  /* of GeoReference; NULL: the picture has none */
  uint32_t *n_parts;     /* of the labels 1, 2, …; NULL: all have one */
  const double *spacing; /* z, y, x: the sides of a pixel; NULL: it is the unit */
  bool has_values;       /* components have a value each, as the next two say */
  SampleType value_type;
  uint32_t n_quantiles; /* of intensities, at most MOST_QUANTILES */
  const double *quantiles;
  double *ranks;    /* of the labels 1, 2, …: [n_planes], of each the median and the quantiles */
  uint64_t *values; /* of the labels 1, 2, …: a sample in the first bytes of each */
} ColumnPicture;

/* Parses names that are separated by commas. */
bool columns_parse (const char *text, ColumnList *list, CclError *error);

/* Whether all properties are offered for such a picture; fills the error. */
bool columns_check (const ColumnList *list, const ColumnPicture *picture, CclError *error);

/* The first property that does not follow from the area, the box and the centroid of a component;
 * NULL: all do. */
const char *columns_beyond_boxes (const ColumnList *list);

/* Whether the value of each component is a column. */
bool columns_have_values (const ColumnList *list);

/* Whether medians are a column, or quantiles. */
bool columns_have_ranks (const ColumnList *list);
bool columns_have_quantiles (const ColumnList *list);

/* Lists the columns. Returns their number. */
uint32_t columns_expand (
    const ColumnList *list, const ColumnPicture *picture, Column columns[MOST_COLUMNS]);

/* Computes the values of a component. shapes: [n_planes] of the component, measured with each plane
 * of values; NULL if no property has to be measured. */
void columns_fill (const ColumnList *list, const ColumnPicture *picture,
    const CclTiledComponent *row, const CclVolumeShape *shapes, ColumnValue values[MOST_COLUMNS]);
