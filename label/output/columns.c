/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "columns.h"

#include "error.h"
#include "geo.h"

#include <cudaccl/volume.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many columns a property has, in pictures with n axes, and how they are numbered. With the
 * last two, a picture with several planes of values has as many of each, which are numbered last.
 */
typedef enum Layout {
  ONE,
  PER_AXIS,
  PER_SIDE,
  TENSOR,
  PER_PLANE,
  PER_AXIS_AND_PLANE,
  PER_QUANTILE_AND_PLANE
} Layout;

typedef enum Domain { ALL_PICTURES, FRAMES_ONLY, VOLUMES_ONLY } Domain;

/* A component, with numbers in the order of axes: z (volumes only), y, x. */
typedef struct Item {
  const ColumnPicture *picture;
  const CclTiledComponent *row;
  const CclVolumeShape *shape; /* [n_planes], measured with each plane of values; NULL if no
                                * property has to be measured */
  uint32_t n_axes, skipped;    /* 2 and 1 in frames, 3 and 0 in volumes */
  double area, box_area;
  uint64_t low[3], high[3]; /* of the bounding box, half-open */
  double spacing[3];
} Item;

#define WORLD "centroid_world"

struct Property {
  const char *name;
  Layout layout;
  bool is_real;
  Domain domain;
  uint32_t measured; /* flags of CclColumn */
  void (*fill) (const Item *item, const Property *property, ColumnValue *values);
};

/* A number that the library computes: a column of the property of its name. */
typedef struct Measure {
  const char *name;
  enum { NONE, ONE_COLUMN, FIRST, SECOND, THIRD, X, Y, Z } place;
  size_t offset; /* in CclVolumeShape */
} Measure;

