/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A GstCclMeta as bytes, on its way from one process to another. */
#include "gstcclmeta-private.h"

#if GST_CHECK_VERSION(1, 24, 0)

#include <math.h>
#include <string.h>

/* All little endian, one after the other:
 *
 * - the header: frame width, frame height, N, number of rows, number of tracks, number of
 *   identities, bytes of the labeller's name (0: not known), as 32-bit numbers
 * - the rows, each the fields of GstCclComponent in their order
 * - none or as many tracks as rows, each the fields of GstCclTrackInfo in their order
 * - the identities as 64-bit numbers
 * - the labeller's name in UTF-8, without a terminating zero
 * - in the version with contours: their number, the number of their points, and their kind, as
 *   32-bit numbers; the contours, each the fields of GstCclContour in their order; x and y of each
 *   point as 32-bit numbers of floating point
 * - in the version with columns: their number and the bytes of their keys, as 32-bit numbers; the
 *   keys in UTF-8, each with a terminating zero; the values of the first column, then of the
 * others, as 64-bit numbers of floating point; then nothing or contours as above
 * - in the version with regions: their number, the bytes of their names, and whether there are
 *   columns, as 32-bit numbers; for each region whether it is a line and the tracks inside, as
 *   32-bit numbers, and the crossings forward and backward, as 64-bit numbers; the names in UTF-8,
 *   each with a terminating zero; the places, a byte each; then columns, if there are any; then
 *   nothing or contours
 * - in the version with classes: the bytes of their names, and a sum of 1 if there are regions and
 *   2 if there are columns, as 32-bit numbers; the confidences as 64-bit numbers of floating point;
 *   the names in UTF-8, each with a terminating zero, empty for none; then regions as above, if
 *   there are any; columns, if there are any; nothing or contours */
#define SERIAL_VERSION 4
#define SERIAL_VERSION_WITH_CONTOURS 5
#define SERIAL_VERSION_WITH_COLUMNS 6
#define SERIAL_VERSION_WITH_REGIONS 7
#define SERIAL_VERSION_WITH_CLASSES 8
#define HEADER_SIZE 28
#define CONTOURS_HEADER_SIZE 12
#define COLUMNS_HEADER_SIZE 8
#define REGIONS_HEADER_SIZE 12
#define REGION_SIZE 24
#define CLASSES_HEADER_SIZE 8
#define HAVE_REGIONS 1
#define HAVE_COLUMNS 2
#define ROW_SIZE 40
#define TRACK_SIZE 72

static void
write_double (guint8 *out, gdouble value)
{
  value = GDOUBLE_TO_LE (value);
  memcpy (out, &value, sizeof value);
}

static gdouble
read_double (const guint8 *data)
{
  gdouble value;

  memcpy (&value, data, sizeof value);
  return GDOUBLE_FROM_LE (value);
}

static void
write_float (guint8 *out, gfloat value)
{
  value = GFLOAT_TO_LE (value);
  memcpy (out, &value, sizeof value);
}

static gfloat
read_float (const guint8 *data)
{
  gfloat value;

  memcpy (&value, data, sizeof value);
  return GFLOAT_FROM_LE (value);
}

/* GStreamer's macros store and load all bytes of a number at once, which C allows at multiples of
 * their count only. */
static void
write_uint32 (guint8 *out, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (out, &value, sizeof value);
}

static guint32
read_uint32 (const guint8 *data)
{
  guint32 value;

  memcpy (&value, data, sizeof value);
  return GUINT32_FROM_LE (value);
}

static void
write_uint64 (guint8 *out, guint64 value)
{
  value = GUINT64_TO_LE (value);
  memcpy (out, &value, sizeof value);
}

static guint64
read_uint64 (const guint8 *data)
{
  guint64 value;

  memcpy (&value, data, sizeof value);
  return GUINT64_FROM_LE (value);
}

