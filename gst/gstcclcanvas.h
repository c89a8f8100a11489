/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A transparent picture of the size of a frame. Components, tracks and regions are drawn on it;
 * then the part that was drawn on is blended into the frame or handed on as an overlay composition.
 */
#ifndef __GST_CCL_CANVAS_H__
#define __GST_CCL_CANVAS_H__

#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstccltrails.h"

G_BEGIN_DECLS

/* What is drawn, and how. Colours are 0xAARRGGBB. */
typedef struct {
  gboolean boxes;
  guint box_color;
  guint box_width; /* pixels; 0: grows with the frame */

  gboolean ids;    /* the identity of a track */
  gboolean labels; /* the label as a number */
  gboolean areas;
  guint text_color;
  guint backdrop_color;

  gboolean track_colors; /* boxes and texts of tracks have colours of their identities */
  guint trail_length;    /* frames */

  gboolean regions;
  guint region_color;

  gboolean centroids;
  guint centroid_color;

  gboolean fill;      /* paint the components in distinct colours; needs a label map */
  gdouble fill_alpha; /* opacity, 0…1 */

  gboolean mask; /* paint the foreground mask; needs a mask */
  guint mask_color;
} GstCclStyle;

/* What there is to draw of a frame. */
typedef struct {
  const GstCclMeta *meta; /* NULL: there is none, and nothing is drawn */
  const GstCclTrails *trails;
  const GArray *regions; /* GstCclRegionView; NULL: none */
} GstCclScene;

typedef struct _GstCclCanvas GstCclCanvas;

/* NULL if memory is short. */
GstCclCanvas *gst_ccl_canvas_new (guint width, guint height);

void gst_ccl_canvas_free (GstCclCanvas *canvas);

/* Whether the style draws anything of this scene. */
gboolean gst_ccl_style_draws (const GstCclStyle *style, const GstCclScene *scene);

/* Draws a scene. Coordinates of the metadata are scaled if it was made for frames of another size.
 * FALSE if label map or mask cannot be read; the rest is drawn all the same. */
gboolean gst_ccl_canvas_draw (
    GstCclCanvas *canvas, const GstCclStyle *style, const GstCclScene *scene);

/* Blends the drawing into a frame, mapped for reading and writing, and clears the canvas. FALSE
 * if the frame's format cannot be blended. */
gboolean gst_ccl_canvas_blend (GstCclCanvas *canvas, GstVideoFrame *frame);

/* Moves the drawing into a rectangle with pixels of its own, and clears the canvas. NULL if nothing
 * was drawn. */
GstVideoOverlayRectangle *gst_ccl_canvas_take_rectangle (GstCclCanvas *canvas);

G_END_DECLS

#endif /* __GST_CCL_CANVAS_H__ */
