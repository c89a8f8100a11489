/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Region of interest masks from image files. */
#pragma once

#include <gst/gst.h>

/* A region of interest mask, one byte per pixel: 0 is outside of the region, all else inside. */
typedef struct {
  guint width, height; /* pixels */
  guint8 *pixels;      /* rows without padding */
} GstCclRoiMask;

/* Reads a PNG file of any colour type and depth, or a PBM, PGM or PPM file, which must be a regular
 * file of at most 2^28 bytes and 2^27 pixels. Pixels that are black
 * or transparent are outside of the region. Returns NULL with the error set; its message names
 * the file and says whether it is damaged or of another kind. */
GstCclRoiMask *gst_ccl_roi_mask_read (const gchar *path, GError **error);

/* A copy of the size width × height whose pixels are the nearest ones of the mask. NULL if there is
 * no memory. */
GstCclRoiMask *gst_ccl_roi_mask_scale (const GstCclRoiMask *mask, guint width, guint height);

/* A mask of the whole frame. NULL if there is no memory. */
GstCclRoiMask *gst_ccl_roi_mask_new_whole (guint width, guint height);

/* NULL is allowed. */
void gst_ccl_roi_mask_free (GstCclRoiMask *mask);
