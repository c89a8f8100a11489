/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Warnings about settings that are valid but probably not meant. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

#include "labelling/frame/gstcclproperties.h"

/* The warnings that an element has posted since its start; each is posted once. */
typedef struct {
  gboolean areas;     /* min-area is above max-area */
  gboolean algorithm; /* one that is no longer offered */
  gboolean range;     /* no pixel can be greater than threshold */
  gboolean threshold; /* the default threshold makes nearly the whole frame one component */
} GstCclHints;

/* Posts the warnings that a labelled frame gives rise to. */
void gst_ccl_hints_check (GstCclHints *posted, GstElement *element, const GstCclSettings *settings,
    GstCclBackend backend, const GstVideoInfo *info, const CclTable *table);
