/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccljsonline.h"

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>

#include <math.h>
#include <string.h>

#include "gstccljsoncontours.h"
#include "gstccljsonmember.h"
#include "shared/gstcclevents.h"

#define MAX_SIDE 65535 /* pixels of a frame's width or height */

/* The rows of a frame and what belongs to them. */
typedef struct {
  guint n;
  JsonObject **objects; /* borrowed */
  GstCclComponent *rows;
  GstCclTrackInfo *tracks; /* NULL: not tracked */
  GArray *ids;             /* guint64 */
} Table;

static void
clear_table (Table *table)
{
  g_free (table->objects);
  g_free (table->rows);
  g_free (table->tracks);
  g_clear_pointer (&table->ids, g_array_unref);
}

/* The box must be inside the frame. */
static gboolean
read_component (JsonObject *object, guint width, guint height, GstCclComponent *c, GError **error)
{
  if (!gst_ccl_json_member_uint32 (object, "label", &c->label, error) ||
      !gst_ccl_json_member_uint32 (object, "area", &c->area, error) ||
      !gst_ccl_json_member_uint32 (object, "x", &c->x, error) ||
      !gst_ccl_json_member_uint32 (object, "y", &c->y, error) ||
      !gst_ccl_json_member_uint32 (object, "width", &c->width, error) ||
      !gst_ccl_json_member_uint32 (object, "height", &c->height, error) ||
      !gst_ccl_json_member_double (object, "cx", &c->centroid_x, error) ||
      !gst_ccl_json_member_double (object, "cy", &c->centroid_y, error))
    return FALSE;
  if (c->width < 1 || c->x >= width || c->width > width - c->x || c->height < 1 || c->y >= height ||
      c->height > height - c->y)
    return gst_ccl_json_member_fail (error, "components", "inside the frame");
  return TRUE;
}

static gboolean
read_state (JsonObject *object, GstCclTrackState *state, GError **error)
{
  static const gchar *const names[] = {[GST_CCL_TRACK_STATE_TENTATIVE] = "tentative",
      [GST_CCL_TRACK_STATE_CONFIRMED] = "confirmed",
      [GST_CCL_TRACK_STATE_STATIC] = "static",
      [GST_CCL_TRACK_STATE_LOST] = "lost"};
  const gchar *text;

  if (!gst_ccl_json_member_text (object, "state", &text, error))
    return FALSE;
  for (guint i = GST_CCL_TRACK_STATE_TENTATIVE; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (text, names[i])) {
      *state = (GstCclTrackState)i;
      return TRUE;
    }
  return gst_ccl_json_member_fail (error, "state", "the state of a track");
}

static gboolean
read_float (JsonObject *object, const gchar *key, gfloat *value, GError **error)
{
  gdouble number;

  if (!gst_ccl_json_member_double (object, key, &number, error))
    return FALSE;
  *value = isfinite (number) && fabs (number) <= G_MAXFLOAT ? (gfloat)number : 0;
  return TRUE;
}

/* Position and speed, if they are there. The direction of the speed is not written. */
static gboolean
read_motion (JsonObject *object, GstCclTrackInfo *track, GError **error)
{
  JsonArray *position;
  gfloat speed;

  if (!gst_ccl_json_member_list (object, "position", &position, error))
    return FALSE;
  if (!position)
    return TRUE;
  if (json_array_get_length (position) != 2 ||
      !gst_ccl_json_node_number (json_array_get_element (position, 0), &track->position_x) ||
      !gst_ccl_json_node_number (json_array_get_element (position, 1), &track->position_y) ||
      !isfinite (track->position_x) || !isfinite (track->position_y))
    return gst_ccl_json_member_fail (error, "position", "a list of two numbers");
  if (!read_float (object, "position_deviation", &track->position_deviation, error) ||
      !read_float (object, "speed", &speed, error) ||
      !read_float (object, "speed_deviation", &track->speed_deviation, error))
    return FALSE;
  track->position_deviation = MAX (track->position_deviation, 1e-6f); /* 0: not known */
  track->ground_velocity_x = speed / 3.6f;
  return TRUE;
}

static gboolean
read_ids (JsonObject *object, GstCclTrackInfo *track, GArray *ids, GError **error)
{
  JsonArray *list;

  if (!gst_ccl_json_member_list (object, "ids", &list, error))
    return FALSE;
  track->first_id = ids->len;
  track->n_ids = list ? json_array_get_length (list) : 0;
  for (guint i = 0; i < track->n_ids; i++) {
    JsonNode *node = json_array_get_element (list, i);
    gint64 id = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : 0;

    g_array_append_val (ids, id);
  }
  return TRUE;
}

