/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "columns.h"

#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many columns a property has, in pictures with n axes, and how they are numbered. With the
 * last two, a picture with several planes of values has as many of each, which are numbered last.
 */
typedef enum Layout { ONE, PER_AXIS, PER_SIDE, TENSOR, PER_PLANE, PER_AXIS_AND_PLANE } Layout;

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
} Item;

struct Property {
  const char *name;
  Layout layout;
  bool is_real;
  Domain domain;
  uint32_t measured; /* flags of CclColumn */
  void (*fill) (const Item *item, ColumnValue *values);
};

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
fill_label (const Item *item, ColumnValue *values)
{
  values->count = (int64_t)item->row->label;
}

static void
fill_area (const Item *item, ColumnValue *values)
{
  values->real = item->area;
}

static void
fill_num_pixels (const Item *item, ColumnValue *values)
{
  values->count = (int64_t)item->row->area;
}

static void
fill_bbox (const Item *item, ColumnValue *values)
{
  for (uint32_t i = 0; i < item->n_axes; i++) {
    values[i].count = (int64_t)item->low[i];
    values[item->n_axes + i].count = (int64_t)item->high[i];
  }
}

static void
fill_area_bbox (const Item *item, ColumnValue *values)
{
  values->real = item->box_area;
}

static void
fill_extent (const Item *item, ColumnValue *values)
{
  values->real = item->area / item->box_area;
}

static void
fill_equivalent_diameter (const Item *item, ColumnValue *values)
{
  values->real = pow (2.0 * item->n_axes * item->area / M_PI, 1.0 / item->n_axes);
}

static void
fill_centroid (const Item *item, ColumnValue *values)
{
  const CclTiledComponent *row = item->row;
  fill_axes (item, row->centroid_z, row->centroid_y, row->centroid_x, values);
}

static void
fill_touches_border (const Item *item, ColumnValue *values)
{
  const uint64_t *sides = item->picture->sides + item->skipped;
  for (uint32_t i = 0; i < item->n_axes; i++) {
    values[i].count = item->low[i] == 0;
    values[item->n_axes + i].count = item->high[i] == sides[i];
  }
}

static void
fill_first_pixel (const Item *item, ColumnValue *values)
{
  const CclVolumeShape *shape = item->shape;
  const double all[3] = {shape->first_z, shape->first_y, shape->first_x};
  for (uint32_t i = 0; i < item->n_axes; i++)
    values[i].count = (int64_t)all[i + item->skipped];
}

static void
fill_tensor (const Item *item, ColumnValue *values)
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

static void
fill_eigenvalues (const Item *item, ColumnValue *values)
{
  const CclVolumeShape *s = item->shape;
  const double all[3] = {s->eigenvalue_0, s->eigenvalue_1, s->eigenvalue_2};
  for (uint32_t i = 0; i < item->n_axes; i++)
    values[i].real = all[i];
}

static void
fill_euler_number (const Item *item, ColumnValue *values)
{
  values->count = (int64_t)item->shape->euler_number_8;
}

static void
fill_n_holes (const Item *item, ColumnValue *values)
{
  const CclVolumeShape *s = item->shape;
  const uint32_t *n_parts = item->picture->n_parts;
  const int64_t n = n_parts ? n_parts[item->row->label - 1] : 1;

  values->count =
      n - (int64_t)(item->picture->connectivity == 4 ? s->euler_number_4 : s->euler_number_8);
}

static void
fill_crack_length (const Item *item, ColumnValue *values)
{
  values->count = (int64_t)item->shape->crack_length;
}

static void
fill_weighted_centroid (const Item *item, ColumnValue *values)
{
  const uint32_t n_planes = item->picture->n_planes;
  ColumnValue centroid[3];

  for (uint32_t plane = 0; plane < n_planes; plane++) {
    const CclVolumeShape *s = &item->shape[plane];
    fill_axes (
        item, s->weighted_centroid_z, s->weighted_centroid_y, s->weighted_centroid_x, centroid);
    for (uint32_t i = 0; i < item->n_axes; i++)
      values[i * n_planes + plane] = centroid[i];
  }
}

/* Defines a function that copies a field of the shape. */
#define DEFINE_FILL(field)                                                                         \
  static void fill_##field (const Item *item, ColumnValue *values)                                 \
  {                                                                                                \
    values->real = item->shape->field;                                                             \
  }
DEFINE_FILL (major_axis)
DEFINE_FILL (minor_axis)
DEFINE_FILL (eccentricity)
DEFINE_FILL (orientation)
DEFINE_FILL (perimeter)

