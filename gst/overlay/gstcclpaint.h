/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paints the pixels of components, and of the foreground mask. */
#pragma once

#include <gst/ccl/ccl.h>

#include "gstcclcanvas.h"
#include "gstcclstyle.h"

/* Paints each component in the colour of its label. FALSE if the label map cannot be read. One of
 * another size is ignored, as is one that is missing. */
gboolean gst_ccl_paint_components (
    GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta);

/* The same for the mask, in one colour. */
gboolean gst_ccl_paint_mask (
    GstCclCanvas *canvas, const GstCclStyle *style, const GstCclMeta *meta);