static gboolean
read_track (JsonObject *object, GstCclTrackInfo *track, GArray *ids, GError **error)
{
  *track = (GstCclTrackInfo){0};
  return gst_ccl_json_member_uint (object, "id", G_MAXINT64, &track->id, error) &&
         read_state (object, &track->state, error) &&
         gst_ccl_json_member_uint32 (object, "age", &track->age, error) &&
         read_float (object, "vx", &track->velocity_x, error) &&
         read_float (object, "vy", &track->velocity_y, error) &&
         read_ids (object, track, ids, error) &&
         (!json_object_has_member (object, "parent") ||
             gst_ccl_json_member_uint (object, "parent", G_MAXINT64, &track->parent_id, error)) &&
         read_motion (object, track, error);
}

static gboolean
read_rows (JsonArray *components, guint width, guint height, Table *table, GError **error)
{
  table->n = json_array_get_length (components);
  table->objects = g_new (JsonObject *, table->n);
  table->rows = g_new (GstCclComponent, table->n);
  table->ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint i = 0; i < table->n; i++) {
    JsonObject **object = &table->objects[i];

    if (!gst_ccl_json_element_object (components, i, "components", object, error) ||
        !read_component (*object, width, height, &table->rows[i], error))
      return FALSE;
    if (i == 0 && json_object_has_member (*object, "id"))
      table->tracks = g_new (GstCclTrackInfo, table->n);
    if (table->tracks && !read_track (*object, &table->tracks[i], table->ids, error))
      return FALSE;
  }
  return TRUE;
}

/* The classes of the rows, as far as they have any. */
static gboolean
attach_classes (GstCclMeta *meta, const Table *table, GError **error)
{
  g_autofree const gchar **names = g_new0 (const gchar *, table->n);
  g_autofree gdouble *confidences = g_new (gdouble, table->n);
  gboolean ok = TRUE, any = FALSE;

  for (guint i = 0; i < table->n && ok; i++) {
    confidences[i] = NAN;
    if (!json_object_has_member (table->objects[i], "class"))
      continue;
    ok = gst_ccl_json_member_text (table->objects[i], "class", &names[i], error) &&
         gst_ccl_json_member_double (table->objects[i], "confidence", &confidences[i], error);
    any = TRUE;
  }
  if (ok && any) {
    g_autoptr (GstCclClasses) classes = gst_ccl_classes_new (names, confidences, table->n);

    gst_ccl_meta_set_classes (meta, classes);
  }
  return ok;
}

/* Whether a member of a component is a column. */
static gboolean
is_column (JsonObject *object, const gchar *key)
{
  static const gchar *const others[] = {"label", "area", "x", "y", "width", "height", "cx", "cy",
      "id", "state", "age", "vx", "vy", "ids", "parent", "position", "position_deviation", "speed",
      "speed_deviation", "class", "confidence", "in", "crossed", "contours", NULL};
  gdouble value;

  return !g_strv_contains (others, key) &&
         gst_ccl_json_node_number (json_object_get_member (object, key), &value);
}

/* The columns of the first row, and their values in all rows. */
static void
attach_columns (GstCclMeta *meta, const Table *table)
{
  g_autoptr (GList) members = table->n > 0 ? json_object_get_members (table->objects[0]) : NULL;
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();

  for (GList *item = members; item; item = item->next)
    if (is_column (table->objects[0], item->data))
      g_ptr_array_add (keys, item->data);
  if (keys->len > 0) {
    g_autofree gdouble *values = g_new (gdouble, (gsize)keys->len * table->n);
    g_autoptr (GstCclColumns) columns = NULL;

    for (guint k = 0; k < keys->len; k++)
      for (guint i = 0; i < table->n; i++)
        if (!gst_ccl_json_node_number (json_object_get_member (table->objects[i], keys->pdata[k]),
                &values[(gsize)k * table->n + i]))
          values[(gsize)k * table->n + i] = NAN;
    columns = gst_ccl_columns_new ((const gchar *const *)keys->pdata, keys->len, values, table->n);
    gst_ccl_meta_set_columns (meta, columns);
  }
}

static gboolean
read_region (JsonObject *object, GstCclRegionInfo *region, GError **error)
{
  guint64 inside = 0;

  *region = (GstCclRegionInfo){.is_line = json_object_has_member (object, "line")};
  if (!gst_ccl_json_member_text (object, region->is_line ? "line" : "region", &region->name, error))
    return FALSE;
  if (region->is_line)
    return gst_ccl_json_member_uint (object, "forward", G_MAXINT64, &region->forward, error) &&
           gst_ccl_json_member_uint (object, "backward", G_MAXINT64, &region->backward, error);
  if (!gst_ccl_json_member_uint (object, "inside", G_MAXUINT32, &inside, error))
    return FALSE;
  region->inside = (guint)inside;
  return TRUE;
}

