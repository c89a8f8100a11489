/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclregionlist.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "shared/gstcclfile.h"
#include "shared/gstcclpolygon.h"
#include "shared/gstccltextreader.h"

#define MAX_FILE_SIZE (1 << 20)

static void
clear_region (gpointer data)
{
  CclRegion *region = data;

  g_free ((gchar *)region->name);
  g_free ((CclPoint *)region->points);
}

GArray *
gst_ccl_region_list_new (void)
{
  GArray *list = g_array_new (FALSE, TRUE, sizeof (CclRegion));

  g_array_set_clear_func (list, clear_region);
  return list;
}

static const gchar *
kind_name (CclRegionKind kind)
{
  return kind == CUDACCL_REGION_LINE ? "line" : "region";
}

static gboolean
are_same (const CclPoint *a, const CclPoint *b)
{
  return a->x == b->x && a->y == b->y;
}

/* The settings of a region that are numbers. */
typedef struct {
  gdouble stay;                     /* seconds */
  gdouble faster_than, slower_than; /* km/h */
} Numbers;

static const struct {
  const gchar *text, *member; /* of a text, and of a file */
  gboolean of_lines;
  gdouble most;
  const gchar *unit;
  gsize offset;
} settings[] = {
    {"stay=", "stay", FALSE, 1e9, "seconds", G_STRUCT_OFFSET (Numbers, stay)},
    {"faster-than=", "faster_than", TRUE, 1e6, "km/h", G_STRUCT_OFFSET (Numbers, faster_than)},
    {"slower-than=", "slower_than", TRUE, 1e6, "km/h", G_STRUCT_OFFSET (Numbers, slower_than)},
};

/* Adds a region; takes over the name. Returns why it cannot be added, or NULL. */
static gchar *
add_region (GArray *list, CclRegionKind kind, gchar *name, const GArray *points, gboolean relative,
    const Numbers *numbers)
{
  const guint n = points->len;
  CclRegion region = {.name = name,
      .kind = kind,
      .relative = relative,
      .n_points = n,
      .points = g_memdup2 (points->data, n * sizeof (CclPoint)),
      .stay = (guint64)(numbers->stay * GST_SECOND),
      .faster_than = numbers->faster_than,
      .slower_than = numbers->slower_than};
  gchar *reason = NULL;

  for (guint i = 0; i < list->len && !reason; i++)
    if (g_str_equal (g_array_index (list, CclRegion, i).name, name))
      reason = g_strdup_printf ("the name \"%s\" is used twice", name);
  if (!reason && kind == CUDACCL_REGION_LINE && n != 2)
    reason = g_strdup_printf ("line \"%s\" has %u points instead of 2", name, n);
  if (!reason && kind == CUDACCL_REGION_POLYGON && (n < 3 || n > CUDACCL_MAX_REGION_POINTS))
    reason = g_strdup_printf (
        "region \"%s\" has %u points; 3 to %d are possible", name, n, CUDACCL_MAX_REGION_POINTS);
  if (!reason && kind == CUDACCL_REGION_LINE && are_same (&region.points[0], &region.points[1]))
    reason = g_strdup_printf ("both points of line \"%s\" are the same", name);
  if (!reason && kind == CUDACCL_REGION_POLYGON && gst_ccl_polygon_is_flat (region.points, n))
    reason = g_strdup_printf ("all points of region \"%s\" are on one line", name);
  if (!reason && list->len >= CUDACCL_MAX_REGIONS)
    reason = g_strdup_printf ("more than %d regions and lines", CUDACCL_MAX_REGIONS);
  if (reason)
    clear_region (&region);
  else
    g_array_append_val (list, region);
  return reason;
}

