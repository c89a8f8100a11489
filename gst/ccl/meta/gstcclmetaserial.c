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
 *   others, as 64-bit numbers of floating point; then nothing or contours as above
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
#define HAVE_REGIONS 1
#define HAVE_COLUMNS 2

/* Where a field of 4 or 8 bytes is in its struct. */
typedef struct {
  gsize offset, size;
} Field;

#define FIELD(Type, name)                                                                          \
  {                                                                                                \
    G_STRUCT_OFFSET (Type, name), sizeof (((Type *)NULL)->name)                                    \
  }
#define ROW(name) FIELD (GstCclComponent, name)
#define TRACK(name) FIELD (GstCclTrackInfo, name)
#define REGION(name) FIELD (GstCclRegionInfo, name)

static const Field row_fields[] = {
    ROW (label),
    ROW (area),
    ROW (x),
    ROW (y),
    ROW (width),
    ROW (height),
    ROW (centroid_x),
    ROW (centroid_y),
};

static const Field track_fields[] = {
    TRACK (id),
    TRACK (parent_id),
    TRACK (velocity_x),
    TRACK (velocity_y),
    TRACK (age),
    TRACK (state),
    TRACK (first_id),
    TRACK (n_ids),
    TRACK (position_x),
    TRACK (position_y),
    TRACK (position_deviation),
    TRACK (speed_deviation),
    TRACK (ground_velocity_x),
    TRACK (ground_velocity_y),
};

static const Field region_fields[] = {
    REGION (is_line),
    REGION (inside),
    REGION (forward),
    REGION (backward),
};

typedef struct {
  GstByteArrayInterface *bytes;
  gboolean is_full; /* something could not be appended */
} Output;

/* What has not been read yet. */
typedef struct {
  const guint8 *data;
  gsize size; /* bytes */
} Input;

/* Copies a number from or to little endian. A name of any length may be before it, so its address
 * may be odd. */
static inline void
copy_number (gpointer to, gconstpointer from, gsize size)
{
  guint32 word;
  guint64 long_word;

  if (size == sizeof word) {
    memcpy (&word, from, sizeof word);
    word = GUINT32_TO_LE (word);
    memcpy (to, &word, sizeof word);
  } else {
    memcpy (&long_word, from, sizeof long_word);
    long_word = GUINT64_TO_LE (long_word);
    memcpy (to, &long_word, sizeof long_word);
  }
}

/* Copies numbers of 4 or 8 bytes. */
static inline void
copy_numbers (gpointer to, gconstpointer from, gsize n, gsize size)
{
  for (gsize i = 0; i < n * size; i += size)
    copy_number ((guint8 *)to + i, (const guint8 *)from + i, size);
}

static guint8 *
append (Output *out, gsize size)
{
  guint8 *end = out->is_full ? NULL : gst_byte_array_interface_append (out->bytes, size);

  out->is_full = end == NULL;
  return end;
}

static inline void
put_numbers (Output *out, gconstpointer numbers, gsize n, gsize size)
{
  guint8 *to = append (out, n * size);

  if (to)
    copy_numbers (to, numbers, n, size);
}

static void
put_bytes (Output *out, gconstpointer bytes, gsize size)
{
  guint8 *to = append (out, size);

  if (to && size > 0)
    memcpy (to, bytes, size);
}

static void
put_text (Output *out, const gchar *text)
{
  put_bytes (out, text, strlen (text) + 1);
}

#define PUT_HEADER(out, ...)                                                                       \
  put_numbers (out, ((const guint32[]){__VA_ARGS__}),                                              \
      sizeof ((const guint32[]){__VA_ARGS__}) / sizeof (guint32), sizeof (guint32))

static inline gsize
size_of (const Field *fields, gsize n)
{
  gsize size = 0;

  for (gsize i = 0; i < n; i++)
    size += fields[i].size;
  return size;
}