static void
write_row (guint8 *out, const GstCclComponent *c)
{
  write_uint32 (out, c->label);
  write_uint32 (out + 4, c->area);
  write_uint32 (out + 8, c->x);
  write_uint32 (out + 12, c->y);
  write_uint32 (out + 16, c->width);
  write_uint32 (out + 20, c->height);
  write_double (out + 24, c->centroid_x);
  write_double (out + 32, c->centroid_y);
}

static void
write_track (guint8 *out, const GstCclTrackInfo *track)
{
  write_uint64 (out, track->id);
  write_uint64 (out + 8, track->parent_id);
  write_float (out + 16, track->velocity_x);
  write_float (out + 20, track->velocity_y);
  write_uint32 (out + 24, track->age);
  write_uint32 (out + 28, (guint32)track->state);
  write_uint32 (out + 32, track->first_id);
  write_uint32 (out + 36, track->n_ids);
  write_double (out + 40, track->position_x);
  write_double (out + 48, track->position_y);
  write_float (out + 56, track->position_deviation);
  write_float (out + 60, track->speed_deviation);
  write_float (out + 64, track->ground_velocity_x);
  write_float (out + 68, track->ground_velocity_y);
}

static GstCclComponent
read_row (const guint8 *data)
{
  return (GstCclComponent){
      .label = read_uint32 (data),
      .area = read_uint32 (data + 4),
      .x = read_uint32 (data + 8),
      .y = read_uint32 (data + 12),
      .width = read_uint32 (data + 16),
      .height = read_uint32 (data + 20),
      .centroid_x = read_double (data + 24),
      .centroid_y = read_double (data + 32),
  };
}

static GstCclTrackInfo
read_track (const guint8 *data)
{
  return (GstCclTrackInfo){
      .id = read_uint64 (data),
      .parent_id = read_uint64 (data + 8),
      .velocity_x = read_float (data + 16),
      .velocity_y = read_float (data + 20),
      .age = read_uint32 (data + 24),
      .state = (GstCclTrackState)read_uint32 (data + 28),
      .first_id = read_uint32 (data + 32),
      .n_ids = read_uint32 (data + 36),
      .position_x = read_double (data + 40),
      .position_y = read_double (data + 48),
      .position_deviation = read_float (data + 56),
      .speed_deviation = read_float (data + 60),
      .ground_velocity_x = read_float (data + 64),
      .ground_velocity_y = read_float (data + 68),
  };
}

/* The bytes of the contours; 0 without any. */
static gsize
contours_size (const GstCclContours *contours)
{
  gconstpointer data;
  guint n_points;

  if (!contours)
    return 0;
  return CONTOURS_HEADER_SIZE + gst_ccl_contours_get_data (contours, &data, &n_points);
}

/* Copies 32-bit numbers, of which rows and points alike consist, from or to little endian. The
 * length of a name comes before them, so they may be anywhere. */
static void
copy_numbers (guint8 *out, const guint8 *data, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    guint32 number;

    memcpy (&number, data + 4 * i, sizeof number);
    number = GUINT32_TO_LE (number);
    memcpy (out + 4 * i, &number, sizeof number);
  }
}

static void
write_contours (guint8 *out, const GstCclContours *contours)
{
  gconstpointer data;
  guint n_points;
  const gsize size = gst_ccl_contours_get_data (contours, &data, &n_points);
  const guint32 header[] = {gst_ccl_contours_get_n_contours (contours), n_points,
      (guint32)gst_ccl_contours_get_kind (contours)};

  copy_numbers (out, (const guint8 *)header, G_N_ELEMENTS (header));
  copy_numbers (out + CONTOURS_HEADER_SIZE, data, size / 4);
}

