/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcolumns.h"

#include "gst/ccl/meta/gstcclmeta-private.h"

#include <math.h>
#include <string.h>

/**
 * GstCclColumns:
 *
 * What was measured of a frame's components beyond area, box and centroid: columns beside the
 * component table, each with a key and one number for each row. Reference counted and immutable.
 *
 * `ccl` and `cudaccl` attach the columns that their property `attach-columns` names, with these
 * keys, which are also those of the JSON of `ccljson`:
 *
 * - `moments`: `variance_x`, `variance_y`, `covariance_xy` of the pixels' coordinates,
 *   `eigenvalue_0` and `eigenvalue_1` of the inertia tensor, the greater one first (pixels²);
 *   `axis_major_length` and `axis_minor_length` (pixels), `eccentricity` (0…1) and `orientation`
 *   (radians, of the major axis from the y axis, -π/2…π/2) of the ellipse with the same moments
 * - `perimeter`: `perimeter` (pixels, by scikit-image's definition)
 * - `topology`: `crack_length` (edges between pixels of the component and others),
 *   `euler_number_4`, `euler_number_8` (parts minus holes, with 4 and with 8 neighbours)
 * - `luma`: `sum_value`, `sum_squares`, `intensity_min`, `intensity_max`, `intensity_mean`,
 *   `intensity_std` of the luma of the component's pixels; `intensity_max_position_x`,
 *   `intensity_max_position_y` of the first pixel with the greatest luma; `centroid_weighted_x`,
 *   `centroid_weighted_y` (pixels; not a number where all luma is 0)
 * - `color`: `mean_y`, `mean_u`, `mean_v`, the means of luma and chroma over the component's
 *   pixels, of which each has the sample of chroma that covers it; in formats of grey `mean_y`
 * alone
 *
 * The keys of 0.3 have the same values for one release: `covariance`, `greater_eigenvalue`,
 * `lesser_eigenvalue`, `major_axis`, `minor_axis`, `least_value`, `greatest_value`, `mean_value`,
 * `standard_deviation`, `weighted_centroid_x`, `weighted_centroid_y`.
 *
 * Luma and chroma are numbers as the frame stores them, 0…255, or 0…65535 in formats of more than 8
 * bits. A sum is exact up to 2⁵³, which sums of squares can exceed in formats of more than 8 bits
 * only. A value that is not known, such as those of a lost track, is not a number (NaN).
 *
 * Columns are those of the frame that was labelled, in its pixels and coordinates, as areas are.
 * They stay as they are where the video is scaled, cropped, flipped or turned.
 *
 * Thread safety: all functions may be called from any thread.
 *
 * Since: 0.3
 */
struct _GstCclColumns {
  guint n_columns, n_rows;
  gdouble *values; /* [column][row] */
  gchar **keys;    /* like values and texts in the memory behind this struct */
};

G_DEFINE_BOXED_TYPE (GstCclColumns, gst_ccl_columns, gst_ccl_columns_ref, gst_ccl_columns_unref)

/* Columns with undefined values. */
static GstCclColumns *
new_columns (const gchar *const *keys, guint n_columns, guint n_rows)
{
  const gsize values_size = (gsize)n_columns * n_rows * sizeof (gdouble);
  const gsize keys_size = n_columns * sizeof (gchar *);
  gsize text_size = 0;
  GstCclColumns *self;
  gchar *text;

  for (guint i = 0; i < n_columns; i++)
    text_size += strlen (keys[i]) + 1;
  self = g_atomic_rc_box_alloc (sizeof *self + values_size + keys_size + text_size);
  self->n_columns = n_columns;
  self->n_rows = n_rows;
  self->values = (gdouble *)(gpointer)(self + 1);
  self->keys = (gchar **)(gpointer)((guint8 *)(self + 1) + values_size);
  text = (gchar *)self->keys + keys_size;
  for (guint i = 0; i < n_columns; i++) {
    self->keys[i] = text;
    text = g_stpcpy (text, keys[i]) + 1;
  }
  return self;
}

/**
 * gst_ccl_columns_new: (skip)
 * @keys: (array length=n_columns): the keys of the columns, in UTF-8, each another one; copied
 * @n_columns: the number of columns
 * @values: @n_columns times @n_rows numbers, those of the first column first; copied. %NULL if
 *   there are none
 * @n_rows: the number of rows of the component table
 *
 * Makes columns.
 *
 * Returns: (transfer full): the columns; free them with gst_ccl_columns_unref()
 *
 * Since: 0.3
 */
GstCclColumns *
gst_ccl_columns_new (const gchar *const *keys, guint n_columns, const gdouble *values, guint n_rows)
{
  const gsize n_values = (gsize)n_columns * n_rows;
  GstCclColumns *self;

  g_return_val_if_fail (keys != NULL || n_columns == 0, NULL);
  g_return_val_if_fail (values != NULL || n_values == 0, NULL);

  self = new_columns (keys, n_columns, n_rows);
  if (n_values > 0)
    memcpy (self->values, values, n_values * sizeof *values);
  return self;
}

/**
 * gst_ccl_columns_select: (skip)
 * @columns: a #GstCclColumns
 * @rows: (array length=n_rows) (nullable): rows of @columns in any order; for numbers that are no
 *   rows of @columns, the result has rows whose values are not a number
 * @n_rows: their number
 *
 * Copies rows, for a component table that has them in another order, or not all of them.
 *
 * Returns: (transfer full): new columns with the same keys
 *
 * Since: 0.3
 */
