/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of a GstCclMeta by an application: rows removed, labels and tracks changed. */
#include "gstcclmeta-private.h"

#include <string.h>

/* A row with its label. */
typedef struct {
  guint32 label, former;
  guint row;
} LabelledRow;

static gint
compare_labels (gconstpointer a, gconstpointer b)
{
  const LabelledRow *first = a, *second = b;

  if (first->label != second->label)
    return first->label < second->label ? -1 : 1;
  return (first->row > second->row) - (first->row < second->row);
}

/* The rows in the order of their labels. former: the labels that they had; NULL: the same. */
static LabelledRow *
sort_rows (const GstCclMeta *self, const guint32 *former)
{
  LabelledRow *order = g_new (LabelledRow, self->n_rows + (gsize)1);

  for (guint i = 0; i < self->n_rows; i++)
    order[i] = (LabelledRow){self->rows[i].label, former ? former[i] : self->rows[i].label, i};
  qsort (order, self->n_rows, sizeof *order, compare_labels);
  return order;
}

/* Copies the contours of a component. places: their indices in the copy. */
static void
copy_contours (const GstCclContours *from, const LabelledRow *row, GArray *contours,
    GByteArray *points, guint32 *places)
{
  guint n, n_numbers;
  const guint first = gst_ccl_contours_find (from, row->former, &n);

  for (guint i = first; i < first + n; i++) {
    GstCclContour contour = *gst_ccl_contours_get_contour (from, i);
    const gfloat *numbers = gst_ccl_contours_get_points (from, i, &n_numbers);

    places[i] = contours->len;
    contour.label = row->label;
    contour.first_point = points->len / (2 * sizeof (gfloat));
    g_array_append_val (contours, contour);
    g_byte_array_append (points, (const guint8 *)numbers, n_numbers * (guint)sizeof (gfloat));
  }
}

/* A parent must come before its contour: one that was removed or is behind it now is left out. */
static void
update_parents (GArray *contours, const guint32 *places)
{
  for (guint i = 0; i < contours->len; i++) {
    GstCclContour *contour = &g_array_index (contours, GstCclContour, i);
    const guint32 place =
        contour->parent == GST_CCL_NO_CONTOUR ? GST_CCL_NO_CONTOUR : places[contour->parent];

    contour->parent = place < i ? place : GST_CCL_NO_CONTOUR;
  }
}

/* The contours of the components that have rows, with the labels of these. former: the labels that
 * the contours have; NULL: the same. */
static void
update_contours (GstCclMeta *self, const guint32 *former)
{
  GstCclContours *from = self->contours;
  const guint n = gst_ccl_contours_get_n_contours (from);
  g_autoptr (GArray) contours = g_array_new (FALSE, FALSE, sizeof (GstCclContour));
  g_autoptr (GByteArray) points = g_byte_array_new ();
  g_autofree LabelledRow *order = sort_rows (self, former);
  g_autofree guint32 *places = g_new (guint32, n + (gsize)1);
  guint8 *data;
  gsize size;

  memset (places, 0xff, n * sizeof *places); /* GST_CCL_NO_CONTOUR */
  for (guint i = 0; i < self->n_rows; i++)
    if (order[i].label > 0 && (i == 0 || order[i].label != order[i - 1].label))
      copy_contours (from, &order[i], contours, points, places);
  update_parents (contours, places);
  size = contours->len * sizeof (GstCclContour);
  data = g_malloc (size + points->len + 1);
  if (size > 0)
    memcpy (data, contours->data, size);
  if (points->len > 0)
    memcpy (data + size, points->data, points->len);
  self->contours = gst_ccl_contours_new (gst_buffer_new_wrapped (data, size + points->len + 1),
      gst_ccl_contours_get_kind (from), contours->len, points->len / (2 * (guint)sizeof (gfloat)));
  gst_ccl_contours_unref (from);
}

/* Removes the label map, whose labels the rows do not have any more. */
static void
drop_labels (GstCclMeta *self)
{
  gst_clear_buffer (&self->labels);
  self->labels_stride = 0;
}

