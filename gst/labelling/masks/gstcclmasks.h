/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks: polygons in which nothing is foreground, as the property `masks` has them. */
#pragma once

#include <gst/gst.h>

#include "gstcclroimask.h"

/* Immutable and counted by references. NULL: there are none. */
typedef struct _GstCclMasks GstCclMasks;

/* Reads a text: items "mask NAME X,Y X,Y X,Y…" that are separated by semicolons or newlines. A name
 * is a word, or in single or double quotes. Coordinates are pixels, or fractions of the frame if
 * all numbers of an item end with %. NULL or "" has no masks. Returns FALSE with the error set; its
 * message names line and column. */
gboolean gst_ccl_masks_read (const gchar *text, GstCclMasks **masks, GError **error);

GstCclMasks *gst_ccl_masks_ref (GstCclMasks *masks);
void gst_ccl_masks_unref (GstCclMasks *masks);

/* Takes what the masks cover out of a region of interest. FALSE if there is no memory. */
gboolean gst_ccl_masks_apply (const GstCclMasks *masks, GstCclRoiMask *roi_mask);
