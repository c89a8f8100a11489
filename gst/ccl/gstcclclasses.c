/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclclasses.h"

#include "gst/ccl/meta/gstcclmeta-private.h"

#include <math.h>
#include <string.h>

#define NO_NAME G_MAXSIZE

/**
 * GstCclClasses:
 *
 * What a detector says that the rows of the component table are: the name of a class, such as
 * "person", and how certain the detector is. `ccltrack` attaches them where frames have detections
 * of another element. Reference counted and immutable.
 *
 * |[<!-- language="C" -->
 * GstCclClasses *classes = gst_ccl_meta_get_classes (meta);
 * for (guint row = 0; classes && row < gst_ccl_classes_get_n_rows (classes); row++)
 *   if (gst_ccl_classes_get_name (classes, row))
 *     g_print ("%" G_GUINT64_FORMAT " is a %s\n", gst_ccl_meta_get_track (meta, row)->id,
 *         gst_ccl_classes_get_name (classes, row));
 * g_clear_pointer (&classes, gst_ccl_classes_unref);
 * ]|
 *
 * Thread safety: all functions may be called from any thread.
 *
 * Since: 0.4
 */
struct _GstCclClasses {
  guint n_rows;
  gdouble *confidences; /* like places and texts in the memory behind this struct */
  gsize *places;        /* where the name of each row begins in the texts; NO_NAME: it has none */
  gchar *texts;
};

G_DEFINE_BOXED_TYPE (GstCclClasses, gst_ccl_classes, gst_ccl_classes_ref, gst_ccl_classes_unref)

/* Classes with memory for texts, in which no row has a class yet. */
static GstCclClasses *
new_classes (guint n_rows, gsize text_size)
{
  GstCclClasses *self = g_atomic_rc_box_alloc (
      sizeof *self + n_rows * (sizeof *self->confidences + sizeof *self->places) + text_size);

  self->n_rows = n_rows;
  self->confidences = (gdouble *)(gpointer)(self + 1);
  self->places = (gsize *)(self->confidences + n_rows);
  self->texts = (gchar *)(self->places + n_rows);
  for (guint row = 0; row < n_rows; row++) {
    self->confidences[row] = NAN;
    self->places[row] = NO_NAME;
  }
  return self;
}

/* end: of the texts so far. Returns their new end. */
static gchar *
set_row (GstCclClasses *self, guint row, const gchar *name, gdouble confidence, gchar *end)
{
  if (!name || *name == '\0')
    return end;
  self->places[row] = (gsize)(end - self->texts);
  if (confidence >= 0 && confidence <= 1)
    self->confidences[row] = confidence;
  return g_stpcpy (end, name) + 1;
}

/**
 * gst_ccl_classes_new:
 * @names: (array length=n_rows) (nullable): the name of each row's class in UTF-8, copied; %NULL
 *   or "" for a row whose class is not known
 * @confidences: (array length=n_rows) (nullable): how certain each class is, 0…1; what is not in
 *   this range, such as NaN, is not known. %NULL if none is known
 * @n_rows: the number of rows of the component table
 *
 * Describes the classes of rows.
 *
 * Returns: (transfer full): the classes; free them with gst_ccl_classes_unref()
 *
 * Since: 0.4
 */
GstCclClasses *
gst_ccl_classes_new (const gchar *const *names, const gdouble *confidences, guint n_rows)
{
  GstCclClasses *self;
  gsize text_size = 0;
  gchar *end;

  g_return_val_if_fail (names != NULL || n_rows == 0, NULL);

  for (guint row = 0; row < n_rows; row++)
    text_size += names[row] ? strlen (names[row]) + 1 : 0;
  self = new_classes (n_rows, text_size);
  end = self->texts;
  for (guint row = 0; row < n_rows; row++)
    end = set_row (self, row, names[row], confidences ? confidences[row] : NAN, end);
  return self;
}

/**
 * gst_ccl_classes_select: (skip)
 * @classes: a #GstCclClasses
 * @rows: (array length=n_rows) (nullable): rows of @classes in any order; numbers that are no rows
 *   of @classes are rows whose class is not known
 * @n_rows: their number
 *
 * Copies rows, for a component table that has them in another order, or not all of them.
 *
 * Returns: (transfer full): new classes
 *
 * Since: 0.4
 */
