/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmeasurer.h"

#include <stddef.h>
#include <string.h>

#include <cudaccl/columns.h>

#include "shared/gstcclerror.h"

/* A column of numbers that the library computes: where they are, and of which type. */
typedef struct {
  const gchar *key, *former; /* NULL: none */
  guint32 column;            /* the flag of CclColumn that it needs */
  gboolean is_feature;       /* a field of CclFeatures of 64 bits, else a double of CclShape */
  gsize offset;              /* of the field, bytes */
} Source;

#define FEATURE(field)                                                                             \
  {#field, NULL, CUDACCL_COLUMN_INTENSITY, TRUE, offsetof (CclFeatures, field)},
#define SHAPE(EACH, column, field, former, pictures, name, place, kind)                            \
  SHAPE_OF_##pictures (                                                                            \
      {#field, KEY_##former, CUDACCL_COLUMN_##column, FALSE, OFFSET_##pictures (field)})
#define SHAPE_OF_ALL(...) __VA_ARGS__,
#define SHAPE_OF_FRAMES(...) __VA_ARGS__,
#define SHAPE_OF_VOLUMES(...)
#define SHAPE_OF_LARGE(...)
#define OFFSET_ALL(field) offsetof (CclShape, field)
#define OFFSET_FRAMES(field) offsetof (CclShape, field)
#define OFFSET_VOLUMES(field) 0
#define OFFSET_LARGE(field) 0
#define KEY_SAME NULL
#define KEY_FORMERLY(name) #name

/* Of the features, only those that are of use by themselves. */
static const Source sources[] = {
    FEATURE (sum_value) FEATURE (sum_squares) CUDACCL_MEASURES (CUDACCL_NO_INTEGER, SHAPE, )};

static const gchar *const color_keys[] = {"mean_y", "mean_u", "mean_v"};

/* Columns with a former name have it, too, for one release. */
#define MAX_COLUMNS (2 * G_N_ELEMENTS (sources) + G_N_ELEMENTS (color_keys))

/* Of a frame. */
typedef struct {
  const GstVideoInfo *info;
  const CclTable *table;
  const CclFeatures *luma; /* as rows, of packed formats; NULL: the table has luma, or nothing */
  gboolean has_chroma;     /* the measurer has its sums */
} Measured;

void
gst_ccl_measurer_release (GstCclMeasurer *self)
{
  g_clear_pointer (&self->luma, g_byte_array_unref);
  g_clear_pointer (&self->features, g_array_unref);
  g_clear_pointer (&self->sums, g_array_unref);
  g_clear_pointer (&self->values, g_array_unref);
}

static gboolean
has_luma (const GstCclSettings *settings)
{
  return (settings->attach_columns &
             (GST_CCL_ATTACH_COLUMNS_LUMA | GST_CCL_ATTACH_COLUMNS_COLOR)) != 0;
}

static gboolean
has_chroma (const GstCclSettings *settings, const GstVideoInfo *info)
{
  return settings->attach_columns & GST_CCL_ATTACH_COLUMNS_COLOR &&
         GST_VIDEO_INFO_N_COMPONENTS (info) > 1;
}

/* Whether luma and chroma share a plane. */
static gboolean
is_packed (const GstVideoInfo *info)
{
  const CclPixelFormat format = gst_ccl_planes_pixel_format (info);

  return format != CUDACCL_PIXEL_FORMAT_8 && format != CUDACCL_PIXEL_FORMAT_16;
}

/* The columns that settings ask for, but for chroma. */
static guint32
get_columns (const GstCclSettings *settings)
{
  guint32 columns = 0;

  if (settings->attach_columns & GST_CCL_ATTACH_COLUMNS_MOMENTS)
    columns |= CUDACCL_COLUMN_SUMS | CUDACCL_COLUMN_MOMENTS;
  if (settings->attach_columns & GST_CCL_ATTACH_COLUMNS_PERIMETER)
    columns |= CUDACCL_COLUMN_PERIMETER;
  if (settings->attach_columns & GST_CCL_ATTACH_COLUMNS_TOPOLOGY)
    columns |= CUDACCL_COLUMN_TOPOLOGY;
  if (has_luma (settings))
    columns |= CUDACCL_COLUMN_INTENSITY;
  return columns;
}

gboolean
gst_ccl_measurer_check (const GstCclSettings *settings, const GstVideoInfo *info, CclError *error)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (info);

  if (!settings->attach_columns || MAX (width, height) <= CUDACCL_MAX_FEATURE_SIDE)
    return TRUE;
  gst_ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
      "Frames of %u×%u pixels are too large for columns", width, height);
  return FALSE;
}

guint32
gst_ccl_measurer_plan (const GstCclSettings *settings, const GstVideoInfo *info)
{
  const guint32 columns = get_columns (settings);

  return is_packed (info) ? columns & ~(guint32)CUDACCL_COLUMN_INTENSITY : columns;
}

gboolean
gst_ccl_measurer_needs_labels (const GstCclSettings *settings, const GstVideoInfo *info)
{
  return has_chroma (settings, info) || (has_luma (settings) && is_packed (info));
}