GstCclColumns *
gst_ccl_columns_select (const GstCclColumns *columns, const guint *rows, guint n_rows)
{
  GstCclColumns *self;

  g_return_val_if_fail (columns != NULL, NULL);
  g_return_val_if_fail (rows != NULL || n_rows == 0, NULL);

  self = new_columns ((const gchar *const *)columns->keys, columns->n_columns, n_rows);
  for (guint i = 0; i < columns->n_columns; i++) {
    const gdouble *from = columns->values + (gsize)i * columns->n_rows;
    gdouble *to = self->values + (gsize)i * n_rows;

    for (guint row = 0; row < n_rows; row++)
      to[row] = rows[row] < columns->n_rows ? from[rows[row]] : NAN;
  }
  return self;
}

/**
 * gst_ccl_columns_ref:
 * @columns: a #GstCclColumns
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the same @columns
 *
 * Since: 0.3
 */
GstCclColumns *
gst_ccl_columns_ref (GstCclColumns *columns)
{
  g_return_val_if_fail (columns != NULL, NULL);

  return g_atomic_rc_box_acquire (columns);
}

/**
 * gst_ccl_columns_unref:
 * @columns: (transfer full): a #GstCclColumns
 *
 * Gives a reference back.
 *
 * Since: 0.3
 */
void
gst_ccl_columns_unref (GstCclColumns *columns)
{
  g_return_if_fail (columns != NULL);

  g_atomic_rc_box_release (columns);
}

/**
 * gst_ccl_columns_get_n_columns:
 * @columns: a #GstCclColumns
 *
 * How many columns there are.
 *
 * Returns: the number of columns
 *
 * Since: 0.3
 */
guint
gst_ccl_columns_get_n_columns (const GstCclColumns *columns)
{
  g_return_val_if_fail (columns != NULL, 0);

  return columns->n_columns;
}

/**
 * gst_ccl_columns_get_n_rows:
 * @columns: a #GstCclColumns
 *
 * How many values each column has.
 *
 * Returns: the number of rows, that of the component table
 *
 * Since: 0.3
 */
guint
gst_ccl_columns_get_n_rows (const GstCclColumns *columns)
{
  g_return_val_if_fail (columns != NULL, 0);

  return columns->n_rows;
}

/**
 * gst_ccl_columns_get_key:
 * @columns: a #GstCclColumns
 * @index: which column, less than their number
 *
 * The name of a column.
 *
 * Returns: (transfer none) (nullable): the key, valid as long as @columns; %NULL if there is no
 *   column of that index
 *
 * Since: 0.3
 */
const gchar *
gst_ccl_columns_get_key (const GstCclColumns *columns, guint index)
{
  g_return_val_if_fail (columns != NULL, NULL);

  return index < columns->n_columns ? columns->keys[index] : NULL;
}

/**
 * gst_ccl_columns_find:
 * @columns: a #GstCclColumns
 * @key: the key of a column
 *
 * Finds a column.
 *
 * Returns: its index; -1 if there is none of that key
 *
 * Since: 0.3
 */
gint
gst_ccl_columns_find (const GstCclColumns *columns, const gchar *key)
{
  g_return_val_if_fail (columns != NULL, -1);
  g_return_val_if_fail (key != NULL, -1);

  for (guint i = 0; i < columns->n_columns; i++)
    if (g_str_equal (columns->keys[i], key))
      return (gint)i;
  return -1;
}

/**
 * gst_ccl_columns_get_values:
 * @columns: a #GstCclColumns
 * @index: which column, less than their number
 * @n_rows: (out): the number of values
 *
 * The values of a column, in the order of the component table's rows. A value that is not known is
 * not a number.
 *
 * Returns: (transfer none) (array length=n_rows) (nullable): the values, valid as long as @columns;
 *   %NULL if there is no column of that index, or if the table is empty
 *
 * Since: 0.3
 */
const gdouble *
gst_ccl_columns_get_values (const GstCclColumns *columns, guint index, guint *n_rows)
{
  g_return_val_if_fail (columns != NULL, NULL);
  g_return_val_if_fail (n_rows != NULL, NULL);

  *n_rows = index < columns->n_columns ? columns->n_rows : 0;
  return *n_rows > 0 ? columns->values + (gsize)index * columns->n_rows : NULL;
}

/**
 * gst_ccl_meta_get_columns:
 * @meta: a #GstCclMeta
 *
 * What was measured of the components beyond the component table, which the elements attach when
 * their property `attach-columns` is set.
 *
 * Returns: (transfer full) (nullable): the columns, with as many rows as the table, to be given
 * back with gst_ccl_columns_unref(); %NULL if none are attached
 *
 * Since: 0.3
 */
GstCclColumns *
gst_ccl_meta_get_columns (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->columns ? gst_ccl_columns_ref (meta->columns) : NULL;
}

/**
 * gst_ccl_meta_set_columns: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @columns: (transfer none) (nullable): columns with as many rows as the component table; a
 *   reference is kept. %NULL removes them
 *
 * Attaches columns, in place of the present ones. A new component table removes them.
 *
 * Since: 0.3
 */
void
gst_ccl_meta_set_columns (GstCclMeta *meta, GstCclColumns *columns)
{
  GstCclColumns *former;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (columns == NULL || columns->n_rows == meta->n_rows);

  former = meta->columns;
  meta->columns = columns ? gst_ccl_columns_ref (columns) : NULL;
  g_clear_pointer (&former, gst_ccl_columns_unref);
}