/* Lists the identities of each component: those of the rows with its label, in their order. */
static void
list_ids (GstCclMeta *self)
{
  g_autofree LabelledRow *order = sort_rows (self, NULL);

  g_clear_pointer (&self->ids, g_atomic_rc_box_release);
  self->n_ids = self->n_rows;
  self->ids = self->n_ids > 0 ? g_atomic_rc_box_alloc (self->n_ids * sizeof *self->ids) : NULL;
  for (guint i = 0; i < self->n_rows;) {
    guint end = i + 1;

    while (end < self->n_rows && order[end].label == order[i].label)
      end++;
    for (guint k = i; k < end; k++) {
      GstCclTrackInfo *track = &self->tracks[order[k].row];

      self->ids[k] = track->id;
      track->first_id = i;
      track->n_ids = order[k].label > 0 ? end - i : 0;
    }
    i = end;
  }
}

/**
 * gst_ccl_meta_select_rows:
 * @meta: a #GstCclMeta of a writable buffer, or a copy
 * @rows: (array length=n_rows) (nullable): rows of the table in any order, each once
 * @n_rows: their number; 0 removes all rows
 *
 * Keeps rows of the component table, in the given order, and removes the others: to filter
 * components, or to sort them. Tracks, classes, columns and the places in regions follow, and so do
 * contours: those of removed components go. The number of components falls by that of removed rows.
 * The label map is dropped, as it has pixels of removed components; the mask stays. Regions of
 * interest and analytics metadata of the buffer follow with gst_buffer_replace_ccl_meta().
 *
 * |[<!-- language="C" -->
 * guint *rows = g_new (guint, gst_ccl_meta_get_n_rows (meta)), n = 0;
 * for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++)
 *   if (gst_ccl_meta_get_component (meta, row)->area > 500)
 *     rows[n++] = row;
 * gst_ccl_meta_select_rows (meta, rows, n);
 * g_free (rows);
 * ]|
 *
 * Since: 0.4
 */
void
gst_ccl_meta_select_rows (GstCclMeta *meta, const guint *rows, guint n_rows)
{
  GstCclComponent *kept;
  GstCclTrackInfo *tracks;
  guint n_removed;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (rows != NULL || n_rows == 0);
  g_return_if_fail (n_rows <= meta->n_rows);
  for (guint i = 0; i < n_rows; i++)
    g_return_if_fail (rows[i] < meta->n_rows);

  n_removed = meta->n_rows - n_rows;
  kept = gst_ccl_rows_new (n_rows);
  tracks = meta->tracks ? gst_ccl_tracks_new (n_rows) : NULL;
  for (guint i = 0; i < n_rows; i++) {
    kept[i] = meta->rows[rows[i]];
    if (tracks)
      tracks[i] = meta->tracks[rows[i]];
  }
  g_clear_pointer (&meta->rows, g_atomic_rc_box_release);
  g_clear_pointer (&meta->tracks, g_atomic_rc_box_release);
  meta->rows = kept;
  meta->tracks = tracks;
  meta->n_rows = n_rows;
  meta->n_components -= n_removed;
#define SELECT(part, type)                                                                         \
  if (meta->part) {                                                                                \
    type *former = meta->part;                                                                     \
    meta->part = gst_ccl_##part##_select (former, rows, n_rows);                                   \
    gst_ccl_##part##_unref (former);                                                               \
  }
  SELECT (columns, GstCclColumns)
  SELECT (classes, GstCclClasses)
  SELECT (region_state, GstCclRegionState)
#undef SELECT
  if (meta->contours)
    update_contours (meta, NULL);
  if (n_removed > 0)
    drop_labels (meta);
}

/**
 * gst_ccl_meta_relabel:
 * @meta: a #GstCclMeta of a writable buffer, or a copy
 * @labels: (array length=n_rows) (nullable): the new label of each row; rows of tracks that share a
 *   component have the same one, and 0 is that of a row without a component
 * @n_rows: the number of rows of the table
 *
 * Gives the components other labels. Contours have the new labels; of two components with the same
 * one, those of the first row stay. The label map, which has the former ones, is dropped.
 *
 * Since: 0.4
 */
