/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltracktable.h"

#include <math.h>

/* The tracks of a frame on their way into its metadata. */
typedef struct {
  const CclTable *table;
  const CclTracks *tracks;
  const GstCclParents *parents;
  const GstCclGround *ground;
  const GstCclTrackSettings *settings;
  guint64 id_offset;
  guint frame_width, frame_height;
} Result;

void
gst_ccl_track_table_init (GstCclTrackTable *self, guint max_tracks, guint max_components)
{
  *self = (GstCclTrackTable){
      .max_tracks = max_tracks,
      .max_components = max_components,
      .components = g_new (CclComponent, max_components),
      .rows = g_new (GstCclComponent, max_tracks),
      .infos = g_new (GstCclTrackInfo, max_tracks),
      .origins = g_new (guint, max_tracks),
      .listed = g_new (guint, max_tracks),
      .ids = g_new (guint64, max_tracks + max_components), /* no frame has more memberships */
      .first_id = g_new (guint, max_components + 1),
  };
}

void
gst_ccl_track_table_clear (GstCclTrackTable *self)
{
  g_free (self->components);
  g_free (self->rows);
  g_free (self->infos);
  g_free (self->origins);
  g_free (self->listed);
  g_free (self->ids);
  g_free (self->first_id);
  *self = (GstCclTrackTable){0};
}

CclTable
gst_ccl_track_table_read (GstCclTrackTable *self, const GstCclMeta *meta)
{
  gsize stride;
  guint n_rows;
  gconstpointer rows = gst_ccl_meta_get_rows (meta, &n_rows, &stride);

  n_rows = MIN (n_rows, self->max_components);
  for (guint i = 0; i < n_rows; i++) {
    const GstCclComponent *row = GST_CCL_ROW (rows, stride, i);
    self->components[i] = (CclComponent){row->label, row->area, row->x, row->y, row->width,
        row->height, row->centroid_x, row->centroid_y};
  }
  return (CclTable){gst_ccl_meta_get_n_components (meta), n_rows, self->components};
}

static const GstCclTrackState states[] = {
    [CUDACCL_TRACK_TENTATIVE] = GST_CCL_TRACK_STATE_TENTATIVE,
    [CUDACCL_TRACK_CONFIRMED] = GST_CCL_TRACK_STATE_CONFIRMED,
    [CUDACCL_TRACK_STATIC] = GST_CCL_TRACK_STATE_STATIC,
    [CUDACCL_TRACK_LOST] = GST_CCL_TRACK_STATE_LOST,
};

/* The whole pixels that an estimated interval covers, inside the frame, at least one. */
static void
clip_interval (gdouble begin, gdouble extent, guint size, guint32 *start, guint32 *length)
{
  const gdouble first = CLAMP (floor (begin + 0.5), 0, (gdouble)size - 1);
  const gdouble end = CLAMP (floor (begin + extent + 0.5), first + 1, (gdouble)size);

  *start = (guint32)first;
  *length = (guint32)(end - first);
}