static const Measure measures[] = {
#define MEASURE(EACH, column, field, former, pictures, name, place, kind)                          \
  {name, PLACE_##place, offsetof (CclVolumeShape, field)},
#define PLACE_NONE NONE
#define PLACE_ONE ONE_COLUMN
#define PLACE_ONE_OF_FRAMES ONE_COLUMN
#define PLACE_FIRST FIRST
#define PLACE_SECOND SECOND
#define PLACE_THIRD THIRD
#define PLACE_X X
#define PLACE_Y Y
#define PLACE_Z Z
    CUDACCL_MEASURES (CUDACCL_NO_INTEGER, MEASURE, )};

static uint32_t
n_axes_of (const ColumnPicture *picture)
{
  return picture->is_volume ? 3 : 2;
}

/* Copies the numbers of the picture's axes from those of z, y, x. */
static void
fill_axes (const Item *item, double z, double y, double x, ColumnValue *values)
{
  const double all[3] = {z, y, x};
  for (uint32_t i = 0; i < item->n_axes; i++)
    values[i].real = all[i + item->skipped];
}

static void
fill_label (const Item *item, const Property *property, ColumnValue *values)
{
  values->count = (int64_t)item->row->label;
}

static void
fill_area (const Item *item, const Property *property, ColumnValue *values)
{
  values->real = item->area;
}

static void
fill_num_pixels (const Item *item, const Property *property, ColumnValue *values)
{
  values->count = (int64_t)item->row->area;
}

static void
fill_bbox (const Item *item, const Property *property, ColumnValue *values)
{
  for (uint32_t i = 0; i < item->n_axes; i++) {
    values[i].count = (int64_t)item->low[i];
    values[item->n_axes + i].count = (int64_t)item->high[i];
  }
}

static void
fill_area_bbox (const Item *item, const Property *property, ColumnValue *values)
{
  values->real = item->box_area;
}

static void
fill_extent (const Item *item, const Property *property, ColumnValue *values)
{
  values->real = item->area / item->box_area;
}

static void
fill_equivalent_diameter (const Item *item, const Property *property, ColumnValue *values)
{
  const double side =
      pow (item->spacing[0] * item->spacing[1] * item->spacing[2], 1.0 / item->n_axes);
  const double area = (double)item->row->area;
  values->real = pow (2.0 * item->n_axes * area / M_PI, 1.0 / item->n_axes) * side;
}

static void
fill_centroid (const Item *item, const Property *property, ColumnValue *values)
{
  const CclTiledComponent *row = item->row;
  const double *s = item->spacing;
  fill_axes (item, row->centroid_z * s[0], row->centroid_y * s[1], row->centroid_x * s[2], values);
}

static void
fill_touches_border (const Item *item, const Property *property, ColumnValue *values)
{
  const uint64_t *sides = item->picture->sides + item->skipped;
  for (uint32_t i = 0; i < item->n_axes; i++) {
    values[i].count = item->low[i] == 0;
    values[item->n_axes + i].count = item->high[i] == sides[i];
  }
}

static void
fill_tensor (const Item *item, const Property *property, ColumnValue *values)
{
  const CclVolumeShape *s = item->shape;
  const double z = item->picture->is_volume ? s->variance_z : 0;
  const double yz = -s->covariance_yz, xz = -s->covariance_xz, xy = -s->covariance_xy;
  const double tensor[3][3] = {{s->variance_y + s->variance_x, yz, xz}, {yz, z + s->variance_x, xy},
      {xz, xy, z + s->variance_y}};
  for (uint32_t i = 0; i < item->n_axes; i++)
    for (uint32_t j = 0; j < item->n_axes; j++)
      values[i * item->n_axes + j].real = tensor[i + item->skipped][j + item->skipped];
}

/* In coordinates of the Earth: x, then y. */
static void
fill_centroid_world (const Item *item, const Property *property, ColumnValue *values)
{
  geo_transform (item->picture->affine, item->row->centroid_x + 0.5, item->row->centroid_y + 0.5,
      &values[0].real, &values[1].real);
}

static void
fill_n_holes (const Item *item, const Property *property, ColumnValue *values)
{
  const CclVolumeShape *s = item->shape;
  const uint32_t *n_parts = item->picture->n_parts;
  const int64_t n = n_parts ? n_parts[item->row->label - 1] : 1;

  values->count =
      n - (int64_t)(item->picture->connectivity == 4 ? s->euler_number_4 : s->euler_number_8);
}

#define VALUE_OF(sample, type, column)                                                             \
  case sample: {                                                                                   \
    type value;                                                                                    \
    memcpy (&value, from, sizeof value);                                                           \
    values->column = value;                                                                        \
    break;                                                                                         \
  }

static void
fill_value (const Item *item, const Property *property, ColumnValue *values)
{
  const ColumnPicture *picture = item->picture;
  const uint64_t *from = &picture->values[item->row->label - 1];

  switch (picture->value_type) {
    VALUE_OF (SAMPLE_UINT8, uint8_t, count)
    VALUE_OF (SAMPLE_INT8, int8_t, count)
    VALUE_OF (SAMPLE_UINT16, uint16_t, count)
    VALUE_OF (SAMPLE_INT16, int16_t, count)
    VALUE_OF (SAMPLE_UINT32, uint32_t, count)
    VALUE_OF (SAMPLE_INT32, int32_t, count)
    VALUE_OF (SAMPLE_FLOAT32, float, real)
    VALUE_OF (SAMPLE_FLOAT64, double, real)
  default: /* up to 2^63 − 1, which is checked */
    values->count = (int64_t)*from;
  }
}

/* Lengths and areas of borders are counts of sides of pixels, and with spacing no integers. */
static bool
is_of_sides (const Property *property)
{
  return strcmp (property->name, "crack_length") == 0 ||
         strcmp (property->name, "surface_area") == 0;
}

static bool
is_real (const Property *property, const ColumnPicture *picture)
{
  if (property->fill == fill_value)
    return picture->value_type == SAMPLE_FLOAT32 || picture->value_type == SAMPLE_FLOAT64;
  return property->is_real || (picture->spacing && is_of_sides (property));
}

static void
fill_number (const Item *item, const Property *property, double number, ColumnValue *value)
{
  if (is_real (property, item->picture))
    value->real = number;
  else
    value->count = (int64_t)number;
}

/* The number of the column at a place. */
static uint32_t
column_of (const Measure *measure, uint32_t n_axes)
{
  if (measure->place >= X)
    return n_axes - 1 - (uint32_t)(measure->place - X);
  return measure->place >= FIRST ? (uint32_t)(measure->place - FIRST) : 0;
}

/* Fills the columns of the measures that have the property's name, with all planes of values. */
static void
fill_measures (const Item *item, const Property *property, ColumnValue *values)
{
  const uint32_t n_planes =
      property->measured & CUDACCL_COLUMN_INTENSITY ? item->picture->n_planes : 1;

  for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
    const uint32_t column = column_of (&measures[i], item->n_axes);
    if (column >= item->n_axes || strcmp (measures[i].name, property->name) != 0)
      continue;
    for (uint32_t plane = 0; plane < n_planes; plane++) {
      const double real = *(const double *)((const char *)&item->shape[plane] + measures[i].offset);
      fill_number (item, property, real, &values[column * n_planes + plane]);
    }
  }
}