/* NULL if the bytes are no contours. */
static GstCclContours *
read_contours (const guint8 *data, gsize size)
{
  guint32 header[CONTOURS_HEADER_SIZE / 4], n_contours, n_points, kind;
  GstBuffer *buffer;
  GstMapInfo map;

  if (size < CONTOURS_HEADER_SIZE)
    return NULL;
  copy_numbers ((guint8 *)header, data, G_N_ELEMENTS (header));
  n_contours = header[0];
  n_points = header[1];
  kind = header[2];
  size -= CONTOURS_HEADER_SIZE;
  data += CONTOURS_HEADER_SIZE;
  if (kind > GST_CCL_CONTOUR_KIND_CRACKS ||
      size != n_contours * (guint64)sizeof (GstCclContour) + n_points * (guint64)8)
    return NULL;
  for (guint64 i = 0; i < 2 * (guint64)n_points; i++)
    if (!isfinite (read_float (data + n_contours * sizeof (GstCclContour) + 4 * i)))
      return NULL;
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    return NULL;
  }
  copy_numbers (map.data, data, size / 4);
  gst_buffer_unmap (buffer, &map);
  return gst_ccl_contours_new (buffer, (GstCclContourKind)kind, n_contours, n_points);
}

static gsize
keys_size (const GstCclColumns *columns)
{
  gsize size = 0;

  for (guint i = 0; i < gst_ccl_columns_get_n_columns (columns); i++)
    size += strlen (gst_ccl_columns_get_key (columns, i)) + 1;
  return size;
}

/* The bytes of the columns; 0 without any. */
static gsize
columns_size (const GstCclColumns *columns)
{
  if (!columns)
    return 0;
  return COLUMNS_HEADER_SIZE + keys_size (columns) +
         8 * (gsize)gst_ccl_columns_get_n_columns (columns) * gst_ccl_columns_get_n_rows (columns);
}

/* Returns the end. */
static guint8 *
write_columns (guint8 *out, const GstCclColumns *columns)
{
  const guint n_columns = gst_ccl_columns_get_n_columns (columns);
  const guint32 header[] = {n_columns, (guint32)keys_size (columns)};

  copy_numbers (out, (const guint8 *)header, G_N_ELEMENTS (header));
  out += COLUMNS_HEADER_SIZE;
  for (guint i = 0; i < n_columns; i++)
    out = (guint8 *)g_stpcpy ((gchar *)out, gst_ccl_columns_get_key (columns, i)) + 1;
  for (guint i = 0; i < n_columns; i++) {
    guint n_rows;
    const gdouble *values = gst_ccl_columns_get_values (columns, i, &n_rows);

    for (guint row = 0; row < n_rows; row++, out += 8)
      write_double (out, values[row]);
  }
  return out;
}

/* Fills keys with the texts that a number of bytes consists of. FALSE if they are not so many. */
static gboolean
split_keys (const gchar *text, gsize size, guint n, const gchar **keys)
{
  for (guint i = 0; i < n; i++) {
    const gchar *end = memchr (text, 0, size);

    if (!end || !g_utf8_validate (text, end - text, NULL))
      return FALSE;
    keys[i] = text;
    size -= (gsize)(end + 1 - text);
    text = end + 1;
  }
  return size == 0;
}

/* Sets *size to the bytes of the columns, which may be followed by others. NULL if the bytes are no
 * columns. */
static GstCclColumns *
read_columns (const guint8 *data, gsize *size, guint n_rows)
{
  guint32 header[COLUMNS_HEADER_SIZE / 4], n_columns, text_size;
  GstCclColumns *columns = NULL;
  const gchar **keys;
  guint64 n_values;
  gdouble *values;

  if (*size < COLUMNS_HEADER_SIZE)
    return NULL;
  copy_numbers ((guint8 *)header, data, G_N_ELEMENTS (header));
  n_columns = header[0];
  text_size = header[1];
  n_values = n_columns * (guint64)n_rows;
  /* Each key has a byte at least. The second comparison keeps 8 × n_values from overflowing. */
  if (n_columns > text_size || n_values > *size / 8 ||
      COLUMNS_HEADER_SIZE + (guint64)text_size + 8 * n_values > *size)
    return NULL;
  *size = (gsize)(COLUMNS_HEADER_SIZE + (guint64)text_size + 8 * n_values);
  data += COLUMNS_HEADER_SIZE;
  keys = g_new (const gchar *, n_columns + (gsize)1);
  values = g_new (gdouble, n_values + 1);
  for (gsize i = 0; i < n_values; i++)
    values[i] = read_double (data + text_size + 8 * i);
  if (split_keys ((const gchar *)data, text_size, n_columns, keys))
    columns = gst_ccl_columns_new (keys, n_columns, values, n_rows);
  g_free (values);
  g_free (keys);
  return columns;
}