/* Sets the place of a row in the region or line of that name. */
static void
set_place (const GArray *regions, gint8 *places, guint n_rows, guint row, const gchar *name,
    gboolean is_line, gint8 place)
{
  for (guint i = 0; i < regions->len; i++) {
    const GstCclRegionInfo *region = &g_array_index (regions, GstCclRegionInfo, i);

    if (region->is_line == is_line && g_str_equal (region->name, name))
      places[(gsize)i * n_rows + row] = place;
  }
}

static gboolean
read_places (const Table *table, guint row, const GArray *regions, gint8 *places, GError **error)
{
  JsonArray *inside, *crossed;
  const gchar *name, *direction;
  JsonObject *crossing;

  if (!gst_ccl_json_member_list (table->objects[row], "in", &inside, error) ||
      !gst_ccl_json_member_list (table->objects[row], "crossed", &crossed, error))
    return FALSE;
  for (guint i = 0; inside && i < json_array_get_length (inside); i++) {
    JsonNode *node = json_array_get_element (inside, i);

    if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
      return gst_ccl_json_member_fail (error, "in", "a list of texts");
    set_place (regions, places, table->n, row, json_node_get_string (node), FALSE, 1);
  }
  for (guint i = 0; crossed && i < json_array_get_length (crossed); i++) {
    if (!gst_ccl_json_element_object (crossed, i, "crossed", &crossing, error) ||
        !gst_ccl_json_member_text (crossing, "line", &name, error) ||
        !gst_ccl_json_member_text (crossing, "direction", &direction, error))
      return FALSE;
    set_place (
        regions, places, table->n, row, name, TRUE, g_str_equal (direction, "backward") ? -1 : 1);
  }
  return TRUE;
}

static gboolean
attach_regions (GstCclMeta *meta, JsonObject *frame, const Table *table, GError **error)
{
  g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (GstCclRegionInfo));
  g_autofree gint8 *places = NULL;
  JsonArray *list;
  gboolean ok = TRUE;

  if (!gst_ccl_json_member_list (frame, "regions", &list, error))
    return FALSE;
  if (!list)
    return TRUE;
  g_array_set_size (regions, json_array_get_length (list));
  places = g_new0 (gint8, (gsize)regions->len * table->n + 1);
  for (guint i = 0; i < regions->len && ok; i++) {
    JsonObject *region;

    ok = gst_ccl_json_element_object (list, i, "regions", &region, error) &&
         read_region (region, &g_array_index (regions, GstCclRegionInfo, i), error);
  }
  for (guint row = 0; row < table->n && ok; row++)
    ok = read_places (table, row, regions, places, error);
  if (ok) {
    g_autoptr (GstCclRegionState) state = gst_ccl_region_state_new (
        (const GstCclRegionInfo *)(gpointer)regions->data, regions->len, places, table->n);

    gst_ccl_meta_set_region_state (meta, state);
  }
  return ok;
}

static gboolean
attach_labeller (GstCclMeta *meta, JsonObject *frame, GError **error)
{
  g_autoptr (GstCclLabeller) labeller = NULL;
  const gchar *name;

  if (!json_object_has_member (frame, "labeller"))
    return TRUE;
  if (!gst_ccl_json_member_text (frame, "labeller", &name, error))
    return FALSE;
  labeller = gst_ccl_labeller_new (name, NULL);
  gst_ccl_meta_set_labeller (meta, labeller);
  return TRUE;
}

/* Adds the metadata of a labelled frame. */
static gboolean
attach_meta (GstCclJsonLine *line, JsonObject *frame, GError **error)
{
  JsonArray *components;
  Table table = {0};
  guint32 count;
  gboolean ok;

  if (!gst_ccl_json_member_uint32 (frame, "count", &count, error) ||
      !gst_ccl_json_member_list (frame, "components", &components, error))
    return FALSE;
  if (!components || json_array_get_length (components) > count)
    return gst_ccl_json_member_fail (error, "components", "a list of at most \"count\" objects");
  ok = read_rows (components, line->width, line->height, &table, error);
  if (ok) {
    GstCclMeta *meta =
        gst_buffer_add_ccl_meta (line->frame, line->width, line->height, 0, NULL, 0, NULL, 0);

    gst_ccl_meta_set_table (meta, count, table.rows, table.n, table.tracks,
        (const guint64 *)(gpointer)table.ids->data, table.ids->len);
    attach_columns (meta, &table);
    ok = attach_classes (meta, &table, error) && attach_regions (meta, frame, &table, error) &&
         attach_labeller (meta, frame, error) &&
         gst_ccl_json_contours_attach (meta, frame, table.objects, table.n, error);
  }
  clear_table (&table);
  return ok;
}

