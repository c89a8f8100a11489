/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccljsontext.h"

#include <cudaccl/columns.h>

#include <math.h>

/* JSON has no infinities and no NaN; the labellers never write one. */
static void
append_double (GString *line, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value)) {
    g_string_append (line, "null");
    return;
  }
  if (value == 0)
    value = 0; /* also for −0, which readers of JSON take for a whole number */
  /* 15 digits are enough for most doubles; 17 give any double back. */
  if (g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.15g", value), NULL) != value &&
      g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.16g", value), NULL) != value)
    g_ascii_formatd (text, sizeof text, "%.17g", value);
  g_string_append (line, text);
}

void
gst_ccl_json_append_rounded (GString *line, gdouble value, guint n_digits)
{
  gchar format[] = "%.0f", text[G_ASCII_DTOSTR_BUF_SIZE];

  format[2] = (gchar)('0' + n_digits);
  if (!(fabs (value) <= 1e15)) /* NaN, too */
    append_double (line, value);
  else
    g_string_append (line, g_ascii_formatd (text, sizeof text, format, value));
}

static const gchar *
state_name (GstCclTrackState state)
{
  switch (state) {
  case GST_CCL_TRACK_STATE_TENTATIVE:
    return "tentative";
  case GST_CCL_TRACK_STATE_STATIC:
    return "static";
  case GST_CCL_TRACK_STATE_LOST:
    return "lost";
  default:
    return "confirmed";
  }
}

/* Where a track is on the ground, and how fast, if that is known. */
static void
append_motion (GString *line, const GstCclTrackInfo *track)
{
  gdouble x, y, position_deviation, speed, speed_deviation;

  if (!gst_ccl_track_info_get_position (track, &x, &y, &position_deviation) ||
      !gst_ccl_track_info_get_speed (track, &speed, &speed_deviation))
    return;
  g_string_append (line, ",\"position\":[");
  gst_ccl_json_append_rounded (line, x, 3);
  g_string_append_c (line, ',');
  gst_ccl_json_append_rounded (line, y, 3);
  g_string_append (line, "],\"position_deviation\":");
  gst_ccl_json_append_rounded (line, position_deviation, 3);
  g_string_append (line, ",\"speed\":");
  gst_ccl_json_append_rounded (line, speed, 2);
  g_string_append (line, ",\"speed_deviation\":");
  gst_ccl_json_append_rounded (line, speed_deviation, 2);
}

static void
append_track (GString *line, const GstCclMeta *meta, guint row)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
  guint n_ids;
  const guint64 *ids = gst_ccl_meta_get_ids (meta, row, &n_ids);

  if (!track)
    return;

  g_string_append_printf (line,
      ",\"id\":%" G_GUINT64_FORMAT ",\"state\":\"%s\",\"age\":%u,\"vx\":", track->id,
      state_name (track->state), track->age);
  append_double (line, track->velocity_x);
  g_string_append (line, ",\"vy\":");
  append_double (line, track->velocity_y);
  g_string_append (line, ",\"ids\":[");
  for (guint i = 0; i < n_ids; i++)
    g_string_append_printf (line, "%s%" G_GUINT64_FORMAT, i > 0 ? "," : "", ids[i]);
  g_string_append_c (line, ']');
  if (track->parent_id)
    g_string_append_printf (line, ",\"parent\":%" G_GUINT64_FORMAT, track->parent_id);
  append_motion (line, track);
}

/* Whole numbers as such; others, of scaled video, with two digits behind the point. */
static void
append_coordinate (GString *line, gfloat value)
{
  if (fabsf (value) < 1e9f && value == truncf (value))
    g_string_append_printf (line, "%d", (gint)value);
  else
    gst_ccl_json_append_rounded (line, value, 2);
}

static void
append_polygon (GString *line, const GstCclContours *contours, guint index)
{
  guint n_numbers;
  const gfloat *points = gst_ccl_contours_get_points (contours, index, &n_numbers);

  g_string_append (line, "\"points\":[");
  for (guint i = 0; i < n_numbers; i += 2) {
    g_string_append (line, i > 0 ? ",[" : "[");
    append_coordinate (line, points[i]);
    g_string_append_c (line, ',');
    append_coordinate (line, points[i + 1]);
    g_string_append_c (line, ']');
  }
  g_string_append_c (line, ']');
}

