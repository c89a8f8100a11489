/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The component table of a GstCclMeta, and the tracks of its rows. */
#include "gstcclmeta-private.h"

#include <string.h>

GstCclComponent *
gst_ccl_rows_new (guint n_rows)
{
  return n_rows ? g_atomic_rc_box_alloc (n_rows * sizeof (GstCclComponent)) : NULL;
}

GstCclTrackInfo *
gst_ccl_tracks_new (guint n_rows)
{
  return n_rows ? g_atomic_rc_box_alloc (n_rows * sizeof (GstCclTrackInfo)) : NULL;
}

void
gst_ccl_meta_unset_table (GstCclMeta *self)
{
  g_clear_pointer (&self->rows, g_atomic_rc_box_release);
  g_clear_pointer (&self->tracks, g_atomic_rc_box_release);
  g_clear_pointer (&self->ids, g_atomic_rc_box_release);
  g_clear_pointer (&self->columns, gst_ccl_columns_unref);
  g_clear_pointer (&self->region_state, gst_ccl_region_state_unref);
  g_clear_pointer (&self->classes, gst_ccl_classes_unref);
  self->n_components = self->n_rows = self->n_ids = 0;
}

GstCclComponent *
gst_ccl_rows_copy (const GstCclComponent *components, guint n_rows)
{
  GstCclComponent *rows = gst_ccl_rows_new (n_rows);

  if (rows)
    memcpy (rows, components, n_rows * sizeof *rows);
  return rows;
}

/**
 * gst_ccl_meta_get_n_components:
 * @meta: a #GstCclMeta
 *
 * The number of components in the frame, also of those that the table has no row for.
 *
 * Returns: N, at least the number of rows
 *
 * Since: 0.2
 */
guint
gst_ccl_meta_get_n_components (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->n_components;
}

/**
 * gst_ccl_meta_is_truncated:
 * @meta: a #GstCclMeta
 *
 * Whether components are missing from the table because the frame has more of them than the
 * property `max-components` of the labeller allows.
 *
 * Returns: whether the frame has more components than the table has rows
 *
 * Since: 0.2
 */
gboolean
gst_ccl_meta_is_truncated (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, FALSE);

  return meta->n_rows < meta->n_components;
}

/**
 * gst_ccl_meta_get_n_rows:
 * @meta: a #GstCclMeta
 *
 * The length of the component table.
 *
 * Returns: the number of rows, at most N
 *
 * Since: 0.2
 */
guint
gst_ccl_meta_get_n_rows (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->n_rows;
}

/**
 * gst_ccl_meta_get_component: (skip)
 * @meta: a #GstCclMeta
 * @row: which row of the table, from 0
 *
 * A row of the component table. Rows are in label order.
 *
 * Returns: (transfer none) (nullable): the component, valid as long as @meta; %NULL if the table
 *   has no such row
 *
 * Since: 0.2
 */
const GstCclComponent *
gst_ccl_meta_get_component (const GstCclMeta *meta, guint row)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return row < meta->n_rows ? &meta->rows[row] : NULL;
}

/**
 * gst_ccl_meta_find_component: (skip)
 * @meta: a #GstCclMeta
 * @label: a label, as the label map has it
 *
 * Looks a component up by its label. That takes constant time unless components were removed from
 * the table because the video was cropped.
 *
 * Returns: (transfer none) (nullable): the component, valid as long as @meta; %NULL if no row has
 *   that label
 *
 * Since: 0.2
 */
const GstCclComponent *
gst_ccl_meta_find_component (const GstCclMeta *meta, guint32 label)
{
  g_return_val_if_fail (meta != NULL, NULL);

  if (label >= 1 && label <= meta->n_rows && meta->rows[label - 1].label == label)
    return &meta->rows[label - 1];
  for (guint i = 0; i < meta->n_rows; i++)
    if (meta->rows[i].label == label)
      return &meta->rows[i];
  return NULL;
}

/**
 * gst_ccl_meta_get_rows: (skip)
 * @meta: a #GstCclMeta
 * @n_rows: (out): the number of rows
 * @row_stride: (out): bytes from one row to the next
 *
 * The whole component table at once, the fast way to read many rows.
 *
 * |[<!-- language="C" -->
 * guint n_rows;
 * gsize stride;
 * gconstpointer rows = gst_ccl_meta_get_rows (meta, &n_rows, &stride);
 * for (guint i = 0; i < n_rows; i++)
 *   total += GST_CCL_ROW (rows, stride, i)->area;
 * ]|
 *
 * Returns: (transfer none) (nullable): the first row, in label order, valid as long as @meta; %NULL
 *   if the table is empty
 *
 * Since: 0.2
 */
gconstpointer
gst_ccl_meta_get_rows (const GstCclMeta *meta, guint *n_rows, gsize *row_stride)
{
  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (n_rows != NULL && row_stride != NULL, NULL);

  *n_rows = meta->n_rows;
  *row_stride = sizeof (GstCclComponent);
  return meta->rows;
}

/**
 * gst_ccl_meta_get_components:
 * @meta: a #GstCclMeta
 *
 * Copies of all rows of the component table, which can outlive the metadata. It is made for Python
 * and other languages. In C, gst_ccl_meta_get_component() and gst_ccl_meta_get_rows() do without
 * the copies.
 *
 * Returns: (transfer full) (element-type GstCclComponent): the components in label order; free the
 *   list with g_list_free_full() and gst_ccl_component_free()
 *
 * Since: 0.2
 */
GList *
gst_ccl_meta_get_components (const GstCclMeta *meta)
{
  GList *components = NULL;

  g_return_val_if_fail (meta != NULL, NULL);

  for (guint i = meta->n_rows; i > 0; i--)
    components = g_list_prepend (components, gst_ccl_component_copy (&meta->rows[i - 1]));
  return components;
}