/* Writes some fields of structs, of which each has a number of bytes. */
static inline void
put_structs (Output *out, gconstpointer structs, gsize n_structs, gsize struct_size,
    const Field *fields, gsize n_fields)
{
  const guint8 *from = structs;
  guint8 *to = append (out, n_structs * size_of (fields, n_fields));

  for (gsize i = 0; to && i < n_structs; i++, from += struct_size)
    for (gsize field = 0; field < n_fields; to += fields[field].size, field++)
      copy_number (to, from + fields[field].offset, fields[field].size);
}

#define PUT_STRUCTS(out, structs, n, fields)                                                       \
  put_structs (out, structs, n, sizeof *(structs), fields, G_N_ELEMENTS (fields))

/* n × size bytes; NULL if there are fewer. */
static const guint8 *
take (Input *in, guint64 n, gsize size)
{
  const guint8 *data = in->data;

  if (n > in->size / size)
    return NULL;
  in->data += n * size;
  in->size -= n * size;
  return data;
}

static inline gboolean
get_numbers (Input *in, gpointer numbers, guint64 n, gsize size)
{
  const guint8 *data = take (in, n, size);

  if (data)
    copy_numbers (numbers, data, n, size);
  return data != NULL;
}

/* Doubles to free; NULL if there are fewer. */
static gdouble *
get_doubles (Input *in, guint64 n)
{
  const guint8 *data = take (in, n, sizeof (gdouble));
  gdouble *values = data ? g_new (gdouble, n + 1) : NULL;

  if (values)
    copy_numbers (values, data, n, sizeof *values);
  return values;
}

/* Reads fields of structs of a number of bytes. FALSE if there are fewer. */
static inline gboolean
get_structs (Input *in, gpointer structs, gsize n_structs, gsize struct_size, const Field *fields,
    gsize n_fields)
{
  const guint8 *from = take (in, n_structs, size_of (fields, n_fields));
  guint8 *to = structs;

  for (gsize i = 0; from && i < n_structs; i++, to += struct_size)
    for (gsize field = 0; field < n_fields; from += fields[field].size, field++)
      copy_number (to + fields[field].offset, from, fields[field].size);
  return from != NULL;
}

#define GET_STRUCTS(in, structs, n, fields)                                                        \
  get_structs (in, structs, n, sizeof *(structs), fields, G_N_ELEMENTS (fields))

/* The n texts that a number of bytes consists of, in an array to free. NULL if they are not so
 * many. */
static const gchar **
get_texts (Input *in, guint32 size, guint32 n)
{
  const gchar *text = (const gchar *)take (in, size, 1);
  g_autofree const gchar **texts = NULL;

  if (!text || n > size) /* each has a byte at least */
    return NULL;
  texts = g_new (const gchar *, n + (gsize)1);
  for (guint i = 0; i < n; i++) {
    const gchar *end = memchr (text, 0, size);

    if (!end || !g_utf8_validate (text, end - text, NULL))
      return NULL;
    texts[i] = text;
    size -= (guint32)(end + 1 - text);
    text = end + 1;
  }
  return size == 0 ? g_steal_pointer (&texts) : NULL;
}

static void
write_contours (Output *out, const GstCclContours *contours)
{
  gconstpointer data;
  guint n_points;
  const gsize size = gst_ccl_contours_get_data (contours, &data, &n_points);

  PUT_HEADER (out, gst_ccl_contours_get_n_contours (contours), n_points,
      (guint32)gst_ccl_contours_get_kind (contours));
  put_numbers (out, data, size / 4, 4);
}

/* All that is left to read. NULL if the bytes are no contours. */
static GstCclContours *
read_contours (Input *in)
{
  guint32 header[3]; /* contours, points, kind */
  guint64 first_point;
  GstBuffer *buffer;
  GstMapInfo map;

  if (!get_numbers (in, header, G_N_ELEMENTS (header), 4))
    return NULL;
  first_point = header[0] * (guint64)sizeof (GstCclContour);
  if (header[2] > GST_CCL_CONTOUR_KIND_CRACKS || in->size != first_point + header[1] * (guint64)8)
    return NULL;
  for (guint64 i = first_point; i < in->size; i += 4) {
    gfloat coordinate;

    copy_number (&coordinate, in->data + i, 4);
    if (!isfinite (coordinate))
      return NULL;
  }
  buffer = gst_buffer_new_allocate (NULL, in->size, NULL);
  if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    return NULL;
  }
  copy_numbers (map.data, in->data, in->size / 4, 4);
  gst_buffer_unmap (buffer, &map);
  return gst_ccl_contours_new (buffer, (GstCclContourKind)header[2], header[0], header[1]);
}

