/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary GstCclMeta. Copies are equal; a scaled box is the smallest that covers the scaled
 * component; ccljson's line has the values of the metadata. With GStreamer 1.24, serialised
 * metadata is read back equal, and arbitrary bytes are refused or give valid metadata.
 */
#include <gst/ccl/ccl.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "target.h"

enum { MOST_ROWS = 12 };

static GstHarness *json; /* reused: creating an element takes longer than using it */
static guint64 n_metas, n_lines;
#if GST_CHECK_VERSION(1, 24, 0)
static guint64 any_id;
#endif

#define DIE(...)                                                                                   \
  do {                                                                                             \
    fprintf (stderr, __VA_ARGS__);                                                                 \
    fputc ('\n', stderr);                                                                          \
    abort ();                                                                                      \
  } while (0)

static void
finish (void)
{
  gst_harness_teardown (json);
  printf ("%lu GstCclMeta, %lu lines of JSON\n", (unsigned long)n_metas, (unsigned long)n_lines);
}

static void
start (void)
{
  if (json)
    return;
  gst_init (NULL, NULL);
  gst_debug_set_default_threshold (GST_LEVEL_NONE);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
  json = gst_harness_new ("ccljson");
  gst_harness_set_src_caps_str (json, "video/x-raw,format=GRAY8,width=8,height=8");
  atexit (finish);
}

static gdouble
take_double (Input *input)
{
  guint64 bits = take_long_number (input);
  gdouble value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* A component with arbitrary numbers, or one inside the frame. */
static GstCclComponent
take_component (Input *input, guint label, guint width, guint height, gboolean is_sound)
{
  GstCclComponent c = {label, take_number (input), take_number (input), take_number (input),
      take_number (input), take_number (input)};

  if (is_sound) {
    c.x %= width;
    c.y %= height;
    c.width = 1 + c.width % (width - c.x);
    c.height = 1 + c.height % (height - c.y);
    c.centroid_x = c.x + take_byte (input) / 255.0 * (c.width - 1);
    c.centroid_y = c.y + take_byte (input) / 255.0 * (c.height - 1);
  } else {
    c.centroid_x = take_double (input);
    c.centroid_y = take_double (input);
  }
  return c;
}

static void
assert_same (const GstCclMeta *a, const GstCclMeta *b, gboolean with_labels, const char *what)
{
  gconstpointer rows_a, rows_b;
  gsize row_stride, stride_a = 0, stride_b = 0;
  guint n_a, n_b;

  if (!b)
    DIE ("%s: no GstCclMeta", what);
  rows_a = gst_ccl_meta_get_rows (a, &n_a, &row_stride);
  rows_b = gst_ccl_meta_get_rows (b, &n_b, &row_stride);
  if (n_a != n_b || (n_a && memcmp (rows_a, rows_b, n_a * row_stride)) ||
      gst_ccl_meta_get_frame_width (a) != gst_ccl_meta_get_frame_width (b) ||
      gst_ccl_meta_get_frame_height (a) != gst_ccl_meta_get_frame_height (b) ||
      gst_ccl_meta_get_n_components (a) != gst_ccl_meta_get_n_components (b) ||
      gst_ccl_meta_is_truncated (a) != gst_ccl_meta_is_truncated (b))
    DIE ("%s: the table is another one", what);
  if (with_labels &&
      (gst_ccl_meta_get_labels (a, &stride_a) != gst_ccl_meta_get_labels (b, &stride_b) ||
          stride_a != stride_b))
    DIE ("%s: the label map is another one", what);
}

static void
check_copies (GstBuffer *buffer, const GstCclMeta *meta)
{
  GstBuffer *copy = gst_buffer_copy (buffer);
  GstBuffer *region = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, 1);
  GstBuffer *deep = gst_buffer_copy_deep (buffer);

  assert_same (meta, gst_buffer_get_ccl_meta (copy), TRUE, "copy");
  assert_same (meta, gst_buffer_get_ccl_meta (region), TRUE, "copy of a region");
  assert_same (meta, gst_buffer_get_ccl_meta (deep), TRUE, "deep copy");
  gst_buffer_unref (copy);
  gst_buffer_unref (region);
  gst_buffer_unref (deep);
}

/* [start, start + length) of `from` pixels was scaled to [scaled, scaled + scaled_length) of `to`.
 * Checks that the result covers the exact image of the interval, and would not if it were one pixel
 * shorter on either side. */