/* In volumes, the crack length has another name. */
static void
fill_surface_area (const Item *item, const Property *property, ColumnValue *values)
{
  fill_number (item, property, item->shape->crack_length, values);
}

/* The median and the quantiles of a component's values in a plane. */
static const double *
ranks_of (const Item *item, uint32_t plane)
{
  const ColumnPicture *picture = item->picture;
  return &picture->ranks[((item->row->label - 1) * picture->n_planes + plane) *
                         (1 + picture->n_quantiles)];
}

static void
fill_median (const Item *item, const Property *property, ColumnValue *values)
{
  for (uint32_t plane = 0; plane < item->picture->n_planes; plane++)
    values[plane].real = ranks_of (item, plane)[0];
}

static void
fill_quantiles (const Item *item, const Property *property, ColumnValue *values)
{
  const uint32_t n_planes = item->picture->n_planes;

  for (uint32_t plane = 0; plane < n_planes; plane++)
    for (uint32_t i = 0; i < item->picture->n_quantiles; i++)
      values[i * n_planes + plane].real = ranks_of (item, plane)[1 + i];
}

/* The property of the first measure of each name. */
#define MEASURED(EACH, column, field, former, pictures, name, place, kind)                         \
  MEASURED_##place (column, MEASURED_OF_##pictures, name, KIND_##kind)
