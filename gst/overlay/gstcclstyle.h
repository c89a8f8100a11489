/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ccloverlay draws, as its properties choose. */
#pragma once

#include <gst/gst.h>

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

/* Sets every field to the default of its property. */
void gst_ccl_style_init (GstCclStyle *style);

/* Frees the fields' memory. */
void gst_ccl_style_clear (GstCclStyle *style);

/* Set and get the field of the property with that number. */
void gst_ccl_style_set (GstCclStyle *style, guint id, const GValue *value);
void gst_ccl_style_get (const GstCclStyle *style, guint id, GValue *value);

/* Installs the properties. For class_init. */
void gst_ccl_style_install (GObjectClass *object_class);
