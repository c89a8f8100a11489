/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmasks.h"

#include <string.h>

#include "shared/gstcclpolygon.h"
#include "shared/gstccltextreader.h"

#define KIND "mask"
#define MAX_MASKS 64

typedef struct {
  gboolean relative;
  guint n_points;
  CclPoint *points;
} Mask;

struct _GstCclMasks {
  GArray *masks; /* Mask */
};

static void
clear_mask (gpointer data)
{
  g_free (((Mask *)data)->points);
}

static void
clear_masks (gpointer data)
{
  g_array_unref (((GstCclMasks *)data)->masks);
}

GstCclMasks *
gst_ccl_masks_ref (GstCclMasks *masks)
{
  return masks ? g_atomic_rc_box_acquire (masks) : NULL;
}

void
gst_ccl_masks_unref (GstCclMasks *masks)
{
  if (masks)
    g_atomic_rc_box_release_full (masks, clear_masks);
}

static gboolean
read_kind (GstCclTextReader *reader)
{
  const gint length = gst_ccl_text_word_length (reader->at);

  if (length != (gint)strlen (KIND) || !g_str_has_prefix (reader->at, KIND))
    return gst_ccl_text_reader_fail (
        reader, reader->at, "expected \"" KIND "\", found \"%.*s\"", length, reader->at);
  reader->at += length;
  gst_ccl_text_reader_skip_spaces (reader);
  return TRUE;
}

static gboolean
read_points (GstCclTextReader *reader, GArray *points, gboolean *relative)
{
  gboolean ok = TRUE;

  while (ok && !gst_ccl_text_ends_item (*reader->at)) {
    ok = gst_ccl_text_reader_add_point (reader, points, relative);
    gst_ccl_text_reader_skip_spaces (reader);
  }
  return ok;
}

static gboolean
check_points (
    const GstCclTextReader *reader, const gchar *start, const gchar *name, const GArray *points)
{
  if (points->len < 3 || points->len > CUDACCL_MAX_REGION_POINTS)
    return gst_ccl_text_reader_fail (reader, start,
        "mask \"%s\" has %u points; 3 to %d are possible", name, points->len,
        CUDACCL_MAX_REGION_POINTS);
  for (guint i = 0; i < points->len; i++) {
    const CclPoint *point = &g_array_index (points, CclPoint, i);

    if (ABS (point->x) > CUDACCL_MAX_REGION_COORDINATE ||
        ABS (point->y) > CUDACCL_MAX_REGION_COORDINATE)
      return gst_ccl_text_reader_fail (
          reader, start, "point %u of mask \"%s\" is too far from the frame", i + 1, name);
  }
  return !gst_ccl_polygon_is_flat ((const CclPoint *)(gpointer)points->data, points->len) ||
         gst_ccl_text_reader_fail (
             reader, start, "all points of mask \"%s\" are on one line", name);
}

static gboolean
read_item (GstCclTextReader *reader, GArray *masks)
{
  const gchar *start = reader->at;
  g_autofree gchar *name = NULL;
  GArray *points;
  Mask mask = {FALSE};
  gboolean ok;

  if (masks->len == MAX_MASKS)
    return gst_ccl_text_reader_fail (reader, start, "more than %d masks", MAX_MASKS);
  if (!read_kind (reader) || !gst_ccl_text_reader_read_name (reader, &name))
    return FALSE;
  points = g_array_new (FALSE, FALSE, sizeof (CclPoint));
  ok = read_points (reader, points, &mask.relative) && check_points (reader, start, name, points);
  mask.n_points = points->len;
  mask.points = (CclPoint *)(gpointer)g_array_free (points, !ok);
  if (ok)
    g_array_append_val (masks, mask);
  return ok;
}

gboolean
gst_ccl_masks_read (const gchar *text, GstCclMasks **masks, GError **error)
{
  GstCclTextReader reader = {"masks", text, text, error};
  g_autoptr (GArray) read = g_array_new (FALSE, FALSE, sizeof (Mask));
  gboolean ok = TRUE;

  g_array_set_clear_func (read, clear_mask);
  while (text && ok && gst_ccl_text_reader_find_item (&reader))
    ok = read_item (&reader, read);
  *masks = NULL;
  if (ok && read->len > 0) {
    *masks = g_atomic_rc_box_new0 (GstCclMasks);
    (*masks)->masks = g_array_ref (read);
  }
  return ok;
}

static void
apply_mask (const Mask *mask, GstCclRoiMask *roi_mask, CclPoint *points, guint8 *scratch)
{
  const gdouble x = mask->relative ? roi_mask->width : 1, y = mask->relative ? roi_mask->height : 1;

  for (guint i = 0; i < mask->n_points; i++)
    points[i] = (CclPoint){x * mask->points[i].x, y * mask->points[i].y};
  gst_ccl_polygon_clear_pixels (
      points, mask->n_points, roi_mask->width, roi_mask->height, roi_mask->pixels, scratch);
}

gboolean
gst_ccl_masks_apply (const GstCclMasks *masks, GstCclRoiMask *roi_mask)
{
  g_autofree guint8 *scratch = g_try_malloc0 ((gsize)roi_mask->width * roi_mask->height);
  CclPoint points[CUDACCL_MAX_REGION_POINTS];

  for (guint i = 0; scratch && i < masks->masks->len; i++)
    apply_mask (&g_array_index (masks->masks, Mask, i), roi_mask, points, scratch);
  return scratch != NULL;
}