/* Whether a word is the name of a kind, which is set. */
static gboolean
is_kind (const gchar *word, CclRegionKind *kind)
{
  const gsize length = (gsize)gst_ccl_text_word_length (word);

  for (*kind = CUDACCL_REGION_POLYGON; *kind <= CUDACCL_REGION_LINE; (*kind)++)
    if (length == strlen (kind_name (*kind)) && strncmp (word, kind_name (*kind), length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_kind (GstCclTextReader *reader, CclRegionKind *kind)
{
  const gint length = gst_ccl_text_word_length (reader->at);

  if (!is_kind (reader->at, kind))
    return gst_ccl_text_reader_fail (
        reader, reader->at, "expected \"region\" or \"line\", found \"%.*s\"", length, reader->at);
  reader->at += length;
  gst_ccl_text_reader_skip_spaces (reader);
  return TRUE;
}

/* Reads "SETTING=NUMBER" if it is one. */
static gboolean
read_setting (GstCclTextReader *reader, CclRegionKind kind, Numbers *numbers, gboolean *found)
{
  const gchar *start = reader->at;
  gdouble value;
  gchar *end;
  guint i = 0;

  while (i < G_N_ELEMENTS (settings) && !g_str_has_prefix (start, settings[i].text))
    i++;
  *found = i < G_N_ELEMENTS (settings);
  if (!*found)
    return TRUE;
  if (kind == CUDACCL_REGION_LINE && !settings[i].of_lines)
    return gst_ccl_text_reader_fail (reader, start, "a line has no %s", settings[i].member);
  reader->at += strlen (settings[i].text);
  value = g_ascii_strtod (reader->at, &end);
  if (end == reader->at || !gst_ccl_text_ends_word (*end) ||
      !(value >= 0 && value <= settings[i].most))
    return gst_ccl_text_reader_fail (
        reader, reader->at, "expected a number of %s", settings[i].unit);
  G_STRUCT_MEMBER (gdouble, numbers, settings[i].offset) = value;
  reader->at = end;
  return TRUE;
}

static gboolean
read_points (GstCclTextReader *reader, CclRegionKind kind, GArray *points, gboolean *relative,
    Numbers *numbers)
{
  gboolean ok = TRUE, is_setting;

  while (ok && !gst_ccl_text_ends_item (*reader->at)) {
    ok = read_setting (reader, kind, numbers, &is_setting);
    if (ok && !is_setting)
      ok = gst_ccl_text_reader_add_point (reader, points, relative);
    gst_ccl_text_reader_skip_spaces (reader);
  }
  return ok;
}

static gboolean
read_item (GstCclTextReader *reader, GArray *list)
{
  const gchar *start = reader->at;
  gboolean relative = FALSE, ok;
  gchar *name = NULL;
  g_autofree gchar *reason = NULL;
  CclRegionKind kind = CUDACCL_REGION_POLYGON;
  Numbers numbers = {0};
  g_autoptr (GArray) points = NULL;

  if (!read_kind (reader, &kind) || !gst_ccl_text_reader_read_name (reader, &name))
    return FALSE;
  points = g_array_new (FALSE, FALSE, sizeof (CclPoint));
  ok = read_points (reader, kind, points, &relative, &numbers);
  if (ok)
    reason = add_region (list, kind, name, points, relative, &numbers);
  else
    g_free (name);
  if (reason)
    ok = gst_ccl_text_reader_fail (reader, start, "%s", reason);
  return ok;
}

/* source: where the text is from, for messages. */
static gboolean
add_items (GArray *list, const gchar *source, const gchar *text, GError **error)
{
  GstCclTextReader reader = {source, text, text, error};
  gboolean ok = TRUE;

  while (ok && gst_ccl_text_reader_find_item (&reader))
    ok = read_item (&reader, list);
  return ok;
}

gboolean
gst_ccl_region_list_add_text (GArray *list, const gchar *text, GError **error)
{
  return add_items (list, "regions", text ? text : "", error);
}

/* A JSON file that is being read. */
typedef struct {
  const gchar *path;
  GError **error;
} File;

static gboolean G_GNUC_PRINTF (3, 4)
    fail_in_file (const File *file, const gchar *place, const gchar *format, ...)
{
  gchar *reason;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (file->error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "regions-location: %s: %s: %s",
      file->path, place, reason);
  g_free (reason);
  return FALSE;
}

static gboolean
is_number (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_VALUE (node) &&
         (json_node_get_value_type (node) == G_TYPE_INT64 ||
             json_node_get_value_type (node) == G_TYPE_DOUBLE);
}

static JsonArray *
get_array (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static gboolean
take_points (const File *file, const gchar *place, JsonNode *node, GArray *points)
{
  JsonArray *array = get_array (node);

  if (!array)
    return fail_in_file (file, place, "needs \"points\", an array of [x, y]");
  for (guint i = 0; i < json_array_get_length (array); i++) {
    JsonArray *pair = get_array (json_array_get_element (array, i));
    CclPoint point;

    if (!pair || json_array_get_length (pair) != 2 ||
        !is_number (json_array_get_element (pair, 0)) ||
        !is_number (json_array_get_element (pair, 1)))
      return fail_in_file (file, place, "point %u is not [x, y]", i + 1);
    point.x = json_array_get_double_element (pair, 0);
    point.y = json_array_get_double_element (pair, 1);
    g_array_append_val (points, point);
  }
  return TRUE;
}

/* Members that are not known are probably misspelt. Nothing of a file that may be of another kind
 * is in a message. */
static gboolean
check_members (const File *file, const gchar *place, JsonObject *object, const gchar *const *known)
{
  g_autoptr (GList) members = json_object_get_members (object);
  gboolean ok = TRUE;

  for (GList *m = members; m && ok; m = m->next)
    ok = g_strv_contains (known, m->data);
  if (!ok) {
    g_autofree gchar *names = g_strjoinv (", ", (gchar **)known);

    fail_in_file (file, place, "has a member that is none of %s", names);
  }
  return ok;
}

static gboolean
take_numbers (const File *file, const gchar *place, JsonObject *object, Numbers *numbers)
{
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    JsonNode *node = json_object_get_member (object, settings[i].member);
    const gdouble value = is_number (node) ? json_node_get_double (node) : -1;

    if (node && !(value >= 0 && value <= settings[i].most))
      return fail_in_file (
          file, place, "\"%s\" is not a number of %s", settings[i].member, settings[i].unit);
    if (node)
      G_STRUCT_MEMBER (gdouble, numbers, settings[i].offset) = value;
  }
  return TRUE;
}

static gboolean
take_region (const File *file, const gchar *place, JsonNode *node, CclRegionKind kind, GArray *list)
{
  static const gchar *const members[] = {
      "name", "points", "relative", "stay", "faster_than", "slower_than", NULL};
  static const gchar *const members_of_line[] = {
      "name", "points", "relative", "faster_than", "slower_than", NULL};
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode *name, *relative;
  Numbers numbers = {0};
  g_autoptr (GArray) points = NULL;
  g_autofree gchar *reason = NULL;
  gboolean ok;

  if (!object)
    return fail_in_file (file, place, "is not an object");
  if (!check_members (file, place, object, kind == CUDACCL_REGION_LINE ? members_of_line : members))
    return FALSE;
  name = json_object_get_member (object, "name");
  relative = json_object_get_member (object, "relative");
  if (!name || json_node_get_value_type (name) != G_TYPE_STRING || !*json_node_get_string (name))
    return fail_in_file (file, place, "needs a \"name\"");
  if (relative && json_node_get_value_type (relative) != G_TYPE_BOOLEAN)
    return fail_in_file (file, place, "\"relative\" is neither true nor false");
  if (!take_numbers (file, place, object, &numbers))
    return FALSE;
  points = g_array_new (FALSE, FALSE, sizeof (CclPoint));
  ok = take_points (file, place, json_object_get_member (object, "points"), points);
  if (ok)
    reason = add_region (list, kind, g_strdup (json_node_get_string (name)), points,
        relative && json_node_get_boolean (relative), &numbers);
  if (reason)
    ok = fail_in_file (file, place, "%s", reason);
  return ok;
}

static gboolean
take_regions (
    const File *file, JsonObject *root, const gchar *member, CclRegionKind kind, GArray *list)
{
  JsonNode *node = json_object_get_member (root, member);
  JsonArray *array = get_array (node);
  gboolean ok = TRUE;

  if (node && !array)
    return fail_in_file (file, member, "is not an array");
  for (guint i = 0; array && ok && i < json_array_get_length (array); i++) {
    g_autofree gchar *place = g_strdup_printf ("%s %u", kind_name (kind), i + 1);

    ok = take_region (file, place, json_array_get_element (array, i), kind, list);
  }
  return ok;
}

static void
on_json_error (JsonParser *parser, const GError *error, gpointer line)
{
  *(guint *)line = json_parser_get_current_line (parser);
}

/* The object that a JSON text is; NULL with the error set. json-glib's own message would quote what
 * it found. */
static JsonObject *
parse_object (JsonParser *parser, const File *file, const gchar *text, gsize size)
{
  guint line = 0;
  JsonNode *root;

  g_signal_connect (parser, "error", G_CALLBACK (on_json_error), &line);
  if (!json_parser_load_from_data (parser, text, (gssize)size, NULL)) {
    g_autofree gchar *place = g_strdup_printf ("line %u", line);

    fail_in_file (file, place, "is not JSON");
    return NULL;
  }
  root = json_parser_get_root (parser);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    return json_node_get_object (root);
  fail_in_file (file, "top level", "is not an object");
  return NULL;
}

static gboolean
add_json (GArray *list, const File *file, const gchar *text, gsize size)
{
  static const gchar *const members[] = {"regions", "lines", NULL};
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *object = parse_object (parser, file, text, size);

  return object && check_members (file, "top level", object, members) &&
         take_regions (file, object, "regions", CUDACCL_REGION_POLYGON, list) &&
         take_regions (file, object, "lines", CUDACCL_REGION_LINE, list);
}

/* Whether a file begins with an item as the property has them. Only then messages quote its words:
 * it may be a file of another kind. */
static gboolean
has_items (const gchar *text, gsize size)
{
  GstCclTextReader reader = {NULL, text, text, NULL};
  CclRegionKind kind;

  return g_utf8_validate (text, (gssize)size, NULL) && gst_ccl_text_reader_find_item (&reader) &&
         is_kind (reader.at, &kind);
}

static void
clear_file (gpointer data)
{
  GstCclRegionFile *file = data;

  g_free (file->path);
  g_free (file->text);
  g_clear_error (&file->error);
}

GstCclRegionFile *
gst_ccl_region_file_read (const gchar *path)
{
  GstCclRegionFile *file;

  if (!path)
    return NULL;
  file = g_atomic_rc_box_new0 (GstCclRegionFile);
  file->path = g_strdup (path);
  file->text = gst_ccl_file_read (path, MAX_FILE_SIZE, &file->size, &file->error);
  if (!file->text)
    g_prefix_error (&file->error, "regions-location: ");
  return file;
}

GstCclRegionFile *
gst_ccl_region_file_ref (GstCclRegionFile *file)
{
  return file ? g_atomic_rc_box_acquire (file) : NULL;
}

void
gst_ccl_region_file_unref (GstCclRegionFile *file)
{
  if (file)
    g_atomic_rc_box_release_full (file, clear_file);
}

gboolean
gst_ccl_region_list_add_file (GArray *list, const GstCclRegionFile *content, GError **error)
{
  const File file = {content->path, error};
  const gsize size = content->size;
  const gchar *text = content->text;
  g_autofree gchar *source = NULL;

  if (!text) {
    g_propagate_error (error, g_error_copy (content->error));
    return FALSE;
  }
  source = g_strconcat ("regions-location: ", content->path, NULL);
  return has_items (text, size) ? add_items (list, source, text, error)
                                : add_json (list, &file, text, size);
}

static void
append_double (GValue *array, gdouble number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_set_double (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

static GstStructure *
describe_region (
    const CclRegion *region, guint frame_width, guint frame_height, const CclRegionCounts *counts)
{
  GstStructure *structure = gst_structure_new (kind_name (region->kind), "name", G_TYPE_STRING,
      region->name, "kind", G_TYPE_STRING, kind_name (region->kind), NULL);
  GValue points = G_VALUE_INIT;

  gst_value_array_init (&points, 2 * region->n_points);
  for (guint i = 0; i < region->n_points; i++) {
    append_double (&points, region->points[i].x / (region->relative ? 1 : frame_width));
    append_double (&points, region->points[i].y / (region->relative ? 1 : frame_height));
  }
  gst_structure_take_value (structure, "points", &points);
  if (region->kind == CUDACCL_REGION_LINE)
    gst_structure_set (structure, "forward", G_TYPE_UINT64, counts->forward, "backward",
        G_TYPE_UINT64, counts->backward, NULL);
  else
    gst_structure_set (structure, "inside", G_TYPE_UINT, counts->inside, "entered", G_TYPE_UINT64,
        counts->entered, "left", G_TYPE_UINT64, counts->left, "stayed", G_TYPE_UINT64,
        counts->stayed, NULL);
  gst_structure_set (structure, "faster", G_TYPE_UINT64, counts->faster, "slower", G_TYPE_UINT64,
      counts->slower, NULL);
  return structure;
}

void
gst_ccl_region_list_describe (const GArray *list, guint frame_width, guint frame_height,
    const CclRegionCounts *counts, GstStructure *structure)
{
  GValue array = G_VALUE_INIT;

  gst_value_array_init (&array, list->len);
  for (guint i = 0; i < list->len; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, describe_region (&g_array_index (list, CclRegion, i), frame_width,
                                    frame_height, &counts[i]));
    gst_value_array_append_and_take_value (&array, &value);
  }
  gst_structure_take_value (structure, "regions", &array);
}