static void
write_columns (Output *out, const GstCclColumns *columns)
{
  const guint n_columns = gst_ccl_columns_get_n_columns (columns);
  gsize text_size = 0;

  for (guint i = 0; i < n_columns; i++)
    text_size += strlen (gst_ccl_columns_get_key (columns, i)) + 1;
  PUT_HEADER (out, n_columns, (guint32)text_size);
  for (guint i = 0; i < n_columns; i++)
    put_text (out, gst_ccl_columns_get_key (columns, i));
  for (guint i = 0; i < n_columns; i++) {
    guint n_rows;
    const gdouble *values = gst_ccl_columns_get_values (columns, i, &n_rows);

    put_numbers (out, values, n_rows, sizeof *values);
  }
}

/* NULL if the bytes are no columns. */
static GstCclColumns *
read_columns (Input *in, guint n_rows)
{
  guint32 header[2]; /* columns, bytes of keys */
  g_autofree const gchar **keys = NULL;
  g_autofree gdouble *values = NULL;

  if (!get_numbers (in, header, G_N_ELEMENTS (header), 4))
    return NULL;
  keys = get_texts (in, header[1], header[0]);
  values = keys ? get_doubles (in, header[0] * (guint64)n_rows) : NULL;
  return values ? gst_ccl_columns_new (keys, header[0], values, n_rows) : NULL;
}

static void
write_regions (Output *out, const GstCclRegionState *state, gboolean have_columns)
{
  const guint n_regions = gst_ccl_region_state_get_n_regions (state);
  const guint n_rows = gst_ccl_region_state_get_n_rows (state);
  gsize text_size = 0;
  guint8 *places;

  for (guint i = 0; i < n_regions; i++)
    text_size += strlen (gst_ccl_region_state_get_region (state, i)->name) + 1;
  PUT_HEADER (out, n_regions, (guint32)text_size, (guint32)have_columns);
  for (guint i = 0; i < n_regions; i++)
    PUT_STRUCTS (out, gst_ccl_region_state_get_region (state, i), 1, region_fields);
  for (guint i = 0; i < n_regions; i++)
    put_text (out, gst_ccl_region_state_get_region (state, i)->name);
  places = append (out, (gsize)n_regions * n_rows);
  for (guint i = 0; places && i < n_regions; i++)
    for (guint row = 0; row < n_rows; row++)
      *places++ = (guint8)(gst_ccl_region_state_is_inside (state, i, row) +
                           gst_ccl_region_state_get_crossing (state, i, row));
}

static gboolean
places_are_sound (const GstCclRegionInfo *region, const gint8 *places, guint n_rows)
{
  for (guint row = 0; row < n_rows; row++)
    if (places[row] > 1 || places[row] < (region->is_line ? -1 : 0))
      return FALSE;
  return TRUE;
}

/* Also reads whether columns follow. NULL if the bytes are no regions, or places of a track are no
 * places. */