#define MEASURED_NONE(column, domain, name, is_real)
#define MEASURED_ONE(column, domain, name, is_real)                                                \
  {name, CUDACCL_COLUMN_##column == CUDACCL_COLUMN_INTENSITY ? PER_PLANE : ONE, is_real, domain,   \
      CUDACCL_COLUMN_##column, fill_measures},
#define MEASURED_ONE_OF_FRAMES(column, domain, name, is_real)                                      \
  MEASURED_ONE (column, FRAMES_ONLY, name, is_real)
#define MEASURED_FIRST(column, domain, name, is_real)                                              \
  {name, CUDACCL_COLUMN_##column == CUDACCL_COLUMN_INTENSITY ? PER_AXIS_AND_PLANE : PER_AXIS,      \
      is_real, domain, CUDACCL_COLUMN_##column, fill_measures},
#define MEASURED_SECOND MEASURED_NONE
#define MEASURED_THIRD MEASURED_NONE
#define MEASURED_X MEASURED_FIRST
#define MEASURED_Y MEASURED_NONE
#define MEASURED_Z MEASURED_NONE
#define MEASURED_OF_ALL ALL_PICTURES
#define MEASURED_OF_LARGE ALL_PICTURES
#define MEASURED_OF_FRAMES FRAMES_ONLY
#define MEASURED_OF_VOLUMES VOLUMES_ONLY
#define KIND_DOUBLE true
#define KIND_COUNT false

static const Property all_properties[] = {{"label", ONE, false, ALL_PICTURES, 0, fill_label},
    {"value", ONE, false, ALL_PICTURES, 0, fill_value},
    {"area", ONE, true, ALL_PICTURES, 0, fill_area},
    {"num_pixels", ONE, false, ALL_PICTURES, 0, fill_num_pixels},
    {"bbox", PER_SIDE, false, ALL_PICTURES, 0, fill_bbox},
    {"area_bbox", ONE, true, ALL_PICTURES, 0, fill_area_bbox},
    {"extent", ONE, true, ALL_PICTURES, 0, fill_extent},
    {"equivalent_diameter_area", ONE, true, ALL_PICTURES, 0, fill_equivalent_diameter},
    {"centroid", PER_AXIS, true, ALL_PICTURES, 0, fill_centroid},
    {WORLD, PER_AXIS, true, FRAMES_ONLY, 0, fill_centroid_world},
    {"touches_border", PER_SIDE, false, ALL_PICTURES, 0, fill_touches_border},
    {"inertia_tensor", TENSOR, true, ALL_PICTURES, CUDACCL_COLUMN_MOMENTS, fill_tensor},
    {"surface_area", ONE, false, VOLUMES_ONLY, CUDACCL_COLUMN_TOPOLOGY, fill_surface_area},
    {"n_holes", ONE, false, FRAMES_ONLY, CUDACCL_COLUMN_TOPOLOGY, fill_n_holes},
    {"intensity_median", PER_PLANE, true, ALL_PICTURES, CUDACCL_COLUMN_INTENSITY, fill_median},
    {"intensity_quantile", PER_QUANTILE_AND_PLANE, true, ALL_PICTURES, CUDACCL_COLUMN_INTENSITY,
        fill_quantiles},
    CUDACCL_MEASURES (CUDACCL_NO_INTEGER, MEASURED, )};

enum { N_PROPERTIES = sizeof all_properties / sizeof *all_properties };

_Static_assert(sizeof all_properties / sizeof *all_properties <= MOST_PROPERTIES, "each once");

static bool
is_listed (const ColumnList *list, const Property *property)
{
  for (uint32_t i = 0; i < list->n; i++)
    if (list->properties[i] == property)
      return true;
  return false;
}

/* Appends the property whose name has that length. */
static bool
add_property (ColumnList *list, const char *name, size_t length, CclError *error)
{
  for (uint32_t i = 0; i < N_PROPERTIES; i++) {
    const Property *property = &all_properties[i];
    if (strlen (property->name) != length || strncmp (property->name, name, length) != 0)
      continue;
    if (is_listed (list, property))
      return fail (error, "--columns has '%s' twice", property->name);
    list->properties[list->n++] = property;
    list->measured |= property->measured;
    return true;
  }
  return fail (error, "--columns cannot have '%.*s'", (int)length, name);
}

bool
columns_parse (const char *text, ColumnList *list, CclError *error)
{
  *list = (ColumnList){0};
  for (;;) {
    const size_t length = strcspn (text, ",");
    if (!add_property (list, text, length, error))
      return false;
    if (!text[length])
      return true;
    text += length + 1;
  }
}

const char *
columns_beyond_boxes (const ColumnList *list)
{
  for (uint32_t i = 0; i < list->n; i++)
    if (list->properties[i]->measured || list->properties[i]->fill == fill_touches_border)
      return list->properties[i]->name;
  return NULL;
}

/* Whether a property is listed that a function fills. */
static bool
has_property (const ColumnList *list,
    void (*fill) (const Item *item, const Property *property, ColumnValue *values))
{
  for (uint32_t i = 0; i < list->n; i++)
    if (list->properties[i]->fill == fill)
      return true;
  return false;
}

bool
columns_have_values (const ColumnList *list)
{
  return has_property (list, fill_value);
}

bool
columns_have_quantiles (const ColumnList *list)
{
  return has_property (list, fill_quantiles);
}

bool
columns_have_ranks (const ColumnList *list)
{
  return has_property (list, fill_median) || columns_have_quantiles (list);
}

bool
columns_check (const ColumnList *list, const ColumnPicture *picture, CclError *error)
{
  if (columns_have_values (list) && !picture->has_values)
    return fail (error, "the column 'value' is one of --values, without --distances");
  for (uint32_t i = 0; i < list->n; i++) {
    const Property *property = list->properties[i];
    if (property->domain == (picture->is_volume ? FRAMES_ONLY : VOLUMES_ONLY))
      return fail (error, "the column '%s' is one of %s", property->name,
          picture->is_volume ? "frames" : "volumes");
    const double *s = picture->spacing;
    const bool is_uneven = s && (s[1] != s[2] || (picture->is_volume && s[0] != s[1]));
    if (is_uneven && (is_of_sides (property) || strcmp (property->name, "perimeter") == 0))
      return fail (error, "the column '%s' needs pixels with equal sides", property->name);
    if (!picture->affine && strcmp (property->name, WORLD) == 0)
      return fail (error, "the column '%s' needs a GeoTIFF with a transform", property->name);
  }
  return true;
}

static uint32_t
n_columns (const Property *property, const ColumnPicture *picture)
{
  const uint32_t n_axes = n_axes_of (picture), n_planes = picture->n_planes;
  const uint32_t numbers[] = {[ONE] = 1,
      [PER_AXIS] = n_axes,
      [PER_SIDE] = 2 * n_axes,
      [TENSOR] = n_axes * n_axes,
      [PER_PLANE] = n_planes,
      [PER_AXIS_AND_PLANE] = n_axes * n_planes,
      [PER_QUANTILE_AND_PLANE] = picture->n_quantiles * n_planes};
  return numbers[property->layout];
}

/* The column's name ends with the quantile, in as few digits as give it back, and with the number
 * of the plane if there are several. */
static void
name_quantile (const Property *property, const ColumnPicture *picture, uint32_t k, Column *column)
{
  const double share = picture->quantiles[k / picture->n_planes];
  char digits[32];

  for (int n = 1; n <= 17; n++) {
    snprintf (digits, sizeof digits, "%.*g", n, share);
    if (strtod (digits, NULL) == share)
      break;
  }
  if (picture->n_planes == 1)
    snprintf (column->name, sizeof column->name, "%s-%s", property->name, digits);
  else
    snprintf (column->name, sizeof column->name, "%s-%s-%u", property->name, digits,
        k % picture->n_planes % 10);
}

/* Writes the name of a property's column number k. */
static void
name_column (const Property *property, const ColumnPicture *picture, uint32_t k, Column *column)
{
  const uint32_t inner = property->layout == TENSOR               ? n_axes_of (picture)
                         : property->layout == PER_AXIS_AND_PLANE ? picture->n_planes
                                                                  : 1;
  const bool is_one =
      property->layout == ONE || (property->layout == PER_PLANE && picture->n_planes == 1);

  if (property->layout == PER_QUANTILE_AND_PLANE)
    name_quantile (property, picture, k, column);
  else if (is_one)
    snprintf (column->name, sizeof column->name, "%s", property->name);
  else if (inner > 1)
    snprintf (column->name, sizeof column->name, "%s-%u-%u", property->name, k / inner, k % inner);
  else
    snprintf (column->name, sizeof column->name, "%s-%u", property->name, k);
}

uint32_t
columns_expand (const ColumnList *list, const ColumnPicture *picture, Column columns[MOST_COLUMNS])
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < list->n; i++) {
    const Property *property = list->properties[i];
    for (uint32_t k = 0; k < n_columns (property, picture); k++, n++) {
      columns[n].is_real = is_real (property, picture);
      name_column (property, picture, k, &columns[n]);
    }
  }
  return n;
}