/* Notes the time of day, where the line has it. */
static gboolean
attach_utc (GstBuffer *buffer, JsonObject *frame, GError **error)
{
  const gchar *text, *from;
  g_autoptr (GDateTime) time = NULL;

  if (!json_object_has_member (frame, "utc"))
    return TRUE;
  if (!gst_ccl_json_member_text (frame, "utc", &text, error) ||
      !gst_ccl_json_member_text (frame, "utc_from", &from, error))
    return FALSE;
  time = g_date_time_new_from_iso8601 (text, NULL);
  if (!time || g_date_time_to_unix (time) < 0)
    return gst_ccl_json_member_fail (error, "utc", "a time since 1970 by ISO 8601");
  gst_ccl_utc_mark (buffer,
      g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time),
      g_str_equal (from, "sender"));
  return TRUE;
}

static gboolean
read_frame (GstCclJsonLine *line, JsonObject *frame, GError **error)
{
  JsonNode *count = json_object_get_member (frame, "count");
  guint64 width, height;

  if (!gst_ccl_json_member_uint (frame, "width", MAX_SIDE, &width, error) ||
      !gst_ccl_json_member_uint (frame, "height", MAX_SIDE, &height, error))
    return FALSE;
  if (width < 1 || height < 1)
    return gst_ccl_json_member_fail (error, "width", "the width of a frame");
  line->width = (guint)width;
  line->height = (guint)height;
  line->frame = gst_buffer_new ();
  GST_BUFFER_PTS (line->frame) = line->pts;
  return attach_utc (line->frame, frame, error) &&
         ((count && JSON_NODE_HOLDS_NULL (count)) || attach_meta (line, frame, error));
}

/* Makes the event that ccltrack sent. */
static gboolean
read_event (GstCclJsonLine *line, JsonObject *object, GError **error)
{
  static const gchar *const texts[] = {"class", "region", "line", "direction"};
  static const gchar *const numbers[] = {"dwell", "speed"};
  guint64 id, other = 0;
  const gchar *text;
  gdouble number;

  if (!gst_ccl_json_member_text (object, "event", &text, error) ||
      !gst_ccl_json_member_uint (object, "id", G_MAXINT64, &id, error) ||
      (json_object_has_member (object, "other") &&
          !gst_ccl_json_member_uint (object, "other", G_MAXINT64, &other, error)))
    return FALSE;
  line->event = gst_structure_new (GST_CCL_TRACK_EVENT, "event", G_TYPE_STRING, text, "id",
      G_TYPE_UINT64, id, "other", G_TYPE_UINT64, other, NULL);
  if (GST_CLOCK_TIME_IS_VALID (line->pts))
    gst_structure_set (line->event, "timestamp", G_TYPE_UINT64, line->pts, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    if (!json_object_has_member (object, texts[i]))
      continue;
    if (!gst_ccl_json_member_text (object, texts[i], &text, error))
      return FALSE;
    gst_structure_set (line->event, texts[i], G_TYPE_STRING, text, NULL);
  }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (!json_object_has_member (object, numbers[i]))
      continue;
    if (!gst_ccl_json_member_double (object, numbers[i], &number, error))
      return FALSE;
    gst_structure_set (line->event, numbers[i], G_TYPE_DOUBLE, number, NULL);
  }
  return TRUE;
}

static gboolean
read_object (GstCclJsonLine *line, JsonObject *object, GError **error)
{
  if (!gst_ccl_json_member_time (object, "pts", &line->pts, error) ||
      !gst_ccl_json_member_time (object, "running_time", &line->running_time, error))
    return FALSE;
  return json_object_has_member (object, "event") ? read_event (line, object, error)
                                                  : read_frame (line, object, error);
}

gboolean
gst_ccl_json_line_read (GstCclJsonLine *line, const gchar *text, gsize size, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  gboolean ok = FALSE;

  *line = (GstCclJsonLine){0};
  if (!g_utf8_validate (text, (gssize)size, NULL))
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "the line is not in UTF-8");
  else if (json_parser_load_from_data (parser, text, (gssize)size, error)) {
    JsonNode *root = json_parser_get_root (parser);

    if (root && JSON_NODE_HOLDS_OBJECT (root))
      ok = read_object (line, json_node_get_object (root), error);
    else
      g_set_error_literal (
          error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "the line is not an object");
  }
  if (!ok) {
    gst_ccl_json_line_clear (line);
    if (error) /* of json-glib, with a piece of the text */
      g_strdelimit ((*error)->message, "\n\r", ' ');
  }
  return ok;
}

void
gst_ccl_json_line_clear (GstCclJsonLine *line)
{
  gst_clear_buffer (&line->frame);
  g_clear_pointer (&line->event, gst_structure_free);
}