static GstCclRegionState *
read_regions (Input *in, guint n_rows, gboolean *have_columns)
{
  guint32 header[3]; /* regions, bytes of names, whether there are columns */
  g_autofree GstCclRegionInfo *regions = NULL;
  g_autofree const gchar **names = NULL;
  const gint8 *places;

  if (!get_numbers (in, header, G_N_ELEMENTS (header), 4) || header[0] > in->size)
    return NULL;
  *have_columns = header[2] != 0;
  regions = g_new0 (GstCclRegionInfo, header[0] + (gsize)1);
  if (!GET_STRUCTS (in, regions, header[0], region_fields) ||
      !(names = get_texts (in, header[1], header[0])) ||
      !(places = (const gint8 *)take (in, header[0] * (guint64)n_rows, 1)))
    return NULL;
  for (guint i = 0; i < header[0]; i++) {
    regions[i].name = names[i];
    regions[i].is_line = regions[i].is_line != 0;
    if (!places_are_sound (&regions[i], places + (gsize)i * n_rows, n_rows))
      return NULL;
  }
  return gst_ccl_region_state_new (regions, header[0], places, n_rows);
}

static const gchar *
class_name (const GstCclClasses *classes, guint row)
{
  const gchar *name = gst_ccl_classes_get_name (classes, row);

  return name ? name : "";
}

static void
write_classes (Output *out, const GstCclClasses *classes, guint32 others)
{
  const guint n_rows = gst_ccl_classes_get_n_rows (classes);
  gsize text_size = 0;
  guint8 *confidences;

  for (guint row = 0; row < n_rows; row++)
    text_size += strlen (class_name (classes, row)) + 1;
  PUT_HEADER (out, (guint32)text_size, others);
  confidences = append (out, n_rows * sizeof (gdouble));
  for (guint row = 0; confidences && row < n_rows; row++, confidences += sizeof (gdouble)) {
    const gdouble confidence = gst_ccl_classes_get_confidence (classes, row);

    copy_number (confidences, &confidence, sizeof confidence);
  }
  for (guint row = 0; row < n_rows; row++)
    put_text (out, class_name (classes, row));
}

/* Also reads what follows. NULL if the bytes are no classes. */
static GstCclClasses *
read_classes (Input *in, guint n_rows, guint32 *others)
{
  guint32 header[2]; /* bytes of names, what follows */
  g_autofree gdouble *confidences = NULL;
  g_autofree const gchar **names = NULL;

  if (!get_numbers (in, header, G_N_ELEMENTS (header), 4) ||
      header[1] > HAVE_REGIONS + HAVE_COLUMNS || !(confidences = get_doubles (in, n_rows)) ||
      !(names = get_texts (in, header[0], n_rows)))
    return NULL;
  *others = header[1];
  for (guint row = 0; row < n_rows; row++)
    if (*names[row] == '\0')
      names[row] = NULL;
  return gst_ccl_classes_new (names, confidences, n_rows);
}

/* Reads what is behind the table: classes, regions, columns, contours, in this order, as the
 * version has them. FALSE if it is something else; then some of it may be there. */
static gboolean
read_parts (Input *in, guint8 version, GstCclMeta *self)
{
  gboolean have_columns = version == SERIAL_VERSION_WITH_COLUMNS;
  gboolean have_regions = version == SERIAL_VERSION_WITH_REGIONS;
  guint32 others;

  if (version == SERIAL_VERSION_WITH_CLASSES) {
    self->classes = read_classes (in, self->n_rows, &others);
    if (!self->classes)
      return FALSE;
    have_regions = (others & HAVE_REGIONS) != 0;
    have_columns = (others & HAVE_COLUMNS) != 0;
  }
  if (have_regions && !(self->region_state = read_regions (in, self->n_rows, &have_columns)))
    return FALSE;
  if (have_columns && !(self->columns = read_columns (in, self->n_rows)))
    return FALSE;
  if (in->size == 0)
    return version != SERIAL_VERSION_WITH_CONTOURS;
  self->contours = version == SERIAL_VERSION ? NULL : read_contours (in);
  return self->contours != NULL;
}

