/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contours of a frame's components. */
#ifndef __GST_CCL_CONTOURS_H__
#define __GST_CCL_CONTOURS_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_CONTOURS (gst_ccl_contours_get_type ())

/**
 * GST_CCL_NO_CONTOUR:
 *
 * The parent of a contour that is in no other one.
 *
 * Since: 0.3
 */
#define GST_CCL_NO_CONTOUR G_MAXUINT32

/**
 * GstCclContourKind:
 * @GST_CCL_CONTOUR_KIND_PIXELS: the pixels of the component along its boundary
 * @GST_CCL_CONTOUR_KIND_CRACKS: the corners of the boundary between the pixels, in the coordinates
 *   of pixel corners: pixel (x, y) is the square from (x, y) to (x + 1, y + 1)
 *
 * What the points of contours are.
 *
 * Since: 0.3
 */
typedef enum {
  GST_CCL_CONTOUR_KIND_PIXELS = 0,
  GST_CCL_CONTOUR_KIND_CRACKS = 1,
} GstCclContourKind;

/**
 * GstCclContour:
 * @label: the label of the component, at least 1
 * @parent: the index of the contour that directly surrounds this one, less than its own: of a hole
 *   the outer contour of its component, of an outer contour the hole that it is in;
 *   %GST_CCL_NO_CONTOUR if there is none
 * @first_point: the index of its first point in the points of all contours
 * @n_points: the number of its points, at least 1; the last one is joined to the first one
 * @is_hole: 0 for the outer contour of its component, 1 for a hole in it
 *
 * One contour of a #GstCclContours.
 *
 * Since: 0.3
 */
typedef struct {
  guint32 label;
  guint32 parent;
  guint32 first_point;
  guint32 n_points;
  guint32 is_hole;
} GstCclContour;

typedef struct _GstCclContours GstCclContours;

GST_CCL_API
GType gst_ccl_contours_get_type (void);

GST_CCL_API
GstCclContours *gst_ccl_contours_new (
    GstBuffer *buffer, GstCclContourKind kind, guint n_contours, guint n_points);

GST_CCL_API
GstCclContours *gst_ccl_contours_ref (GstCclContours *contours);

GST_CCL_API
void gst_ccl_contours_unref (GstCclContours *contours);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclContours, gst_ccl_contours_unref)

GST_CCL_API
GstCclContourKind gst_ccl_contours_get_kind (const GstCclContours *contours);

GST_CCL_API
guint gst_ccl_contours_get_n_contours (const GstCclContours *contours);

GST_CCL_API
const GstCclContour *gst_ccl_contours_get_contour (const GstCclContours *contours, guint index);

GST_CCL_API
guint gst_ccl_contours_find (const GstCclContours *contours, guint32 label, guint *n_contours);

GST_CCL_API
const gfloat *gst_ccl_contours_get_points (
    const GstCclContours *contours, guint index, guint *n_numbers);

G_END_DECLS

#endif /* __GST_CCL_CONTOURS_H__ */
