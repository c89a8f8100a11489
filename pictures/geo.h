/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a picture lies on the Earth: the tags of GeoTIFF, and what they say. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MOST_GEO_TAGS = 6 };

typedef struct GeoTag {
  uint16_t tag, type; /* as in TIFF */
  uint32_t count, n_bytes;
  void *values;
} GeoTag;

typedef struct GeoReference {
  GeoTag tags[MOST_GEO_TAGS]; /* as the file has them, in ascending order */
  uint32_t n_tags;
  bool has_affine;
  double affine[6]; /* The corner in front of column c and row r is at x = a0 + a1 c + a2 r,
                     * y = a3 + a4 c + a5 r */
  uint32_t epsg;    /* the code of the coordinate reference system; 0: it has none */
} GeoReference;

/* Turns columns and rows, of corners of pixels, into coordinates. */
static inline void
geo_transform (const double affine[6], double column, double row, double *x, double *y)
{
  *x = affine[0] + affine[1] * column + affine[2] * row;
  *y = affine[3] + affine[4] * column + affine[5] * row;
}