static gsize
names_size (const GstCclRegionState *state)
{
  gsize size = 0;

  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++)
    size += strlen (gst_ccl_region_state_get_region (state, i)->name) + 1;
  return size;
}

/* The bytes of the regions; 0 without any. */
static gsize
regions_size (const GstCclRegionState *state)
{
  if (!state)
    return 0;
  return REGIONS_HEADER_SIZE + names_size (state) +
         (gsize)gst_ccl_region_state_get_n_regions (state) *
             (REGION_SIZE + gst_ccl_region_state_get_n_rows (state));
}

static void
write_region (guint8 *out, const GstCclRegionInfo *region)
{
  write_uint32 (out, region->is_line);
  write_uint32 (out + 4, region->inside);
  write_uint64 (out + 8, region->forward);
  write_uint64 (out + 16, region->backward);
}

/* Returns the end. */
static guint8 *
write_regions (guint8 *out, const GstCclRegionState *state, gboolean have_columns)
{
  const guint n_regions = gst_ccl_region_state_get_n_regions (state);
  const guint n_rows = gst_ccl_region_state_get_n_rows (state);
  const guint32 header[] = {n_regions, (guint32)names_size (state), (guint32)have_columns};

  copy_numbers (out, (const guint8 *)header, G_N_ELEMENTS (header));
  out += REGIONS_HEADER_SIZE;
  for (guint i = 0; i < n_regions; i++, out += REGION_SIZE)
    write_region (out, gst_ccl_region_state_get_region (state, i));
  for (guint i = 0; i < n_regions; i++)
    out = (guint8 *)g_stpcpy ((gchar *)out, gst_ccl_region_state_get_region (state, i)->name) + 1;
  for (guint i = 0; i < n_regions; i++)
    for (guint row = 0; row < n_rows; row++)
      *out++ = (guint8)(gst_ccl_region_state_is_inside (state, i, row) +
                        gst_ccl_region_state_get_crossing (state, i, row));
  return out;
}

static GstCclRegionInfo
read_region (const guint8 *data, const gchar *name)
{
  return (GstCclRegionInfo){name, read_uint32 (data) != 0, read_uint32 (data + 4),
      read_uint64 (data + 8), read_uint64 (data + 16)};
}

static gboolean
places_are_sound (const GstCclRegionInfo *region, const gint8 *places, guint n_rows)
{
  for (guint row = 0; row < n_rows; row++)
    if (places[row] > 1 || places[row] < (region->is_line ? -1 : 0))
      return FALSE;
  return TRUE;
}

/* The regions of these names; NULL if places of a track are no places. */
static GstCclRegionState *
make_regions (const guint8 *data, const gchar *const *names, guint n_regions, const gint8 *places,
    guint n_rows)
{
  GstCclRegionInfo *regions = g_new (GstCclRegionInfo, n_regions + (gsize)1);
  GstCclRegionState *state = NULL;
  gboolean sound = TRUE;

  for (guint i = 0; i < n_regions; i++) {
    regions[i] = read_region (data + (gsize)i * REGION_SIZE, names[i]);
    sound = sound && places_are_sound (&regions[i], places + (gsize)i * n_rows, n_rows);
  }
  if (sound)
    state = gst_ccl_region_state_new (regions, n_regions, places, n_rows);
  g_free (regions);
  return state;
}

/* Sets *size to the bytes of the regions, which may be followed by others, and *have_columns. NULL
 * if the bytes are no regions. */