static gboolean
is_smallest_cover (
    guint32 start, guint32 length, guint32 scaled, guint32 scaled_length, guint from, guint to)
{
  __int128 left = (__int128)start * to, right = ((__int128)start + length) * to;
  __int128 scaled_left = (__int128)scaled * from;
  __int128 scaled_right = ((__int128)scaled + scaled_length) * from;

  return scaled_left <= left && left < scaled_left + from && right <= scaled_right &&
         scaled_right - from < right;
}

/* Pixel centres have integer coordinates; the frame's edge is half a pixel before the first. */
static gboolean
is_scaled_centre (gdouble centre, gdouble scaled, guint from, guint to)
{
  long double expected = ((long double)centre + 0.5L) * to / from - 0.5L;

  return fabsl (expected - scaled) <= 1e-9L * (1 + fabsl (expected));
}

static void
check_scaling (
    GstBuffer *buffer, const GstCclMeta *meta, gboolean is_sound, guint to_width, guint to_height)
{
  guint from_width = gst_ccl_meta_get_frame_width (meta);
  guint from_height = gst_ccl_meta_get_frame_height (meta);
  GstBuffer *scaled = gst_buffer_new ();
  GstVideoMetaTransform scale;
  GstVideoInfo from, to;
  GstCclMeta *result;
  guint n;

  gst_video_info_init (&from);
  gst_video_info_init (&to);
  from.width = (gint)from_width;
  from.height = (gint)from_height;
  to.width = (gint)to_width;
  to.height = (gint)to_height;
  scale = (GstVideoMetaTransform){&from, &to};
  if (!gst_ccl_meta_get_info ()->transform_func (
          scaled, (GstMeta *)meta, buffer, gst_video_meta_transform_scale_get_quark (), &scale))
    DIE ("scaling was refused");
  result = gst_buffer_get_ccl_meta (scaled);
  n = gst_ccl_meta_get_n_rows (meta);
  if (gst_ccl_meta_get_frame_width (result) != to_width ||
      gst_ccl_meta_get_frame_height (result) != to_height ||
      gst_ccl_meta_get_n_rows (result) != n ||
      gst_ccl_meta_get_n_components (result) != gst_ccl_meta_get_n_components (meta))
    DIE ("scaling changes what it must not");
  for (guint i = 0; i < n && is_sound; i++) {
    const GstCclComponent *a = gst_ccl_meta_get_component (meta, i);
    const GstCclComponent *b = gst_ccl_meta_get_component (result, i);
    if (a->label != b->label || a->area != b->area)
      DIE ("scaling changes a label or an area");
    if (!is_smallest_cover (a->x, a->width, b->x, b->width, from_width, to_width) ||
        !is_smallest_cover (a->y, a->height, b->y, b->height, from_height, to_height) ||
        (guint64)b->x + b->width > to_width || (guint64)b->y + b->height > to_height)
      DIE ("%u,%u %ux%u of %ux%u becomes %u,%u %ux%u of %ux%u", a->x, a->y, a->width, a->height,
          from_width, from_height, b->x, b->y, b->width, b->height, to_width, to_height);
    if (!is_scaled_centre (a->centroid_x, b->centroid_x, from_width, to_width) ||
        !is_scaled_centre (a->centroid_y, b->centroid_y, from_height, to_height))
      DIE ("centroid %.17g,%.17g of %ux%u becomes %.17g,%.17g of %ux%u", a->centroid_x,
          a->centroid_y, from_width, from_height, b->centroid_x, b->centroid_y, to_width,
          to_height);
  }
  gst_buffer_unref (scaled);
}

#if GST_CHECK_VERSION(1, 24, 0)
/* Reads the track and all identities of a row; AddressSanitizer detects reads beyond their end. */
static void
read_track (const GstCclMeta *meta, guint row)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
  guint n;
  const guint64 *ids = gst_ccl_meta_get_ids (meta, row, &n);

  for (guint i = 0; i < n; i++)
    any_id += ids[i];
  if (track)
    any_id += track->id;
}

static void
read_region_state (const GstCclMeta *meta)
{
  GstCclRegionState *state = gst_ccl_meta_get_region_state (meta);

  if (!state)
    return;
  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++) {
    any_id += strlen (gst_ccl_region_state_get_region (state, i)->name);
    for (guint row = 0; row < gst_ccl_region_state_get_n_rows (state); row++)
      any_id += (guint)(gst_ccl_region_state_is_inside (state, i, row) +
                        gst_ccl_region_state_get_crossing (state, i, row));
  }
  if (gst_ccl_region_state_get_n_rows (state) != gst_ccl_meta_get_n_rows (meta))
    DIE ("the state of regions has other rows than the table");
  gst_ccl_region_state_unref (state);
}

