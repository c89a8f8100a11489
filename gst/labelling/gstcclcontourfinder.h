/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contours of a frame's components, from its label map. */
#ifndef __GST_CCL_CONTOUR_FINDER_H__
#define __GST_CCL_CONTOUR_FINDER_H__

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>

#include <cudaccl/contours.h>

#include "gstcclbackend.h"
#include "gstcclproperties.h"

G_BEGIN_DECLS

/* Finds the contours of one stream's frames. Belongs to the streaming thread. */
typedef struct {
  CclContours *contours;   /* NULL: not made yet */
  gint kind, connectivity; /* that it was made for */
  GstBufferPool *pool;     /* of memory for GstCclContours */
  gsize capacity;          /* bytes of each of its buffers */
  guint32 *ends;           /* for each component, the end of its contours in label order */
  guint32 *places;         /* for each contour, its index in label order */
  guint n_ends, n_places;
} GstCclContourFinder;

/* Frees everything. What the next frame needs is made anew. For frames of another size, too. */
void gst_ccl_contour_finder_release (GstCclContourFinder *self);

/* Finds the contours in a label map of frames of that size, in host or device memory. The settings
 * must ask for contours. Returns NULL with the error filled: frames are too large for contours,
 * memory is short, or the label map cannot be read. */
GstCclContours *gst_ccl_contour_finder_run (GstCclContourFinder *self, const GstVideoInfo *info,
    const GstCclSettings *settings, const GstCclMap *labels, CclError *error);

G_END_DECLS

#endif /* __GST_CCL_CONTOUR_FINDER_H__ */