static GstCclRegionState *
read_regions (const guint8 *data, gsize *size, guint n_rows, gboolean *have_columns)
{
  guint32 header[REGIONS_HEADER_SIZE / 4], n_regions, text_size;
  GstCclRegionState *state = NULL;
  const gchar **names;
  guint64 end;

  if (*size < REGIONS_HEADER_SIZE)
    return NULL;
  copy_numbers ((guint8 *)header, data, G_N_ELEMENTS (header));
  n_regions = header[0];
  text_size = header[1];
  *have_columns = header[2] != 0;
  /* Each name has a byte at least, so the sum cannot overflow. */
  if (n_regions > text_size || text_size > *size)
    return NULL;
  end = REGIONS_HEADER_SIZE + (guint64)text_size + n_regions * (REGION_SIZE + (guint64)n_rows);
  if (end > *size)
    return NULL;
  *size = (gsize)end;
  data += REGIONS_HEADER_SIZE;
  names = g_new (const gchar *, n_regions + (gsize)1);
  if (split_keys (
          (const gchar *)data + (gsize)n_regions * REGION_SIZE, text_size, n_regions, names))
    state = make_regions (data, names, n_regions,
        (const gint8 *)data + (gsize)n_regions * REGION_SIZE + text_size, n_rows);
  g_free (names);
  return state;
}

static const gchar *
class_name (const GstCclClasses *classes, guint row)
{
  const gchar *name = gst_ccl_classes_get_name (classes, row);

  return name ? name : "";
}

static gsize
class_names_size (const GstCclClasses *classes)
{
  gsize size = 0;

  for (guint row = 0; row < gst_ccl_classes_get_n_rows (classes); row++)
    size += strlen (class_name (classes, row)) + 1;
  return size;
}

/* The bytes of the classes; 0 without any. */
static gsize
classes_size (const GstCclClasses *classes)
{
  if (!classes)
    return 0;
  return CLASSES_HEADER_SIZE + 8 * (gsize)gst_ccl_classes_get_n_rows (classes) +
         class_names_size (classes);
}

/* Returns the end. */
static guint8 *
write_classes (guint8 *out, const GstCclClasses *classes, guint32 others)
{
  const guint32 header[] = {(guint32)class_names_size (classes), others};
  const guint n_rows = gst_ccl_classes_get_n_rows (classes);

  copy_numbers (out, (const guint8 *)header, G_N_ELEMENTS (header));
  out += CLASSES_HEADER_SIZE;
  for (guint row = 0; row < n_rows; row++, out += 8)
    write_double (out, gst_ccl_classes_get_confidence (classes, row));
  for (guint row = 0; row < n_rows; row++)
    out = (guint8 *)g_stpcpy ((gchar *)out, class_name (classes, row)) + 1;
  return out;
}

/* Sets *size to the bytes of the classes, which may be followed by others, and *others. NULL if the
 * bytes are no classes. */
static GstCclClasses *
read_classes (const guint8 *data, gsize *size, guint n_rows, guint32 *others)
{
  guint32 header[CLASSES_HEADER_SIZE / 4], text_size;
  const guint64 before_text = CLASSES_HEADER_SIZE + 8 * (guint64)n_rows;
  GstCclClasses *classes = NULL;
  gdouble *confidences;
  const gchar **names;

  if (*size < CLASSES_HEADER_SIZE)
    return NULL;
  copy_numbers ((guint8 *)header, data, G_N_ELEMENTS (header));
  text_size = header[0];
  *others = header[1];
  if (*others > HAVE_REGIONS + HAVE_COLUMNS || before_text + text_size > *size)
    return NULL;
  *size = (gsize)(before_text + text_size);
  confidences = g_new (gdouble, n_rows + (gsize)1);
  names = g_new (const gchar *, n_rows + (gsize)1);
  for (guint row = 0; row < n_rows; row++)
    confidences[row] = read_double (data + CLASSES_HEADER_SIZE + 8 * (gsize)row);
  if (split_keys ((const gchar *)data + before_text, text_size, n_rows, names)) {
    for (guint row = 0; row < n_rows; row++)
      if (*names[row] == '\0')
        names[row] = NULL;
    classes = gst_ccl_classes_new (names, confidences, n_rows);
  }
  g_free (names);
  g_free (confidences);
  return classes;
}