/**
 * gst_ccl_meta_get_track: (skip)
 * @meta: a #GstCclMeta
 * @row: which row of the table, from 0
 *
 * The track that a row of the component table belongs to.
 *
 * Returns: (transfer none) (nullable): the track, valid as long as @meta; %NULL if components are
 *   not tracked, or if the table has no such row
 *
 * Since: 0.2
 */
const GstCclTrackInfo *
gst_ccl_meta_get_track (const GstCclMeta *meta, guint row)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->tracks && row < meta->n_rows ? &meta->tracks[row] : NULL;
}

/**
 * gst_ccl_meta_dup_track: (rename-to gst_ccl_meta_get_track)
 * @meta: a #GstCclMeta
 * @row: which row of the table, from 0
 *
 * A copy of the track that a row of the component table belongs to, which can outlive the metadata.
 *
 * Returns: (transfer full) (nullable): the track, to be freed with gst_ccl_track_info_free(); %NULL
 *   if components are not tracked, or if the table has no such row
 *
 * Since: 0.2
 */
GstCclTrackInfo *
gst_ccl_meta_dup_track (const GstCclMeta *meta, guint row)
{
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);

  return track ? gst_ccl_track_info_copy (track) : NULL;
}

/**
 * gst_ccl_meta_get_ids:
 * @meta: a #GstCclMeta
 * @row: which row of the table, from 0
 * @n_ids: (out): the number of tracks in this component; 0 when not tracked
 *
 * The identities of the tracks in a component: one, or several after tracks merged.
 *
 * Returns: (transfer none) (array length=n_ids) (nullable): the identities, valid as long as
 *   @meta; %NULL if there are none
 *
 * Since: 0.2
 */
const guint64 *
gst_ccl_meta_get_ids (const GstCclMeta *meta, guint row, guint *n_ids)
{
  g_return_val_if_fail (n_ids != NULL, NULL);
  *n_ids = 0;
  g_return_val_if_fail (meta != NULL, NULL);

  if (row >= meta->n_rows || !meta->tracks || meta->tracks[row].n_ids == 0)
    return NULL;
  *n_ids = meta->tracks[row].n_ids;
  return meta->ids + meta->tracks[row].first_id;
}

/**
 * gst_ccl_meta_new_table: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @n_components: N, the number of components of the frame
 * @n_rows: at most @n_components; fewer mean that the table is truncated
 *
 * Replaces the component table by a new one, for the caller to fill before the buffer is passed on.
 * That saves the copy that gst_ccl_meta_set_table() makes. Columns, classes and the
 * state of regions are removed.
 *
 * Returns: (transfer none) (nullable): the rows, with undefined content; %NULL if @n_rows is 0
 *
 * Since: 0.2
 */
GstCclComponent *
gst_ccl_meta_new_table (GstCclMeta *meta, guint n_components, guint n_rows)
{
  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (n_rows <= n_components, NULL);

  gst_ccl_meta_unset_table (meta);
  meta->n_components = n_components;
  meta->rows = gst_ccl_rows_new (n_rows);
  meta->n_rows = n_rows;
  return meta->rows;
}

/* Whether all tracks refer to identities that are there. */
static gboolean
ids_are_complete (const GstCclTrackInfo *tracks, guint n_rows, guint n_ids)
{
  for (guint i = 0; tracks && i < n_rows; i++)
    if (tracks[i].n_ids > n_ids || tracks[i].first_id > n_ids - tracks[i].n_ids)
      return FALSE;
  return TRUE;
}

/**
 * gst_ccl_meta_set_table: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @n_components: N, the number of components of the frame
 * @components: (array length=n_rows) (nullable): the first @n_rows of them in label order; copied
 * @n_rows: at most @n_components; fewer mean that the table is truncated
 * @tracks: (array length=n_rows) (nullable): the track of each row; copied. %NULL if components are
 *   not tracked
 * @ids: (array length=n_ids) (nullable): the identities of tracks that @tracks refer to with
 *   `first_id` and `n_ids`; copied
 * @n_ids: the number of identities
 *
 * Replaces the component table, as an element that tracks components does. Columns, classes and the
 * state of regions are removed.
 *
 * Since: 0.2
 */
void
gst_ccl_meta_set_table (GstCclMeta *meta, guint n_components, const GstCclComponent *components,
    guint n_rows, const GstCclTrackInfo *tracks, const guint64 *ids, guint n_ids)
{
  GstCclComponent *rows;
  GstCclTrackInfo *row_tracks = NULL;
  guint64 *shared_ids = NULL;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (n_rows <= n_components);
  g_return_if_fail (components != NULL || n_rows == 0);
  g_return_if_fail (ids != NULL || n_ids == 0);
  g_return_if_fail (ids_are_complete (tracks, n_rows, n_ids));

  /* The new table is made first: the arguments may be in the present one. */
  rows = gst_ccl_rows_copy (components, n_rows);
  if (tracks && n_rows > 0)
    row_tracks = memcpy (gst_ccl_tracks_new (n_rows), tracks, n_rows * sizeof *tracks);
  if (n_ids > 0) {
    shared_ids = g_atomic_rc_box_alloc (n_ids * sizeof *ids);
    memcpy (shared_ids, ids, n_ids * sizeof *ids);
  }
  gst_ccl_meta_unset_table (meta);
  meta->n_components = n_components;
  meta->rows = rows;
  meta->n_rows = n_rows;
  meta->tracks = row_tracks;
  meta->ids = shared_ids;
  meta->n_ids = n_ids;
}
