/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contours of a frame's components, from its label map. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>

#include <cudaccl/contours.h>

#include "gstcclbackend.h"
#include "gstcclproperties.h"

/* Finds the contours of one stream's frames. Belongs to the streaming thread. */
typedef struct {
  CclContours *contours;   /* NULL: not made yet */
  gint kind, connectivity; /* that it was made for */
  gboolean is_of_site;     /* it reads label maps in memory of the site; else in host memory */
  const GstCclOwner *owner;
  GstCclSite *site;    /* no reference */
  GstBufferPool *pool; /* of memory for GstCclContours */
  gsize capacity;      /* bytes of each of its buffers */
  guint32 *ends;       /* for each component, the end of its contours in label order */
  guint32 *places;     /* for each contour, its index in label order */
  guint n_ends, n_places;
} GstCclContourFinder;

/* Frees everything; the next frame makes anew what it needs. Also called when the size of the
 * frames or the site changes. Release it before the site. */
void gst_ccl_contour_finder_release (GstCclContourFinder *self);

/* Makes what finds the contours of frames of that size, labelled at that site, if the settings ask
 * for contours, and frees it if they do not. Returns FALSE with the error filled: frames are too
 * large for contours, or memory is short. */
gboolean gst_ccl_contour_finder_prepare (GstCclContourFinder *self, const GstCclOwner *owner,
    GstCclSite *site, const GstVideoInfo *info, const GstCclSettings *settings, CclError *error);

/* Where is_of_site is set: finds the contours in the label map of a frame that was queued on the
 * labeller, and waits for both. labels: an address at the site. NULL with the error filled. */
GstCclContours *gst_ccl_contour_finder_run_behind (GstCclContourFinder *self,
    const GstCclSettings *settings, CclLabeller *labeller, gpointer labels, gsize stride,
    CclError *error);

/* Otherwise: finds the contours in a label map that is complete, in host or device memory. Returns
 * NULL with the error filled: memory is short, or the label map cannot be read. */
GstCclContours *gst_ccl_contour_finder_run (GstCclContourFinder *self,
    const GstCclSettings *settings, const GstCclMap *labels, CclError *error);