/* What may be behind the table. */
typedef struct {
  GstCclClasses *classes;
  GstCclRegionState *region_state;
  GstCclColumns *columns;
  GstCclContours *contours;
} Parts;

static void
clear_parts (Parts *parts)
{
  g_clear_pointer (&parts->classes, gst_ccl_classes_unref);
  g_clear_pointer (&parts->region_state, gst_ccl_region_state_unref);
  g_clear_pointer (&parts->columns, gst_ccl_columns_unref);
  g_clear_pointer (&parts->contours, gst_ccl_contours_unref);
}

/* Reads what is behind the table: classes, regions, columns, contours, in this order, as the
 * version has them. FALSE if it is something else; then parts may be there. */
static gboolean
read_parts (const guint8 *data, gsize size, guint8 version, guint n_rows, Parts *parts)
{
  gboolean have_columns = version == SERIAL_VERSION_WITH_COLUMNS;
  gboolean have_regions = version == SERIAL_VERSION_WITH_REGIONS;
  guint32 others;
  gsize end = size;

  if (version == SERIAL_VERSION_WITH_CLASSES) {
    parts->classes = read_classes (data, &end, n_rows, &others);
    if (!parts->classes)
      return FALSE;
    data += end;
    size -= end;
    have_regions = (others & HAVE_REGIONS) != 0;
    have_columns = (others & HAVE_COLUMNS) != 0;
  }
  if (have_regions) {
    end = size;
    parts->region_state = read_regions (data, &end, n_rows, &have_columns);
    if (!parts->region_state)
      return FALSE;
    data += end;
    size -= end;
  }
  if (have_columns) {
    end = size;
    parts->columns = read_columns (data, &end, n_rows);
    if (!parts->columns)
      return FALSE;
    data += end;
    size -= end;
  }
  if (size == 0)
    return version != SERIAL_VERSION_WITH_CONTOURS;
  parts->contours = version == SERIAL_VERSION ? NULL : read_contours (data, size);
  return parts->contours != NULL;
}

gboolean
gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclMeta *self = (const GstCclMeta *)meta;
  const gchar *name = self->labeller ? gst_ccl_labeller_get_name (self->labeller) : "";
  gsize name_size = strlen (name);
  guint n_tracks = self->tracks ? self->n_rows : 0;
  guint8 *out = gst_byte_array_interface_append (
      data, HEADER_SIZE + (gsize)self->n_rows * ROW_SIZE + (gsize)n_tracks * TRACK_SIZE +
                8 * (gsize)self->n_ids + name_size + classes_size (self->classes) +
                regions_size (self->region_state) + columns_size (self->columns) +
                contours_size (self->contours));

  if (!out)
    return FALSE;
  write_uint32 (out, self->frame_width);
  write_uint32 (out + 4, self->frame_height);
  write_uint32 (out + 8, self->n_components);
  write_uint32 (out + 12, self->n_rows);
  write_uint32 (out + 16, n_tracks);
  write_uint32 (out + 20, self->n_ids);
  write_uint32 (out + 24, (guint32)name_size);
  out += HEADER_SIZE;
  for (guint i = 0; i < self->n_rows; i++, out += ROW_SIZE)
    write_row (out, &self->rows[i]);
  for (guint i = 0; i < n_tracks; i++, out += TRACK_SIZE)
    write_track (out, &self->tracks[i]);
  for (guint i = 0; i < self->n_ids; i++, out += 8)
    write_uint64 (out, self->ids[i]);
  memcpy (out, name, name_size);
  out += name_size;
  *version = self->classes        ? SERIAL_VERSION_WITH_CLASSES
             : self->region_state ? SERIAL_VERSION_WITH_REGIONS
             : self->columns      ? SERIAL_VERSION_WITH_COLUMNS
             : self->contours     ? SERIAL_VERSION_WITH_CONTOURS
                                  : SERIAL_VERSION;
  if (self->classes)
    out = write_classes (out, self->classes,
        (self->region_state ? HAVE_REGIONS : 0) + (self->columns ? HAVE_COLUMNS : 0));
  if (self->region_state)
    out = write_regions (out, self->region_state, self->columns != NULL);
  if (self->columns)
    out = write_columns (out, self->columns);
  if (self->contours)
    write_contours (out, self->contours);
  return TRUE;
}

