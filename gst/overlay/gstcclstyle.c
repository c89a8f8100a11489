/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclstyle.h"

static const GEnumValue shape_values[] = {
    {GST_CCL_SHAPE_BOXES, "Bounding boxes", "boxes"},
    {GST_CCL_SHAPE_OUTLINE, "Contours, or the box of a component without any", "outline"},
    {GST_CCL_SHAPE_BOTH, "Bounding boxes and contours", "both"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (shape_get_type, "GstCclOverlayStyle", shape_values)

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (GstCclStyle, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING, GST_CCL_ALL_CLASSES
#define CONTROLLED GST_CCL_CONTROLLABLE, GST_CCL_ALL_CLASSES

const GstCclProperty gst_ccl_style_properties[] = {
  {GST_CCL_KIND_BOOLEAN, FIELD (boxes), "draw-boxes", "Draw boxes",
      "Draw the bounding box of each component; switch it off where filled components are enough",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_ENUM, FIELD (shape), "style", "Style",
      "What draw-boxes draws of each component; outline needs attach-contours on the labeller",
      0, 0, shape_get_type, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (box_color), "box-color", "Box color",
      "Color of the boxes, 0xAARRGGBB",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (box_width), "box-width", "Box width",
      "Width of the boxes' and other lines in pixels; the lines are just inside the box; 0 means "
      "2 pixels on frames of up to 720 rows, and in proportion to the height on larger ones",
      0, 100, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (ids), "draw-ids", "Draw identities",
      "Write the identity of each track behind ccltrack, and its class where it is known; switch it off "
      "where many texts hide the picture",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (speeds), "draw-speeds", "Draw speeds",
      "Write the speed of each track in km/h behind a ccltrack with a ground; switch it off where "
      "texts hide the picture",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (track_colors), "track-colors", "Track colors",
      "Draw each track in a color that depends on its identity, instead of box-color and "
      "text-color; switch it off to choose the colors",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (trail_length), "trail-length", "Trail length",
      "Draw the trail of each track over this number of latest frames; raise it to see where "
      "objects came from (0 = no trails)",
      0, 10000, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (regions), "draw-regions", "Draw regions",
      "Draw the regions and lines of the ccltrack upstream, with their counts; switch it off to see "
      "the picture alone",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (region_color), "region-color", "Region color",
      "Color of regions and lines, 0xAARRGGBB",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (backdrop_color), "backdrop-color", "Backdrop color",
      "Color behind texts, 0xAARRGGBB; an AA of 00 draws none",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (labels), "draw-labels", "Draw labels",
      "Write the label of each component, which changes from frame to frame; for the same number in "
      "all frames, see draw-ids",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (areas), "draw-areas", "Draw areas",
      "Write the area of each component, in pixels; set it to find a good min-area",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (text_color), "text-color", "Text color",
      "Color of labels and areas, 0xAARRGGBB",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (centroids), "draw-centroids", "Draw centroids",
      "Draw a cross at the centroid of each component",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (centroid_color), "centroid-color", "Centroid color",
      "Color of the crosses, 0xAARRGGBB",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (fill), "fill-components", "Fill components",
      "Paint the components in distinct colors; needs attach-labels=true on the labeller",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_DOUBLE, FIELD (fill_alpha), "fill-alpha", "Fill alpha",
      "Opacity of the colors that components are painted in, from 0 (invisible) to 1",
      0, 1, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (mask), "draw-mask", "Draw mask",
      "Paint the foreground mask; needs attach-mask=true on the labeller",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (mask_color), "mask-color", "Mask color",
      "Color of the mask, 0xAARRGGBB",
      0, G_MAXUINT, NULL, CONTROLLED},
  {GST_CCL_KIND_STRING, FIELD (labeller), "labeller", "Labeller",
      "Name of the element whose components are drawn, where several labellers are upstream "
      "(NULL = the nearest one)",
      0, 0, NULL, PLAYING},
};
/* clang-format on */

const guint gst_ccl_style_n_properties = G_N_ELEMENTS (gst_ccl_style_properties);

const GstCclStyle gst_ccl_style_defaults = {
    .boxes = TRUE,
    .box_color = 0xff00ff00,
    .ids = TRUE,
    .speeds = TRUE,
    .text_color = 0xffffffff,
    .backdrop_color = 0xa0000000,
    .track_colors = TRUE,
    .regions = TRUE,
    .region_color = 0xffffff00,
    .centroid_color = 0xffff0000,
    .fill_alpha = 0.5,
    .mask_color = 0x80ff0000,
};
