/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclground.h"

#include <gio/gio.h>

#include "shared/gstccltextreader.h"

/* Reads "X,Y METRES,METRES". All points are relative to the frame's size, or none: as the first. */
static gboolean
read_point (GstCclTextReader *reader, GArray *points, gboolean *relative)
{
  const gchar *start = reader->at, *metres;
  gboolean is_relative, is_percent;
  CclPoint picture, ground;

  if (!gst_ccl_text_reader_read_point (reader, &picture, &is_relative))
    return FALSE;
  gst_ccl_text_reader_skip_spaces (reader);
  metres = reader->at;
  if (gst_ccl_text_ends_item (*metres))
    return gst_ccl_text_reader_fail (
        reader, metres, "expected the point's position in metres behind that in the picture");
  if (!gst_ccl_text_reader_read_point (reader, &ground, &is_percent))
    return FALSE;
  if (is_percent)
    return gst_ccl_text_reader_fail (reader, metres, "expected metres, found %%");
  gst_ccl_text_reader_skip_spaces (reader);
  if (!gst_ccl_text_ends_item (*reader->at))
    return gst_ccl_text_reader_fail (
        reader, reader->at, "expected a semicolon or a new line behind the point");
  if (points->len == 0)
    *relative = is_relative;
  if (is_relative != *relative)
    return gst_ccl_text_reader_fail (reader, start, "pixels and %% are mixed");
  g_array_append_vals (points, &(CclGroundPoint){picture.x, picture.y, ground.x, ground.y}, 1);
  return TRUE;
}

/* The ground of points for a frame of that size. */
static CclGround *
plan_ground (
    const GArray *points, gboolean relative, guint frame_width, guint frame_height, CclError *error)
{
  g_autofree CclGroundPoint *scaled = g_memdup2 (points->data, points->len * sizeof *scaled);
  CclGroundPlan plan = CUDACCL_GROUND_PLAN_DEFAULT;

  for (guint i = 0; relative && i < points->len; i++) {
    scaled[i].x *= frame_width;
    scaled[i].y *= frame_height;
  }
  plan.n_points = points->len;
  plan.points = scaled;
  return ccl_ground_new (&plan, error);
}

/* Reads the points of a text, which a frame of any size can have. */
static gboolean
read_points (const gchar *text, GArray *points, gboolean *relative, GError **error)
{
  GstCclTextReader reader = {"ground", text, text, error};
  CclGround *ground;
  CclError reason;

  while (gst_ccl_text_reader_find_item (&reader))
    if (!read_point (&reader, points, relative))
      return FALSE;
  if (points->len == 0)
    return TRUE;
  ground = plan_ground (points, *relative, 1, 1, &reason);
  if (!ground) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "ground: %s", reason.message);
    return FALSE;
  }
  ccl_ground_free (&ground);
  return TRUE;
}

gboolean
gst_ccl_ground_load (GstCclGround *self, const gchar *text, guint max_tracks, GError **error)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (CclGroundPoint));
  gboolean relative = FALSE;

  if (!read_points (text ? text : "", points, &relative, error))
    return FALSE;
  gst_ccl_ground_close (self);
  if (points->len == 0)
    return TRUE;
  *self = (GstCclGround){
      .points = g_steal_pointer (&points),
      .relative = relative,
      .max_tracks = max_tracks,
      .motions = g_new (CclGroundMotion, max_tracks),
      .speeds = g_new (gdouble, max_tracks),
  };
  return TRUE;
}

void
gst_ccl_ground_close (GstCclGround *self)
{
  ccl_ground_free (&self->ground);
  g_clear_pointer (&self->points, g_array_unref);
  g_free (self->motions);
  g_free (self->speeds);
  *self = (GstCclGround){0};
}

gboolean
gst_ccl_ground_run (GstCclGround *self, guint frame_width, guint frame_height,
    const CclTracker *tracker, guint n_tracks, gdouble frame_rate, CclError *error)
{
  if (!self->points)
    return TRUE;
  if (!self->ground || self->frame_width != frame_width || self->frame_height != frame_height) {
    ccl_ground_free (&self->ground);
    self->ground = plan_ground (self->points, self->relative, frame_width, frame_height, error);
    if (!self->ground)
      return FALSE;
    self->frame_width = frame_width;
    self->frame_height = frame_height;
  }
  for (guint i = 0; i < self->max_tracks; i++) {
    CclTrackFoot foot;

    if (i < n_tracks && ccl_tracker_get_foot (tracker, i, &foot, NULL) == CUDACCL_OK &&
        ccl_ground_locate (self->ground, &foot, frame_rate, &self->motions[i]))
      self->speeds[i] = self->motions[i].speed;
    else
      self->speeds[i] = -1;
  }
  return TRUE;
}

const CclGroundMotion *
gst_ccl_ground_get (const GstCclGround *self, guint track)
{
  return self->points && track < self->max_tracks && self->speeds[track] >= 0
             ? &self->motions[track]
             : NULL;
}