/* The contours of a row's component, where the frame has contours. */
static void
append_contours (GString *line, const GstCclContours *contours, guint32 label)
{
  guint n, first;

  if (!contours)
    return;
  first = gst_ccl_contours_find (contours, label, &n);
  g_string_append (line, ",\"contours\":[");
  for (guint i = first; i < first + n; i++) {
    const GstCclContour *contour = gst_ccl_contours_get_contour (contours, i);
    const GstCclContour *parent = gst_ccl_contours_get_contour (contours, contour->parent);

    g_string_append_printf (
        line, "%s{\"hole\":%s,", i > first ? "," : "", contour->is_hole ? "true" : "false");
    if (!contour->is_hole && parent)
      g_string_append_printf (line, "\"inside\":%u,", parent->label);
    append_polygon (line, contours, i);
    g_string_append_c (line, '}');
  }
  g_string_append_c (line, ']');
}

/* The columns of a row. A value that is not known is null. */
static void
append_columns (GString *line, const GstCclColumns *columns, guint row)
{
  const guint n_columns = columns ? gst_ccl_columns_get_n_columns (columns) : 0;

  for (guint i = 0; i < n_columns; i++) {
    guint n_rows;
    const gdouble *values = gst_ccl_columns_get_values (columns, i, &n_rows);

    g_string_append_c (line, ',');
    gst_ccl_json_append_string (line, gst_ccl_columns_get_key (columns, i));
    g_string_append_c (line, ':');
    append_double (line, values[row]);
  }
}

/* The class of a row, where it is known. */
static void
append_class (GString *line, const GstCclClasses *classes, guint row)
{
  const gchar *name = classes ? gst_ccl_classes_get_name (classes, row) : NULL;
  gdouble confidence;

  if (!name)
    return;
  confidence = gst_ccl_classes_get_confidence (classes, row);
  g_string_append (line, ",\"class\":");
  gst_ccl_json_append_string (line, name);
  g_string_append (line, ",\"confidence\":");
  if (isfinite (confidence))
    gst_ccl_json_append_rounded (line, confidence, 3);
  else
    g_string_append (line, "null");
}

static void
append_comma (GString *line, gboolean *is_first)
{
  if (!*is_first)
    g_string_append_c (line, ',');
  *is_first = FALSE;
}

/* The regions that a row's track is in. */
static void
append_inside (GString *line, const GstCclRegionState *state, guint row)
{
  gboolean is_first = TRUE;

  g_string_append (line, ",\"in\":[");
  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++) {
    if (!gst_ccl_region_state_is_inside (state, i, row))
      continue;
    append_comma (line, &is_first);
    gst_ccl_json_append_string (line, gst_ccl_region_state_get_region (state, i)->name);
  }
  g_string_append_c (line, ']');
}

/* The lines that a row's track crosses in this frame. */
static void
append_crossings (GString *line, const GstCclRegionState *state, guint row)
{
  gboolean is_first = TRUE;

  g_string_append (line, ",\"crossed\":[");
  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++) {
    const gint crossing = gst_ccl_region_state_get_crossing (state, i, row);

    if (crossing == 0)
      continue;
    append_comma (line, &is_first);
    g_string_append (line, "{\"line\":");
    gst_ccl_json_append_string (line, gst_ccl_region_state_get_region (state, i)->name);
    g_string_append_printf (line, ",\"direction\":\"%s\"}", crossing > 0 ? "forward" : "backward");
  }
  g_string_append_c (line, ']');
}

/* The regions and lines of the frame, with their counts. */
static void
append_regions (GString *line, const GstCclRegionState *state)
{
  gboolean is_first = TRUE;

  g_string_append (line, ",\"regions\":[");
  for (guint i = 0; i < gst_ccl_region_state_get_n_regions (state); i++) {
    const GstCclRegionInfo *region = gst_ccl_region_state_get_region (state, i);

    append_comma (line, &is_first);
    g_string_append_printf (line, "{\"%s\":", region->is_line ? "line" : "region");
    gst_ccl_json_append_string (line, region->name);
    if (region->is_line)
      g_string_append_printf (line,
          ",\"forward\":%" G_GUINT64_FORMAT ",\"backward\":%" G_GUINT64_FORMAT "}", region->forward,
          region->backward);
    else
      g_string_append_printf (line, ",\"inside\":%u}", region->inside);
  }
  g_string_append_c (line, ']');
}

/* Data of the rows that the table does not have; NULL: the frame has none. */
typedef struct {
  GstCclRegionState *region_state;
  GstCclClasses *classes;
  GstCclColumns *columns;
  GstCclContours *contours;
} Parts;