/* Measures luma that is between chroma: copies it to a plane of its own. */
static gboolean
measure_packed_luma (GstCclMeasurer *self, const GstVideoInfo *info, const CclFrame *pixels,
    const CclLabels *labels, guint n_rows, CclError *error)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (info);
  const gsize first = gst_ccl_planes_pixel_format (info) == CUDACCL_PIXEL_FORMAT_8_SECOND;
  CclIntensity plane = {.stride = width, .format = CUDACCL_PIXEL_FORMAT_8};

  if (!self->luma)
    self->luma = g_byte_array_new ();
  if (!self->features)
    self->features = g_array_new (FALSE, FALSE, sizeof (CclFeatures));
  g_byte_array_set_size (self->luma, width * height);
  g_array_set_size (self->features, n_rows);
  for (guint y = 0; y < height; y++) {
    const guint8 *from = (const guint8 *)pixels->data + y * pixels->stride + first;
    guint8 *to = self->luma->data + (gsize)y * width;

    for (guint x = 0; x < width; x++)
      to[x] = from[2 * (gsize)x];
  }
  plane.data = self->luma->data;
  return n_rows == 0 ||
         ccl_measure_labels (labels, width, height, &plane, CUDACCL_COLUMN_INTENSITY, n_rows, NULL,
             (CclFeatures *)(gpointer)self->features->data, error) == CUDACCL_OK;
}

/* A sample of chroma, of as many bits as the format stores; u and v of 16 bits point to the upper
 * byte. */
static guint
read_sample (const guint8 *sample, gboolean is_wide)
{
  return is_wide ? (guint)sample[0] << 8 | sample[-1] : sample[0];
}

/* The next pixel with a label, from x on; frames are mostly background. */
static guint
skip_background (const guint32 *labels, guint x, guint width)
{
  guint64 pairs[4];

  for (; x + 8 <= width; x += 8) {
    memcpy (pairs, labels + x, sizeof pairs);
    if (pairs[0] | pairs[1] | pairs[2] | pairs[3])
      break;
  }
  while (x < width && labels[x] == 0)
    x++;
  return x;
}

/* Adds the samples that cover a row's pixels to the sums of u and v of their components. */
static void
add_row (guint64 *sums, const guint32 *labels, guint width, guint n_rows, const guint8 *u,
    const guint8 *v, const CclChroma *chroma, gboolean is_wide)
{
  for (guint x = skip_background (labels, 0, width); x < width;
       x = skip_background (labels, x, width)) {
    const guint32 label = labels[x];
    guint64 sum_u = 0, sum_v = 0;

    for (; x < width && labels[x] == label; x++) {
      const gsize offset = (gsize)(x >> chroma->shift_x) * chroma->step;

      sum_u += read_sample (u + offset, is_wide);
      sum_v += read_sample (v + offset, is_wide);
    }
    /* There may be more labels than rows. */
    if (label <= n_rows) {
      sums[2 * (gsize)label - 2] += sum_u;
      sums[2 * (gsize)label - 1] += sum_v;
    }
  }
}

static void
measure_chroma (GstCclMeasurer *self, const GstVideoInfo *info, const CclChroma *chroma,
    const CclLabels *labels, guint n_rows)
{
  const gboolean is_wide = gst_ccl_planes_pixel_format (info) == CUDACCL_PIXEL_FORMAT_16;

  if (!self->sums)
    self->sums = g_array_new (FALSE, TRUE, sizeof (guint64));
  g_array_set_size (self->sums, 0);
  g_array_set_size (self->sums, 2 * n_rows);
  for (guint y = 0; y < (guint)GST_VIDEO_INFO_HEIGHT (info); y++) {
    const gsize row = y >> chroma->shift_y;

    add_row ((guint64 *)(gpointer)self->sums->data,
        (const guint32 *)(gpointer)((const guint8 *)labels->data + y * labels->stride),
        (guint)GST_VIDEO_INFO_WIDTH (info), n_rows,
        (const guint8 *)chroma->u + row * chroma->u_stride,
        (const guint8 *)chroma->v + row * chroma->v_stride, chroma, is_wide);
  }
}