void
columns_fill (const ColumnList *list, const ColumnPicture *picture, const CclTiledComponent *row,
    const CclVolumeShape *shapes, ColumnValue values[MOST_COLUMNS])
{
  const uint64_t low[3] = {row->z, row->y, row->x},
                 sizes[3] = {row->depth, row->height, row->width};
  Item item = {.picture = picture,
      .row = row,
      .shape = shapes,
      .n_axes = n_axes_of (picture),
      .skipped = picture->is_volume ? 0 : 1,
      .box_area = 1};
  CclVolumeShape scaled[MOST_PLANES];

  for (uint32_t i = 0; i < 3; i++)
    item.spacing[i] = picture->spacing && i >= item.skipped ? picture->spacing[i] : 1;
  const double pixel = item.spacing[0] * item.spacing[1] * item.spacing[2];
  item.area = (double)row->area * pixel;
  for (uint32_t i = 0; i < picture->n_planes && picture->spacing && shapes; i++) {
    scaled[i] = shapes[i];
    ccl_volume_shape_scale (
        &scaled[i], item.spacing[2], item.spacing[1], picture->is_volume ? item.spacing[0] : 0);
    item.shape = scaled;
  }
  for (uint32_t i = 0; i < item.n_axes; i++) {
    item.low[i] = low[i + item.skipped];
    item.high[i] = item.low[i] + sizes[i + item.skipped];
    item.box_area *= (double)sizes[i + item.skipped];
  }
  item.box_area *= pixel;
  for (uint32_t i = 0; i < list->n; i++) {
    list->properties[i]->fill (&item, list->properties[i], values);
    values += n_columns (list->properties[i], picture);
  }
}