void
gst_ccl_meta_relabel (GstCclMeta *meta, const guint32 *labels, guint n_rows)
{
  GstCclComponent *rows;
  g_autofree guint32 *former = NULL;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (labels != NULL || n_rows == 0);
  g_return_if_fail (n_rows == meta->n_rows);

  former = g_new (guint32, n_rows + (gsize)1);
  rows = gst_ccl_rows_copy (meta->rows, n_rows);
  for (guint i = 0; i < n_rows; i++) {
    former[i] = rows[i].label;
    rows[i].label = labels[i];
  }
  g_clear_pointer (&meta->rows, g_atomic_rc_box_release);
  meta->rows = rows;
  if (meta->contours)
    update_contours (meta, former);
  if (n_rows > 0 && memcmp (former, labels, n_rows * sizeof *labels) != 0)
    drop_labels (meta);
}

/**
 * gst_ccl_meta_set_tracks:
 * @meta: a #GstCclMeta of a writable buffer, or a copy
 * @tracks: (array length=n_rows) (nullable): the track of each row, copied; `first_id` and `n_ids`
 *   are not read. %NULL: components are not tracked
 * @n_rows: the number of rows of the table; 0 where @tracks is %NULL
 *
 * Sets the tracks of the rows, as the tracker of an application knows them. The identities of a
 * component, gst_ccl_meta_get_ids(), are those of the rows with its label. Everything else stays.
 *
 * Since: 0.4
 */
void
gst_ccl_meta_set_tracks (GstCclMeta *meta, const GstCclTrackInfo *tracks, guint n_rows)
{
  GstCclTrackInfo *copy = NULL;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (tracks == NULL || n_rows == meta->n_rows);

  if (tracks && n_rows > 0)
    copy = memcpy (gst_ccl_tracks_new (n_rows), tracks, n_rows * sizeof *tracks);
  g_clear_pointer (&meta->tracks, g_atomic_rc_box_release);
  g_clear_pointer (&meta->ids, g_atomic_rc_box_release);
  meta->n_ids = 0;
  meta->tracks = copy;
  if (copy)
    list_ids (meta);
}

/* Whether two metas are of the same labeller. */
static gboolean
are_of_same_labeller (const GstCclMeta *a, const GstCclMeta *b)
{
  if (!a->labeller || !b->labeller)
    return a->labeller == b->labeller;
  return gst_ccl_labeller_get_id (a->labeller) == gst_ccl_labeller_get_id (b->labeller) &&
         g_str_equal (
             gst_ccl_labeller_get_name (a->labeller), gst_ccl_labeller_get_name (b->labeller));
}

/**
 * gst_buffer_replace_ccl_meta:
 * @buffer: a writable #GstBuffer
 * @meta: a #GstCclMeta of another buffer, or a copy, which stays the caller's
 *
 * Attaches what @meta has, in place of the metadata of the same labeller, if the buffer has it. So
 * a copy that was changed takes the place of what it was copied from. Table, label map and the like
 * are shared. The metadata of the buffer itself may be given after it was changed in place.
 *
 * Regions of interest and analytics metadata of the labeller follow: where the buffer has them,
 * there is a region and a detection for each row then. Tracks and masks in analytics metadata are
 * removed. GStreamer cannot remove single items of analytics metadata, so it stays as it is where
 * it has items of other elements or of several labellers.
 *
 * Since: 0.4
 */
void
gst_buffer_replace_ccl_meta (GstBuffer *buffer, const GstCclMeta *meta)
{
  GstCclMeta *found, *former = NULL;
  gpointer state = NULL;

  g_return_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer));
  g_return_if_fail (meta != NULL);

  while ((found = (GstCclMeta *)gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_CCL_META_API_TYPE)))
    if (are_of_same_labeller (found, meta))
      former = found;
  if (former != meta) {
    gst_ccl_meta_share (gst_ccl_meta_add (buffer, 0, 0, 0, NULL, 0), meta);
    if (former)
      gst_buffer_remove_meta (buffer, (GstMeta *)former);
  }
  gst_ccl_meta_update_others (buffer, meta);
}