/* Measures what the labeller could not. Maps without GST_MAP_CUDA download memory of a GPU. */
static gboolean
measure_on_cpu (GstCclMeasurer *self, const GstCclSettings *settings, GstBuffer *buffer,
    const GstCclPlanes *layout, const GstCclMap *map, Measured *measured, CclError *error)
{
  const GstVideoInfo *info = measured->info;
  const guint n_rows = measured->table->n_rows;
  GstCclPlanes planes = *layout;
  GstCclMappedPlanes mapped;
  GstMapInfo label_map;
  CclFrame pixels;
  CclLabels labels;
  gboolean succeeded = TRUE;

  planes.map_flags = GST_MAP_READ;
  planes.location = CUDACCL_LOCATION_HOST;
  planes.copy = NULL;
  measured->has_chroma = has_chroma (settings, info);
  if (!gst_ccl_planes_map (&planes, info, buffer, measured->has_chroma, &mapped, &pixels, error))
    return FALSE;
  if (!gst_buffer_map (map->buffer, &label_map, GST_MAP_READ)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE, "The label map cannot be read");
    gst_ccl_planes_unmap (&mapped);
    return FALSE;
  }
  labels = (CclLabels){label_map.data + map->offset, map->stride};
  if (has_luma (settings) && is_packed (info)) {
    succeeded = measure_packed_luma (self, info, &pixels, &labels, n_rows, error);
    measured->luma = (const CclFeatures *)(gpointer)self->features->data;
  }
  if (succeeded && measured->has_chroma)
    measure_chroma (self, info, &pixels.chroma, &labels, n_rows);
  gst_buffer_unmap (map->buffer, &label_map);
  gst_ccl_planes_unmap (&mapped);
  return succeeded;
}

/* Whether a column is written, which is not so for all that `color` measures. */
static gboolean
is_wanted (const Source *source, const GstCclSettings *settings)
{
  return source->column == CUDACCL_COLUMN_INTENSITY
             ? settings->attach_columns & GST_CCL_ATTACH_COLUMNS_LUMA
             : (get_columns (settings) & source->column) != 0;
}

static gdouble
read_source (const Source *source, const CclFeatures *features, const CclShape *shape)
{
  if (source->is_feature)
    return (gdouble) * (const guint64 *)(gconstpointer)((const guint8 *)features + source->offset);
  return *(const gdouble *)(gconstpointer)((const guint8 *)shape + source->offset);
}

/* What is measured of a row; what is not is 0. */
static CclFeatures
get_features (const Measured *measured, guint row)
{
  CclFeatures features = {0};

  if (measured->table->features)
    features = measured->table->features[row];
  if (measured->luma) {
    const CclFeatures *luma = &measured->luma[row];

#define COPY(column, type, field, combine)                                                         \
  if (CUDACCL_COLUMN_##column == CUDACCL_COLUMN_INTENSITY)                                         \
    features.field = luma->field;
    CUDACCL_FEATURES (COPY)
#undef COPY
  }
  return features;
}

/* Fills in the keys of the columns, in the order of write_row(). Returns their number. */
static guint
list_keys (const GstCclSettings *settings, const Measured *measured, const gchar **keys)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++) {
    if (!is_wanted (&sources[i], settings))
      continue;
    keys[n++] = sources[i].key;
    if (sources[i].former)
      keys[n++] = sources[i].former;
  }
  if (settings->attach_columns & GST_CCL_ATTACH_COLUMNS_COLOR)
    for (guint i = 0; i < (measured->has_chroma ? G_N_ELEMENTS (color_keys) : 1); i++)
      keys[n++] = color_keys[i];
  return n;
}

/* Writes the values of a row, which are n_rows numbers apart. */
static void
write_row (const GstCclMeasurer *self, const GstCclSettings *settings, const Measured *measured,
    guint row, gdouble *values)
{
  const guint n_rows = measured->table->n_rows;
  const CclComponent *component = &measured->table->rows[row];
  const CclFeatures features = get_features (measured, row);
  CclShape shape;

  ccl_features_derive (component, &features, get_columns (settings), &shape);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++) {
    if (!is_wanted (&sources[i], settings))
      continue;
    for (guint again = 0; again < (sources[i].former ? 2 : 1); again++, values += n_rows)
      *values = read_source (&sources[i], &features, &shape);
  }
  if (!(settings->attach_columns & GST_CCL_ATTACH_COLUMNS_COLOR))
    return;
  *values = shape.intensity_mean;
  for (guint i = 0; measured->has_chroma && i < 2; i++)
    values[(i + 1) * (gsize)n_rows] =
        (gdouble)g_array_index (self->sums, guint64, 2 * (gsize)row + i) / component->area;
}

GstCclColumns *
gst_ccl_measurer_run (GstCclMeasurer *self, const GstVideoInfo *info,
    const GstCclSettings *settings, GstBuffer *buffer, const GstCclPlanes *layout,
    const CclTable *table, const GstCclMap *labels, CclError *error)
{
  Measured measured = {info, table};
  const gchar *keys[MAX_COLUMNS];
  guint n_columns;

  if (table->n_rows > G_MAXUINT / MAX_COLUMNS) {
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "No memory for the columns of %u components",
        table->n_rows);
    return NULL;
  }
  if (gst_ccl_measurer_needs_labels (settings, info) &&
      !measure_on_cpu (self, settings, buffer, layout, labels, &measured, error))
    return NULL;
  n_columns = list_keys (settings, &measured, keys);
  if (!self->values)
    self->values = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_array_set_size (self->values, n_columns * table->n_rows);
  for (guint row = 0; row < table->n_rows; row++)
    write_row (self, settings, &measured, row, (gdouble *)(gpointer)self->values->data + row);
  return gst_ccl_columns_new (
      keys, n_columns, (const gdouble *)(gconstpointer)self->values->data, table->n_rows);
}