static void
append_component (GString *line, const GstCclMeta *meta, guint row,
    const GstCclComponent *component, const Parts *parts)
{
#define NUMBER(field, key) "\"" key "\":%u,"
#define VALUE(field, key) , component->field
#define REAL(field, key)                                                                           \
  g_string_append (line, "\"" key "\":");                                                          \
  append_double (line, component->field);                                                          \
  g_string_append_c (line, ',');
#define FRAME_COLUMNS(count, real)                                                                 \
  CUDACCL_COLUMNS (count, real, CUDACCL_NO_COLUMN, CUDACCL_NO_COLUMN)
  g_string_append_printf (
      line, "{" FRAME_COLUMNS (NUMBER, CUDACCL_NO_COLUMN) FRAME_COLUMNS (VALUE, CUDACCL_NO_COLUMN));
  FRAME_COLUMNS (CUDACCL_NO_COLUMN, REAL)
#undef NUMBER
#undef VALUE
#undef REAL
#undef FRAME_COLUMNS
  g_string_truncate (line, line->len - 1); /* the last comma */
  append_columns (line, parts->columns, row);
  append_track (line, meta, row);
  append_class (line, parts->classes, row);
  if (parts->region_state) {
    append_inside (line, parts->region_state, row);
    append_crossings (line, parts->region_state, row);
  }
  append_contours (line, parts->contours, component->label);
  g_string_append_c (line, '}');
}

void
gst_ccl_json_append_string (GString *line, const gchar *text)
{
  g_string_append_c (line, '"');
  for (const gchar *c = text; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_printf (line, "\\%c", *c);
    else if ((guchar)*c < 0x20 || *c == '<') /* demuxers read < as the begin of markup */
      g_string_append_printf (line, "\\u%04x", (guint)(guchar)*c);
    else
      g_string_append_c (line, *c);
  }
  g_string_append_c (line, '"');
}

/* Names the labeller where the frame has metadata of several. */
static void
append_labeller (GString *line, GstBuffer *frame, const GstCclMeta *meta)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);

  if (!labeller || gst_buffer_get_n_meta (frame, GST_CCL_META_API_TYPE) < 2)
    return;
  g_string_append (line, "\"labeller\":");
  gst_ccl_json_append_string (line, gst_ccl_labeller_get_name (labeller));
  g_string_append_c (line, ',');
}

void
gst_ccl_json_append_meta (GString *line, GstBuffer *frame, const GstCclMeta *meta)
{
  guint n_rows;
  gsize row_stride;
  gconstpointer rows = gst_ccl_meta_get_rows (meta, &n_rows, &row_stride);
  Parts parts = {gst_ccl_meta_get_region_state (meta), gst_ccl_meta_get_classes (meta),
      gst_ccl_meta_get_columns (meta), gst_ccl_meta_get_contours (meta)};

  g_string_append_printf (line, "\"width\":%u,\"height\":%u,", gst_ccl_meta_get_frame_width (meta),
      gst_ccl_meta_get_frame_height (meta));
  append_labeller (line, frame, meta);
  g_string_append_printf (line, "\"count\":%u,\"truncated\":%s,\"components\":[",
      gst_ccl_meta_get_n_components (meta), gst_ccl_meta_is_truncated (meta) ? "true" : "false");
  for (guint i = 0; i < n_rows; i++) {
    if (i > 0)
      g_string_append_c (line, ',');
    append_component (line, meta, i, GST_CCL_ROW (rows, row_stride, i), &parts);
  }
  g_string_append_c (line, ']');
  if (parts.region_state)
    append_regions (line, parts.region_state);
  if (parts.contours)
    g_string_append_printf (line, ",\"contour_kind\":\"%s\"",
        gst_ccl_contours_get_kind (parts.contours) == GST_CCL_CONTOUR_KIND_CRACKS ? "cracks"
                                                                                  : "pixels");
  g_clear_pointer (&parts.region_state, gst_ccl_region_state_unref);
  g_clear_pointer (&parts.classes, gst_ccl_classes_unref);
  g_clear_pointer (&parts.columns, gst_ccl_columns_unref);
  g_clear_pointer (&parts.contours, gst_ccl_contours_unref);
}

void
gst_ccl_json_append_unlabelled (GString *line, const GstVideoInfo *info)
{
  g_string_append_printf (line,
      "\"width\":%d,\"height\":%d,\"count\":null,\"truncated\":false,\"components\":[]",
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
}

void
gst_ccl_json_append_time (GString *line, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (time))
    g_string_append_printf (line, "%" G_GUINT64_FORMAT, time);
  else
    g_string_append (line, "null");
}