static void
read_classes (const GstCclMeta *meta)
{
  GstCclClasses *classes = gst_ccl_meta_get_classes (meta);

  if (!classes)
    return;
  for (guint row = 0; row < gst_ccl_classes_get_n_rows (classes); row++) {
    const gchar *name = gst_ccl_classes_get_name (classes, row);
    const gdouble confidence = gst_ccl_classes_get_confidence (classes, row);

    any_id += name ? strlen (name) : 0;
    if (confidence < 0 || confidence > 1)
      DIE ("a confidence is not 0…1");
  }
  if (gst_ccl_classes_get_n_rows (classes) != gst_ccl_meta_get_n_rows (meta))
    DIE ("the classes have other rows than the table");
  gst_ccl_classes_unref (classes);
}

static void
read_columns (const GstCclMeta *meta)
{
  GstCclColumns *columns = gst_ccl_meta_get_columns (meta);
  guint n_rows;

  if (!columns)
    return;
  for (guint i = 0; i < gst_ccl_columns_get_n_columns (columns); i++) {
    const gdouble *values = gst_ccl_columns_get_values (columns, i, &n_rows);

    any_id += strlen (gst_ccl_columns_get_key (columns, i));
    for (guint row = 0; row < n_rows; row++)
      any_id += values[row] > 0;
  }
  if (gst_ccl_columns_get_n_rows (columns) != gst_ccl_meta_get_n_rows (meta))
    DIE ("columns have other rows than the table");
  gst_ccl_columns_unref (columns);
}

/* Deserialises arbitrary bytes. */
static GstMeta *
deserialize (GstBuffer *buffer, const guint8 *data, gsize size, guint8 version)
{
  const GstMetaInfo *info = gst_ccl_meta_get_info ();
  GstMeta *meta;
  /* On the heap, where AddressSanitizer detects reads beyond the end. */
  guint8 *copy = g_memdup2 (data, size);

  meta = info->deserialize_func (info, buffer, copy, size, version);
  g_free (copy);
  return meta;
}

static void
check_serialization (GstBuffer *buffer, const GstCclMeta *meta, Input *input)
{
  GByteArray *bytes = g_byte_array_new ();
  GstBuffer *other = gst_buffer_new (), *wild = gst_buffer_new ();
  guint32 consumed;
  GstCclMeta *made;

  if (!gst_meta_serialize_simple ((const GstMeta *)meta, bytes))
    DIE ("it cannot be serialised");
  made = (GstCclMeta *)gst_meta_deserialize (other, bytes->data, bytes->len, &consumed);
  if (consumed != bytes->len)
    DIE ("%u of %u bytes were taken", consumed, bytes->len);
  assert_same (meta, made, FALSE, "serialised");

  /* The versions of the format: without contours, with them, with columns, with regions, and with
   * classes. */
  for (guint8 version = 4; version <= 8; version++) {
    guint n;

    made = (GstCclMeta *)deserialize (wild, input->data, input->size, version);
    if (!made)
      continue;
    n = gst_ccl_meta_get_n_rows (made);
    for (guint i = 0; i < n; i++)
      read_track (made, i);
    read_columns (made);
    read_region_state (made);
    read_classes (made);
    if (n > gst_ccl_meta_get_n_components (made) || gst_ccl_meta_get_frame_width (made) == 0 ||
        gst_ccl_meta_get_frame_height (made) == 0)
      DIE ("unsound metadata was made of bytes");
  }
  gst_buffer_unref (other);
  gst_buffer_unref (wild);
  g_byte_array_unref (bytes);
}
#endif

static void
assert_integer (JsonObject *object, const char *member, guint64 expected)
{
  JsonNode *node = json_object_get_member (object, member);

  if (!node || json_node_get_value_type (node) != G_TYPE_INT64 ||
      (guint64)json_node_get_int (node) != expected)
    DIE ("JSON member %s is not %lu", member, (unsigned long)expected);
}

static void
assert_double (JsonObject *object, const char *member, gdouble expected)
{
  JsonNode *node = json_object_get_member (object, member);

  if (!node)
    DIE ("no JSON member %s", member);
  if (!isfinite (expected) ? !json_node_is_null (node)
                           : json_node_is_null (node) || json_node_get_double (node) != expected)
    DIE ("JSON member %s is not %.17g", member, expected);
}