GstCclClasses *
gst_ccl_classes_select (const GstCclClasses *classes, const guint *rows, guint n_rows)
{
  GstCclClasses *self;
  gsize text_size = 0;
  gchar *end;

  g_return_val_if_fail (classes != NULL, NULL);
  g_return_val_if_fail (rows != NULL || n_rows == 0, NULL);

  for (guint row = 0; row < n_rows; row++) {
    const gchar *name = gst_ccl_classes_get_name (classes, rows[row]);
    text_size += name ? strlen (name) + 1 : 0;
  }
  self = new_classes (n_rows, text_size);
  end = self->texts;
  for (guint row = 0; row < n_rows; row++)
    end = set_row (self, row, gst_ccl_classes_get_name (classes, rows[row]),
        gst_ccl_classes_get_confidence (classes, rows[row]), end);
  return self;
}

/**
 * gst_ccl_classes_ref:
 * @classes: a #GstCclClasses
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the same @classes
 *
 * Since: 0.4
 */
GstCclClasses *
gst_ccl_classes_ref (GstCclClasses *classes)
{
  g_return_val_if_fail (classes != NULL, NULL);

  return g_atomic_rc_box_acquire (classes);
}

/**
 * gst_ccl_classes_unref:
 * @classes: (transfer full): a #GstCclClasses
 *
 * Gives a reference back.
 *
 * Since: 0.4
 */
void
gst_ccl_classes_unref (GstCclClasses *classes)
{
  g_return_if_fail (classes != NULL);

  g_atomic_rc_box_release (classes);
}

/**
 * gst_ccl_classes_get_n_rows:
 * @classes: a #GstCclClasses
 *
 * How many rows there are.
 *
 * Returns: the number of rows, that of the component table
 *
 * Since: 0.4
 */
guint
gst_ccl_classes_get_n_rows (const GstCclClasses *classes)
{
  g_return_val_if_fail (classes != NULL, 0);

  return classes->n_rows;
}

/**
 * gst_ccl_classes_get_name:
 * @classes: a #GstCclClasses
 * @row: which row of the component table, from 0
 *
 * The class of a row. Behind `ccltrack` it is the class that most detections of the track had,
 * weighted with their confidences, so it seldom changes.
 *
 * Returns: (transfer none) (nullable): the name in UTF-8, valid as long as @classes; %NULL if it is
 *   not known, or if there is no such row
 *
 * Since: 0.4
 */
const gchar *
gst_ccl_classes_get_name (const GstCclClasses *classes, guint row)
{
  g_return_val_if_fail (classes != NULL, NULL);

  return row < classes->n_rows && classes->places[row] != NO_NAME
             ? classes->texts + classes->places[row]
             : NULL;
}

/**
 * gst_ccl_classes_get_confidence:
 * @classes: a #GstCclClasses
 * @row: which row of the component table, from 0
 *
 * How certain the detector is of the row's class. Behind `ccltrack` it is the confidence of the
 * track's latest detection of that class.
 *
 * Returns: 0…1; NaN if it is not known, or if there is no such row
 *
 * Since: 0.4
 */
gdouble
gst_ccl_classes_get_confidence (const GstCclClasses *classes, guint row)
{
  g_return_val_if_fail (classes != NULL, NAN);

  return row < classes->n_rows ? classes->confidences[row] : NAN;
}

/**
 * gst_ccl_meta_get_classes:
 * @meta: a #GstCclMeta
 *
 * What a detector says that the rows of the table are.
 *
 * Returns: (transfer full) (nullable): the classes, with as many rows as the table, to be given
 *   back with gst_ccl_classes_unref(); %NULL if none is known
 *
 * Since: 0.4
 */
GstCclClasses *
gst_ccl_meta_get_classes (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->classes ? gst_ccl_classes_ref (meta->classes) : NULL;
}

/**
 * gst_ccl_meta_set_classes:
 * @meta: a #GstCclMeta of a writable buffer, or a copy
 * @classes: (transfer none) (nullable): classes with as many rows as the component table; a
 *   reference is kept. %NULL removes them
 *
 * Attaches classes in place of the present ones. A new component table removes them.
 *
 * Since: 0.4
 */
void
gst_ccl_meta_set_classes (GstCclMeta *meta, GstCclClasses *classes)
{
  GstCclClasses *former;

  g_return_if_fail (meta != NULL);
  g_return_if_fail (classes == NULL || classes->n_rows == meta->n_rows);

  former = meta->classes;
  meta->classes = classes ? gst_ccl_classes_ref (classes) : NULL;
  g_clear_pointer (&former, gst_ccl_classes_unref);
}