/* Defines a function that copies a field of the shapes of all planes. */
#define DEFINE_FILL_PLANES(field)                                                                  \
  static void fill_##field (const Item *item, ColumnValue *values)                                 \
  {                                                                                                \
    for (uint32_t plane = 0; plane < item->picture->n_planes; plane++)                             \
      values[plane].real = item->shape[plane].field;                                               \
  }
DEFINE_FILL_PLANES (greatest_value)
DEFINE_FILL_PLANES (mean_value)
DEFINE_FILL_PLANES (least_value)
DEFINE_FILL_PLANES (standard_deviation)

#define SUMS CUDACCL_COLUMN_SUMS
#define MOMENTS CUDACCL_COLUMN_MOMENTS
#define PERIMETER CUDACCL_COLUMN_PERIMETER
#define TOPOLOGY CUDACCL_COLUMN_TOPOLOGY
#define INTENSITY CUDACCL_COLUMN_INTENSITY

static const Property all_properties[] = {
    {"label", ONE, false, ALL_PICTURES, 0, fill_label},
    {"area", ONE, true, ALL_PICTURES, 0, fill_area},
    {"num_pixels", ONE, false, ALL_PICTURES, 0, fill_num_pixels},
    {"bbox", PER_SIDE, false, ALL_PICTURES, 0, fill_bbox},
    {"area_bbox", ONE, true, ALL_PICTURES, 0, fill_area_bbox},
    {"extent", ONE, true, ALL_PICTURES, 0, fill_extent},
    {"equivalent_diameter_area", ONE, true, ALL_PICTURES, 0, fill_equivalent_diameter},
    {"centroid", PER_AXIS, true, ALL_PICTURES, 0, fill_centroid},
    {"touches_border", PER_SIDE, false, ALL_PICTURES, 0, fill_touches_border},
    {"first_pixel", PER_AXIS, false, ALL_PICTURES, SUMS, fill_first_pixel},
    {"inertia_tensor", TENSOR, true, ALL_PICTURES, MOMENTS, fill_tensor},
    {"inertia_tensor_eigvals", PER_AXIS, true, ALL_PICTURES, MOMENTS, fill_eigenvalues},
    {"axis_major_length", ONE, true, ALL_PICTURES, MOMENTS, fill_major_axis},
    {"axis_minor_length", ONE, true, ALL_PICTURES, MOMENTS, fill_minor_axis},
    {"eccentricity", ONE, true, FRAMES_ONLY, MOMENTS, fill_eccentricity},
    {"orientation", ONE, true, FRAMES_ONLY, MOMENTS, fill_orientation},
    {"perimeter", ONE, true, FRAMES_ONLY, PERIMETER, fill_perimeter},
    {"crack_length", ONE, false, FRAMES_ONLY, TOPOLOGY, fill_crack_length},
    {"surface_area", ONE, false, VOLUMES_ONLY, TOPOLOGY, fill_crack_length},
    {"euler_number", ONE, false, ALL_PICTURES, TOPOLOGY, fill_euler_number},
    {"n_holes", ONE, false, FRAMES_ONLY, TOPOLOGY, fill_n_holes},
    {"intensity_max", PER_PLANE, true, ALL_PICTURES, INTENSITY, fill_greatest_value},
    {"intensity_mean", PER_PLANE, true, ALL_PICTURES, INTENSITY, fill_mean_value},
    {"intensity_min", PER_PLANE, true, ALL_PICTURES, INTENSITY, fill_least_value},
    {"intensity_std", PER_PLANE, true, ALL_PICTURES, INTENSITY, fill_standard_deviation},
    {"centroid_weighted", PER_AXIS_AND_PLANE, true, ALL_PICTURES, INTENSITY,
        fill_weighted_centroid},
};

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

bool
columns_check (const ColumnList *list, const ColumnPicture *picture, CclError *error)
{
  for (uint32_t i = 0; i < list->n; i++) {
    const Property *property = list->properties[i];
    if (property->domain == (picture->is_volume ? FRAMES_ONLY : VOLUMES_ONLY))
      return fail (error, "the column '%s' is one of %s", property->name,
          picture->is_volume ? "frames" : "volumes");
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
      [PER_AXIS_AND_PLANE] = n_axes * n_planes};
  return numbers[property->layout];
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

  if (is_one)
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
      columns[n].is_real = property->is_real;
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
      .area = (double)row->area,
      .box_area = 1};

  for (uint32_t i = 0; i < item.n_axes; i++) {
    item.low[i] = low[i + item.skipped];
    item.high[i] = item.low[i] + sizes[i + item.skipped];
    item.box_area *= (double)sizes[i + item.skipped];
  }
  for (uint32_t i = 0; i < list->n; i++) {
    list->properties[i]->fill (&item, values);
    values += n_columns (list->properties[i], picture);
  }
}