static gboolean
track_is_sound (const guint8 *data, guint n_ids)
{
  GstCclTrackInfo track = read_track (data);

  return track.state >= GST_CCL_TRACK_STATE_TENTATIVE && track.state <= GST_CCL_TRACK_STATE_LOST &&
         track.n_ids <= n_ids && track.first_id <= n_ids - track.n_ids &&
         isfinite (track.position_x) && isfinite (track.position_y) &&
         isfinite (track.position_deviation) && isfinite (track.speed_deviation) &&
         isfinite (track.ground_velocity_x) && isfinite (track.ground_velocity_y);
}

GstMeta *
gst_ccl_meta_deserialize (
    const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size, guint8 version)
{
  guint frame_width, frame_height, n_components, n_rows, n_tracks, n_ids, name_size;
  const guint8 *rows, *tracks, *ids, *name;
  Parts parts = {0};
  GstCclMeta *self;
  guint64 table_size;

  if (version < SERIAL_VERSION || version > SERIAL_VERSION_WITH_CLASSES || size < HEADER_SIZE)
    return NULL;
  rows = data + HEADER_SIZE;
  frame_width = read_uint32 (data);
  frame_height = read_uint32 (data + 4);
  n_components = read_uint32 (data + 8);
  n_rows = read_uint32 (data + 12);
  n_tracks = read_uint32 (data + 16);
  n_ids = read_uint32 (data + 20);
  name_size = read_uint32 (data + 24);
  table_size = HEADER_SIZE + (guint64)n_rows * ROW_SIZE + (guint64)n_tracks * TRACK_SIZE +
               8 * (guint64)n_ids + name_size;
  if (frame_width == 0 || frame_height == 0 || n_rows > n_components ||
      (n_tracks != 0 && n_tracks != n_rows) || size < table_size)
    return NULL;
  tracks = rows + (gsize)n_rows * ROW_SIZE;
  ids = tracks + (gsize)n_tracks * TRACK_SIZE;
  name = ids + 8 * (gsize)n_ids;
  if (!g_utf8_validate ((const gchar *)name, name_size, NULL))
    return NULL;
  for (guint i = 0; i < n_tracks; i++)
    if (!track_is_sound (tracks + (gsize)i * TRACK_SIZE, n_ids))
      return NULL;
  if (!read_parts (data + table_size, size - (gsize)table_size, version, n_rows, &parts)) {
    clear_parts (&parts);
    return NULL;
  }

  self = gst_ccl_meta_add (
      buffer, frame_width, frame_height, n_components, gst_ccl_rows_new (n_rows), n_rows);
  self->classes = parts.classes;
  self->region_state = parts.region_state;
  self->columns = parts.columns;
  self->contours = parts.contours;
  for (guint i = 0; i < n_rows; i++)
    self->rows[i] = read_row (rows + (gsize)i * ROW_SIZE);
  self->tracks = gst_ccl_tracks_new (n_tracks);
  for (guint i = 0; i < n_tracks; i++)
    self->tracks[i] = read_track (tracks + (gsize)i * TRACK_SIZE);
  if (n_ids > 0) {
    self->n_ids = n_ids;
    self->ids = g_atomic_rc_box_alloc (n_ids * sizeof *self->ids);
    for (guint i = 0; i < n_ids; i++)
      self->ids[i] = read_uint64 (ids + 8 * (gsize)i);
  }
  if (name_size > 0) {
    gchar *text = g_strndup ((const gchar *)name, name_size);
    self->labeller = gst_ccl_labeller_new (text, NULL);
    g_free (text);
  }
  return (GstMeta *)self;
}

#endif
