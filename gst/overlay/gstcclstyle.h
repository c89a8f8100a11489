/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ccloverlay draws, as its properties choose. */
#pragma once

#include "shared/gstcclproperty.h"

/* What shows where a component is. Applications store the numbers. */
typedef enum {
  GST_CCL_SHAPE_BOXES = 0,
  GST_CCL_SHAPE_OUTLINE = 1,
  GST_CCL_SHAPE_BOTH = 2,
} GstCclShape;

/* What is drawn, and how. Colours are 0xAARRGGBB. */
typedef struct {
  gboolean boxes; /* box or outline of each component */
  gint shape;     /* GstCclShape */
  guint box_color;
  guint box_width; /* pixels; 0: grows with the frame */

  gboolean ids;    /* the identity of a track */
  gboolean speeds; /* of a track on the ground */
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

  gchar *labeller; /* name of the one whose components are drawn; NULL: the nearest; owned */
} GstCclStyle;

/* The properties, whose fields are those of GstCclStyle, and their defaults. */
extern const GstCclProperty gst_ccl_style_properties[];
extern const guint gst_ccl_style_n_properties;
extern const GstCclStyle gst_ccl_style_defaults;
