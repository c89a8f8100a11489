/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A transparent picture of the size of a frame. What is drawn on it is blended into the frame or
 * handed on as an overlay composition. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>
#include <pango/pangocairo.h>

#include "gstccltextgrid.h"

/* Blending takes time for every pixel, drawn on or not, so the canvas keeps an interval of columns
 * that were drawn on for each band of rows. */
#define GST_CCL_BAND_HEIGHT 16

typedef struct {
  gint left, right; /* columns [left, right); empty if left ≥ right */
} GstCclBand;

typedef struct {
  gint width, height;
  cairo_surface_t *surface;
  cairo_t *cairo;
  PangoLayout *layout;
  gdouble font_size; /* pixels */
  GstCclTextGrid texts;
  guint n_bands;
  GstCclBand *bands;
} GstCclCanvas;

/* The most pixels that Cairo draws on in a row or column. */
#define GST_CCL_CANVAS_MAX_SIDE 32767

/* NULL if memory is short. */
GstCclCanvas *gst_ccl_canvas_new (guint width, guint height);

void gst_ccl_canvas_free (GstCclCanvas *canvas);

/* A coordinate of any size, or NaN, as one from 0 to most. */
gint gst_ccl_canvas_clamp (gdouble coordinate, gint most);

/* Notes that something is drawn in a rectangle, which need not be inside the canvas. Every
 * function that draws calls it. */
void gst_ccl_canvas_mark (
    GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height);

/* Adds a rectangle to Cairo's path, and notes it. */
void gst_ccl_canvas_add_rectangle (
    GstCclCanvas *canvas, gdouble x, gdouble y, gdouble width, gdouble height);

/* Sets Cairo's colour, 0xAARRGGBB. */
void gst_ccl_canvas_set_color (GstCclCanvas *canvas, guint argb);

/* Blends the drawing into a frame, mapped for reading and writing, and clears the canvas. FALSE
 * if the frame's format cannot be blended. */
gboolean gst_ccl_canvas_blend (GstCclCanvas *canvas, GstVideoFrame *frame);

/* Moves the drawing into a rectangle with pixels of its own, and clears the canvas. NULL if nothing
 * was drawn. */
GstVideoOverlayRectangle *gst_ccl_canvas_take_rectangle (GstCclCanvas *canvas);
