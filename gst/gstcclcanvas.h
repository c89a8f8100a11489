/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A transparent picture the size of a frame on which components are drawn, and which is then
 * blended into the frame where something was drawn. */
#ifndef __GST_CCL_CANVAS_H__
#define __GST_CCL_CANVAS_H__

#include <gst/ccl/gstcclmeta.h>
#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* What is drawn of a component, and how. Colours are 0xAARRGGBB. */
typedef struct {
  gboolean boxes;
  guint box_color;
  guint box_width; /* pixels */

  gboolean labels; /* the number */
  gboolean areas;
  guint text_color;

  gboolean centroids;
  guint centroid_color;

  gboolean fill;      /* in distinct colours, where there is a label map */
  gdouble fill_alpha; /* 0…1 */

  gboolean mask; /* what was labelled, where it is attached */
  guint mask_color;
} GstCclStyle;

typedef struct _GstCclCanvas GstCclCanvas;

/* NULL if there is no memory for it. */
GstCclCanvas *gst_ccl_canvas_new (guint width, guint height);

void gst_ccl_canvas_free (GstCclCanvas *canvas);

/* Whether there is anything to draw at all. */
gboolean gst_ccl_style_draws (const GstCclStyle *style, const GstCclMeta *meta);

/* Draws all components of the metadata, whose coordinates are scaled if it was made for frames of
 * another size. FALSE if label map or mask cannot be read; the rest is drawn all the same. */
gboolean gst_ccl_canvas_draw (
    GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta);

/* Blends what was drawn into a frame, mapped for reading and writing, and clears the canvas. FALSE
 * if the frame's format cannot be blended. */
gboolean gst_ccl_canvas_blend (GstCclCanvas *canvas, GstVideoFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_CANVAS_H__ */