gboolean
gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclMeta *self = (const GstCclMeta *)meta;
  const gchar *name = self->labeller ? gst_ccl_labeller_get_name (self->labeller) : "";
  const guint n_tracks = self->tracks ? self->n_rows : 0;
  Output out = {data, FALSE};

  PUT_HEADER (&out, self->frame_width, self->frame_height, self->n_components, self->n_rows,
      n_tracks, self->n_ids, (guint32)strlen (name));
  PUT_STRUCTS (&out, self->rows, self->n_rows, row_fields);
  PUT_STRUCTS (&out, self->tracks, n_tracks, track_fields);
  put_numbers (&out, self->ids, self->n_ids, sizeof *self->ids);
  put_bytes (&out, name, strlen (name));
  *version = self->classes        ? SERIAL_VERSION_WITH_CLASSES
             : self->region_state ? SERIAL_VERSION_WITH_REGIONS
             : self->columns      ? SERIAL_VERSION_WITH_COLUMNS
             : self->contours     ? SERIAL_VERSION_WITH_CONTOURS
                                  : SERIAL_VERSION;
  if (self->classes)
    write_classes (&out, self->classes,
        (self->region_state ? HAVE_REGIONS : 0) + (self->columns ? HAVE_COLUMNS : 0));
  if (self->region_state)
    write_regions (&out, self->region_state, self->columns != NULL);
  if (self->columns)
    write_columns (&out, self->columns);
  if (self->contours)
    write_contours (&out, self->contours);
  return !out.is_full;
}

static gboolean
track_is_sound (const GstCclTrackInfo *track, guint n_ids)
{
  return track->state >= GST_CCL_TRACK_STATE_TENTATIVE &&
         track->state <= GST_CCL_TRACK_STATE_LOST && track->n_ids <= n_ids &&
         track->first_id <= n_ids - track->n_ids && isfinite (track->position_x) &&
         isfinite (track->position_y) && isfinite (track->position_deviation) &&
         isfinite (track->speed_deviation) && isfinite (track->ground_velocity_x) &&
         isfinite (track->ground_velocity_y);
}

/* Reads a table of n_rows rows. FALSE if it is none. */
static gboolean
read_table (Input *in, guint n_tracks, guint n_ids, guint name_size, GstCclMeta *self)
{
  const gchar *name;

  self->tracks = gst_ccl_tracks_new (n_tracks);
  if (!GET_STRUCTS (in, self->rows, self->n_rows, row_fields) ||
      !GET_STRUCTS (in, self->tracks, n_tracks, track_fields) ||
      n_ids > in->size / sizeof *self->ids)
    return FALSE;
  for (guint i = 0; i < n_tracks; i++)
    if (!track_is_sound (&self->tracks[i], n_ids))
      return FALSE;
  if (n_ids > 0) {
    self->n_ids = n_ids;
    self->ids = g_atomic_rc_box_alloc (n_ids * sizeof *self->ids);
    get_numbers (in, self->ids, n_ids, sizeof *self->ids);
  }
  name = (const gchar *)take (in, name_size, 1);
  if (!name || !g_utf8_validate (name, name_size, NULL))
    return FALSE;
  if (name_size > 0) {
    g_autofree gchar *text = g_strndup (name, name_size);

    self->labeller = gst_ccl_labeller_new (text, NULL);
  }
  return TRUE;
}

GstMeta *
gst_ccl_meta_deserialize (
    const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size, guint8 version)
{
  /* Frame width, frame height, components, rows, tracks, identities, bytes of the name. */
  guint32 header[7];
  Input in = {data, size};
  GstCclMeta *self;

  if (version < SERIAL_VERSION || version > SERIAL_VERSION_WITH_CLASSES ||
      !get_numbers (&in, header, G_N_ELEMENTS (header), 4) || header[0] == 0 || header[1] == 0 ||
      header[3] > header[2] || (header[4] != 0 && header[4] != header[3]) ||
      header[3] > in.size / size_of (row_fields, G_N_ELEMENTS (row_fields)))
    return NULL;
  self = gst_ccl_meta_add (
      buffer, header[0], header[1], header[2], gst_ccl_rows_new (header[3]), header[3]);
  if (!read_table (&in, header[4], header[5], header[6], self) ||
      !read_parts (&in, version, self)) {
    gst_buffer_remove_meta (buffer, (GstMeta *)self);
    return NULL;
  }
  return (GstMeta *)self;
}

#endif
