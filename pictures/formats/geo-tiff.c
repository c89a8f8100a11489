/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GeoTIFF (OGC 19-008), as far as a picture's place is concerned. */
#include "geo-tiff.h"

#include "pictures/error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  TAG_SCALE = 33550,
  TAG_TIE_POINTS = 33922,
  TAG_MATRIX = 34264,
  TAG_KEYS = 34735,
  TAG_DOUBLES = 34736,
  TAG_TEXTS = 34737,
  TAG_NO_DATA = 42113,
};

enum {
  KEY_RASTER_TYPE = 1025,
  KEY_GEOGRAPHIC = 2048,
  KEY_PROJECTED = 3072,
  IS_POINT = 2,
  USER_DEFINED = 32767,
};

/* Finds the values of a tag, one that libtiff itself does not know. */
static const void *
find_values (TIFF *tiff, uint16_t tag, TIFFDataType type, uint32_t *count)
{
  const TIFFField *field = TIFFFindField (tiff, tag, TIFF_ANY);
  const void *values = NULL;
  uint16_t short_count = 0;

  *count = 0;
  if (!field || !TIFFFieldPassCount (field) || TIFFFieldDataType (field) != type)
    return NULL;
  if (TIFFFieldReadCount (field) == TIFF_VARIABLE2)
    return TIFFGetField (tiff, tag, count, &values) ? values : NULL;
  if (!TIFFGetField (tiff, tag, &short_count, &values))
    return NULL;
  *count = short_count;
  return values;
}

static bool
add_tag (TIFF *tiff, GeoReference *geo, uint16_t tag, TIFFDataType type, CclError *error)
{
  uint32_t count;
  const void *values = find_values (tiff, tag, type, &count);
  const uint32_t n_bytes = count * (uint32_t)TIFFDataWidth (type);

  if (!values || count == 0)
    return true;
  GeoTag *added = &geo->tags[geo->n_tags];
  *added = (GeoTag){tag, (uint16_t)type, count, n_bytes, malloc (n_bytes)};
  if (!added->values)
    return fail_without_memory (error);
  memcpy (added->values, values, n_bytes);
  geo->n_tags++;
  return true;
}

static const GeoTag *
find_tag (const GeoReference *geo, uint16_t tag)
{
  for (uint32_t i = 0; i < geo->n_tags; i++)
    if (geo->tags[i].tag == tag)
      return &geo->tags[i];
  return NULL;
}

/* The values of a tag, if there are at least so many. */
static const void *
values_of (const GeoReference *geo, uint16_t tag, uint32_t least)
{
  const GeoTag *found = find_tag (geo, tag);
  return found && found->count >= least ? found->values : NULL;
}

/* The number of a key; 0 without it. */
static uint16_t
key_of (const GeoReference *geo, uint16_t key)
{
  const GeoTag *tag = find_tag (geo, TAG_KEYS);
  const uint16_t *keys = tag ? tag->values : NULL;

  for (uint32_t entry = 4; tag && entry + 4 <= tag->count; entry += 4)
    if (keys[entry] == key && keys[entry + 1] == 0)
      return keys[entry + 3];
  return 0;
}

/* Makes the transform of one of the two forms in which files have it. */
static void
find_affine (GeoReference *geo)
{
  const double *matrix = values_of (geo, TAG_MATRIX, 16);
  const double *scale = values_of (geo, TAG_SCALE, 2), *tie = values_of (geo, TAG_TIE_POINTS, 6);
  double *a = geo->affine;

  if (matrix) {
    const double of_matrix[6] = {matrix[3], matrix[0], matrix[1], matrix[7], matrix[4], matrix[5]};
    memcpy (a, of_matrix, sizeof of_matrix);
  } else if (scale && tie) {
    a[1] = scale[0];
    a[5] = -scale[1];
    a[0] = tie[3] - tie[0] * a[1];
    a[3] = tie[4] - tie[1] * a[5];
  }
  geo->has_affine = a[1] * a[5] - a[2] * a[4] != 0;
  for (int i = 0; i < 6; i++)
    geo->has_affine &= isfinite (a[i]);
  if (key_of (geo, KEY_RASTER_TYPE) == IS_POINT) { /* of the middle of pixels */
    a[0] -= (a[1] + a[2]) / 2;
    a[3] -= (a[4] + a[5]) / 2;
  }
}

static void
find_system (GeoReference *geo)
{
  const uint16_t projected = key_of (geo, KEY_PROJECTED), geographic = key_of (geo, KEY_GEOGRAPHIC);

  geo->epsg = projected ? projected : geographic;
  if (geo->epsg == USER_DEFINED)
    geo->epsg = 0;
}

bool
geo_read (TIFF *tiff, GeoReference *geo, CclError *error)
{
  static const struct {
    uint16_t tag;
    TIFFDataType type;
  } tags[MOST_GEO_TAGS] = {{TAG_SCALE, TIFF_DOUBLE}, {TAG_TIE_POINTS, TIFF_DOUBLE},
      {TAG_MATRIX, TIFF_DOUBLE}, {TAG_KEYS, TIFF_SHORT}, {TAG_DOUBLES, TIFF_DOUBLE},
      {TAG_TEXTS, TIFF_ASCII}};

  *geo = (GeoReference){0};
  for (size_t i = 0; i < MOST_GEO_TAGS; i++)
    if (!add_tag (tiff, geo, tags[i].tag, tags[i].type, error))
      return false;
  find_affine (geo);
  find_system (geo);
  return true;
}

void
geo_clear (GeoReference *geo)
{
  for (uint32_t i = 0; i < geo->n_tags; i++)
    free (geo->tags[i].values);
  *geo = (GeoReference){0};
}

bool
geo_read_no_data (TIFF *tiff, double *value)
{
  uint32_t count;
  const char *text = find_values (tiff, TAG_NO_DATA, TIFF_ASCII, &count);
  char copy[64] = "", *end = copy;

  if (!text || count == 0)
    return false;
  memcpy (copy, text, count < sizeof copy ? count : sizeof copy - 1);
  *value = strtod (copy, &end);
  while (isspace ((unsigned char)*end))
    end++;
  return end != copy && *end == '\0';
}