static void
assert_line (const gchar *text, gsize size, const GstCclMeta *meta, GstClockTime pts)
{
  JsonParser *parser = json_parser_new ();
  JsonObject *line;
  JsonArray *components;
  guint n;

  if (size == 0 || text[size - 1] != '\n' || memchr (text, '\n', size - 1))
    DIE ("not one line");
  if (!json_parser_load_from_data (parser, text, (gssize)size, NULL))
    DIE ("no JSON: %.*s", (int)size, text);
  line = json_node_get_object (json_parser_get_root (parser));
  if (GST_CLOCK_TIME_IS_VALID (pts))
    assert_integer (line, "pts", pts);
  else if (!json_object_get_null_member (line, "pts"))
    DIE ("a time stamp that the frame does not have");
  assert_integer (line, "width", gst_ccl_meta_get_frame_width (meta));
  assert_integer (line, "height", gst_ccl_meta_get_frame_height (meta));
  assert_integer (line, "count", gst_ccl_meta_get_n_components (meta));
  if (json_object_get_boolean_member (line, "truncated") != gst_ccl_meta_is_truncated (meta))
    DIE ("truncated is wrong");
  n = gst_ccl_meta_get_n_rows (meta);
  components = json_object_get_array_member (line, "components");
  if (json_array_get_length (components) != n)
    DIE ("%u components instead of %u", json_array_get_length (components), n);
  for (guint i = 0; i < n; i++) {
    JsonObject *component = json_array_get_object_element (components, i);
    const GstCclComponent *row = gst_ccl_meta_get_component (meta, i);
    assert_integer (component, "label", row->label);
    assert_integer (component, "area", row->area);
    assert_integer (component, "x", row->x);
    assert_integer (component, "y", row->y);
    assert_integer (component, "width", row->width);
    assert_integer (component, "height", row->height);
    assert_double (component, "cx", row->centroid_x);
    assert_double (component, "cy", row->centroid_y);
  }
  g_object_unref (parser);
  n_lines++;
}

static void
check_json (GstBuffer *buffer, const GstCclMeta *meta)
{
  GstBuffer *out = gst_harness_push_and_pull (json, gst_buffer_ref (buffer));
  GstMapInfo map;

  if (!out || !gst_buffer_map (out, &map, GST_MAP_READ))
    DIE ("no line");
  assert_line ((const gchar *)map.data, map.size, meta, GST_BUFFER_PTS (buffer));
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
}

/* A width or height: often small, sometimes arbitrary. */
static guint
take_length (Input *input)
{
  guint8 choice = take_byte (input);
  guint anything = take_number (input) & G_MAXINT;

  return choice < 240 ? choice * 8u + 1 : MAX (anything, 1);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Input input = {data, size};
  GstBuffer *buffer, *labels = NULL;
  GstCclComponent rows[MOST_ROWS];
  guint8 flags = take_byte (&input);
  guint width = take_length (&input), height = take_length (&input);
  guint n_rows = take_byte (&input) % (MOST_ROWS + 1);
  guint n_components = n_rows;
  GstCclMeta *meta;

  start ();
  for (guint i = 0; i < n_rows; i++)
    rows[i] = take_component (&input, i + 1, width, height, flags & 1);
  if (flags & 2)
    n_components += take_number (&input) & G_MAXINT;
  if (flags & 4)
    labels = gst_buffer_new ();
  buffer = gst_buffer_new_allocate (NULL, 2, NULL);
  GST_BUFFER_PTS (buffer) = flags & 8 ? take_long_number (&input) / 2 : GST_CLOCK_TIME_NONE;
  meta = gst_buffer_add_ccl_meta (
      buffer, width, height, n_components, rows, n_rows, labels, 4 * (gsize)width + (flags & 16));
  gst_clear_buffer (&labels);
  n_metas++;

  check_copies (buffer, meta);
  check_scaling (buffer, meta, flags & 1, take_length (&input), take_length (&input));
  check_json (buffer, meta);
#if GST_CHECK_VERSION(1, 24, 0)
  check_serialization (buffer, meta, &input);
#endif
  gst_buffer_unref (buffer);
  return 0;
}

void
make_quick (uint8_t *data, size_t size)
{
  /* Fewer rows than an input of random bytes could fill. */
  data[3] %= 3;
}
