/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What there is to draw of a frame. */
#pragma once

#include <gst/ccl/ccl.h>

#include "gstcclcanvas.h"
#include "gstcclstyle.h"
#include "gstccltrails.h"

typedef struct {
  const GstCclMeta *meta; /* NULL: there is none, and nothing is drawn */
  const GstCclTrails *trails;
  const GArray *regions; /* GstCclRegionView; NULL: none */
} GstCclScene;

/* Whether the style draws anything of this scene. */
gboolean gst_ccl_scene_has_drawing (const GstCclScene *scene, const GstCclStyle *style);

/* Draws a scene. Coordinates of the metadata are scaled if it was made for frames of another size.
 * FALSE if label map or mask cannot be read; the rest is drawn all the same. */
gboolean gst_ccl_scene_draw (
    const GstCclScene *scene, const GstCclStyle *style, GstCclCanvas *canvas);