/* The row of the component that a track is in, by its label; n_rows if it is in none. */
static guint
find_row (const CclTable *table, guint32 label)
{
  guint low = 0, high = table->n_rows;

  while (low < high) { /* rows are in label order */
    const guint middle = (low + high) / 2;
    if (table->rows[middle].label < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low < table->n_rows && table->rows[low].label == label ? low : table->n_rows;
}

/* The row of a track, which is in the component in row `row` of the table. */
static GstCclComponent
make_row (const Result *result, const CclTrack *track, guint row)
{
  const CclTable *table = result->table;
  GstCclComponent c = {.label = track->label};

  clip_interval (track->x, track->width, result->frame_width, &c.x, &c.width);
  clip_interval (track->y, track->height, result->frame_height, &c.y, &c.height);
  if (row < table->n_rows) {
    c.area = table->rows[row].area;
    c.centroid_x = table->rows[row].centroid_x;
    c.centroid_y = table->rows[row].centroid_y;
  } else {
    c.centroid_x = track->x + track->width / 2 - 0.5;
    c.centroid_y = track->y + track->height / 2 - 0.5;
  }
  return c;
}

/* Fills the fields of the ground, if the motion is known. */
static void
set_motion (GstCclTrackInfo *info, const CclGroundMotion *motion)
{
  if (!motion)
    return;
  info->position_x = motion->x;
  info->position_y = motion->y;
  info->position_deviation = (gfloat)motion->position_deviation;
  info->speed_deviation = (gfloat)motion->speed_deviation;
  info->ground_velocity_x = (gfloat)motion->velocity_x;
  info->ground_velocity_y = (gfloat)motion->velocity_y;
}

/* The track, with the identities of the component in that row. */
static GstCclTrackInfo
make_info (const GstCclTrackTable *self, const Result *result, const CclTrack *track, guint row)
{
  const guint64 parent = gst_ccl_parents_get (result->parents, track->id);
  GstCclTrackInfo info = {
      .id = result->id_offset + track->id,
      .velocity_x = (gfloat)track->velocity_x,
      .velocity_y = (gfloat)track->velocity_y,
      .age = (guint32)MIN (track->age, G_MAXUINT32),
      .state = states[track->state],
  };

  if (parent > 0)
    info.parent_id = result->id_offset + parent;
  if (row < result->table->n_rows) {
    info.first_id = self->first_id[row];
    info.n_ids = self->first_id[row + 1] - self->first_id[row];
  }
  return info;
}

/* Fills ids with the listed tracks of each component, and first_id with where they begin. */
static void
collect_ids (GstCclTrackTable *self, const Result *result)
{
  const CclTracks *tracks = result->tracks;
  guint n_ids = 0, m = 0;

  for (guint row = 0; row < result->table->n_rows; row++) {
    self->first_id[row] = n_ids;
    for (; m < tracks->n_members && tracks->members[m].row == row; m++) {
      const CclTrack *track = &tracks->tracks[tracks->members[m].track];
      if (gst_ccl_track_settings_lists (result->settings, track))
        self->ids[n_ids++] = result->id_offset + track->id;
    }
  }
  self->first_id[result->table->n_rows] = n_ids;
}

/* The columns of the tracks' components; NULL if the components have none. */
static GstCclColumns *
select_columns (const GstCclTrackTable *self, const GstCclMeta *meta, guint n_rows)
{
  g_autoptr (GstCclColumns) columns = gst_ccl_meta_get_columns (meta);

  return columns ? gst_ccl_columns_select (columns, self->origins, n_rows) : NULL;
}

/* Whether components have no track because there are too many. */
static gboolean
is_truncated (const CclTable *table, const CclTracks *tracks, guint max_tracks)
{
  guint n_tracked = 0;

  if (table->n_rows < table->n_components)
    return TRUE;
  if (tracks->n_tracks < max_tracks)
    return FALSE;
  for (guint m = 0; m < tracks->n_members; m++) /* in the order of rows */
    n_tracked += m == 0 || tracks->members[m].row != tracks->members[m - 1].row;
  return n_tracked < table->n_rows;
}

gboolean
gst_ccl_track_table_write (GstCclTrackTable *self, GstCclMeta *meta, const CclTable *table,
    const CclTracks *tracks, const GstCclParents *parents, const GstCclGround *ground,
    const GstCclTrackSettings *settings, guint64 id_offset)
{
  const Result result = {table, tracks, parents, ground, settings, id_offset,
      gst_ccl_meta_get_frame_width (meta), gst_ccl_meta_get_frame_height (meta)};
  const gboolean truncated = is_truncated (table, tracks, self->max_tracks);
  g_autoptr (GstCclColumns) columns = NULL;
  guint n_rows = 0;

  collect_ids (self, &result);
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const CclTrack *track = &tracks->tracks[i];
    const guint row = find_row (table, track->label);

    if (!gst_ccl_track_settings_lists (settings, track))
      continue;
    self->rows[n_rows] = make_row (&result, track, row);
    self->infos[n_rows] = make_info (self, &result, track, row);
    self->origins[n_rows] = row < table->n_rows ? row : G_MAXUINT;
    self->listed[n_rows] = i;
    set_motion (&self->infos[n_rows], gst_ccl_ground_get (ground, i));
    n_rows++;
  }
  columns = select_columns (self, meta, n_rows);
  gst_ccl_meta_set_table (meta, truncated ? MAX (table->n_components, n_rows + 1) : n_rows,
      self->rows, n_rows, self->infos, self->ids, self->first_id[table->n_rows]);
  if (columns)
    gst_ccl_meta_set_columns (meta, columns);
  return truncated;
}
